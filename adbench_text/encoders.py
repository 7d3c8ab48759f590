"""From texts to vectors, and the detectors that work on vectors; the methods are in `encoder_methods`.

What is fitted (inverse document frequencies, the SVD, local word vectors) is fitted on the
training texts alone. A fitted encoder and the vectors it made are kept for a while, so that all
detectors and configurations of one split share them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import decomposition  # noqa: F401  # for the encoder svd: loaded now, in no fit that is timed

from adbench_text import vectors
from adbench_text.checks import check_boolean, check_whole
from adbench_text.detector import TextDetector
from adbench_text.encoder_methods import METHODS, Encoding, Matrix, find_method
from adbench_text.regimes import FROM_SCRATCH, WORDS
from adbench_text.shared import remember
from adbench_text.text import HashedTexts, count_words

__all__ = ["METHODS", "Encoder", "Encoding", "Matrix", "VectorDetector", "fit_encoder"]


class Encoder:
    """An encoder fitted on training texts; get one from `fit_encoder`.

    Calling it with texts returns their vectors, float32 of shape (n_texts, n_dimensions). A text
    without one known word is the zero vector.
    """

    def __init__(self, encoding: Encoding, training: HashedTexts) -> None:
        self.encoding = encoding
        self._method = find_method(encoding.method)(encoding, training)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Encode texts."""
        return _encode((self, HashedTexts(texts)))

    def encode(self, texts: HashedTexts) -> Matrix:
        """Encode texts anew."""
        encoded = self._method.encode(texts)
        if self.encoding.normalize:
            length = np.linalg.norm(encoded, axis=1, keepdims=True)
            encoded = encoded / np.where(length > 0, length, 1)
        encoded = encoded.astype(np.float32)
        encoded.flags.writeable = False  # shared between detectors
        return encoded


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
    encoder : str, default "tfidf"
        How a text becomes a vector; a name in `METHODS`.
    vectors : str, default "glove-wiki-gigaword-50"
        Word vectors: a name that ``adbench-text list vectors`` shows, a path, or
        ``"fasttext-local"`` (trained on the training texts alone). Some encoders need none.
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
        find_method(self.encoder)
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
