"""The cleaning of documents as a transformer of scikit-learn."""

import re
from collections.abc import Sequence
from typing import NamedTuple, Self

from sklearn.base import BaseEstimator, TransformerMixin

from adbench_text.contract.scores import check_texts
from adbench_text.text.cleaning import clean, english_words, foreign_words
from adbench_text.text.languages import standard

_WORDS = re.compile(r"\S+")


class WordSpan(NamedTuple):
    """A word of the cleaned document, ``cleaned[start:end]``, and where it comes from in the original."""

    start: int
    end: int
    original_start: int
    original_end: int


class Cleaner(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """Cleans documents as the benchmark does; the first step of a pipeline that a detector ends.

    Of an English document, words of three letters and more are left, in lower case, without digits,
    punctuation and stop words; of another language its words without the most frequent ones.

    Parameters
    ----------
    language : str or None, default "en"
        Tag of the language of the documents, such as ``"de"`` or ``"pt-BR"``; None leaves them as they are.

    Examples
    --------
    >>> from sklearn.pipeline import Pipeline
    >>> from adbench_text import KNNWords
    >>> Cleaner().transform(["The 2 ships can't leave: a storm is coming!"])
    ['ships leave storm coming']
    >>> sea = ["The ship left the harbour.", "A storm hit the crew!", "The crew sailed the ship."] * 10
    >>> pipeline = Pipeline([("clean", Cleaner()), ("detect", KNNWords(k=3))]).fit(sea)
    >>> near, far = pipeline.decision_function(["The ship, and its crew", "The court heard a witness"])
    >>> bool(far > near)
    True
    """

    def __init__(self, language: str | None = "en") -> None:
        self.language = language

    def fit(self, texts: object = None, y: object = None) -> Self:
        """Check the language; nothing is learned."""
        if self.language is not None:
            standard(self.language)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, texts: Sequence[str]) -> list[str]:
        """Return the cleaned documents, in their order; one without words becomes empty."""
        return list(map(self.fit(), check_texts(texts, may_be_empty=True)))

    def __call__(self, text: str) -> str:
        """Return the words that are left of a document, joined by single spaces; may be empty."""
        if self.language is None:
            return text
        if (language := standard(self.language)) == "en":
            return clean(text)
        return " ".join([word for word, _, _ in foreign_words(text, language)])

    def spans(self, text: str) -> list[WordSpan]:
        """Return the span of each word of the cleaned document, in its order."""
        if self.language is None:
            return [WordSpan(m.start(), m.end(), m.start(), m.end()) for m in _WORDS.finditer(text)]
        language = standard(self.language)
        kept = english_words(text) if language == "en" else foreign_words(text, language)
        spans, begin = [], 0
        for word, start, end in kept:
            spans.append(WordSpan(begin, begin + len(word), start, end))
            begin += len(word) + 1
        return spans
