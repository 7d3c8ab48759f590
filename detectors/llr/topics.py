"""Several topics: a unigram model for each group of training documents; the best one judges a document.

n_j(w) is the count of a word in the documents of topic j, N_j their number of words, q(w) the background
frequency, and a the smoothing in words. A topic, and its evidence for a document with the counts n(w), are

    p_j(w) = (n_j(w) + a q(w)) / (N_j + a)        sum over w of n(w) min(log[ p_j(w) / q(w) ], cap)

The highest evidence counts. The prior of a topic is the background, not the model of all documents. So a
small topic knows little, and its evidence is close to 0. The groups start as the clusters of k-means on the
truncated SVD of TF-IDF counts; then each document moves to its best topic, up to three times (hard EM). A
training document is judged by the counts of the others, but had a part in the start, so its score is slightly
too low.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adbench_text.detectors.llr.mixture import Counts, Mask, cap_of
from adbench_text.one_thread import one_thread

Array = NDArray[np.float64]
Groups = NDArray[np.int64]

DOCUMENTS_OF_A_TOPIC = 100  # at least, on average
_DIMENSIONS = 50  # of the space of k-means
_ROUNDS = 3
_FEW = 0.001  # share of documents: if fewer move, the groups are final


class Judged(NamedTuple):
    """The evidence of documents, and of each entry of their counts: a word in a document.

    The shapes are (n_texts,) and (n_entries,).
    """

    sums: Array
    entries: Array

    def put(self, chosen: Mask, rows: NDArray[np.int64], judged: "Judged") -> None:
        """Fill in the results for the chosen documents; `rows` has for each entry its document."""
        self.sums[chosen] = judged.sums
        self.entries[chosen[rows]] = judged.entries


def mean_of(judged: Sequence[Judged]) -> Judged:
    """Return the mean of the evidence by models with several numbers of topics."""
    return Judged(*(np.mean(each, axis=0) for each in zip(*judged, strict=True)))


class Topics:
    """The models of the topics of training documents."""

    def __init__(
        self,
        counts: Counts,  # of the training documents
        background: Array,  # (n_words,), frequencies of their words
        smoothing: float,  # words of background in each model
        cap: float,  # largest evidence of a word
        capped: float,  # if above 0, the cap is the evidence that this share of the words reaches
        n: int,  # number of topics
        seed: int | None,  # of the start
    ) -> None:
        self._smoothing, self._cap = smoothing, np.inf
        self._learn(counts, _clusters(counts, n, seed), n)
        for _ in range(_ROUNDS if n > 1 else 0):
            before = self._topic
            sums, _, _ = self._left_out(counts, background, before)
            self._learn(counts, sums.argmax(axis=1), n)
            if (self._topic != before).mean() < _FEW:
                break
        if capped:
            dense = self._counts.toarray()
            cap = cap_of(self._evidence(dense, self._totals[:, None], background), dense, capped)
        self._cap = cap

    def _learn(self, counts: Counts, topic: Groups, n: int) -> None:
        """Count the words of n topics, given the number of the topic of each document."""
        self._topic = topic
        documents = np.arange(len(topic))
        members = csr_array((np.ones(len(topic)), (topic, documents)), shape=(n, len(topic)))
        self._counts = csr_array(members @ counts.matrix)  # n_j(w), of shape (n_topics, n_words)
        self._totals = np.asarray(self._counts.sum(axis=1), dtype=np.float64)  # N_j, of shape (n_topics,)

    def _evidence(self, counts: Array, totals: Array, background: Array) -> Array:
        share = (counts / background + self._smoothing) / (totals + self._smoothing)
        return np.asarray(np.minimum(np.log(share), self._cap), dtype=np.float64)

    def judged(self, counts: Counts, rows: NDArray[np.int64], background: Array) -> Judged:
        """Judge documents by the topics; the best topic of a document judges it.

        `rows` has for each column of `counts` the number of its word among the training words, -1 for an
        unknown one. `background` has the frequencies of these words.
        """
        known = np.zeros((len(self._totals), len(rows)))
        known[:, rows >= 0] = self._counts[:, rows[rows >= 0]].toarray()
        evidence = self._evidence(known, self._totals[:, None], background)
        sums = np.asarray(counts.matrix @ evidence.T, dtype=np.float64)
        best = sums.argmax(axis=1)
        return Judged(sums.max(axis=1), evidence[best[counts.rows], counts.columns])

    def judged_left_out(self, counts: Counts, background: Array, places: Any = slice(None)) -> Judged:
        """Judge training documents, each left out of the counts of its topic.

        `counts` has a row for each of these documents. `places` are their positions among all documents that
        the topics learned from, or a slice; by default they are all of these.
        """
        own = self._topic[places]
        sums, evidence, left_out = self._left_out(counts, background, own)
        best = sums.argmax(axis=1)
        entries = np.where((best == own)[counts.rows], left_out, evidence[best[counts.rows], counts.columns])
        return Judged(sums.max(axis=1), entries)

    def _left_out(self, counts: Counts, background: Array, own: Groups) -> tuple[Array, Array, Array]:
        """Return the evidence of training documents, of words and of entries.

        `own` has the topic of each document of `counts`. The results are:

        - the evidence of each document for each topic, (n_texts, n_topics). For its own topic, the document
          is left out of the counts
        - the evidence of each word for each topic, (n_topics, n_words), by all counts
        - the evidence of each entry for the topic of its document, (n_entries,), by counts without this
          document
        """
        of_words = self._counts.toarray()
        evidence = self._evidence(of_words, self._totals[:, None], background)
        sums = np.asarray(counts.matrix @ evidence.T, dtype=np.float64)
        topic = own[counts.rows]
        left_out = self._evidence(
            of_words[topic, counts.columns] - counts.values,
            self._totals[topic] - counts.lengths[counts.rows],
            background[counts.columns],
        )
        sums[np.arange(len(sums)), own] = counts.sums(left_out)
        return sums, evidence, left_out


def _clusters(counts: Counts, n: int, seed: int | None) -> Groups:
    """Return the cluster of each document by k-means on the truncated SVD of its TF-IDF counts."""
    n_texts, n_words = counts.matrix.shape
    is_shared = np.bincount(counts.columns, minlength=n_words) > 1
    if n == 1 or is_shared.sum() <= n:
        return np.zeros(n_texts, dtype=np.int64)
    # imported here, because a single topic needs no scikit-learn
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    # the clusters depend on the order of the documents, so sort these by a random number for each word
    order = np.argsort(counts.matrix @ np.random.default_rng(0).random(n_words))
    shared = counts.matrix[order][:, np.flatnonzero(is_shared)]
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(shared)
    reduction = TruncatedSVD(min(_DIMENSIONS, min(tfidf.shape) - 1), random_state=seed)
    with one_thread():  # more threads would change the rounding, and with it the clusters
        reduced = normalize(reduction.fit_transform(tfidf))
        clusters = KMeans(n, n_init=2, random_state=seed).fit_predict(reduced)
    return np.asarray(clusters[np.argsort(order)], dtype=np.int64)
