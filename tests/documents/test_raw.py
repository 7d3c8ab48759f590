"""A detector that reads raw documents gets a user's own as they were written, and shows its reasons."""

from adbench_text.documents.ranking import fit_model, odd_documents
from adbench_text.models.model import Scorer

NORMAL = [
    f"The {thing} arrived on {day}."
    for thing in ("letter", "parcel", "invoice")
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
]
ODD = "0041 1234 555!!"  # cleaning leaves nothing of it
WHY = "73 % digits (others 0 %)"


def test_ranked_documents_are_not_cleaned():
    ranked = odd_documents([*NORMAL, ODD, "", NORMAL[0]], "form", alpha=0.06)
    assert [document.place for document in ranked.odd] == [len(NORMAL)]
    assert ranked.why(ranked.odd[0])[0] == WHY
    assert ranked.empty == [len(NORMAL) + 1]
    assert ranked.n_copies == 1


def test_reasons_of_a_detector_that_is_fitted_in_folds_are_shown_too(monkeypatch):
    from adbench_text.plugins import registry

    monkeypatch.setattr(registry.detector("form"), "leaves_out_self", False)
    ranked = odd_documents([*NORMAL, ODD], "form", alpha=0.06, n_folds=3)
    assert [ranked.why(document)[0] for document in ranked.odd] == [WHY]


def test_documents_are_scored_as_they_were_written():
    scorer = Scorer(fit_model(NORMAL, "form"), alpha=0.06)
    odd, plain, empty = scorer.score([ODD, NORMAL[3], ""])
    assert odd.is_odd
    assert odd.why[0] == WHY
    assert (plain.is_odd, plain.why, empty.score) == (False, [], None)
    assert scorer.words([ODD]) == [[]]
