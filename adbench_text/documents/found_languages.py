"""The languages of documents: of each, read for it once before everything else, or of some."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.source import TextSource
from adbench_text.errors import InvalidValueError
from adbench_text.text.language_finder import LanguageCounts, languages_of
from adbench_text.text.words import text_key

_IF_NONE = "en"


@dataclass(frozen=True)
class FoundLanguages:
    """The language of each document, by row."""

    of_rows: pd.Categorical  # missing without enough text
    counts: LanguageCounts  # of all documents
    of_different: LanguageCounts  # of documents that were written differently

    @classmethod
    def of(cls, source: TextSource, jobs: int | str, progress: OnProgress) -> Self:
        """Find the languages of documents."""
        found, keys = list[str | None](), bytearray()
        with closing(results_of(_languages_and_keys, in_chunks(source), jobs)) as of_chunks:
            for languages, of_chunk in of_chunks:
                found += languages
                keys += of_chunk.tobytes()
                progress("finding languages", len(found), None)
        _, first = np.unique(np.frombuffer(keys, dtype=np.uint64), return_index=True)
        different = LanguageCounts.of([found[row] for row in first])
        return cls(pd.Categorical(found), LanguageCounts.of(found), different)

    def numbers(self, languages: Sequence[str]) -> NDArray[np.int64]:
        """Return for each document the number of its language; the first one is also that of all others."""
        codes = {language: number for number, language in enumerate(languages)}
        of_categories = np.zeros(len(self.of_rows.categories) + 1, dtype=np.int64)
        of_categories[:-1] = [codes.get(name, 0) for name in self.of_rows.categories]
        numbers: NDArray[np.int64] = of_categories[self.of_rows.codes]  # -1 is the last one: no language
        return numbers

    @property
    def language(self) -> str:
        """The language of most documents; English if none has enough text."""
        return self.counts.main or _IF_NONE

    @property
    def apart(self) -> list[str]:
        """The languages that are ranked by themselves, first that of most documents."""
        return [self.language, *sorted({*self.of_different.apart} - {self.language})]


def _languages_and_keys(texts: list[str]) -> tuple[list[str | None], NDArray[np.uint64]]:
    return languages_of(texts), np.array([text_key(text.strip()) for text in texts], dtype=np.uint64)


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
