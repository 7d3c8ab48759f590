"""The result of a ranking: a table of all documents, and lists of the odd ones with what makes them odd."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import joined, p_values_within
from adbench_text.documents.left_out import LeftOut
from adbench_text.documents.survey import Survey
from adbench_text.orders import P_OF_ORDER
from adbench_text.plugins.cleaner import Cleaner
from adbench_text.plugins.scores import N_WHY, TokenScore, words_and_why

Array = NDArray[np.float64]

_N_FAMILIES = 20  # the largest ones


@dataclass(frozen=True)
class OddDocuments:
    """Documents ranked against each other, the most abnormal first.

    Attributes
    ----------
    table : DataFrame
        All documents in the order of their ranks; those without a rank come last.

        - ``row``: in the input, from 0 on
        - ``rank``: 1 for the most abnormal; copies share the rank of their original
        - ``score``: abnormality of its words, by detectors that were fitted without the document
        - ``p``: share of the different documents that score at least as high by words; missing without words
        - ``p_form``, ``p_both``: the same by form (length, characters and kinds of words of the document as
          written), and by both, joined as in `adbench_text.calibration.joined`; missing if not asked for
        - ``odd``: whether the p of the order is at most alpha
        - ``why``, ``why_form``: the words, and the facts about form, that make it odd, the strongest first;
          empty for documents that are in no list
        - ``copy_of``: row of the document with the same words, or most of them, that is scored for this one
        - ``n_copies``: number of documents that are copies of this one
    lists : mapping of str to DataFrame
        By order (``"words"``, ``"form"``, ``"both"``): the different documents that are odd, or among the
        first. The columns are those of the table, with the ranks of this order; and ``text``, the document
        as written, and ``words``, the scores of its words (`TokenScore`; empty if there are none).
    families : DataFrame
        The documents with the most near-copies: ``row``, ``n_copies`` and ``text``.
    detector : str
        Name and configuration: ``"llr (robust)"``.
    method : str
        How a document is left out of what its detector learns: ``"leave-one-out"``.
    centre : float
        Score above which a word speaks for odd.
    alpha : float
        Largest p of a document that is called odd.
    other_language : str or None
        The likely language, if only few of the words are common in the given one.
    n_learned : int
        Number of different documents that the detector has learned from.
    n_near_copies : int
        Number of documents that share most of their words with another one.
    """

    table: pd.DataFrame
    lists: Mapping[str, pd.DataFrame]
    families: pd.DataFrame
    detector: str
    method: str
    centre: float
    alpha: float
    other_language: str | None
    n_learned: int
    n_near_copies: int


def table_of(found: Survey, scores: Mapping[str, Array]) -> pd.DataFrame:
    """Return the numbers of all documents in the order of the input, given the scores of rows by order."""
    of_rows = {"score": scores["words"], "p": p_values_within(scores["words"])}
    if "form" in scores:
        of_rows["p_form"] = p_values_within(scores["form"])
        of_rows["p_both"] = p_values_within(joined_p(of_rows["p"], of_rows["p_form"]))
    n_known = max(map(len, of_rows.values()))  # without form, nothing is known of documents without words
    places, row_of = np.arange(len(found.row_of)), found.row_of
    is_known = (row_of >= 0) & (row_of < n_known)
    original = np.where(is_known, found.place_of[row_of], places)

    def spread(values: Array) -> Array:
        return np.append(values, np.nan)[np.where((row_of >= 0) & (row_of < len(values)), row_of, -1)]

    return pd.DataFrame(
        {
            "row": places,
            **{name: spread(of_rows.get(name, np.empty(0))) for name in ("score", "p", "p_form", "p_both")},
            "copy_of": pd.Series(original, dtype="Int64").where(original != places),
            "n_copies": np.where(is_known & (original == places), _n_copies(found)[row_of], 0),
        }
    )


def joined_p(p_words: Array, p_form: Array) -> Array:
    """Return the joined scores of all rows; no word of a document without words is odd."""
    return joined(np.append(p_words, np.ones(len(p_form) - len(p_words))), p_form)


def _n_copies(found: Survey) -> NDArray[np.int64]:
    """Return the number of copies of each row."""
    return np.bincount(found.row_of[found.row_of >= 0], minlength=len(found.place_of)) - 1


def largest_families(found: Survey) -> pd.DataFrame:
    """Return the documents with the most near-copies, and their numbers of copies."""
    n_near = np.bincount(found.row_of[found.is_near], minlength=len(found.place_of))
    largest = np.lexsort((found.place_of, -n_near))[:_N_FAMILIES]
    largest = largest[n_near[largest] > 0]
    return pd.DataFrame({"row": found.place_of[largest], "n_copies": _n_copies(found)[largest]})


def in_order(table: pd.DataFrame, by: str, alpha: float) -> pd.DataFrame:
    """Return documents ranked by a p; those without it come last, in the order of their p by form."""
    p = table[P_OF_ORDER[by]]
    original = table["copy_of"].fillna(table["row"]).to_numpy(dtype=np.int64)
    # the last key counts first; an original comes before its copies
    order = np.lexsort((table["row"], table["copy_of"].notna(), original, table["p_form"].where(p.isna()), p))
    ranks = np.cumsum(np.diff(original[order], prepend=-1) != 0)
    ranked, p = table.iloc[order].reset_index(drop=True), p.iloc[order].reset_index(drop=True)
    return ranked.assign(rank=pd.Series(ranks, dtype="Int64").where(p.notna()), odd=p <= alpha)


def listed(table: pd.DataFrame, top: int, max_copies: int | None = None) -> pd.DataFrame:
    """Return the different documents that are odd or among the first, at least one.

    Documents with more copies than `max_copies` are left out.
    """
    different = table[table["rank"].notna() & table["copy_of"].isna()]
    if max_copies is not None:
        different = different[different["n_copies"] <= max_copies]
    return different.head(max(int(different["odd"].sum()), top, 1))


@dataclass(frozen=True)
class Explain:
    """Looks up what makes documents odd: their words, and facts about their form."""

    cleaner: Cleaner
    found: Survey
    written: Mapping[int, str]  # documents, by place
    of_words: LeftOut
    of_form: LeftOut | None

    def __call__(self, documents: pd.DataFrame, by: str) -> pd.DataFrame:
        """Return documents with their texts and what makes them odd by an order."""
        places = documents["row"].tolist()
        words: dict[int, list[TokenScore]] = {}
        why: dict[int, list[str]] = {}
        why_form: dict[int, list[str]] = {}
        if by != "form":
            words, why = self._words(documents.loc[documents["p"].notna(), "row"].tolist())
        if by != "words" and self.of_form:
            texts = [self.written[place] for place in places]
            facts = self.of_form.reasons(texts, self.found.positions(places))
            why_form = {place: own[:N_WHY] for place, own in zip(places, facts, strict=True)}
        return documents.assign(
            text=documents["row"].map(self.written),
            words=documents["row"].map(lambda place: words.get(place, [])),
            why=documents["row"].map(lambda place: why.get(place, [])),
            why_form=documents["row"].map(lambda place: why_form.get(place, [])),
        )

    def _words(self, places: list[int]) -> tuple[dict[int, list[TokenScore]], dict[int, list[str]]]:
        """Return the words of documents with their scores, and what makes them odd, by place."""
        texts, positions = [self.written[place] for place in places], self.found.positions(places)
        words, why = words_and_why(
            texts,
            self.cleaner,
            lambda cleaned: self.of_words.token_scores(cleaned, positions),
            lambda cleaned: self.of_words.reasons(cleaned, positions),
            self.of_words.centre,
        )
        return dict(zip(places, words, strict=True)), dict(zip(places, why, strict=True))


def with_reasons(table: pd.DataFrame, lists: Collection[pd.DataFrame]) -> pd.DataFrame:
    """Return all documents with what makes those of the lists odd, and their copies."""
    original = table["copy_of"].fillna(table["row"]).astype(np.int64)
    documents = pd.concat(lists)
    why, why_form = (
        {row: own for row, own in zip(documents["row"], documents[name], strict=True) if own}
        for name in ("why", "why_form")
    )
    return table.assign(
        why=original.map(lambda place: why.get(place, ())),
        why_form=original.map(lambda place: why_form.get(place, ())),
    )
