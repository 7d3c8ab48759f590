"""Contrast: far from the training documents, and near to a bank of other texts.

With the cosine similarity of document vectors, the score of a document is

    (1 - mean similarity to its nearest training documents)
        + weight * mean similarity to its nearest documents of the bank

The first part is the distance to the nearest neighbours (Angiulli and Pizzuti, 2002). The second part
separates what is rare in the training documents from what is usual elsewhere. It helps if the bank is near
in register: news for news, but not of the source that is tested.

At most 20,000 training documents and as many of the bank are searched, drawn by the seed, so that the time
grows with the number of documents.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from adbench_text import storage
from adbench_text.checks import Number, Range, Whole
from adbench_text.detectors._neighbours import drawn, nearest
from adbench_text.errors import AdbenchTextError, DataError, InvalidValueError, PluginError
from adbench_text.plugins.scores import BANK, Scores
from adbench_text.plugins.vector_detector import VectorDetector
from adbench_text.text.cleaning import clean
from adbench_text.text.encoders import Matrix, find_method
from adbench_text.text.reading import DocumentFile

# no paper contains it
CITATION = "adbench-text, see CITATION.cff"


class _TextFile(Range):
    """Paths of files of texts."""

    _suffixes = ".csv", ".jsonl", ".parquet", ".tsv", ".txt"
    text = f"the path of a file of texts ({', '.join(_suffixes)})"

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, str) and Path(value).suffix.lower() in self._suffixes


class Contrast(VectorDetector):
    """Distance to the nearest training documents, and nearness to a bank of other texts.

    See the head of the module.

    Parameters
    ----------
    bank : str or None, default None
        File of other texts in English, on any topic: plain lines (.txt), or CSV, TSV, JSON lines or Parquet
        with a column ``text``. It is cleaned as the corpora are. Without one the detector cannot be fitted.
    neighbours : int, default 20
        Number of nearest training documents, and of nearest documents of the bank; all if there are fewer.
    weight : float, default 0.5
        Weight of the similarity to the bank, at least 0.
    encoder : str, default "minilm"
        See `VectorDetector`, as for the other parameters of the vectors.
    contamination, random_state
        See `TextDetector`; the seed draws the documents that are searched.

    Attributes
    ----------
    decision_scores_ : float64 array of shape (n_train,)
        Scores of the training documents; none is its own neighbour.

    Examples
    --------
    >>> from adbench_text.detectors.contrast import Contrast
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> settings = {**Contrast.test_settings, "encoder": "svd"}
    >>> near, far = Contrast(**settings).fit(sea).decision_function(["the ship and its crew", "a court"])
    >>> bool(far > near)
    True
    """

    ranges: ClassVar[Mapping[str, Range]] = {
        "bank": _TextFile(nullable=True),
        "neighbours": Whole(1),
        "weight": Number(),
    }
    trusted_types = frozenset[str]()
    not_saved: ClassVar[frozenset[str]] = frozenset({"_places"})
    test_settings: ClassVar[Mapping[str, Any]] = {
        "encoder": "tfidf",
        "bank": str(Path(__file__).with_name("bank.csv")),
    }

    def __init__(
        self,
        *,
        bank: str | None = None,
        neighbours: int = 20,
        weight: float = 0.5,
        encoder: str = "minilm",
        **shared: Any,
    ) -> None:
        super().__init__(encoder=encoder, **shared)
        self.bank = bank
        self.neighbours = neighbours
        self.weight = weight

    @classmethod
    def for_documents(
        cls, language: str, settings: Mapping[str, Any], *, normal: bool = False
    ) -> tuple[str, Mapping[str, Any]]:
        """Return the defaults; the bank is cleaned as English, so the documents must be English, too."""
        if language != "en":
            raise InvalidValueError(
                f"contrast reads English only, and the language is {language!r}. Give another --detector."
            )
        return "default", {}

    @property
    def regime(self) -> str:
        """Knowledge besides the training documents: the bank, whatever the encoder knows."""
        return BANK

    @property
    def leaves_out_self(self) -> bool:  # type: ignore[override]
        """Whether no training document has a part in its own score: not if the encoder learned from it."""
        return find_method(self.encoder).is_pretrained

    def prepare(self, texts: Sequence[str]) -> None:
        """Look up what the encoder does not learn, for the documents of a corpus and of the bank."""
        super().prepare([*texts, *(self._texts_of_bank() if self.bank else ())])

    def resources(self) -> dict[str, str]:
        """Return the digest of the bank, and the resources of the encoder."""
        return {"bank": storage.file_digest(self._bank_file)[:16], **super().resources()}

    def needed_resources(self) -> dict[str, str]:
        """Return those of the encoder: the vectors of the bank are saved."""
        resources = super().resources()
        return {name: value for name, value in resources.items() if name not in self._versions}

    @property
    def _bank_file(self) -> Path:
        if self.bank is None:
            # a PluginError costs its cells only, so that `run -d all` runs the others
            raise PluginError(
                "contrast needs a bank of other texts, near in register (news for news): --set bank=FILE, "
                f"{_TextFile.text}, with a column 'text' if it has columns."
            )
        return Path(self.bank).expanduser()

    def _texts_of_bank(self) -> list[str]:
        """Return the cleaned documents of the bank that are searched."""
        path = self._bank_file
        try:
            texts = [document.text for document in DocumentFile(str(path), text="text")]
        except AdbenchTextError as error:
            raise DataError(
                f"The bank (text in UTF-8, with a column 'text' if it has columns) cannot be read: {error}"
            ) from error
        cleaned = [clean(texts[place]) for place in drawn(len(texts), self.random_state)]
        if not any(cleaned):
            raise DataError(f"The bank {path} has no words; give a file of texts in English.")
        return list(filter(None, cleaned))

    def _fit_vectors(self, X: Matrix) -> None:
        self._places = drawn(len(X), self.random_state)
        self._references = normalize(X[self._places])
        self._others = normalize(self._encoder(self._texts_of_bank()))

    def _score_vectors(self, X: Matrix) -> Scores:
        return self._contrast(normalize(X))

    def _score_training(self, texts: list[str]) -> Scores:
        return self._contrast(normalize(self._encoder(texts)), self._places)

    def _contrast(self, unit: Matrix, own: NDArray[np.int64] | None = None) -> Scores:
        """Return the scores of unit vectors; of training documents, with the places of the references."""
        near = nearest(unit, self._references, self.neighbours, own, "cosine")
        # a single training document has no neighbours
        distance = near.mean(axis=1, dtype=np.float64) if near.shape[1] else np.ones(len(unit))
        others = nearest(unit, self._others, self.neighbours, metric="cosine")
        return np.asarray(distance + self.weight * (1 - others.mean(axis=1, dtype=np.float64)))
