"""The languages of documents: of each, read for it once before everything else, or of some."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Self

import pandas as pd

from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.source import TextSource
from adbench_text.errors import InvalidValueError
from adbench_text.text.language_finder import LanguageCounts, languages_of

_IF_NONE = "en"


@dataclass(frozen=True)
class FoundLanguages:
    """The language of each document, by row."""

    of_rows: pd.Categorical  # missing without enough text
    counts: LanguageCounts

    @classmethod
    def of(cls, source: TextSource, jobs: int | str, progress: OnProgress) -> Self:
        """Find the languages of documents."""
        found: list[str | None] = []
        with closing(results_of(languages_of, in_chunks(source), jobs)) as of_chunks:
            for languages in of_chunks:
                found += languages
                progress("finding languages", len(found), None)
        return cls(pd.Categorical(found), LanguageCounts.of(found))

    def groups(self, least: int) -> list[str] | None:
        """Return the language of each document, that of most if it is unknown or has fewer than `least`.

        None if there is one language.
        """
        known = [name for name in self.counts.named() if self.counts.documents[name] >= least]
        if len(known) < 2:
            return None
        labels = self.of_rows.astype(object)
        return [language if language in known else self.language for language in labels]

    @property
    def language(self) -> str:
        """The language of most documents; English if none has enough text."""
        return self.counts.main or _IF_NONE


def other_languages(
    texts: Sequence[str], language: str, ask: Callable[[str], object] | None
) -> tuple[str | None, tuple[str, float] | None]:
    """Return the language of most documents if it is not the one given, or else a second one and its share.

    `ask` raises InvalidValueError for a language that the detector does not read, which is no second one;
    without it none is looked for.
    """
    counts = LanguageCounts.of_some(texts)
    if most := counts.other_than(language):
        return most, None
    second = None if ask is None else counts.beside(language)
    if ask and second:
        try:
            ask(second[0])
        except InvalidValueError:
            second = None
    return None, second
