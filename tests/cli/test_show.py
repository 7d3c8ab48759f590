"""Facts and tables that commands print."""

import json

import click
import pytest
from click.testing import CliRunner

from adbench_text.cli.show import print_table, show

ROWS = [
    ("näme-" + 20 * "x", "red \x1b[31m\nnext \u202eline [bold]of[/bold] :smile:"),
    ("日本語", 60 * "word "),
]
FACTS = {
    "title": "A title\x07",
    "nothing": [],
    "facts": dict(ROWS),
    "rows": [{"class": "sea", "n": 1200, "grid": [{"k": 1}, {"k": None}]}],
    "lines": ["one", "  two\x1b"],
}


@click.command()
def printed():
    show(FACTS, False)
    print_table([("sea", 1200)], header=("class", "n"))


@pytest.mark.parametrize("columns", [40, 80])
def test_facts_fit_the_terminal_and_are_safe(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = CliRunner().invoke(printed).output.splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line.isprintable() and line == line.rstrip() for line in lines)
    assert lines[:5] == ["title:  A title\ufffd", "", "nothing:", "  none", ""]
    assert lines[-10:] == [
        *("", "rows:", "  class  n     grid", "  sea    1200  k=1; k=null"),
        *("", "lines:", "  one", "    two\ufffd", "  class      n", "  sea    1,200"),
    ]


def test_no_line_is_wrapped_in_a_pipe(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.__stdout__", None)
    lines = CliRunner().invoke(printed).output.splitlines()
    assert lines[6].endswith("  red \ufffd[31m next \ufffdline [bold]of[/bold] :smile:")


def test_programs_get_json():
    done = CliRunner().invoke(click.command()(lambda: show(FACTS, True)))
    assert json.loads(done.output) == FACTS
