import re

import pandas as pd
import pytest
from cells import build, csv_rows, stored

from adbench_text.reports.build import Builder
from adbench_text.reports.contents import FORMATS
from adbench_text.reports.report import Entry, Report, Table, figure
from adbench_text.store.cells import table_of


def cell(detector: str, inlier: str, level: float, seed: int, auroc: float | None):
    return stored(
        detector,
        inlier,
        auroc,
        seed,
        level,
        configuration="nu=0.2" if detector == "ocsvm" else "",
        documents="1,000 training / 20 test documents",
        reason="MemoryError: 8 GB" if auroc is None else "",
    )


@pytest.fixture(scope="module")
def small() -> Report:
    """Two detectors, two classes, two levels, two seeds; a cell failed, and one is missing."""
    records = [
        cell("llr", "sea", 0, 0, 0.90),
        cell("llr", "sea", 0, 1, 0.92),
        cell("llr", "law", 0, 0, 0.80),
        cell("llr", "law", 0, 1, 0.82),
        cell("llr", "sea", 0.05, 0, 0.7),
        cell("llr", "law", 0.05, 0, 0.9),
        cell("ocsvm", "sea", 0, 0, 0.95),
        cell("ocsvm", "law", 0, 0, None),
        cell("ocsvm", "sea", 0.05, 0, 0.6),
    ]
    return build(records)


HEADLINE = "made-up: llr has a mean AUROC, 86.0% at 0% of outliers in the training data."


def test_markdown(small):
    assert (
        FORMATS["markdown"].render(small)
        == f"""\
{HEADLINE}

**AUROC (%), 0% of outliers in the training data**

| dataset | inlier | llr | ocsvm(nu=0.2) |
| --- | --- | ---: | ---: |
| made-up | law | 81.0 ± 1.4 | failed |
| made-up | sea | 91.0 ± 1.4 | **95.0** |
| made-up | mean | 86.0 ± 1.4 | 95.0 (1 of 2) |

- (n of m): only n of m cells are finished; the figure covers these n.
- Not all figures are of the same seeds: llr: 0, 1; ocsvm(nu=0.2): 0.
- failed: ocsvm(nu=0.2) on made-up/law at 0%, seed 0: MemoryError: 8 GB

**AUROC (%) by contamination of the training data, mean over the splits**

| dataset | outliers | llr | ocsvm(nu=0.2) |
| --- | --- | ---: | ---: |
| made-up | 0% | 86.0 ± 1.4 | 95.0 (1 of 2) |
| made-up | 5% | 80.0 | 60.0 (1 of 2) |

- results: 8 cells, 1 failed
- seeds: 0, 1
- made-up: edition published; 1,000 training / 20 test documents
"""
    )


def test_each_format_marks_a_detector_of_the_user():
    rows = [stored(name, inlier, figure) for name, figure in (("llr", 0.9), ("x", 0.8)) for inlier in "ab"]
    report = Builder(table_of(rows), ours=["x=Mine"]).report(["main", "ranks"])
    marks = {
        "markdown": ["| llr | ▸ **Mine** |", "| ▸ **Mine** | 2.00 |"],
        "terminal": ["┃   llr ┃ ▸Mine ┃", "│ ▸Mine "],
        "latex": [r"& llr & \textbf{Mine} \\", r"\textbf{Mine} & 2.00 &"],
        "html": [' class="ours">Mine<', ' class="edge ours">Mine<', '<td class="ours" data-value="80"'],
    }
    for form, expected in marks.items():
        text = FORMATS[form].render(report)
        assert [each for each in expected if each not in text] == []
        assert ">x<" not in text


def test_terminal_without_a_terminal(small):
    assert (
        FORMATS["terminal"].render(small)
        == f"""\
{HEADLINE}

AUROC (%), 0% of outliers in the training data
┏━━━━━━━━━┳━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
┃ dataset ┃ inlier ┃        llr ┃ ocsvm(nu=0.2) ┃
┡━━━━━━━━━╇━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
│ made-up │ law    │ 81.0 ± 1.4 │        failed │
│ made-up │ sea    │ 91.0 ± 1.4 │         95.0* │
│ made-up │ mean   │ 86.0 ± 1.4 │ 95.0 (1 of 2) │
└─────────┴────────┴────────────┴───────────────┘
(n of m): only n of m cells are finished; the figure covers these n.
Not all figures are of the same seeds: llr: 0, 1; ocsvm(nu=0.2): 0.
failed: ocsvm(nu=0.2) on made-up/law at 0%, seed 0: MemoryError: 8 GB

AUROC (%) by contamination of the training data, mean over the splits
┏━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓
┃ dataset ┃ outliers ┃        llr ┃ ocsvm(nu=0.2) ┃
┡━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩
│ made-up │ 0%       │ 86.0 ± 1.4 │ 95.0 (1 of 2) │
│ made-up │ 5%       │       80.0 │ 60.0 (1 of 2) │
└─────────┴──────────┴────────────┴───────────────┘

*: the best of ours in its row; in the leaderboard, in its column.

results: 8 cells, 1 failed
seeds: 0, 1
made-up: edition published; 1,000 training / 20 test documents
"""
    )


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_on_a_terminal_the_best_is_bold_and_has_no_star(small):
    text = FORMATS["terminal"].render(small, 100)
    assert re.search(r"\x1b\[1m\s*95\.0\x1b\[0m", text)
    assert "*" not in plain(text)


def wide_report(n_columns: int) -> Report:
    header = ["dataset", "inlier", *(f"detector{i} encoder=svd" for i in range(n_columns))]
    row = [Entry("pydocs"), Entry("matplotlib"), *(Entry(f"{i}0.1 ± 0.5 (5 of 6)") for i in range(n_columns))]
    return Report([Table("A title", header, [row])], ["A note. " * 30])


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_table_too_wide_for_the_terminal_is_cut_between_columns_and_nothing_is_lost(width):
    text = plain(FORMATS["terminal"].render(wide_report(6), width))
    assert max(len(line) for line in text.splitlines()) <= width
    for i in range(6):
        assert f" {i}0.1 ± 0.5 (5 of 6) " in text
        assert f" detector{i} " in text
    assert "…" not in text
    parts = text.count("pydocs")
    assert parts > 1
    assert text.count("matplotlib") == text.count("inlier") == parts
    assert text.count("encoder=svd") == 6


def test_a_table_that_fits_is_not_cut():
    text = plain(FORMATS["terminal"].render(wide_report(6), 200))
    assert text.count("pydocs") == 1


def test_a_terminal_narrower_than_one_column_still_gets_every_column():
    text = plain(FORMATS["terminal"].render(wide_report(2), 10))
    assert text.count("pydocs") == 2
    assert "10.1 ± 0.5 (5 of 6)" in text


def test_notes_are_wrapped_between_words_on_a_terminal_and_nowhere_else():
    note = ("A note. " * 30).strip()
    assert note in FORMATS["terminal"].render(wide_report(1))
    wrapped = plain(FORMATS["terminal"].render(wide_report(1), 60))
    assert " ".join(wrapped.split()).endswith(note)


NASTY = ["a|b", "**x**", "_y_", "<b>z</b>", "[bold]w[/bold]", "[/]", "`c`", "back\\slash", ":smile:", "a\nb"]


def nasty_report() -> Report:
    rows = [[Entry(name), Entry(name), Entry(name, best=True)] for name in NASTY]
    table = Table("[red]A *title*[/red]", ["[b]h[/b]", "h|h", "*h*"], rows)
    return Report([table], ["a *note* with [i]markup[/i] and <i>tags</i>\nand a second line"])


def test_markdown_shows_names_literally():
    text = FORMATS["markdown"].render(nasty_report())
    lines = text.splitlines()
    assert lines[0] == r"**\[red\]A \*title\*\[/red\]**"
    assert lines[2] == r"| \[b\]h\[/b\] | h\|h | \*h\* |"
    cells = [re.split(r"(?<!\\)\|", line)[1].strip() for line in lines[4 : 4 + len(NASTY)]]
    assert cells == [
        r"a\|b",
        r"\*\*x\*\*",
        r"\_y\_",
        r"\<b\>z\</b\>",
        r"\[bold\]w\[/bold\]",
        r"\[/\]",
        r"\`c\`",
        r"back\\slash",
        ":smile:",
        "a b",
    ]
    assert lines[-1] == r"- a \*note\* with \[i\]markup\[/i\] and \<i\>tags\</i\> and a second line"


@pytest.mark.parametrize("width", [None, 100])
def test_the_terminal_shows_names_literally(width):
    text = plain(FORMATS["terminal"].render(nasty_report(), width))
    for name in ["[red]A *title*[/red]", "[b]h[/b]", "a *note* with [i]markup[/i]", *NASTY[:-1]]:
        assert name in text


def test_csv_keeps_any_name():
    rows = csv_rows([stored(inlier=name) for name in NASTY])
    assert [row["inlier"] for row in rows] == NASTY


def test_a_report_without_notes_or_title_has_no_empty_blocks():
    table = Table("", ["a", "b"], [[Entry("x"), Entry("1")]], n_labels=1)
    report = Report([table], [])
    assert FORMATS["markdown"].render(report) == "| a | b |\n| --- | ---: |\n| x | 1 |\n"


HOSTILE = "=cmd \x1b[2J \u202e\udcff"


@pytest.mark.parametrize("name", ["csv", "markdown", "terminal", "latex"])
def test_names_give_no_orders_to_a_terminal_or_a_spreadsheet(name):
    table = Table(HOSTILE, [HOSTILE, "llr"], [[Entry(HOSTILE), figure(-3.5)]], n_labels=1)
    report = Report(
        [table], [HOSTILE], cells=pd.DataFrame([{HOSTILE[:-1]: HOSTILE, "difference": -3.5}], dtype=object)
    )
    rendered = FORMATS[name].render(report, None)
    assert all(line.isprintable() for line in rendered.splitlines())
    if name == "csv":
        assert [line[:5] for line in rendered.splitlines()] == ["'=cmd", "'=cmd"]
        assert rendered.rstrip().endswith(",-3.5")
