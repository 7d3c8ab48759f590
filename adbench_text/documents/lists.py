"""The fourth stage of a ranking: list the odd documents, and explain why they are odd."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.contract.scores import N_WHY
from adbench_text.documents.document_scores import DocumentScores
from adbench_text.documents.explanation import Explanation
from adbench_text.documents.marks import LIKE_MARKED
from adbench_text.documents.ranks import in_order, with_copies
from adbench_text.documents.rule import ListRule
from adbench_text.documents.scores_by_order import is_by_words
from adbench_text.documents.source import TextSource

_N_FAMILIES = 20  # the largest ones


@dataclass(frozen=True)
class OddLists:
    """All documents in order, the list of each order, and the largest families of near-copies."""

    table: pd.DataFrame
    by_order: Mapping[str, pd.DataFrame]
    families: pd.DataFrame


def odd_lists(source: TextSource, scores: DocumentScores, rule: ListRule, *, reads_raw: bool) -> OddLists:
    """Return the list of odd documents for each order of `scores`, with explanations.

    `rule` decides which documents are listed. Only their texts are read. `reads_raw` says whether the
    detector itself reads raw documents: then a document may be odd for other reasons than words.
    """
    is_near, ranked = scores.table["is_near"], scores.table.drop(columns="is_near")
    first, *others = scores.orders
    lists = {first: rule.listed(ranked)}
    lists |= {order: in_order(ranked, order, rule.alpha, rule) for order in others}
    # A mark counts for all documents with the same words. So the table shows copies by words, even if form
    # ranks the documents.
    table = with_copies(ranked, "representative")
    families = _largest_families(table, is_near)
    raw = source.raw(sorted({*families["row"]}.union(*(each["row"] for each in lists.values()))))
    explanations = _Explanations.of(lists, raw, scores)
    for order, documents in lists.items():
        lists[order] = explanations.with_explanations(documents, order, reads_raw=reads_raw)
    return OddLists(
        table=_with_reasons(table, lists.values()),
        by_order=lists,
        families=families.assign(text=families["row"].map(raw)),
    )


def _largest_families(table: pd.DataFrame, is_near: "pd.Series[bool]") -> pd.DataFrame:
    """Return the documents with the most copies, among documents with near-copies."""
    counted = table[table["row"].isin(table["representative"][is_near])]
    largest = counted.sort_values(["n_copies", "row"], ascending=[False, True]).head(_N_FAMILIES)
    return largest[["row", "n_copies"]].reset_index(drop=True)


@dataclass(frozen=True)
class _Explanations:
    """Why documents are odd. A document that is in several lists is explained once."""

    raw: "pd.Series[str]"
    scores: DocumentScores
    by_words: Mapping[int, Explanation]  # by row
    by_form: Mapping[int, Sequence[str]]  # by row

    @classmethod
    def of(cls, lists: Mapping[str, pd.DataFrame], raw: "pd.Series[str]", scores: DocumentScores) -> Self:
        """Explain the documents of all lists, given the texts by row."""
        of_words = [documents for order, documents in lists.items() if order != "form"]
        of_form = [documents["row"] for order, documents in lists.items() if order != "words"]
        by_words: Mapping[int, Explanation] = {}
        if of_words:
            listed = pd.concat(of_words).drop_duplicates("row")
            by_words = scores.explain(listed[listed["p"].notna()], raw)
        by_form: Mapping[int, Sequence[str]] = {}
        if of_form and scores.has_form:
            by_form = scores.reasons(raw[pd.concat(of_form).unique()])
        return cls(raw, scores, by_words, by_form)

    def with_explanations(self, documents: pd.DataFrame, order: str, *, reads_raw: bool) -> pd.DataFrame:
        """Return the documents of a list with their texts, and explanations by its order."""
        rows = documents["row"]
        documents = documents.assign(text=rows.map(self.raw))
        explanations = dict.fromkeys(rows, Explanation([], [], []))
        if order != "form":
            explanations |= {row: self.by_words[row] for row in rows if row in self.by_words}
            # a document may be odd without an odd word; a detector that reads raw documents has other reasons
            is_odd = documents["odd"] & is_by_words(documents, order) & (not reads_raw)
            explanations |= {row: explanations[row].with_a_reason() for row in rows[is_odd]}
        if order != "words":
            for row in rows:
                facts = [*self.by_form.get(row, ())][:N_WHY]
                explanations[row] = explanations[row]._replace(why_form=facts)
        for row in rows[self.scores.is_like_marked(documents)]:
            explanations[row] = explanations[row]._replace(why=[LIKE_MARKED, *explanations[row].why])
        columns = pd.DataFrame([*explanations.values()], documents.index, Explanation._fields, dtype=object)
        return documents.assign(**columns)


def _with_reasons(table: pd.DataFrame, lists: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return all documents with the reasons for listed documents and their copies."""
    for name, representative in (("why", "representative"), ("why_form", "form_representative")):
        reasons: dict[int, Sequence[str]] = {}
        for documents in lists:
            reasons |= {row: why for row, why in zip(documents["row"], documents[name], strict=True) if why}
        cells = words_at(table[representative], reasons)  # a copy has the reasons of its representative
        own = table["row"].isin([*reasons]).to_numpy()
        cells[own] = words_at(table["row"][own], reasons)
        table = table.assign(**{name: cells})
    return table


def words_at(rows: "pd.Series[int]", words: Mapping[int, Sequence[str]]) -> NDArray[np.object_]:
    """Return the words of each row; an empty tuple for a row without words, as most rows are."""
    cells = np.empty(len(rows), dtype=object)
    cells.fill(())
    for place in np.flatnonzero(rows.isin([*words])).tolist():
        cells[place] = words[rows.iloc[place]]
    return cells
