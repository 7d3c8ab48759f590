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


@pytest.fixture
def log(tmp_path):
    """A log of 30 conversations; one answer is about law."""
    turns = [
        {"role": role, "content": text} for role, text in zip(["user", "assistant"] * 120, SEA, strict=True)
    ]
    turns[41]["content"] = LAW[0]
    rows = [
        {"id": f"c{n}", "messages": turns[8 * n : 8 * n + 8], "month": f"2024-0{1 + n // 15}-15"}
        for n in range(30)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "log.jsonl"


def test_odd_ranks_the_turns_of_a_role(adbench, log, tmp_path):
    result = adbench("odd", log, "--role", "assistant", *LIST)
    assert result.exit_code == 0, result.output
    assert (
        "Read as chats, a document for each turn, UTF-8; text 'content'; identifiers 'id'." in result.stdout
    )
    rows = table(tmp_path / "odd.csv")
    assert len(rows) == 120
    first = {
        name: rows[0][name] for name in ("row", "id", "conversation", "turn", "role", "content", "month")
    }
    assert [*first.values()] == ["20", "c5#2", "c5", "2", "assistant", LAW[0], "2024-01-15"]
    assert "c5#2" in (tmp_path / "odd.html").read_text()


@pytest.mark.parametrize("group", ["role", "conversation", "month"])
def test_turns_have_groups(adbench, log, tmp_path, group):
    result = adbench("odd", log, "--group", group, *LIST)
    assert result.exit_code == 0, result.output
    assert f"groups '{group}'" in result.stdout
    assert len(table(tmp_path / "odd.csv")) == 240


def test_a_model_keeps_the_role(adbench, log, tmp_path):
    fitted = adbench("fit", log, "--role", "assistant,tool", "--detector", "llr", "-m", "kept")
    assert fitted.exit_code == 0, fitted.output
    assert "No turn of log.jsonl has the role 'tool'." in fitted.stderr
    for file in (log, "-"):
        stdin = (tmp_path / log).read_text() if file == "-" else None
        scored = CliRunner().invoke(main, ["score", "kept", file], input=stdin)
        assert scored.exit_code == 0, scored.output
        ids = [json.loads(line)["id"] for line in scored.stdout.splitlines()]
        assert (len(ids), ids[:5]) == (120, ["c0#2", "c0#4", "c0#6", "c0#8", "c1#2"])
    every = adbench("score", "kept", log, "--role", "")
    assert len(every.stdout.splitlines()) == 240
    (tmp_path / "new.csv").write_text(f"body\n{LAW[0]}\n")
    of_csv = adbench("score", "kept", "new.csv")
    assert (of_csv.exit_code, len(of_csv.stdout.splitlines())) == (0, 1)
    assert "Note: new.csv has no chats, so --role is not used." in of_csv.stderr


def test_grew_compares_turns(adbench, log, tmp_path):
    result = adbench("grew", log, "--by-time", "month", "--role", "user")
    assert result.exit_code == 0, result.output
    assert len(table(tmp_path / "grew.csv")) == 60


def test_roles_of_a_chat_are_classes_of_a_dataset(adbench, log):
    result = adbench("run", "-d", "llr", "-s", f"files:{log}", "--label", "role", "--dry-run")
    assert result.exit_code == 0, result.output
    assert f"files:{log}" in result.stdout


def test_a_role_that_no_turn_has_is_refused_in_one_line(adbench, log):
    message = (
        "log.jsonl has no documents. No turn of log.jsonl has the role 'bot'. Its roles: 'assistant', 'user'."
    )
    assert_refused(adbench("odd", log, "--role", "bot"), 1, message)


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
