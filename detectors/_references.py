"""Choose the training documents to search for nearest neighbours."""

import numpy as np
from numpy.typing import NDArray


def places_of_references(n: int, references: int | None, seed: int | None) -> NDArray[np.int64]:
    """Draw references among `n` training documents; return their places in order. None takes all."""
    if references is None or n <= references:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:references])
