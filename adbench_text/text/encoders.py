"""The ways from texts to vectors, one small class each, in one table.

To add an encoder, edit only this file: a subclass of `Method`, and its line in `METHODS`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import check_choice
from adbench_text.errors import InvalidValueError
from adbench_text.text import vectors
from adbench_text.text import words as text
from adbench_text.text.words import HashedTexts, count_words

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Encoding:
    """How documents become vectors; the hyper-parameters of an encoder."""

    method: str
    vectors: str
    normalize: bool
    svd_components: int
    seed: int

    @property
    def reads_file(self) -> bool:
        """Whether it needs a file of word vectors."""
        return find_method(self.method).needs_vectors and self.vectors != vectors.LOCAL


class Method(ABC):
    """A way from texts to vectors, fitted on training texts.

    Attributes
    ----------
    description : str
        Its description in the help of the command line.
    needs_vectors : bool
        Whether it uses word vectors.
    """

    description: ClassVar[str]
    needs_vectors: ClassVar[bool] = True

    @abstractmethod
    def __init__(self, encoding: Encoding, training: HashedTexts) -> None:
        """Fit on the training documents."""

    @abstractmethod
    def encode(self, texts: HashedTexts) -> NDArray[Any]:
        """Return vectors of shape (n_texts, n_dimensions), zeros for a document without a known word."""


class _Pooling(Method):
    """Combines the vectors of the known words of a document."""

    def __init__(self, encoding: Encoding, training: HashedTexts) -> None:
        self._encoding, self._training = encoding, training

    def encode(self, texts: HashedTexts) -> NDArray[Any]:
        """Look up the vectors of all words and combine those of each document."""
        counts, vocabulary = count_words(texts)
        loaded = vectors.load_or_train(
            self._encoding.vectors, vocabulary, self._training, self._encoding.seed
        )
        rows = loaded.rows(vocabulary)
        kept = np.flatnonzero(rows >= 0)
        return self._pool(counts[:, kept], vocabulary[kept], loaded.matrix[rows[kept]])

    @abstractmethod
    def _pool(self, counts: Any, words: NDArray[Any], matrix: Matrix) -> NDArray[Any]:
        """Combine word vectors (n_words, n_dimensions) by their counts (n_texts, n_words)."""


class Mean(_Pooling):
    """A word counts as often as it occurs in the document."""

    description = "mean of the word vectors"

    def _pool(self, counts: Any, words: NDArray[Any], matrix: Matrix) -> NDArray[Any]:
        return _weighted_mean(counts.astype(np.float64), matrix)


class TFIDF(_Pooling):
    """Inverse document frequencies are those of the training documents, smoothed as scikit-learn does."""

    description = "mean of the word vectors, weighted by TF-IDF"

    def __init__(self, encoding: Encoding, training: HashedTexts) -> None:
        super().__init__(encoding, training)
        counts, vocabulary = count_words(training)
        frequency = np.diff(counts.tocsc().indptr)
        self._idf = dict(zip(vocabulary, self._smooth_idf(frequency), strict=True))

    def _smooth_idf(self, frequency: NDArray[Any]) -> NDArray[np.float64]:
        return np.log((1 + len(self._training)) / (1 + frequency)) + 1

    def _pool(self, counts: Any, words: NDArray[Any], matrix: Matrix) -> NDArray[Any]:
        unseen = float(self._smooth_idf(np.zeros(1))[0])
        idf = np.array([self._idf.get(word, unseen) for word in words])
        return _weighted_mean(counts.astype(np.float64).multiply(idf.reshape(1, -1)).tocsr(), matrix)


class Max(_Pooling):
    """Takes the largest value of any word, dimension by dimension."""

    description = "maximum of the word vectors in each dimension"

    def _pool(self, counts: Any, words: NDArray[Any], matrix: Matrix) -> NDArray[Any]:
        result = np.zeros((counts.shape[0], matrix.shape[1]), dtype=np.float32)
        filled = np.flatnonzero(np.diff(counts.indptr))
        for chunk in np.array_split(filled, max(1, len(filled) // 1000)):
            if len(chunk):
                begin, end = counts.indptr[chunk[0]], counts.indptr[chunk[-1] + 1]
                starts = counts.indptr[chunk] - begin
                result[chunk] = np.maximum.reduceat(matrix[counts.indices[begin:end]], starts, axis=0)
        return result


class SVD(Method):
    """Both TF-IDF and the SVD are fitted on the training documents."""

    description = "TF-IDF of the words, reduced by truncated SVD; needs no word vectors"
    needs_vectors = False

    def __init__(self, encoding: Encoding, training: HashedTexts) -> None:
        # not above: the help of the command line reads the table and needs no scikit-learn
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._tfidf = TfidfVectorizer(analyzer=text.words, sublinear_tf=True, dtype=np.float32)
        try:
            weights = self._tfidf.fit_transform(training)
        except ValueError as error:
            raise InvalidValueError("the encoder svd needs training texts with at least one word.") from error
        n_components = min(encoding.svd_components, *weights.shape)
        self._reduction = TruncatedSVD(n_components, random_state=encoding.seed).fit(weights)

    def encode(self, texts: HashedTexts) -> NDArray[Any]:
        """Project TF-IDF weights on the components."""
        return cast(Matrix, self._reduction.transform(self._tfidf.transform(texts)))


METHODS: dict[str, type[Method]] = {"mean": Mean, "tfidf": TFIDF, "max": Max, "svd": SVD}


def find_method(name: Any) -> type[Method]:
    """Return a method by its name, or raise UnknownNameError."""
    check_choice("encoder", name, METHODS)
    return METHODS[name]


def _weighted_mean(weights: Any, matrix: Matrix) -> NDArray[Any]:
    """Return the mean of word vectors by sparse weights (n_texts, n_words), zeros for a row of zeros."""
    total = np.asarray(weights.sum(axis=1)).reshape(-1, 1)
    return cast(NDArray[Any], (weights @ matrix) / np.where(total > 0, total, 1))
