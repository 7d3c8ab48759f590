"""Marks: a user has read some documents, and marks them as odd or fine."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import odds_of_form
from adbench_text.documents.left_out import LeftOut
from adbench_text.documents.own_detector import OwnDetector
from adbench_text.documents.survey import Survey
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.escaping import one_line
from adbench_text.plugins.cleaner import Cleaner
from adbench_text.plugins.labels import Known

ODD, FINE = MARKS = "odd", "fine"
MARK = "mark"  # the column
LIKE_MARKED = "like those you marked"  # a reason
_MOST_NAMED = 5  # wrong marks in a message
_AS_WRITTEN: Any = {"dtype": str, "keep_default_na": False, "index_col": False, "encoding": "utf-8-sig"}

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Marked:
    """Marked documents, by the rows of their originals; one of a family marks all of it.

    A family with both marks is odd.
    """

    odd: Rows  # in order
    fine: Rows

    @classmethod
    def of(cls, marks: Mapping[int, str], original: Rows) -> "Marked":
        """Return the marked originals, given the mark of each row that has one; wrong ones are an error."""
        for row, mark in marks.items():
            if not isinstance(row, Integral) or not 0 <= row < len(original):
                raise InvalidValueError(
                    f"Row {row!r} is marked, but there are {len(original):,} documents, from row 0 on."
                )
            if mark not in MARKS:
                raise InvalidValueError(f"The mark of row {row} is {mark!r}; a mark is odd or fine.")
        rows = {
            kind: np.unique(original[[row for row, mark in marks.items() if mark == kind]]) for kind in MARKS
        }
        odd = rows[ODD][rows[ODD] >= 0]  # an empty document has no original
        return cls(odd, np.setdiff1d(rows[FINE][rows[FINE] >= 0], odd))

    @property
    def rows(self) -> Rows:
        """All of them."""
        return np.concatenate([self.odd, self.fine])

    def of_rows(self, original: Rows) -> list[str]:
        """Return the mark of each row, of itself or its original; empty without one."""
        marks = np.full(len(original) + 1, "", dtype=object)  # the last is of -1, an empty document
        marks[self.odd], marks[self.fine] = ODD, FINE
        return list(marks[original])


@dataclass(frozen=True)
class Marking:
    """What marks change: what is known when the detector learns, and how its list and that of form join."""

    marked: Marked
    found: Survey
    written: Mapping[int, str]  # the marked documents, by row
    cleaner: Cleaner
    before: LeftOut  # by words, of the sample, without marks
    of_form: LeftOut | None  # likewise, by form

    @cached_property
    def normal(self) -> Survey:
        """What was found, with a sample without the documents marked odd; too few with words are an error."""
        normal = self.found.without(self.marked.odd)
        if (n := len(normal.cleaned_with_words)) < 2:
            raise InvalidValueError(
                f"At least 2 different documents with words that are not marked odd are needed, got {n}."
            )
        return normal

    def known(self) -> Known:
        """Return the documents marked odd, and which of the others in the sample are marked fine."""
        normal = self.normal
        is_fine = np.isin(normal.sample[: len(normal.cleaned_with_words)], self.marked.fine)
        return Known([text for _, text in self._odd_with_words()], is_fine)

    def score_odd(self, own: OwnDetector, scores: NDArray[np.float64]) -> None:
        """Fill in the scores by words of the documents marked odd, which the detector did not learn from."""
        if odd := self._odd_with_words():
            with own.errors():
                scores[[row for row, _ in odd]] = own.detector.decision_function([text for _, text in odd])

    def _odd_with_words(self) -> list[tuple[int, str]]:
        cleaned = [(row, self.cleaner(self.written[row])) for row in self.marked.odd.tolist()]
        return [(row, text) for row, text in cleaned if text.strip()]

    def odds_of_form(self) -> float:
        """Return the odds of form against words; 1 if form is not looked at."""
        if self.of_form is None:
            return 1.0
        rows = self.marked.rows.tolist()
        written = [self.written[row] for row in rows]
        p_form = _p_among(self.of_form, self.found.sample, rows, written)
        is_odd = np.isin(rows, self.marked.odd)
        return odds_of_form(self._p_before(rows, written), p_form, is_odd)

    def with_likeness(self, documents: pd.DataFrame) -> pd.DataFrame:
        """Return documents of a list, with a reason where the marks have halved their p by words or more."""
        before = self._p_before(documents["row"].tolist(), documents["text"].tolist())
        is_like = documents["p"].to_numpy() <= before / 2 if len(self.marked.odd) else np.zeros(len(before))
        pairs = zip(documents["why"], is_like, strict=True)
        why: Any = [[LIKE_MARKED, *own] if own_is_like else own for own, own_is_like in pairs]
        return documents.assign(why=why)

    def _p_before(self, rows: list[int], written: list[str]) -> NDArray[np.float64]:
        """Return the p by words before any mark; NaN without words."""
        cleaned = [self.cleaner(text) for text in written]
        p = np.full(len(rows), np.nan)
        some = [place for place, text in enumerate(cleaned) if text.strip()]
        if some:
            texts = [cleaned[place] for place in some]
            p[some] = _p_among(self.before, self.found.sample, [rows[place] for place in some], texts)
        return p


def _p_among(scored: LeftOut, sample: Rows, rows: list[int], texts: list[str]) -> NDArray[np.float64]:
    """Return the share of a sample that scores at least as high as documents; they may be among it."""
    places = pd.Index(sample[: len(scored.scores)]).get_indexer(pd.Index(rows))
    scores = scored.scores[places]
    if others := np.flatnonzero(places < 0).tolist():
        scores[others] = scored.detector.decision_function([texts[place] for place in others])
    n_higher = (scored.scores >= scores[:, None]).sum(axis=1)
    return np.asarray(np.maximum(n_higher, 1) / len(scored.scores), dtype=np.float64)


def read_marks(path: Path, row_of: Callable[[str], int | None], names: tuple[str, ...]) -> dict[int, str]:
    """Return the marks of a CSV by row, such as a table that ``odd`` has written.

    It has a column ``mark`` (odd, fine, or empty) and one that identifies the documents, by the first of
    `names` that is there. `row_of` returns the row of an identifier, None if there is none. Raise DataError
    if the file cannot be read, a column is missing, or a mark is wrong.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.ParserWarning)  # rows may end with a comma
            table = pd.read_csv(path, **_AS_WRITTEN)
    except (OSError, ValueError) as error:  # also of pandas' parser, and of the encoding
        reason = getattr(error, "strerror", None) or one_line(str(error))
        raise DataError(f"{path} cannot be read as a CSV of marks: {reason}") from error
    name = next((name for name in names if name in table), None)
    if MARK not in table or name is None:
        raise DataError(
            f"{path} needs the columns {MARK!r} and {' or '.join(map(repr, names))}, as in a table written "
            f"by odd; it has {', '.join(map(repr, table.columns))}."
        )
    marks: dict[int, str] = {}
    wrong: list[str] = []
    for own, given in zip(table[name], table[MARK].str.strip().str.lower(), strict=True):
        if not given:
            continue
        row = row_of(own)
        if given not in MARKS:
            wrong.append(f"{name} {own!r} has the mark {given!r}; a mark is odd, fine or empty")
        elif row is None:
            wrong.append(f"{name} {own!r} is marked {given}, but there is no such document")
        elif marks.setdefault(row, given) != given:
            wrong.append(f"{name} {own!r} is marked odd and fine")
    if wrong:
        more = f"; and {len(wrong) - _MOST_NAMED:,} more" if len(wrong) > _MOST_NAMED else ""
        raise DataError(f"{path}: {'; '.join(wrong[:_MOST_NAMED])}{more}.")
    return marks


def lost_marks(path: Path, given: Iterable[int], name_of: Callable[[int], str]) -> list[str]:
    """Return the rows of the marks in a table of ``odd`` that none of `given`, the marked rows, replaces.

    A mark of a row replaces those of its copies. `name_of` returns what the column ``copy_of`` calls a row.
    A file that cannot be read, or has no column ``mark``, has no marks.
    """
    columns = MARK, "row", "copy_of"
    options: Any = {"usecols": lambda name: name in columns, "encoding_errors": "replace", **_AS_WRITTEN}
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:  # a spreadsheet may have saved it
            separator = max(",;\t", key=stream.readline(1000).count)
        table = pd.read_csv(path, sep=separator, **options).reindex(columns=columns, fill_value="")
    except (OSError, ValueError):
        return []
    marked = table[table[MARK].str.strip() != ""]
    names = marked["row"].map(lambda row: name_of(int(row)) if row.isdecimal() else row)
    family = marked["copy_of"].where(marked["copy_of"] != "", names)
    is_given = marked["row"].isin([*map(str, given)])
    return list(marked["row"][~family.isin(family[is_given])])
