"""Dates of documents, and the last period of a file against the time before it."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

from adbench_text.errors import InvalidValueError
from adbench_text.escaping import count
from adbench_text.reading.values import MISSING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEFT_OUT = "These documents are left out."
_ENOUGH = 300  # documents of the last period
_UNITS = {"day": "D", "week": "W", "month": "M"}  # periods of pandas; a week begins on Monday
_YEAR_FIRST = re.compile(r"\d{4}-?\d\d-?\d\d(?:$|[T ])")
_WITH_MONTH = "%d-%b-%Y", "%d-%b-%Y %H:%M:%S", "%d-%b-%Y %H:%M:%S.%f", "%d %B %Y", "%B %d, %Y", "%b %d, %Y"


class LastPeriod(NamedTuple):
    """The documents of the last period, and the documents before it."""

    old: "NDArray[np.int64]"  # rows
    new: "NDArray[np.int64]"
    summary: str  # which periods they are
    notes: list[str]


def last_period(values: Sequence[str | None], column: str, place: Callable[[int], str]) -> LastPeriod:
    """Divide documents by their dates.

    The last period is the last day with documents if it has at least 300, or else the last week, or else the
    last month. `place` names the place of a row in a message.

    Raises
    ------
    InvalidValueError
        If most dates cannot be read, or no period is before the last one.
    """
    import numpy as np
    import pandas as pd

    dates = [date_of(value or "") for value in values]
    rows = np.array([row for row, date in enumerate(dates) if date is not None], dtype=np.int64)
    notes = _unread(values, dates, column, place)
    if len(rows) <= len(values) / 2:
        raise InvalidValueError(
            notes[0].removesuffix(f" {_LEFT_OUT}") if notes else f"{column!r} has no dates."
        )
    known = [date for date in dates if date is not None]
    with_zone = sum(date.tzinfo is not None for date in known)
    if 0 < with_zone < len(known):
        notes.append(
            f"{count(len(known) - with_zone, 'date')} of {column!r} without a time zone count as UTC, like "
            "the others."
        )
    utc = [(date.astimezone(UTC) if date.tzinfo else date).replace(tzinfo=None) for date in known]
    stamps = pd.DatetimeIndex(pd.Series(utc).astype("datetime64[us]"))
    for name, unit in _UNITS.items():
        periods = stamps.to_period(unit)
        is_new = np.asarray(periods == periods.max())
        if is_new.sum() >= _ENOUGH or name == "month":
            break
    n_periods = (periods.max() - periods.min()).n
    if not n_periods:
        raise InvalidValueError(
            f"All documents are of one {name}, {_named(periods.max(), name)}: nothing is before it."
        )
    n_empty = n_periods + 1 - periods.nunique()
    zone = " (UTC)" if with_zone else ""
    n_old, n_new = (count(int(each.sum()), "document") for each in (~is_new, is_new))
    summary = (
        f"NEW is the last {name}, {_named(periods.max(), name)}{zone}: {n_new}. "
        f"OLD is the {count(n_periods, name)} before it: {n_old}."
    )
    if n_empty:
        notes.append(
            f"{count(n_empty, name)} between the first and the last one {_has(n_empty)} no documents."
        )
    return LastPeriod(rows[~is_new], rows[is_new], summary, notes)


def date_of(value: str) -> datetime | None:
    """Return a date, or None if it cannot be read without guessing.

    ISO 8601, the dates of mails, and dates with the English name of the month can be read. ``01/02/2026`` may
    be two dates, and a number may count seconds or days.

    >>> date_of("2026-11-29T10:00:00+01:00").isoformat(), date_of("26-FEB-1987 15:01:01.79").isoformat()
    ('2026-11-29T10:00:00+01:00', '1987-02-26T15:01:01.790000')
    >>> date_of("01/02/2026"), date_of("1700000000")
    (None, None)
    """
    text = value.strip()
    if _YEAR_FIRST.match(text):
        try:
            return datetime.fromisoformat(text.removesuffix(" UTC"))
        except ValueError:
            return None
    if not any(map(str.isalpha, text)):
        return None
    for form in _WITH_MONTH:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None


def _unread(
    values: Sequence[str | None],
    dates: Iterable[datetime | None],
    column: str,
    place: Callable[[int], str],
) -> list[str]:
    """Return notes on documents without a date."""
    unread = [row for row, date in enumerate(dates) if date is None]
    empty = [row for row in unread if not (values[row] or "").strip() or (values[row] or "") in MISSING]
    wrong = sorted({*unread} - {*empty})
    notes = []
    if wrong:
        value = values[wrong[0]]
        notes.append(
            f"{count(len(wrong), 'date')} of {column!r} cannot be read, such as {value!r:.40} "
            f"({place(wrong[0])}); write dates as 2026-11-29. {_LEFT_OUT}"
        )
    if empty:
        notes.append(
            f"{count(len(empty), 'document')} without a date in {column!r} {_is(len(empty))} left out."
        )
    return notes


def _named(period: object, name: str) -> str:
    start, end = (f"{getattr(period, each):%Y-%m-%d}" for each in ("start_time", "end_time"))
    return {"day": start, "week": f"{start} to {end}", "month": start[:-3]}[name]


def _has(n: int) -> str:
    return "has" if n == 1 else "have"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"
