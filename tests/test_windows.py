from itertools import islice, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from adbench_text.detectors._windows import Windows, scoring_batches, training_batches
from adbench_text.wordpiece import Pieces

CLS, SEP = 2, 3


def pieces_of(sizes):
    """Texts of these sizes, whose pieces are 10, 11, ... throughout."""
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Pieces(np.arange(10, 10 + ends[-1], dtype=np.int32), ends)


def windows_of(sizes, max_length):
    return Windows(pieces_of(sizes), SimpleNamespace(cls=CLS, sep=SEP), max_length)


def tokens(windows):
    """The tokens of each window, one batch for each."""
    found = []
    for row in range(len(windows)):
        ids, lengths = windows.batch(np.array([row]))
        found.append(ids[0, : lengths[0]].tolist())
    return found


def test_a_text_that_fits_is_one_window():
    windows = windows_of([0, 3, 10, 1], max_length=10)
    assert windows.n_pieces.tolist() == [0, 3, 10, 1]
    assert windows.text.tolist() == [0, 1, 2, 3]
    assert windows.begin.tolist() == [0, 0, 0, 0]
    assert windows.lengths.tolist() == [2, 5, 12, 3]
    assert tokens(windows) == [
        [CLS, SEP],
        [CLS, 10, 11, 12, SEP],
        [CLS, *range(13, 23), SEP],
        [CLS, 23, SEP],
    ]


def test_one_piece_more_makes_a_second_window_that_ends_with_the_text():
    windows = windows_of([11], max_length=10)
    assert windows.begin.tolist() == [0, 9]
    assert tokens(windows) == [[CLS, *range(10, 20), SEP], [CLS, 19, 20, SEP]]


def test_windows_begin_80_percent_of_a_window_after_the_one_before():
    windows = windows_of([600, 1000], max_length=498)
    assert windows.text.tolist() == [0, 0, 1, 1, 1]
    assert windows.begin.tolist() == [0, 400, 0, 400, 800]
    assert windows.lengths.tolist() == [500, 202, 500, 500, 202]


@pytest.mark.parametrize("max_length", [1, 2, 3, 4, 5, 8, 13, 128])
def test_windows_cover_every_piece_and_the_last_alone_ends_with_the_text(max_length):
    sizes = [*range(6 * max_length), 50 * max_length]
    pieces, windows = pieces_of(sizes), windows_of(sizes, max_length)
    inner = [window[1:-1] for window in tokens(windows)]
    for text, n in enumerate(sizes):
        expected = pieces.ids[pieces.ends[text] : pieces.ends[text + 1]].tolist()
        rows = np.flatnonzero(windows.text == text)
        covered = set()
        for row in rows:
            begin, held = windows.begin[row], len(inner[row])
            assert inner[row] == expected[begin : begin + held]
            assert held == max_length or row == rows[-1]
            assert (begin + held == n) == (row == rows[-1])
            covered.update(inner[row])
        assert covered == set(expected)


def test_a_batch_is_padded_with_0_to_eights_and_never_beyond_a_window():
    windows = windows_of([0, 3, 7, 18, 1], max_length=18)
    for rows, width in (([0, 1], 8), ([2, 1], 16), ([1, 3, 0], 20), ([4], 8)):
        ids, lengths = windows.batch(np.array(rows))
        assert ids.shape == (len(rows), width)
        assert ids.dtype == torch.int64
        assert lengths.tolist() == windows.lengths[rows].tolist()
        for window, length in zip(ids.tolist(), lengths, strict=True):
            assert window[0] == CLS
            assert window[length - 1] == SEP
            assert window[length:] == [0] * (width - length)


LENGTHS = np.random.default_rng(0).integers(2, 130, size=1003)
N_BATCHES = 63  # of 16


def epoch_of(seed, lengths=LENGTHS, batch_size=16, number=0):
    n = -(-len(lengths) // batch_size)
    return [
        b.tolist() for b in islice(training_batches(lengths, batch_size, seed), number * n, (number + 1) * n)
    ]


@pytest.mark.parametrize(("n", "batch_size"), [(1003, 16), (1003, 1), (800, 16), (5, 16), (1, 1)])
def test_an_epoch_trains_on_each_window_once(n, batch_size):
    for number in range(3):
        batches = epoch_of(0, LENGTHS[:n], batch_size, number)
        assert sorted(row for batch in batches for row in batch) == list(range(n))
        assert sum(len(batch) < batch_size for batch in batches) == (n % batch_size > 0)


def test_training_batches_are_a_function_of_seed_and_epoch():
    assert epoch_of(3) == epoch_of(3)
    assert epoch_of(3) != epoch_of(4)
    assert epoch_of(3) != epoch_of(3, number=1)


def test_other_windows_meet_in_the_next_epoch():
    first, second = ({frozenset(batch) for batch in epoch_of(0, number=number)} for number in (0, 1))
    assert not first & second


def test_windows_of_like_length_are_trained_on_together():
    one_stretch = LENGTHS[: 16 * 50]
    ranges = sorted((one_stretch[b].min(), one_stretch[b].max()) for b in epoch_of(0, one_stretch))
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    padded = sum(len(batch) * LENGTHS[batch].max() for batch in epoch_of(0))
    assert padded < 1.05 * LENGTHS.sum()


def test_batches_do_not_come_in_the_order_of_length():
    longest = [LENGTHS[batch].max() for batch in epoch_of(0)]
    assert abs(np.corrcoef(longest, range(N_BATCHES))[0, 1]) < 0.3


def test_scoring_takes_each_window_once_and_the_longest_first():
    batches = list(scoring_batches(LENGTHS, 500))
    rows = np.concatenate(batches)
    assert sorted(rows) == list(range(len(LENGTHS)))
    assert (np.diff(LENGTHS[rows]) <= 0).all()


@pytest.mark.parametrize("n_tokens", [1, 100, 1000, 10**9])
def test_scoring_keeps_to_its_tokens_save_for_a_single_window(n_tokens):
    batches = list(scoring_batches(LENGTHS, n_tokens))
    for batch, following in zip(batches, [*batches[1:], None], strict=True):
        longest = LENGTHS[batch].max()
        assert len(batch) * longest <= n_tokens or len(batch) == 1
        assert following is None or (len(batch) + 1) * longest > n_tokens


def test_scoring_goes_on_after_what_is_done():
    batches = list(scoring_batches(LENGTHS, 500))
    done = sum(map(len, batches[:7]))
    rest = list(scoring_batches(LENGTHS, 500, done))
    assert [b.tolist() for b in rest] == [b.tolist() for b in batches[7:]]
    smaller = np.concatenate(list(scoring_batches(LENGTHS, 250, done)))
    assert smaller.tolist() == np.concatenate(rest).tolist()
    assert list(scoring_batches(LENGTHS, 500, len(LENGTHS))) == []


def test_a_scoring_batch_is_as_wide_as_it_is_counted():
    windows = windows_of([1] * 300 + [9] * 20 + [20], max_length=20)
    for rows in scoring_batches(windows.padded, 256):
        ids, _ = windows.batch(rows)
        assert ids.shape[1] == windows.padded[rows].max()
        assert ids.numel() <= 256
