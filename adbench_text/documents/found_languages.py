"""Detect the language of each document, or of a sample."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import Chunk, OnTexts, Rows, results_of
from adbench_text.documents.detector_pair import DetectorPair
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import Families, Surveyor, surveyed
from adbench_text.errors import InvalidValueError
from adbench_text.text.language_finder import AUTO, LanguageCounts, languages_of
from adbench_text.text.languages import standard
from adbench_text.text.words import text_key

_IF_NONE = "en"


@dataclass(frozen=True)
class FoundLanguages:
    """The language of each document, by row."""

    of_rows: pd.Categorical  # missing without enough text
    of_different: LanguageCounts  # counts of different texts

    @classmethod
    def of(cls, chunks: Iterable[Chunk], jobs: int | str, progress: OnProgress) -> Self:
        """Detect the language of each document."""
        languages, keys = list[str | None](), bytearray()
        with closing(results_of(OnTexts(_languages_and_keys), chunks, jobs)) as of_chunks:
            for languages_of_chunk, keys_of_chunk in of_chunks:
                languages += languages_of_chunk
                keys += keys_of_chunk.tobytes()
                progress("finding languages", len(languages), None)
        _, first = np.unique(np.frombuffer(keys, dtype=np.uint64), return_index=True)
        return cls(pd.Categorical(languages), LanguageCounts.of([languages[row] for row in first]))

    def numbers(self, languages: Sequence[str]) -> NDArray[np.int64]:
        """Return for each document the place of its language in `languages`.

        The first language also stands for documents without a language, and in other languages.
        """
        codes = {language: number for number, language in enumerate(languages)}
        of_categories = np.zeros(len(self.of_rows.categories) + 1, dtype=np.int64)
        of_categories[:-1] = [codes.get(name, 0) for name in self.of_rows.categories]
        numbers: NDArray[np.int64] = of_categories[self.of_rows.codes]  # no language: -1, the last entry
        return numbers

    @property
    def apart(self) -> list[str]:
        """The languages that are ranked separately, the most frequent one first."""
        return _with_main_first(self.of_different)

    def apart_among(self, languages: Sequence[str], families: Families) -> list[str]:
        """Return the languages among these that are ranked separately when near-copies count once.

        If none is left, return the first of these.
        """
        sizes = families.n_different(self.of_rows.codes.astype(np.int64) + 1)[1:]  # 0: without a language
        different = dict(zip(map(str, self.of_rows.categories), sizes.tolist(), strict=False))
        apart = _with_main_first(LanguageCounts(different, sum(different.values())))
        return [language for language in apart if language in languages] or [*languages[:1]]

    def shares(self, main: str) -> dict[str, float]:
        """Return the shares of the frequent languages, the main language first."""
        named = self.of_different.named()
        return {main: named[main], **named} if main in named else named

    @property
    def language(self) -> str:
        """The language of most different texts; English if no text is long enough."""
        return self.apart[0]


@dataclass(frozen=True)
class InLanguages:
    """The language that each document is read in."""

    languages: Sequence[str]  # the most frequent one first
    pairs: Sequence[DetectorPair]  # the detectors for each language
    pair_of: Rows  # number of the language, for each document
    found: FoundLanguages | None  # None if the user gave the language

    @classmethod
    def of(
        cls,
        source: TextSource,
        language: str,
        pair_for: Callable[[str], DetectorPair],
        *,
        keep_copies: bool,
        jobs: int | str,
        progress: OnProgress,
    ) -> tuple[Self, Families]:
        """Survey all documents; also return their families.

        With ``"auto"``, a document is read in its own language if that is frequent.
        """
        detected = FoundLanguages.of(source.chunks(), jobs, progress) if language == AUTO else None
        languages, tried = detected.apart if detected else [standard(language)], list[list[str]]()
        while True:
            pairs = [*map(pair_for, languages)]
            with_sketches = not keep_copies and not pairs[0].words.detector.reads_raw
            surveyor = Surveyor([pair.cleaner for pair in pairs], pairs[0].seed, with_sketches)
            pair_of = detected.numbers(languages) if detected else None
            families = Families.of(surveyed(source, surveyor, pair_of, jobs, progress))
            tried.append(languages)
            # near-copies, such as form letters, may make a language look frequent
            apart = detected.apart_among(languages, families) if detected else languages
            if apart in tried:
                numbers = np.zeros(len(families.of_rows), np.int64) if pair_of is None else pair_of
                return cls(languages, pairs, numbers, detected), families.without_sketches()
            languages = apart


def _with_main_first(counts: LanguageCounts) -> list[str]:
    """Return the languages that are ranked separately; the main language, by default English, is first."""
    main = counts.main or _IF_NONE
    return [main, *sorted({*counts.apart} - {main})]


def _languages_and_keys(texts: list[str]) -> tuple[list[str | None], NDArray[np.uint64]]:
    """Return the language of each text, None without enough text, and a key that is equal for equal texts."""
    return languages_of(texts), np.array([text_key(text.strip()) for text in texts], dtype=np.uint64)


def other_languages(
    texts: Sequence[str], language: str, ask: Callable[[str], object]
) -> tuple[str | None, tuple[str, float] | None]:
    """Return the language of most documents if it is not `language`, or else a second language and its share.

    `ask` raises InvalidValueError for a language that the detector does not support. Such a second language
    is ignored.
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
