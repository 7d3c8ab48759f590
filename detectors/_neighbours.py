"""Distances to the nearest training documents, as numbers or vectors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

MOST_REFERENCES = 20_000  # documents that are searched, so that the time grows with their number


def drawn(n: int, seed: int | None) -> NDArray[np.int64]:
    """Return the places of the documents that are searched, of n; all if there are few."""
    return np.random.default_rng(seed).permutation(n)[:MOST_REFERENCES]


def nearest(
    rows: NDArray[Any],
    references: NDArray[Any],
    k: int,
    own: NDArray[np.int64] | None = None,
    metric: str = "euclidean",
) -> NDArray[Any]:
    """Return the distances of rows to their k nearest references, in order, of shape (n_rows, k).

    There are fewer columns if there are fewer references. With `own`, the references are the rows at these
    places, and each leaves itself out.
    """
    n = min(k + (own is not None), len(references))
    search = NearestNeighbors(n_neighbors=n, metric=metric, algorithm="brute").fit(references)
    distances = np.asarray(search.kneighbors(rows)[0])
    if own is None:
        return distances
    # a reference is the nearest to itself; the others leave out the one too many
    is_reference = np.isin(np.arange(len(rows)), own)
    return np.where(is_reference[:, None], distances[:, 1:], distances[:, :-1])
