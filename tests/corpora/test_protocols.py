"""How the protocols divide a corpus into training and test documents."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from adbench_text.contract.dataset import Dataset, Documents, Redraw, check_facts
from adbench_text.contract.protocols import PROTOCOLS
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import LEVELS, Split, draw, levels_of, protocol_of, splits
from adbench_text.corpora.split_key import AXES, SplitKey
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.run.runner import impossible

LABELS = np.repeat([0, 1, 2], 20)
CLASSES = ("red", "green", "blue")
EMPTY = Documents([], np.zeros(0, dtype=np.int64))


def documents(part, labels=LABELS):
    return Documents([f"{part}{row} {CLASSES[label]}" for row, label in enumerate(labels)], labels)


def split_of(corpus, inlier, *values, **axes) -> Split:
    return draw(corpus, SplitKey(corpus.name, inlier, *values, **axes))


@pytest.fixture
def colours():
    return Corpus("colours", CLASSES, documents("train"), documents("test"), "made up")


@pytest.fixture
def drawn():
    facts = {"inliers": ("red", "green"), "protocol": "redrawn", "redraw": Redraw(0.7, 5)}
    return Corpus("drawn", CLASSES, EMPTY, documents("test"), "made up", **facts)


def written(part):
    return Documents([f"The {text}!" for text in part.texts], part.labels)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_raw_documents_are_split_as_the_cleaned_ones(colours, drawn, protocol, share):
    whole = drawn if protocol == "redrawn" else colours
    whole = replace(whole, written_train=written(whole.train), written_test=written(whole.test))
    name = next(iter(splits(whole, protocol)))
    cleaned, of_raw = (split_of(each, name, share, 3, protocol) for each in (whole, whole.raw))
    assert of_raw.train == [f"The {text}!" for text in cleaned.train]
    assert list(of_raw.test) == [f"The {text}!" for text in cleaned.test]
    for part in ("train_outlier", "outlier", "places"):
        assert getattr(of_raw, part).tolist() == getattr(cleaned, part).tolist()


def test_a_seed_draws_outliers_of_each_class_as_pandas_does(colours):
    facts = {"inliers": ("red",), "protocol": "redrawn", "redraw": Redraw(n_of_class=4)}
    corpus = replace(colours, **facts)
    split = split_of(corpus, "red", 0.0, 354, "redrawn")
    texts = pd.Series(colours.test.texts)
    expected = [texts[colours.test.labels == label].sample(4, random_state=354) for label in (1, 2)]
    assert {split.test[row] for row in np.flatnonzero(split.outlier)} == set(pd.concat(expected))
    assert {split.test[row] for row in np.flatnonzero(~split.outlier)} == set(texts[colours.test.labels == 0])
    assert sorted(split.train) == sorted(
        text for text, label in zip(colours.train.texts, colours.train.labels, strict=True) if label == 0
    )


@pytest.fixture
def folded():
    facts = {"inliers": ("red",), "protocol": "redrawn", "redraw": Redraw(folds=3)}
    return Corpus("folded", CLASSES, EMPTY, documents("test", np.tile([0, 1, 2], 10)), "made up", **facts)


def numbers_of(rows):
    """Return the places of documents in their classes: labels are red, green, blue, red, ..."""
    return sorted({int(row) // len(CLASSES) for row in rows})


def test_a_seed_without_a_fold_is_refused(folded):
    with pytest.raises(InvalidValueError, match=r"^folded has 3 folds, .* give --seed 0,1,2, got 3\."):
        split_of(folded, "red", 0.0, 3, "redrawn")
    keys = [SplitKey("folded", "red", seed=seed, protocol="redrawn") for seed in (0, 3, 1)]
    assert list(impossible(keys, {"folded": folded})) == [keys[1]]  # the cells of the other seeds run


@pytest.mark.parametrize(("seed", "tested"), [(0, [7, 8, 9]), (1, [4, 5, 6]), (2, [0, 1, 2, 3])])
def test_a_seed_tests_a_fold_with_all_classes_and_learns_the_normal_documents_of_the_others(
    folded, seed, tested
):
    split = split_of(folded, "red", 0.0, seed, "redrawn")
    learned = [place for place in range(10) if place not in tested]
    assert numbers_of(split.places) == tested
    assert len(split.test) == 3 * len(tested)
    assert split.outlier.sum() == 2 * len(tested)
    assert numbers_of(split.train_rows) == learned
    assert classes_of(split.train) == {"red"}
    assert len(split.train) == len(learned)


@pytest.mark.parametrize("seed", [0, 1])
def test_no_outlier_for_the_training_data_or_known_one_is_a_partner_of_a_tested_document(folded, seed):
    split = split_of(folded, "red", 0.2, seed, "redrawn", known=6)
    assert split.train_outlier.sum() == 1
    assert classes_of(split.known) == {"green", "blue"}
    of_training = numbers_of([*split.train_rows, *split.known_rows])
    assert {*of_training}.isdisjoint(numbers_of(split.places))
    with pytest.raises(InvalidValueError, match="only 13 "):  # 7 places of two classes, and one is mixed in
        split_of(folded, "red", 0.2, seed, "redrawn", known=14)


def test_a_limit_takes_the_documents_of_a_place_from_all_classes(folded):
    limited = folded.limited(4)
    assert np.bincount(limited.test.labels).tolist() == [4, 4, 4]
    numbers = [int(text.removeprefix("test").split()[0]) // 3 for text in limited.test.texts]
    assert len(set(numbers)) == 4
    assert numbers == sorted(numbers)
    split = split_of(limited, "red", 0.0, 0, "redrawn")
    assert (len(split.train), len(split.test)) == (3, 3)
    with pytest.raises(DataError, match=r"^folded is cut into 3 folds, .* at least 3 .*; got 2\. .*limit"):
        folded.limited(2)


def test_folds_need_classes_of_the_same_size(folded):
    with pytest.raises(DataError, match=r"^folded has folds: .* got red 9, green 10, blue 10, and 0 more"):
        replace(folded, test=folded.test.take(np.arange(1, 30)))
    with pytest.raises(DataError, match=r"^folded has folds: .* and 3 more that are empty"):
        replace(folded, n_empty=3)


def test_copies_across_folds_are_counted(folded):
    assert "cleaned" not in folded.counts()
    texts = ["the same" if row in (0, 27) else text for row, text in enumerate(folded.test.texts)]
    copied = replace(folded, test=Documents(texts, folded.test.labels))
    assert "; drawn with seed 0, 1 of 3 normal test documents equal a training" in copied.counts()


def classes_of(texts):
    return {text.split()[1] for text in texts}


def test_all_classes_but_one_are_normal(colours):
    assert splits(colours, "leave-one-out") == {
        "not-red": ("green", "blue"),
        "not-green": ("red", "blue"),
        "not-blue": ("red", "green"),
    }
    split = split_of(colours, "not-green", 0, seed=0, protocol="leave-one-out")
    assert len(split.train) == 40
    assert classes_of(split.train) == {"red", "blue"}
    assert sorted(split.test) == sorted(colours.test.texts)
    assert split.outlier.tolist() == ["green" in text for text in split.test]
    dirty = split_of(colours, "not-green", 0.1, seed=0, protocol="leave-one-out")
    assert classes_of(text for text, odd in zip(dirty.train, dirty.train_outlier, strict=True) if odd) == {
        "green"
    }
    assert dirty.train_outlier.sum() == 4


def test_classes_that_alone_can_be_normal_are_normal_together(colours):
    paired = replace(colours, inliers=("red", "green"))
    assert splits(paired) == {"red+green": ("red", "green")}
    split = split_of(paired, "red+green", 0, seed=0)
    assert (len(split.train), int(split.outlier.sum())) == (40, 20)
    assert classes_of(split.train) == {"red", "green"}
    with pytest.raises(InvalidValueError, match=r"colours .*leave-one-out: .*red, green "):
        splits(paired, "leave-one-out")
    with pytest.raises(UnknownNameError, match=r"inlier class .*colours .*'gren'"):
        splits(replace(colours, inliers=("gren",)))


def test_a_class_that_cannot_be_normal_needs_no_training_documents():
    facts = {"inliers": ("red",)}
    corpus = Corpus("reds", CLASSES, documents("train", LABELS[:20]), documents("test"), "made up", **facts)
    assert split_of(corpus, "red", 0, seed=0).outlier.sum() == 40
    with pytest.raises(DataError, match=r"'green' .*reds .*no training documents"):
        replace(corpus, inliers=("red", "green"))
    with pytest.raises(InvalidValueError, match=r"^contamination 0\.1 .* 20 inliers, .* 0 training"):
        split_of(corpus, "red", 0.1, seed=0)


def test_documents_are_ranked_without_others(colours):
    split = split_of(colours, "red", 0, seed=0, protocol="rank-all")
    assert split.train == list(split.test) == [colours.test.texts[place] for place in split.places]
    assert sorted(split.train) == sorted(colours.test.texts)
    assert split.train_outlier is split.outlier
    assert split.outlier.sum() == 40
    assert split.is_ranking
    few = split_of(colours, "red", 0.2, seed=0, protocol="rank-all")
    assert (len(few.train), int(few.outlier.sum())) == (25, 5)
    assert [colours.test.texts[place] for place in few.places] == few.train
    assert few.places.tolist() != split_of(colours, "red", 0.2, seed=1, protocol="rank-all").places.tolist()
    with pytest.raises(InvalidValueError, match=r"rank-all, --contamination .*--test-outliers"):
        split_of(colours, "red", 0, seed=0, protocol="rank-all", test_outliers=0.1)
    with pytest.raises(InvalidValueError, match=r"^contamination 0\.01 .*no outlier, .* 20 inliers"):
        split_of(colours, "red", 0.01, seed=0, protocol="rank-all")


def test_each_seed_draws_both_parts_anew(drawn):
    split = split_of(drawn, "red+green", 0, seed=0, protocol="redrawn")
    assert (len(split.train), len(split.test), int(split.outlier.sum())) == (28, 17, 5)
    assert classes_of(split.train) == {"red", "green"}
    assert set(split.train).isdisjoint(split.test)
    assert [drawn.test.texts[place] for place in split.places] == list(split.test)
    same, other = (split_of(drawn, "red+green", 0, seed, "redrawn") for seed in (0, 1))
    assert (same.train, list(same.test)) == (split.train, list(split.test))
    assert set(other.train) != set(split.train)
    dirty = split_of(drawn, "red+green", 0.1, seed=0, protocol="redrawn")
    assert dirty.train_outlier.sum() == 3
    assert set(dirty.train).isdisjoint(dirty.test)


def test_redrawn_test_documents_that_are_training_documents_are_counted(drawn):
    assert "cleaned" not in drawn.counts()
    texts = [text if row % 3 else "the same" for row, text in enumerate(drawn.test.texts)]
    copied = replace(drawn, test=Documents(texts, drawn.test.labels))
    split = split_of(copied, "red+green", 0, seed=0, protocol="redrawn")
    normal = [text for text, is_odd in zip(split.test, split.outlier, strict=True) if not is_odd]
    n_seen = sum(text in split.train for text in normal)
    assert 0 < n_seen < len(normal) == 12
    assert re.search(f"; [^;]*seed 0, {n_seen} of 12 normal [^;]*cleaned$", copied.counts())


@pytest.mark.parametrize("protocol", ["one-vs-rest", "leave-one-out", "rank-all"])
def test_the_order_of_the_test_documents_is_drawn_from_the_seed_alone(colours, protocol):
    """The corpus is sorted by class."""
    name = "not-red" if protocol == "leave-one-out" else "red"
    first, again, other = (split_of(colours, name, 0.1, seed, protocol) for seed in (0, 0, 1))
    assert first.test == again.test != other.test
    assert [colours.test.texts[place] for place in first.places] == first.test
    assert first.outlier.tolist() == [("red" in text) == (protocol == "leave-one-out") for text in first.test]
    halves = np.array_split(first.outlier, 2)
    assert abs(halves[0].mean() - halves[1].mean()) < 0.4


def test_a_limit_may_leave_fewer_outliers_than_are_to_be_drawn(drawn):
    split = split_of(drawn.limited(3), "red+green", 0, seed=0, protocol="redrawn")
    assert (len(split.train), len(split.test), int(split.outlier.sum())) == (4, 5, 3)


def test_the_protocol_of_a_dataset_is_the_default(colours, drawn):
    assert protocol_of(colours, None) == "one-vs-rest"
    assert protocol_of(colours, "leave-one-out") == "leave-one-out"
    assert protocol_of(drawn, None) == "redrawn"
    assert protocol_of(drawn, "rank-all") == "rank-all"
    with pytest.raises(InvalidValueError, match=r"^drawn .*one-vs-rest: .*redrawn.*--protocol"):
        protocol_of(drawn, "one-vs-rest")
    with pytest.raises(InvalidValueError, match=r"^colours .*redrawn: .*one-vs-rest.*--protocol"):
        protocol_of(colours, "redrawn")
    with pytest.raises(InvalidValueError, match=r"^colours .*one-vs-rest: .*rank-all.*--protocol"):
        protocol_of(replace(colours, protocol="rank-all"), "one-vs-rest")
    with pytest.raises(UnknownNameError, match=r"protocol .*'leave-one'.*'leave-one-out'"):
        protocol_of(colours, "leave-one")


def test_ranking_needs_outliers_so_its_levels_begin_above_0(colours):
    class Own:
        contamination = (0.0,)

    assert levels_of(Dataset, "one-vs-rest") == LEVELS
    assert levels_of(Dataset, "rank-all") == LEVELS[1:]
    assert levels_of(Own, "rank-all") == (0.0,)


@pytest.mark.parametrize(
    ("facts", "quoted"),
    [
        ({"language": "german"}, "language .*, got 'german'"),
        ({"protocol": "bogus"}, f"protocol .*{', '.join(PROTOCOLS)}, got 'bogus'"),
        ({"protocol": "redrawn"}, "redraw .*Redraw .*redrawn, .*got None"),
        ({"redraw": Redraw(0.5)}, r"redraw .*Redraw .*redrawn, .*got Redraw\(.*0\.5"),
        ({"protocol": "redrawn", "redraw": Redraw(0.5, folds=2)}, r"folds, .*no other .*0\.5.*folds=2"),
        (
            {"protocol": "redrawn", "redraw": Redraw(n_of_class=2, folds=2)},
            "folds, .*no other .*n_of_class=2",
        ),
        ({"protocol": "redrawn", "redraw": Redraw(folds=1)}, "folds .* 0, or 2 .*, got 1"),
        ({"protocol": "redrawn", "redraw": Redraw(folds=-2)}, "folds .* 0, or 2 .*, got -2"),
        ({"contamination": 0.0}, r"contamination .*tuple .*, got 0\.0"),
        ({"inliers": "red"}, "inliers .*tuple .*, got 'red'"),
        ({"inliers": CLASSES}, r"inliers .*tuple .*, got \('red', 'green', 'blue'\)"),
        ({"outliers": CLASSES}, r"outliers .*tuple .*, got \('red', 'green', 'blue'\)"),
        ({"inliers": ("red",), "outliers": ("red",)}, r"outliers .*tuple .*, got \('red',\)"),
    ],
)
def test_wrong_facts_of_a_dataset_are_named(facts, quoted):
    class Mine(Dataset):
        classes = CLASSES

        def read(self): ...

    check_facts(Mine())
    with pytest.raises(ValueError, match=quoted):
        check_facts(type("Wrong", (Mine,), facts)())


@pytest.mark.parametrize("contamination", [0.0, 0.1])
def test_known_outliers_are_of_other_classes_and_not_in_the_training_data(colours, contamination):
    few, many = (split_of(colours, "red", contamination, known=n) for n in (3, 30))
    assert list(few.known) == list(many.known)[:3]
    assert classes_of(many.known) == {"green", "blue"}
    assert {*many.known}.isdisjoint(many.train)
    assert len({*many.known}) == 30
    assert split_of(colours, "red", contamination).train == many.train
    assert list(split_of(colours, "red", contamination, 1, known=3).known) != list(few.known)


def test_known_outliers_are_no_texts_of_test_documents(colours, drawn):
    texts = [f"copied {text}" if row % 2 else text for row, text in enumerate(colours.train.texts)]
    copied = replace(colours, train=Documents(texts, LABELS))
    copied = replace(
        copied, test=Documents([*texts[1::2], *colours.test.texts[1::2]], LABELS[[*range(1, 60, 2)] * 2])
    )
    copied = replace(copied, written_train=written(copied.train), written_test=written(copied.test))
    cleaned, raw = (split_of(each, "red", known=20) for each in (copied, copied.raw))
    assert {*cleaned.known}.isdisjoint(copied.test.texts)
    assert raw.known == [f"The {text}!" for text in cleaned.known]
    for each in (copied, copied.raw):
        with pytest.raises(InvalidValueError, match="only 20 "):
            split_of(each, "red", known=21)
    same = replace(drawn, test=Documents([*drawn.test.texts[:40], *["sky blue"] * 20], LABELS))
    with pytest.raises(InvalidValueError, match="only 0 "):
        split_of(same, "red+green", protocol="redrawn", known=1)


def test_known_outliers_may_be_of_one_class(colours, drawn):
    split = split_of(colours, "red", known=5, known_from="blue")
    assert classes_of(split.known) == {"blue"}
    assert split.known_classes == {2}
    assert classes_of(split_of(colours, "not-red", protocol="leave-one-out", known=5).known) == {"red"}
    assert classes_of(split_of(drawn, "red+green", protocol="redrawn", known=5).known) == {"blue"}


@pytest.mark.parametrize(
    ("axes", "error", "quoted"),
    [
        ({"known": 41}, InvalidValueError, "^41 known outliers .*only 40 .*--known-outliers"),
        ({"known": 21, "known_from": "blue"}, InvalidValueError, "^21 known .*blue .*only 20 .*--known-from"),
        ({"known": 1, "known_from": "red"}, InvalidValueError, "^1 known .*red .*only 0 .*--known-from"),
        ({"known": 1, "known_from": "pink"}, UnknownNameError, "class .*colours .*'pink'"),
        ({"known": 1, "protocol": "rank-all"}, InvalidValueError, r"rank-all .*known .*got 1\."),
    ],
)
def test_known_outliers_that_cannot_be_had_are_refused(colours, axes, error, quoted):
    with pytest.raises(error, match=quoted) as caught:
        split_of(colours, "red", **axes)
    assert caught.type is error


# -- names of splits

KEY = SplitKey("colours", "red", 0.05)
#: One change of each axis, and what the slug and people have for it.
CHANGES = {
    "protocol": ("leave-one-out", "-protocol-leave-one-out", "leave-one-out"),
    "test_outliers": (0.1, "-test-outliers-0.1", "10% outliers in the test set"),
    "known": (10, "-known-10", "10 known outliers"),
    "known_from": ("blue", "-known-from-blue", "from blue"),
}


def test_a_split_without_axes_is_named_by_four_facts():
    assert str(KEY) == "colours/red at 5%, seed 0"
    assert (KEY.slug, KEY.variant, KEY.level) == ("red-0.05-seed0", "", "5%")
    assert KEY.columns() == {"dataset": "colours", "inlier": "red", "contamination": "0.05", "seed": "0"}


@pytest.mark.parametrize("axis", AXES)
def test_each_axis_is_in_every_name_of_a_split_unless_it_has_the_default(axis):
    value, slug, words = CHANGES[axis]
    key = replace(KEY, **{axis: value})
    assert key.slug == f"red-0.05-seed0{slug}"
    assert (str(key), key.level) == (f"colours/red at 5%, seed 0, {words}", f"5%, {words}")
    assert {*key.columns()} - {*KEY.columns()} == {axis}
    assert SplitKey.of({**key.columns(), "detector": "llr"}) == key


def test_a_split_of_text_that_is_no_number_is_an_error():
    with pytest.raises(ValueError, match="few"):
        SplitKey.of({**KEY.columns(), "known": "few"})
