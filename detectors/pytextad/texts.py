"""The detectors of PyTextAD that need an adapter of their own: ADERH, and DATE and CVDD, which read texts."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.checks import Range, Whole
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.escaping import without_surrogates
from adbench_text.plugins.detector import Scores
from adbench_text.plugins.pyod_detector import PyODDetector, WrappedDetector
from adbench_text.plugins.scores import TEST_BATCH, WORDS
from adbench_text.text import vectors, wordpiece
from adbench_text.text.words import count_words
from adbench_text.text.words import words as words_of


class PyTextADADERH(PyODDetector):
    """ADERH: its density weights count the vectors that are scored together."""

    regime = TEST_BATCH


class _PyTextADDetector(WrappedDetector):
    """Base of the two adapters: hyper-parameters have the names and defaults of PyTextAD, except for `fixed`.

    With a ``random_state`` a detector also scores with this seed.
    """

    fixed: ClassVar[frozenset[str]] = frozenset({"contamination", "random_state", "verbose"})

    def resources(self) -> dict[str, str]:
        """Return the version of PyTextAD, and digests of the files that are read."""
        return {**super().resources(), "pytextad": version("pytextad")}

    def _fit_wrapped(self, X: Any, **fixed: Any) -> None:
        with self._called():
            # contamination is not passed on: the threshold is ours
            self._detector = self.wrapped(**self._params, **fixed, random_state=self.random_state)
            self._detector.fit(X)
        self.ran_on_ = {"device": str(self._detector.device)}

    def _score_wrapped(self, X: Any) -> Scores:
        with self._called():
            return np.asarray(self._detector.decision_function(X), dtype=np.float64)


class PyTextADDATE(_PyTextADDetector):
    """PyTextAD's DATE, with the file of BERT's vocabulary that our DATE reads.

    A document without a word piece, for which PyTextAD has no score, gets the median of the training scores.
    ``tokenizer`` and ``cache_dir`` cannot be set, which download files, nor ``masks``, which reads a pickle.
    """

    fixed = _PyTextADDetector.fixed | {"tokenizer", "cache_dir", "masks"}

    def prepare(self, texts: Sequence[str]) -> None:
        """Raise DataError if the file of BERT's vocabulary is missing."""
        _vocabulary()

    def resources(self) -> dict[str, str]:
        """Return the version of PyTextAD and the digest of BERT's vocabulary."""
        return {**super().resources(), "vocabulary": storage.file_digest(_vocabulary())[:16]}

    def _fit(self, texts: list[str]) -> None:
        self._fit_wrapped([without_surrogates(text) for text in texts], tokenizer=str(_vocabulary()))
        training = self._detector.decision_scores_
        self._median = float(np.nanmedian(training)) if np.isfinite(training).any() else 0.0

    def _score(self, texts: list[str]) -> Scores:
        scores = self._score_wrapped([without_surrogates(text) for text in texts])
        return np.where(np.isnan(scores), self._median, scores)


def _vocabulary() -> Path:
    path = wordpiece.BERT_FILE.local
    if not wordpiece.BERT_FILE.is_here:
        raise DataError(
            f"The vocabulary {wordpiece.BERT} is not at {path}. Run: adbench-text fetch {wordpiece.FETCHED}"
        )
    return path


class PyTextADCVDD(_PyTextADDetector):
    """PyTextAD's CVDD on word vectors; a document has the words of our CVDD.

    A document without a known word has a distance of 1/2 from every context. In training it is left out.

    Parameters
    ----------
    vectors : str, default "glove-wiki-gigaword-50"
        Word vectors: a name that ``adbench-text list vectors`` shows, or a path.
    min_count : int, default 3
        Minimum number of times that a known word occurs in the training documents; 0 for every word with a
        vector.
    """

    ranges: ClassVar[Mapping[str, Range]] = {"vectors": vectors.VECTORS, "min_count": Whole(0)}

    def __init__(self, *, vectors: str = "glove-wiki-gigaword-50", min_count: int = 3, **params: Any) -> None:
        super().__init__(**params)
        self.vectors = vectors
        self.min_count = min_count

    def prepare(self, texts: Sequence[str]) -> None:
        """Read the file of word vectors."""
        vectors.load(self.vectors)

    def resources(self) -> dict[str, str]:
        """Return the version of PyTextAD, and the digest of the file of word vectors."""
        return {**super().resources(), "vectors": vectors.digest(self.vectors)}

    @property
    def regime(self) -> str:
        """Knowledge besides the training documents."""
        return WORDS

    def _fit(self, texts: list[str]) -> None:
        counts, vocabulary = count_words(texts)
        often = np.asarray(counts.sum(axis=0)).ravel() >= self.min_count
        # None: every word with a vector is known
        self._known = frozenset(vocabulary[often]) if self.min_count else None
        documents = [matrix for matrix in self._matrices(texts) if len(matrix)]
        n_heads = self.get_params()["n_heads"]
        if len(documents) < n_heads:
            raise InvalidValueError(
                f"n_heads={n_heads} needs as many training texts with a known word, got {len(documents)}; "
                f"lower it, or min_count={self.min_count}."
            )
        self._fit_wrapped(documents)

    def _score(self, texts: list[str]) -> Scores:
        matrices = self._matrices(texts)
        rows = [row for row, matrix in enumerate(matrices) if len(matrix)]
        scores = np.full(len(texts), 0.5)
        if rows:
            scores[rows] = self._score_wrapped([matrices[row] for row in rows])
        return scores

    def _matrices(self, texts: list[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of the known words of each document, in their order."""
        loaded = vectors.load(self.vectors)
        known = [[word for word in words_of(text) if self._is_known(word)] for text in texts]
        rows = [loaded.rows(words) for words in known]
        return [loaded.matrix[each[each >= 0]] for each in rows]

    def _is_known(self, word: str) -> bool:
        return self._known is None or word in self._known
