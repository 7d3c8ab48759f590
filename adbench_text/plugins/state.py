"""The fitted state of a detector, as it is saved in a folder and read back.

A state is a tree of

- dicts with text as keys, lists and tuples,
- None, booleans, whole numbers, numbers and texts,
- NumPy arrays of numbers or booleans, arrays of texts, sparse arrays of SciPy,
- tensors of torch, which are read back as NumPy arrays,
- `Estimator`: a fitted object of scikit-learn.

It holds no training text.
"""

from dataclasses import dataclass
from typing import Any

State = dict[str, Any]


@dataclass(frozen=True)
class Estimator:
    """A fitted object of a library in a state, which is saved in a file of its own.

    Only objects whose classes the detector lists in `TextDetector.trusted_types` are read back.

    Attributes
    ----------
    value : object
        For example a fitted estimator of scikit-learn.
    """

    value: Any
