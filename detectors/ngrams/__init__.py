"""Perplexity under an n-gram model of characters that is learned from the training documents; no network.

A document is abnormal when its characters are hard to predict from those before them. Its score is the mean
of -log P over its characters and its end, the logarithm of its perplexity for each character, with modified
Kneser-Ney smoothing (see `kneser_ney`). A training document is scored by the counts of the others. Nothing is
known besides the training documents, as of a language model that is trained from scratch (MLKD's GPT-2, Wu et
al., ACL 2023).

The length 6 was chosen on rostd and banking-near, among 3 to 7, as was the mean against sums that a length of
5 to 50 characters is added to.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from adbench_text.checks import Range, Whole
from adbench_text.detectors.ngrams.kneser_ney import Array, KneserNey
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.scores import Scores, TokenScore
from adbench_text.text.words import word_positions

CITATION = (
    "adbench-text, see CITATION.cff; S. F. Chen, J. Goodman: An Empirical Study of Smoothing Techniques for "
    "Language Modeling. Computer Speech and Language 13, 1999."
)

_MOST_CHARACTERS = 2**20  # that are looked up together


class NGrams(TextDetector):
    """How hard the characters of a document are to predict; see the head of the module.

    Parameters
    ----------
    length : int, default 6
        Number of characters of the longest n-grams.
    contamination, random_state
        See `TextDetector`; nothing is random.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = NGrams().fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "quel beau paysage"])
    >>> bool(far > near)
    True
    >>> max(detector.token_scores(["the ship hit a lawyer"])[0], key=lambda token: token.score).token
    'lawyer'
    """

    name = "ngrams"
    ranges: ClassVar[Mapping[str, Range]] = {"length": Whole(1)}
    leaves_out_self: ClassVar[bool] = True
    trusted_types = frozenset(
        {
            "adbench_text.detectors.ngrams.kneser_ney.KneserNey",
            "adbench_text.detectors.ngrams.kneser_ney.Order",
        }
    )

    def __init__(self, *, length: int = 6, **shared: Any) -> None:
        super().__init__(**shared)
        self.length = length

    def _fit(self, texts: list[str]) -> None:
        self._model = KneserNey.fit(list(map(_lower, texts)), self.length)

    def _score(self, texts: list[str]) -> Scores:
        return np.array([surprise.mean() for surprise in self._surprise(texts)])

    def _score_training(self, texts: list[str]) -> Scores:
        return np.array([surprise.mean() for surprise in self._surprise(texts, leave_out=True)])

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the mean of -log P over the characters of each word."""
        return self._token_scores(self._check_fitted(texts))

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the same of training documents; each is left out."""
        texts = self._texts_of_training()
        return self._token_scores([texts[place] for place in places], leave_out=True)

    def _token_scores(self, texts: list[str], *, leave_out: bool = False) -> list[list[TokenScore]]:
        return [
            [
                TokenScore(*word, float(surprise[word.start : word.end].mean()))
                for word in word_positions(text)
            ]
            for text, surprise in zip(texts, self._surprise(texts, leave_out=leave_out), strict=True)
        ]

    def _surprise(self, texts: list[str], *, leave_out: bool = False) -> Iterator[Array]:
        """Yield -log P of the characters of each document and of its end."""
        block = np.cumsum(list(map(len, texts))) // _MOST_CHARACTERS
        starts = np.flatnonzero(np.diff(block, prepend=-1))
        for begin, end in pairwise([*starts.tolist(), len(texts)]):
            lowered = list(map(_lower, texts[begin:end]))
            surprise, ends = self._model.surprise(lowered, leave_out=leave_out)
            yield from np.split(surprise, ends[1:-1])


def _lower(text: str) -> str:
    """Return a text in lower case, with its characters at the same places."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(character.lower()[0] for character in text)
