"""Read one sheet of a spreadsheet. Its rows are the same as in the CSV that a spreadsheet exports."""

import csv
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, time, timedelta
from io import StringIO
from itertools import dropwhile, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from adbench_text.errors import DataError
from adbench_text.escaping import count, one_line
from adbench_text.reading.batch import MOST_ROWS, Batch, as_string, in_sizes
from adbench_text.reading.decoding import BUFFER, PACKED_SUFFIXES
from adbench_text.reading.headers import as_in_pandas, is_like_a_row, n_lines_above, n_rows_below
from adbench_text.reading.options import Losses, ReadOptions

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

KIND = "spreadsheet"  # the name of the format
SUFFIXES = ("xlsx", "xlsm", "xls", "ods")
_N_LOOKED_AT = 1000  # rows that show titles and descriptions
_MOST_CELLS = 10**8  # calamine keeps every cell of the used rectangle, 32 bytes each, also empty cells
_ADDRESS = re.compile(rb"""\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_AS_CSV = ReadOptions(delimiter=",", quotes=True)  # how `_as_line` writes a row

_Row = tuple[int, list[str]]  # the number of a row in the sheet, and its cells


class SheetFile:
    """The rows of the sheet that ``--sheet`` names; without it, of the only sheet that has rows.

    The constructor reads the header, or names the columns. The header is the first row with the `wanted`
    columns; without them it is guessed, as in a CSV.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        options: ReadOptions,
        losses: Losses,
        wanted: Collection[str] = (),
        advice: str = "give --sheet with one of them",
    ) -> None:
        self._name, self._losses = name, losses
        title, every_row = _rows_of(stream, name, options.sheet, advice)
        n_skipped = options.skip_lines or 0

        def is_skipped(row: _Row) -> bool:
            number, cells = row
            return number <= n_skipped or not any(cells)

        rows = dropwhile(is_skipped, every_row)
        header = "header" if options.header else "no header"
        self.description = f"spreadsheet, {f'sheet {title!r}, ' if title is not None else ''}{header}"
        ahead = [*islice(rows, _N_LOOKED_AT)]
        self._repeated: list[str] | None = None  # the header; rows that repeat it are left out
        self.doubled: set[str] = set()  # names of several columns
        if options.header and ahead:
            ahead = self._below_header(ahead, options, wanted)
        else:
            first_cells = ahead[0][1] if ahead else []
            self.names = [f"column{number}" for number in range(len(first_cells))]
        self._ahead, self._rest = ahead, rows

    def _below_header(self, ahead: list[_Row], options: ReadOptions, wanted: Collection[str]) -> list[_Row]:
        """Take the names of the columns from the first rows; return the rows below."""
        is_guessed = options.skip_lines is None
        if is_guessed and (n := n_lines_above([*map(_as_line, ahead)], _AS_CSV, wanted)):
            self._losses.note(
                f"Skipped {count(n, 'row')} above the header of {self._name}. If the first row is the "
                "header, give --skip-lines 0.",
                "title",
            )
            ahead = ahead[n:]
        (_, header), *ahead = ahead
        self.doubled = {name for name, n in Counter(header).items() if name and n > 1}
        self.names = as_in_pandas(header)
        below = [cells for _, cells in ahead if any(cells)]
        if options.skip_lines != 0:  # with --skip-lines 0 every row below the header stays
            self._repeated = header
            if n := n_rows_below(header, below):
                self._losses.note(
                    f"Skipped {count(n, 'row')} below the header of {self._name} that describe columns "
                    f"({', '.join(filter(None, below[0])):.60}). To read them as documents, give "
                    "--skip-lines 0.",
                    "below",
                )
                ahead = ahead[n:]
        is_named = wanted and {*wanted} <= {*self.names}
        if not is_named and is_like_a_row(header, below):
            self._losses.note(
                f"The first row of {self._name} is read as the header. If it is a document, give "
                "--no-header.",
                "header",
            )
        return ahead

    def rows(self) -> Iterator[_Row]:
        """Yield the rows below the header. A row that repeats the header is left out."""
        for rows in (self._ahead, self._rest):
            for number, cells in rows:
                if cells == self._repeated:
                    self._losses.add("repeated", f"{self._name}, row {number:,}")
                else:
                    yield number, cells

    def batches(self) -> Iterator[Batch]:
        """Yield the rows in batches."""
        for taken in in_sizes(self.rows(), repeat(MOST_ROWS)):
            columns = zip(*(cells for _, cells in taken), strict=True)
            numbers = [number for number, _ in taken]
            yield Batch(dict(zip(self.names, columns, strict=True)), numbers, self._name, "row")


def has_suffix(path: Path) -> bool:
    """Return whether the suffix of a file is the suffix of a spreadsheet."""
    return path.suffix.lower().removeprefix(".") in SUFFIXES


def table(path: Path, wanted: Collection[str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the rows of a small spreadsheet with one sheet that has rows.

    Rows above a header with the `wanted` columns are left out.
    """
    with path.open("rb") as stream:
        advice = "save it with one of them"
        sheet = SheetFile(stream, str(path), ReadOptions(), Losses(), wanted, advice=advice)
        return sheet.names, [cells for _, cells in sheet.rows()]


def _as_line(row: _Row) -> str:
    """Return a row as one line of CSV, for functions that look at the lines of a file."""
    _, cells = row
    stream = StringIO()
    csv.writer(stream).writerow([" ".join(cell.splitlines()) for cell in cells])
    return stream.getvalue()


def _rows_of(
    stream: BinaryIO, name: str, wanted: str | None, advice: str
) -> tuple[str | None, Iterator[_Row]]:
    """Return the title of the chosen sheet, and its rows with their numbers from 1 on.

    Blank rows and columns at the end are left out. The title is None if no sheet has rows.
    """
    from python_calamine import CalamineError, PasswordError

    if not stream.read(1):
        raise DataError(f"{name} is empty.")
    try:
        if zipfile.is_zipfile(stream):
            _check_size(stream, name)
        stream.seek(0)
        book = _book_of(stream)
        chosen = _chosen(book, name, wanted, advice)
    except PasswordError as error:
        raise DataError(f"{name} has a password; save it without one.") from error
    except (CalamineError, ValueError) as error:
        packed = " Unpack it first." if name.lower().endswith(PACKED_SUFFIXES) else ""
        reason = one_line(str(error)).rstrip(".")
        raise DataError(f"{name} is not a spreadsheet, or is damaged: {reason}.{packed}") from error
    if chosen is None:
        return None, iter(())
    sheet, n_rows, n_columns = chosen
    rows = islice(sheet.iter_rows() if n_rows else iter(()), n_rows)
    return sheet.name, ((n, [*map(shown, row[:n_columns])]) for n, row in enumerate(rows, start=1))


def _book_of(stream: BinaryIO) -> "CalamineWorkbook":
    """Return the workbook of a file; its content shows its format, not its suffix."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        return CalamineWorkbook.from_filelike(stream)
    except CalamineError:
        if not isinstance(path := getattr(stream, "name", None), str):
            raise
        return CalamineWorkbook.from_path(path)  # its error has a reason, such as a password


def _chosen(
    book: "CalamineWorkbook", name: str, given: str | None, advice: str
) -> "tuple[CalamineSheet, int, int] | None":
    """Return the sheet to read, and how many rows and columns it has; None if no sheet has rows.

    The user may have `given` its title, or its number from 1 on. Raise DataError if there is no such sheet,
    or if nothing is given and several sheets have rows.
    """
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    titles = [sheet.name for sheet in sheets]
    if given is not None:
        title = given
        # int refuses thousands of digits
        if title not in titles and title.isdecimal() and 0 < int(title[:9]) <= len(titles):
            title = titles[int(title) - 1]
        if title not in titles:
            raise DataError(f"{name} has no sheet {given!r}. Its sheets: {_listed(titles)}.")
        return _with_extent(book.get_sheet_by_name(title))
    # a hidden sheet often has the entries of a drop-down list; it is read if nothing else has rows
    for is_visible in (True, False):
        some = [sheet.name for sheet in sheets if (sheet.visible == SheetVisibleEnum.Visible) == is_visible]
        with_extents = [_with_extent(book.get_sheet_by_name(title)) for title in some]
        filled = [(sheet, n_rows, n_columns) for sheet, n_rows, n_columns in with_extents if n_rows]
        if len(filled) > 1:
            listed = _listed([sheet.name for sheet, *_ in filled])
            raise DataError(f"{name} has rows in {len(filled)} sheets: {listed}; {advice}.")
        if filled:
            return filled[0]
    return None


def _listed(titles: Sequence[str]) -> str:
    """Return the titles of sheets as text."""
    return ", ".join(map(repr, titles))


def _with_extent(sheet: "CalamineSheet") -> "tuple[CalamineSheet, int, int]":
    """Return a sheet, and the numbers of its rows and columns up to the last cell that is not empty."""
    n_rows = n_columns = 0
    rows = sheet.iter_rows() if sheet.start else ()  # calamine 0.4 fails on an empty sheet
    for number, row in enumerate(rows, start=1):
        n = next((place for place in range(len(row), 0, -1) if row[place - 1] != ""), 0)
        n_rows, n_columns = number if n else n_rows, max(n_columns, n)
    return sheet, n_rows, n_columns


def _check_size(stream: BinaryIO, name: str) -> None:
    """Raise DataError if the used rectangle of a sheet of Office would not fit into the memory."""
    with zipfile.ZipFile(stream) as book:
        for member in book.namelist():
            if not member.startswith("xl/worksheets/") or not member.endswith(".xml"):
                continue
            n_rows, widest, rest = 0, "", b""
            with book.open(member) as sheet:
                while block := sheet.read(BUFFER):
                    for column, row in _ADDRESS.findall(rest + block):
                        n_rows = max(n_rows, int(row))
                        widest = max(widest, column.decode(), key=lambda each: (len(each), each))
                    rest = block[-40:]  # an address may continue in the next block
            n_columns = 0
            for letter in widest:
                n_columns = 26 * n_columns + ord(letter) - ord("A") + 1
            if n_rows * n_columns > _MOST_CELLS:
                raise DataError(
                    f"{name} has a cell in {widest}{n_rows}, far from the others; delete it, or export the "
                    "sheet as CSV."
                )


def shown(value: Any) -> str:
    """Return a cell as a spreadsheet shows it by default; an empty cell is an empty text.

    >>> from datetime import date
    >>> [shown(value) for value in (5.0, 0.1, True, "", date(2024, 5, 1), datetime(2024, 5, 1, 14, 30))]
    ['5', '0.1', 'TRUE', '', '2024-05-01', '2024-05-01 14:30:00']
    >>> shown(time(9, 5)), shown(timedelta(hours=26, minutes=30))
    ('09:05:00', '26:30:00')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        # a spreadsheet keeps a time as a share of a day, so it may be wrong by microseconds
        value = (value + timedelta(milliseconds=500)).replace(microsecond=0)
        return str(value) if value.time() != time() else str(value.date())
    if isinstance(value, time):
        return value.isoformat("seconds")
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        minutes, second = divmod(abs(seconds), 60)
        hour, minute = divmod(minutes, 60)
        return f"{'-' if seconds < 0 else ''}{hour:02}:{minute:02}:{second:02}"
    return as_string(value) or ""
