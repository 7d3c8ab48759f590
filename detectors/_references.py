"""The training documents among which nearest neighbours are looked for."""

import numpy as np
from numpy.typing import NDArray


def places_of_references(n: int, references: int | None, seed: int | None) -> NDArray[np.int64]:
    """Return the places of the references among `n` training documents, in order; all if it is None."""
    if references is None or n <= references:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:references])
