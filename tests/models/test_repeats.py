"""Texts that repeat: what a model knows is not odd and no drift, and copies count once."""

import numpy as np
import pytest

from adbench_text.documents.fitting import fit_model
from adbench_text.models.model import Scorer
from adbench_text.testing.topics import texts_about

LINERS = ["Mutiny!", "Whale?", "Reef ahead!!", "Shark..."]


def mailbox(seed: int, share: float) -> list[str]:
    """Mails of which a share are the same few lines."""
    rng = np.random.default_rng(seed)
    mails = texts_about("sea", 500, seed)
    for place in rng.permutation(500)[: round(share * 500)]:
        mails[place] = LINERS[rng.integers(len(LINERS))]
    return mails


@pytest.mark.parametrize("by", ["words", "both"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.1])
def test_no_more_than_alpha_are_odd_and_no_clean_file_differs(home, share, by):
    # one file of 500 gives a share of 5 % with a standard deviation of 1 %: three are looked at
    scorers = [Scorer(fit_model(mailbox(seed, share)), 0.05, by) for seed in (0, 10, 20)]
    files = [(scorer, scorer.score(mailbox(seed, share))) for scorer in scorers for seed in (1, 2, 3)]
    assert np.mean([file.odd for _, file in files]) < 0.06
    assert not any(scorer.drift(scorer.evidence(file)).is_found for scorer, file in files)


def test_a_tenth_of_another_topic_is_found_among_recurring_lines(home):
    scorer = Scorer(fit_model(mailbox(0, 0.1)))
    others = texts_about("law", 25, 0)
    file = scorer.score([*mailbox(1, 0.1), *others])
    assert file.odd[-25:].all()
    assert scorer.drift(scorer.evidence(file)).is_found


def test_what_the_model_was_fitted_on_is_no_evidence(home):
    sent = [*mailbox(0, 0.1), "12 34 56", ""]
    scorer = Scorer(fit_model(sent, sample=100))  # also of what it has not learned from
    again = scorer.score(sent)
    assert not again.odd.any()
    assert set(again.p_both.dropna()) == {1.0}
    assert scorer.evidence(again) == {}
    assert not scorer.drift({}).is_found


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
    texts = texts_about("sea", 60, 0)
    assert len(fit_model([*texts, *texts[:20]], "llr").calibration) == 40
    assert len(fit_model([*texts, *texts], "llr").calibration) == 60
