"""Print text and tables on the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import Literal

import click

from adbench_text.escaping import one_line, printable

_IN_A_PIPE = 10_000  # columns in a pipe, so that lines are not wrapped
_WIDEST = 110  # columns used on a terminal


def room() -> int:
    """Return the number of columns of the terminal, or very many in a pipe."""
    columns = get_terminal_size((_IN_A_PIPE, 24)).columns
    return columns if columns == _IN_A_PIPE else min(columns, _WIDEST)


def print_lines(text: str) -> None:
    """Print text, safe for a terminal. Long lines are wrapped with the same indent; code is not wrapped."""
    for line in printable(text).splitlines():
        words = line.lstrip()
        is_code = words.startswith((">>>", "..."))
        indent = " " * (len(line) - len(words))
        whole = TextWrapper(
            room(),
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        click.echo("\n".join((not is_code and whole.wrap(words)) or [line]))


def print_table(
    rows: Iterable[Sequence[object]],
    header: Sequence[str] = (),
    indent: int = 2,
    widths: Mapping[str, int] | None = None,
) -> None:
    """Print a table without lines and colours, safe for a terminal. Columns of integers are aligned right.

    The first row shows which columns have integers. Without a header, columns without text are left out.
    `widths` has the largest width of some columns, by title. With it, each row is one line, and cells that do
    not fit are cut. If the table is too wide for the terminal, the other columns get narrower. In a pipe,
    such a line has at most 110 characters.
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    if not header and rows:  # rich gives a character of width to a column without any text
        filled = [index for index in range(len(rows[0])) if any(str(row[index]) for row in rows)]
        rows = [[row[index] for index in filled] for row in rows]
    is_cut = widths is not None
    table = Table(box=None, show_header=bool(header), header_style="", padding=(0, 2, 0, 0), pad_edge=False)
    for index, cell in enumerate(rows[0] if rows else header):
        title = header[index] if header else ""
        justify: Literal["left", "right"] = "right" if isinstance(cell, int) else "left"
        width = (widths or {}).get(title)
        # rich narrows the columns that may wrap; the overflow here is for the title, cells have another
        may_wrap = width is None
        table.add_column(title, justify=justify, overflow="fold", max_width=width, no_wrap=not may_wrap)
    overflow: Literal["ellipsis", "fold"] = "ellipsis" if is_cut else "fold"
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else one_line(str(cell)) for cell in row)
        table.add_row(*(Text(cell, no_wrap=is_cut, overflow=overflow) for cell in cells))
    # a wide terminal is used for rows of one line, but wrapped text is hard to read there
    columns = get_terminal_size((_WIDEST, 24)).columns if is_cut else room()
    console = Console(width=columns, color_system=None)
    with console.capture() as captured:
        console.print(Padding.indent(table, indent))
    for line in captured.get().splitlines():
        click.echo(line.rstrip())
