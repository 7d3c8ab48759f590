"""Find documents that fit another group better than their own, by counts of words.

n_g(w) counts the word w in the documents of group g; c times in a document count as log2(1 + c). N_g is the
sum over all words, V the number of different words, and a the smoothing. The evidence of a document d for a
group g is a sum over its words:

    E_g(d) = sum over w of log[ (n_g(w) + a) / (N_g + a V) ]

The counts of the document's own group leave it out. It fits the group with the highest E_g. The difference
per word sorts the list:

    (max over g of E_g(d) - E_own(d)) / (length + median length / 2)

This is naive Bayes with the logarithm of term frequencies (Rennie et al., ICML 2003), with each document left
out. Stop words count, because words such as who and where separate groups of questions. They are dropped if
more documents fit their own group without them. The smoothing is the value of `_SMOOTHING` for which most
documents fit their own group. Both choices need only the labels of the groups, because few labels are wrong.

Even with random labels, many documents fit another group better. A permutation of the labels estimates how
many, with the same words and smoothing.

References
----------
J. D. M. Rennie, L. Shih, J. Teevan, D. R. Karger: Tackling the Poor Assumptions of Naive Bayes Text
Classifiers. ICML 2003.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import ceil
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack

from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.scores import TokenScore
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import Chunk, OnTexts, results_of
from adbench_text.documents.explanation import Explanation, explain
from adbench_text.documents.groups import Groups
from adbench_text.documents.parts import Parts
from adbench_text.documents.rule import ListRule
from adbench_text.documents.source import TextSource
from adbench_text.text.words import count_words, word_positions

_SMOOTHING = (0.01, 0.03, 0.1, 0.3, 1.0)
_N_TRIED = 5_000  # documents that choose the smoothing and the words
_SEED = 0  # for the random labels
_MOST_CELLS = 2**22  # documents times groups in memory

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


class _Counted(NamedTuple):
    """Counts of words, as log2(1 + c): a row for each document, a column for each word."""

    counts: "csr_array[Any]"
    words: list[str]


@dataclass(frozen=True)
class _Counter:
    """Counts the words of documents, as log2(1 + c). It may run in a worker process."""

    cleaner: Cleaner

    def __call__(self, texts: Sequence[str]) -> _Counted:
        counts, words = count_words(self.cleaner.cleaned(texts))
        of_logs = csr_array((np.log2(1.0 + counts.data), counts.indices, counts.indptr), shape=counts.shape)
        return _Counted(of_logs, words.tolist())


class Fits(NamedTuple):
    """How documents fit the groups, with one number for each document."""

    best: Rows  #: the best other group
    #: evidence for that group minus evidence for the own group, per word; NaN without words
    difference: Array

    def fill(self, places: Rows, of_some: "Fits") -> None:
        """Fill in how the documents at some places fit the groups."""
        self.best[places], self.difference[places] = of_some


@dataclass(frozen=True)
class GroupWords:
    """Counts of the words in each group."""

    number_of: dict[str, int]
    counts: "csr_array[Any]"  # of shape (n_words, n_groups)
    is_target: NDArray[np.bool_]  # for each group: whether documents may fit it
    median_length: float
    smoothing: float
    share_by_chance: float = np.nan  # share of documents that fit another group better with random labels

    @cached_property
    def _totals(self) -> Array:
        """The sum of the counts of all words, for each group."""
        return np.asarray(self.counts.sum(axis=0), np.float64)

    @cached_property
    def _bonus(self) -> "csr_array[Any]":
        """The evidence of each word of a group, minus the evidence of an unknown word."""
        return csr_array(
            (np.log1p(self.counts.data / self.smoothing), self.counts.indices, self.counts.indptr),
            shape=self.counts.shape,
        )

    def _unknown(self, totals: Array) -> Array:
        """Return the evidence of an unknown word for groups, given their totals."""
        return np.asarray(np.log(self.smoothing / (totals + self.smoothing * len(self.number_of))))

    def evidence(self, counts: "csr_array[Any]", own: Rows) -> tuple[Array, Array]:
        """Return E of all groups, and E of the own group without the document.

        `counts` has log2(1 + c) of the words of each document, and `own` the number of its group. E is a
        bonus for each known word, plus the evidence of an unknown word times the length.
        """
        lengths = np.asarray(counts.sum(axis=1), np.float64)
        of_groups = (counts @ self._bonus).toarray() + lengths[:, None] * self._unknown(self._totals)
        entries = np.bincount(
            _rows(counts), counts.data * np.log1p(self._left(counts, own) / self.smoothing), len(own)
        )
        of_own = entries + lengths * self._unknown(self._totals[own] - lengths)
        return of_groups, of_own

    def _left(self, counts: "csr_array[Any]", own: Rows) -> Array:
        """Return for each entry the count of its word in the own group, without the document."""
        return np.asarray(np.maximum(self._of_groups(counts, own) - counts.data, 0.0), np.float64)

    def _of_groups(self, counts: "csr_array[Any]", groups: Rows) -> Array:
        """Return for each entry the count of its word in the group that is given for its document."""
        if not counts.nnz:
            return np.empty(0)
        return np.asarray(self.counts[counts.indices, groups[_rows(counts)]], np.float64).ravel()

    def fits(self, counts: "csr_array[Any]", own: Rows) -> Fits:
        """Return the best other group of each document, and how much better it fits than the own group."""
        best, difference = np.empty(len(own), np.int64), np.empty(len(own))
        n_rows = max(_MOST_CELLS // self.counts.shape[1], 1)
        for begin in range(0, len(own), n_rows):
            block = slice(begin, begin + n_rows)
            of_groups, of_own = self.evidence(counts[block], own[block])
            of_groups[:, ~self.is_target] = -np.inf
            of_groups[np.arange(len(of_own)), own[block]] = -np.inf
            best[block] = of_groups.argmax(axis=1)
            difference[block] = of_groups.max(axis=1) - of_own
        lengths = np.asarray(counts.sum(axis=1), np.float64)
        per_word = difference / np.maximum(lengths + self.median_length / 2, 1)  # 0 if no document has words
        return Fits(best, np.where(lengths > 0, per_word, np.nan))

    def known(self, counted: _Counted) -> "csr_array[Any]":
        """Return counts of the words that the groups have, with a column for each."""
        numbers = np.array([self.number_of.get(word, -1) for word in counted.words], np.int64)
        return _renumbered(counted.counts, numbers, len(self.number_of))

    def token_scores(self, cleaned: Sequence[str], own: Rows, other: Rows) -> list[list[TokenScore]]:
        """Return the evidence of each word: for another group, minus the own group without the document."""
        counts = self.known(_Counter(Cleaner(None))(cleaned))
        lengths = np.asarray(counts.sum(axis=1), np.float64)
        base = self._unknown(self._totals[other]) - self._unknown(self._totals[own] - lengths)
        of_other, left = self._of_groups(counts, other), self._left(counts, own)
        scores = np.log1p(of_other / self.smoothing) - np.log1p(left / self.smoothing) + base[_rows(counts)]
        of_texts = list[list[TokenScore]]()
        for text, begin, end in zip(cleaned, counts.indptr[:-1], counts.indptr[1:], strict=True):
            entries = counts.indices[begin:end].tolist(), scores[begin:end].tolist()
            score_of = dict(zip(*entries, strict=True))
            of_texts.append(
                [
                    TokenScore(*word, score_of.get(self.number_of.get(word.word, -1), 0.0))
                    for word in word_positions(text)
                ]
            )
        return of_texts


@dataclass(frozen=True)
class Misfiled:
    """Documents that fit another group better than their own.

    Attributes
    ----------
    fits : Series of str
        By row: the group that a document fits better; missing if it fits its own group best.
    misfit : Series of float
        By row: the evidence for that group minus the evidence for its own group, per word (a natural
        logarithm); missing if the document fits its own group best.
    n_better, n_compared : int
        Number of different documents that fit another group better, and number of documents compared.
    n_by_chance : int
        Estimated number of documents that would fit another group better if labels were random.
    listed : DataFrame
        Different documents by `misfit`, the largest first: ``row``, ``group``, ``fits``, ``misfit``,
        ``text``, ``words`` (scores of the words, positive for the other group) and ``why`` (the words with
        the highest scores).
    """

    fits: "pd.Series[str]"
    misfit: "pd.Series[float]"
    n_better: int
    n_compared: int
    n_by_chance: int
    listed: pd.DataFrame


@dataclass(frozen=True)
class InGroups:
    """Findings about the groups of documents.

    Attributes
    ----------
    groups : Groups
        The group of each document.
    misfiled : Misfiled
        Documents that fit another group better than their own.
    contradictions : DataFrame
        Families of copies and near-copies with several groups, the largest first: ``row``, ``n`` (documents)
        and ``groups`` (labels, the most frequent first).
    """

    groups: Groups
    misfiled: Misfiled
    contradictions: pd.DataFrame

    @classmethod
    def of(
        cls,
        source: TextSource,
        parts: Parts,
        table: pd.DataFrame,
        groups: Groups,
        rule: ListRule,
        *,
        jobs: int | str,
        progress: OnProgress,
    ) -> "InGroups":
        """Find misfiled documents and contradictions, given the ranked documents in any order."""
        table = table.sort_values("row", ignore_index=True)
        # as many as are called odd, and at least `top`
        n_listed = max(ceil(rule.alpha * int(table["p"].notna().sum())), rule.top, 1)
        misfiled = misfiled_documents(source, parts, table, groups, n_listed, jobs, progress)
        # a family of a language may have documents in several groups
        return cls(groups, misfiled, groups.contradictions(parts.in_languages.representative))

    def with_group(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return documents with the column ``group``."""
        return table.assign(group=self.groups.labels[table["row"]].to_numpy())

    def with_columns(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return documents with the columns ``group``, ``fits`` and ``misfit``."""
        by_row: dict[str, pd.Series[Any]] = {"fits": self.misfiled.fits, "misfit": self.misfiled.misfit}
        columns = {name: of_rows[table["row"]].to_numpy() for name, of_rows in by_row.items()}
        return self.with_group(table).assign(**columns)


def misfiled_documents(
    source: TextSource,
    parts: Parts,
    table: pd.DataFrame,
    groups: Groups,
    n_listed: int,
    jobs: int | str,
    progress: OnProgress,
) -> Misfiled:
    """Return the documents that fit another group better, given the scores of all documents by row.

    A document whose words are all removed by the cleaning has no score; it is compared by its uncleaned
    words. Small groups are not compared. A document without a group may fit a group, but no document is said
    to fit the documents without a group.
    """
    # all small groups have the last number, and no name
    names, of_row = np.array([*groups.names, None], dtype=object), groups.of_rows
    representative, cleaner = parts.by_words.representative, parts.parts[0].pair.cleaner
    compared_for = np.where(representative < 0, table["row"], representative)
    is_compared = (representative == table["row"]) & (of_row < len(groups.names))
    rows = np.flatnonzero(is_compared)
    fits, misfit = (pd.Series(None, table["row"], dtype=dtype) for dtype in (object, np.float64))
    listed = pd.DataFrame({"row": rows[:0], "group": [], "fits": [], "misfit": []})
    if len(groups.names) < 2:
        return Misfiled(
            fits=fits,
            misfit=misfit,
            n_better=0,
            n_compared=0,
            n_by_chance=0,
            listed=listed.assign(text=[], words=[], why=[]),
        )
    is_target = np.array([name != "" for name in groups.names])
    words, of_compared = find_misfiled(source, rows, of_row[rows], is_target, cleaner, jobs, progress)
    best, difference = of_compared
    is_better = difference > 0
    fits[rows[is_better]] = names[best[is_better]]
    misfit[rows[is_better]] = difference[is_better]
    listed = pd.DataFrame(
        {"row": rows, "group": names[of_row[rows]], "fits": names[best], "misfit": difference}
    )
    is_unmarked = table["p"].notna() | (table["score"].isna() & (table["mark"] == ""))
    is_listed = is_better & is_unmarked.to_numpy()[rows]
    largest_first = np.argsort(-difference[is_listed], kind="stable")[:n_listed]
    own, other = of_row[rows][is_listed][largest_first], best[is_listed][largest_first]
    listed = listed[is_listed].iloc[largest_first].reset_index(drop=True)
    raw = source.raw(listed["row"])
    explained = explain(
        raw,
        _with_all_words(cleaner),
        lambda cleaned: words.token_scores(cleaned.tolist(), own, other),
        lambda cleaned: [[] for _ in cleaned],
        0.0,
    )
    of_words = pd.DataFrame(explained, columns=Explanation._fields, dtype=object)[["words", "why"]]
    n_compared = int(np.isfinite(difference).sum())
    return Misfiled(
        fits=fits[compared_for].set_axis(table["row"]),
        misfit=misfit[compared_for].set_axis(table["row"]),
        n_better=int(is_better.sum()),
        n_compared=n_compared,
        n_by_chance=round(words.share_by_chance * n_compared),
        listed=listed.assign(text=raw.tolist(), **of_words),
    )


def _with_all_words(cleaner: Cleaner) -> Cleaner:
    """Return a cleaner that also keeps stop words."""
    return Cleaner(cleaner.language, all_words=True)


@dataclass(frozen=True)
class _Fitter:
    """Finds the group that documents fit. It may run in a worker process."""

    counter: _Counter
    words: GroupWords

    def __call__(self, chunk: Chunk) -> Fits:
        """Return the groups that the documents of a chunk fit; its numbers are their own groups."""
        assert chunk.numbers is not None
        return self.words.fits(self.words.known(self.counter(chunk.texts)), chunk.numbers)


def find_misfiled(
    source: TextSource,
    rows: Rows,
    group_of: Rows,
    is_target: NDArray[np.bool_],
    cleaner: Cleaner,
    jobs: int | str,
    progress: OnProgress,
) -> tuple[GroupWords, Fits]:
    """Return the counts of words, and which other group each document fits best.

    If there are many documents, most are read twice. `rows` are different documents, in order, and `group_of`
    has their groups. `is_target` says for each group whether documents may fit it. Words that the cleaner
    removes count, too, unless more documents fit their own group without them.
    """
    counter = _Counter(_with_all_words(cleaner))
    of_all = _count(source, rows, group_of, len(is_target), counter, jobs, progress)
    is_left = np.array([bool(cleaner(word)) for word in of_all.words], np.bool_)
    counts, words = _most_own([of_all, of_all.of_words(is_left)], is_target)
    fits = Fits(np.zeros(len(rows), np.int64), np.full(len(rows), np.nan))
    fits.fill(counts.places, words.fits(counts.tried, counts.own))
    n_done, rest = 0, counts.rest
    chunks = source.chunks(rows[rest], group_of[rest])
    with closing(results_of(_Fitter(counter, words), chunks, jobs)) as of_chunks:
        for of_chunk in of_chunks:
            fits.fill(rest[n_done : n_done + len(of_chunk.best)], of_chunk)
            n_done += len(of_chunk.best)
            progress("comparing groups", n_done, len(rest))
    return words, fits


@dataclass(frozen=True)
class _Counts:
    """Counts of words: in the groups, in random groups, and in the documents that choose the smoothing."""

    words: list[str]
    of_groups: "csr_array[Any]"  # of shape (n_words, n_groups)
    by_chance: "csr_array[Any]"  # the same for random labels
    tried: "csr_array[Any]"  # of shape (n_tried, n_words)
    own: Rows  # groups of the tried documents
    own_by_chance: Rows  # their random groups
    places: Rows  # their places among all documents
    rest: Rows  # places of the other documents with words

    @cached_property
    def _number_of(self) -> dict[str, int]:
        """The number of each word: its row in `of_groups`."""
        return {word: number for number, word in enumerate(self.words)}

    def of_words(self, is_left: NDArray[np.bool_]) -> Self:
        """Return the counts of some words."""
        words = [word for word, is_in in zip(self.words, is_left, strict=True) if is_in]
        counts = self.of_groups[is_left], self.by_chance[is_left], self.tried[:, is_left]
        return replace(self, words=words, of_groups=counts[0], by_chance=counts[1], tried=counts[2])

    def model(self, is_target: NDArray[np.bool_], smoothing: float) -> GroupWords:
        """Return the counts of the groups, with a smoothing."""
        median = float(np.median(self.tried.sum(axis=1)))
        return GroupWords(
            self._number_of,
            self.of_groups,
            is_target=is_target,
            median_length=median,
            smoothing=smoothing,
        )


def _most_own(counted: list[_Counts], is_target: NDArray[np.bool_]) -> tuple[_Counts, GroupWords]:
    """Return the words and the smoothing for which most documents fit their own group."""
    models = [(counts, counts.model(is_target, value)) for counts, value in product(counted, _SMOOTHING)]

    def share_of_own(candidate: tuple[_Counts, GroupWords]) -> float:
        """Return the share of the tried documents that fit their own group."""
        counts, model = candidate
        return float((model.fits(counts.tried, counts.own).difference < 0).mean())

    counts, best = max(models, key=share_of_own)
    by_chance = replace(best, counts=counts.by_chance).fits(counts.tried, counts.own_by_chance)
    return counts, replace(best, share_by_chance=float((by_chance.difference > 0).mean()))


def _count(
    source: TextSource,
    rows: Rows,
    group_of: Rows,
    n_groups: int,
    counter: _Counter,
    jobs: int | str,
    progress: OnProgress,
) -> _Counts:
    """Count the words of the groups, and of random groups that show which documents seem misfiled by chance.

    Every n-th document with words is tried, about `_N_TRIED` in all; its counts are kept.
    """
    number_of: dict[str, int] = {}
    by_chance = np.random.default_rng(_SEED).permutation(group_of)
    groups = np.stack([group_of, by_chance + n_groups])  # a word counts for both groups of its document
    total = csr_array((0, 2 * n_groups))
    tried, with_words = list[tuple[Any, Rows]](), list[Rows]()
    step, n_done, n_with_words = max(len(rows) // _N_TRIED, 1), 0, 0
    with closing(results_of(OnTexts(counter), source.chunks(rows), jobs)) as counted:
        for counts, words in counted:
            numbers = np.array([number_of.setdefault(word, len(number_of)) for word in words], np.int64)
            of_entries = groups[:, n_done : n_done + counts.shape[0]][:, _rows(counts)]
            entries = np.tile(counts.data, 2), (np.tile(numbers[counts.indices], 2), of_entries.ravel())
            added = coo_array(entries, shape=(len(number_of), 2 * n_groups)).tocsr()
            total.resize(added.shape)
            total = total + added
            of_chunk = np.flatnonzero(np.diff(counts.indptr))
            # the first one to try is `step` documents after the last one of the chunk before
            tried.append((counts[of_chunk[-n_with_words % step :: step]], numbers))
            with_words.append(n_done + of_chunk)
            n_with_words += len(of_chunk)
            n_done += counts.shape[0]
            progress("counting words of groups", n_done, len(rows))
    renumbered = [_renumbered(counts, numbers, len(number_of)) for counts, numbers in tried]
    places = np.concatenate(with_words)
    return _Counts(
        words=[*number_of],
        of_groups=csr_array(total[:, :n_groups]),
        by_chance=csr_array(total[:, n_groups:]),
        tried=vstack(renumbered, format="csr"),
        own=group_of[places[::step]],
        own_by_chance=by_chance[places[::step]],
        places=places[::step],
        rest=np.delete(places, slice(None, None, step)),
    )


def _renumbered(counts: "csr_array[Any]", numbers: Rows, n_words: int) -> "csr_array[Any]":
    """Return counts with the words renumbered; a word with the number -1 is dropped."""
    columns, rows = numbers[counts.indices], _rows(counts)
    is_known = columns >= 0
    entries = counts.data[is_known], (rows[is_known], columns[is_known])
    return csr_array(coo_array(entries, shape=(counts.shape[0], n_words)))


def _rows(counts: "csr_array[Any]") -> Rows:
    """Return the row of each entry of a matrix."""
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
