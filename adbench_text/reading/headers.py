"""Find the header of a CSV or TSV file, titles above it, and descriptions below it."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from adbench_text.reading.dialects import DELIMITERS, Dialect, are_alike
from adbench_text.reading.options import ReadOptions
from adbench_text.reading.values import MISSING

_MOST_TITLES = 20  # rows above a header
_MOST_BELOW = 3  # rows below a header that describe the columns
_N_COMPARED = 5  # rows to compare with a header
_N_LOOKED_AT = 50  # rows below a header to search for numbers or dates
_SHARE = 0.9  # least share of rows with as many fields as the header
_N_WORDS_OF_TEXT = 5  # names of columns have fewer words
# Frequent names of columns in files of documents.
_KNOWN = frozenset(
    "id file text body message comment content review description question answer title subject label "
    "class category".split()
)
_NO_NAME = re.compile(r"[-+]?\d+([.,]\d+)*|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|https?://.*", re.DOTALL)
_NOTHING = re.compile(r"[-–—.?*/\s]*")
_UNIT = re.compile(r"[#%‰°$€£¥]|°[CF]|[kmcnµ]?(?:s|m|g|l|W|V|A|Hz)|[kMG]B|min|ms|h|d|USD|EUR|GBP")
_NO_LETTER = re.compile(r"[\W_]+")
_IMPORT_ID = '{"ImportId":'  # in every column of the second row below a header of Qualtrics
_ANSWERS = ("Response", "Open-Ended Response")  # in the row below a header of SurveyMonkey


def n_lines_above(sample: Sequence[str], options: ReadOptions, wanted: Collection[str] = ()) -> int:
    """Return how many lines of a sample are titles above its header.

    The header is the first row with the `wanted` columns, or otherwise the first row that is not a title. The
    delimiter is the one for which the rows below have as many fields as the header.
    """
    # for each delimiter: whether the header has the wanted columns, how well the rows fit, what decides
    # between equals (few rows above a wanted header, or many columns), and the number of lines above
    candidates = []
    for delimiter in options.delimiter or DELIMITERS:
        quotes = delimiter != "\t" if options.quotes is None else options.quotes
        rows, sizes = [], []  # a field in quotes may have several lines
        for fields, lines in Dialect(delimiter, quotes).rows(sample):
            rows.append(fields)
            sizes.append(len(lines))
        has_wanted = [
            bool(wanted) and {*wanted} <= {*map(str.strip, fields)} for fields in rows[:_MOST_TITLES]
        ]
        if any(has_wanted):
            n = has_wanted.index(True)
            candidates.append((True, 1.0, -n, sum(sizes[:n])))
        elif judged := _titles(rows):
            share, n = judged
            candidates.append((False, share, len(rows[n]), sum(sizes[:n])))
    return max(candidates)[-1] if candidates else 0


def _titles(rows: Sequence[Sequence[str]]) -> tuple[float, int] | None:
    """Return the share of rows that have as many fields as the header, and the number of titles above it.

    Return None if the rows do not make a table.
    """
    widths = Counter(len(fields) for fields in rows if fields)
    n = widths.most_common(1)[0][0] if widths else 1
    if n < 2:
        return (1.0, above) if (above := _titles_of_one_column(rows)) else None
    above = next((place for place, fields in enumerate(rows) if not _is_title(fields, n)), len(rows))
    above = _below_facts(rows, above, n)
    if above > _MOST_TITLES or len(rows) < above + 2:
        return None
    header, below = rows[above], [fields for fields in rows[above + 1 :] if fields]
    share = sum(len(fields) == n for fields in below) / max(len(below), 1)
    if share < _SHARE or len(header) != n:
        return None
    if not any(map(any, rows[:above])):  # empty lines are not titles
        return share, 0
    n_filled = sum(sum(map(bool, fields)) > 1 for fields in below)
    is_header = len({*filter(None, header)}) == sum(map(bool, header)) and not is_like_a_row(header, below)
    is_text = any(name.startswith(" ") for name in header)  # a space follows a comma in a sentence
    return (share, above) if is_header and not is_text and 2 * n_filled >= len(below) else None


def _titles_of_one_column(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of lines above the header of one column, a known name below a title and a blank."""
    filled = [place for place, fields in enumerate(rows) if any(fields)]
    if len(filled) < 3 or len(rows[filled[0]][0].split()) < 2:
        return 0
    above = filled[1]
    header, below = rows[above], [rows[place] for place in filled[2:]]
    has_texts = sum(len(fields[0].split()) > 1 for fields in below) >= _SHARE * len(below)
    return above if above - filled[0] > 1 and _is_known(header) and has_texts else 0


def _is_title(fields: Sequence[str], n: int) -> bool:
    """Return whether a row may be a title, a comment or a fact above a header of `n` names."""
    filled = [field for field in fields if field.strip()]
    if len(filled) < 2:
        return not filled or bool(fields[0].strip())
    if fields[0].startswith("#"):
        return len(fields) != n
    return _is_fact(fields) and len(filled) < n and len(fields) <= n


def _is_fact(fields: Sequence[str]) -> bool:
    """Return whether a row has a number, a date, a name with a colon, or the parts of a sentence."""
    return any(
        field.startswith(" ") or field.rstrip().endswith(":") or _NO_NAME.fullmatch(field.strip())
        for field in fields
        if field.strip()
    )


def _below_facts(rows: Sequence[Sequence[str]], above: int, n: int) -> int:
    """Return the place of the header, given a row at `above` that may be a fact such as ``by,J. Smith``.

    It is a fact if it cannot be the header, or if a later row names more columns of numbers or dates.
    """
    if above >= len(rows) or (len(rows[above]) == n and _is_known(rows[above])):
        return above
    first, has_title = rows[above], any(map(any, rows[:above]))
    next_width = next((len(fields) for fields in rows[above + 1 :] if any(fields)), n)
    lacks_index = len(first) == n - 1 and next_width == n and not has_title and not _is_fact(first)
    is_no_header = len(first) != n and any(first[1:]) and not lacks_index
    is_padded = has_title and not all(first)
    has_facts = True  # whether all rows from `above` on may be facts
    for place in range(above + 1, min(_MOST_TITLES + 1, len(rows) - 1)):
        header, before = rows[place], rows[place - 1]
        has_facts &= len(before) != n or not all(before) or _is_fact(before)
        if not has_facts and n > 2:
            break
        is_named = (has_title or any(map(_is_fact, rows[above:place]))) and _is_known(header)
        below = rows[place + 1 : place + 1 + _N_LOOKED_AT]
        if (has_facts or is_named) and len(header) == n and _has_names(header, below):
            is_full = is_named or (has_facts and (is_no_header or is_padded) and all(header))
            of_first = rows[above + 1 : above + 1 + _N_LOOKED_AT]
            n_typed = -1 if is_no_header else _n_typed(first, of_first)
            if is_full or _n_typed(header, below) > n_typed:
                return place
    return above


def _is_known(fields: Sequence[str]) -> bool:
    """Return whether a row has a frequent name of a column."""
    return not _KNOWN.isdisjoint(field.strip().lower() for field in fields)


def _has_names(header: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the fields of a row are names of columns: short, different, and not among the values."""
    names = [*filter(None, header)]
    is_short = all(len(name.split()) < _N_WORDS_OF_TEXT for name in names)
    if len(names) < 2 or len({*names}) < len(names) or not is_short or _is_fact(header):
        return False
    columns = zip(*(row for row in below if len(row) == len(header)), strict=True)
    return all(name not in column for name, column in zip(header, columns, strict=False) if name)


def _n_typed(names: Sequence[str], below: Sequence[Sequence[str]]) -> int:
    """Return how many columns have numbers, dates, or codes that differ only in digits, below a name."""
    columns = zip(*(row for row in below if len(row) == len(names)), strict=True)
    n_typed = 0
    for name, column in zip(names, columns, strict=False):
        first, *values = filter(_is_there, map(str.strip, (name, *column))) if _is_there(name) else [""]
        if len(values) >= _N_COMPARED and not _are_typed([first, values[0]]):
            n_typed += 1 if _are_typed(values) else 0
    return n_typed


def _is_there(value: str) -> bool:
    """Return whether a cell has a value: no dash, and no word for a missing value."""
    return not _NOTHING.fullmatch(value) and value.strip() not in MISSING


def _are_typed(values: Sequence[str]) -> bool:
    """Return whether all values are numbers, dates or addresses, or codes that differ only in digits."""
    if all(map(_NO_NAME.fullmatch, values)):
        return True
    is_code = any(map(str.isdigit, values[0])) and " " not in values[0]
    return is_code and all(are_alike(values[0], each) for each in values[1:])


def n_rows_below(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows describe the columns. Programs for surveys write such rows."""
    names = [*map(_letters, header)]
    n_names = [sum(a == b != "" for a, b in zip(map(_letters, row), names, strict=False)) for row in rows]
    n_below = 0
    for number, row in enumerate(rows[:_MOST_BELOW], start=1):
        cells, later = [cell for cell in row if cell.strip()], rows[number:]
        repeats = n_names[number - 1] > max(1, 2 * max(n_names[number:], default=0))
        is_code = bool(cells) and all(cell.startswith(_IMPORT_ID) for cell in cells)
        has_answers = any(cell in _ANSWERS for cell in cells)
        lacks_id = not row[0] and all(each[0] for each in later)
        is_below = repeats or is_code or (has_answers and lacks_id)
        is_below |= number == 1 and _has_units(row, later[:_N_LOOKED_AT])
        n_below = number if later and is_below else n_below
    return n_below


def _has_units(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row has units of columns of numbers, such as ``#`` and ``ms``, and no sentence."""
    is_unit = any(cell.strip() and (_UNIT.fullmatch(cell.strip())) for cell in row)
    is_sentence = any(len(cell.split()) >= _N_WORDS_OF_TEXT for cell in row)
    return is_unit and not is_sentence and _n_typed(row, below) > 1


def _letters(text: str) -> str:
    """Return the letters and digits of a text without case, to compare names of columns."""
    return _NO_LETTER.sub("", text).casefold()


def as_in_pandas(header: Sequence[str]) -> list[str]:
    """Return unique names of columns, as pandas makes them, in linear time.

    >>> as_in_pandas(["note", "", "note", "note.1", "note"])
    ['note', 'Unnamed: 1', 'note.2', 'note.1', 'note.3']
    """
    names = [name or f"Unnamed: {place}" for place, name in enumerate(header)]
    there, n_given = Counter(names), Counter[str]()
    for place in sorted(range(len(names)), key=lambda place: not header[place]):  # empty names come last
        name = given = names[place]
        number = n_given[given]
        while number:
            n_given[given] = number + 1
            name = f"{given}.{number}"
            number = number + 1 if there[name] else n_given[name]
        there.subtract([given])
        there[name] += 1
        n_given[name] += 1
        names[place] = name
    return names


def is_like_a_row(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a header may be a row, given the next rows.

    A header may be a row if it has a number, a date or an address, or is one sentence. It may also be a row
    if it has a sentence and a code, and the rows have a similar code.
    """
    if any(_NO_NAME.fullmatch(name.strip()) for name in header):
        return True
    is_sentence = any(len(name.split()) >= _N_WORDS_OF_TEXT for name in header)
    compared = [row for row in rows[:_N_COMPARED] if len(row) == len(header)]
    is_code = any(
        len(own) > 1 and all(are_alike(own[0], each) for each in own[1:])
        for own in zip(header, *compared, strict=True)
    )
    return is_sentence and (len(header) == 1 or is_code)
