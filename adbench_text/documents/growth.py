"""What grew: subjects that a new file has more documents about than an old file.

A set of documents is chosen without looking at the file that a document is from. There are two kinds of sets:
documents with the same word, and clusters of similar documents (k-means on the directions of latent semantic
analysis, LSA; Deerwester et al., 1990). If no subject has grown, each file is a random part of all documents.
Then a set of k documents has at least n new ones with the probability P(X >= n), where X is binomial with k
trials and the share of new documents.

The smallest of many such p-values is small by chance. So the files are mixed at random many times, and the
smallest p of each time is kept: the adjusted p is the share of times in which it is at most as large
(Westfall and Young, 1993, section 2.2). It is exact for sets that overlap. Two kinds share the level, so
the adjusted p counts twice. If Bonferroni's bound is smaller, it replaces the share, which cannot be below 1
/ (1 + number of times).

The set with the smallest p is a group. Other sets that are significant join it if at least half of their new
documents are in it. Then the documents of the group are left out, and the next group is found among the rest,
until nothing is significant.

Near-copies count once, in both files. In the test, a random one of them counts, so that no file loses more of
them. `n` and `expected` count a family in each file that has it.

If senders are given, a set has one random document of each. A sender with many documents is in most sets, so
the share of new documents depends on the size of the set: in a set with a share r of all documents, a sender
with d documents is expected with the probability 1 - (1 - r)^d. Mixed files would separate the documents of a
sender, so that only Bonferroni's bound adjusts p.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import betainc

from adbench_text.calibration import LEAST_P, p_of_families
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.scores import TokenScore
from adbench_text.documents import OnProgress, no_progress
from adbench_text.documents.source import TextSource
from adbench_text.documents.terms import Terms, evidence_of, read_terms, stacked
from adbench_text.errors import InvalidValueError
from adbench_text.reading.batch import as_string
from adbench_text.text.copies import families

ALPHA = 0.05  # the default
LEAST = 20  # different documents with words in each file
_LEAST_SET = 3  # documents of a set
_N_TIMES = 400  # how often the files are mixed
_N_CLUSTERS = 7, 20, 60, 200, 600, 2000  # chosen on titles of Stack Overflow and on BANKING77
_LEAST_CLUSTER = 25  # mean number of documents in a cluster
_N_DIRECTIONS = 100  # of LSA
_N_LEARNED = 30_000  # documents that directions and clusters are learned from
_LEAST_RATIO = 1.5  # new documents of a group, divided by the expected number
_MOST_DILUTED = 3  # the ratio of the first set, divided by the ratio of the group
_SHARED = 0.5  # least share of the new documents of a set that are in a group, to join it
_N_WORDS = 8  # words that name a group
_LEAST_SHARE_OF_WORD = 0.1  # of the documents of a group
_LEAST_EVIDENCE = np.log(2)  # the word is twice as frequent as in the old file
_AT_A_TIME = 4_000_000  # entries of a matrix of random labels

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Group(NamedTuple):
    """Documents about a subject that grew."""

    n: int  #: number of different new documents; with senders, number of senders
    expected: float  #: number of new documents if the subject had its share in the old file
    p: float  #: adjusted for all sets
    words: list[str]  #: the words that say what it is, the strongest first
    rows: Rows  #: all new documents, with copies; the most typical first
    scores: dict[str, float]  #: evidence of each word for the group (a natural logarithm)


@dataclass(frozen=True)
class Growth:
    """The subjects that grew between two files.

    Attributes
    ----------
    groups : list of Group
        The groups, in the order in which they were found.
    n_old, n_new, n_both : int
        Numbers of different documents with words: in each file, and in both.
    words_of_old, words_of_new : float
        Median numbers of different words of a document.
    waves : DataFrame
        Families of near-copies that have an unusually large share of the new documents, the largest first:
        ``row`` (of the new file), ``n`` and ``n_old``.
    copy_of : int64 array of shape (n_new_documents,)
        For each new document, the earlier one that it is a copy or near-copy of, or -1.
    cleaners, cleaner_of
        The cleaners, and for each new document the number of its cleaner. `cleaner_of` is None if all
        documents have the first cleaner.
    """

    groups: list[Group]
    n_old: int
    n_new: int
    n_both: int
    words_of_old: float
    words_of_new: float
    waves: pd.DataFrame
    copy_of: Rows
    cleaners: Sequence[Cleaner]
    cleaner_of: Rows | None
    languages: Mapping[str, float]  # shares of the detected languages; empty if the language was given

    def token_scores(self, row: int, text: str, group: Group) -> list[TokenScore]:
        """Return the evidence of each word of a new document for a group; 0 for other words."""
        cleaner = self.cleaners[0 if self.cleaner_of is None else self.cleaner_of[row]]
        cleaned, spans = cleaner(text), cleaner.spans(text)
        scores = evidence_of([cleaned[span.start : span.end] for span in spans], group.scores)
        return [
            TokenScore(text[start:end], start, end, score)
            for (_, _, start, end), score in zip(spans, scores, strict=True)
        ]

    def table(self) -> pd.DataFrame:
        """Return the groups, see `grown_groups`."""
        columns = ["n", "expected", "p", "words", "rows"]
        table = pd.DataFrame([[getattr(group, name) for name in columns] for group in self.groups])
        table = table.set_axis(columns, axis=1) if len(table) else pd.DataFrame(columns=columns)
        table.insert(0, "group", range(1, len(table) + 1))
        return table


def grown_groups(
    old: Iterable[str],
    new: Iterable[str],
    *,
    language: str = "en",
    alpha: float = ALPHA,
    senders: tuple[Sequence[Any], Sequence[Any]] | None = None,
    seed: int = 0,
    jobs: int | str = 1,
    progress: OnProgress = no_progress,
) -> pd.DataFrame:
    """Return the subjects that are more frequent in `new` than in `old`.

    Parameters
    ----------
    old, new : iterables of str
        Documents, as they were written.
    language : str, default "en"
        Tag of their language, or ``"auto"`` to detect the language of each document.
    alpha : float, default 0.05
        The chance of one false group, if nothing has grown.
    senders : pair of sequences, optional
        The senders of the old and of the new documents. A sender counts once in a group. A missing or empty
        sender is unknown, and each such document counts.
    seed : int, default 0
        Seed of the random mixtures and of the clusters.
    jobs : int or str, default 1
        Number of processes, or address of a Dask scheduler.
    progress : callable, optional
        It receives the name of a stage, and numbers of documents.

    Returns
    -------
    DataFrame
        The groups of documents about one subject, the largest evidence first: ``group`` (from 1 on), ``n``
        (number of different new documents, or senders), ``expected`` (the number with the same share as in
        `old`), ``p`` (adjusted for all tested groups), ``words`` and ``rows`` (documents of `new`, the most
        typical first). It is empty if nothing has grown.

    Raises
    ------
    InvalidValueError
        If a value is wrong, or a file has fewer than 20 different documents with words.

    Examples
    --------
    >>> ships = ["ferry", "tug", "yacht", "barge", "liner", "trawler", "canoe", "frigate"]
    >>> places = ["pier", "quay", "dock", "lighthouse", "island", "harbour", "beach", "bridge"]
    >>> old = [f"A {ship} passed the {place} at {n}." for n, ship in enumerate(ships) for place in places]
    >>> smoke = [f"Smoke from the engine of the {ship} at the {each}" for ship, each in zip(ships, places)]
    >>> grown = grown_groups(old, old[::2] + smoke)
    >>> grown["n"].tolist(), sorted(grown["words"][0][:2])
    ([8], ['engine', 'smoke'])
    """
    return growth(
        *(old, new), language=language, alpha=alpha, senders=senders, seed=seed, jobs=jobs, progress=progress
    ).table()


def growth(
    old: Any,
    new: Any,
    *,
    language: str = "en",
    alpha: float = ALPHA,
    senders: tuple[Sequence[Any], Sequence[Any]] | None = None,
    seed: int = 0,
    jobs: int | str = 1,
    progress: OnProgress = no_progress,
) -> Growth:
    """Return the subjects that grew, and facts about both files; see `grown_groups`."""
    if not 0 < alpha < 1:
        raise InvalidValueError(f"alpha must be between 0 and 1, got {alpha!r}.")
    first, second = TextSource.of(old), TextSource.of(new)
    n_old = sum(1 for _ in first)
    terms = read_terms(lambda: chain(first, second), language, jobs, progress)
    both = _Both.of(terms, n_old, _numbered(senders, n_old, len(terms.keys) - n_old), seed)
    n_in_old, n_in_new = int(both.in_old.sum()), int(both.in_new.sum())
    for name, n in (("old", n_in_old), ("new", n_in_new)):
        if n < LEAST:
            raise InvalidValueError(
                f"At least {LEAST} different documents with words are needed in each file; the {name} one "
                f"has {n}. Near-copies count once."
            )
    progress("finding what grew", 0, None)
    kinds = [_Kind.of(sets, both, seed) for sets in (both.has_term.T, _clusters(both, seed))]
    n_words = np.diff(both.has_term.indptr)
    return Growth(
        groups=[both.group(members, p) for members, p in _grown(kinds, both.is_new, alpha)],
        n_old=n_in_old,
        n_new=n_in_new,
        n_both=int((both.in_old & both.in_new).sum()),
        words_of_old=float(np.median(n_words[both.in_old])),
        words_of_new=float(np.median(n_words[both.in_new])),
        waves=both.waves,
        copy_of=both.copy_of,
        cleaners=terms.cleaners,
        cleaner_of=None if terms.cleaner_of is None else terms.cleaner_of[n_old:],
        languages=terms.languages,
    )


def _numbered(senders: tuple[Sequence[Any], Sequence[Any]] | None, n_old: int, n_new: int) -> Rows | None:
    """Return a number for the sender of each document; each unknown sender has another number."""
    if senders is None:
        return None
    for name, given, n in zip(("old", "new"), senders, (n_old, n_new), strict=True):
        if len(given) != n:
            raise InvalidValueError(f"{len(given):,} senders were given for {n:,} {name} documents.")
    every = pd.Series([*senders[0], *senders[1]], dtype=object)
    # pandas makes 1 to 1.0 if a sender is missing
    names = every.where(every.notna(), None).map(lambda sender: (as_string(sender) or "").strip())
    is_known = names != ""
    numbers = pd.factorize(names)[0]
    return np.where(is_known, numbers, len(names) + np.arange(len(names)))


# -- sets of documents


@dataclass(frozen=True)
class _Both:
    """The different documents with words of both files, in random order."""

    has_term: "csr_array[Any]"  # of shape (n_documents, n_terms): ones
    terms: list[str]
    is_new: Mask  # whether the random document of a family is new
    in_old: Mask  # whether the old file has the document or a copy of it
    in_new: Mask
    sender: Rows | None  # a number for each document
    place_of: Rows  # for each row of both files: the document that counts for it, or -1 without words
    n_rows_of_old: int

    @classmethod
    def of(cls, terms: Terms, n_old: int, sender: Rows | None, seed: int) -> Self:
        """Choose a random document of each family of near-copies: the first one in a random order."""
        n = len(terms.keys)
        shuffled = np.random.default_rng(seed).permutation(n)
        shuffled = shuffled[(terms.keys[shuffled] > 0) & (np.diff(terms.has_term.indptr)[shuffled] > 0)]
        _, first, which = np.unique(terms.keys[shuffled], return_index=True, return_inverse=True)
        order = np.argsort(first)  # different texts, in random order
        representative = families(terms.sketches[shuffled[first[order]]])
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        representatives, place = np.unique(representative, return_inverse=True)
        rows = shuffled[first[order]][representatives]
        place_of = np.full(n, -1)
        place_of[shuffled] = place[number[which]]
        in_old, in_new = (np.zeros(len(rows), dtype=np.bool_) for _ in range(2))
        in_old[place_of[:n_old][place_of[:n_old] >= 0]] = True
        in_new[place_of[n_old:][place_of[n_old:] >= 0]] = True
        has_term = terms.has_term[rows]
        is_frequent = np.bincount(has_term.indices, minlength=has_term.shape[1]) >= _LEAST_SET
        return cls(
            has_term=csr_array(has_term[:, is_frequent]),
            terms=[term for term, is_in in zip(terms.terms, is_frequent, strict=True) if is_in],
            is_new=rows >= n_old,
            in_old=in_old,
            in_new=in_new,
            sender=None if sender is None else sender[rows],
            place_of=place_of,
            n_rows_of_old=n_old,
        )

    @property
    def n_new(self) -> int:
        """Number of different new documents."""
        return int(self.is_new.sum())

    @property
    def n_old(self) -> int:
        """Number of different old documents."""
        return len(self.is_new) - self.n_new

    @cached_property
    def directions(self) -> NDArray[np.float32]:
        """The directions of documents by LSA, of shape (n_documents, n_directions), with a length of 1.

        LSA learns from a sample of both files.
        """
        from sklearn.decomposition import TruncatedSVD

        n_with = np.bincount(self.has_term.indices, minlength=self.has_term.shape[1])
        weights = csr_array(self.has_term, copy=True)
        weights.data *= np.log(len(self.is_new) / n_with).astype(np.float32)[weights.indices]
        n = min(_N_DIRECTIONS, *(size - 1 for size in weights.shape))
        if n < 1:
            return np.zeros((len(self.is_new), 1), dtype=np.float32)
        analysis = TruncatedSVD(n, n_iter=3, random_state=0).fit(_of_length_1(weights[:_N_LEARNED]))
        directions: NDArray[np.float32] = _of_length_1(
            analysis.transform(_of_length_1(weights)).astype(np.float32)
        )
        return directions

    @property
    def copy_of(self) -> Rows:
        """For each new row: the first new row of its family; -1 for the first one, and without words."""
        place = self.place_of[self.n_rows_of_old :]
        _, first, which = np.unique(place, return_index=True, return_inverse=True)
        is_copy = (place >= 0) & (first[which] != np.arange(len(place)))
        return np.where(is_copy, first[which], -1)

    @property
    def waves(self) -> pd.DataFrame:
        """Families of near-copies with an unusually large share of the new documents, the largest first."""
        of_old, of_new = np.split(self.place_of, [self.n_rows_of_old])
        n_old, n = (
            np.bincount(places[places >= 0], minlength=len(self.is_new)) for places in (of_old, of_new)
        )
        large = np.flatnonzero(n + n_old >= _LEAST_SET)
        p = p_of_families(n[large], n_old[large], (n + n_old)[large], len(of_new), len(of_old))
        waves = large[p < LEAST_P]
        families_of_new, first_row = np.unique(of_new, return_index=True)
        rows = first_row[np.searchsorted(families_of_new, waves)]
        table = pd.DataFrame({"row": rows, "n": n[waves], "n_old": n_old[waves]})
        return table.sort_values(["n", "row"], ascending=[False, True], ignore_index=True)

    def counted(self, sets: "csr_array[Any]") -> "csr_array[Any]":
        """Return sets with the first document of each sender; documents are in random order."""
        if self.sender is None:
            return sets
        of_set = np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr))
        entries = pd.DataFrame({"set": of_set, "sender": self.sender[sets.indices], "place": sets.indices})
        entries = entries.sort_values(["set", "place"]).drop_duplicates(["set", "sender"])
        ones = np.ones(len(entries), np.float32)
        return csr_array((ones, (entries["set"], entries["place"])), shape=sets.shape)

    def expected_share(self, size: NDArray[Any]) -> NDArray[np.float64]:
        """Return the share of new documents that is expected in sets of so many documents."""
        if self.sender is None:
            return np.full(np.shape(size), self.n_new / len(self.is_new))
        senders = pd.DataFrame({"sender": self.sender, "is_new": self.is_new}).groupby("sender")["is_new"]
        kinds = senders.agg(["size", "mean"]).value_counts().reset_index()  # senders with the same documents
        n_senders = kinds["count"].to_numpy(dtype=np.float64)
        missing = 1 - np.asarray(size, dtype=np.float64)[:, None] / len(self.is_new)
        expected = n_senders * (1 - missing ** kinds["size"].to_numpy())
        n_new = (expected * kinds["mean"].to_numpy()).sum(axis=1)
        return np.asarray(n_new / np.maximum(expected.sum(axis=1), 1e-12))

    def n_counted(self, members: Mask) -> int:
        """Count documents, or their senders."""
        return len(np.unique(self.sender[members])) if self.sender is not None else int(members.sum())

    def expected(self, members: Mask) -> float:
        """Return the number of new documents that is expected from the old ones, or of their senders."""
        n_old = self.n_counted(members & self.in_old)
        if self.sender is None:
            return n_old * int(self.in_new.sum()) / max(int(self.in_old.sum()), 1)
        share = float(self.expected_share(np.array([members.sum()]))[0])
        return n_old * share / max(1 - share, 1e-12)

    def group(self, members: Mask, p: float) -> Group:
        """Describe a group, given its documents of both files and its adjusted p."""
        is_in = members & self.in_new
        n_with = np.asarray(self.has_term[is_in].sum(axis=0)).ravel()
        n_old_with = np.asarray(self.has_term[self.in_old].sum(axis=0)).ravel()
        share_in_group = n_with / is_in.sum()
        share_in_old = (n_old_with + 0.5) / (self.in_old.sum() + 1)  # above 0 for a new word, too
        evidence = np.log(np.maximum(share_in_group, 1e-12) / share_in_old)
        is_named = (n_with >= max(2, _LEAST_SHARE_OF_WORD * is_in.sum())) & (evidence > _LEAST_EVIDENCE)
        named = np.flatnonzero(is_named)
        named = named[np.argsort(-(n_with * evidence)[named], kind="stable")]
        centre = self.directions[is_in].mean(axis=0)
        rank = np.full(len(members), np.inf)
        rank[is_in] = np.argsort(np.argsort(-(self.directions[is_in] @ centre), kind="stable"))
        of_rows = np.append(rank, np.inf)[self.place_of[self.n_rows_of_old :]]  # the last place is for -1
        rows = np.flatnonzero(np.isfinite(of_rows))
        return Group(
            n=self.n_counted(is_in),
            expected=self.expected(members),
            p=p,
            words=[self.terms[term] for term in named[:_N_WORDS]],
            rows=rows[np.argsort(of_rows[rows], kind="stable")],
            scores={self.terms[term]: float(evidence[term]) for term in named},
        )


def _of_length_1(vectors: Any) -> Any:
    """Return vectors (rows) scaled to the length 1."""
    from sklearn.preprocessing import normalize

    return normalize(vectors)


def _clusters(both: _Both, seed: int) -> "csr_array[Any]":
    """Return the clusters of documents, coarse and fine ones: ones of shape (n_clusters, n_documents)."""
    from sklearn.cluster import MiniBatchKMeans

    n, sets = len(both.is_new), list[Any]()
    learned = both.directions[:_N_LEARNED]
    for k in _N_CLUSTERS:
        if k * _LEAST_CLUSTER > n or k > len(learned):
            break
        clustering = MiniBatchKMeans(k, n_init=1, batch_size=2048, random_state=seed).fit(learned)
        number = clustering.predict(both.directions)
        ones = np.ones(n, np.float32)
        sets.append(csr_array((ones, (number, np.arange(n))), shape=(k, n)))
    return stacked(sets, n)


# -- the test


@dataclass(frozen=True)
class _Kind:
    """Sets of one kind, and the smallest p of each random mixture of the files."""

    sets: "csr_array[Any]"  # ones, of shape (n_sets, n_documents)
    counted: "csr_array[Any]"  # the same, with one document of each sender
    expected_share: NDArray[np.float64]  # of new documents in each set
    smallest: NDArray[np.float64] | None  # None if the files cannot be mixed

    @classmethod
    def of(cls, sets: Any, both: _Both, seed: int) -> Self:
        """Return the sets that are large enough, with the smallest p-values that occur by chance.

        `sets` has ones, and the shape (n_sets, n_documents). With senders, files are not mixed: the documents
        of a sender belong together.
        """
        sets = csr_array(sets)
        counted = both.counted(sets)
        is_large = np.asarray(counted.sum(axis=1)).ravel() >= _LEAST_SET
        sets, counted = csr_array(sets[is_large]), csr_array(counted[is_large])
        expected_share = both.expected_share(np.asarray(sets.sum(axis=1)).ravel())
        smallest = None if both.sender is not None else _smallest_by_chance(counted, both, seed)
        return cls(sets, counted, expected_share, smallest)

    def p(self, is_new: Mask, rest: Mask) -> NDArray[np.float64]:
        """Return the p of each set among the documents that are left."""
        n_new = self.counted @ (is_new & rest).astype(np.float32)
        size = self.counted @ rest.astype(np.float32)
        # earlier groups took more new documents than they gained, so the share among the rest is too small
        of_rest = (is_new & rest).sum() / max(rest.sum(), 1) if self.smallest is not None else 0.0
        return _p_of_sets(n_new, size, np.maximum(self.expected_share, of_rest))

    def adjusted(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return p-values over all sets of this kind."""
        if self.smallest is None:
            return np.minimum(p * len(p), 1.0)
        n_as_small = np.searchsorted(self.smallest, p * (1 + 1e-9), side="right")
        by_mixing = (1 + n_as_small) / (1 + len(self.smallest))
        return np.minimum(by_mixing, p * len(p))


def _smallest_by_chance(counted: "csr_array[Any]", both: _Both, seed: int) -> NDArray[np.float64]:
    """Mix the files at random `_N_TIMES` times; return the smallest p of all sets each time, sorted.

    `counted` has ones, of shape (n_sets, n_documents). There are no senders, so the same share of new
    documents is expected in each set. The result is empty if there are no sets.
    """
    n, size_of_set = len(both.is_new), np.asarray(counted.sum(axis=1)).ravel()
    if not len(size_of_set):
        return np.empty(0)
    order = np.argsort(size_of_set, kind="stable")
    sizes, first_of_size = np.unique(size_of_set[order], return_index=True)
    by_size = counted[order]
    draw, share_of_new = np.random.default_rng(seed), both.n_new / n
    smallest = list[NDArray[np.float64]]()
    step = max(_AT_A_TIME // n, 1)
    for begin in range(0, _N_TIMES, step):
        is_new = np.zeros((n, min(step, _N_TIMES - begin)), np.float32)
        for column in is_new.T:
            column[draw.choice(n, both.n_new, replace=False)] = 1
        # of sets of the same size, the one with the most new documents has the smallest p
        most = np.maximum.reduceat(np.asarray(by_size @ is_new), first_of_size, axis=0)  # (n_sizes, n_times)
        smallest.append(_p_of_sets(most, sizes[:, None], share_of_new).min(axis=0))
    return np.sort(np.concatenate(smallest))


def _p_of_sets(n_new: NDArray[Any], size: NDArray[Any], share: Any) -> NDArray[np.float64]:
    """Return the chance of so many or more new documents in sets of these sizes; 1 if they are too few."""
    n, k = n_new.astype(np.float64), size.astype(np.float64)
    is_enough = n >= _LEAST_SET
    return np.where(is_enough, betainc(np.where(is_enough, n, 1), np.maximum(k - n + 1, 1), share), 1.0)


def _grown(kinds: Sequence[_Kind], is_new: Mask, alpha: float) -> Iterator[tuple[Mask, float]]:
    """Yield the documents of each group, in both files, and its adjusted p."""
    rest = np.ones(len(is_new), dtype=np.bool_)
    while True:
        of_kinds = [kind.p(is_new, rest) for kind in kinds]
        adjusted = [2 * kind.adjusted(p) for kind, p in zip(kinds, of_kinds, strict=True)]
        best_adjusted, _, number = min(
            (
                (p_adjusted.min(), p.min(), number)
                for number, (p_adjusted, p) in enumerate(zip(adjusted, of_kinds, strict=True))
                if len(p)
            ),
            default=(1.0, 1.0, 0),
        )
        if best_adjusted > alpha:
            return
        strongest = _places(kinds[number].sets, int(of_kinds[number].argmin()))
        members = np.zeros(len(is_new), dtype=np.bool_)
        members[strongest[rest[strongest]]] = True
        significant = [
            _places(kind.sets, place)
            for kind, values in zip(kinds, adjusted, strict=True)
            for place in np.flatnonzero(values <= alpha).tolist()
        ]
        _join(members, [places[rest[places]] for places in significant], is_new)
        yield members, min(float(best_adjusted), 1.0)
        rest &= ~members


def _join(members: Mask, sets: Sequence[Rows], is_new: Mask) -> None:
    """Add the sets whose new documents are mostly members to a group, until no more set joins.

    This changes `members`.

    `sets` are places of documents. A set does not join if it would dilute the group: the number of new
    documents, divided by the expected number, must stay at least 1.5 and a third of what it was at first. If
    it was below 1.5 at first, it must not fall.
    """
    n_new, n_old = int((members & is_new).sum()), int((members & ~is_new).sum())
    ratio_of_files = is_new.sum() / max((~is_new).sum(), 1)

    def ratio(n_new: int, n_old: int) -> float:
        """Return how many new documents there are, divided by the expected number."""
        return float(n_new / ((n_old + 0.5) * ratio_of_files))  # 0.5: finite without old documents

    first = ratio(n_new, n_old)
    least = min(first, max(_LEAST_RATIO, first / _MOST_DILUTED))
    waiting, n = list(sets), -1
    while len(waiting) != n:
        n = len(waiting)
        left = list[Rows]()
        for places in waiting:
            of_set = places[is_new[places]]
            added = places[~members[places]]
            n_added = int(is_new[added].sum())
            is_shared = members[of_set].sum() >= _SHARED * len(of_set)
            if is_shared and ratio(n_new + n_added, n_old + len(added) - n_added) >= least:
                members[added] = True
                n_new, n_old = n_new + n_added, n_old + len(added) - n_added
            else:
                left.append(places)
        waiting = left


def _places(sets: "csr_array[Any]", number: int) -> Rows:
    """Return the documents of a set."""
    return sets.indices[sets.indptr[number] : sets.indptr[number + 1]].astype(np.int64)
