"""The commands for own documents read spreadsheets and chats as they read CSV."""

import csv
import json

import pytest
from click.testing import CliRunner
from commands import assert_refused
from spreadsheets import number, write_xlsx

from adbench_text.cli.main import main
from adbench_text.testing.topics import texts_about

SEA, LAW = texts_about("sea", 240, 0), texts_about("law", 3, 1)
LIST = ["--detector", "llr", "--by", "words"]


@pytest.fixture
def adbench(home, tmp_path, monkeypatch):
    """Return a function that runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *arguments: CliRunner().invoke(main, [*map(str, arguments)])


def table(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def book(tmp_path):
    """A workbook with two sheets that have rows."""
    rows = [[n, text, number(45413 + n % 60, 1)] for n, text in enumerate([*SEA, *LAW])]
    write_xlsx(tmp_path / "a.xlsx", {"Tickets": [["no", "body", "day"], *rows], "Codes": [["x"], ["y"]]})
    return "a.xlsx"


def test_odd_ranks_a_sheet(adbench, book, tmp_path):
    result = adbench("odd", book, "--sheet", "Tickets", "--text", "body", "--id", "no", *LIST)
    assert result.exit_code == 0, result.output
    assert "Read as spreadsheet, sheet 'Tickets', header; text 'body'; identifiers 'no'." in result.stdout
    rows = table(tmp_path / "odd.csv")
    assert {row["row"] for row in rows[:3]} == {"240", "241", "242"}
    assert (rows[0]["no"], rows[0]["body"]) == (rows[0]["row"], LAW[int(rows[0]["row"]) - len(SEA)])
    assert {len(row["day"]) for row in rows} == {len("2024-05-01")}


def test_marks_are_read_from_a_table_that_is_saved_as_a_spreadsheet(adbench, book, tmp_path):
    columns = ["--sheet", "1", "--text", "body", "--id", "no", *LIST]
    assert adbench("odd", book, *columns).exit_code == 0
    rows = table(tmp_path / "odd.csv")
    marks = {"240": "odd", "7": "Fine"}
    cells = [
        [marks.get(row["no"], value) if name == "mark" else value for name, value in row.items()]
        for row in rows
    ]
    cells = [[float(each) if each.isdecimal() else each for each in row] for row in cells]
    write_xlsx(tmp_path / "marked.xlsx", [[*rows[0]], *cells])
    result = adbench("odd", book, *columns, "--marked", "marked.xlsx")
    assert result.exit_code == 0, result.output
    marked = {row["no"]: row["mark"] for row in table(tmp_path / "odd.csv") if row["mark"]}
    assert (marked.pop("240"), marked.pop("7")) == ("odd", "fine")
    assert {*marked.values()} <= {"fine"}  # copies of 7
    write_xlsx(tmp_path / "marked.xlsx", {"A": [["no", "mark"], [1, "odd"]], "B": [["x"], ["y"]]})
    assert_refused(
        adbench("odd", book, *columns, "--marked", "marked.xlsx"), 1, "'A', 'B'; save it with one of them"
    )


def test_a_model_keeps_the_sheet(adbench, book, tmp_path):
    fitted = adbench("fit", book, "--sheet", "Tickets", "--text", "body", "--detector", "llr", "-m", "kept")
    assert fitted.exit_code == 0, fitted.output
    rows = [["no", "body"], ["x1", LAW[0]], ["x2", SEA[0]]]
    write_xlsx(tmp_path / "new.xlsx", {"Codes": [["x"], ["y"]], "Tickets": rows})
    scored = adbench("score", "kept", "new.xlsx", "--id", "no")
    assert [json.loads(line)["id"] for line in scored.stdout.splitlines()] == ["x1", "x2"]
    (tmp_path / "new.csv").write_text(f"body\n{LAW[0]}\n")
    of_csv = adbench("score", "kept", "new.csv")
    assert (of_csv.exit_code, len(of_csv.stdout.splitlines()), "--sheet" in of_csv.stderr) == (0, 1, False)
    write_xlsx(tmp_path / "other.xlsx", {"Codes": rows})
    assert_refused(adbench("score", "kept", "other.xlsx"), 1, "no sheet 'Tickets'. Its sheets: 'Codes'")


def test_grew_compares_sheets_and_periods(adbench, book, tmp_path):
    write_xlsx(tmp_path / "b.xlsx", {"Tickets": [["body"], *([text] for text in SEA)]})
    result = adbench("grew", book, "b.xlsx", "--sheet", "Tickets", "--text", "body")
    assert result.exit_code == 0, result.output
    assert len(table(tmp_path / "grew.csv")) == len(SEA)
    assert "Read as spreadsheet, sheet 'Tickets', header; text 'body'." in result.stdout
    by_time = adbench("grew", book, "--sheet", "Tickets", "--text", "body", "--by-time", "day")
    assert by_time.exit_code == 0, by_time.output
    assert "dates 'day'" in by_time.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "a.xlsx has rows in 2 sheets: 'Tickets', 'Codes'; give --sheet with one of them."),
        (["--sheet", "tickets"], "a.xlsx has no sheet 'tickets'. Its sheets: 'Tickets', 'Codes'."),
    ],
)
def test_a_wrong_choice_of_sheets_is_refused_in_one_line(adbench, book, tmp_path, options, message):
    (tmp_path / "odd.csv").write_text("kept")
    assert_refused(adbench("odd", book, *options), 1, message)
    assert (tmp_path / "odd.csv").read_text() == "kept"


def test_a_sheet_with_classes_is_a_dataset(adbench, tmp_path):
    rows = [[text, n % 2] for n, text in enumerate(texts_about("sea", 60, 0) + texts_about("law", 60, 1))]
    write_xlsx(tmp_path / "a.xlsx", {"One": [["body", "label"], *rows], "Two": [["x"], ["y"]]})
    result = adbench(
        "run", "-d", "llr", "-s", "files:a.xlsx", "--sheet", "One", "--text", "body", "--dry-run"
    )
    assert result.exit_code == 0, result.output
    assert "files:a.xlsx" in result.stdout
