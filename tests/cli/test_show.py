"""Tables that commands print."""

import click
import pytest
from click.testing import CliRunner

from adbench_text.cli.show import print_table

ROWS = [
    ("näme-" + 20 * "x", "red \x1b[31m\nnext \u202eline [bold]of[/bold] :smile:"),
    ("日本語", 60 * "word "),
]


@click.command()
def printed():
    print_table(ROWS)
    print_table([("sea", 1200)], header=("class", "n"), indent=0)


@pytest.mark.parametrize("columns", [40, 80])
def test_a_table_fits_the_terminal_and_is_safe(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = CliRunner().invoke(printed).output.splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line.isprintable() and line == line.rstrip() for line in lines)
    assert lines[-2:] == ["class      n", "sea    1,200"]


def test_no_line_is_wrapped_in_a_pipe(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.__stdout__", None)
    lines = CliRunner().invoke(printed).output.splitlines()
    assert len(lines) == 4
    assert lines[0].endswith("  red \ufffd[31m next \ufffdline [bold]of[/bold] :smile:")
