"""Documents that have groups, such as queues of tickets: each is ranked among those of its group.

A detector learns from the documents of one group, and judges them against the words of all groups as well.
By form, a document is judged by the whole file.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import joined, p_values_within
from adbench_text.contract.other_words import OtherWords
from adbench_text.documents import OnProgress, no_progress
from adbench_text.documents.chunks import results_of
from adbench_text.documents.detector_pair import DetectorPair
from adbench_text.documents.explanation import Explanation
from adbench_text.documents.left_out import GroupedWords, LeftOut
from adbench_text.documents.lists import ListRule, in_order
from adbench_text.documents.marks import marked_originals
from adbench_text.documents.scoring import DocumentScores, score_documents, score_forms, score_table
from adbench_text.documents.source import TextSource, check_all_read
from adbench_text.documents.survey import Survey, survey
from adbench_text.errors import InvalidValueError

LEAST = 20  #: different documents of a group that is ranked by itself
_AT_A_TIME = 100_000  # documents that are in memory together


@dataclass(frozen=True)
class Groups:
    """The group of each document; those with few different documents are ranked together, as one group."""

    names: list[str]  # of the groups that are ranked by themselves, in order
    small: list[str]  # of the others
    of_rows: NDArray[np.int64]  # number of the group; that after the last name is of the small ones
    labels: pd.Series  # as they were given, by row

    @classmethod
    def of(cls, labels: Any, found: Survey) -> "Groups":
        """Return the groups of documents; those without a label are a group, too."""
        given = _checked(labels, len(found.original))
        is_known = found.has_words & (found.original >= 0)
        different = pd.DataFrame({"label": given, "original": found.original})[is_known].drop_duplicates()
        sizes = different["label"].value_counts()
        names = sorted(sizes.index[sizes >= LEAST])
        number_of = {name: number for number, name in enumerate(names)}
        codes = np.array([number_of.get(label, -1) for label in given], dtype=np.int64)
        small = sorted(given[codes < 0].unique())
        return cls(names, small, np.where(codes < 0, len(names), codes), given)

    def in_groups(self, original: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first row of each family of copies within a group, given that of the whole family."""
        families = pd.DataFrame({"original": original, "group": self.of_rows})
        first = np.arange(len(families))[~families.duplicated()]
        row_of = pd.Series(first, pd.MultiIndex.from_frame(families.iloc[first]))
        found = row_of.reindex(pd.MultiIndex.from_frame(families)).to_numpy()
        return np.where(original < 0, -1, found)

    @property
    def alike(self) -> list[list[str]]:
        """The labels that differ in spaces or case alone."""
        labels = pd.Series(self.labels.unique(), dtype=object)
        same = labels.groupby(labels.map(lambda label: "".join(label.split()).casefold()))
        return [sorted(each) for _, each in same if len(each) > 1]

    @property
    def rows(self) -> list[NDArray[np.int64]]:
        """The documents of each group that is ranked, in order."""
        order = np.argsort(self.of_rows, kind="stable")
        n_groups = len(self.names) + bool(self.small)
        return np.split(order, np.searchsorted(self.of_rows[order], np.arange(1, n_groups)))

    def contradictions(self, found: Survey) -> pd.DataFrame:
        """Return the families of equal texts and near-copies with several groups, the largest first.

        The columns are ``row``, of the document that stands for a family, ``n``, the number of its documents,
        and ``groups``, the labels in order, the most frequent first.
        """
        known = pd.DataFrame({"row": found.original, "label": self.labels})[found.original >= 0]
        of_families = known.groupby("row")["label"]
        several = of_families.size()[of_families.nunique() > 1].sort_values(ascending=False, kind="stable")
        labels = [[*of_families.get_group(row).value_counts().index] for row in several.index]
        return pd.DataFrame({"row": several.index, "n": several.to_numpy(), "groups": labels})


def _checked(labels: Any, n_documents: int) -> "pd.Series[str]":
    """Return labels as text, by position; missing ones are empty."""
    is_sequence = hasattr(labels, "__iter__") and not isinstance(labels, str | bytes | Mapping)
    if not is_sequence or hasattr(labels, "columns"):
        raise InvalidValueError(
            "groups must be a sequence with a label for each document, got a "
            f"{type(labels).__name__}; give a list, or one column as in table['queue']."
        )
    given = pd.Series([*labels], dtype=object)  # whatever the index of a column
    if len(given) != n_documents:
        raise InvalidValueError(
            f"groups must have a label for each of {n_documents:,} documents, got {len(given):,}."
        )
    for position, label in enumerate(given):
        if not isinstance(label, str) and hasattr(label, "__iter__"):
            raise InvalidValueError(
                f"A group must be a text, number or date, got {type(label).__name__} at position {position}: "
                f"{label!r:.60}"
            )
    return given.where(given.notna(), "").map(str)


class _Group(NamedTuple):
    """The documents of a group, their marks by place, and what ranks them."""

    texts: list[str]
    marks: Mapping[int, str]
    pair: DetectorPair  # of words alone


class _RankedGroup(NamedTuple):
    """What is kept of a group once its documents are ranked; rows are numbered within the group."""

    table: pd.DataFrame  # `score` on the robust scale of the group, `p`, `words_of`, `is_near`
    explanations: dict[int, Explanation]  # of the documents that may be listed; 0 is the centre of the scores
    n_learned: int
    method: str


@dataclass(frozen=True)
class GroupRanker:
    """Ranks the documents of one group; it may run in a worker process."""

    rule: ListRule
    sample: int
    keep_copies: bool
    keep_marked: bool
    others: OtherWords | None = None  # the words of all groups

    def __call__(self, group: _Group) -> _RankedGroup:
        """Return the ranks of a group, and what makes those odd that may be listed."""
        texts, marks, pair = group
        source = TextSource.of(texts)
        found = survey(source, pair.surveyor(keep_copies=self.keep_copies), self.sample, 1, no_progress)
        if len(found.cleaned) < 2:
            missing = np.full(len(texts), np.nan)
            table = pd.DataFrame({"score": missing, "p": missing, "words_of": np.arange(len(texts))})
            table["is_near"] = False
            return _RankedGroup(table, {}, 0, "")
        scores = score_documents(
            source,
            found,
            pair,
            marks,
            keep_marked=self.keep_marked,
            jobs=1,
            progress=no_progress,
            others=self.others,
        )
        words = scores.words
        assert isinstance(words, LeftOut)
        listed = self.rule.listed(in_order(scores.table, "words", self.rule.alpha))
        raw = source.raw(listed["row"]).loc[listed["row"]].tolist()
        explained = words.explain_from_centre(raw, listed["words_of"], pair.cleaner)
        return _RankedGroup(
            scores.table[["p", "words_of", "is_near"]].assign(score=words.robust(scores.table["score"])),
            dict(zip(listed["words_of"], explained, strict=True)),
            words.n_learned,
            words.method,
        )


def score_in_groups(
    source: TextSource,
    found: Survey,
    pair: DetectorPair,
    groups: Groups,
    marks: Mapping[int, str],
    ranker: GroupRanker,
    *,
    jobs: int | str,
    progress: OnProgress,
) -> DocumentScores:
    """Score all documents: by words among those of their group, by form among all.

    A mark counts for the copies in its group.
    """
    original = groups.in_groups(found.original)
    marked = marked_originals(marks, original)
    mark_of = marked.reindex(original, fill_value="").tolist()
    of_copies = {row: mark for row, mark in enumerate(mark_of) if mark}
    progress("learning", 0, None)
    form, by_form = score_forms(source, found, pair, jobs, progress)
    missing = np.full(len(found.original), np.nan)
    scores = {"words": missing} if form is None else {"words": missing, "form": by_form}
    is_unranked = np.isin(original, () if ranker.keep_marked else marked.index)
    table = score_table(found, scores, 1.0, is_unranked).assign(mark=mark_of)
    table.loc[is_unranked, "p_form"] = np.nan
    explanations: dict[int, Explanation] = {}
    ranked_groups, rows_of, n_done = list[_RankedGroup](), groups.rows, 0
    with closing(results_of(ranker, _of_groups(source, rows_of, of_copies, pair), jobs)) as ranked_of:
        for rows, ranked in zip(rows_of, ranked_of, strict=False):
            ranked_groups.append(ranked)
            for name in ("score", "p", "is_near"):
                table.loc[rows, name] = ranked.table[name].to_numpy()
            table.loc[rows, "words_of"] = rows[ranked.table["words_of"]]
            explanations |= {int(rows[row]): of_row for row, of_row in ranked.explanations.items()}
            n_done += len(rows)
            progress("scoring", n_done, len(table))
    check_all_read(n_done, len(table))
    if form is None:
        table["form_of"] = table["words_of"]
    table["p_both"] = _p_both(table)
    learned = [ranked for ranked in ranked_groups if ranked.n_learned]
    if not learned:
        raise InvalidValueError("No group has 2 different documents with words; leave out the groups.")
    n_learned = sum(ranked.n_learned for ranked in learned)
    words = GroupedWords(n_learned, learned[0].method, explanations)
    return DocumentScores(table, words, form, marked, None, 1.0)


def _p_both(table: pd.DataFrame) -> "pd.Series[float]":
    """Return p by both: that of a document in its group, and that of its form in the file."""
    is_copy = table.duplicated(["words_of", "form_of"]).to_numpy()
    by_both = joined(table["p"].to_numpy(), table["p_form"].to_numpy())
    of_originals = pd.Series(p_values_within(np.where(is_copy, np.nan, by_both)), table.index)
    return of_originals.groupby([table["words_of"], table["form_of"]]).transform("first")


def _of_groups(
    source: TextSource,
    rows_of: Sequence[NDArray[np.int64]],
    marks: Mapping[int, str],
    pair: DetectorPair,
) -> Iterator[_Group]:
    """Yield the documents of each group; those of several groups are read together."""
    ends = np.cumsum([*map(len, rows_of)])
    begin = 0
    while begin < len(rows_of):
        n_before = ends[begin] - len(rows_of[begin])
        end = max(int(np.searchsorted(ends, n_before + _AT_A_TIME, side="right")), begin + 1)
        rows = np.sort(np.concatenate(rows_of[begin:end]))
        texts = list(source.at(rows))
        check_all_read(len(texts), len(rows))
        for number in range(begin, end):
            of_group = rows_of[number]
            places = np.searchsorted(rows, of_group).tolist()
            of_marks = {row: marks[own] for row, own in enumerate(of_group.tolist()) if own in marks}
            of_words = replace(pair, form=None).copy()
            yield _Group([texts[place] for place in places], of_marks, of_words)
        begin = end
