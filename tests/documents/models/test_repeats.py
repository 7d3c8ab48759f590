"""Texts that repeat: what a model knows is not odd and no drift, and copies count once."""

from itertools import pairwise

import numpy as np
import pytest
from parameters import slow

from adbench_text.calibration import LEAST_P, p_of_families
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.model import Scorer
from adbench_text.testing.topics import texts_about

LINERS = ["Mutiny!", "Whale?", "Reef ahead!!", "Shark..."]


def mailbox(seed: int, share: float) -> list[str]:
    """Mails of which a share are the same few lines."""
    rng = np.random.default_rng(seed)
    mails = texts_about("sea", 500, seed, compounds=True)
    for place in rng.permutation(500)[: round(share * 500)]:
        mails[place] = LINERS[rng.integers(len(LINERS))]
    return mails


@pytest.mark.parametrize(
    ("share", "by"),
    [
        (0.0, "words"),
        (0.1, "both"),
        *slow((0.0, "both"), (0.02, "words"), (0.02, "both"), (0.1, "words")),
    ],
)
def test_no_more_than_alpha_are_odd_and_no_clean_file_differs(home, share, by):
    # one file of 500 gives a share of 5 % with a standard deviation of 1 %: three are looked at
    scorers = {seed: Scorer(fit_model(mailbox(seed, share)), 0.05, by) for seed in (20, 60, 140)}
    files = [
        (each, each.score(mailbox(seed + n + 1, share))) for seed, each in scorers.items() for n in range(3)
    ]
    assert np.mean([file.odd for _, file in files]) < 0.06
    assert not any(scorer.drift(scorer.evidence(file)).is_found for scorer, file in files)


def test_a_tenth_of_another_topic_is_found_among_recurring_lines(home):
    scorer = Scorer(fit_model(mailbox(0, 0.1)))
    others = texts_about("law", 25, 0, compounds=True)
    file = scorer.score([*mailbox(1, 0.1), *others])
    assert file.odd[-25:].all()
    assert scorer.drift(scorer.evidence(file)).is_found


def test_what_the_model_was_fitted_on_is_no_evidence(home):
    sent = [*mailbox(0, 0.1), "12 34 56", ""]
    scorer = Scorer(fit_model(sent, sample=100))  # also of what it has not learned from
    again = scorer.score(sent)
    assert not again.odd.any()
    assert set(again.p_both.dropna()) == {1.0}
    assert len(scorer.evidence(again)) == 0
    assert not scorer.drift(scorer.evidence(again)).is_found


def test_copies_are_evidence_once(home):
    scorer = Scorer(fit_model(mailbox(0, 0.02)))
    file = scorer.score(["the judge", "The Judge!", "the judge", "98 765", "98 765", "43 210", ""])
    assert len(scorer.evidence(file)) == 3
    assert scorer.drift(scorer.evidence(file)).n_new == 3


def test_known_words_in_another_form_are_odd_by_form_alone(home):
    scorer = Scorer(fit_model(mailbox(0, 0.02)), by="form")
    table = scorer.score(["Mutiny!", " Mutiny!\n", "MUTINY 0900 1234567 0900 7654321"])
    same, spaced, shouted = table.itertuples()
    assert (same.p, same.p_form, spaced.p_form) == (1.0, 1.0, 1.0)
    assert shouted.p == 1.0
    assert shouted.p_form < 0.01


def test_a_file_joined_from_copies_calibrates_by_all():
    texts = texts_about("sea", 60, 0, compounds=True)
    assert len(fit_model([*texts, *texts[:20]], "llr").calibration) == 40
    assert len(fit_model([*texts, *texts], "llr").calibration) == 60


def with_near_copies(texts: list[str], share: float) -> list[str]:
    """Texts of which the first ones come again, each with its first word in place of the last one."""
    n = round(share * len(texts))
    return [*texts, *(f"{text.rsplit(maxsplit=1)[0]} {text.split()[0]}" for text in texts[:n])]


@pytest.mark.parametrize("by", ["words", "form", "both"])
@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_near_copies_in_the_file_of_the_model_make_no_false_alarms(home, share, by):
    new = texts_about("sea", 2000, 1, compounds=True)
    model = fit_model(with_near_copies(texts_about("sea", 400, 0, compounds=True), share))
    assert Scorer(model, 0.05, by).score(new).odd.mean() < 0.09  # 0.05 +- 0.013 by chance
    facts = model.training.options
    assert facts["n_near_copies"] == pytest.approx(400 * share, abs=8)
    assert facts["n_documents"] == 400 + 400 * share
    assert facts["n_copies"] < 5  # of texts whose last word is their first one, too
    n_different = facts["n_documents"] - facts["n_copies"] - facts["n_near_copies"]
    assert model.training.n_documents == n_different


def test_a_model_learns_and_is_calibrated_by_one_of_each_family():
    texts = texts_about("sea", 100, 0, compounds=True)
    model = fit_model(texts, "llr")
    assert len(model.calibration) == 100
    copies = [f"{text} forwarded" for text in texts]
    assert len(fit_model(with_near_copies(texts, 0.3), "llr").calibration) == 70
    # by the shortest, in any order: what was added to the others is not learned
    for file in ([*texts, *copies], [*copies, *texts], [*copies, *texts, *texts[:50]]):
        np.testing.assert_array_equal(fit_model(file, "llr").calibration, model.calibration)
    raw = fit_model([*copies, *texts], "form")  # which reads documents as they were written
    assert len(raw.calibration) == 100


# Waves of near-copies


@pytest.mark.parametrize("is_equal", [False, True])
@pytest.mark.parametrize("by", ["words", "form", "both"])
def test_a_wave_of_new_texts_that_are_alike_is_drift(home, by, is_equal):
    scorer = Scorer(fit_model(texts_about("sea", 400, 0, compounds=True)), by=by)
    normal, letter = texts_about("sea", 270, 1, compounds=True), texts_about("sea", 1, 2, compounds=True)[0]
    wave = [letter] * 30 if is_equal else [f"{letter} {word}" for word in normal[0].split()[:3] * 10]
    clean, file = (scorer.evidence(scorer.score(texts)) for texts in (normal, [*normal, *wave]))
    assert not scorer.drift(clean).is_found
    found = scorer.drift(file)
    assert found.is_found
    (family,) = found.families
    assert (family.n_documents, family.n_known, family.row) == (30, 0, 270)
    assert family.p < 1e-3
    assert found.n_new <= scorer.drift(clean).n_new + 1  # a family is compared once
    parts = scorer.evidence(scorer.score(wave), scorer.evidence(scorer.score(normal)))
    assert scorer.drift(parts) == found


@pytest.fixture
def of_letters(home):
    """A scorer whose documents have two form letters, and what writes these and others."""
    sea = texts_about("sea", 800, 0, compounds=True)
    names = " ".join(texts_about("sea", 5, 9, compounds=True)).split()

    def letters(text: str, n: int) -> list[str]:
        return [f"{text} {names[k % len(names)]} {names[k // len(names)]}" for k in range(n)]

    model = fit_model([*sea[:400], *letters(sea[790], 60), *letters(sea[791], 12)], "llr")
    return Scorer(model), sea[400:600], sea[790:], letters


@pytest.mark.parametrize(
    ("n_large", "n_small", "n_new", "is_found"),
    [
        (30, 6, 0, False),
        (60, 12, 0, False),  # the shares vary from file to file
        (0, 0, 0, False),
        (30, 200, 0, True),  # a known one has grown
        (30, 6, 30, True),  # a new one, which is no larger than the known one
        (0, 0, 30, True),
        (30, 6, 6, False),
    ],
)
def test_a_family_is_compared_with_its_own_share(of_letters, n_large, n_small, n_new, is_found):
    scorer, others, (first, second, third, *_), letters = of_letters
    file = [*others, *letters(first, n_large), *letters(second, n_small), *letters(third, n_new)]
    found = scorer.drift(scorer.evidence(scorer.score(file)))
    assert (found.p_family < LEAST_P) == is_found
    assert found.is_found == is_found
    largest = [(each.n_documents, each.is_new) for each in found.families[:1]]
    assert largest == ([(n_new, True)] if n_new else [(n_small, False)] if is_found else [])


def test_one_known_text_that_comes_many_times_is_a_sign(of_letters):
    scorer, others, *_ = of_letters
    known = texts_about("sea", 400, 0, compounds=True)[7]
    found = scorer.drift(scorer.evidence(scorer.score([*others, *[known] * 40])))
    (family,) = found.families
    assert (family.n_documents, family.n_known, family.row, found.is_found) == (40, 1, 200, True)
    assert scorer.drift(scorer.evidence(scorer.score([*others, *[known] * 4]))).families == []


def test_near_copies_of_the_documents_of_the_model_are_no_evidence_and_no_new_family(home):
    texts = texts_about("sea", 400, 0, compounds=True)
    scorer = Scorer(fit_model([*texts, *texts[:2]]))
    found = scorer.drift(scorer.evidence(scorer.score([f"{text} {text[:4]}" for text in texts[:100]])))
    assert (found.n_new, found.is_found, found.families) == (0, False, [])


@pytest.mark.parametrize(("n_known", "n_new"), [(1000, 1000), (2000, 200), (500, 5000)])
@pytest.mark.parametrize("n_families", [1, 20])
def test_few_files_have_a_family_that_differs_if_the_shares_of_all_vary(n_families, n_known, n_new):
    draw, n_files = np.random.default_rng(0), 300
    mean = draw.dirichlet(np.ones(n_families), n_files) * 0.3
    known, new = (draw.poisson(n * mean * draw.gamma(4, 1 / 4, mean.shape)) for n in (n_known, n_new))
    pairs = zip(new, known, strict=True)
    p = [p_of_families(own, old, own + old, n_new, n_known).min() for own, old in pairs]
    assert np.mean(np.array(p) < LEAST_P) <= 0.015  # 0.005 on average


def test_the_p_of_a_new_family_depends_on_the_sizes_of_both_files():
    def p(n: int, n_new: int, n_known: int) -> float:
        new, known = np.array([n]), np.array([0])
        return float(p_of_families(new, known, new, n_new, n_known)[0])

    assert p(150, 2150, 2000) < 1e-4
    assert p(8, 200, 2000) < LEAST_P < p(8, 2000, 2000)
    assert p(4, 10, 100_000) == 1.0  # as a document that is sent four times
    assert p(150, 2150, 0) == 1.0  # an older model, which does not know how many documents it had


def test_short_texts_of_a_model_that_knows_a_sample_alone_are_no_new_family():
    words = list(dict.fromkeys(" ".join(texts_about("sea", 60, 0, compounds=True)).split()))
    lines = [" ".join(pair) for pair in pairwise(words)]
    file = [*texts_about("sea", 200, 3, compounds=True), *[f"{words[0]} {words[9]}"] * 30]
    models = [fit_model([*lines, *lines[:50] * 3], "llr", sample=sample) for sample in (20, 1000)]
    of_sample, of_all = (scorer.drift(scorer.evidence(scorer.score(file))) for scorer in map(Scorer, models))
    assert [(family.n_documents, family.n_known) for family in of_all.families] == [(30, 0)]
    assert of_sample.families == []
