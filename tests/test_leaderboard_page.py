"""The page of the leaderboard in a browser: a click sorts the first table, and its columns can be chosen."""

import re
from html import unescape
from itertools import takewhile
from pathlib import Path

import pytest
from browsers import opened

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "leaderboard.md").read_text(encoding="utf-8")
SCRIPT = (DOCS / "_static" / "leaderboard.js").read_text(encoding="utf-8")


def rows_of_page() -> list[list[str]]:
    """The rows of the table, with its header, without marks."""
    lines = TEXT.partition("<!-- table: all -->\n\n")[2].splitlines()
    header, _, *rows = takewhile(lambda line: line.startswith("|"), lines)
    plain = (re.sub(r"\[(.+?)\]\(.+?\)", r"\1", row).replace("*", "") for row in (header, *rows))
    return [row.strip("| ").split(" | ") for row in plain]


HEADER, *ROWS = rows_of_page()


def markup(script: str) -> str:
    """A page with the table, as Sphinx writes it, and what a reader does there."""
    head, *body = [
        "".join(f"<{tag}><p>{text}</p></{tag}>" for text in row)
        for tag, row in [("th", HEADER), *(("td", row) for row in ROWS)]
    ]
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in body)}</tbody>"
    section = f'<section id="all-corpora"><div><table>{table}</table></div></section>'
    return f'<!doctype html><meta charset="utf-8">{section}<script>{SCRIPT}\n{script}</script>'


CLICKS = """
const all = (kind) => [...document.querySelectorAll(kind)];
const press = (kind, name) => all(kind).find((each) => each.textContent === name).click();
const click = (name) => press("th button", name);
const choose = (name) => press("label", name);
"""


def cells(page: str, tag: str) -> list[tuple[bool, str]]:
    """Whether a cell is hidden, and its text, for all cells in order."""
    found = re.findall(rf"<{tag}\b([^>]*)>(.*?)</{tag}>", page, re.DOTALL)
    return [(" hidden" in marks, unescape(re.sub("<[^>]+>", "", inner))) for marks, inner in found]


def sorted_by(page: str, name: str) -> list[str]:
    """The texts of a column from top to bottom."""
    return [text for _, text in cells(page, "td")][HEADER.index(name) :: len(HEADER)]


@pytest.mark.parametrize(
    ("name", "n_clicks", "is_ascending"),
    [
        ("benchmarks", 1, False),
        ("benchmarks", 2, True),
        ("rank, scope", 1, True),
        ("seconds for 10,000", 1, True),
    ],
)
def test_a_click_sorts_by_a_figure_with_the_best_first_and_dashes_last(
    browser, tmp_path, name, n_clicks, is_ascending
):
    page, log = opened(browser, markup(CLICKS + f"click({name!r});" * n_clicks), tmp_path)
    figures = sorted_by(page, name)
    numbers = [float(text.replace(",", "")) for text in figures if text != "–"]
    assert numbers == sorted(numbers, reverse=not is_ascending)
    assert figures[len(numbers) :] == ["–"] * (len(ROWS) - len(numbers))
    assert f'aria-sort="{"ascending" if is_ascending else "descending"}"' in page
    assert "Uncaught" not in log


def test_ranks_of_groups_are_hidden_until_a_reader_chooses_them(browser, tmp_path):
    ranks = [name for name in HEADER if name.startswith("rank, ")]
    assert len(ranks) == 5
    page, _ = opened(browser, markup(CLICKS + f"choose({ranks[0]!r}); choose('year');"), tmp_path)
    assert [text for is_hidden, text in cells(page, "th") if is_hidden] == ["year", *ranks[1:]]
    assert sum(is_hidden for is_hidden, _ in cells(page, "td")) == 5 * len(ROWS)
