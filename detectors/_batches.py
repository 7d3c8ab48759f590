"""Batches of documents of similar length, which need few pads."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_BUCKET = 50  # batches whose documents are sorted by length among themselves


def training_batches(lengths: NDArray[np.int64], batch_size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield row numbers endlessly, every document once in each epoch.

    Documents of similar length are in one batch: each epoch is shuffled, cut into stretches of 50 batches,
    and each stretch sorted by length before it is cut into batches, whose order is shuffled. The
    last batch of an epoch may be smaller. It depends only on the seed.
    """
    epoch = 0
    while True:
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(len(lengths))
        batches = []
        for begin in range(0, len(order), batch_size * _BUCKET):
            stretch = order[begin : begin + batch_size * _BUCKET]
            stretch = stretch[np.argsort(lengths[stretch], kind="stable")]
            batches += [stretch[i : i + batch_size] for i in range(0, len(stretch), batch_size)]
        yield from (batches[i] for i in rng.permutation(len(batches)))
        epoch += 1


def scoring_batches(lengths: NDArray[np.int64], n_tokens: int) -> Iterator[NDArray[np.int64]]:
    """Yield row numbers, longest documents first, each batch padded to at most `n_tokens` tokens."""
    order, done = np.argsort(-lengths, kind="stable"), 0
    while done < len(order):
        n = max(1, n_tokens // int(lengths[order[done]]))
        yield order[done : done + n]
        done += n
