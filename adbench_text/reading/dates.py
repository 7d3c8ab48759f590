"""Dates of documents, and the last period of a file against the time before it."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from adbench_text.errors import InvalidValueError
from adbench_text.escaping import count
from adbench_text.reading.values import MISSING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEFT_OUT = "These documents are left out."
LEAST = 20  # documents of the last period
_ENOUGH = 300  # documents of the last period
_UNITS = {"day": "D", "week": "W", "month": "M"}  # periods of pandas; a week begins on Monday
_YEAR_FIRST = re.compile(r"\d{4}[-/]?\d\d[-/]?\d\d(?:$|[T ])")
_OF_MAIL = re.compile(
    r"(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d(?::\d\d)? (?:[+-]\d{4}|GMT|UTC?)(?: \(.*\))?"
)
_DAYS = "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y", "%b %d, %Y", "%B %d, %Y"
_WITH_MONTH = *_DAYS, "%d-%b-%Y %H:%M", "%d-%b-%Y %H:%M:%S", "%d-%b-%Y %H:%M:%S.%f"


class LastPeriod(NamedTuple):
    """The documents of the last period, and the documents before it."""

    old: "NDArray[np.int64]"  # rows
    new: "NDArray[np.int64]"
    summary: str  # which periods they are
    notes: list[str]


def last_period(values: Sequence[str | None], column: str, place: Callable[[int], str]) -> LastPeriod:
    """Divide documents by their dates.

    The last period is the last day with documents if it has at least 300, or else the last week or month that
    has. If neither has, it is the one with the most documents. Something is before the last period. `place`
    names the place of a row in a message.

    Raises
    ------
    InvalidValueError
        If most dates cannot be read, or no period is before the last one.
    """
    import numpy as np
    import pandas as pd

    dates = [date_of(value or "") for value in values]
    rows = np.array([row for row, date in enumerate(dates) if date is not None], dtype=np.int64)
    wrong, empty = _undated(values, dates)
    of_wrong = [_on_wrong(wrong, str(values[wrong[0]]), column, place)] if wrong else []
    if len(rows) <= len(values) / 2:
        few = f"{column!r} has a date in {len(rows):,} of {count(len(values), 'document')}."
        raise InvalidValueError(of_wrong[0] if len(wrong) > len(empty) else few)
    notes = [f"{note} {_LEFT_OUT}" for note in of_wrong]
    if empty:
        notes.append(
            f"{count(len(empty), 'document')} without a date in {column!r} {_is(len(empty))} left out."
        )
    known = [date for date in dates if date is not None]
    n_with_zone = sum(date.tzinfo is not None for date in known)
    if 0 < n_with_zone < len(known):
        notes.append(
            f"{count(len(known) - n_with_zone, 'date')} of {column!r} without a time zone count as UTC, like "
            "the others."
        )
    utc = [(date.astimezone(UTC) if date.tzinfo else date).replace(tzinfo=None) for date in known]
    stamps = pd.DatetimeIndex(pd.Series(utc).astype("datetime64[us]"))
    divided = {name: stamps.to_period(unit) for name, unit in _UNITS.items()}
    divided = {name: periods for name, periods in divided.items() if periods.nunique() > 1}
    zone = " (UTC)" if n_with_zone else ""
    if not divided:
        day = _named(stamps.max().to_period("D"), "day")
        raise InvalidValueError(f"All documents are of one day, {day}{zone}: nothing is before it.")
    sizes = {name: int((periods == periods.max()).sum()) for name, periods in divided.items()}
    enough = [name for name, n in sizes.items() if n >= _ENOUGH]
    # of equal sizes, the longer period
    unit = enough[0] if enough else max(reversed(sizes), key=sizes.__getitem__)
    periods, is_new = divided[unit], np.asarray(divided[unit] == divided[unit].max())
    n_periods = (periods.max() - periods.min()).n
    if sizes[unit] < LEAST:
        last, n_last = place(int(rows[np.argmax(stamps)])), count(sizes[unit], "document")
        raise InvalidValueError(
            f"The last {unit}, {_named(periods.max(), unit)}{zone}, has {n_last} ({last}), and {LEAST} are "
            "needed. If this date is wrong, mend it; or give two files."
        )
    n_empty = n_periods + 1 - periods.nunique()
    n_old, n_new = (count(int(each.sum()), "document") for each in (~is_new, is_new))
    summary = (
        f"NEW is the last {unit}, {_named(periods.max(), unit)}{zone}: {n_new}. "
        f"OLD is the {count(n_periods, unit)} before it: {n_old}."
    )
    if n_empty:
        notes.append(
            f"{count(n_empty, unit)} between the first and the last one {_has(n_empty)} no documents."
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
        return _known(datetime.fromisoformat, text.removesuffix(" UTC").replace("/", "-"))
    if _OF_MAIL.fullmatch(text):
        return _known(parsedate_to_datetime, text)
    if not any(map(str.isalpha, text)):
        return None
    dates = (_known(partial(_parsed, form), text) for form in _WITH_MONTH)
    return next(filter(None, dates), None)


def _parsed(form: str, text: str) -> datetime:
    """Return the date of a text in a format of `datetime.strptime`; raise ValueError for another text."""
    return datetime.strptime(text, form)


def _known(parse: Callable[[str], datetime], text: str) -> datetime | None:
    """Return the date of a text, or None if it is no date, or has no time in UTC."""
    try:
        date = parse(text)
        date.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return date


def _undated(values: Sequence[str | None], dates: Sequence[datetime | None]) -> tuple[list[int], list[int]]:
    """Return the rows whose value is not a date, and the rows without a value."""
    wrong, empty = list[int](), list[int]()
    for row, date in enumerate(dates):
        value = (values[row] or "").strip()
        if date is None:
            (wrong if value and value not in MISSING else empty).append(row)
    return wrong, empty


def _on_wrong(rows: Sequence[int], value: str, column: str, place: Callable[[int], str]) -> str:
    """Return a sentence on rows whose value is not a date; `value` is the first one."""
    return (
        f"{count(len(rows), 'date')} of {column!r} cannot be read, such as {value!r:.40} ({place(rows[0])}); "
        "write dates as 2026-11-29."
    )


def _named(period: object, unit: str) -> str:
    """Return the name of a period of pandas: ``"2026-11-29"``, or ``"2026-11"`` for a month."""
    start, end = (f"{getattr(period, name):%Y-%m-%d}" for name in ("start_time", "end_time"))
    return {"day": start, "week": f"{start} to {end}", "month": start[:-3]}[unit]


def _has(n: int) -> str:
    return "has" if n == 1 else "have"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"
