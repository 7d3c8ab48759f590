"""Prints tables on the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from shutil import get_terminal_size
from typing import Literal

import click

from adbench_text.escaping import one_line

_IN_A_PIPE = 10_000  # columns: lines are not wrapped there
_WIDEST = 110  # columns used on a terminal


def print_table(
    rows: Iterable[Sequence[object]],
    header: Sequence[str] = (),
    indent: int = 2,
    widths: Mapping[str, int] | None = None,
) -> None:
    """Print a table without lines and colours, safe for a terminal; numbers are aligned to the right.

    With `widths`, each row is one line: cells are cut so that they fit their column and the terminal.
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    overflow: Literal["fold", "ellipsis"] = "fold" if widths is None else "ellipsis"
    built = Table(box=None, show_header=bool(header), header_style="", padding=(0, 2, 0, 0), pad_edge=False)
    for index, cell in enumerate(rows[0] if rows else header):
        title = header[index] if header else ""
        justify: Literal["left", "right"] = "right" if isinstance(cell, int) else "left"
        width = (widths or {}).get(title)
        built.add_column(title, justify=justify, overflow="fold", max_width=width, no_wrap=bool(width))
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else one_line(str(cell)) for cell in row)
        built.add_row(*(Text(cell, no_wrap=widths is not None, overflow=overflow) for cell in cells))
    columns = get_terminal_size((_IN_A_PIPE if widths is None else _WIDEST, 24)).columns
    is_limited = widths is None and columns != _IN_A_PIPE
    console = Console(width=min(columns, _WIDEST) if is_limited else columns, color_system=None)
    with console.capture() as captured:
        console.print(Padding.indent(built, indent))
    for line in captured.get().splitlines():
        click.echo(line.rstrip())
