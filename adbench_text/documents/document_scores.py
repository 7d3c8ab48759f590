"""Scores of documents, and why documents are odd: for one part of a ranking, and for all documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from adbench_text.documents.explanation import Explanation
from adbench_text.documents.left_out import LeftOut
from adbench_text.documents.marks import MarkEvidence
from adbench_text.documents.parts import Part


class Explained(NamedTuple):
    """Explanations of the documents that may be in the list by words. The detector is not kept."""

    n_odd: int
    explanations: Mapping[int, Explanation]  # by row
    like_marked: frozenset[int]  # rows of documents that are like documents marked odd


@dataclass(frozen=True)
class PartScores:
    """What the detectors learned in a part. Rows identify documents."""

    part: Part
    words: "pd.Series[float]"  # scores by words of the sample and of documents marked odd
    learned_from: "pd.Series[float]"  # scores by words of the documents that the detector learned from
    method: str  # as in `LeftOut`
    centre: float  # a word with a higher score is a sign that the document is odd
    # explains documents by words: `LeftOut` if any document may be listed; None if no detector learned words
    detail: LeftOut | Explained | None
    form: LeftOut | None  # None if the part does not rank documents by form
    evidence: MarkEvidence | None  # only where marks join words and form

    @property
    def n_learned(self) -> int:
        """Number of documents that the detector of words learned from."""
        return len(self.learned_from)

    @property
    def n_odd(self) -> int:
        """Number of documents that are odd by words and already explained."""
        return self.detail.n_odd if isinstance(self.detail, Explained) else 0

    def explain(self, documents: pd.DataFrame, raw: "pd.Series[str]") -> list[Explanation]:
        """Explain why documents of this part are odd by their words; `raw` has their texts by row."""
        representatives = documents["representative"]  # rows; only representatives have scores
        if isinstance(self.detail, LeftOut):
            cleaner = self.part.pair.cleaner  # the pair is the detector of words and the detector of form
            return self.detail.explain(raw[documents["row"]].tolist(), representatives, cleaner)
        assert self.detail is not None  # `DocumentScores.explain` asks only parts that have learned words
        return [self.detail.explanations[row] for row in representatives]

    def is_like_marked(self, documents: pd.DataFrame) -> "pd.Series[bool]":
        """Return which documents of this part are like documents marked odd."""
        if self.evidence is not None:
            by_row = documents.set_index("row")
            return self.evidence.is_like(by_row["p"], by_row["text"]).set_axis(documents.index)
        like = self.detail.like_marked if isinstance(self.detail, Explained) else ()
        return documents["row"].isin(like)


@dataclass(frozen=True)
class DocumentScores:
    """Scores and p-values of all documents, and the parts that they come from.

    `table` has a row for each document, ranked by the first of the `orders`. It has the columns ``row``,
    ``score``, ``p``, ``p_form``, ``p_both``, ``representative``, ``form_representative``, ``mark``, ``rank``,
    ``odd``, ``copy_of`` and ``n_copies`` of `OddDocuments.table`; copies are copies in the first order.
    ``is_near`` says whether a document is a near-copy of its representative.
    """

    table: pd.DataFrame
    orders: Sequence[str]  # of the lists; the first one ranks the table
    of_parts: Sequence[PartScores]
    marked: "pd.Series[str]"  # marks by row, one mark for each family
    form_weight: float

    @property
    def of_words(self) -> list[PartScores]:
        """The parts whose detector of words has learned."""
        return [scores for scores in self.of_parts if scores.n_learned]

    @property
    def has_form(self) -> bool:
        """Whether documents are scored by form."""
        return any(scores.form for scores in self.of_parts)

    @property
    def centre(self) -> float:
        """A word with a higher score is a sign that its document is odd.

        With several parts it is 0, and `explain` shifts the scores of each part accordingly.
        """
        of_words = self.of_words
        return of_words[0].centre if len(of_words) == 1 else 0.0

    def explain(self, documents: pd.DataFrame, raw: "pd.Series[str]") -> dict[int, Explanation]:
        """Explain by row why documents are odd by their words in their parts; `raw` has the texts by row."""
        by_row: dict[int, Explanation] = {}
        for scores in self.of_words:
            in_part = documents[scores.part.has(documents["row"])]
            shift = scores.centre - self.centre  # with several parts, every part gets the centre 0
            for row, explanation in zip(in_part["row"], scores.explain(in_part, raw), strict=True):
                words = explanation.words
                if shift:
                    words = [word._replace(score=word.score - shift) for word in words]
                by_row[row] = explanation._replace(words=words)
        return by_row

    def reasons(self, raw: "pd.Series[str]") -> dict[int, list[str]]:
        """Return by row the facts that make documents odd by their form in their parts.

        `raw` has the texts of the documents by row.
        """
        by_row: dict[int, list[str]] = {}
        for scores in self.of_parts:
            if scores.form is not None:
                in_part = raw[scores.part.has(raw.index)]
                by_row |= zip(in_part.index, scores.form.reasons(in_part), strict=True)
        return by_row

    def is_like_marked(self, documents: pd.DataFrame) -> "pd.Series[bool]":
        """Return which documents of a list are like documents marked odd."""
        is_like = pd.Series(False, documents.index)
        for scores in self.of_words:
            in_part = documents[scores.part.has(documents["row"])]
            is_like[in_part.index] = scores.is_like_marked(in_part)
        return is_like
