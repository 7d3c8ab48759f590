"""Tables, lines and links that commands print."""

from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from adbench_text.cli import ui
from adbench_text.cli.show import line, link, next_command, show, table

ROWS = [
    ("näme-" + 20 * "x", "red \x1b[31m\nnext \u202eline [bold]of[/bold] :smile:"),
    ("日本語", 60 * "word "),
]


@click.command()
def printed():
    show(
        ROWS, [line("A title\x07"), line(), table(ROWS), table([("sea", 1200)], header=("class", "n"))], False
    )


@pytest.mark.parametrize("columns", [40, 80])
def test_blocks_fit_the_terminal_and_are_safe(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = CliRunner().invoke(printed).output.splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line.isprintable() and line == line.rstrip() for line in lines)
    assert lines[:2] == ["A title\ufffd", ""]
    assert lines[-2:] == ["  class      n", "  sea    1,200"]


def test_no_line_is_wrapped_in_a_pipe(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("sys.__stdout__", None)
    lines = CliRunner().invoke(printed).output.splitlines()
    assert len(lines) == 6
    assert lines[2].endswith("  red \ufffd[31m next \ufffdline [bold]of[/bold] :smile:")


@pytest.fixture(params=["stdout", "stderr"])
def terminal(request, monkeypatch) -> str:
    """Makes one of the streams a terminal; returns its name."""
    monkeypatch.setattr(f"sys.{request.param}.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    return request.param


def test_a_terminal_gets_a_link_and_anything_else_the_path(terminal, tmp_path, monkeypatch):
    path = tmp_path / "a page\x1b.html"
    linked = f"\033]8;;{path.as_uri()}\033\\page\ufffd\033]8;;\033\\"
    assert "a%20page%1B.html" in linked
    assert link("page\x1b", path, err=terminal == "stderr") == linked
    assert link("page\x1b", path, err=terminal == "stdout") == "page\ufffd"
    monkeypatch.setenv("TERM", "dumb")
    assert link("page", path, err=terminal == "stderr") == "page"


def test_a_server_is_named_by_its_address_without_a_password():
    store = SimpleNamespace(uri="http://me:s3cret@host", shown="http://***@host/")
    assert ui.where(store) == "http://***@host/#/experiments"


def test_the_next_command_can_be_pasted(capsys):
    next_command("report", "--sweep", "my sweep.toml")
    assert capsys.readouterr() == ("", "Next: adbench-text report --sweep 'my sweep.toml'\n")
