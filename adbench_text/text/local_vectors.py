"""Word vectors that gensim's FastText trains on the training documents; unknown words by subwords."""

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import check_shapes
from adbench_text.errors import InvalidValueError
from adbench_text.memo import remember
from adbench_text.text.vector_files import WordVectors
from adbench_text.text.words import HashedTexts
from adbench_text.text.words import words as words_of

_BUCKETS = 200_000  # gensim's two million, for all of Wikipedia, take 0.8 GB
_N_GRAMS = 3, 6  # shortest and longest subword


class LocalVectors:
    """Trained word vectors; get them from `train`.

    Parameters
    ----------
    vectors : gensim.models.fasttext.FastTextKeyedVectors
    """

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def vectors_of(self, words: Iterable[str]) -> WordVectors:
        """Return the vectors of these words."""
        listed = sorted(set(words))
        matrix = np.array([self._vectors[word] for word in listed], dtype=np.float32)
        return WordVectors(
            listed, matrix.reshape(-1, self._vectors.vector_size), np.arange(len(listed)), frozenset()
        )

    def _get_state(self) -> dict[str, NDArray[Any]]:
        return {
            "words": np.array(self._vectors.index_to_key, dtype=object),
            "vectors": self._vectors.vectors,
            "subwords": self._vectors.vectors_ngrams,
        }

    @classmethod
    def _from_state(cls, state: dict[str, NDArray[Any]]) -> "LocalVectors":
        from gensim.models.fasttext import FastTextKeyedVectors

        check_shapes(state, words="words", vectors="words dimensions", subwords=f"{_BUCKETS} dimensions")
        vectors, subwords = state["vectors"], state["subwords"]
        restored = FastTextKeyedVectors(vectors.shape[1], *_N_GRAMS, bucket=_BUCKETS)
        restored.index_to_key = state["words"].tolist()
        restored.key_to_index = {word: row for row, word in enumerate(restored.index_to_key)}
        restored.vectors, restored.vectors_ngrams = vectors, subwords
        return cls(restored)


def train(texts: Iterable[str], seed: int, n_dimensions: int = 100) -> LocalVectors:
    """Train word vectors on documents; the last ones are remembered.

    Raises
    ------
    InvalidValueError
        If the documents have no word.
    """
    return _train((HashedTexts(tuple(texts)), seed, n_dimensions))


@remember(1)  # training documents and test documents ask for it in turn
def _train(key: tuple[HashedTexts, int, int]) -> LocalVectors:
    from gensim.models import FastText

    texts, seed, n_dimensions = key
    logging.getLogger("gensim").setLevel(logging.ERROR)
    sentences = [words_of(text) for text in texts]
    if not any(sentences):
        raise InvalidValueError("fasttext-local needs training texts with at least one word.")
    model = FastText(
        sentences,
        vector_size=n_dimensions,
        min_count=1,
        epochs=5,
        min_n=_N_GRAMS[0],
        max_n=_N_GRAMS[1],
        bucket=_BUCKETS,
        seed=seed,
        workers=1,  # with several, the result depends on their timing
    )
    return LocalVectors(model.wv)
