"""Ranks the documents of one file against each other."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.calibration import p_values_within
from adbench_text.checks import check_number
from adbench_text.documents import DEFAULT_DETECTOR
from adbench_text.documents.copies import grouped, near_copies
from adbench_text.documents.detectors import own_detector
from adbench_text.documents.left_out import N_FOLDS, LeftOut, left_out
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.plugins.scores import TokenScore, check_texts
from adbench_text.plugins.words import N_TYPICAL, N_WHY, centre, odd_words, original_words
from adbench_text.text.cleaning import Cleaner, likely_language, share_of_common_words

if TYPE_CHECKING:
    import pandas as pd

_MOST_TYPICAL = 50  # documents that are searched for near-copies, at most a tenth of all
_LEAST_COMMON = 0.6  # of the words; English corpora have 0.83 and more, other languages less than 0.45


@dataclass(frozen=True)
class RankedDocument:
    """A document among the others.

    Attributes
    ----------
    place : int
        In the input, from 0 on.
    rank : int
        1 for the most abnormal; copies of a document share its rank.
    score : float
        Abnormality, by detectors that were fitted without the document.
    p : float
        Share of the different documents that score at least as high; copies count once.
    is_odd : bool
        Whether `p` is at most alpha.
    copy_of : int or None
        Place of the first document with the same words.
    n_copies : int
        Number of later documents with the same words.
    """

    place: int
    rank: int
    score: float
    p: float
    is_odd: bool
    copy_of: int | None = None
    n_copies: int = 0


@dataclass(frozen=True)
class OddDocuments:
    """Documents ranked against each other, the most abnormal first.

    Attributes
    ----------
    detector : str
        Name and configuration: ``"llr (robust)"``.
    method : str
        How a document is left out of what its detector learns: ``"leave-one-out"`` or
        ``"cross-fitted over 10 folds"``.
    alpha : float
        Largest `p` of a document that is called odd.
    documents : list of RankedDocument
        All documents with a word in them.
    empty : list of int
        Places of the documents without.
    other_language : str or None
        The likely language, if only few of the words are common in the given one.
    typical : list of int
        Places of the documents with the lowest scores: 50, or a tenth of the different ones if that is less.
    near_copies : list of int
        Those of them that share most of their words with another document: near-copies make each other look
        typical.
    seconds : float
    """

    detector: str
    method: str
    alpha: float
    documents: list[RankedDocument]
    empty: list[int]
    other_language: str | None
    typical: list[int]
    near_copies: list[int]
    seconds: float
    _texts: Sequence[str] = field(repr=False)
    _cleaner: Cleaner = field(repr=False)
    _left_out: LeftOut = field(repr=False)
    _row_of: Mapping[int, int] = field(repr=False)  # of a place: that of its words among the scored
    _words: dict[int, list[TokenScore]] = field(default_factory=dict, repr=False)

    @property
    def odd(self) -> list[RankedDocument]:
        """The documents with a p-value of at most alpha."""
        return [document for document in self.documents if document.is_odd]

    @property
    def different(self) -> list[RankedDocument]:
        """The documents without the copies of earlier ones."""
        return [document for document in self.documents if document.copy_of is None]

    @property
    def n_copies(self) -> int:
        """Number of documents with the words of an earlier one."""
        return sum(document.copy_of is not None for document in self.documents)

    def words(self, document: RankedDocument) -> list[TokenScore]:
        """Return the words of a document as it was written, with their scores; none if there are none.

        The document has no part in them either.
        """
        self.explain([document])
        return self._words[document.place]

    def explain(self, documents: Iterable[RankedDocument]) -> None:
        """Look up the words of many documents at once, which takes less time than one after the other."""
        places = [document.place for document in documents if document.place not in self._words]
        try:
            scored = self._left_out.token_scores([self._row_of[place] for place in places])
        except AdbenchTextError:  # the detector scores a document as a unit
            scored = [[] for _ in places]
        for place, words in zip(places, scored, strict=True):
            self._words[place] = original_words(self._texts[place], self._cleaner, words)

    @cached_property
    def centre(self) -> float:
        """Score above which a word speaks for odd."""
        step = max(len(self.documents) // N_TYPICAL, 1)
        sample = self.documents[::step]
        self.explain(sample)
        return centre([self.words(document) for document in sample])

    def why(self, document: RankedDocument, n: int = N_WHY) -> list[str]:
        """Return the words that make a document odd, the strongest first."""
        return odd_words(self.words(document), self.centre, n)

    def frame(self) -> "pd.DataFrame":
        """Return the documents as a table with the columns place, rank, score, p, odd and why (if odd)."""
        import pandas as pd

        self.explain(self.odd)
        rows = [
            (d.place, d.rank, d.score, d.p, d.is_odd, ", ".join(self.why(d)) if d.is_odd else "")
            for d in self.documents
        ]
        return pd.DataFrame(rows, columns=["place", "rank", "score", "p", "odd", "why"])


def odd_documents(
    texts: Sequence[str],
    detector: str = DEFAULT_DETECTOR,
    *,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    language: str = "en",
    alpha: float = 0.01,
    clean: bool = True,
    n_folds: int = N_FOLDS,
    seed: int = 0,
) -> OddDocuments:
    """Rank documents against each other; each is scored by what was learned from the others.

    Parameters
    ----------
    texts : sequence of str
        At least two different documents with words.
    detector : str
        Name of a detector.
    preset : str, optional
        Its configuration; by default the one that it offers for the language.
    settings : mapping, optional
        Hyper-parameters that override it.
    language : str
        Language of the documents, for the cleaning and the detector.
    alpha : float
        Share of the different documents that is called odd, in (0, 1), with or without outliers among them.
    clean : bool
        Whether to remove stop words, punctuation and digits before.
    n_folds : int
        How many times a detector is fitted that does not leave documents out by itself.
    seed : int

    Returns
    -------
    OddDocuments

    Raises
    ------
    InvalidValueError
        If there are fewer than two different documents with words, or an argument is out of range.
    DetectorError
        If the detector fails.

    Examples
    --------
    >>> reasons = ["password", "token", "code", "card", "key", "certificate", "address"]
    >>> tickets = [f"cannot log in to my account, the {reason} was rejected" for reason in reasons]
    >>> result = odd_documents([*tickets, "preheat the oven, then beat the eggs"], alpha=0.2)
    >>> [(document.place, document.p) for document in result.odd]
    [(7, 0.125)]
    >>> sorted(result.why(result.odd[0]))
    ['beat', 'eggs', 'oven', 'preheat']
    """
    begin = time.perf_counter()
    texts = check_texts(texts)
    check_number("alpha", alpha, "(0, 1)")
    own = own_detector(detector, preset, settings, language, seed)
    cleaner = Cleaner(language if clean else None)
    first_of, copy_of, empty = grouped([cleaner(text) for text in texts])
    different = list(first_of)
    if len(different) < 2:
        raise InvalidValueError(
            f"At least 2 different documents with words are needed to rank them, got {len(different)}."
        )
    with own.errors():
        own.detector.prepare(different)
        scored = left_out(own.detector, different, n_folds, seed)
    typical = np.argsort(scored.scores, kind="stable")[: min(_MOST_TYPICAL, len(different) // 10)].tolist()
    places = list(first_of.values())
    row_of_first = {place: row for row, place in enumerate(places)}
    row_of = {place: row_of_first[place if first is None else first] for place, first in copy_of.items()}
    return OddDocuments(
        own.label,
        scored.method,
        alpha,
        _ranked(scored.scores, alpha, row_of, copy_of),
        empty,
        _other_language(different, language),
        [places[row] for row in typical],
        [places[row] for row in near_copies(different, typical)],
        time.perf_counter() - begin,
        texts,
        cleaner,
        scored,
        row_of,
    )


def _ranked(
    scores: NDArray[np.float64], alpha: float, row_of: Mapping[int, int], copy_of: Mapping[int, int | None]
) -> list[RankedDocument]:
    """Return the documents, the most abnormal first; `row_of` gives the score of each place."""
    p = p_values_within(scores)
    n_copies = Counter(first for first in copy_of.values() if first is not None)
    rank_of_row = np.empty(len(scores), dtype=np.int64)
    rank_of_row[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    documents = [
        RankedDocument(
            place,
            int(rank_of_row[row]),
            float(scores[row]),
            float(p[row]),
            bool(p[row] <= alpha),
            copy_of[place],
            n_copies[place],
        )
        for place, row in row_of.items()
    ]
    return sorted(documents, key=lambda document: (document.rank, document.place))


def _other_language(texts: Sequence[str], language: str) -> str | None:
    share = share_of_common_words(texts, language)
    if share >= _LEAST_COMMON:
        return None
    likely = likely_language(texts)
    return likely if share_of_common_words(texts, likely) > share else None
