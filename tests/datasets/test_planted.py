"""Words planted in half of the test documents of another dataset."""

import re
from importlib.metadata import version

import numpy as np
import pytest
from commands import dry_run
from sklearn.metrics import roc_auc_score
from wordfreq import get_frequency_dict, top_n_list

from adbench_text.contract.dataset import Dataset, Documents, Edition
from adbench_text.corpora.corpus import load
from adbench_text.corpora.split import draw
from adbench_text.corpora.split_key import SplitKey
from adbench_text.datasets import planted
from adbench_text.datasets.planted import LEAST_WORDS, N_PLANTED, GermanPydocs, LettersPydocs
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about
from adbench_text.text.cleaning import clean

KINDS = ("letters", "de")
TRAIN = [*texts_about("sea", 20, 0), *texts_about("law", 20, 0)]
# capitals, stop words, signs, digits, a word that cleaning splits, and one in two alphabets of signs
TEST = [
    f"They're GONNA see {text.title()}, the {text.upper()} (x2): 3rd_{text.replace(' ', '; ')}!"
    for topic in ("sea", "law")
    for text in texts_about(topic, 20, 1)
]
SHORT = ["Judge and court, the trial: verdict evidence.", "storm!", ""]  # of five words and fewer


class Posts(Dataset):
    """The dataset in whose documents words are planted."""

    name, classes = "posts", ("sea", "law")
    source = licence = citation = "made up"

    def edition(self):
        return Edition("half of it", "7")

    def read(self):
        labels = np.repeat([0, 1], 20)
        return Documents(TRAIN, labels), Documents([*TEST, *SHORT], [*labels, 1, 1, 0])


@pytest.fixture(params=KINDS)
def dataset(request) -> Dataset:
    kind = {"letters": LettersPydocs, "de": GermanPydocs}[request.param]
    return type("Mine", (kind,), {"underlying": Posts, "name": "mine"})()


def spans(text, of_text):
    return [text[start:end] for start, end in of_text]


def triples(test: Documents):
    return zip(test.texts, test.labels, test.words, strict=True)


def test_there_are_two_kinds_of_words_for_each_of_three_datasets():
    names = [name for name in registry.names("datasets") if name.startswith("planted-")]
    assert names == [
        f"planted-{kind}-{of}" for kind in sorted(KINDS) for of in ("20news", "agnews", "pydocs")
    ]
    for dataset, name in ((registry.dataset(name), name) for name in names):
        underlying = registry.dataset(name.rpartition("-")[2])
        assert type(underlying) is dataset.underlying
        for fact in ("source", "licence", "citation", "language", "files", "is_cleaned"):
            assert getattr(dataset, fact) == getattr(underlying, fact)


def test_all_classes_are_normal_and_learned_from_as_they_are(dataset):
    train, test = dataset.read()
    assert train.texts == TRAIN
    assert not train.labels.any()
    assert [dataset.classes[label] for label in sorted(set(test.labels))] == ["normal", "planted"]
    assert dataset.inliers == ("normal",)


def test_three_words_are_replaced_in_half_of_the_documents_that_have_enough(dataset):
    _, test = dataset.read()
    assert (len(test), test.labels.sum()) == (len(TEST), len(TEST) // 2)
    for (text, is_odd, words), original in zip(triples(test), TEST, strict=True):
        assert len(words.odd) == (N_PLANTED if is_odd else 0)
        rest = re.escape(text)
        for word in spans(text, words.odd):
            rest = rest.replace(re.escape(word), r"([a-zA-Z]+)", 1)
        (old,) = re.finditer(rest, original) if is_odd else [re.match(rest, original)]
        assert old[0] == original
        for before, after in zip(old.groups(), spans(text, words.odd), strict=True):
            assert before != after
            assert (before.isupper(), before[0].isupper()) == (after.isupper(), after[0].isupper())


def test_cleaning_leaves_the_old_words_and_the_new_ones(dataset):
    _, test = dataset.read()
    for (text, _, words), original in zip(triples(test), TEST, strict=True):
        new, old = clean(text).split(), clean(original).split()
        odd = [number for number, span in enumerate(words.published) if span in words.odd]
        assert len(new) == len(old) == len(words.published)
        assert [number for number, pair in enumerate(zip(new, old, strict=True)) if len({*pair}) == 2] == odd
        assert [new[number] for number in odd] == [word.lower() for word in spans(text, words.odd)]
        assert "GONNA" in text


def test_new_words_are_random_letters_of_the_documents_or_frequent_german_ones(dataset):
    _, test = dataset.read()
    new = {word.lower() for text, _, words in triples(test) for word in spans(text, words.odd)}
    letters = {letter for text in TRAIN for letter in text}
    german, english = {*top_n_list("de", 5000, "small")}, get_frequency_dict("en", "small")
    if dataset.words_of:
        assert new <= german - {*english}
    else:
        assert {letter for word in new for letter in word} <= letters
        assert len(new - german) > 0.9 * len(new)


def test_random_letters_are_no_stop_word(monkeypatch):
    texts = ["tee hee eth het tete hehe"] * 200  # "the" is one of 27 words of three letters
    monkeypatch.setattr(
        Posts, "read", lambda self: (Documents(texts, [0] * 200), Documents(texts, [0] * 200))
    )
    _, test = type("Mine", (LettersPydocs,), {"underlying": Posts})().read()
    new = {word for text, _, words in triples(test) for word in spans(text, words.odd)}
    assert {clean(word) for word in new} == new
    assert {*map(len, new)} == {3, 4}


def test_documents_of_few_words_are_left_out(dataset):
    assert [len(clean(text).split()) for text in SHORT] == [LEAST_WORDS - 1, 1, 0]
    _, test = dataset.read()
    assert not {*SHORT} & {*test.texts}


def test_it_reads_the_same_again_and_another_seed_plants_other_words(dataset, monkeypatch):
    _, first = dataset.read()
    assert dataset.read()[1].texts == first.texts
    edition = dataset.edition()
    monkeypatch.setattr(planted, "_SEED", 1)
    assert dataset.read()[1].texts != first.texts
    assert dataset.edition().digest != edition.digest


def test_the_edition_is_that_of_the_other_dataset_and_of_what_is_planted(dataset, monkeypatch):
    edition = dataset.edition()
    assert (edition.name, edition.is_published) == ("half of it", False)
    kinds = (LettersPydocs, GermanPydocs)
    (other,) = {kind.words_of for kind in kinds} - {dataset.words_of}
    with monkeypatch.context() as patch:
        patch.setattr(type(dataset), "words_of", other)
        assert dataset.edition().digest != edition.digest
    with monkeypatch.context() as patch:
        patch.setattr(Posts, "edition", lambda self: Edition("published", "8", is_published=True))
        published = dataset.edition()
        assert (published.name, published.is_published) == ("published", True)
        assert published.digest not in (edition.digest, "8")
    assert version("wordfreq")
    monkeypatch.setattr(planted, "installed", lambda name: "99")
    assert (dataset.edition() != edition) is bool(dataset.words_of)


def test_it_has_one_split_without_outliers_in_the_training_data(home, dataset):
    corpus = load(dataset)
    split = draw(corpus, SplitKey("mine", "normal"))
    assert (sorted(split.train), len(split.pool)) == (sorted(TRAIN), 0)
    assert split.outlier.sum() == len(split.test) // 2
    with pytest.raises(InvalidValueError, match=r"contamination 0\.05 .* 2 outliers"):
        draw(corpus, SplitKey("mine", "normal", 0.05))
    assert dry_run("-d form -s planted-de-20news") == ["form on planted-de-20news/normal at 0%, seed 0"]


# -- the real documents


def length_of_words(test: Documents) -> float:
    """The AUROC with which the length of a word finds the planted ones, of those that cleaning leaves."""
    words = [(span in words.odd, span) for _, _, words in triples(test) for span in words.published]
    return roc_auc_score([is_odd for is_odd, _ in words], [end - start for _, (start, end) in words])


@pytest.mark.parametrize("kind", KINDS)
def test_docstrings_have_planted_words_of_a_length_that_says_nothing(quick_pydocs, kind):
    train, test = registry.dataset(f"planted-{kind}-pydocs").read()
    assert (len(train), len(test), test.labels.sum()) == (3500, 1750, 875)
    assert sum(len(words.odd) for words in test.words) == 2625
    assert 0.48 < length_of_words(test) < 0.52


@pytest.mark.parametrize(("name", "counts"), [("20news", (11_314, 7054)), ("agnews", (53_209, 7600))])
@pytest.mark.parametrize("kind", KINDS)
def test_posts_and_news_have_planted_words_of_a_length_that_says_nothing(real_dataset, kind, name, counts):
    train, test = real_dataset(f"planted-{kind}-{name}").read()
    assert (len(train), len(test), test.labels.sum()) == (*counts, counts[1] // 2)
    assert sum(len(words.odd) for words in test.words) == 3 * counts[1] // 2
    assert 0.48 < length_of_words(test) < 0.52
