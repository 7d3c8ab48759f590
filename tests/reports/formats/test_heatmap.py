"""Words coloured by their scores, in a report."""

from dataclasses import replace

import pytest
from token_scores import scored

from adbench_text.contract.scores import TokenScore
from adbench_text.pages.shades import Scale
from adbench_text.reports.formats._heatmap import N_CHARACTERS, prepare
from adbench_text.reports.report import Heatmap
from adbench_text.run.result import Example


def example(text, scores, why="most abnormal"):
    return Example(why, 7, "sea", True, 0.5, text, scored(text, scores))


def scale_of(*scores, middle=None):
    return Scale.of([scored(" ".join("x" for _ in scores), scores)], middle)


def test_a_deeper_shade_is_a_more_abnormal_word_and_the_scale_is_common():
    texts = [("a b c d", [-1.0, 0.0, 0.02, 0.3]), ("e f g h", [0.1, 0.4, 0.9, 1.0])]
    shown = prepare(Heatmap("", [example(*each) for each in texts])).groups[0]
    shade = {piece.text: piece.shade for each in shown for piece in each.pieces if piece.score}
    assert shade["a"] == "typical9"
    assert shade["b"] == shade["c"] == ""
    assert "" < shade["e"] < shade["d"] < shade["f"] < shade["g"] <= shade["h"] == "odd9"


def test_one_extreme_word_does_not_leave_the_others_pale():
    scale = scale_of(*(i / 400 for i in range(400)), 1e6)
    assert scale.shade(0.99) == scale.shade(1e6) == scale.shade(float("inf")) == "odd9"
    assert scale.shade(0.7) > "odd2"


def test_each_side_of_the_centre_has_its_own_scale():
    scale = scale_of(-3.0, -2.0, -1.0, 0.5, -4.0)
    assert [scale.shade(score) for score in (-4, -1, -0.1, 0, 0.5, 0.1)] == [
        *("typical9", "typical2", "", "", "odd9", "odd2")
    ]
    assert [scale_of(*(i / 100 for i in range(101))).shade(score) for score in (0, 0.3, 0.5, 1)] == [
        *("typical9", "typical4", "", "odd9")
    ]
    assert scale_of(*[0.0] * 999, 0.7).shade(0.7) == "odd9"
    assert scale_of(0.9, 0.1, middle=0.5).shade(0.1) == "typical9"


@pytest.mark.parametrize("scores", [[], [0.3, 0.3, 0.3], [-2.0, -2.0], [float("nan")]])
def test_where_no_word_stands_out_none_is_coloured(scores):
    assert scale_of(*scores).is_empty
    assert not any(scale_of(*scores).shade(score) for score in scores)


def test_finds_come_before_mistakes():
    reasons = ["missed outlier", "inlier taken for an outlier", "most abnormal", "most normal"]
    examples = [replace(example("a b", [0.1, 0.2]), why=why) for why in reasons]
    groups = prepare(Heatmap("", examples)).groups
    assert [group[0].example.why for group in groups] == [reasons[2], *reasons[:2], reasons[3]]


@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        ([0.123456, 0.5], "0.123"),
        ([12.34, 56.0], "12.3"),
        ([1.5e-05, 4e-4], "0.000015"),
        ([-1e-9, 0.9], "0.000"),
    ],
)
def test_scores_have_three_digits_of_the_largest(scores, shown):
    (piece, *_) = prepare(Heatmap("", [example("a b", scores)])).groups[0][0].pieces
    assert piece.score == shown


def test_all_words_are_listed_once_with_their_highest_score_also_those_of_a_text_that_is_cut():
    names = [f"word{i}" for i in range(400)]
    text, scores = " ".join([*names, "word0"]), [*map(float, range(400)), 1000.0]
    shown = prepare(Heatmap("", [example(text, scores)])).groups[0][0]
    assert shown.n_left_out > 0
    assert [word.text for word in shown.words] == ["word0", *names[:0:-1]]


@pytest.mark.parametrize(
    ("text", "kept", "n_left_out"),
    [
        ("seven77 " * 1000, "seven77 " * 186 + "seven77", 813),
        ("x" * 5000, "x" * 1500, 1),
        ("one " + "x" * 5000, "one " + "x" * 1496, 1),
    ],
)
def test_a_long_document_is_cut_between_words_and_what_is_left_out_is_counted(text, kept, n_left_out):
    shown = prepare(Heatmap("", [example(text, [1.0] * len(text.split()))])).groups[0][0]
    assert "".join(piece.text for piece in shown.pieces) == kept
    assert len(kept) <= N_CHARACTERS
    assert shown.n_left_out == n_left_out


def test_tokens_that_overlap_or_lie_outside_lose_no_text():
    text = "one two three"
    odd = [TokenScore("one two", 0, 7, 0.5), TokenScore("two", 4, 7, 0.6), TokenScore("?", 40, 44, 0.7)]
    assert "".join(piece.text for piece in scale_of(1.0).pieces(text, odd)) == text
