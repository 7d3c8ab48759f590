"""Facts and tables that commands print."""

import json
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from adbench_text.cli import ui
from adbench_text.cli.show import echo, next_command, show, table

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
    echo(table([("sea", 1200)], header=("class", "n")))


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


def test_a_server_is_named_by_its_address_without_a_password():
    store = SimpleNamespace(uri="http://me:s3cret@host", shown="http://***@host/")
    assert ui.where(store) == "http://***@host/#/experiments"


def test_the_next_command_can_be_pasted(capsys):
    next_command("report", "--sweep", "my sweep.toml")
    assert capsys.readouterr() == ("", "Next: adbench-text report --sweep 'my sweep.toml'\n")
