"""The cleaning of documents as a transformer of scikit-learn."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from sklearn.base import BaseEstimator, TransformerMixin

from adbench_text.contract.scores import check_texts
from adbench_text.text.cleaning import (
    all_word_spans,
    all_words_of,
    clean,
    cleaned,
    english_words,
    word_spans,
    words_of,
)
from adbench_text.text.languages import standard

if TYPE_CHECKING:
    import pandas as pd

_WORDS = re.compile(r"\S+")


class WordSpan(NamedTuple):
    """A word of the cleaned document, ``cleaned[start:end]``, and its place in the original."""

    start: int
    end: int
    original_start: int
    original_end: int


class Cleaner(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """Cleans documents; it is the first step of a pipeline, and a detector is the last.

    An English document keeps words of at least three letters, in lower case, without digits, punctuation and
    stop words. In another language, a document keeps all words but the most frequent ones of the language.
    Every character except letters, their marks and digits separates words, even emoji. Invisible characters,
    such as soft hyphens, and the colours of a terminal are removed. Words are spelled as in wordfreq's lists:
    ligatures and full-width letters become plain letters, and case is folded. If a language spells a word in
    two ways, such as ``Häuser`` and ``Haeuser``, both become one word. English words have one spelling.

    Parameters
    ----------
    language : str or None, default "en"
        Tag of the language of the documents, such as ``"de"`` or ``"pt-BR"``; None does not clean them.
    as_papers : bool, default False
        Whether to clean English documents as the papers do, like the corpora of the benchmark: only ASCII
        punctuation, and some quotes and dashes, separate words. An ASCII text has the same words either way.
    all_words : bool, default False
        Whether to keep frequent and short words; `as_papers` then has no effect.

    Examples
    --------
    >>> from sklearn.pipeline import Pipeline
    >>> from adbench_text import KNNWords
    >>> Cleaner().transform(["The 2 ships can't leave: a storm is coming!"])
    ['ships leave storm coming']
    >>> Cleaner()("\u201cThe of\ufb01ce\u2122\u2026 \U0001f600\u201d")
    'office'
    >>> Cleaner("de")("Häuser HAEUSER")
    'haeuser haeuser'
    >>> sea = ["The ship left the harbour.", "A storm hit the crew!", "The crew sailed the ship."] * 10
    >>> pipeline = Pipeline([("clean", Cleaner()), ("detect", KNNWords(k=3))]).fit(sea)
    >>> near, far = pipeline.decision_function(["The ship, and its crew", "The court heard a witness"])
    >>> bool(far > near)
    True
    """

    def __init__(
        self, language: str | None = "en", *, as_papers: bool = False, all_words: bool = False
    ) -> None:
        self.language = language
        self.as_papers = as_papers
        self.all_words = all_words

    @property
    def cleans_as_papers(self) -> bool:
        """Whether documents are English and cleaned as in the papers."""
        if self.language is None or not self.as_papers or self.all_words:
            return False
        return standard(self.language) == "en"

    def fit(self, texts: object = None, y: object = None) -> Self:
        """Check the language; nothing is learned."""
        if self.language is not None:
            standard(self.language)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, texts: Iterable[str]) -> list[str]:
        """Return the cleaned documents in order; a document without words becomes empty."""
        return self.fit().cleaned(check_texts(texts, may_be_empty=True))

    def cleaned(self, texts: Sequence[str]) -> list[str]:
        """Return the same for valid documents, without a check."""
        if self.language is None or self.cleans_as_papers:
            return [*map(self, texts)]
        return cleaned(texts, standard(self.language), all_words=self.all_words)

    def cleaned_series(self, texts: "pd.Series[str]") -> "pd.Series[str]":
        """Return the same for documents by row."""
        import pandas as pd

        return pd.Series(self.cleaned(texts.tolist()), texts.index, dtype=object)

    def __call__(self, text: str) -> str:
        """Return the words that a document keeps, joined by single spaces; may be empty."""
        if self.language is None:
            return text
        if self.cleans_as_papers:
            return clean(text)
        return " ".join((all_words_of if self.all_words else words_of)(text, standard(self.language)))

    def spans(self, text: str) -> list[WordSpan]:
        """Return the span of each word of the cleaned document, in order."""
        if self.language is None:
            return [WordSpan(m.start(), m.end(), m.start(), m.end()) for m in _WORDS.finditer(text)]
        if self.cleans_as_papers:
            words = english_words(text)
        else:
            words = (all_word_spans if self.all_words else word_spans)(text, standard(self.language))
        spans, begin = [], 0
        for word, start, end in words:
            spans.append(WordSpan(begin, begin + len(word), start, end))
            begin += len(word) + 1
        return spans
