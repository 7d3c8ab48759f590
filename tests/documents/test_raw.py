"""A detector that reads raw documents gets a user's own as they were written, and shows its reasons."""

import math
import re
from typing import ClassVar

import pytest

from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.model import Scorer
from adbench_text.documents.ranking import odd_documents
from adbench_text.errors import PluginError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about

NORMAL = [
    f"The {thing} arrived on {day}."
    for thing in ("letter", "parcel", "invoice")
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
]
ODD = "0041 1234 555!!"  # cleaning leaves nothing of it
WHY = "73 % digits (others 0 %)"


def test_ranked_documents_are_not_cleaned():
    table = odd_documents([*NORMAL, ODD, "", NORMAL[0]], "form", alpha=0.06).table
    assert table.row[table.odd].tolist() == [len(NORMAL)]
    assert table.why[0][0] == WHY
    assert table.row[table.p.isna()].tolist() == [len(NORMAL) + 1]
    assert table.copy_of.count() == 1


def test_reasons_of_a_detector_that_is_fitted_in_folds_are_shown_too(monkeypatch):
    monkeypatch.setattr(registry.detector("form"), "leaves_out_self", False)
    table = odd_documents([*NORMAL, ODD], "form", alpha=0.06, n_folds=3).table
    assert [why[0] for why in table.why[table.odd]] == [WHY]


class Telling:
    """A detector whose answers are given."""

    answer: ClassVar = []

    def fit(self, texts):
        return self

    def decision_function(self, texts):
        return [len(text) for text in texts]

    def reasons(self, texts):
        return [self.answer for _ in texts] if self.answer != "too few" else []


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ([3, 0.5, "few"], ["3", "0.5", "few"]),
        ([None], "got [None]"),
        ("few", "got 'few'"),
        (7, "int"),
        ("too few", "got 0"),
    ],
)
def test_reasons_are_texts_or_numbers(answer, found, monkeypatch):
    monkeypatch.setattr(Telling, "answer", answer)
    if isinstance(found, list):
        table = odd_documents([*NORMAL, ODD * 9], Telling, alpha=0.06, by="words").table
        assert [*table.why[table.odd]] == [found]
        return
    texts = [*NORMAL, ODD * 9]
    for use in (odd_documents, lambda *given: Scorer(fit_model(*given)).explain(texts)):
        with pytest.raises(PluginError, match=re.escape(found)) as error:
            use(texts, Telling)
        assert "reasons of Telling" in str(error.value)


def test_documents_are_scored_as_they_were_written():
    texts = [text.capitalize() + "." for text in texts_about("sea", 20, 0, compounds=True)]
    scorer = Scorer(fit_model(texts, "form"), alpha=0.06)
    odd, plain, empty = scorer.score([ODD, texts[3], ""]).itertuples()
    assert odd.odd
    assert odd.why[0] == WHY
    assert (plain.odd, plain.why, math.isnan(empty.score)) == (False, [], True)
    assert scorer.explain([ODD])[0].words == []
