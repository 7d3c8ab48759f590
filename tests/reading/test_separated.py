"""CSV and TSV as people have them: each file has the rows that `pandas.read_csv` reads."""

import csv
import random
import re

import pandas as pd
import pytest

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.reading.documents import DocumentFile

# by name: content, options, and what pandas is given to read the same rows
FILES = {
    "names that are missing": (
        "a.csv",
        "v1,v2,,,\nham,at nine,,,\nspam,win a prize,x,,\n",
        {"text": "v2"}, {},
    ),
    "names that are there twice": (
        "a.csv",
        "id,text,note,note\n1,one two,a,b\n2,three,c,d\n",
        {"text": "text"}, {},
    ),
    "a name that pandas would give": ("a.csv", "a,a,a.1,text\n1,2,3,ship\n", {"text": "text"}, {}),
    "spaces in names": ("a.csv", " id ,my text\n1,ship\n", {"text": "my text"}, {}),
    "an index without a name": (
        "a.csv",
        "text,label\n0,one two,x\n1,three four,y\n",
        {"text": "text"}, {"names": ["Unnamed: 0", "text", "label"], "header": 0},
    ),
    "semicolons of a spreadsheet": ("a.csv", 'id;text\n1;"one; two"\n2;three, four\n', {}, {"sep": ";"}),
    "bars": ("a.csv", "id|text\n1|one, two\n2|three\n", {}, {"sep": "|"}),
    "tabs in a CSV": ("a.csv", "id\ttext\n1\tone, two\n2\tthree\n", {}, {"sep": "\t"}),
    "separators in the header": (
        "a.csv",
        "id,Rating (1 = low; 2 = fair; 3 = good; 4 = high),comment\n0,3,the ship\n1,4,the crew\n",
        {"text": "comment"}, {},
    ),
    "bars in the header": (
        "a.csv",
        "id,yes|no|maybe|none,comment\n0,3,the ship\n1,4,the crew\n",
        {"text": "comment"}, {},
    ),
    "separators in the texts": ("a.csv", "id;text\n1;one, two, three\n2;four, five, six\n", {}, {"sep": ";"}),
    "spaces after commas": ("a.csv", 'id, text\n1, "one, two"\n2, "three"\n', {}, {"skipinitialspace": True}),
    "a line for Excel": ("a.csv", "sep=;\nid;text\n1;one, two\n", {}, {"sep": ";", "skiprows": 1}),
    "spaces after commas, and none in a text": (
        "a.csv",
        'id, text\n1, "one,two"\n2, "three"\n',
        {},
        {"skipinitialspace": True},
    ),
    "backslashes before quotes": (
        "a.csv",
        'id,text\n1,"she said \\"no\\", and left"\n2,"two"\n',
        {},
        {"escapechar": "\\"},
    ),
    "backslashes in texts without quotes": (
        "a.csv",
        'id,text\n1,plum G\\"odel \\beta\n2,C:\\new \\N\n',
        {},
        {},
    ),
    "a TSV with all fields in quotes": ("a.tsv", '"id"\t"text"\n"1"\t"one"\n', {}, {"sep": "\t"}),
    "a backslash that ends a field": ("a.csv", 'id,text,x\n1,"C:\\",a\n2,"two",b\n', {"text": "text"}, {}),
    "commas in a file that is named TSV": ("a.tsv", "id,text\n1,one\n2,two\n", {}, {}),
    "one column with commas": ("a.csv", "text\nwell, well, well\nno\nyes, sir\n", {}, {"sep": "\x1f"}),
    "empty lines and lines of spaces": ("a.csv", "\ntext\none\n   \n\ntwo\n\t\nthree\n", {}, {}),
    "a space in quotes": ("a.csv", 'text\none\n" "\ntwo\n""\n', {}, {}),
    "a quote of a TSV": (
        "a.tsv",
        'id\ttext\n1\t"see you tonight\n2\tthe ferry\n3\tall is well"\n4\tthe crew\n',
        {}, {"sep": "\t", "quoting": 3},
    ),
    "a quote inside a TSV": (
        "a.tsv",
        'id\ttext\n1\tshe said "no" and left\n2\t"no" she said\n',
        {}, {"sep": "\t", "quoting": 3},
    ),
    "a TSV of pandas": ("a.tsv", 'id\ttext\n1\t"she said ""no"""\n2\t"two\nlines"\n', {}, {"sep": "\t"}),
    "a TSV with lines in quotes": (
        "a.tsv",
        'id\ttext\tlabel\n1\t"two\nlines"\tx\n2\tone\ty\n',
        {"text": "text"}, {"sep": "\t"},
    ),
    "text after a quote": ("a.csv", 'id,text\n1,"no" she said\n2,5" disk\n', {}, {}),
    "quotes in quotes": ("a.csv", 'id,text\n1,"she said ""no"""\n2,"two\r\nlines, and a comma"\n', {}, {}),
    "a comma at the end of each row": ("a.csv", "id,text\n1,one,\n2,two,\n", {}, {"index_col": False}),
    "rows that lack fields": ("a.csv", "id,text,label\n1,one two,x\n2\n3,three\n", {"text": "text"}, {}),
    "carriage returns": ("a.csv", "id,text\r1,one\r2,two\r", {}, {}),
    "no end of the last line": ("a.csv", "id,text\n1,one\n2,two", {}, {}),
    "a byte order mark": ("a.csv", "\ufeffid,text\n1,one\n2,two\n", {}, {}),
    "words for what is missing": (
        "a.csv",
        "id,text\n1,NA\n2,nan\n3,Nothing\n4,null and void\n",
        {"text": "text"},
        {"na_values": {"text": ["NA", "nan"]}},
    ),
    "no header": (
        "a.csv",
        "0,the ship left\n4,the crew came home\n",
        {"header": False, "text": "column1"}, {"header": None},
    ),
    "another delimiter": ("a.csv", "id^text\n1^one, two\n", {"delimiter": "^"}, {"sep": "^"}),
    "quotes that are characters": ("a.csv", 'id,text\n1,"one\n2,two"\n', {"quotes": False}, {"quoting": 3}),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_rows_are_those_of_pandas(tmp_path, case, recwarn):
    name, content, options, of_pandas = FILES[case]
    (tmp_path / name).write_bytes(content.encode())
    file = DocumentFile(str(tmp_path / name), **options)
    table = file.table()
    expected = pd.read_csv(tmp_path / name, dtype=str, keep_default_na=False, **of_pandas).fillna("")
    if not options.get("header", True):
        expected.columns = [f"column{number}" for number in expected.columns]
    assert file.columns == [str(column) for column in expected.columns]
    for column in file.columns:
        assert [value or "" for value in table.values(column)] == expected[column].tolist()
    assert list(table.texts()) == expected[file.text_columns[0]].tolist()


SILENT = {name for name, (_, _, options, _) in FILES.items()} - {
    "rows that lack fields",
    "an index without a name",
    "words for what is missing",
}


@pytest.mark.parametrize("case", sorted(SILENT))
def test_nothing_is_noted_of_what_is_read_well(tmp_path, case):
    name, content, options, _ = FILES[case]
    (tmp_path / name).write_bytes(content.encode())
    file = DocumentFile(str(tmp_path / name), **options)
    file.table()
    assert file.late_notes == file.notes == []


DESCRIBED = {
    "a line for Excel": "semicolon, header, UTF-8",
    "spaces after commas": "comma, spaces, header, UTF-8",
    "backslashes before quotes": "comma, backslashes, header, UTF-8",
    "semicolons of a spreadsheet": "semicolon, header, UTF-8",
    "a quote of a TSV": "tab, no quotes, header, UTF-8",
    "a TSV of pandas": "tab, header, UTF-8",
    "one column with commas": "one column, header, UTF-8",
    "no header": "comma, no header, UTF-8",
    "another delimiter": "'^', header, UTF-8",
    "quotes that are characters": "comma, no quotes, header, UTF-8",
}


@pytest.mark.parametrize("case", DESCRIBED)
def test_what_was_guessed_is_described(tmp_path, case):
    name, content, options, _ = FILES[case]
    (tmp_path / name).write_bytes(content.encode())
    assert DocumentFile(str(tmp_path / name), **options).description == DESCRIBED[case]


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_come_back_as_pandas_reads_them(tmp_path, seed):
    draw = random.Random(seed)
    pieces = ["ship", '"', "'", ",", ";", " ", "\n", "\r\n", "ünï", '""', "|", "\t", "5", ""]
    n_columns, delimiter = draw.randint(1, 4), draw.choice(",;|")
    names = ["text", "label", "note", "size"][:n_columns]
    rows = [
        ["".join(draw.choice(pieces) for _ in range(draw.randint(1, 6))) for _ in names]
        for _ in range(draw.randint(1, 30))
    ]
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator=draw.choice(["\n", "\r\n"]))
        writer.writerows([names, *rows])
    options = {"delimiter": delimiter} if n_columns == 1 else {}
    table = DocumentFile(str(path), "text", **options).table()
    expected = pd.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False)
    found = {name: [value or "" for value in table.values(name)] for name in names}
    assert found == {name: expected[name].tolist() for name in names}


def notes(path, content, **options):
    path.write_text(content)
    file = DocumentFile(str(path), **options)
    file.table()
    return file.late_notes


@pytest.mark.parametrize(
    ("content", "options", "quoted"),
    [
        ("the ferry leaves the harbour at nine\nwaves broke over the wall\n", {}, ["a.csv", "--no-header"]),
        ("0,1467810369,I am late again today\n4,1467810370,so are we now\n", {}, ["--no-header"]),
        ("2026-01-02,the ship left\n2026-01-03,the crew came\n", {}, ["--no-header"]),
        ("id,text,label\n1,one\n2\n3,three,x\n", {"text": "text"}, ["2 rows", "a.csv, line 2", "quotes"]),
        (
            'id,text\n1,"see you tonight\n2,the ferry leaves\n3,all is well"\n4,the crew\n',
            {"text": "text"},
            ["1 row", "a.csv, line 2", "--no-quotes"],
        ),
        (
            'id,body,x\nP1,one,r\nP2,"opens here\nP3,two,r\nP4,closes here",r\nP5,three,r\n',
            {"text": "body"},
            ["1 row", "a.csv, line 3", "--no-quotes"],
        ),
        (
            "P0,does anybody know a good mechanic\nP1,the ship left\nP2,the crew came\n",
            {},
            ["a.csv", "--no-header"],
        ),
        ("My survey\nid,text\n1,one\n2,two\n", {}, ["a.csv", "1 line ", "--skip-lines 0"]),
        ("id,text\n1,one, two\n2,three, four\n", {}, ["a.csv", "quotes"]),
    ],
)
def test_a_guess_that_may_lose_text_is_noted(tmp_path, content, options, quoted):
    (note,) = notes(tmp_path / "a.csv", content, **options)
    assert all(each in note for each in quoted)


@pytest.mark.parametrize(
    "content",
    [
        'id,text\n1,"Dear all,\nthe ferry leaves at nine, as always.\nYours, Ann"\n2,the crew\n',
        'text\n"two\nlines"\n"three\nlines\nmore"\n',
        "How satisfied are you with the ferry?,comment\n3,the ship was late\n",
        "id,text\n1,\n2,the crew\n",
        "id,2023,2024,text\n1,5,7,the crew\n",
        "Q1,How satisfied are you with our ferry?\nA3,the crew was nice\nA4,it was late\n",
        'label,text\nham,"two lines\nHello, all"\nspam,"more\nlines, here"\nham,one\n',
    ],
)
def test_ordinary_files_are_not_noted(tmp_path, content):
    column = content.partition("\n")[0].split(",")[-1]
    assert notes(tmp_path / "a.csv", content, text=column) == []


PLAIN = [f"the ship of number {n} left the harbour and came home at last" for n in range(400)]


def stray(every, *, first="", last="", marks=('"', "")):
    """Rows of which some begin, or end, with a quote."""
    return [
        f"{first}{marks[0] * (n % every == 5)}{text}{marks[1] * (n % every == 15)}{last}"
        for n, text in enumerate(PLAIN)
    ]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("text", stray(50)),
        ("text,label", stray(50, last=",ham")),
        ("label;text", stray(50, first="ham;")),
        ("text", [*stray(50, last=" and, in the end, sank"), '"the last one']),
        ("text", [f'{row} 5" wide' if n % 7 == 0 else row for n, row in enumerate(stray(50))]),
        ("text", [f'"{row}"' if n % 9 == 0 else row for n, row in enumerate(stray(50))]),
    ],
)
def test_stray_quotes_are_characters_and_the_first_is_noted(tmp_path, header, rows):
    (tmp_path / "a.csv").write_text("\n".join([header, *rows]))
    file = DocumentFile(str(tmp_path / "a.csv"), "text")
    assert len(file.table()) == len(rows)
    (note,) = file.late_notes
    assert all(each in note for each in ("a.csv", "line 7)", "--quotes"))


@pytest.mark.parametrize(
    ("header", "rows", "options", "place"),
    [
        ("text", stray(50), {"quotes": True}, "4 rows hold .*line 7, and 50"),
        ("text", PLAIN * 3 + stray(300), {}, "1 row holds .*line 1,207, and 300"),  # too late for the guess
        ("text", stray(50, marks='""'), {}, "8 rows hold .*line 7, and 10"),
        ("text,label", stray(50, last=",ham", marks='""'), {}, "8 rows hold .*line 7, and 10"),
        ("text", [f'"{text}' + '"' * (n % 50 != 5) for n, text in enumerate(PLAIN)], {}, "8 rows .*line 7"),
        (
            "text",
            ['"I went there', 'and saw it."', '"Hello," he said.', "She left."] * 12,
            {},
            "line 2, and 1 ",
        ),
    ],
)
def test_rows_that_a_quote_may_join_are_counted_and_the_first_is_noted(
    tmp_path, header, rows, options, place
):
    (note,) = notes(tmp_path / "a.csv", "\n".join([header, *rows]), text="text", **options)
    assert re.search(place, note)
    assert "--no-quotes" in note


@pytest.mark.parametrize(
    ("quoting", "pieces"),
    [
        (csv.QUOTE_ALL, ["Dear all", "the ship left", "at nine", "yours", "Ann"]),
        (csv.QUOTE_MINIMAL, ["Dear all,", "", "the ship left at nine.", "", "Yours, Ann"]),
        (csv.QUOTE_MINIMAL, ['She said "no"', "and left", "the ship"]),
    ],
)
@pytest.mark.parametrize("n_columns", [1, 2])
def test_texts_of_many_lines_in_quotes_are_read_as_they_were_written(tmp_path, quoting, pieces, n_columns):
    rows = [
        ["\n".join(pieces[: 2 + n % 4]) if n % 3 else PLAIN[n], "ham spam".split()[n % 2]] for n in range(90)
    ]
    with (tmp_path / "a.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, quoting=quoting)
        writer.writerows(row[:n_columns] for row in [["text", "label"], *rows])
    file = DocumentFile(str(tmp_path / "a.csv"), "text")
    assert list(file.table().texts()) == [text for text, _ in rows]
    assert file.late_notes == []


TICKETS = [f"{n};2024-03-0{n % 9 + 1};{text}, as always" for n, text in enumerate(PLAIN[:30])]
TABLE = "\n".join(["id;date;text", *TICKETS])


@pytest.mark.parametrize(
    "above",
    [
        "Tickets of March;;\n;;\n",
        "Tickets\n",
        "Tickets, exported in March\n\n",
        'Tickets\nof:;"March, 2024";\nexported:;2024-04-01;\n\n',
        "# exported; by Ann; in March; 2024\n# for Bob\n",
        "sep=;\nTickets of March\n",
    ],
)
@pytest.mark.parametrize("text", [None, "text"])
def test_titles_above_a_header_are_left_out_and_noted(tmp_path, above, text):
    (tmp_path / "a.csv").write_text(above + TABLE)
    file = DocumentFile(str(tmp_path / "a.csv"), text)
    table = file.table()
    assert (file.columns, len(table)) == (["id", "date", "text"], 30)
    assert table.place(0) == f"a.csv, line {above.count(chr(10)) + 2}"
    (note,) = file.late_notes
    assert "--skip-lines 0" in note
    n_lines = above.count("\n")
    file = DocumentFile(str(tmp_path / "a.csv"), text, skip_lines=n_lines)
    assert (len(file.table()), file.late_notes) == (30, [])


@pytest.mark.parametrize(
    ("above", "header", "row"),
    [
        ("Tickets of 2024\nGenerated by,J. Smith\n", "id,queue,body", "{n},{kind},{text}"),
        ("Tickets of 2024\nGenerated by,J. Smith\n", "queue,customer,body", "{kind},{other},{text}"),
        ("Generated by,J. Smith\nFor,Ann\n", "queue,customer,body", "{kind},{other},{text}"),
        ("From,2024-01-01,To,2024-02-01\n\n", "queue,customer,body", "{kind},{other},{text}"),
        ("Report,Tickets\nDate,2024-01-01\n", "id,body", "T-{n},{text}"),
        ("Tickets of 2024,,\nGenerated by,J. Smith,\n", "queue,customer,body", "{kind},{other},{text}"),
        ("Tickets of 2024,,\nGenerated by,J. Smith,\n,,\n", "id,queue,body", "{n},{kind},{text}"),
        ("Report,Tickets,\nFrom,2024-01-01,\nTo,2024-02-01,\n,,\n", "id,queue,body", "{n},{kind},{text}"),
        ("Tickets of 2024\nGenerated by,J. Smith\n", "queue,body", "{kind},{text}"),
        ("Generated by,J. Smith\nDate,2024-01-01\n", "queue,body", "{kind},{text}"),
        ("Report, of all tickets, 2024\n", "id,queue,body", "{n},{kind},{text}"),
        ("Feedback of customers\n\n", "body", "{text}"),
    ],
)
def test_facts_above_a_header_are_left_out_and_noted(tmp_path, above, header, row):
    rows = [
        row.format(n=n, kind="xyz"[n % 3], other="ab"[n % 2], text=text) for n, text in enumerate(PLAIN[:30])
    ]
    (tmp_path / "a.csv").write_text("\n".join([above + header, *rows]))
    file = DocumentFile(str(tmp_path / "a.csv"))
    assert list(file.table().texts()) == PLAIN[:30]
    assert (file.columns, file.text_columns) == (header.split(","), ["body"])
    (note,) = file.late_notes
    assert "--skip-lines 0" in note


@pytest.mark.parametrize(
    ("header", "first", "columns"),
    [
        ("queue,body", "w,x,the ship", ["Unnamed: 0", "queue", "body"]),  # as R writes it
        ("id,queue,body", "n/a,x,the ship", ["id", "queue", "body"]),
        ("id,queue,body", "first,x,the ship", ["id", "queue", "body"]),
        ("id,2023,body", "first,5,the ship", ["id", "2023", "body"]),
        ("by,body,n", "J. Smith,12,5", ["by", "body", "n"]),
    ],
)
def test_a_header_above_an_unusual_row_stays(tmp_path, header, first, columns):
    rows = [f"{n},{'xyz'[n % 3]},{text}" for n, text in enumerate(PLAIN[:30])]
    (tmp_path / "a.csv").write_text("\n".join([header, first, *rows]))
    file = DocumentFile(str(tmp_path / "a.csv"), "body")
    assert (file.columns, len(file.table())) == (columns, 31)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "T-1,not yet,open,How do I fill a new set of data?",
            "T-2,pending,open,It failed again and again",
        ),
        ("unknown,pending,free,short text", "T-2,2024-01-02,2.5,another"),
        ("T-1,-,-,short text", "T-2,?,–,another"),
    ],
)
def test_the_first_documents_are_no_units_of_columns(tmp_path, first, second):
    rows = [f"T-{n},2024-01-0{n % 9 + 1},{n}.5,{text}" for n, text in enumerate(PLAIN[:30])]
    (tmp_path / "a.csv").write_text("\n".join(["ticket,closed,hours,body", first, second, *rows]))
    file = DocumentFile(str(tmp_path / "a.csv"))
    assert (len(file.table()), file.late_notes) == (32, [])


def test_a_question_above_a_blank_line_is_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("\n".join(["What went wrong?", "", "Nothing", *PLAIN[:30]]))
    file = DocumentFile(str(tmp_path / "a.csv"))
    assert (file.columns, len(file.table()), file.late_notes) == (["What went wrong?"], 31, [])


def test_a_header_is_found_by_the_columns_that_are_asked_for(tmp_path):
    (tmp_path / "a.csv").write_text("My survey\ntext\n" + "\n".join(PLAIN))
    assert len(DocumentFile(str(tmp_path / "a.csv"), "text").table()) == len(PLAIN)


@pytest.mark.parametrize(
    ("content", "columns", "n"),
    [
        (",text\n0,the ship\n1,the crew\n", ["Unnamed: 0", "text"], 2),
        ("text,,\nthe ship,,\nthe crew,,\nso, it, was\n", ["text", "Unnamed: 1", "Unnamed: 2"], 3),
        (
            "v1,text,,,\nham,the ship,,,\nham,the crew,or not,,\n",
            ["v1", "text", *(f"Unnamed: {n}" for n in (2, 3, 4))],
            2,
        ),
        ("#,date,text\n1,May,the ship\n2,May,the crew\n", ["#", "date", "text"], 2),
        ("text\nwell, well\nno, no\nyes, sir\n", ["text"], 3),
        ("id,Email,Fax,text\n1,Email,Fax,the ship\n2,Email,Fax,crew\n", ["id", "Email", "Fax", "text"], 2),
    ],
)
def test_a_header_that_is_no_title_stays(tmp_path, content, columns, n):
    (tmp_path / "a.csv").write_text(content)
    file = DocumentFile(str(tmp_path / "a.csv"), "text")
    assert (file.columns, len(file.table())) == (columns, n)
    assert "Left out" not in str(file.late_notes)


BELOW = {
    "Qualtrics": ["Response ID,Seconds,What went wrong?", ",".join(['"{""ImportId"":""QID1""}"'] * 3)],
    "Qualtrics without its codes": ["Response ID,Seconds,What went wrong?"],
    "SurveyMonkey": [",,Open-Ended Response"],
    "another file": ["ResponseId,Seconds,text"],
    "units": ["#,s,free text"],
}


@pytest.mark.parametrize("case", BELOW)
def test_rows_below_a_header_that_describe_columns_are_left_out_and_noted(tmp_path, case):
    answers = [f"R_{n},{n},{text}" for n, text in enumerate(PLAIN[:30])]
    (tmp_path / "a.csv").write_text("\n".join(["ResponseId,Seconds,text", *BELOW[case], *answers]))
    file = DocumentFile(str(tmp_path / "a.csv"), "text")
    table = file.table()
    assert list(table.texts()) == PLAIN[:30]
    assert table.place(0) == f"a.csv, line {2 + len(BELOW[case])}"
    (note,) = file.late_notes
    assert f"{len(BELOW[case])} row" in note
    assert len(DocumentFile(str(tmp_path / "a.csv"), "text", skip_lines=0).table()) == 30 + len(BELOW[case])


def test_headers_of_files_that_were_joined_are_left_out_and_counted(tmp_path):
    (tmp_path / "a.csv").write_text(f"{TABLE}\n{TABLE}\n{TABLE}")
    file = DocumentFile(str(tmp_path / "a.csv"))
    table = file.table()
    assert (len(table), table.place(30)) == (90, "a.csv, line 33")
    (note,) = file.late_notes
    assert re.search("2 rows .*a.csv, line 32", note)


def test_names_are_checked_only_where_they_are_asked_for(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,note,text,note\n1,a,the ship,b\n2,c,the crew,d\n")
    assert DocumentFile(str(path), "note.1").table().values("note.1") == ["b", "d"]
    for options in ({"text": "note"}, {"text": "text", "id": "note"}):
        with pytest.raises(DataError, match=r"a\.csv .*'note'.*'note\.1'"):
            DocumentFile(str(path), **options)
    path.write_text("text,text\nthe ship,the crew\n")
    with pytest.raises(DataError, match="'text'"):
        DocumentFile(str(path))


@pytest.mark.parametrize("blank", ["", "   ", "\t"])
def test_blank_lines_above_a_header_cost_no_document(tmp_path, blank):
    rows = ["1,the first ticket stays", "2,the second ticket stays", "3,the third ticket stays too"]
    (tmp_path / "a.csv").write_text("\n".join(["# exported today", blank, "id,text", *rows]))
    file = DocumentFile(str(tmp_path / "a.csv"), "text", delimiter=",", skip_lines=1)
    assert file.table().ids == ["1", "2", "3"]
    assert file.notes == []


def test_without_a_header_columns_have_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('3,"Stocks fall again","The markets fell on Monday, again."\n' * 3)
    assert DocumentFile(str(path), ["column1", "column2"], header=False).columns == [
        f"column{n}" for n in range(3)
    ]
    with pytest.raises(InvalidValueError, match="column1, column2"):
        DocumentFile(str(path), header=False)
    with pytest.raises(UnknownNameError, match="column0"):
        DocumentFile(str(path), "text", header=False)


def test_a_wrong_delimiter_is_an_error(tmp_path):
    for delimiter in ("", "||", '"', "\n", "commas"):
        with pytest.raises(InvalidValueError, match="delimiter"):
            DocumentFile(str(tmp_path / "a.csv"), delimiter=delimiter)


@pytest.mark.parametrize(
    ("name", "delimiter"), [("tab", "\t"), ("\\t", "\t"), ("semicolon", ";"), ("space", " ")]
)
def test_delimiters_have_names(tmp_path, name, delimiter):
    (tmp_path / "a.csv").write_text(f"id{delimiter}text\n1{delimiter}ship\n")
    assert list(DocumentFile(str(tmp_path / "a.csv"), delimiter=name).table().texts()) == ["ship"]


def test_the_guess_needs_no_whole_file(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w") as stream:
        stream.write("id;text\n")
        stream.writelines(f"{n};the ship, number {n}\n" for n in range(50_000))
    table = DocumentFile(str(path)).table()
    assert len(table) == 50_000
    assert table.place(49_999) == "a.csv, line 50,001"
    assert list(table.texts_at([49_999])) == ["the ship, number 49999"]


def test_names_are_found_whatever_their_case(tmp_path):
    (tmp_path / "a.csv").write_text(
        "ID,Title,Text \nT1,a title of words,the ship left\nT2,another one here,crew\n"
    )
    file = DocumentFile(str(tmp_path / "a.csv"))
    assert (file.id_column, file.text_columns) == ("ID", ["Text "])


def test_lines_with_tabs_may_be_rows(tmp_path):
    (tmp_path / "a.txt").write_text("ham\tsee you\n" * 60 + "spam\twin\ta prize\n")
    file = DocumentFile(str(tmp_path / "a.txt"))
    file.table()
    (note,) = file.late_notes
    assert "1 tab" in note
    assert "--format tsv" in note
    (tmp_path / "a.txt").write_text("ham\tsee you\nspam\twin a prize\n")
    options = {"kind": "tsv", "header": False, "text": "column1"}
    assert list(DocumentFile(str(tmp_path / "a.txt"), **options).table().texts()) == [
        "see you",
        "win a prize",
    ]


def test_only_backslashes_before_quotes_are_taken_away(tmp_path):
    (tmp_path / "a.csv").write_text('id,text\n1,"a \\"red\\" rose"\n2,"rose\\nbed in C:\\temp"\n3,"a \\\\"\n')
    table = DocumentFile(str(tmp_path / "a.csv")).table()
    assert list(table.texts()) == ['a "red" rose', "rose\\nbed in C:\\temp", "a \\\\"]


def test_json_lines_may_be_in_a_file_of_another_name(tmp_path):
    (tmp_path / "a.csv").write_text('{"id": "T1", "text": "one, two"}\n{"id": "T2", "text": "three"}\n')
    file = DocumentFile(str(tmp_path / "a.csv"))
    assert (list(file.table().texts()), file.description) == (["one, two", "three"], "JSON, UTF-8")


def test_parts_without_a_header_are_noted_once(tmp_path):
    for part in range(3):
        (tmp_path / f"{part}.csv").write_text("a long line of words\nsee you at nine tonight\n")
    file = DocumentFile(str(tmp_path))
    file.table()
    (note,) = file.late_notes
    assert "--no-header" in note


def test_backslashes_in_a_text_of_several_lines_open_no_quote(tmp_path):
    (tmp_path / "a.csv").write_text('id,text\n1,"she said \\"no\\"\nand \\"left"\n2,"two\nlines"\n')
    file = DocumentFile(str(tmp_path / "a.csv"))
    assert list(file.table().texts()) == ['she said "no"\nand "left', "two\nlines"]
    assert file.late_notes == []


def test_blank_lines_above_a_first_document_count(tmp_path):
    (tmp_path / "a.csv").write_text('\n\n1,"a ship\nand a crew"\n2,a storm\n')
    table = DocumentFile(str(tmp_path / "a.csv"), "column1", header=False).table()
    assert [table.place(row) for row in range(2)] == ["a.csv, line 3", "a.csv, line 5"]
