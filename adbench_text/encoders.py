"""From texts to vectors: means of word vectors, and TF-IDF with truncated SVD.

What is fitted (inverse document frequencies, the SVD, local word vectors) is fitted on the
training texts alone. A fitted encoder and the vectors it made are kept for a while, so that all
detectors and configurations of one split share them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from adbench_text import text, vectors
from adbench_text.checks import check_boolean, check_choice, check_whole
from adbench_text.detector import TextDetector
from adbench_text.errors import InvalidValueError
from adbench_text.regimes import FROM_SCRATCH, WORDS
from adbench_text.shared import remember
from adbench_text.text import HashedTexts, count_words

Matrix = NDArray[np.float32]

METHODS = {
    "mean": "mean of the word vectors",
    "tfidf": "mean of the word vectors, weighted by TF-IDF",
    "max": "maximum of the word vectors in each dimension",
    "svd": "TF-IDF of the words, reduced by truncated SVD; needs no word vectors",
}


@dataclass(frozen=True)
class Encoding:
    """How texts become vectors; the hyper-parameters of an encoder."""

    method: str
    vectors: str
    normalize: bool
    svd_components: int
    seed: int

    @property
    def reads_file(self) -> bool:
        """Whether it needs a file of word vectors."""
        return self.method != "svd" and self.vectors != vectors.LOCAL


class Encoder:
    """An encoder fitted on training texts; get one from `fit_encoder`.

    Calling it with texts returns their vectors, float32 of shape (n_texts, n_dimensions). A text
    without one known word is the zero vector.
    """

    def __init__(self, encoding: Encoding, training: HashedTexts) -> None:
        self.encoding = encoding
        self._training = training
        if encoding.method == "svd":
            self._fit_svd()
        elif encoding.method == "tfidf":
            counts, vocabulary = count_words(training)
            frequency = np.diff(counts.tocsc().indptr)
            self._idf = dict(zip(vocabulary, self._smooth_idf(frequency), strict=True))

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Encode texts."""
        return _encode((self, HashedTexts(texts)))

    def encode(self, texts: HashedTexts) -> Matrix:
        """Encode texts anew."""
        encoded: NDArray[Any] = self._svd(texts) if self.encoding.method == "svd" else self._pooled(texts)
        if self.encoding.normalize:
            length = np.linalg.norm(encoded, axis=1, keepdims=True)
            encoded = encoded / np.where(length > 0, length, 1)
        encoded = encoded.astype(np.float32)
        encoded.flags.writeable = False  # shared between detectors
        return encoded

    def _smooth_idf(self, frequency: NDArray[Any]) -> NDArray[np.float64]:
        """Inverse document frequency as scikit-learn smooths it."""
        return np.log((1 + len(self._training)) / (1 + frequency)) + 1

    def _pooled(self, texts: HashedTexts) -> Matrix:
        counts, vocabulary = count_words(texts)
        known = vectors.load_or_train(self.encoding.vectors, vocabulary, self._training, self.encoding.seed)
        rows = known.rows(vocabulary)
        counts = counts[:, np.flatnonzero(rows >= 0)]
        matrix = known.matrix[rows[rows >= 0]]
        if self.encoding.method == "max":
            return _segment_max(counts, matrix)
        weights = counts.astype(np.float64)
        if self.encoding.method == "tfidf":
            unseen = float(self._smooth_idf(np.zeros(1))[0])
            idf = np.array([self._idf.get(word, unseen) for word in vocabulary[rows >= 0]])
            weights = weights.multiply(idf.reshape(1, -1)).tocsr()
        total = np.asarray(weights.sum(axis=1)).reshape(-1, 1)
        return cast(Matrix, (weights @ matrix) / np.where(total > 0, total, 1))

    def _fit_svd(self) -> None:
        self._tfidf = TfidfVectorizer(analyzer=text.words, sublinear_tf=True, dtype=np.float32)
        try:
            weights = self._tfidf.fit_transform(self._training)
        except ValueError as error:
            raise InvalidValueError("the encoder svd needs training texts with at least one word.") from error
        n_components = min(self.encoding.svd_components, *weights.shape)
        self._reduction = TruncatedSVD(n_components, random_state=self.encoding.seed).fit(weights)

    def _svd(self, texts: HashedTexts) -> Matrix:
        return cast(Matrix, self._reduction.transform(self._tfidf.transform(texts)))


def _segment_max(counts: Any, matrix: Matrix) -> Matrix:
    """Return the maximum over the words of each text, zeros for a text without a word."""
    result = np.zeros((counts.shape[0], matrix.shape[1]), dtype=np.float32)
    filled = np.flatnonzero(np.diff(counts.indptr))
    for chunk in np.array_split(filled, max(1, len(filled) // 1000)):
        if len(chunk):
            begin, end = counts.indptr[chunk[0]], counts.indptr[chunk[-1] + 1]
            starts = counts.indptr[chunk] - begin
            result[chunk] = np.maximum.reduceat(matrix[counts.indices[begin:end]], starts, axis=0)
    return result


def fit_encoder(encoding: Encoding, training: Sequence[str]) -> Encoder:
    """Return an encoder fitted on training texts; the last few are kept and shared."""
    return _fit_encoder((encoding, HashedTexts(training)))


@remember(8)
def _fit_encoder(key: tuple[Encoding, HashedTexts]) -> Encoder:
    return Encoder(*key)


@remember(16)  # training and test texts of each encoder; not in the encoder, which must stay picklable
def _encode(key: tuple[Encoder, HashedTexts]) -> Matrix:
    encoder, texts = key
    return encoder.encode(texts)


class VectorDetector(TextDetector):
    """A detector over document vectors: what `ocsvm`, `iforest` and PyOD's detectors share.

    Parameters
    ----------
    encoder : {"mean", "tfidf", "max", "svd"}, default "tfidf"
        How a text becomes a vector; see `METHODS`.
    vectors : str, default "glove-wiki-gigaword-50"
        Word vectors: a name that ``adbench-text list vectors`` shows, a path, or
        ``"fasttext-local"`` (trained on the training texts alone). The encoder ``svd`` needs none.
    normalize : bool, default True
        Scale every vector to length 1.
    svd_components : int, default 100
        Dimensions of the encoder ``svd``.
    """

    def __init__(
        self,
        *,
        encoder: str = "tfidf",
        vectors: str = "glove-wiki-gigaword-50",
        normalize: bool = True,
        svd_components: int = 100,
        **shared: Any,
    ) -> None:
        super().__init__(**shared)
        self.encoder = encoder
        self.vectors = vectors
        self.normalize = normalize
        self.svd_components = svd_components

    @property
    def _encoding(self) -> Encoding:
        seed = 0 if self.random_state is None else self.random_state
        return Encoding(self.encoder, self.vectors, self.normalize, self.svd_components, seed)

    def check_params(self) -> None:
        """Raise InvalidValueError if a hyper-parameter is out of range."""
        super().check_params()
        check_choice("encoder", self.encoder, METHODS)
        check_boolean("normalize", self.normalize)
        check_whole("svd_components", self.svd_components, least=1)
        vectors.check_name(self.vectors)

    @property
    def regime(self) -> str:
        """What it knows besides the training texts."""
        return WORDS if self._encoding.reads_file else FROM_SCRATCH

    def prepare(self, texts: Sequence[str]) -> None:
        """Read the vectors of all words of a corpus in one pass over the file."""
        if self._encoding.reads_file:
            vectors.load(self.vectors, count_words(texts).vocabulary)

    def resources(self) -> dict[str, str]:
        """Return the digest of the file of word vectors, if one is read."""
        if not self._encoding.reads_file:
            return {}
        return {"vectors": vectors.digest(self.vectors)}

    def _fit(self, texts: list[str]) -> None:
        self._encoder = fit_encoder(self._encoding, texts)
        self._fit_vectors(self._encoder(texts))

    def _score(self, texts: list[str]) -> NDArray[np.float64]:
        return self._score_vectors(self._encoder(texts))

    def _fit_vectors(self, X: Matrix) -> None:
        """Learn from the vectors of the training texts, of shape (n_train, n_dimensions)."""
        raise NotImplementedError

    def _score_vectors(self, X: Matrix) -> NDArray[np.float64]:
        """Score vectors; higher is more abnormal."""
        raise NotImplementedError
