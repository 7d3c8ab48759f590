"""The scores of documents, and what makes them odd: of one part of a ranking, and of all documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from adbench_text.documents.explanation import Explanation
from adbench_text.documents.left_out import LeftOut
from adbench_text.documents.marks import MarkEvidence
from adbench_text.documents.parts import Part


class Explained(NamedTuple):
    """What makes documents odd that may be in the list by words; the detector itself is not kept."""

    n_odd: int
    explanations: Mapping[int, Explanation]  # by row
    like_marked: frozenset[int]  # rows of documents that are like those marked odd


@dataclass(frozen=True)
class PartScores:
    """What was learned in a part; documents are known by their rows."""

    part: Part
    words: "pd.Series[float]"  # scores of documents: of the sample, also of those marked odd
    learned_from: "pd.Series[float]"  # scores of the documents that were learned from
    method: str  # how a document is left out of what its detector learns, as of `LeftOut`
    centre: float  # score above which a word speaks for odd
    detail: LeftOut | Explained | None  # of words: what was learned, where any document may be listed
    form: LeftOut | None
    evidence: MarkEvidence | None  # what the marks tell, where they join words and form

    @property
    def n_learned(self) -> int:
        """Number of documents that were learned from by words."""
        return len(self.learned_from)

    @property
    def n_odd(self) -> int:
        """Number of documents that are odd by words and are explained already."""
        return self.detail.n_odd if isinstance(self.detail, Explained) else 0

    def explain(self, documents: pd.DataFrame, raw: "pd.Series[str]") -> list[Explanation]:
        """Return what makes documents of this part odd by their words."""
        places = documents["representative"]  # the same words, which have scores
        if isinstance(self.detail, LeftOut):
            return self.detail.explain(raw[documents["row"]].tolist(), places, self.part.pair.cleaner)
        assert self.detail is not None
        return [self.detail.explanations[row] for row in places]

    def is_like_marked(self, documents: pd.DataFrame) -> "pd.Series[bool]":
        """Return which documents of this part are like those marked odd."""
        if self.evidence is not None:
            by_row = documents.set_index("row")
            return self.evidence.is_like(by_row["p"], by_row["text"]).set_axis(documents.index)
        like = self.detail.like_marked if isinstance(self.detail, Explained) else ()
        return documents["row"].isin(like)


@dataclass(frozen=True)
class DocumentScores:
    """Scores and p of all documents, and what they were learned by.

    `table` has a row for each document, in the order of the input, with the columns ``row``, ``score``,
    ``p``, ``p_form``, ``p_both``, ``representative``, ``form_representative`` and ``mark`` of
    `OddDocuments.table`, and ``is_near``, whether its words are near those of its representative.
    """

    table: pd.DataFrame
    of_parts: Sequence[PartScores]
    marked: "pd.Series[str]"  # the marks by row, one for each family
    form_weight: float

    @property
    def of_words(self) -> list[PartScores]:
        """The parts that have learned of words."""
        return [scores for scores in self.of_parts if scores.n_learned]

    @property
    def has_form(self) -> bool:
        """Whether form is looked at."""
        return any(scores.form for scores in self.of_parts)

    @property
    def has_evidence(self) -> bool:
        """Whether marks join words and form."""
        return any(scores.evidence for scores in self.of_parts)

    @property
    def centre(self) -> float:
        """Score above which a word speaks for odd; 0 with several parts, whose scores are shifted to it."""
        of_words = self.of_words
        return of_words[0].centre if len(of_words) == 1 else 0.0

    def explain(self, documents: pd.DataFrame, raw: "pd.Series[str]") -> dict[int, Explanation]:
        """Return by row what makes documents odd by their words, each in its part."""
        found: dict[int, Explanation] = {}
        for scores in self.of_words:
            own, shift = documents[scores.part.has(documents["row"])], scores.centre - self.centre
            for row, each in zip(own["row"], scores.explain(own, raw), strict=True):
                words = (
                    [word._replace(score=word.score - shift) for word in each.words] if shift else each.words
                )
                found[row] = each._replace(words=words)
        return found

    def reasons(self, raw: "pd.Series[str]") -> dict[int, list[str]]:
        """Return by row the facts that make documents odd by their form, each in its part."""
        found: dict[int, list[str]] = {}
        for scores in self.of_parts:
            if scores.form is not None:
                own = raw[scores.part.has(raw.index)]
                found |= zip(own.index, scores.form.reasons(own), strict=True)
        return found

    def is_like_marked(self, documents: pd.DataFrame) -> "pd.Series[bool]":
        """Return which documents of a list are like those marked odd."""
        is_like = pd.Series(False, documents.index)
        for scores in self.of_words:
            own = documents[scores.part.has(documents["row"])]
            is_like[own.index] = scores.is_like_marked(own)
        return is_like
