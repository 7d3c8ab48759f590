"""Read the CSV files of cells that ``report --format csv`` writes."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adbench_text.checks import check_choice
from adbench_text.contract.protocols import PROTOCOLS
from adbench_text.corpora.split import check_key
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import DataError
from adbench_text.escaping import from_formula
from adbench_text.failures import message_of
from adbench_text.metrics import COSTS, METRICS, OF_KNOWN, OF_WORDS, TIED
from adbench_text.plugins.configure import choice_name
from adbench_text.processes import STOPPED
from adbench_text.reading.separated import delimiter_of, opened
from adbench_text.storage import database_advice
from adbench_text.store.cells import COLUMNS, SPLIT, table_of
from adbench_text.store.run import impossible

if TYPE_CHECKING:
    import pandas as pd

# Columns that must not be empty in any row, if the CSV has them.
_NEEDED = ("detector", "dataset", "contamination", "seed", "status", "cell")
# Values that other columns of a CSV may have.
_CHOICES = {"status": ("ok", "failed", *STOPPED), "protocol": PROTOCOLS}
_FLAGS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_COUNTS = dict.fromkeys(("seed", "known", "n_train", "n_train_outliers", "n_test", "n_test_outliers"), 0)
_COUNTS |= {"n_configurations": 1, "limit": 1, "n_splits": 1}
# A number with a decimal comma, after a separator and before the next.
_DECIMAL_COMMA = re.compile(r"[;\t]\"?(-?\d+),(\d+(?:[eE][-+]?\d+)?)\"?(?=[;\t\r\n]|$)")
_LARGEST = 2**53  # largest whole number in a file


def read_csv(path: Path) -> "pd.DataFrame":
    """Read a table that ``report --format csv`` wrote; columns that an older file lacks are empty.

    Raise DataError if the file cannot be read, or is another kind of file; the error names the line and the
    column.
    """
    try:
        text = opened(path).read()
        if (delimiter := delimiter_of(text)) != ",":  # then a comma may stand for the decimal point
            text = _DECIMAL_COMMA.sub(rf"{delimiter}\1.\2", text)
        reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header = _header(next(reader, []))
        lines = [(reader.line_num, line) for line in reader if any(map(str.strip, line))]
        if not lines:
            raise ValueError("it has a header and no cell")
        rows = [_row(number, dict(_fields(number, header, line))) for number, line in lines]
        others = [name for name in header if name not in COLUMNS and not _is_of_numbers(rows, name)]
        return table_of({name: row[name] for name in row if name not in others} for row in rows)
    except OSError as error:
        raise DataError(f"Cannot read the cells of {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        not_utf = "it is neither in UTF-8 nor in UTF-16; save it as CSV in UTF-8"
        reason = database_advice(path) or not_utf
        raise DataError(f"Cannot read the cells of {path}: {reason}.") from error
    except (ValueError, csv.Error) as error:
        reason = message_of(error).removesuffix(".")
        raise DataError(f"Cannot read the cells of {path}: {reason}.") from error


def _header(line: Sequence[str]) -> list[str]:
    """Return the columns in the first line of a file; raise ValueError if the file has no cells."""
    header = [name.strip() for name in line]
    while header and not header[-1]:  # a spreadsheet saves empty columns, too
        header.pop()
    if lacking := [name for name in ("detector", *SPLIT[:4], "status") if name not in header]:
        columns = ", ".join(header)
        raise ValueError(f"it has no column {lacking[0]!r} between commas; its first line is {columns!r:.80}")
    if doubled := [name for name, n in Counter(header).items() if n > 1]:
        raise ValueError(f"it has the column {doubled[0]!r} twice")
    return header


def _fields(number: int, header: Sequence[str], line: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the column and the text of each field; raise ValueError if the line does not fit the header."""
    if len(line) < len(header) or any(line[len(header) :]):
        raise ValueError(f"line {number} has {len(line)} fields, and the first line has {len(header)}")
    yield from zip(header, line, strict=False)


def _row(number: int, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the row for a line of a CSV; raise ValueError if a value is wrong."""
    row: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            if name in _NEEDED and not text:
                raise ValueError("it is empty")
            row[name] = _value(name, text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number}, column {name!r}: {error}") from error
    names = (*METRICS, *COSTS, *OF_KNOWN, *OF_WORDS, TIED)
    measured = {name: row[name] for name in names if texts.get(name)}
    try:
        if reason := impossible(measured):
            raise ValueError(reason)
        check_key(SplitKey(**{name: row[name] for name in SPLIT if name in row}))
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from error
    row.setdefault("cell", f"line {number}")  # an older file lacks this column
    choice = (row.get(name, COLUMNS[name]) for name in ("detector", "preset", "configuration"))
    return row | {"name": choice_name(*choice)}


def _is_of_numbers(rows: Iterable[Mapping[str, Any]], name: str) -> bool:
    """Return whether a column may be a metric that somebody has added."""
    return all(isinstance(row[name], float) for row in rows)


def _value(name: str, text: str) -> Any:
    """Return a value of a CSV; raise ValueError if its column cannot have it."""
    if name not in COLUMNS:  # perhaps another metric
        with suppress(ValueError):
            return float(text or "nan")
        return text
    if name == "started":
        return _seconds(text) if text else None
    default = COLUMNS[name]
    if not text:
        return default
    if isinstance(default, str):
        value = from_formula(text)
        if name in _CHOICES:
            check_choice(name, value, _CHOICES[name])
        if name == "classes" and not _is_list_of_texts(value):
            raise ValueError(f"{text!r:.60} is not a JSON list of classes")
        return value
    if isinstance(default, bool):
        check_choice(name, text.lower(), _FLAGS)
        return _FLAGS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"it must be a number, got {text!r:.60}") from None
    if name in _COUNTS and not number >= _COUNTS[name]:
        raise ValueError(f"it must be at least {_COUNTS[name]}, got {text}")
    if not isinstance(default, int):
        return number
    if not number.is_integer() or abs(number) > _LARGEST:  # a spreadsheet may write 0.0
        raise ValueError(f"it must be a whole number, got {text}")
    return int(number)


def _seconds(text: str) -> float:
    """Return a time as seconds since the epoch."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"it must be as 2026-11-27T10:00:00+00:00, got {text!r:.60}") from None
    if not 1970 <= time.year < 2262:  # the range of pandas
        raise ValueError(f"its year must be in 1970 ... 2261, got {text}")
    return time.timestamp()


def _is_list_of_texts(text: str) -> bool:
    """Return whether a text is a JSON list of texts."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
