"""The result of a ranking: documents with their p-values, in order, and what makes them odd."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import check_choice
from adbench_text.documents.left_out import LeftOut
from adbench_text.documents.survey import Survey
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.orders import ORDERS
from adbench_text.plugins.cleaner import Cleaner
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.scores import N_WHY, TokenScore, odd_words, original_words

Array = NDArray[np.float64]

_BLOCK = 10_000  # documents that are made at a time
_NONE: Any = None


class RankedDocument(NamedTuple):
    """A document among the others.

    Each p is the share of the different documents that are at least as abnormal; copies count once. It is
    None if it was not asked for. A document without words has `p_form` and `p_both` only.
    """

    place: int  # in the input, from 0 on
    rank: int  # 1 for the most abnormal of its list; copies of a document share its rank
    score: float | None  # abnormality of its words, by detectors that were fitted without the document
    p: float | None  # by words
    is_odd: bool  # whether the p of its list is at most alpha
    copy_of: int | None = None  # place of the document with the same words, or most of them, that is scored
    n_copies: int = 0  # number of documents that are copies of this one
    p_form: float | None = None  # by form: length, characters and kinds of words of the document as written
    p_both: float | None = None  # by both, joined as in `adbench_text.calibration.joined`


class Part(NamedTuple):
    """What is known by words, or by form: of the sample without each document, of the others by all of it."""

    left_out: LeftOut  # of the rows of the sample that it has learned from
    detector: TextDetector  # that was fitted on all of them
    scores: Array  # of all rows


@dataclass(frozen=True)
class OddDocuments:
    """Documents ranked against each other, the most abnormal first."""

    detector: str  # name and configuration: "llr (robust)"
    method: str  # how a document is left out of what its detector learns, as in `LeftOut`
    alpha: float  # largest p of a document that is called odd
    by: str  # "words", "form" or "both": which p gives the order, what is odd and why
    other_language: str | None  # the likely one, if only few of the words are common in the given one
    n_learned: int  # different documents that the detector has learned from
    seconds: float
    _texts: Iterable[str] = field(repr=False)  # those of a file are read again
    _cleaner: Cleaner = field(repr=False)
    _survey: Survey = field(repr=False)
    _of_words: Part = field(repr=False)
    _of_form: Part | None = field(repr=False)
    _p: Mapping[str, Array] = field(repr=False)  # by order, of each row
    # by place, of the documents that were looked up
    _written: dict[int, str] = field(default_factory=dict, repr=False)
    _words: dict[int, list[TokenScore]] = field(default_factory=dict, repr=False)
    _facts: dict[int, list[str]] = field(default_factory=dict, repr=False)

    @cached_property
    def documents(self) -> list[RankedDocument]:
        """The documents, the most abnormal first: all with words, and by form those without too."""
        return list(self)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[RankedDocument]:
        positions = np.arange(len(self))
        for begin in range(0, len(self), _BLOCK):
            yield from self._at(positions[begin : begin + _BLOCK])

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The places of the documents in their order; a document comes before its copies."""
        row_of, place_of = self._survey.row_of, self._survey.place_of
        places = np.flatnonzero((row_of >= 0) & (row_of < self.n_different))
        rows = row_of[places]
        scored = place_of[rows]
        return places[np.lexsort((places, scored != places, scored, self._p[self.by][rows]))]

    @cached_property
    def _ranks(self) -> NDArray[np.int64]:
        return np.cumsum(np.diff(self._survey.row_of[self._places], prepend=-1) != 0)

    @cached_property
    def _n_of_row(self) -> NDArray[np.int64]:
        row_of = self._survey.row_of
        return np.bincount(row_of[row_of >= 0])

    def _at(self, positions: NDArray[np.int64]) -> Iterator[RankedDocument]:
        """Return the documents at positions of the order."""
        places = self._places[positions]
        rows = self._survey.row_of[places]
        scored = self._survey.place_of[rows]
        is_copy = scored != places

        def values(of_rows: Array | None) -> Iterable[Any]:
            if of_rows is None:
                return repeat(None)
            has = rows < len(of_rows)
            found: list[Any] = np.where(has, of_rows[np.where(has, rows, 0)].astype(object), _NONE).tolist()
            return found

        return map(
            RankedDocument,
            places.tolist(),
            self._ranks[positions].tolist(),
            values(self._of_words.scores if "words" in self._p else None),
            values(self._p.get("words")),
            (self._p[self.by][rows] <= self.alpha).tolist(),
            np.where(is_copy, scored.astype(object), _NONE).tolist(),
            np.where(is_copy, 0, self._n_of_row[rows] - 1).tolist(),
            values(self._p.get("form")),
            values(self._p.get("both")),
        )

    @property
    def n_documents(self) -> int:
        """Number of documents, those without words included."""
        return len(self._survey.row_of)

    @cached_property
    def empty(self) -> list[int]:
        """Places of the documents without words."""
        row_of = self._survey.row_of
        places: list[int] = np.flatnonzero((row_of < 0) | (row_of >= self._survey.n_with_words)).tolist()
        return places

    @property
    def has_form(self) -> bool:
        """Whether there are p-values by form, and by both."""
        return self._of_form is not None

    def p_of(self, document: RankedDocument) -> float | None:
        """Return the p of a document that gives the order."""
        return {"words": document.p, "form": document.p_form, "both": document.p_both}[self.by]

    def ordered(self, by: str) -> "OddDocuments":
        """Return the same documents in another order; raise InvalidValueError if it was not asked for."""
        check_choice("order", by, ORDERS)
        if by != "words" and not self.has_form:
            raise InvalidValueError(
                f"These documents were ranked by words only, not by {by}; leave out by=..."
            )
        return replace(self, by=by)

    @property
    def odd(self) -> list[RankedDocument]:
        """The documents with a p-value of at most alpha."""
        p = self._p[self.by][self._survey.row_of[self._places]]
        return list(self._at(np.flatnonzero(p <= self.alpha)))

    @property
    def different(self) -> list[RankedDocument]:
        """The documents without the copies of others."""
        return self.first(self.n_different)

    def first(self, n: int) -> list[RankedDocument]:
        """Return the first n documents without the copies of others."""
        own = self._survey.place_of[self._survey.row_of[self._places]] == self._places
        return list(self._at(np.flatnonzero(own)[:n]))

    @property
    def n_different(self) -> int:
        """Number of documents without the copies of others."""
        return len(self._p[self.by])

    @property
    def n_copies(self) -> int:
        """Number of documents with the words of another one, or most of them."""
        return len(self) - self.n_different

    @property
    def n_near_copies(self) -> int:
        """Number of documents that share most of their words with another one."""
        return int(self._survey.is_near.sum())

    @property
    def n_different_with_words(self) -> int:
        """Number of different documents with words, whatever the order."""
        return self._survey.n_with_words

    def families(self, n: int) -> list[RankedDocument]:
        """Return the n documents with the most near-copies, those with none left out."""
        found = self._survey
        n_near = np.bincount(found.row_of[found.is_near], minlength=len(found.place_of))
        largest = np.lexsort((found.place_of, -n_near))[:n]
        wanted = found.place_of[largest[n_near[largest] > 0]].tolist()
        listed = self._at(np.flatnonzero(np.isin(self._places, wanted)))
        return sorted(listed, key=lambda document: wanted.index(document.place))

    def words(self, document: RankedDocument) -> list[TokenScore]:
        """Return the words of a document as it was written, with their scores; none if there are none.

        The document has no part in them either; but a near-copy has learned from what it is a copy of.
        """
        self._explain_words([document.place])
        return self._words[document.place]

    def explain(self, documents: Sequence[RankedDocument]) -> None:
        """Look up what makes many documents odd at once, which takes less time than one after the other."""
        places = [document.place for document in documents]
        if self.by != "form":
            self._explain_words(places)
        if self.by != "words":
            self._explain_form(places)

    def read(self, documents: Iterable[RankedDocument]) -> dict[int, str]:
        """Return documents as they were written, by place; a file is read again for those not known."""
        return self._read([document.place for document in documents])

    def _read(self, places: Sequence[int]) -> dict[int, str]:
        wanted = {place for place in places if place not in self._written}
        if isinstance(self._texts, Sequence):
            self._written.update((place, self._texts[place]) for place in wanted)
        elif wanted:
            read = islice(enumerate(self._texts), max(wanted) + 1)
            self._written.update((place, text) for place, text in read if place in wanted)
        return {place: self._written[place] for place in places}

    def _explain_words(self, places: Sequence[int]) -> None:
        new = [place for place in places if place not in self._words]
        self._words.update((place, []) for place in new)
        row_of = self._survey.row_of
        new = [place for place in new if row_of[place] < self._survey.n_with_words]
        texts = self._read(new)
        cleaned = {place: self._cleaner(text) for place, text in texts.items()}
        try:
            scored = self._looked_up(self._of_words, "token_scores", cleaned)
        except AdbenchTextError:  # the detector scores a document as a unit
            return
        for place, words in scored.items():
            self._words[place] = original_words(texts[place], self._cleaner, words)

    def _explain_form(self, places: Sequence[int]) -> None:
        if self._of_form and (new := [place for place in places if place not in self._facts]):
            self._facts.update(self._looked_up(self._of_form, "reasons", self._read(new)))

    def _looked_up(self, part: Part, what: str, texts: Mapping[int, str]) -> dict[int, Any]:
        """Return what a part knows of documents, by place: of those it has learned from without them."""
        found: dict[int, Any] = {}
        sample, rows = self._survey.sample, self._survey.row_of[list(texts)]
        at = np.searchsorted(sample, rows)
        is_own = (np.append(sample, -1)[at] == rows) & ~self._survey.is_near[list(texts)]
        if own := [place for place, own in zip(texts, is_own, strict=True) if own]:
            found |= zip(own, getattr(part.left_out, what)(at[is_own].tolist()), strict=True)
        if others := [place for place, own in zip(texts, is_own, strict=True) if not own]:
            of_others = [texts[place] for place in others]
            found |= zip(others, getattr(part.detector, what)(of_others), strict=True)
        return found

    @cached_property
    def centre(self) -> float:
        """Score above which a word speaks for odd."""
        return self._of_words.left_out.centre

    def why(self, document: RankedDocument, n: int = N_WHY) -> list[str]:
        """Return what makes a document odd, the strongest first: words, or facts about its form.

        By both, it is what has the smaller p-value.
        """
        p, p_form = document.p, document.p_form
        if self.by == "form" or (self.by == "both" and (p is None or (p_form is not None and p_form < p))):
            return self.why_form(document, n)
        return self.why_words(document, n)

    def why_words(self, document: RankedDocument, n: int = N_WHY) -> list[str]:
        """Return the words that make a document odd, the strongest first.

        Where the detector has no scores of words, its own facts replace them.
        """
        if (words := self.words(document)) or document.p is None:
            return odd_words(words, self.centre, n)
        cleaned = {place: self._cleaner(text) for place, text in self.read([document]).items()}
        facts: list[str] = self._looked_up(self._of_words, "reasons", cleaned)[document.place]
        return facts[:n]

    def why_form(self, document: RankedDocument, n: int = N_WHY) -> list[str]:
        """Return the facts that make the form of a document odd, the strongest first."""
        self._explain_form([document.place])
        return self._facts.get(document.place, [])[:n]
