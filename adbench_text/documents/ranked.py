"""The result of a ranking: a table of all documents, and lists of the odd ones with what makes them odd."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import joined, p_values_within
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.scores import N_WHY
from adbench_text.documents.explanation import Explanation, explain
from adbench_text.documents.left_out import LeftOut
from adbench_text.documents.survey import Survey
from adbench_text.orders import P_OF_ORDER

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
        - ``mark``: odd or fine for a document that is marked, or whose copy is; it has no rank, unless kept
    lists : mapping of str to DataFrame
        By order (``"words"``, ``"form"``, ``"both"``): the different documents that are odd, or among the
        first. The columns are those of the table, with the ranks of this order; and ``text``, the document
        as written, and ``words``, the scores of its words (`TokenScore`; empty if there are none).
    families : DataFrame
        The documents with the most near-copies: ``row``, ``n_copies`` and ``text``.
    detector : str
        Name and configuration: ``"llr:robust"``.
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
    marked : Series
        The marks by row, ``"odd"`` or ``"fine"``, of documents that are scored; one for each family.
    odds_of_form : float
        How much more form counts beside words than without marks.
    learns_from_marks : bool
        Whether the detector `takes_labels`; if not, it only leaves documents marked odd out.
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
    marked: "pd.Series[str]"
    odds_of_form: float
    learns_from_marks: bool


def table_of(
    found: Survey,
    scores: Mapping[str, Array],
    odds: float = 1.0,
    unranked: "Sequence[int] | pd.Index[int]" = (),
) -> pd.DataFrame:
    """Return the numbers of all documents in the order of the input, given the scores of originals.

    `odds` are those of form against words where both are joined. Documents that are `unranked` have no p. Yet
    they count where both are joined: without them, the first of the others would look odd by any list.
    """
    by_words, rows = scores["words"], np.arange(len(found.original))
    by_form = scores.get("form", np.full(len(rows), np.nan))
    # without form, nothing is known of documents without words
    is_known = ~np.isnan(by_form if "form" in scores else by_words)
    original = np.where((found.original >= 0) & is_known[found.original], found.original, rows)
    p, p_form = p_values_within(by_words), p_values_within(by_form)
    ranked = {"p": by_words, "p_form": by_form, "p_both": joined(p, p_form, odds)}
    is_out = np.isin(rows, unranked)
    shares = {name: p_values_within(np.where(is_out, np.nan, of_name)) for name, of_name in ranked.items()}
    numbers = {"score": by_words, **shares}
    return pd.DataFrame(
        {
            "row": rows,
            **{name: values[original] for name, values in numbers.items()},
            "copy_of": pd.Series(original, dtype="Int64").where(original != rows),
            "n_copies": np.maximum(np.bincount(original, minlength=len(rows)) - 1, 0),
        }
    )


def largest_families(found: Survey, table: pd.DataFrame) -> pd.DataFrame:
    """Return the documents with the most near-copies."""
    n_near = np.bincount(found.original[found.is_near], minlength=len(table))
    largest = np.argsort(-n_near, kind="stable")[:_N_FAMILIES]
    return table.loc[largest[n_near[largest] > 0], ["row", "n_copies"]].reset_index(drop=True)


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


def explained(
    documents: pd.DataFrame,
    by: str,
    written: "pd.Series[str]",
    cleaner: Cleaner,
    of_words: LeftOut,
    of_form: LeftOut | None,
) -> pd.DataFrame:
    """Return documents with their texts, which are `written` by row, and what makes them odd by an order."""
    found = dict.fromkeys(documents["row"], Explanation([], [], []))
    if by != "form":
        texts = written[documents["row"][documents["p"].notna()]]
        of_texts = explain(
            *(texts.tolist(), cleaner),
            lambda cleaned: of_words.token_scores(pd.Series(cleaned, texts.index, dtype=object)),
            lambda cleaned: of_words.reasons(pd.Series(cleaned, texts.index, dtype=object)),
            of_words.centre,
        )
        found |= zip(texts.index, of_texts, strict=True)
    if by != "words" and of_form:
        for row, facts in zip(found, of_form.reasons(written[[*found]]), strict=True):
            found[row] = found[row]._replace(why_form=facts[:N_WHY])
    columns = pd.DataFrame([*found.values()], documents.index, Explanation._fields, dtype=object)
    return documents.assign(text=documents["row"].map(written), **columns)


def with_reasons(table: pd.DataFrame, lists: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return all documents with what makes those of the lists odd, and their copies."""
    original = table["copy_of"].fillna(table["row"]).astype(np.int64)
    reasons: dict[str, dict[int, list[str]]] = {"why": {}, "why_form": {}}
    for documents in lists:
        for name, of_rows in reasons.items():
            of_rows |= {row: why for row, why in zip(documents["row"], documents[name], strict=True) if why}
    columns: dict[str, Any] = {
        name: [of_rows.get(row, ()) for row in original] for name, of_rows in reasons.items()
    }
    return table.assign(**columns)
