"""The training documents to search for nearest neighbours, and the smallest distances to them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_COLUMNS = 10  # of a group; with 4,000 distances and 20 neighbours, larger and smaller groups take longer


def places_of_references(n: int, references: int | None, seed: int | None) -> NDArray[np.int64]:
    """Draw references among `n` training documents; return their places in order. None takes all."""
    if references is None or n <= references:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:references])


def smallest(values: NDArray[Any], k: int) -> NDArray[Any]:
    """Return the k smallest values of each row, sorted.

    The columns are divided into groups. The k smallest values lie in the k groups with the smallest minima,
    so that few values must be sorted. `np.partition` of whole rows takes four times as long.
    """
    n_rows, n = values.shape
    n_groups = n // _COLUMNS
    if n_groups > k > 0:
        # a group has every n_groups-th column, so that minima are computed on neighbouring values
        groups = values[:, : n_groups * _COLUMNS].reshape(n_rows, _COLUMNS, n_groups)
        chosen = np.argpartition(groups.min(axis=1), k - 1, axis=1)[:, None, :k]
        of_chosen = np.take_along_axis(groups, chosen, axis=2).reshape(n_rows, k * _COLUMNS)
        values = np.concatenate([of_chosen, values[:, n_groups * _COLUMNS :]], axis=1)
    return np.sort(np.partition(values, k - 1, axis=1)[:, :k] if 0 < k < values.shape[1] else values[:, :k])
