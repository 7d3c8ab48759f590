"""Make batches of documents of similar length, so that they need little padding."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_BUCKET = 50  # batches; their documents are sorted by length together


def training_batches(lengths: NDArray[np.int64], batch_size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield row numbers endlessly, every document once in each epoch.

    A batch has documents of similar length: each epoch is shuffled and cut into stretches of 50 batches. A
    stretch is sorted by length and cut into batches, and the batches are shuffled. The last batch of an epoch
    may be smaller. The result depends only on the lengths, the batch size and the seed.
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
    """Yield row numbers, longest documents first; a padded batch has at most `n_tokens` tokens."""
    order, done = np.argsort(-lengths, kind="stable"), 0
    while done < len(order):
        n = max(1, n_tokens // int(lengths[order[done]]))
        yield order[done : done + n]
        done += n
