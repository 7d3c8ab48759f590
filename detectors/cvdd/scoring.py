"""Score documents with a trained CVDD: distances from contexts, and shares of words."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adbench_text.detectors._batches import scoring_batches
from adbench_text.detectors.cvdd.contexts import Bags, ContextNetwork

_TOKENS = 16384  # in a batch


def context_distances(network: ContextNetwork, bags: Bags) -> NDArray[np.float64]:
    """Return the distance of each document from each context, (n_texts, R)."""
    # The cosine of a zero sum is 0, so a document without a known word has a distance of 1/2.
    distances = np.full((len(bags.lengths), len(network.contexts)), 0.5)
    for rows, values in _in_batches(bags, lambda *batch: network(*batch).distances):
        distances[rows] = values
    return distances


def word_shares(network: ContextNetwork, bags: Bags) -> list[dict[str, float]]:
    """Return for each document the share of one occurrence of each known word in its distance."""
    shares: list[dict[str, float]] = [{} for _ in bags.lengths]
    for rows, batch in _in_batches(bags, network.shares):
        for row, values in zip(rows, batch.tolist(), strict=True):
            # Not strict, because the row is padded to the longest row of its batch.
            shares[row] = dict(zip(bags.words(row), values, strict=False))
    return shares


def _in_batches(
    bags: Bags, compute: Callable[[Tensor, Tensor], Tensor]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Yield row numbers of the documents with words, and the results for them."""
    # Softmax over no words is NaN.
    rows = np.flatnonzero(bags.lengths)
    for batch in scoring_batches(bags.lengths[rows], _TOKENS):
        with torch.inference_mode():
            values = compute(*bags.batch(rows[batch])).cpu().numpy()
        yield rows[batch], values
