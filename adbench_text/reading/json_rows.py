"""JSON: an object a line, an array of objects, or objects one after the other."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from adbench_text.errors import DataError, listing
from adbench_text.reading.batch import Batch, batch_of, in_sizes
from adbench_text.reading.decoding import BUFFER, Lines
from adbench_text.reading.options import Losses, ReadOptions

TEXT = "text"  # column of what has no named columns
_LONGEST = 100_000_000  # characters of a value that is not in one line
_BEGINNING = re.compile(r'\[\s*(?:$|[{"\[\]])|\{\s*(?:$|["}])')
_BETWEEN = re.compile(r"[\s,]*")


def _constant(name: str) -> float | None:
    """Return what Python writes into JSON as NaN, Infinity or -Infinity; NaN stands for a missing value."""
    return None if name == "NaN" else float(name)


_DECODER = json.JSONDecoder(parse_constant=_constant)  # `json.loads` would make one for each line


def batches(
    lines: Lines, name: str, options: ReadOptions, losses: Losses, sizes: Iterator[int]
) -> Iterator[Batch]:
    """Yield the rows in batches of some sizes."""
    first, is_waiting = lines.first_line(), None
    if first.startswith("[") or not _is_value(first):
        values = _values(lines, name)
    else:
        values = _of_lines(lines, name, options, losses)
        is_waiting = lines.is_waiting if lines.is_pipe else None
    rows = _rows(values, name, options, losses)
    for taken in in_sizes(rows, sizes, is_waiting):
        yield batch_of([row for row, _ in taken], [number for _, number in taken], name)


def is_json(first: str) -> bool:
    """Return whether a first line begins JSON, and is no plain line such as ``[10:30] ...``."""
    return bool(_BEGINNING.match(first))


def _is_value(line: str) -> bool:
    """Return whether a line is complete; an unfinished one goes on in the next lines."""
    if not line.startswith("{") or line.endswith("}"):
        return True
    try:
        _DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        return getattr(error, "pos", 0) < len(line)
    return True


def _of_lines(lines: Lines, name: str, options: ReadOptions, losses: Losses) -> Iterator[tuple[Any, int]]:
    for number, line in enumerate(lines, start=1 + lines.n_skipped):
        if line.isspace():
            continue
        line = line.rstrip().removesuffix(",")  # as of an array whose brackets are gone
        try:
            yield _DECODER.decode(line), number
        except (ValueError, RecursionError) as error:
            place = f"{name}, line {number:,}"
            if not options.goes_on:
                raise DataError(
                    f"{place} is not JSON: {error}. Each line must be one object; --errors replace leaves "
                    "others out."
                ) from error
            losses.add("left out", place)


def _values(lines: Lines, name: str) -> Iterator[tuple[Any, int]]:
    """Yield the values of an array, or values one after the other, and the line where each begins."""
    blocks = lines.blocks()
    text, position, line = "", 0, 1 + lines.n_skipped
    is_open, was_open = False, False
    while True:
        begin = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # it matches anywhere
        line, position = line + text.count("\n", position, begin), begin
        if position == len(text):
            text, position = next(blocks, ""), 0
            if not text:
                break
        elif text[position] == "[" and not was_open:
            is_open, was_open, position = True, True, position + 1
        elif text[position] == "]" and is_open:
            is_open, position = False, position + 1
        else:
            try:
                value, end = _DECODER.raw_decode(text, position)
            except (ValueError, RecursionError) as error:
                more = "".join(islice(blocks, 1 + len(text) // BUFFER)) if len(text) < _LONGEST else ""
                if not more or isinstance(error, RecursionError):
                    raise DataError(f"{name}, line {line:,} is not JSON: {error}.") from error
                text, position = text[position:] + more, 0
                continue
            yield value, line
            line, position = line + text.count("\n", position, end), end
    if is_open:
        raise DataError(f"{name}, line {line:,}: the array of JSON does not end; the file is cut off.")


def _rows(
    values: Iterator[tuple[Any, int]], name: str, options: ReadOptions, losses: Losses
) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield an object for each value; a text alone is the column ``text``."""
    first = next(values, None)
    if first is None:
        return
    value, line = first
    table, key, held = _table(value), _only_list(value), _held(value)
    second = next(values, None) if table or key or held else None
    if second is None and table:
        yield from ((row, line) for row in table)
        return
    if second is None and key:
        losses.note(f"The rows of {name} are those of {key!r} in it.")
        yield from ((row, line) for row in value[key])
        return
    if second is None and held:
        raise DataError(
            f"{name} is one object without a text, which holds {listing(map(repr, held))}. JSON is read as "
            "an object a line, an array of objects, or one object after the other; save one list so."
        )
    for value, number in chain([first], [second] if second else [], values):
        yield from _row(value, number, name, options, losses)


def _row(
    value: Any, number: int, name: str, options: ReadOptions, losses: Losses
) -> Iterator[tuple[Mapping[str, Any], int]]:
    if isinstance(value, dict):
        yield value, number
    elif isinstance(value, str):
        yield {TEXT: value}, number
    elif options.goes_on:
        losses.add("left out", f"{name}, line {number:,}")
    else:
        raise DataError(
            f"{name}, line {number:,} is JSON, but not an object: {json.dumps(value):.40}. --errors replace "
            "leaves such lines out."
        )


def _only_list(value: Any) -> str | None:
    """Return the name of the only list of objects in an object, as a server answers."""
    if not isinstance(value, dict) or TEXT in value:
        return None
    lists = _lists(value)
    return lists[0] if len(lists) == 1 and not _has_text(value) else None


def _held(value: Any) -> list[str]:
    """Return the names of the lists and objects in an object; empty if the object may be a row."""
    if not isinstance(value, dict) or TEXT in value or _has_text(value):
        return []
    if len(_lists(value)) < 2 and any(isinstance(each, str) for each in value.values()):
        return []
    return [key for key, each in value.items() if isinstance(each, list | dict)]


def _lists(value: Mapping[str, Any]) -> list[str]:
    """Return the names of the lists of objects in an object."""
    return [
        key
        for key, each in value.items()
        if isinstance(each, list) and each and all(isinstance(row, dict) for row in each)
    ]


def _has_text(value: Mapping[str, Any]) -> bool:
    return any(isinstance(each, str) and " " in each for each in value.values())


def _table(value: Any) -> list[dict[str, Any]]:
    """Return the rows of a table that pandas writes as one object: by columns, by rows or split."""
    if not isinstance(value, dict):
        return []
    columns, rows = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(rows, list) and value.keys() <= {"columns", "index", "data"}:
        return _split(columns, rows)
    if not value or not all(isinstance(each, dict) for each in value.values()):
        return []
    keys = list(next(iter(value.values())))
    if any(list(each) != keys for each in value.values()):
        return []
    if _are_rows(value, keys):
        return [{"id": name, **row} for name, row in value.items()]
    if len(value) == 1 and not _are_numbers(keys):  # it may as well be a row
        return []
    return [{name: column[key] for name, column in value.items()} for key in keys]


def _split(columns: list[Any], rows: list[Any]) -> list[dict[str, Any]]:
    if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
        return []
    return [dict(zip(map(str, columns), row, strict=True)) for row in rows]


def _are_rows(value: Mapping[str, Any], keys: list[str]) -> bool:
    """Return whether an object of objects has a row for each key, not a column.

    Rows are numbered where nobody named them. Where both are named, there are more rows than columns.
    """
    if len(value) == 1 or _are_numbers(keys):
        return False
    return _are_numbers(value) or len(value) >= len(keys)


def _are_numbers(names: Iterable[str]) -> bool:
    return all(map(str.isdecimal, names))
