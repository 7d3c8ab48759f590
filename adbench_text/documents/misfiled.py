"""Documents that are closer to another group than to their own, by counts of words alone.

With n_g(w) the number of times that the documents of group g have a word (c times in a document count as
log2(1 + c)), N_g the sum over all words, V the number of different words and a the smoothing, a document d
with the words w has

    E_g(d) = sum over w of log[ (n_g(w) + a) / (N_g + a V) ]

where its own group has counts without the document. It fits the group with the highest E_g. The difference to
its own group, per word, orders the list:

    (max over g of E_g(d) - E_own(d)) / (length + median length / 2)

This is naive Bayes with the logarithm of term frequencies (Rennie et al., ICML 2003), and each document left
out. The smoothing is the one of `_SMOOTHING` by which most documents fit their own group. It needs no more
labels than the groups: few are wrong.

References
----------
J. D. M. Rennie, L. Shih, J. Teevan, D. R. Karger: Tackling the Poor Assumptions of Naive Bayes Text
Classifiers. ICML 2003.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.scores import TokenScore
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.explanation import Explanation, explain
from adbench_text.documents.groups import Groups
from adbench_text.documents.source import TextSource, check_all_read
from adbench_text.text.words import count_words, word_positions

_SMOOTHING = (0.01, 0.03, 0.1, 0.3, 1.0)
_N_TRIED = 5_000  # documents by which the smoothing is chosen
_MOST_CELLS = 2**22  # documents times groups that are in memory together

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


class _Counted(NamedTuple):
    counts: "csr_array[Any]"
    words: list[str]


@dataclass(frozen=True)
class _Counter:
    """Counts the words of documents, in log2(1 + c); it may run in a worker process."""

    cleaner: Cleaner

    def __call__(self, texts: list[str]) -> _Counted:
        counts, words = count_words([*map(self.cleaner, texts)])
        of_logs = csr_array((np.log2(1.0 + counts.data), counts.indices, counts.indptr), shape=counts.shape)
        return _Counted(of_logs, words.tolist())


class Fits(NamedTuple):
    """How documents fit the groups; one number each."""

    best: Rows  #: the group besides its own that a document fits best
    difference: Array  #: evidence for it less that for the own group, per word; above 0 if it fits better


@dataclass(frozen=True)
class GroupWords:
    """The words of groups, counted over their documents."""

    number_of: dict[str, int]
    counts: "csr_array[Any]"  # of shape (n_words, n_groups)
    is_target: NDArray[np.bool_]  # of each group: whether a document may be said to fit it
    median_length: float
    smoothing: float

    @cached_property
    def _totals(self) -> Array:
        return np.asarray(self.counts.sum(axis=0), np.float64)

    @cached_property
    def _bonus(self) -> "csr_array[Any]":
        """What a word of a group adds to the evidence of an unknown one."""
        return csr_array(
            (np.log1p(self.counts.data / self.smoothing), self.counts.indices, self.counts.indptr),
            shape=self.counts.shape,
        )

    def _unknown(self, totals: Array) -> Array:
        return np.asarray(np.log(self.smoothing / (totals + self.smoothing * len(self.number_of))))

    def evidence(self, counts: "csr_array[Any]", own: Rows) -> tuple[Array, Array]:
        """Return E of all groups, and E of the own one without the document, given counts of known words."""
        lengths = np.asarray(counts.sum(axis=1), np.float64)
        of_groups = (counts @ self._bonus).toarray() + lengths[:, None] * self._unknown(self._totals)
        entries = np.bincount(
            _rows(counts), counts.data * np.log1p(self._left(counts, own) / self.smoothing), len(own)
        )
        of_own = entries + lengths * self._unknown(self._totals[own] - lengths)
        return of_groups, of_own

    def _left(self, counts: "csr_array[Any]", own: Rows) -> Array:
        """Return the counts of the own group for each entry, without the document."""
        of_group = np.asarray(self.counts[counts.indices, own[_rows(counts)]], np.float64).ravel()
        return np.asarray(np.maximum(of_group - counts.data, 0.0), np.float64)

    def fits(self, counts: "csr_array[Any]", own: Rows) -> Fits:
        """Return which other group each document fits best, and by how much better than its own."""
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
        return Fits(best, difference / (lengths + self.median_length / 2))

    def known(self, counted: _Counted) -> "csr_array[Any]":
        """Return counts with a column for each word of the groups."""
        numbers = np.array([self.number_of.get(word, -1) for word in counted.words], np.int64)
        return _renumbered(counted.counts, numbers, len(self.number_of))

    def token_scores(self, cleaned: str, own: int, other: int) -> list[TokenScore]:
        """Return the evidence of each word of a document for another group, against its own without it."""
        counted = _Counter(Cleaner(None))([cleaned])
        counts = self.known(counted)
        left = self._left(counts, np.array([own]))
        of_other = np.asarray(self.counts[counts.indices, np.full(counts.nnz, other)]).ravel()
        lengths = float(counts.sum())
        base = self._unknown(self._totals[[other]])[0] - self._unknown(self._totals[[own]] - lengths)[0]
        scores = np.log1p(of_other / self.smoothing) - np.log1p(left / self.smoothing) + base
        score_of = dict(zip(counts.indices.tolist(), scores.tolist(), strict=True))
        return [
            TokenScore(*word, score_of.get(self.number_of.get(word.word, -1), 0.0))
            for word in word_positions(cleaned)
        ]


@dataclass(frozen=True)
class Misfiled:
    """Documents that fit another group better than their own.

    Attributes
    ----------
    fits : Series of str
        By row: the group that a document fits better; missing if there is none.
    listed : DataFrame
        Different documents by the difference, the largest first: ``row``, ``group``, ``fits``, ``difference``
        (of the evidence per word, a natural logarithm), ``text``, ``words`` (scores of the words: above 0 if
        they speak for the other group) and ``why`` (the words that speak most for it).
    """

    fits: "pd.Series[str]"
    listed: pd.DataFrame


def misfiled_documents(
    source: TextSource,
    table: pd.DataFrame,
    groups: Groups,
    cleaner: Cleaner,
    n_listed: int,
    jobs: int | str,
    progress: OnProgress,
) -> Misfiled:
    """Return the documents that fit another group better, given the scores of all by row.

    Groups that are too small to be ranked by themselves are no other group, and their documents are left out.
    Documents without a group may fit one, and no document fits these.
    """
    names, of_row = np.array([*groups.names, None], dtype=object), groups.of_rows
    is_compared = (table["words_of"] == table["row"]) & table["score"].notna() & (of_row < len(groups.names))
    rows = np.flatnonzero(is_compared)
    fits = pd.Series(None, table["row"], dtype=object)
    listed = pd.DataFrame({"row": rows[:0], "group": [], "fits": [], "difference": []})
    if len(groups.names) < 2:
        return Misfiled(fits, listed.assign(text=[], words=[], why=[]))
    is_target = np.array([name != "" for name in groups.names])
    words, found = find_misfiled(source, rows, of_row[rows], is_target, cleaner, jobs, progress)
    is_better = found.difference > 0
    fits[rows[is_better]] = names[found.best[is_better]]
    listed = pd.DataFrame(
        {"row": rows, "group": names[of_row[rows]], "fits": names[found.best], "difference": found.difference}
    )
    is_listed = is_better & table["p"].notna().to_numpy()[rows]
    order = np.argsort(-found.difference[is_listed], kind="stable")[:n_listed]
    own, other = of_row[rows][is_listed][order], found.best[is_listed][order]
    listed = listed[is_listed].iloc[order].reset_index(drop=True)
    raw = source.raw(listed["row"]).loc[listed["row"]]
    explained = explain(
        raw,
        cleaner,
        lambda cleaned: [*map(words.token_scores, cleaned, own.tolist(), other.tolist())],
        lambda cleaned: [[] for _ in cleaned],
        0.0,
    )
    of_words = pd.DataFrame(explained, columns=Explanation._fields, dtype=object)[["words", "why"]]
    of_originals = fits[table["words_of"]].set_axis(table["row"])
    return Misfiled(of_originals, listed.assign(text=raw.tolist(), **of_words))


@dataclass(frozen=True)
class _Fitter:
    """Says which group documents fit; it may run in a worker process."""

    counter: _Counter
    words: GroupWords

    def __call__(self, chunk: tuple[list[str], Rows]) -> Fits:
        texts, own = chunk
        return self.words.fits(self.words.known(self.counter(texts)), own)


def find_misfiled(
    source: TextSource,
    rows: Rows,
    group_of: Rows,
    is_target: NDArray[np.bool_],
    cleaner: Cleaner,
    jobs: int | str,
    progress: OnProgress,
) -> tuple[GroupWords, Fits]:
    """Return which group documents fit besides their own; they are read twice.

    `rows` are different documents with words, in order, and `group_of` is the group of each. `is_target` says
    of each group whether a document may be said to fit it.
    """
    counter = _Counter(cleaner)
    words = _count(source, rows, group_of, is_target, counter, jobs, progress)
    fits, n_done = list[Fits](), 0
    with closing(results_of(_Fitter(counter, words), _with_groups(source, rows, group_of), jobs)) as found:
        for of_chunk in found:
            fits.append(of_chunk)
            n_done += len(of_chunk.best)
            progress("comparing groups", n_done, len(rows))
    check_all_read(n_done, len(rows))
    return words, Fits(*map(np.concatenate, zip(*fits, strict=True)))


def _with_groups(source: TextSource, rows: Rows, group_of: Rows) -> Any:
    n_done = 0
    for texts in in_chunks(source.at(rows)):
        yield texts, group_of[n_done : n_done + len(texts)]
        n_done += len(texts)


def _count(
    source: TextSource,
    rows: Rows,
    group_of: Rows,
    is_target: NDArray[np.bool_],
    counter: _Counter,
    jobs: int | str,
    progress: OnProgress,
) -> GroupWords:
    """Count the words of groups, and choose the smoothing."""
    number_of: dict[str, int] = {}
    n_groups = len(is_target)
    total = csr_array((0, n_groups))
    lengths, tried, own_of_tried = list[Array](), list[Any](), list[Rows]()
    step, n_done = max(len(rows) // _N_TRIED, 1), 0
    with closing(results_of(counter, in_chunks(source.at(rows)), jobs)) as counted:
        for counts, words in counted:
            numbers = np.array([number_of.setdefault(word, len(number_of)) for word in words], np.int64)
            own = group_of[n_done : n_done + counts.shape[0]]
            entries = counts.data, (numbers[counts.indices], own[_rows(counts)])
            of_chunk = coo_array(entries, shape=(len(number_of), n_groups)).tocsr()
            total.resize(of_chunk.shape)
            total = total + of_chunk
            lengths.append(np.asarray(counts.sum(axis=1), np.float64))
            chosen = np.arange(-n_done % step, len(own), step)
            tried.append((counts[chosen], numbers))
            own_of_tried.append(own[chosen])
            n_done += len(own)
            progress("counting words of groups", n_done, len(rows))
    check_all_read(n_done, len(rows))
    median = float(np.median(np.concatenate(lengths)))
    own = np.concatenate(own_of_tried)
    some = [_renumbered(counts, numbers, len(number_of)) for counts, numbers in tried]
    models = [GroupWords(number_of, csr_array(total), is_target, median, each) for each in _SMOOTHING]
    return max(models, key=lambda model: _n_own(model, some, own_of_tried) / len(own))


def _n_own(model: GroupWords, counts: Sequence[Any], own: Sequence[Rows]) -> int:
    """Return the number of documents that fit their own group best."""
    return sum(int((model.fits(*each).difference < 0).sum()) for each in zip(counts, own, strict=True))


def _renumbered(counts: "csr_array[Any]", numbers: Rows, n_words: int) -> "csr_array[Any]":
    """Return counts with other numbers of words; those with -1 are left out."""
    columns, rows = numbers[counts.indices], _rows(counts)
    is_known = columns >= 0
    entries = counts.data[is_known], (rows[is_known], columns[is_known])
    return csr_array(coo_array(entries, shape=(counts.shape[0], n_words)))


def _rows(counts: "csr_array[Any]") -> Rows:
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
