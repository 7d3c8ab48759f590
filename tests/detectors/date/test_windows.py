from types import SimpleNamespace

import numpy as np
import pytest
import torch

from adbench_text.detectors._batches import scoring_batches
from adbench_text.detectors.date.windows import Windows
from adbench_text.text.wordpiece import Pieces

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


def test_a_scoring_batch_is_as_wide_as_it_is_counted():
    windows = windows_of([1] * 300 + [9] * 20 + [20], max_length=20)
    for rows in scoring_batches(windows.padded, 256):
        ids, _ = windows.batch(rows)
        assert ids.shape[1] == windows.padded[rows].max()
        assert ids.numel() <= 256
