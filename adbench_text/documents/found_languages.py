"""The languages of documents: of each, read for it once before everything else, or of some."""

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import Survey
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

    def of_different(self, found: Survey) -> LanguageCounts:
        """Return the numbers of different documents with words by their languages."""
        names = pd.Series(self.of_rows, dtype=object)[found.is_original & found.has_words]
        numbers = {str(name): n for name, n in names.value_counts().items()}
        return LanguageCounts(numbers, len(names))

    def labels(self, apart: Collection[str]) -> NDArray[np.object_]:
        """Return the language to read each document in: its own if that is apart, or the most frequent."""
        names = pd.Series(self.of_rows, dtype=object)
        return names.where(names.isin([*apart]), self.language).to_numpy()

    @property
    def language(self) -> str:
        """The language of most documents; English if none has enough text."""
        return self.counts.main or _IF_NONE


def other_languages(
    texts: Sequence[str], language: str, ask: Callable[[str], object]
) -> tuple[str | None, tuple[str, float] | None]:
    """Return the language of most documents if it is not the one given, or else a second one and its share.

    `ask` raises InvalidValueError for a language that the detector does not read; such a language is ignored.
    """
    counts = LanguageCounts.of_some(texts)
    if most := counts.other_than(language):
        return most, None
    if not counts.may_be_beside(language):
        return None, None
    second = LanguageCounts.of(languages_of(texts)).beside(language)
    if second:
        try:
            ask(second[0])
        except InvalidValueError:
            second = None
    return None, second
