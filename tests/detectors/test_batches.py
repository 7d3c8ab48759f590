from itertools import islice, pairwise

import numpy as np
import pytest

from adbench_text.detectors._batches import scoring_batches, training_batches

LENGTHS = np.random.default_rng(0).integers(2, 130, size=1003)
N_BATCHES = 63  # of 16


def epoch_of(seed, lengths=LENGTHS, batch_size=16, number=0):
    n = -(-len(lengths) // batch_size)
    return [
        b.tolist() for b in islice(training_batches(lengths, batch_size, seed), number * n, (number + 1) * n)
    ]


@pytest.mark.parametrize(("n", "batch_size"), [(1003, 16), (1003, 1), (800, 16), (5, 16), (1, 1)])
def test_an_epoch_trains_on_each_text_once(n, batch_size):
    for number in range(3):
        batches = epoch_of(0, LENGTHS[:n], batch_size, number)
        assert sorted(row for batch in batches for row in batch) == list(range(n))
        assert sum(len(batch) < batch_size for batch in batches) == (n % batch_size > 0)


def test_training_batches_are_a_function_of_seed_and_epoch():
    assert epoch_of(3) == epoch_of(3)
    assert epoch_of(3) != epoch_of(4)
    assert epoch_of(3) != epoch_of(3, number=1)


def test_other_texts_meet_in_the_next_epoch():
    first, second = ({frozenset(batch) for batch in epoch_of(0, number=number)} for number in (0, 1))
    assert not first & second


def test_texts_of_like_length_are_trained_on_together():
    one_stretch = LENGTHS[: 16 * 50]
    ranges = sorted((one_stretch[b].min(), one_stretch[b].max()) for b in epoch_of(0, one_stretch))
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    padded = sum(len(batch) * LENGTHS[batch].max() for batch in epoch_of(0))
    assert padded < 1.05 * LENGTHS.sum()


def test_batches_do_not_come_in_the_order_of_length():
    longest = [LENGTHS[batch].max() for batch in epoch_of(0)]
    assert abs(np.corrcoef(longest, range(N_BATCHES))[0, 1]) < 0.3


def test_scoring_takes_each_text_once_and_the_longest_first():
    batches = list(scoring_batches(LENGTHS, 500))
    rows = np.concatenate(batches)
    assert sorted(rows) == list(range(len(LENGTHS)))
    assert (np.diff(LENGTHS[rows]) <= 0).all()


@pytest.mark.parametrize("n_tokens", [1, 100, 1000, 10**9])
def test_scoring_keeps_to_its_tokens_save_for_a_single_text(n_tokens):
    batches = list(scoring_batches(LENGTHS, n_tokens))
    for batch, following in zip(batches, [*batches[1:], None], strict=True):
        longest = LENGTHS[batch].max()
        assert len(batch) * longest <= n_tokens or len(batch) == 1
        assert following is None or (len(batch) + 1) * longest > n_tokens
