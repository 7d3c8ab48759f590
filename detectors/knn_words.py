"""k nearest neighbours by cosine distance on TF-IDF word counts, without reduction or word vectors.

A document is abnormal if it shares few words with the nearest training documents. Its
score is the mean cosine distance to its k nearest training documents (as in PyOD's KNN with
``method="mean"``; Angiulli and Pizzuti, 2002). The weight of a word in a document is

    (1 + log n) * (log[(1 + N) / (1 + N_w)] + 1)

where n is the count of the word in the document, N the number of training documents, and N_w the number of
training documents with the word (scikit-learn's smoothed TF-IDF with sublinear counts, as in the encoder
``svd``). A word that no training document has gets N_w = 0: it matches nothing, but counts in the length of
the document. So a document without a known word has distance 1 from everything. With `characters`, character
n-grams replace words, so that parts of inflected and compound words match.

A short document shares less with its neighbours, whatever its topic. `adjusted` removes the effect of the
length: x is the logarithm of one more than the number of words, and b is the slope of the distance over x, by
least squares on the training documents. The score becomes

    distance - b (x - mean of x over the training documents)

where x is limited to the lengths of the training documents.

The sublinear counts were chosen on `pydocs` (seed 0, ``adbench-text run -d knn-words -s pydocs``): mean
AUROC 88.3 at 0 % of contamination and 84.2 at 10 %, against 86.9 and 83.3 with plain counts. k was chosen in
the same way: with 10 neighbours it is 88.5 and 83.6, with 40 it is 87.3 and 83.9.

References
----------
F. Angiulli, C. Pizzuti: Fast Outlier Detection in High Dimensional Spaces. PKDD 2002.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, diags_array
from sparse_dot_topn import sp_matmul_topn

from adbench_text.checks import Boolean, Range, Whole
from adbench_text.contract.detector import SharedParams, TextDetector, TokenScore
from adbench_text.detectors._references import places_of_references
from adbench_text.text.vocabulary import Vocabulary
from adbench_text.text.words import count_parts, count_words, parts_of, word_positions


class KNNWords(TextDetector):
    """k nearest neighbours on TF-IDF word counts; see the head of the module.

    Parameters
    ----------
    k : int, default 20
        Number of neighbours; all training documents if there are fewer.
    references : int or None, default None
        Number of training documents to search for neighbours, drawn by the seed; None for all. The time grows
        with this number times the number of documents to score.
    characters : int or None, default None
        Length of the character n-grams that replace words. A word gets a space at both ends: ``" sh"``,
        ``"shi"``, ``"hip"``, ``"ip "``. A shorter word is one n-gram. None for words.
    adjusted : bool, default False
        Whether to subtract the effect of the length of a document from its distance.
    contamination, random_state
        See `TextDetector`; only the references are random.

    Attributes
    ----------
    decision_scores_ : float64 array of shape (n_train,)
        Scores of the training documents; each is left out of its neighbours, and of the document frequencies
        that weight its words. The weights of its neighbours count all documents.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = KNNWords(k=5).fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "a court heard the witness"])
    >>> bool(far > near)
    True
    """

    name = "knn-words"
    ranges: ClassVar[Mapping[str, Range]] = {
        "k": Whole(1),
        "references": Whole(2, nullable=True),
        "characters": Whole(1, nullable=True),
        "adjusted": Boolean(),
    }
    leaves_out_self: ClassVar[bool] = True
    takes_labels: ClassVar[bool] = True  # a known outlier is never a neighbour
    trusted_types = frozenset({"adbench_text.detectors.knn_words._LengthEffect"})
    not_saved: ClassVar[frozenset[str]] = frozenset({"_places", "_of_training"})
    _effect: "_LengthEffect | None" = None  # models of older versions have none

    def __init__(
        self,
        *,
        k: int = 20,
        references: int | None = None,
        characters: int | None = None,
        adjusted: bool = False,
        **shared: Unpack[SharedParams],
    ) -> None:
        super().__init__(**shared)
        self.k = k
        self.references = references
        self.characters = characters
        self.adjusted = adjusted

    def _fit(self, texts: list[str]) -> None:
        counts, vocabulary = self._counted(texts)
        frequency = np.bincount(counts.indices, minlength=len(vocabulary))  # a word counts once per document
        self._vocabulary = Vocabulary(vocabulary)
        self._idf = np.log((1 + len(texts)) / (1 + frequency)) + 1
        self._idf_unknown = float(np.log(1 + len(texts)) + 1)
        self._places = places_of_references(len(texts), self.references, self.random_state)
        # of shape (n_words, n_references): a product with it has a column for each reference
        self._neighbours = self._vectors(texts, self._idf)[self._places].T.tocsr()
        self._of_training: NDArray[np.float64] | None = None  # computed at the first use
        # last, because the distances need all of the above
        self._effect = _LengthEffect.fit(texts, self._distances_left_out(texts)) if self.adjusted else None

    def _score(self, texts: list[str]) -> NDArray[np.float64]:
        return self._mean_distances(self._vectors(texts, self._idf)) - self._of_length(texts)

    def _score_training(self, texts: list[str]) -> NDArray[np.float64]:
        return self._distances_left_out(texts) - self._of_length(texts)

    def _distances_left_out(self, texts: list[str]) -> NDArray[np.float64]:
        """Return the distances of the training documents, each left out; they are computed only once."""
        if self._of_training is None:
            vectors = self._vectors(texts, self._idf_left_out(len(texts)))
            self._of_training = self._mean_distances(vectors, np.arange(len(texts)))
        return self._of_training

    def _of_length(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the part of the length in the distance of each document."""
        return np.zeros(len(texts)) if self._effect is None else self._effect.of(texts)

    def _idf_left_out(self, n: int) -> NDArray[np.float64]:
        # N - 1 documents, and N_w - 1 with the word: the words are as rare as in a new document
        one_more = (1 + n) / np.exp(self._idf - 1)
        return np.asarray(np.log(n / (one_more - 1)) + 1)

    def _counted(self, texts: list[str]) -> tuple["csr_array[Any]", NDArray[Any]]:
        """Return the counts of the terms of texts, of shape (n_texts, n_terms), and the terms."""
        counts, terms = count_words(texts) if self.characters is None else count_parts(texts, self.characters)
        return counts, terms

    def _vectors(self, texts: list[str], idf_of_known: NDArray[np.float64]) -> "csr_array[Any]":
        """Return unit vectors over the known words, of shape (n_texts, n_known), zeros without words.

        The vectors of documents with unknown words are shorter.
        """
        counts, vocabulary = self._counted(texts)
        columns = self._vocabulary.numbers(vocabulary)
        idf = np.where(columns >= 0, np.append(idf_of_known, 0.0)[columns], self._idf_unknown)
        tf = csr_array((1 + np.log(counts.data), counts.indices, counts.indptr), shape=counts.shape)
        weights = tf @ diags_array(idf)
        length = np.sqrt(weights.power(2).sum(axis=1))
        scaled = (diags_array(1 / np.where(length > 0, length, 1)) @ weights).tocoo()
        rows, words = scaled.coords
        is_known = columns[words] >= 0
        places = rows[is_known], columns[words[is_known]]
        return csr_array((scaled.data[is_known], places), shape=(len(texts), len(self._idf)))

    def _mean_distances(
        self, vectors: "csr_array[Any]", own: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return the mean cosine distance of each row to its nearest training documents; see `_nearest`."""
        nearest, k = self._nearest(vectors, own)
        # a single training document has no neighbours
        distances: NDArray[np.float64] = 1 - np.asarray(nearest.sum(axis=1)).ravel() / max(k, 1)
        return np.maximum(distances, 0)  # rounding may give -1e-16

    def _nearest(
        self, vectors: "csr_array[Any]", own: NDArray[np.int64] | None = None
    ) -> tuple["csr_matrix[Any]", int]:
        """Return the similarities of each row to its nearest training documents, and their number.

        With `own`, the rows are the training documents with these numbers. Then a document is not its own
        neighbour.
        """
        leave_out = own is not None
        k = min(self.k, self._neighbours.shape[1] - leave_out)
        # sparse: most training documents share no word with a document
        both = csr_matrix(vectors), csr_matrix(self._neighbours)
        nearest = sp_matmul_topn(*both, top_n=k + leave_out, sort=True, n_threads=1)
        if own is not None:
            rows = np.repeat(np.arange(nearest.shape[0]), np.diff(nearest.indptr))
            is_own = self._places[nearest.indices] == own[rows]
            has_own = np.bincount(rows[is_own], minlength=nearest.shape[0]) > 0
            # rows that are not references have one neighbour too many, the last
            is_last = np.arange(len(rows)) - nearest.indptr[rows] == k
            nearest.data[is_own | (is_last & ~has_own[rows])] = 0
        return nearest, k

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the part of each word in the distance; their mean is the score of the document.

        With the unit vector x of a document and the mean m of its neighbours, the distance is the sum of
        x_w (x_w - m_w) over its words. Words that no training document has share the rest equally, and all
        words share the effect of the length.
        """
        checked = self._check_fitted(texts)
        return self._token_scores(checked, self._vectors(checked, self._idf))

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the same for training documents; each is left out of its neighbours."""
        texts = self._texts_of_training()
        some = [texts[place] for place in places]
        vectors = self._vectors(some, self._idf_left_out(len(texts)))
        return self._token_scores(some, vectors, np.asarray(places, dtype=np.int64))

    def _token_scores(
        self, texts: list[str], vectors: "csr_array[Any]", own: NDArray[np.int64] | None = None
    ) -> list[list[TokenScore]]:
        nearest, k = self._nearest(vectors, own)
        nearest.data = (nearest.data > 0) / max(k, 1)
        parts = csr_array(vectors.power(2) - vectors.multiply(csr_array(nearest) @ self._neighbours.T))
        rest = 1 - vectors.power(2).sum(axis=1)
        scored, of_length = [], self._of_length(texts).tolist()
        for row, text in enumerate(texts):
            found = list(word_positions(text))
            n = self.characters
            terms = [[word.word] if n is None else parts_of(word.word, n) for word in found]
            numbers = [self._vocabulary.numbers(of_word).tolist() for of_word in terms]
            times = Counter(chain.from_iterable(numbers))
            entries = slice(parts.indptr[row], parts.indptr[row + 1])
            part_of = dict(zip(parts.indices[entries].tolist(), parts.data[entries].tolist(), strict=True))
            part_of[-1] = rest[row]  # of all unknown words together
            sums = [sum(part_of.get(each, 0.0) / times[each] for each in of_word) for of_word in numbers]
            scored.append(
                [
                    TokenScore(*word, len(found) * part - of_length[row])
                    for word, part in zip(found, sums, strict=True)
                ]
            )
        return scored


class _LengthEffect(NamedTuple):
    """A line through distances over the logarithm of the length; see the head of the module."""

    slope: float
    mean: float
    shortest: float
    longest: float

    @classmethod
    def fit(cls, texts: Sequence[str], distances: NDArray[np.float64]) -> Self:
        """Fit the line by least squares; if all documents have the same length, the effect is 0."""
        x = _log_lengths(texts)
        spread = x - x.mean()
        variance = float(spread @ spread)
        slope = float(spread @ distances) / variance if variance > 0 else 0.0
        return cls(slope, float(x.mean()), float(x.min()), float(x.max()))

    def of(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the effect of the length of each document."""
        x = np.clip(_log_lengths(texts), self.shortest, self.longest)
        return np.asarray(self.slope * (x - self.mean))


def _log_lengths(texts: Sequence[str]) -> NDArray[np.float64]:
    return np.log1p(np.asarray(count_words(texts).counts.sum(axis=1), dtype=np.float64))
