"""Dates of documents, and the last period of a file."""

from datetime import UTC, datetime, timedelta

import pytest

from adbench_text.errors import InvalidValueError
from adbench_text.reading.dates import date_of, last_period


def place(row):
    return f"a.csv, line {row + 2}"


def divided(values):
    return last_period(values, "day", place)


def days(n, per_day, start=datetime(2026, 3, 2)):
    return [f"{start + timedelta(days=day):%Y-%m-%d}" for day in range(n) for _ in range(per_day)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-29", datetime(2026, 11, 29)),
        (" 2026-11-29 10:30:00.5 ", datetime(2026, 11, 29, 10, 30, 0, 500_000)),
        ("2026-11-29T10:30Z", datetime(2026, 11, 29, 10, 30, tzinfo=UTC)),
        ("2026-11-29 10:30:00 UTC", datetime(2026, 11, 29, 10, 30)),
        ("20261129", datetime(2026, 11, 29)),
        ("26-FEB-1987 15:01:01.79", datetime(1987, 2, 26, 15, 1, 1, 790_000)),
        ("March 3, 2026", datetime(2026, 3, 3)),
        ("3 March 2026", datetime(2026, 3, 3)),
        ("29 Nov 2026", datetime(2026, 11, 29)),
        ("2026/11/29", datetime(2026, 11, 29)),
        ("29-Nov-2026 10:00", datetime(2026, 11, 29, 10)),
        ("Mon, 20 Nov 1995 19:12:08 +0000", datetime(1995, 11, 20, 19, 12, 8, tzinfo=UTC)),
    ],
)
def test_a_date_is_read_if_it_has_one_meaning(value, expected):
    assert date_of(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        "",
        "01/02/2026",
        "1.2.2026",
        "12",
        "1700000000",
        "2026-13-01",
        "2026-02-30",
        "Feb 2026",
        "Monday",
        "x" * 99,
    ],
)
def test_no_date_is_guessed(value):
    assert date_of(value) is None


@pytest.mark.parametrize(
    ("values", "summary", "n_new"),
    [
        (days(3, 300), "last day, 2026-03-04: 300 documents. OLD is the 2 days before it: 600 ", 300),
        (days(14, 50), "last week, 2026-03-09 to 2026-03-15: 350 documents. OLD is the 1 week before", 350),
        (days(60, 5), "last month, 2026-04: 150 documents. OLD is the 1 month before it: 150 ", 150),
        (days(18, 20), "last week, 2026-03-16 to 2026-03-22: 80 documents. OLD is the 2 weeks before", 80),
        (days(33, 20), "last week, 2026-03-30 to 2026-04-05: 100 documents. OLD is the 4 weeks before", 100),
    ],
)
def test_the_last_period_is_the_shortest_with_enough_documents(values, summary, n_new):
    found = divided(values)
    assert summary in found.summary
    assert len(found.new) == n_new
    assert sorted([*found.old, *found.new]) == [*range(len(values))]
    assert found.notes == []


@pytest.mark.parametrize(
    ("values", "quoted"),
    [
        ([*days(3, 3), *[""] * 90, "foo"], "has a date in 9 of 100 documents"),
        ([*days(3, 3), *["foo"] * 60, *[" NULL "] * 31], "60 dates of 'day' cannot be read, such as 'foo'"),
    ],
)
def test_few_dates_are_an_error_with_the_most_frequent_reason(values, quoted):
    with pytest.raises(InvalidValueError, match=quoted):
        divided(values)


def test_rows_without_a_readable_date_are_left_out_and_named():
    found = divided([*days(2, 300), "01/02/2026", None, "", "NULL"])
    wrong, empty = found.notes
    assert "1 date of 'day' cannot be read, such as '01/02/2026' (a.csv, line 602)" in wrong
    assert "3 documents without a date" in empty
    assert max([*found.old, *found.new]) == 599


def test_time_zones_are_converted_and_a_mixture_is_named():
    start = [*days(1, 300), *days(1, 300, datetime(2026, 3, 3))]
    found = divided([*start, "2026-03-04T00:30:00+02:00"])
    assert len(found.new) == 301
    assert "(UTC)" in found.summary
    assert "600 dates of 'day' without a time zone" in found.notes[0]


def test_periods_without_documents_are_named():
    found = divided([*days(1, 300), *days(1, 300, datetime(2026, 3, 9))])
    assert "6 days between the first and the last one have no documents." in found.notes


@pytest.mark.parametrize(
    ("values", "quoted"),
    [
        (["01/02/2026"] * 300, r"'01/02/2026' \(a.csv, line 2\)"),
        ([None] * 300, "'day' has a date in 0 of 300"),
        ([], "'day' has a date in 0 of 0"),
        (days(1, 400), "2026-03-02: nothing is before"),
        ([*days(9, 400), "9999-12-31"], r"month, 9999-12, has 1 document \(a.csv, line 3602\)"),
        ([*days(9, 400), "2062-02-03"], r"month, 2062-02, has 1 document \(a.csv, line 3602\)"),
    ],
)
def test_a_file_without_two_periods_is_refused(values, quoted):
    with pytest.raises(InvalidValueError, match=quoted):
        divided(values)
