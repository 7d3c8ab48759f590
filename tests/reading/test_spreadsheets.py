"""Spreadsheets: their cells, headers and sheets, and everything that can be wrong with them."""

import gzip
import io
import re
import sys
import zipfile
from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pytest
from spreadsheets import (
    DATE,
    DATE_TIME,
    DURATION,
    Raw,
    number,
    write_compound,
    write_ods,
    write_xls,
    write_xlsx,
)

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.reading.documents import DocumentFile

TEXTS = ["the ship left the harbour", 'a "storm",\nthen calm again', "the crew, at last, came home"]
ROWS = [
    ["id", "text", "size"],
    *([key, text, n] for key, text, n in zip("abc", TEXTS, (1, 2, 3.5), strict=True)),
]


def read(path, *columns, **options):
    """The documents of a file in both ways: as a table, and one after the other."""
    file, again = (DocumentFile(str(path), *columns, **options) for _ in range(2))
    table = file.table()
    assert [each.text for each in again] == [*table.texts()]
    return file, table


def cells(path, **options):
    """The values of all columns, by name."""
    _, table = read(path, **options)
    return {name: table.values(name) for name in table.arrow.schema.names}


WRITERS = {
    "xlsx": write_xlsx,
    "xlsm": write_xlsx,
    "ods": lambda path, rows: write_ods(path, {"Sheet1": rows}),
    "xls": write_xls,
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_has_the_same_documents(tmp_path, suffix):
    path = WRITERS[suffix](tmp_path / f"tickets.{suffix.upper()}", ROWS)
    file, table = read(path)
    assert (table.ids, [*table.texts()], table.values("size")) == ([*"abc"], TEXTS, ["1", "2", "3.5"])
    assert (file.kind, file.text_columns, file.id_column) == ("spreadsheet", ["text"], "id")
    assert file.description == "spreadsheet, sheet 'Sheet1', header"
    assert file.notes == file.late_notes == []


def test_the_rows_are_those_that_pandas_reads(tmp_path):
    rows = [
        ["text", "n", "note", "note"],
        ["one", 1, "x", None],
        [None, None, None, None],
        ["two", 2, None, "y"],
    ]
    path = write_xlsx(tmp_path / "a.xlsx", rows)
    frame = pd.read_excel(path, engine="calamine", dtype=str).fillna("")
    found = cells(path)
    assert found == {name: [*frame[name]] for name in frame.columns}
    assert [*found] == ["text", "n", "note", "note.1"]


def test_cells_are_read_as_a_spreadsheet_shows_them(tmp_path):
    shown = {
        "5": 5,
        "-0.25": -0.25,
        "0.1": 0.1,
        "12345678901": 12345678901,
        "1e+20": 1e20,
        "007": "007",
        "12": "12",
        "TRUE": Raw('t="b"><v>1</v></c>'),
        "FALSE": Raw('t="b"><v>0</v></c>'),
        "2024-05-01": number(45413, DATE),
        "2024-05-01 14:30:00": number(45413.604166666664, DATE_TIME),
        "12:00:00": number(0.5, DATE_TIME),
        "26:30:00": number(1.1041666666666667, DURATION),
        "6": Raw("><f>A2+1</f><v>6</v></c>"),
        "a sum": Raw('t="str"><f>A2&amp;"sum"</f><v>a sum</v></c>'),
        " Zoë & \U0001f600 ": " Zoë & \U0001f600 ",
        "": Raw('t="e"><v>#N/A</v></c>'),
    }
    path = write_xlsx(tmp_path / "a.xlsx", [[f"c{n}" for n in range(len(shown))], [*shown.values()]])
    found = cells(path, text="c13")
    assert [found[f"c{n}"][0] for n in range(len(shown))] == [*shown]


def test_dates_count_from_1904_if_the_workbook_says_so(tmp_path):
    rows = [["text", "day"], ["ship", number(43951, DATE)]]
    path = write_xlsx(tmp_path / "a.xlsx", rows, workbook='<workbookPr date1904="1"/>')
    assert cells(path)["day"] == ["2024-05-01"]


def test_dates_and_booleans_of_open_document(tmp_path):
    rows = [["text", "day", "at", "done"], ["ship", date(2024, 5, 1), datetime(2024, 5, 1, 14, 30), True]]
    path = write_ods(tmp_path / "a.ods", {"One": rows})
    assert cells(path) == {
        "text": ["ship"],
        "day": ["2024-05-01"],
        "at": ["2024-05-01 14:30:00"],
        "done": ["TRUE"],
    }


def test_blank_rows_above_and_blank_rows_and_columns_at_the_end_do_not_count(tmp_path):
    empty = Raw('t="str"><f>""</f><v></v></c>')
    rows = [
        [],
        [],
        ["id", "text", None, empty],
        ["a", "one"],
        [None, None],
        ["b", "two"],
        [empty, None, None, empty],
    ]
    path = write_xlsx(tmp_path / "a.xlsx", rows, first_column=2)
    file, table = read(path)
    assert cells(path) == {"id": ["a", "", "b"], "text": ["one", "", "two"]}
    assert (table.ids, table.place(2)) == (["a", "row 1", "b"], "a.xlsx, row 6")
    assert file.late_notes == []


def test_the_first_of_merged_cells_has_the_value(tmp_path):
    rows = [["queue", "text"], ["law", "one"], [None, "two"]]
    path = write_xlsx(tmp_path / "a.xlsx", rows, after='<mergeCells><mergeCell ref="A2:A3"/></mergeCells>')
    assert cells(path)["queue"] == ["law", ""]


def test_titles_above_a_header_and_headers_between_rows_are_left_out(tmp_path):
    body = [[n, f"the ship number {n} sails", number(45413 + n, DATE)] for n in range(8)]
    header = ["n", "body", "day"]
    path = write_xlsx(tmp_path / "a.xlsx", [["Report of May"], [], header, *body[:4], header, *body[4:]])
    file, table = read(path, text="body")
    assert [*table.texts()] == [text for _, text, _ in body]
    assert file.late_notes == [
        "Skipped 2 rows above the header of a.xlsx. If the first row is the header, give --skip-lines 0.",
        "1 row repeats the header; left out, so later rows have smaller numbers (a.xlsx, row 8).",
    ]
    whole = read(path, text="Report of May", skip_lines=0)[1]
    assert len(whole) == 10 + 1  # the blank row counts
    assert [*read(path, text="body", skip_lines=2)[1].texts()] == [*table.texts()]


def test_a_header_may_have_numbers_and_a_name_twice(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [[2024, "note", "note"], ["one two three", "x", "y"]])
    file, table = read(path, text="2024")
    assert ([*table.texts()], file.columns) == (["one two three"], ["2024", "note", "note.1"])
    assert read(path, text="note.1")[1].values("note.1") == ["y"]
    with pytest.raises(DataError, match=r"a\.xlsx has two columns named 'note'"):
        DocumentFile(path, "note")
    path = write_xlsx(tmp_path / "b.xlsx", [[2024], ["one two three"]])
    file, table = read(path)
    assert ([*table.texts()], file.text_columns) == (["one two three"], ["2024"])
    assert file.late_notes == [
        "The first row of b.xlsx is read as the header. If it is a document, give --no-header."
    ]


def test_without_a_header_columns_have_numbers(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["one", 1], ["two", 2]])
    file, table = read(path, text="column0", header=False)
    assert ([*table.texts()], table.values("column1")) == (["one", "two"], ["1", "2"])
    assert file.description == "spreadsheet, sheet 'Sheet1', no header"


SHEETS = {
    "Notes": [],
    "Feed back": [["text"], ["ship"]],
    "2": [["text"], ["law"]],
    "Codes": [["text"], ["x"]],
}


@pytest.mark.parametrize(("sheet", "text"), [("Feed back", "ship"), ("2", "law"), ("4", "x"), ("Codes", "x")])
def test_a_sheet_has_a_name_or_a_number(tmp_path, sheet, text):
    path = write_xlsx(tmp_path / "a.xlsx", SHEETS)
    assert [*read(path, sheet=sheet)[1].texts()] == [text]


def test_several_sheets_with_rows_need_a_choice(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", SHEETS)
    expected = "a.xlsx has rows in 3 sheets: 'Feed back', '2', 'Codes'; give --sheet with one of them."
    with pytest.raises(DataError, match=re.escape(expected)):
        DocumentFile(path)


def test_hidden_sheets_are_read_only_if_nothing_else_has_rows(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", SHEETS, hidden=("2", "Codes"))
    assert [*read(path)[1].texts()] == ["ship"]
    assert [*read(path, sheet="Codes")[1].texts()] == ["x"]
    path = write_xlsx(tmp_path / "b.xlsx", SHEETS, hidden=("2", "Feed back", "Codes"))
    with pytest.raises(DataError, match="3 sheets"):
        DocumentFile(path)


@pytest.mark.parametrize("sheet", ["Feedback", "5", "0", "", "9" * 5000])
def test_an_unknown_sheet_is_an_error_that_names_the_sheets(tmp_path, sheet):
    path = write_xlsx(tmp_path / "a.xlsx", SHEETS)
    expected = f"a.xlsx has no sheet {sheet!r}. Its sheets: 'Notes', 'Feed back', '2', 'Codes'."
    with pytest.raises(DataError, match=f"^{re.escape(expected)}$"):
        DocumentFile(path, sheet=sheet)


def test_a_sheet_for_another_format_is_not_used(tmp_path):
    (tmp_path / "a.csv").write_text("text\none\n")
    file, table = read(tmp_path / "a.csv", sheet="2")
    assert [*table.texts()] == ["one"]
    assert file.late_notes == [f"{tmp_path / 'a.csv'} is not a spreadsheet, so --sheet is not used."]


def test_a_missing_column_names_the_options_that_correct_the_guesses(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", ROWS)
    expected = (
        "Did you mean 'text'? It was read as spreadsheet, sheet 'Sheet1', header; --sheet, --skip-lines and "
        "--no-header change this."
    )
    with pytest.raises(UnknownNameError, match=re.escape(expected)):
        DocumentFile(path, "txt")


def test_the_files_of_a_folder_are_parts_of_one_table(tmp_path):
    for name, sheet in (("1.xlsx", "One"), ("2.xlsx", "Two")):
        write_xlsx(tmp_path / name, {sheet: [["text", "n"], [f"in {sheet}", 1]]})
    file, table = read(tmp_path, text="text")
    assert [*table.texts()] == ["in One", "in Two"]
    assert file.description.startswith("2 files, each spreadsheet")
    (tmp_path / "2.xlsx").write_bytes(b"PK")
    file, table = read(tmp_path, text="text", errors="replace")
    assert [*table.texts()] == ["in One"]
    assert "2.xlsx is not a spreadsheet" in file.late_notes[0]


def test_standard_input_needs_its_format(tmp_path, monkeypatch):
    write_xlsx(tmp_path / "a.xlsx", ROWS)
    data = (tmp_path / "a.xlsx").read_bytes()

    class Input:
        buffer = io.BytesIO(data)

    monkeypatch.setattr(sys, "stdin", Input)
    assert [*DocumentFile("-", kind="spreadsheet").table().texts()] == TEXTS
    Input.buffer = io.BytesIO(data)
    with pytest.raises(DataError, match=r"standard input is a file of Office.*--format spreadsheet"):
        DocumentFile("-")


def test_a_wrong_suffix_is_an_error_that_names_the_format(tmp_path):
    write_xlsx(tmp_path / "a.csv", ROWS)
    with pytest.raises(DataError, match=r"^a\.csv is a file of Office\. For a spreadsheet, give --format"):
        DocumentFile(str(tmp_path / "a.csv"))
    assert [*read(tmp_path / "a.csv", kind="spreadsheet")[1].texts()] == TEXTS


ENCRYPTED = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/>'
    "</manifest:file-entry></manifest:manifest>"
)


def _zipped(path):
    book = write_xlsx(path.with_suffix(""), ROWS)
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(book, "a.xlsx")


BAD = {
    "nothing": ("a.xlsx", lambda path: path.write_bytes(b""), "is empty"),
    "half": (
        "a.xlsx",
        lambda path: path.write_bytes(Path(write_xlsx(path, ROWS)).read_bytes()[:-300]),
        "is not a spreadsheet, or is damaged: ",
    ),
    "CSV": (
        "a.xls",
        lambda path: path.write_text("id,text\n1,one\n"),
        "is not a spreadsheet, or is damaged: ",
    ),
    "no rows": ("a.xlsx", lambda path: write_xlsx(path, []), "has no documents."),
    "no sheet with rows": ("a.xlsx", lambda path: write_xlsx(path, {"A": [], "B": []}), "has no documents."),
    "only a header": ("a.ods", lambda path: write_ods(path, {"One": [["text"]]}), "has no documents."),
    "a password": (
        "a.xlsx",
        lambda path: write_compound(path, "EncryptedPackage", b"secret"),
        "has a password; save it without one.",
    ),
    "a password of OpenDocument": (
        "a.ods",
        lambda path: write_ods(path, {"One": ROWS}, ENCRYPTED),
        "has a password; save it without one.",
    ),
    "gzip": (
        "a.xlsx.gz",
        lambda path: path.write_bytes(gzip.compress(b"x", mtime=0)),
        "is not a spreadsheet, or is damaged: .* Unpack it first.",
    ),
    "ZIP": ("a.xlsx.zip", _zipped, "is not a spreadsheet, or is damaged: .* Unpack it first."),
    "a far cell": (
        "a.xlsx",
        lambda path: write_xlsx(
            path, ROWS, after='<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        ),
        "has a cell in XFD1048576, far from the others; delete it, or export the sheet as CSV.",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_spreadsheets_get_one_clear_line(tmp_path, case):
    name, write, message = BAD[case]
    write(tmp_path / name)
    with pytest.raises(DataError, match=f"{re.escape(name)} {message}") as error:
        DocumentFile(str(tmp_path / name))
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 1


def test_an_unknown_suffix_names_the_suffixes_of_spreadsheets(tmp_path):
    (tmp_path / "a.numbers").write_bytes(b"PK")
    with pytest.raises(InvalidValueError, match=r"Spreadsheets are read from \.xlsx, \.xlsm, \.xls, \.ods\."):
        DocumentFile(str(tmp_path / "a.numbers"))
