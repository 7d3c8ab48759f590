"""Document vectors: encoders fitted on training documents, and shared by detectors.

Everything that is fitted (inverse document frequencies, the SVD, local word vectors) is fitted on the
training documents only. A fitted encoder and the vectors it made are remembered, so that all
detectors and configurations of one split share them.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn import decomposition  # noqa: F401  # for the encoder svd: loaded now, in no fit that is timed

from adbench_text.memo import remember
from adbench_text.text.encoders import Encoding, Matrix, find_method
from adbench_text.text.words import HashedTexts


class Encoder:
    """An encoder fitted on training documents; get one from `fit_encoder`.

    Calling it with documents returns their vectors, float32 of shape (n_texts, n_dimensions). A document
    without one known word is the zero vector.

    Examples
    --------
    >>> encoding = Encoding("svd", vectors="", normalize=True, svd_components=2, seed=0)
    >>> encoder = fit_encoder(encoding, ["ship and crew", "ship and sail", "crew and sail"])
    >>> encoder(["the crew of the ship", "court"]).shape
    (2, 2)
    """

    def __init__(self, encoding: Encoding, training: HashedTexts) -> None:
        self.encoding = encoding
        self._method = find_method(encoding.method)(encoding, training)

    @classmethod
    def _from_state(cls, encoding: Encoding, state: dict[str, Any]) -> Self:
        encoder = cls.__new__(cls)
        encoder.encoding = encoding
        encoder._method = find_method(encoding.method)._from_state(encoding, state)
        return encoder

    def _get_state(self) -> dict[str, Any]:
        return self._method._get_state()

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Encode documents."""
        return _encode((self, HashedTexts(texts)))

    def encode(self, texts: HashedTexts) -> Matrix:
        """Encode documents without looking up remembered vectors."""
        encoded = self._method.encode(texts)
        if self.encoding.normalize:
            length = np.linalg.norm(encoded, axis=1, keepdims=True)
            encoded = encoded / np.where(length > 0, length, 1)
        encoded = encoded.astype(np.float32)
        encoded.flags.writeable = False  # shared between detectors
        return encoded


def fit_encoder(encoding: Encoding, training: Sequence[str]) -> Encoder:
    """Return an encoder fitted on training documents; the last few are kept and shared."""
    return _fit_encoder((encoding, HashedTexts(training)))


@remember(8)
def _fit_encoder(key: tuple[Encoding, HashedTexts]) -> Encoder:
    return Encoder(*key)


@remember(16)  # training and test documents of each encoder; not in the encoder, which must stay picklable
def _encode(key: tuple[Encoder, HashedTexts]) -> Matrix:
    encoder, texts = key
    return encoder.encode(texts)
