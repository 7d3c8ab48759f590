"""Perplexity under an n-gram model of characters that is learned from the training documents; no network.

A document is abnormal if its characters are hard to predict from the characters before them. Its score is

    1 - 1 / perplexity^2,   log perplexity = the mean of -log P over its characters and its end

with modified Kneser-Ney smoothing (see `kneser_ney`). The score has the order of the perplexity. But with the
perplexity, a document that is not text, such as an encoded file, would be a hundred times as odd as any
topic. In a mean with other detectors, it would hide all their findings. A training document is scored by the
counts of the others. The detector knows only the training documents, as a language model that is trained
from scratch does (MLKD's GPT-2, Wu et al., ACL 2023).

The length 6 was chosen on rostd and banking-near, among 3 to 7. The mean was chosen there, too, against sums
divided by the length plus 5 to 50 characters. The power 2 was chosen on ten corpora, as a member of
`ensemble`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self, Unpack

import numpy as np

from adbench_text.checks import Range, Whole
from adbench_text.contract.detector import SharedParams, TextDetector
from adbench_text.contract.scores import Scores, TokenScore
from adbench_text.detectors._references import places_of_references
from adbench_text.detectors.ngrams.kneser_ney import Array, KneserNey
from adbench_text.text.words import in_blocks, word_positions

CITATION = (
    "adbench-text, see CITATION.cff; S. F. Chen, J. Goodman: An Empirical Study of Smoothing Techniques for "
    "Language Modeling. Computer Speech and Language 13, 1999."
)

_MOST_CHARACTERS = 2**17  # to look up at a time; a character needs some hundred bytes
_POWER = 2  # of the perplexity


class NGrams(TextDetector):
    """How hard the characters of a document are to predict; see the head of the module.

    Parameters
    ----------
    length : int, default 6
        Number of characters of the longest n-grams.
    references : int or None, default None
        Number of training documents to learn from, drawn by the seed; None for all. The time to learn grows
        with their number of characters.
    contamination, random_state
        See `TextDetector`; only the references are random.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = NGrams().fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "quel beau paysage"])
    >>> bool(far > near)
    True
    >>> max(detector.token_scores(["the ship hit the lawyer"])[0], key=lambda token: token.score).token
    'lawyer'
    """

    name = "ngrams"
    ranges: ClassVar[Mapping[str, Range]] = {"length": Whole(1), "references": Whole(2, nullable=True)}
    leaves_out_self: ClassVar[bool] = True
    trusted_types = frozenset(
        {
            "adbench_text.detectors.ngrams.kneser_ney.KneserNey",
            "adbench_text.detectors.ngrams.kneser_ney.Order",
        }
    )
    not_saved: ClassVar[frozenset[str]] = frozenset({"_places", "_lookup"})

    def __init__(
        self, *, length: int = 6, references: int | None = None, **shared: Unpack[SharedParams]
    ) -> None:
        super().__init__(**shared)
        self.length = length
        self.references = references

    def _fit(self, texts: list[str]) -> None:
        self._places = places_of_references(len(texts), self.references, self.random_state)
        self._model = KneserNey.fit([_lower(texts[place]) for place in self._places], self.length)
        self._lookup = self._model.lookup()

    def restore(self, learned: Mapping[str, Any]) -> Self:
        """Set the attributes that `learned` returned."""
        super().restore(learned)
        self._lookup = self._model.lookup()
        return self

    def _score(self, texts: list[str]) -> Scores:
        return _scores(self._surprise(texts))

    def _score_training(self, texts: list[str]) -> Scores:
        return _scores(self._of_training(range(len(texts))))

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the mean of -log P over the characters of each word."""
        checked = self._check_fitted(texts)
        return _of_words(checked, self._surprise(checked))

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the same for training documents; each is left out of the counts."""
        texts = self._texts_of_training()
        return _of_words([texts[place] for place in places], self._of_training(places))

    def _of_training(self, places: Sequence[int]) -> Iterator[Array]:
        """Yield -log P of the characters of training documents; a reference is left out of the counts."""
        texts, is_known = self._texts_of_training(), np.isin(places, self._places)
        surprise = {
            kind: self._surprise([texts[place] for place in np.asarray(places)[is_known == kind]], kind)
            for kind in (True, False)
        }
        return (next(surprise[own]) for own in is_known.tolist())

    def _surprise(self, texts: list[str], leave_out: bool = False) -> Iterator[Array]:
        """Yield -log P of the characters and of the end of each document."""
        for block in in_blocks(texts, _MOST_CHARACTERS):
            lowered = list(map(_lower, block))
            of_texts = self._model.surprise_left_out if leave_out else self._model.surprise
            surprise, ends = of_texts(lowered, self._lookup)
            yield from (surprise[start:end] for start, end in pairwise(ends.tolist()))


def _scores(surprise: Iterable[Array]) -> Scores:
    """Return the scores of documents, given -log P of their characters."""
    mean = np.array([np.add.reduce(own) / len(own) for own in surprise])  # `mean` takes four times as long
    return np.asarray(1 - np.exp(-_POWER * mean))


def _of_words(texts: Sequence[str], surprise: Iterable[Array]) -> list[list[TokenScore]]:
    """Return the score of each word, given -log P of the characters of documents."""
    return [
        [TokenScore(*word, float(own[word.start : word.end].mean())) for word in word_positions(text)]
        for text, own in zip(texts, surprise, strict=True)
    ]


def _lower(text: str) -> str:
    """Return a text in lower case; characters keep their places."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(character.lower()[0] for character in text)
