"""Read JSON: one object a line, an array of objects, or one object after the other."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from adbench_text.errors import DataError, listing
from adbench_text.reading.batch import Batch, batch_of, in_sizes
from adbench_text.reading.chats import Chats
from adbench_text.reading.decoding import BUFFER, Lines
from adbench_text.reading.options import Losses, ReadOptions

TEXT = "text"  # the column of texts without named columns
_LONGEST = 100_000_000  # characters of a value of several lines
_FEW = 5  # names in a message
_BEGINNING = re.compile(r'\[\s*(?:$|[{"\[\]])|\{\s*(?:$|["}])')
_BETWEEN = re.compile(r"[\s,]*")


def _constant(name: str) -> float | None:
    """Return the value of NaN, Infinity or -Infinity, which Python writes into JSON. NaN is missing."""
    return None if name == "NaN" else float(name)


_DECODER = json.JSONDecoder(parse_constant=_constant)  # `json.loads` would make a decoder for each line


def batches(
    lines: Lines, name: str, options: ReadOptions, losses: Losses, sizes: Iterator[int], chats: Chats
) -> Iterator[Batch]:
    """Yield the rows in batches of some sizes. Conversations have a row for each turn."""
    first, is_waiting = lines.first_line(), None
    if is_by_line(first):
        values = _of_lines(lines, name, options, losses)
        is_waiting = lines.is_waiting if lines.is_pipe else None
    else:
        values = _values(lines, name)
    values = chats.looked_at(values)
    rows = chats.rows(values) if chats.is_found else _rows(values, name, options, losses)
    for taken in in_sizes(rows, sizes, is_waiting):
        yield batch_of([row for row, _ in taken], [number for _, number in taken], name)


def is_json(first: str) -> bool:
    """Return whether a first line begins JSON. A plain line such as ``[10:30] ...`` does not."""
    return bool(_BEGINNING.match(first))


def is_by_line(first: str) -> bool:
    """Return whether each line is a value, given the first line."""
    return not first.startswith("[") and _is_value(first)


def _is_value(line: str) -> bool:
    """Return whether a line is complete. An incomplete object continues in the next lines."""
    if not line.startswith("{") or line.endswith("}"):
        return True
    try:
        _DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        return getattr(error, "pos", 0) < len(line)
    return True


def _of_lines(lines: Lines, name: str, options: ReadOptions, losses: Losses) -> Iterator[tuple[Any, int]]:
    """Yield the value of each line, and the number of the line."""
    for number, line in enumerate(lines, start=1 + lines.n_skipped):
        if line.isspace():
            continue
        line = line.rstrip().removesuffix(",")  # the lines may come from an array without its brackets
        try:
            yield _DECODER.decode(line), number
        except (ValueError, RecursionError) as error:
            place = f"{name}, line {number:,}"
            if not options.goes_on:
                raise DataError(
                    f"{place} is not JSON: {error}. Each line must be one object; --errors replace skips "
                    "other lines."
                ) from error
            losses.add("left out", place)


def _values(lines: Lines, name: str) -> Iterator[tuple[Any, int]]:
    """Yield the values of an array, or one value after the other, with the line where each begins.

    The next value begins at `position` of `text`, in the line `line` of the file. Where `text` ends, the next
    block replaces it, or follows it if a value goes on there.
    """
    blocks = lines.blocks()
    text, position, line = "", 0, 1 + lines.n_skipped
    is_open, was_open = False, False  # whether the array is open now, and whether it was ever open
    while True:
        begin = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # it matches anywhere
        line, position = line + text.count("\n", position, begin), begin
        if position == len(text):
            text, position = next(blocks, ""), 0
            if not text:
                break
        elif text[position] == "[" and not was_open:  # a later bracket begins a value that is a list
            is_open, was_open, position = True, True, position + 1
        elif text[position] == "]" and is_open:
            is_open, position = False, position + 1
        else:
            try:
                value, end = _DECODER.raw_decode(text, position)
            except (ValueError, RecursionError) as error:
                # The value may go on in the next blocks. Twice as much text each time keeps the time linear.
                more = "".join(islice(blocks, 1 + len(text) // BUFFER)) if len(text) < _LONGEST else ""
                if not more or isinstance(error, RecursionError):
                    raise DataError(f"{name}, line {line:,} is not JSON: {error}.") from error
                text, position = text[position:] + more, 0
                continue
            yield value, line
            line, position = line + text.count("\n", position, end), end
    if is_open:
        raise DataError(f"{name}, line {line:,}: the JSON array does not end; the file is incomplete.")


def _rows(
    values: Iterator[tuple[Any, int]], name: str, options: ReadOptions, losses: Losses
) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield an object for each value. A string is the column ``text``."""
    first = next(values, None)
    if first is None:
        return
    value, _ = first
    inner, longer_lists = _lists_and_objects(value), _lists_with_more_text(value)
    second = next(values, None) if inner or longer_lists else None
    if second is None and (inner or longer_lists):
        what = "without a text; it holds" if inner else "with less text than its lists"
        raise DataError(
            f"{name} is one object {what} {listing(map(repr, inner or longer_lists), _FEW)}. JSON must be "
            "one object per line, an array of objects, or one object after the other. With pandas, write it "
            "with orient='records'."
        )
    if longer_lists:
        names = listing(map(repr, longer_lists), _FEW)
        losses.note(
            f"Each object of {name} is a row, but its lists {names} have more text. To read these, write "
            "their objects one a line."
        )
    for value, number in chain([first], [second] if second else [], values):
        yield from _row(value, number, name, options, losses)


def _row(
    value: Any, number: int, name: str, options: ReadOptions, losses: Losses
) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield the object of a value; none if the value cannot be a row and such rows are skipped."""
    if isinstance(value, dict):
        yield value, number
    elif isinstance(value, str):
        yield {TEXT: value}, number
    elif options.goes_on:
        losses.add("left out", f"{name}, line {number:,}")
    else:
        raise DataError(
            f"{name}, line {number:,} is JSON, but not an object: {json.dumps(value):.40}. --errors replace "
            "skips such lines."
        )


def _lists_with_more_text(value: Any) -> list[str]:
    """Return the names of the lists in an object that probably hold the rows.

    These are lists of objects whose texts have at least as many words as the texts of the object itself.
    """
    if not isinstance(value, dict):
        return []
    n_words = {key: sum(map(_n_words, items)) for key, items in value.items() if isinstance(items, list)}
    return [key for key, n in n_words.items() if n >= max(_n_words(value), 1)]


def _n_words(value: Any) -> int:
    """Return the number of words in the texts of an object. A text of one word does not count."""
    cells = value.values() if isinstance(value, dict) else ()
    numbers = [len(each.split()) for each in cells if isinstance(each, str)]
    return sum(n for n in numbers if n > 1)


def _lists_and_objects(value: Any) -> list[str]:
    """Return the names of the lists and objects in an object, or nothing if the object may be a row."""
    if not isinstance(value, dict) or isinstance(value.get(TEXT), str):
        return []
    texts = [each for each in value.values() if isinstance(each, str)]
    lists = [each for each in value.values() if isinstance(each, list)]
    has_rows = any(isinstance(row, dict) for rows in lists for row in rows)
    if any(" " in text for text in texts) or (texts and not has_rows):
        return []
    return [key for key, each in value.items() if isinstance(each, list | dict)]
