"""Drift of words: `score` names words that are in more new documents than in the file of the model."""

from dataclasses import replace

import numpy as np
import pytest

from adbench_text.calibration import LEAST_P
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.folder import load_model, save_model
from adbench_text.documents.models.grown_words import KnownWords, NewWords
from adbench_text.documents.models.model import Scorer
from adbench_text.testing.topics import texts_about

SMOKE = [f"smoke from the engine near {place}" for place in texts_about("sea", 12, 77, compounds=True)]


def mails(seed: int, n: int = 400) -> list[str]:
    return texts_about("sea", n, seed, compounds=True)


@pytest.fixture
def scorer(home):
    return Scorer(fit_model(mails(0), "llr"))


def drift_of(scorer, texts, step=1000):
    evidence = None
    for begin in range(0, len(texts), step):
        evidence = scorer.evidence(scorer.score(texts[begin : begin + step]), evidence)
    return scorer.drift(evidence)


def test_a_subject_that_grew_is_named_with_its_counts(scorer):
    (grown,) = drift_of(scorer, [*mails(1, 200), *SMOKE]).grown
    assert set(grown.words[:2]) == {"smoke", "engine"}
    assert (grown.n_documents, grown.p < LEAST_P) == (12, True)
    assert 200 <= grown.row < 212
    assert grown.n_expected == pytest.approx(212 / 400, rel=0.05)  # a new word counts as one of the model


def test_the_sizes_of_the_batches_change_nothing(scorer):
    texts = [*mails(1, 200), *SMOKE]
    assert drift_of(scorer, texts) == drift_of(scorer, texts, 7)


def test_drift_can_be_asked_again_while_evidence_grows(scorer):
    evidence = scorer.evidence(scorer.score(mails(1, 200)))
    assert scorer.drift(evidence).grown == []
    assert scorer.drift(evidence) == scorer.drift(evidence)
    scorer.evidence(scorer.score(SMOKE), evidence)
    assert len(scorer.drift(evidence).grown) == 1


@pytest.mark.parametrize(
    "of_new",
    [
        lambda n: f"report {n} of October 1987",  # numbers and names of months
        lambda n: "smoke from the engine of the ferry",  # a mail sent many times
        lambda n: f"smoke from the engine of the ferry at the pier in the harbour {'abcdefghijkl'[n]}x",
    ],
)
def test_calendars_and_copies_are_no_subject(scorer, of_new):
    words = {
        word
        for each in drift_of(scorer, [*mails(1, 200), *map(of_new, range(12))]).grown
        for word in each.words
    }
    assert not words & {"october", "1987", "smoke", "engine", "ferry"}


def test_a_word_that_was_frequent_before_has_not_grown(home):
    scorer = Scorer(fit_model([*mails(0), *SMOKE], "llr"))
    others = [f"smoke from the engine near {place}" for place in texts_about("sea", 6, 78, compounds=True)]
    assert drift_of(scorer, [*mails(1, 200), *others]).grown == []


def test_longer_documents_are_no_subject(scorer):
    pairs = [f"{one} {other}" for one, other in zip(mails(1), mails(2), strict=True)]
    assert drift_of(scorer, pairs).grown == []


def test_no_subject_grew_in_documents_of_the_model_and_their_near_copies(scorer):
    assert drift_of(scorer, mails(0)).grown == []
    assert drift_of(scorer, [f"{mail} anchor" for mail in mails(0)]).grown == []


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_random_halves_have_no_subject(share):
    rng = np.random.default_rng(0)
    n_found, words = 0, [f"word{n}" for n in range(500)]
    for _ in range(60):
        documents = [rng.choice(words, 8, replace=False).tolist() for _ in range(300)]
        documents += [["thanks", f"short{n % 5}"] for n in range(round(share * 300))]
        order = rng.permutation(len(documents))
        old, new = (
            {" ".join(documents[row]) for row in rows}
            for rows in (order[: len(order) // 2], order[len(order) // 2 :])
        )
        added = NewWords()
        for each in sorted(new):
            added.add(each.split())
        shared = np.array([each in old for each in sorted(new)], dtype=float)
        grown = added.grown(KnownWords.of(old, ()), 1 - shared / 2, shared)
        n_found += any(True for _ in grown)
    assert n_found <= 3


def test_short_texts_that_the_model_knows_are_no_shift(home):
    short = [
        f"{word} {other}"
        for word in ("reset", "open", "close")
        for other in ("door", "gate", "hatch", "valve")
    ]
    scorer = Scorer(fit_model([*mails(0, 100), *short * 3], "llr"))
    assert drift_of(scorer, [*mails(1, 100), *short * 3]).grown == []


def test_a_model_keeps_words_of_two_documents_as_digests(scorer, tmp_path):
    words = KnownWords.of(["ship crew", "ship storm", "ship", ""], {"storm"})
    assert (len(words.keys), words.n_with.tolist(), words.n_documents, words.n_pairs) == (1, [3], 3, 4)
    assert words.places(["ship", "crew", "sea"]).tolist() == [0, -1, -1]
    loaded = Scorer(load_model(save_model(scorer._model, tmp_path / "model")))
    texts = [*mails(1, 200), *SMOKE]
    assert drift_of(loaded, texts) == drift_of(scorer, texts)


def test_a_model_of_an_older_version_names_no_words(scorer):
    older = Scorer(replace(scorer._model, words=None))
    assert drift_of(older, [*mails(1, 200), *SMOKE]).grown == []


@pytest.mark.parametrize("texts", [["", "  "], ["ship"], SMOKE])
def test_too_few_documents_have_no_subject(scorer, texts):
    assert drift_of(scorer, texts).grown == []


def test_chinese_subjects_are_named(home):
    parts = [chr(0x5E00 + 2 * n) + chr(0x6E00 + n) for n in range(200)]
    rng = np.random.default_rng(0)
    old, new = (["".join(rng.choice(parts, 8)) for _ in range(n)] for n in (200, 60))
    scorer = Scorer(fit_model(old, "llr", language="zh"))
    assert drift_of(scorer, new).grown == []
    (grown,) = drift_of(scorer, [*new[12:], *(f"火车{text}" for text in new[:12])]).grown
    assert (grown.words[0], grown.n_documents) == ("火车", 12)
