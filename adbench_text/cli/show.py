"""Prints facts: as text and tables for people, or as JSON for programs."""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from adbench_text.escaping import one_line, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
_IN_A_PIPE = 10_000  # columns: lines are not wrapped there
_WIDEST = 110  # columns used on a terminal
_NO_LINKS = ("", "dumb", "linux")  # terminals that would print the address, or nothing


def show(facts: Any, blocks: Iterable["RenderableType"], as_json: bool) -> None:
    """Print facts as JSON, or the blocks that present them to people."""
    if as_json:
        click.echo(json.dumps(facts, indent=2, default=str))
        return
    columns = get_terminal_size((_IN_A_PIPE, 24)).columns
    echo(blocks, columns if columns == _IN_A_PIPE else min(columns, _WIDEST))


def echo(blocks: Iterable["RenderableType"], width: int) -> None:
    """Print blocks without colours, and without spaces at the ends of lines."""
    from rich.console import Console

    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        for block in blocks:
            console.print(block)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def table(rows: Iterable[Sequence[object]], header: Sequence[str] = (), indent: int = 2) -> "RenderableType":
    """Return a table without lines, safe for a terminal; numbers are aligned to the right."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    built = Table(box=None, show_header=bool(header), header_style="", padding=(0, 2, 0, 0), pad_edge=False)
    for index, cell in enumerate(rows[0] if rows else header):
        title = header[index] if header else ""
        built.add_column(title, justify="right" if isinstance(cell, int) else "left", overflow="fold")
    for row in rows:
        cells = (f"{cell:,}" if isinstance(cell, int) else one_line(str(cell)) for cell in row)
        built.add_row(*(Text(cell) for cell in cells))
    return Padding.indent(built, indent)


def line(text: str = "", indent: int = 0) -> "RenderableType":
    """Return a line or paragraph, made safe for a terminal."""
    from rich.padding import Padding
    from rich.text import Text

    return Padding.indent(Text(one_line(text) or " "), indent)


def link(text: str, target: str | Path, err: bool = False) -> str:
    """Return a text that a terminal opens a file or an address by; elsewhere the text alone."""
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty() or os.environ.get("TERM", "") in _NO_LINKS:
        return printable(text)
    address = target.absolute().as_uri() if isinstance(target, Path) else target
    return f"\033]8;;{printable(address)}\033\\{printable(text)}\033]8;;\033\\"


def next_command(*words: str) -> None:
    """Print the command that comes next, on stderr."""
    click.echo(printable(f"Next: {shlex.join(['adbench-text', *words])}"), err=True)
