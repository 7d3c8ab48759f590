"""How the protocols divide a corpus into training and test documents."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from adbench_text.cli import options
from adbench_text.contract.dataset import Dataset, Documents, Redraw, check_facts
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import LEVELS, PROTOCOLS, draw, levels_of, protocol_of, splits
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError

LABELS = np.repeat([0, 1, 2], 20)
CLASSES = ("red", "green", "blue")
EMPTY = Documents([], np.zeros(0, dtype=np.int64))


def documents(part, labels=LABELS):
    return Documents([f"{part}{row} {CLASSES[label]}" for row, label in enumerate(labels)], labels)


@pytest.fixture
def colours():
    return Corpus("colours", CLASSES, documents("train"), documents("test"), "made up")


@pytest.fixture
def drawn():
    facts = {"inliers": ("red", "green"), "protocol": "redrawn", "redraw": Redraw(0.7, 5)}
    return Corpus("drawn", CLASSES, EMPTY, documents("test"), "made up", **facts)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_raw_documents_are_split_as_the_cleaned_ones(colours, drawn, protocol, share):
    whole = drawn if protocol == "redrawn" else colours
    written = lambda texts: [f"The {text}!" for text in texts]  # noqa: E731
    raw = {"originals": written(whole.test.texts), "train_originals": written(whole.train.texts)}
    whole = replace(whole, **raw)
    name = next(iter(splits(whole, protocol)))
    cleaned, of_raw = (draw(each, name, share, 3, protocol) for each in (whole, whole.raw))
    assert of_raw.train == written(cleaned.train)
    assert list(of_raw.test) == written(cleaned.test)
    for part in ("train_outlier", "outlier", "places"):
        assert getattr(of_raw, part).tolist() == getattr(cleaned, part).tolist()


def test_a_seed_draws_outliers_of_each_class_as_pandas_does(colours):
    facts = {"inliers": ("red",), "protocol": "redrawn", "redraw": Redraw(n_of_class=4)}
    corpus = replace(colours, **facts)
    split = draw(corpus, "red", 0.0, 354, "redrawn")
    texts = pd.Series(colours.test.texts)
    expected = [texts[colours.test.labels == label].sample(4, random_state=354) for label in (1, 2)]
    assert {split.test[row] for row in np.flatnonzero(split.outlier)} == set(pd.concat(expected))
    assert {split.test[row] for row in np.flatnonzero(~split.outlier)} == set(texts[colours.test.labels == 0])
    assert sorted(split.train) == sorted(
        text for text, label in zip(colours.train.texts, colours.train.labels, strict=True) if label == 0
    )


def classes_of(texts):
    return {text.split()[1] for text in texts}


def test_all_classes_but_one_are_normal(colours):
    assert splits(colours, "leave-one-out") == {
        "not-red": ("green", "blue"),
        "not-green": ("red", "blue"),
        "not-blue": ("red", "green"),
    }
    split = draw(colours, "not-green", 0, seed=0, protocol="leave-one-out")
    assert len(split.train) == 40
    assert classes_of(split.train) == {"red", "blue"}
    assert sorted(split.test) == sorted(colours.test.texts)
    assert split.outlier.tolist() == ["green" in text for text in split.test]
    dirty = draw(colours, "not-green", 0.1, seed=0, protocol="leave-one-out")
    assert classes_of(text for text, odd in zip(dirty.train, dirty.train_outlier, strict=True) if odd) == {
        "green"
    }
    assert dirty.train_outlier.sum() == 4


def test_classes_that_alone_can_be_normal_are_normal_together(colours):
    paired = replace(colours, inliers=("red", "green"))
    assert splits(paired) == {"red+green": ("red", "green")}
    split = draw(paired, "red+green", 0, seed=0)
    assert (len(split.train), int(split.outlier.sum())) == (40, 20)
    assert classes_of(split.train) == {"red", "green"}
    with pytest.raises(InvalidValueError, match="no protocol leave-one-out: only red, green can be normal"):
        splits(paired, "leave-one-out")
    with pytest.raises(UnknownNameError, match="No inlier class of colours named 'gren'"):
        splits(replace(colours, inliers=("gren",)))


def test_a_class_that_cannot_be_normal_needs_no_training_documents():
    facts = {"inliers": ("red",)}
    corpus = Corpus("reds", CLASSES, documents("train", LABELS[:20]), documents("test"), "made up", **facts)
    assert draw(corpus, "red", 0, seed=0).outlier.sum() == 40
    with pytest.raises(DataError, match="Class 'green' of reds has no training documents"):
        replace(corpus, inliers=("red", "green"))
    with pytest.raises(InvalidValueError, match="the other classes have only 0 training documents"):
        draw(corpus, "red", 0.1, seed=0)


def test_unlabelled_documents_are_ranked_without_others(colours):
    split = draw(colours, "red", 0, seed=0, protocol="unlabelled")
    assert split.train == list(split.test) == [colours.test.texts[place] for place in split.places]
    assert sorted(split.train) == sorted(colours.test.texts)
    assert split.train_outlier is split.outlier
    assert split.outlier.sum() == 40
    assert split.is_ranking
    few = draw(colours, "red", 0.2, seed=0, protocol="unlabelled")
    assert (len(few.train), int(few.outlier.sum())) == (25, 5)
    assert [colours.test.texts[place] for place in few.places] == few.train
    assert few.places.tolist() != draw(colours, "red", 0.2, seed=1, protocol="unlabelled").places.tolist()
    with pytest.raises(InvalidValueError, match="leave out --test-outliers"):
        draw(colours, "red", 0, seed=0, protocol="unlabelled", test_outliers=0.1)
    with pytest.raises(InvalidValueError, match=r"^contamination 0.01 leaves no outlier beside 20 inliers"):
        draw(colours, "red", 0.01, seed=0, protocol="unlabelled")


def test_each_seed_draws_both_parts_anew(drawn):
    split = draw(drawn, "red+green", 0, seed=0, protocol="redrawn")
    assert (len(split.train), len(split.test), int(split.outlier.sum())) == (28, 17, 5)
    assert classes_of(split.train) == {"red", "green"}
    assert set(split.train).isdisjoint(split.test)
    assert [drawn.test.texts[place] for place in split.places] == list(split.test)
    same, other = (draw(drawn, "red+green", 0, seed, "redrawn") for seed in (0, 1))
    assert (same.train, list(same.test)) == (split.train, list(split.test))
    assert set(other.train) != set(split.train)
    dirty = draw(drawn, "red+green", 0.1, seed=0, protocol="redrawn")
    assert dirty.train_outlier.sum() == 3
    assert set(dirty.train).isdisjoint(dirty.test)


def test_redrawn_test_documents_that_are_training_documents_are_counted(drawn):
    assert "equal a training document" not in drawn.counts()
    texts = [text if row % 3 else "the same" for row, text in enumerate(drawn.test.texts)]
    copied = replace(drawn, test=Documents(texts, drawn.test.labels))
    split = draw(copied, "red+green", 0, seed=0, protocol="redrawn")
    normal = [text for text, is_odd in zip(split.test, split.outlier, strict=True) if not is_odd]
    n_seen = sum(text in split.train for text in normal)
    assert 0 < n_seen < len(normal) == 12
    note = f"; drawn with seed 0, {n_seen} of 12 normal test documents equal a training document when cleaned"
    assert copied.counts().endswith(note)


@pytest.mark.parametrize("protocol", ["one-vs-rest", "leave-one-out", "unlabelled"])
def test_the_order_of_the_test_documents_is_drawn_from_the_seed_alone(colours, protocol):
    """The corpus is sorted by class."""
    name = "not-red" if protocol == "leave-one-out" else "red"
    first, again, other = (draw(colours, name, 0.1, seed, protocol) for seed in (0, 0, 1))
    assert first.test == again.test != other.test
    assert [colours.test.texts[place] for place in first.places] == first.test
    assert first.outlier.tolist() == [("red" in text) == (protocol == "leave-one-out") for text in first.test]
    halves = np.array_split(first.outlier, 2)
    assert abs(halves[0].mean() - halves[1].mean()) < 0.4


def test_a_limit_may_leave_fewer_outliers_than_are_to_be_drawn(drawn):
    split = draw(drawn.limited(3), "red+green", 0, seed=0, protocol="redrawn")
    assert (len(split.train), len(split.test), int(split.outlier.sum())) == (4, 5, 3)


def test_the_protocol_of_a_dataset_is_the_default(colours, drawn):
    assert protocol_of(colours, None) == "one-vs-rest"
    assert protocol_of(colours, "leave-one-out") == "leave-one-out"
    assert protocol_of(drawn, None) == "redrawn"
    assert protocol_of(drawn, "unlabelled") == "unlabelled"
    with pytest.raises(InvalidValueError, match="drawn has no protocol one-vs-rest: its own is redrawn"):
        protocol_of(drawn, "one-vs-rest")
    with pytest.raises(InvalidValueError, match="colours has no protocol redrawn: its own is one-vs-rest"):
        protocol_of(colours, "redrawn")
    with pytest.raises(InvalidValueError, match="colours has no protocol one-vs-rest: its own is unlabelled"):
        protocol_of(replace(colours, protocol="unlabelled"), "one-vs-rest")
    with pytest.raises(UnknownNameError, match="No protocol named 'leave-one'"):
        protocol_of(colours, "leave-one")


def test_ranking_needs_outliers_so_its_levels_begin_above_0(colours):
    class Own:
        contamination = (0.0,)

    assert levels_of(Dataset, "one-vs-rest") == LEVELS
    assert levels_of(Dataset, "unlabelled") == LEVELS[1:]
    assert levels_of(Own, "unlabelled") == (0.0,)


def test_the_command_line_offers_every_protocol():
    assert options.PROTOCOLS == PROTOCOLS


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"language": "german"}, "language must be a code .*, got 'german'"),
        ({"protocol": "bogus"}, "its protocol must be one of one-vs-rest, .*, got 'bogus'"),
        ({"protocol": "redrawn"}, "redraw must be a Redraw with the protocol redrawn"),
        ({"redraw": Redraw(0.5)}, "redraw must be a Redraw with the protocol redrawn"),
        ({"contamination": 0.0}, "its contamination must be a tuple of numbers, got 0.0"),
        ({"inliers": "red"}, "its inliers must be a tuple of some of its classes, got 'red'"),
        ({"inliers": CLASSES}, "its inliers must be a tuple of some of its classes"),
    ],
)
def test_wrong_facts_of_a_dataset_are_named(facts, reason):
    class Mine(Dataset):
        classes = CLASSES

        def read(self): ...

    check_facts(Mine())
    with pytest.raises(ValueError, match=reason):
        check_facts(type("Wrong", (Mine,), facts)())


@pytest.mark.parametrize("contamination", [0.0, 0.1])
def test_labelled_outliers_are_of_other_classes_and_not_in_the_training_data(colours, contamination):
    few, many = (draw(colours, "red", contamination, 0, labelled=n) for n in (3, 30))
    assert list(few.labelled) == list(many.labelled)[:3]
    assert classes_of(many.labelled) == {"green", "blue"}
    assert {*many.labelled}.isdisjoint(many.train)
    assert len({*many.labelled}) == 30
    assert draw(colours, "red", contamination, 0).train == many.train
    assert list(draw(colours, "red", contamination, 1, labelled=3).labelled) != list(few.labelled)


def test_labelled_outliers_may_be_of_one_class(colours, drawn):
    split = draw(colours, "red", 0, 0, labelled=5, labelled_from="blue")
    assert classes_of(split.labelled) == {"blue"}
    assert split.labelled_classes == {2}
    assert classes_of(draw(colours, "not-red", 0, 0, "leave-one-out", labelled=5).labelled) == {"red"}
    assert classes_of(draw(drawn, "red+green", 0, 0, "redrawn", labelled=5).labelled) == {"blue"}


@pytest.mark.parametrize(
    ("labelled", "name", "protocol", "message"),
    [
        (41, "", None, "^41 labelled outliers are asked for, but only 40 are left"),
        (21, "blue", None, "^21 labelled outliers of the class blue are asked for, but only 20 are left"),
        (1, "red", None, "^1 labelled outliers of the class red are asked for, but only 0 are left"),
        (1, "pink", None, "pink"),
        (1, "", "unlabelled", "^The protocol unlabelled has no training part for labelled outliers"),
    ],
)
def test_labelled_outliers_that_cannot_be_had_are_refused(colours, labelled, name, protocol, message):
    with pytest.raises((InvalidValueError, UnknownNameError), match=message):
        draw(colours, "red", 0, 0, protocol, labelled=labelled, labelled_from=name)
