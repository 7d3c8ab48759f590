"""Scores documents with a trained CVDD: distances from contexts, shares of words, words of contexts."""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from adbench_text.detectors._batches import scoring_batches
from adbench_text.detectors.cvdd.contexts import Bags, ContextNetwork

_TOKENS = 16384  # in a batch
_WORDS, _TEXTS, _ATTENDED = 25, 100, 10  # of `top_words`


def context_distances(network: ContextNetwork, bags: Bags) -> NDArray[np.float64]:
    """Return the distance of each document from each context, (n_texts, R)."""
    # The cosine of a zero sum is 0, hence 1/2 for a document without a known word.
    distances = np.full((len(bags.lengths), len(network.contexts)), 0.5)
    for rows, values in _in_batches(bags, lambda *batch: network(*batch).distances):
        distances[rows] = values
    return distances


def word_shares(network: ContextNetwork, bags: Bags) -> list[dict[str, float]]:
    """Return for each document the share of its distance that one of each known word adds."""
    shares: list[dict[str, float]] = [{} for _ in bags.lengths]
    for rows, batch in _in_batches(bags, network.shares):
        for row, values in zip(rows, batch.tolist(), strict=True):
            # Not strict: the row is padded to the longest of its batch.
            shares[row] = dict(zip(bags.words(row), values, strict=False))
    return shares


def top_words(network: ContextNetwork, bags: Bags) -> pd.DataFrame:
    """Return the words that describe each context (section 5.2).

    Of the 100 documents nearest to a context, the 10 words that its head attends to most; of these the 25
    that occur in most documents. The columns are ``context`` and ``rank``, from 1, ``word``, and ``texts``,
    the number of nearest documents that contain it.
    """
    distances = context_distances(network, bags)
    # Documents without a known word have no words to list.
    distances[bags.lengths == 0] = np.inf
    rows = []
    for head in range(distances.shape[1]):
        n_documents: Counter[str] = Counter()
        # Stable sorts, here and below: ties give the same table everywhere.
        nearest = np.argsort(distances[:, head], kind="stable")[:_TEXTS]
        for batch, attention in _in_batches(bags, lambda *of: network(*of).attention, nearest):
            for row, values in zip(batch, attention[:, head], strict=True):
                words = bags.words(row)
                n_documents.update(words[np.argsort(-values[: len(words)], kind="stable")[:_ATTENDED]])
        best = sorted(n_documents.items(), key=lambda item: (-item[1], item[0]))[:_WORDS]
        rows += [(head + 1, rank, word, n) for rank, (word, n) in enumerate(best, start=1)]
    return pd.DataFrame(rows, columns=["context", "rank", "word", "texts"])


def _in_batches(
    bags: Bags, compute: Callable[[Tensor, Tensor], Tensor], rows: NDArray[np.int64] | None = None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Yield row numbers of documents with words, all or those given, and what is computed for them."""
    rows = np.arange(len(bags.lengths)) if rows is None else rows
    # Softmax over no words is NaN.
    rows = rows[bags.lengths[rows] > 0]
    for batch in scoring_batches(bags.lengths[rows], _TOKENS):
        with torch.inference_mode():
            values = compute(*bags.batch(rows[batch])).cpu().numpy()
        yield rows[batch], values
