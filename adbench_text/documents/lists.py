"""The fourth stage of a ranking: lists of the odd documents, and what makes these odd."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.scores import N_WHY
from adbench_text.documents.explanation import Explanation
from adbench_text.documents.scores_by_order import is_by_words
from adbench_text.documents.scoring import DocumentScores
from adbench_text.documents.source import TextSource
from adbench_text.orders import P_OF_ORDER

_N_FAMILIES = 20  # the largest ones


@dataclass(frozen=True)
class ListRule:
    """What is listed: by which order, up to which p, at least how many, and up to how many copies."""

    by: str | None
    alpha: float
    top: int
    max_copies: int | None

    def orders(self, scores: DocumentScores) -> list[str]:
        """Return the order of each list, that of the ranks first."""
        if self.by:
            return [self.by]
        if scores.form is None:
            return ["words"]
        return ["words", "form"] if scores.evidence is None else ["both"]

    def listed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the different documents of a ranked table that are odd or among the first, at least one."""
        different = table[table["rank"].notna() & table["copy_of"].isna()]
        if self.max_copies is not None:
            different = different[different["n_copies"] <= self.max_copies]
        return different.head(max(int(different["odd"].sum()), self.top, 1))


@dataclass(frozen=True)
class OddLists:
    """All documents by their ranks, the list of each order, and the largest families of near-copies."""

    table: pd.DataFrame
    by_order: Mapping[str, pd.DataFrame]
    families: pd.DataFrame


def odd_lists(source: TextSource, scores: DocumentScores, cleaner: Cleaner, rule: ListRule) -> OddLists:
    """Return the lists of odd documents with what makes these odd; their texts are read again."""
    orders = rule.orders(scores)
    scored = scores.table.drop(columns="is_near")
    lists = {order: rule.listed(in_order(scored, order, rule.alpha)) for order in orders}
    families = _largest_families(scores.table)
    raw = source.raw({*families["row"]}.union(*(documents["row"] for documents in lists.values())))
    for order, documents in lists.items():
        lists[order] = _explained(documents, order, raw, cleaner, scores)
    # a mark counts for all documents with the same words, whatever the order
    table = by_order(in_order(scored, orders[0], rule.alpha), "words")
    return OddLists(
        table=_with_reasons(table, lists.values()),
        by_order=lists,
        families=families.assign(text=families["row"].map(raw)),
    )


def by_order(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return documents with their copies by an order, which have the same words or were written alike."""
    rows, original = table["row"], table["words_of" if by == "words" else "form_of"]
    n_copies = np.bincount(original, minlength=len(table))[rows] - 1
    copy_of = original.astype("Int64").where(original != rows)
    return table.assign(copy_of=copy_of, n_copies=np.maximum(n_copies, 0))


def in_order(table: pd.DataFrame, by: str, alpha: float) -> pd.DataFrame:
    """Return documents ranked by a p; those without it come last, in the order of their p by form."""
    p = table[P_OF_ORDER[by]]
    table = by_order(table, by)
    original = table["words_of" if by == "words" else "form_of"].to_numpy()
    # the last key counts first; an original comes before its copies; groups may share a p
    strength = -table["score"].where(p.notna() & (by == "words"), 0.0)
    keys = table["row"], table["copy_of"].notna(), original, strength, table["p_form"].where(p.isna()), p
    order = np.lexsort(keys)
    ranks = np.cumsum(np.diff(original[order], prepend=-1) != 0)
    ranked, p = table.iloc[order].reset_index(drop=True), p.iloc[order].reset_index(drop=True)
    return ranked.assign(rank=pd.Series(ranks, dtype="Int64").where(p.notna()), odd=p <= alpha)


def _largest_families(table: pd.DataFrame) -> pd.DataFrame:
    """Return the documents with the most copies, of those that have near-copies."""
    table = by_order(table, "words")
    has_near = table["row"].isin(table["words_of"][table["is_near"]])
    largest = table[has_near].sort_values("n_copies", ascending=False, kind="stable").head(_N_FAMILIES)
    return largest[["row", "n_copies"]].reset_index(drop=True)


def _explained(
    documents: pd.DataFrame, by: str, raw: "pd.Series[str]", cleaner: Cleaner, scores: DocumentScores
) -> pd.DataFrame:
    """Return the documents of a list with their texts, and what makes them odd by its order."""
    found = dict.fromkeys(documents["row"], Explanation([], [], []))
    if by != "form":
        texts = raw[documents["row"][documents["p"].notna()]]
        places = documents["words_of"][documents["p"].notna()]  # the same words, which have scores
        explained = scores.words.explain(texts.tolist(), places, cleaner)
        found |= zip(texts.index, explained, strict=True)
        # a detector that reads documents as they were written may have other reasons than words
        is_odd = documents["odd"] & is_by_words(documents, by) & (cleaner.language is not None)
        found |= {row: found[row].of_odd() for row in documents["row"][is_odd]}
    if by != "words" and scores.form:
        for row, facts in zip(found, scores.form.reasons(raw[[*found]]), strict=True):
            found[row] = found[row]._replace(why_form=facts[:N_WHY])
    columns = pd.DataFrame([*found.values()], documents.index, Explanation._fields, dtype=object)
    documents = documents.assign(text=documents["row"].map(raw), **columns)
    return scores.evidence.with_likeness(documents) if scores.evidence else documents


def _with_reasons(table: pd.DataFrame, lists: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return all documents with what makes those of the lists odd, and their copies."""
    reasons: dict[str, dict[int, list[str]]] = {"why": {}, "why_form": {}}
    for documents in lists:
        for name, of_rows in reasons.items():
            of_rows |= {row: why for row, why in zip(documents["row"], documents[name], strict=True) if why}
    originals = {"why": table["words_of"], "why_form": table["form_of"]}
    columns: dict[str, Any] = {
        name: [
            of_rows.get(row) or of_rows.get(original, ())
            for row, original in zip(table["row"], originals[name], strict=True)
        ]
        for name, of_rows in reasons.items()
    }
    return table.assign(**columns)
