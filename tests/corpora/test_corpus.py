import pickle
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from adbench_text import storage
from adbench_text.contract.dataset import Dataset, Documents, Edition
from adbench_text.corpora import corpus
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import Split, contaminate, divided, draw, n_outliers
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.text.cleaning import clean

CLASSES = ("red", "green", "blue")


def documents(part: str, sizes: tuple[int, ...] = (20, 30, 40)) -> Documents:
    """Documents that name their part, class and number, in a mixed order."""
    pairs = [(f"{part} {CLASSES[label]} {i}", label) for label, n in enumerate(sizes) for i in range(n)]
    random.Random(0).shuffle(pairs)
    return Documents([text for text, _ in pairs], np.array([label for _, label in pairs]))


@pytest.fixture
def colours() -> Corpus:
    return Corpus("colours", CLASSES, documents("train"), documents("test"), "made up")


# -- splits and contamination


def test_outliers_are_as_many_as_in_the_papers_code():
    for percent in range(50):
        for n in (*range(300), 30_000):
            assert n_outliers(n, percent / 100) == int(100 * n / (100 - percent)) - n


@pytest.mark.parametrize("contamination", [0.001, 0.0113, 0.05, 0.3, 0.4999])  # 113 is 112.99... as a float
def test_outliers_are_the_asked_share_of_the_whole(contamination):
    n = n_outliers(10**7, contamination)
    assert n / (10**7 + n) == pytest.approx(contamination, abs=1e-6)


def test_dirty_data_without_an_outlier_are_refused(colours):
    split = divided(colours, ["red"])
    fewest = 1 / (len(split.train) + 1)
    assert contaminate(split, fewest + 0.001, seed=0).train_outlier.sum() == 1
    lower = fewest - 0.001
    with pytest.raises(InvalidValueError, match=f"^contamination {lower:g} .*no outlier .* 20 inliers"):
        contaminate(split, lower, seed=0)


@pytest.mark.parametrize("contamination", [-1e-9, 0.5, 5, float("nan"), float("-inf")])
def test_a_contamination_outside_its_range_is_refused(contamination, colours):
    with pytest.raises(InvalidValueError, match=rf"^contamination .*\[0, 0\.5\), got {contamination}\.$"):
        draw(colours, SplitKey("colours", "red", contamination))


def test_one_class_is_the_training_set_and_every_other_class_an_outlier(colours):
    split = divided(colours, ["green"])
    assert split.train == [text for text in colours.train.texts if "green" in text]
    assert len(split.train) == 30
    assert not split.train_outlier.any()
    assert split.test == colours.test.texts
    assert split.outlier.tolist() == ["green" not in text for text in split.test]
    assert sorted(split.train + split.pool) == sorted(colours.train.texts)
    assert not any("green" in text for text in split.pool)
    with pytest.raises(UnknownNameError, match=r"inlier class .*colours .*'gren'\. .*'green'"):
        draw(colours, SplitKey("colours", "gren"))


def mixed(split: Split, contamination: float, seed: int = 0) -> Split:
    return contaminate(split, contamination, seed)


def outliers_of(split: Split) -> set[str]:
    return {text for text, is_outlier in zip(split.train, split.train_outlier, strict=True) if is_outlier}


def test_outliers_come_from_the_training_part_of_the_other_classes_once_each(colours):
    split = divided(colours, ["blue"])
    for seed in range(20):
        dirty = mixed(split, 0.3, seed)
        drawn = outliers_of(dirty)
        assert len(drawn) == n_outliers(40, 0.3) == 17 == dirty.train_outlier.sum()
        assert all(text.startswith("train ") and "blue" not in text for text in drawn)
        assert sorted(dirty.train) == sorted([*split.train, *drawn])


def test_all_other_classes_are_drawn_from(colours):
    split = divided(colours, ["blue"])
    drawn = [text for seed in range(50) for text in outliers_of(mixed(split, 0.1, seed))]
    assert np.mean(["green" in text for text in drawn]) == pytest.approx(0.6, abs=0.1)  # 30 of 50


def test_the_test_set_is_never_touched(colours):
    before = list(colours.test.texts), colours.test.labels.copy()
    clean = divided(colours, ["green"])
    dirty = mixed(clean, 0.4)
    assert dirty.test == clean.test == before[0]
    np.testing.assert_array_equal(dirty.outlier, clean.outlier)
    np.testing.assert_array_equal(colours.test.labels, before[1])
    assert not set(dirty.train) & set(colours.test.texts)
    assert sorted(clean.train + clean.pool) == sorted(colours.train.texts)  # nor is the clean split
    assert not clean.train_outlier.any()
    places = np.flatnonzero(dirty.train_outlier)
    assert places.min() < 15 < 35 < places.max()  # shuffled


def test_the_same_seed_draws_the_same_and_another_seed_others(colours):
    split = divided(colours, ["green"])
    one, same, other = (mixed(split, 0.2, seed) for seed in (3, 3, 4))
    assert one.train == same.train
    np.testing.assert_array_equal(one.train_outlier, same.train_outlier)
    assert outliers_of(one) != outliers_of(other)
    assert one.train != other.train


def test_a_draw_is_the_same_in_every_version(colours):
    assert sorted(outliers_of(mixed(divided(colours, ["red"]), 0.15, 0))) == [
        "train blue 24",
        "train blue 31",
        "train green 26",
    ]


def test_a_higher_level_contains_the_outliers_of_a_lower_one(colours):
    split = divided(colours, ["red"])
    levels = [outliers_of(mixed(split, level, seed=7)) for level in (0, 0.05, 0.1, 0.15, 0.4)]
    assert [len(drawn) for drawn in levels] == [0, 1, 2, 3, 13]
    for lower, higher in pairwise(levels):
        assert lower < higher


def test_as_many_outliers_as_there_are_can_be_asked_for_and_not_one_more():
    def split(n_pool: int) -> Split:
        train, test = documents("train", (60, n_pool, 0)), documents("test", (1, 1, 0))
        return divided(Corpus("few", ("red", "green"), train, test, "made up"), ["red"])

    assert n_outliers(60, 0.4) == 40
    assert outliers_of(mixed(split(40), 0.4)) == set(split(40).pool)
    with pytest.raises(InvalidValueError, match=r"^contamination 0\.4 .* 40 outliers .* 60 inliers, .* 39 "):
        mixed(split(39), 0.4)


# -- documents and corpora


def test_documents_that_clean_to_nothing_are_dropped():
    raw = Documents(["The Cars!", "", " \n\t", "12 -- 3", "the and of", "a b c", "Ships, 2"], np.arange(7))
    test = Documents(["A tale"] * 7, np.arange(7))
    facts = {"classes": tuple("abcdefg"), "protocol": "redrawn", "inliers": ("a",)}
    dataset = type("Some", (Colours,), {**facts, "read": lambda self: (raw, test)})()
    loaded = corpus.of_dataset(dataset, Edition("made up", "1"), corpus.cleaned(dataset))
    assert loaded.train.texts == ["cars", "ships"]
    assert loaded.train.labels.tolist() == [0, 6]
    assert loaded.written_train.texts == ["The Cars!", "Ships, 2"]
    assert loaded.n_empty == 5


@pytest.mark.parametrize("part", ["training", "test"])
def test_an_empty_class_is_refused(part):
    parts = {"training": documents("train"), "test": documents("test")} | {part: documents("x", (1, 0, 1))}
    with pytest.raises(DataError, match=f"'green' .*colours .*no {part} documents"):
        Corpus("colours", CLASSES, *parts.values(), "made up")


def test_texts_and_labels_may_be_any_sequences():
    documents = Documents(np.array(["a", "b"]), [1, 0])
    assert (documents.texts, documents.labels.dtype, len(Documents([], []))) == (["a", "b"], np.int64, 0)


@pytest.mark.parametrize("label", [-1, 2])
def test_a_label_without_a_class_is_refused(label):
    train = Documents(["a", "b", "c"], np.array([0, 1, label]))
    with pytest.raises(DataError, match=f"label {label}"):
        Corpus("two", ("a", "b"), train, train.take(np.array([0, 1])), "made up")


def test_the_digest_changes_with_every_text_and_every_label(colours):
    def variant(part: str, row: int, text: str | None = None, label: int | None = None) -> Corpus:
        before: Documents = getattr(colours, part)
        texts, labels = list(before.texts), before.labels.copy()
        texts[row] = texts[row] if text is None else text
        labels[row] = labels[row] if label is None else label
        return Corpus("colours", CLASSES, **parts(part, Documents(texts, labels)), edition="made up")

    def parts(name: str, changed: Documents) -> dict[str, Documents]:
        return {"train": colours.train, "test": colours.test} | {name: changed}

    variants = [colours]
    for part in ("train", "test"):
        for row in (0, 41, 89):
            variants.append(variant(part, row, text="another"))
            variants.append(variant(part, row, label=(getattr(colours, part).labels[row] + 1) % 3))
    variants.append(Corpus("colours", CLASSES, colours.test, colours.train, "made up"))
    variants.append(Corpus("colours", CLASSES[::-1], colours.train, colours.test, "made up"))
    train, test = colours.train, colours.test
    moved = Documents([train.texts[-1], *test.texts], np.append(train.labels[-1], test.labels))
    variants.append(Corpus("colours", CLASSES, train.take(np.arange(len(train) - 1)), moved, "made up"))
    digests = [variant.digest for variant in variants]
    assert len(set(digests)) == len(digests)
    assert {len(digest) for digest in digests} == {32}
    train = Documents(colours.train.texts, colours.train.labels.astype(np.int32))
    again = Corpus("colours", CLASSES, train, documents("test"), "another edition")
    assert again.digest == colours.digest


def test_limited_keeps_at_most_the_given_number_per_class_in_their_order(colours):
    limited = colours.limited(25)
    for part, whole in ((limited.train, colours.train), (limited.test, colours.test)):
        assert np.bincount(part.labels).tolist() == [20, 25, 25]
        rows = [whole.texts.index(text) for text in part.texts]
        assert rows == sorted(rows)
        np.testing.assert_array_equal(part.labels, whole.labels[rows])
    assert re.fullmatch("made up, .* 25 documents .*", limited.edition)
    assert limited.digest != colours.digest
    assert limited.digest == colours.limited(25).digest
    assert colours.limited(1000) is colours  # with the figures of the complete corpus
    firsts = [text for text in colours.train.texts if "blue" in text][:5]
    assert [text for text in colours.limited(5).train.texts if "blue" in text] != firsts


# -- loading and its cache


class Colours(Dataset):
    """Counts how often it is read."""

    name: ClassVar[str] = "colours"
    classes: ClassVar[tuple[str, ...]] = CLASSES
    reads = 0

    def __init__(self, digest: str = "0" * 64, name: str = "made up", extra: str = "") -> None:
        self._edition, self.extra = Edition(name, digest), extra

    def edition(self) -> Edition:
        return self._edition

    def read(self) -> tuple[Documents, Documents]:
        type(self).reads += 1
        texts = [f"The {name} {self.extra}!" for name in CLASSES] + ["the", "LÄNGER  straße\n"]
        labels = np.array([0, 1, 2, 0, 1])
        return Documents(texts, labels), Documents(texts[:4], labels[:4])


@pytest.fixture(autouse=True)
def no_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Colours, "reads", 0)


def cache_files() -> list[Path]:
    files = [path for path in storage.cache_dir().rglob("*") if path.is_file()]
    return [path for path in files if path.parent.name != "digests" and path.suffix != ".sha256"]


def test_a_corpus_is_read_once_and_then_the_cache(home):
    first = corpus.load(Colours())
    assert first.train.texts == ["red", "green", "blue", "länger straße"]
    assert first.train.labels.tolist() == [0, 1, 2, 1]
    assert first.test.texts == ["red", "green", "blue"]
    again = corpus.load(Colours())
    assert Colours.reads == 1
    assert again.digest == first.digest
    assert (again.train.texts, again.test.texts) == (first.train.texts, first.test.texts)
    assert again.train.labels.dtype == np.int64
    # the name of an edition is not cached, and is one printable line
    assert corpus.load(Colours(name="a\x1b[2J\nb \udcff")).edition == "a\ufffd[2J b \ufffd"
    assert Colours.reads == 1


def test_test_documents_are_kept_as_they_were_written(home):
    for loaded in (corpus.load(Colours()), corpus.load(Colours())):  # read, and from the cache
        assert loaded.written_test.texts == [f"The {name} !" for name in CLASSES]
        assert pickle.loads(pickle.dumps(loaded)).written_test.texts == loaded.written_test.texts
    few = corpus.load(Colours(), limit=1)
    assert [clean(text) for text in few.written_test.texts] == list(few.test.texts)
    assert Colours.reads == 1


def test_the_raw_corpus_has_the_same_documents_in_the_same_rows(home):
    for limit in (None, 1):
        loaded = corpus.load(Colours(), limit)
        for raw, cleaned in ((loaded.raw.train, loaded.train), (loaded.raw.test, loaded.test)):
            assert list(raw.texts) != list(cleaned.texts)
            assert [clean(text) for text in raw.texts] == list(cleaned.texts)
            assert raw.labels.tolist() == cleaned.labels.tolist()
        assert loaded.raw.digest != loaded.digest == corpus.load(Colours(), limit).digest


def test_a_corpus_without_its_documents_as_they_were_written_has_no_raw_one(colours):
    with pytest.raises(DataError, match=r"documents .*colours .*written"):
        colours.raw  # noqa: B018


def test_another_edition_is_read_anew(home):
    assert corpus.load(Colours()).train.texts[0] == "red"
    assert corpus.load(Colours("0" * 63 + "1", extra="bright")).train.texts[0] == "red bright"
    assert corpus.load(Colours()).train.texts[0] == "red"
    assert Colours.reads == 2


def test_another_protocol_or_other_classes_are_read_anew(home, monkeypatch):
    corpus.load(Colours())
    monkeypatch.setattr(corpus, "HARNESS_VERSION", corpus.HARNESS_VERSION + 1)
    corpus.load(Colours())
    assert Colours.reads == 2
    monkeypatch.setattr(Colours, "classes", CLASSES[::-1])
    corpus.load(Colours())
    assert Colours.reads == 3


def test_a_damaged_cache_is_made_again(home):
    intact_digest = corpus.load(Colours()).digest
    (path,) = cache_files()
    intact = path.read_bytes()
    damages = [b"", b"no cache", intact[: len(intact) // 2], intact[50:], bytes(len(intact))]
    for damage in damages:
        path.write_bytes(damage)
        assert corpus.load(Colours()).digest == intact_digest
    assert Colours.reads == 1 + len(damages)
    assert cache_files() == [path]


def test_the_cache_of_a_dataset_of_any_name_is_in_the_cache_directory(home, monkeypatch):
    monkeypatch.setattr(Colours, "name", "../../evil")
    corpus.load(Colours())
    assert {path.parent for path in cache_files()} == {storage.cache_dir() / "corpora"}
    assert not list(home.parent.parent.glob("*evil*"))


@pytest.mark.parametrize("method", ["edition", "read"])
def test_a_skipped_test_is_no_error_of_the_dataset(method, home, monkeypatch):
    monkeypatch.setattr(Colours, method, lambda self: pytest.skip("no data"))
    with pytest.raises(pytest.skip.Exception):
        corpus.load(Colours())


def test_the_cache_is_of_the_whole_corpus_whatever_the_limit(home):
    assert len(corpus.load(Colours(), limit=1).train) == 3
    assert len(corpus.load(Colours()).train) == 4
    assert Colours.reads == 1


def test_texts_of_every_character_survive_the_cache(home, monkeypatch):
    odd = [
        "\ud800lone",
        "nul\0nul",
        "a\x85next\u2028line\x1csep",
        "crlf\r\nend",
        "\U0001f642 smile",
        "\ufeffbom",
    ]
    texts, labels = [*odd, "green", "blue"], np.array([0] * len(odd) + [1, 2])
    monkeypatch.setattr(Colours, "read", lambda self: (Documents(texts, labels), Documents(texts, labels)))
    first = corpus.load(Colours())
    assert len(first.train) == len(texts)
    monkeypatch.setattr(Colours, "read", None)
    assert corpus.load(Colours()).train.texts == first.train.texts


def test_a_cache_that_cannot_be_written_is_one_line(home, monkeypatch, capsys):
    monkeypatch.setattr(storage, "_is_reported", False)
    storage.cache_dir().write_text("a file where the folder should be")
    for _ in range(2):
        corpus.load(Colours())
    [line] = capsys.readouterr().err.splitlines()
    assert re.search(f"Cannot write {re.escape(str(storage.cache_dir()))}.* ADBENCH_TEXT_CACHE ", line)


GOOD = Documents(["red", "green", "blue"], np.array([0, 1, 2]))


class BareError(Exception):
    def __str__(self):
        raise RuntimeError


def fail(error: Exception) -> None:
    raise error


PLACE = r" \(test_corpus\.py:\d+\)"  # of an error


@pytest.mark.parametrize(
    ("read", "quoted"),
    [
        (lambda self: None, r": read\(\) .* two Documents.*, got NoneType"),
        (lambda self: (GOOD,) * 3, r": read\(\) .* two Documents.*, got Documents, Documents, Documents"),
        (lambda self: GOOD, r": read\(\) .* two Documents.*, got Documents"),
        (lambda self: ((["red"], [0]), GOOD), r": read\(\) .* two Documents.*, got tuple, Documents"),
        (
            lambda self: (Documents(["red", None], [0, 1]), GOOD),
            f" .*read: TypeError: .*string: .*None .*position 1{PLACE}",
        ),
        (
            lambda self: (Documents(["red"], np.array([0.0])), GOOD),
            rf" .*read: ValueError: labels .*float64 .*\(1,\){PLACE}",
        ),
        (
            lambda self: (Documents(["red"], np.array([])), GOOD),
            f" .*read: ValueError: .*label, .* 1 texts, 0 labels{PLACE}",
        ),
        (lambda self: {}["1"], f" .*read: KeyError: '1'{PLACE}"),
        (lambda self: fail(BareError()), rf" .*read: BareError: \(.*printed\){PLACE}"),
    ],
)
def test_what_a_dataset_returns_or_raises_is_one_line(home, monkeypatch, read, quoted):
    monkeypatch.setattr(Colours, "read", read)
    with pytest.raises(DataError, match=f"^colours{quoted}$"):
        corpus.load(Colours())


@pytest.mark.parametrize(
    ("edition", "quoted"),
    [
        (lambda self: {}["1"], f" .*edition: KeyError: '1'{PLACE}"),
        (lambda self: fail(BareError()), rf" .*edition: BareError: \(.*printed\){PLACE}"),
        (lambda self: "1", r": edition\(\) .*Edition\(.*digest\) .*, got '1'"),
        (
            lambda self: Edition("1", 1),
            r": edition\(\) .*Edition\(.*digest\) .*, got Edition\(name='1', digest=1, .*\)",
        ),
    ],
)
def test_an_edition_is_checked(home, monkeypatch, edition, quoted):
    monkeypatch.setattr(Colours, "edition", edition)
    with pytest.raises(DataError, match=f"^colours{quoted}$"):
        corpus.load(Colours())


def test_an_error_that_a_dataset_raises_on_purpose_is_left_alone(home, monkeypatch):
    def read(self):
        raise DataError("as it is")

    monkeypatch.setattr(Colours, "read", read)
    with pytest.raises(DataError, match=r"^as it is$"):
        corpus.load(Colours())


def test_documents_that_clean_to_nothing_are_counted_with_and_without_the_cache(home):
    for _ in range(2):
        loaded = corpus.load(Colours())
        assert loaded.n_empty == 2
        assert re.fullmatch(
            r"4 training / 3 test documents \(red 1/1, green 2/1, blue 1/1\); "
            "2 [^;]*empty[^;]*; 3 test documents [^;]*",
            loaded.counts(),
        )
    assert Colours.reads == 1
    assert corpus.load(Colours(), limit=1).n_empty == 2


def test_of_many_classes_few_are_named_and_long_names_are_cut():
    def counts(n_classes: int) -> str:
        documents = Documents([str(i) for i in range(n_classes)], np.arange(n_classes))
        names = ("law" * 50, *(f"class {i}" for i in range(1, n_classes)))
        (listed,) = re.findall(r"\((.*)\)", corpus.Corpus("x", names, documents, documents, "").counts())
        return listed

    law = f"{'law' * 50:.59}… 1/1, class 1 1/1, class 2 1/1"
    assert counts(20) == f"{law}, {', '.join(f'class {i} 1/1' for i in range(3, 20))}"
    assert counts(398) == f"{law} and 395 more classes"


def test_test_documents_that_are_training_documents_are_counted():
    train, test = (
        Documents(["a b", "c d"], np.array([0, 1])),
        Documents(["a b", "a b", "e"], np.array([0, 1, 1])),
    )
    counts = corpus.Corpus("copies", ("x", "y"), train, test, edition="own").counts()
    assert re.search(r"\(x 1/1, y 1/2\); 2 test documents [^;]*$", counts)


def test_lone_surrogates_of_a_dataset_are_replaced_and_counted_with_and_without_the_cache(home):
    broken = Documents(["red half \ud83d", "green caf\udce9", "blue \0 é"], [0, 1, 2])
    dataset = type("Broken", (Colours,), {"name": "broken", "read": lambda self: (broken, broken)})()
    for _ in range(2):
        loaded = corpus.load(dataset)
        assert loaded.written_test.texts == ["red half \ufffd", "green caf\ufffd", "blue \0 é"]
        assert "green caf\ufffd" in loaded.test.texts
        assert re.search(r"; 4 [^;]*surrogates[^;]*U\+FFFD", loaded.counts())


class English(Dataset):
    name, classes, source, licence, citation = "english", ("a", "b"), "this test", "none", "none"

    def edition(self):
        return Edition("made for tests", "1")

    def read(self):
        texts = ["wait\u2022office \u00b7\u00b7\u00b7", "of\ufb01ce ship"]
        return Documents(texts, [0, 1]), Documents(texts, [0, 1])


class ByUnicode(English):
    as_papers = False


class German(English):
    language = "de"


def test_english_corpora_are_cleaned_as_by_the_papers_and_others_by_unicode(home):
    of_papers, by_unicode, german = (corpus.load(kind()) for kind in (English, ByUnicode, German))
    assert list(of_papers.train.texts) == ["wait\u2022office \u00b7\u00b7\u00b7", "of\ufb01ce ship"]
    assert list(by_unicode.train.texts) == ["wait office", "office ship"] == list(german.train.texts)
    assert corpus.cleaner_of(of_papers).as_papers
    assert not corpus.cleaner_of(by_unicode).as_papers
    assert len(cache_files()) == 3  # one cleaning is not read for another
