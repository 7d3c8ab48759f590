import pickle

import numpy as np
import pytest

from adbench_text.plugins.dataset import Documents
from adbench_text.text.packed import PackedTexts

LINES = ["fog", "länger straße", "", "\U0001f600", "\udcff"]


def packed(lines: list[str]) -> PackedTexts:
    return PackedTexts.of_lines(np.frombuffer("\n".join(lines).encode("utf-8", "surrogatepass"), np.uint8))


def test_they_are_a_sequence_of_strings():
    texts = packed(LINES)
    assert len(texts) == len(LINES)
    assert list(texts) == [texts[i] for i in range(len(LINES))] == LINES
    assert (texts[-1], texts[1:4], texts[::-2]) == (LINES[-1], LINES[1:4], LINES[::-2])
    assert "fog" in texts
    assert texts.index("\U0001f600") == 3
    with pytest.raises(IndexError):
        texts[len(LINES)]


def test_they_are_equal_to_the_same_strings():
    assert packed(LINES) == LINES
    assert packed(LINES) == tuple(LINES)
    assert packed(LINES) == packed(LINES)
    assert packed(LINES) != LINES[::-1]
    assert packed(["a"]) != "a"


@pytest.mark.parametrize("rows", [[2, 0, 0], [], [4]])
def test_some_are_taken_in_the_order_that_is_asked_for(rows):
    rows = np.array(rows, dtype=np.int64)
    assert packed(LINES).take(rows) == [LINES[row] for row in rows]
    for texts in (packed(LINES), LINES):
        taken = Documents(texts, np.arange(len(LINES))).take(rows)
        assert (list(taken.texts), taken.labels.tolist()) == ([LINES[row] for row in rows], rows.tolist())


def test_they_survive_pickling():
    assert pickle.loads(pickle.dumps(packed(LINES))) == LINES
