"""Files of documents: formats, columns, and everything that can be wrong with them."""

import csv
import gzip
import io
import json
import os
import re
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.text import reading
from adbench_text.text.reading import DocumentFile

TEXTS = ["the ship left the harbour", 'a "storm",\nthen calm again', "the crew, at last, came home"]


def write(folder, name):
    """Write the same three documents in a format; return the path."""
    frame = pd.DataFrame({"id": ["a", "b", "c"], "text": TEXTS, "size": [1, 2, 3]})
    path = folder / f"tickets.{name}"
    if name == "csv":
        frame.to_csv(path, index=False)
    elif name == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif name == "txt":
        path.write_text("one\ntwo\nthree\n")
    elif name == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    return str(path)


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format_gives_the_same_documents(tmp_path, name):
    documents = DocumentFile(write(tmp_path, name))
    assert (documents.text_columns, documents.id_column) == (["text"], "id")
    read = list(documents)
    assert [(document.id, document.text) for document in read] == list(zip("abc", TEXTS, strict=True))
    assert [int(document.fields["size"]) for document in read] == [1, 2, 3]


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "txt"])
def test_a_compressed_file_is_read_like_its_content(tmp_path, name):
    path = write(tmp_path, name)
    plain = list(DocumentFile(path))
    packed = tmp_path / f"tickets.{name}.GZ"
    packed.write_bytes(gzip.compress(Path(path).read_bytes()))
    documents = DocumentFile(str(packed))
    assert [each.place for each in documents] == [
        each.place.replace(f".{name},", f".{name}.GZ,") for each in plain
    ]
    assert [each[:3] for each in documents] == [each[:3] for each in plain]
    assert list(documents.texts()) == [each.text for each in plain]
    kind = {"txt": "lines"}.get(name, name)
    for other in ("b.gz", "b", f"b.{name}"):
        packed = packed.rename(tmp_path / other)
        assert [each[:3] for each in DocumentFile(str(packed), kind=kind)] == [each[:3] for each in plain]
    (tmp_path / f"c.{name}.gz").write_bytes(Path(path).read_bytes())  # unpacked by a download
    assert [each[:3] for each in DocumentFile(str(tmp_path / f"c.{name}.gz"))] == [each[:3] for each in plain]


def test_the_parquet_files_of_a_folder_are_one_table(tmp_path):
    table = tmp_path / "table"
    (table / "z").mkdir(parents=True)
    for name, frame in {
        "part-1": {"id": ["c"], "text": ["three"]},
        "part-0": {"id": ["a", "b"], "text": ["one", "two"]},
        "z/part-0": {"text": ["four"], "id": ["d"]},
        ".hidden": {"id": ["x"], "text": ["no"]},
        "_temporary": {"id": ["y"], "text": ["no"]},
    }.items():
        pd.DataFrame(frame).to_parquet(table / f"{name}.parquet")
    (table / "_SUCCESS").touch()
    (tmp_path / "outside.parquet").write_bytes((table / "part-0.parquet").read_bytes())
    (table / "link.parquet").symlink_to("../outside.parquet")
    documents = DocumentFile(str(table))
    assert [(document.id, document.text, document.place) for document in documents] == [
        ("a", "one", "part-0.parquet, row 1"),
        ("b", "two", "part-0.parquet, row 2"),
        ("c", "three", "part-1.parquet, row 1"),
        ("d", "four", "z/part-0.parquet, row 1"),
    ]
    assert list(documents.texts()) == ["one", "two", "three", "four"]
    (note,) = documents.notes
    assert note.startswith(f"1 links of {table} ")
    (table / "README.txt").write_text("a table")
    # in a folder of other files, each file is a text
    with pytest.raises(DataError, match=r"parquet .*utf-8"):
        list(DocumentFile(str(table)))
    assert len(list(DocumentFile(str(table), kind="parquet"))) == 4


def test_a_column_must_be_in_all_parquet_files_of_a_folder(tmp_path):
    pd.DataFrame({"text": ["one", "two"], "id": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"body": ["three"], "text.x": ["no"], "id": [3]}).to_parquet(tmp_path / "b.parquet")
    documents = DocumentFile(str(tmp_path))
    for read in (documents, documents.texts()):
        with pytest.raises(DataError, match=r"^b\.parquet, row 1 has no 'text'\.$"):
            list(read)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty has no"):
        DocumentFile(str(tmp_path / "empty"), kind="parquet")


def test_parquet_that_a_table_cannot_be(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([pa.array(["one"]), pa.array(["two"])], ["text", "text"]), path)
    with pytest.raises(DataError, match=r"^a\.parquet .*'text'"):
        DocumentFile(str(path))
    broken = pa.array([b"caf\xe9"]).view(pa.string())
    pq.write_table(pa.table([broken], ["text"]), path)
    with pytest.raises(DataError, match=r"a\.parquet, row 1: 'text' .*got bytes: b'caf\\xe9'"):
        list(DocumentFile(str(path)))


def test_a_place_is_the_line_where_the_row_begins(tmp_path):
    places = [document.place for document in DocumentFile(write(tmp_path, "csv"))]
    assert places == ["tickets.csv, line 2", "tickets.csv, line 3", "tickets.csv, line 5"]


def test_semicolons_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfid;text\n1;first, one\n2;second\n")
    assert [document.text for document in DocumentFile(str(path), text="text")] == ["first, one", "second"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "folder"])
def test_a_byte_order_mark_of_utf_16_needs_no_option(tmp_path, encoding, name):
    # in the last two, bytes and characters look like line breaks and are none
    texts = ["ünï, ✓ \U0001f6a2", "two\r\nlines", "ਊ\u0a0d\u0d0aਊ", "\u2028\x85"]
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        for place, text in enumerate(texts):
            (path / str(place)).write_bytes(("\ufeff" * (encoding != "utf-16") + text).encode(encoding))
        assert [document.text for document in DocumentFile(str(path))] == texts
        return
    with io.StringIO(newline="") as stream:
        csv.writer(stream).writerows([("id", "text"), *enumerate(texts)])
        data = ("\ufeff" * (encoding != "utf-16") + stream.getvalue()).encode(encoding)
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    documents = DocumentFile(str(path))
    assert [(document.id, document.text) for document in documents] == [
        (str(place), text) for place, text in enumerate(texts)
    ]
    assert [document.place for document in documents][-2:] == [f"{name}, line {n}" for n in (5, 6)]
    if encoding != "utf-16":
        path.write_bytes(gzip.compress(data[2:], mtime=0) if name.endswith(".gz") else data[2:])
        assert list(DocumentFile(str(path), encoding=encoding).texts()) == texts


def test_plain_lines_and_folders(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "b").write_text("second\nline")
    (tmp_path / "in" / "a.txt").write_text("first")
    (tmp_path / "in" / ".hidden").write_text("no")
    read = list(DocumentFile(str(tmp_path / "in")))
    assert [(document.id, document.text) for document in read] == [
        ("a.txt", "first"),
        ("deep/b", "second\nline"),
    ]
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    assert [(document.id, document.text) for document in DocumentFile(str(tmp_path / "lines.txt"))] == [
        ("0", "one"),
        ("1", "two"),
    ]


def test_links_out_of_a_folder_are_left_out_and_counted(tmp_path):
    folder, outside = tmp_path / "in", tmp_path / "outside"
    for each in (folder / "deep", outside):
        each.mkdir(parents=True)
    (outside / "secret").write_text("secret")
    (folder / "a").write_text("first")
    (folder / "deep" / "inner").symlink_to("../a")
    (folder / "file").symlink_to("../outside/secret")
    (folder / "folder").symlink_to(outside)
    (folder / "own").symlink_to(".")
    (folder / "loop").symlink_to("loop")
    (folder / "nowhere").symlink_to("nothing")
    (tmp_path / "link").symlink_to("in")
    for path in (folder, tmp_path / "link"):
        documents = DocumentFile(str(path))
        assert [(each.id, each.text) for each in documents] == [("a", "first"), ("deep/inner", "first")]
        (note,) = documents.notes
        assert note.startswith(f"5 links of {path} ")
    for path in (folder / "a", folder / "deep" / "inner"):
        path.unlink()
    with pytest.raises(DataError, match=f"in has no .* 5 links of {re.escape(str(folder))} "):
        DocumentFile(str(folder))


@pytest.mark.parametrize(
    ("data", "text", "texts"),
    [
        (b'{"text": "one"}\n', None, ["one"]),
        (b"one\ntwo", None, ["one", "two"]),
        (gzip.compress(b"one\ntwo", mtime=0), None, ["one", "two"]),
        (b"id,text\n1,one", None, ["id,text", "1,one"]),  # nothing says that this is a header
        (b'id;"text"\n1;one', "text", ["one"]),
        (b"\xef\xbb\xbftext\tid\none\t1", "text", ["one"]),
        ("id,text\n1,one".encode("utf-16"), "text", ["one"]),
        (b"my text, in lines\ntwo", "text", ["my text, in lines", "two"]),
        (b"id,subject,body\n1,one,two", ("subject", "body"), ["one\ntwo"]),
    ],
)
@pytest.mark.parametrize("again", [False, True])
def test_standard_input(monkeypatch, data, text, texts, again):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert [document.text for document in DocumentFile("-", text, again=again)] == texts


def test_a_wrong_column_of_standard_input_is_an_error_that_names_those_of_its_header(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,body\n1,one\n")))
    with pytest.raises(UnknownNameError, match=r"column .*'bdy'.*'body'"):
        DocumentFile("-", "bdy")


def test_the_column_of_the_text_is_guessed_only_when_there_is_one_choice(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("queue,subject,body\nx,not able to login,password was rejected again\n")
    with pytest.raises(InvalidValueError, match=r"--text .*: subject, body"):
        DocumentFile(str(path))
    path.write_text("queue,subject,body\nx,login,password was rejected again\n")
    assert DocumentFile(str(path)).text_columns == ["body"]


def test_several_columns_are_joined_in_the_order_given(tmp_path):
    rows = [("login", "no access"), ("", "no subject"), ("no body", ""), ("", "")]
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("subject", "body"), *rows])
    documents = DocumentFile(str(path), text=["subject", "body"])
    joined = ["login\nno access", "no subject", "no body", ""]
    assert [each.text for each in documents] == list(documents.texts()) == joined
    assert next(iter(documents)).fields == {"subject": "login", "body": "no access"}
    turned = DocumentFile(str(path), text=("body", "subject"))
    assert next(iter(turned)).text == "no access\nlogin"
    with pytest.raises(UnknownNameError, match=r"column .*'bdy'.*'body'"):
        DocumentFile(str(path), text=["subject", "bdy"])


def test_a_text_column_may_be_missing_in_some_rows(tmp_path):
    path = tmp_path / "tickets.jsonl"
    path.write_text('{"id": 1, "body": "no access"}\n{"id": 2, "subject": "login", "body": "again"}\n')
    assert list(DocumentFile(str(path), text=["subject", "body"]).texts()) == ["no access", "login\nagain"]
    with pytest.raises(UnknownNameError, match=r"column .*'title'"):
        DocumentFile(str(path), text=["title", "body"])


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_of_several_columns_some_may_be_missing_in_a_row(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    rows = [{"subject": "one", "body": "two"}, {"body": "three"}, {"subject": None, "body": None}]
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, [*rows, {"id": 1}])))
    else:
        pd.DataFrame(rows).to_parquet(path)
    documents = DocumentFile(str(path), text=["subject", "body"])
    for read in ((each.text for each in documents), documents.texts()):
        assert [next(read) for _ in rows] == ["one\ntwo", "three", ""]
        if kind == "jsonl":
            with pytest.raises(DataError, match=r"line 4 has no 'subject'\."):
                next(read)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_what_is_missing_is_no_text_and_no_identifier(tmp_path, kind):
    nan = float("nan")
    texts, ids = ["ship", nan, None, "", "NaN", "None"], ["a", nan, None, "", "NaN", "null"]
    table = pd.DataFrame({"text": texts, "id": ids, "size": [1.5, nan, None, 2, 3, 4]})
    path = tmp_path / f"a.{kind}"
    if kind == "jsonl":  # NaN as Python writes it
        path.write_text("\n".join(map(json.dumps, table.astype(object).to_dict("records"))))
    elif kind == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    documents = list(DocumentFile(str(path), text="text"))
    assert [document.text for document in documents] == ["ship", "", "", "", "NaN", "None"]
    assert [document.id for document in documents] == ["a", "row 1", "row 2", "row 3", "NaN", "null"]
    assert list(DocumentFile(str(path), text="text").texts()) == [document.text for document in documents]
    sizes = list(DocumentFile(str(path), text=["text", "size"]).texts())
    assert [text.partition(".")[0] for text in sizes[:3]] == ["ship\n1", "", ""]


def test_numbers_that_are_missing_in_a_column_of_parquet_are_no_text(tmp_path):
    pq.write_table(pa.table({"size": pa.array([1.0, float("nan"), None])}), tmp_path / "a.parquet")
    assert list(DocumentFile(str(tmp_path / "a.parquet"), text="size").texts()) == ["1.0", "", ""]


BAD = {
    "a missing column": ("a.csv", b"a,b\n1,2\n", {"text": "body"}, "'body'"),
    "no rows": ("a.csv", b"a,b\n", {}, "a.csv has no"),
    "nothing": ("a.jsonl", b"", {}, "a.jsonl has no"),
    "not JSON": ("a.jsonl", b'{"text": "one"}\n{oops\n', {}, "line 2 is not"),
    "no object": ("a.jsonl", b'{"text": "one"}\n[1]\n', {}, "line 2 is JSON"),
    "a value missing": ("a.jsonl", b'{"text": "one"}\n{"x": 1}\n', {}, "line 2 has no 'text'"),
    "a list": ("a.jsonl", b'{"text": "one"}\n{"text": [1]}\n', {}, "line 2: 'text' .*got list"),
    "another encoding": (
        "a.csv",
        b"text\none\ncaf\xe9\n",
        {},
        "a.csv .*utf-8, after line 0: invalid continuation byte.*--encoding",
    ),
    "half a character": (
        "a.csv",
        "text\none\n".encode("utf-16") + b"x",
        {},
        "a.csv .*utf-16, after line 2: truncated data",
    ),
    "UTF-32": ("a.csv", "text\none\n".encode("utf-32"), {}, "NUL byte"),
    "a spreadsheet": ("a.xlsx", b"PK", {}, "a.xlsx.* CSV"),
    "NUL": ("a.csv", b"text\none\ntw\0o\n", {}, "line 3 .*NUL byte"),
    "too many fields": (
        "a.csv",
        b"a,b\n1,2\n1,2,3\n",
        {"text": "b"},
        "line 3 has 3 .*has 2",
    ),
    "an open quote": ("a.csv", b'a,b\n1,"2\n3,4\n5,6\n', {"text": "b"}, "line 2: unexpected end of data"),
    "two columns of one name": ("a.csv", b"a,a\n1,2\n", {}, "a.csv .*'a'"),
    "an empty gzip": ("a.csv.gz", b"", {}, "a.csv.gz has no"),
    "a truncated gzip": (
        "a.csv.gz",
        gzip.compress(b"text\none\n", mtime=0)[:-9],
        {},
        "a.csv.gz .*gzip.*: Compressed file ended",
    ),
    "a damaged gzip": (
        "a.csv.gz",
        gzip.compress(b"text\n", mtime=0)[:10] + b"\xff" * 20,
        {},
        "a.csv.gz .*gzip.*: Error -3",
    ),
    "gzip of another encoding": (
        "a.jsonl.gz",
        gzip.compress(b'{"text": "one"}\n' * 900 + b'{"text": "caf\xe9"}\n', mtime=0),
        {},
        "a.jsonl.gz .*utf-8, after line ",
    ),
    "Parquet in gzip": (
        "a.parquet.gz",
        gzip.compress(b"", mtime=0),
        {},
        "a.parquet.gz .*Parquet",
    ),
    "gzip of an unknown format": ("a.gz", b"", {}, "format of a.gz "),
    "no Parquet": ("a.parquet", b"text", {}, "a.parquet .*Parquet"),
    "an unknown suffix": ("a.docx", b"text", {}, "format of a.docx"),
    "an unknown format": ("a.csv", b"text", {"kind": "xls"}, "'xls'"),
    "an unknown encoding": ("a.csv", b"text", {"encoding": "latin-99"}, "encoding 'latin-99'"),
    "no UTF-16": (
        "a.csv",
        b"text",
        {"encoding": "utf-16"},
        "a.csv .*utf-16, after line 0: ",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_clear_line(tmp_path, case):
    name, data, options, message = BAD[case]
    (tmp_path / name).write_bytes(data)
    for read in (list, lambda documents: list(documents.texts())):
        with pytest.raises((DataError, InvalidValueError)) as error:
            read(DocumentFile(str(tmp_path / name), **options))
        assert re.search(message, str(error.value))
        assert "\n" not in str(error.value)


def test_a_missing_file_and_an_unreadable_one(tmp_path):
    with pytest.raises(DataError, match=re.escape(str(tmp_path / "none.csv"))):
        DocumentFile(str(tmp_path / "none.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv.*directory"):
        DocumentFile(str(tmp_path / "folder.csv"), kind="csv")


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_huge_documents_are_refused(tmp_path, monkeypatch, name):
    path, data = tmp_path / name, json.dumps({"text": "x" * 1000}).encode() + b"\n"
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    monkeypatch.setattr(reading, "_LONGEST", 999)
    documents = DocumentFile(str(path))
    for read in (documents, documents.texts()):
        with pytest.raises(DataError, match=r"line 1: .*1,000 .*999"):
            list(read)
    monkeypatch.setattr(reading, "_LONGEST_LINE", 500)
    with pytest.raises(DataError, match=r"line 1 .*million"):
        list(DocumentFile(str(path)))


def test_a_column_of_identifiers_may_be_named_or_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\nx,one\ny,two\nx,three\n")
    assert [d.id for d in DocumentFile(str(tmp_path / "a.csv"), text="text", id="")] == ["0", "1", "2"]
    with pytest.raises(UnknownNameError, match=r"column .*'key'"):
        DocumentFile(str(tmp_path / "a.csv"), text="text", id="key")


def test_a_header_of_many_columns_is_read_in_seconds(tmp_path):
    header, row = ["text", *(f"c{n}" for n in range(100_000))], ["ship", *(100_000 * ["x"])]
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, [header, row, row])))
    begin = time.perf_counter()
    assert [*DocumentFile(str(tmp_path / "a.csv")).texts()] == ["ship", "ship"]
    assert time.perf_counter() - begin < 10
    (tmp_path / "b.csv").write_text(",".join([*header, "c7"]) + "\nship")
    with pytest.raises(DataError, match=r"b\.csv .*'c7'"):
        DocumentFile(str(tmp_path / "b.csv"))


def test_values_of_parquet_that_python_does_not_have_matter_only_where_they_are_read(tmp_path):
    bad = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xffx"))
    columns = {
        "text": TEXTS[:2],
        "year": pa.array([2**31 - 1, 0], pa.date32()),
        "when": pa.array([10**18, 0], pa.timestamp("us")),
        "took": pa.array([2**62, 1], pa.duration("s")),
        "raw": bad,
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    path = str(tmp_path / "a.parquet")
    first, second = DocumentFile(path)
    assert [first.text, second.text] == TEXTS[:2]
    assert (first.fields["raw"], second.fields["raw"]) == (b"\xff", "x")
    assert str(second.fields["year"]) == "1970-01-01"
    assert [*DocumentFile(path).texts()] == TEXTS[:2]
    with pytest.raises(DataError, match=r"a\.parquet, row 1: 'raw' .*got bytes: b'\\xff'"):
        [*DocumentFile(path, "raw")]


# -- lone surrogates


def test_lone_surrogates_are_replaced_everywhere_in_a_row_and_counted(tmp_path):
    rows = [
        {"id": "a\udfff", "text": "ship \ud800", "k\udc80": "\udc81"},
        {"id": "é", "text": "\0 😀", "n": ["\udfff", 1]},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file = DocumentFile(str(tmp_path / "a.jsonl"), "text")
    assert (file.notes, file.late_notes) == ([], [])
    first, second = file
    assert (first.id, first.text, first.fields["k\ufffd"]) == ("a\ufffd", "ship \ufffd", "\ufffd")
    assert (second.id, second.text) == ("é", "\0 😀")
    assert [note[:11] for note in file.late_notes] == ["1 document "]
    assert [*file.texts()] == [first.text, second.text]
    assert file.late_notes[0].startswith("1 ")  # once, although it was read twice


def test_a_column_is_named_as_it_is_read(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "caf\udce9": "ship", "other": "x"}))
    assert [*DocumentFile(str(tmp_path / "a.jsonl"), "caf\udce9").texts()] == ["ship"]


def test_columns_that_only_lone_surrogates_distinguish_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "ship", "\\ud800": 1, "\\ud801": 2}')
    with pytest.raises(DataError, match=r"a\.jsonl, line 1 .*surrogates"):
        DocumentFile(str(tmp_path / "a.jsonl"))


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux only")
def test_names_of_files_that_are_not_utf8_are_mended(tmp_path):
    for name in (b"caf\xe9.txt", b"caf\xe8.txt", "café.txt".encode()):
        (tmp_path / os.fsdecode(name)).write_text(f"the text of {name!r}")
    file = DocumentFile(str(tmp_path), id="")
    assert sorted(document.fields["file"] for document in file) == ["café.txt", *["caf\ufffd.txt"] * 2]
    assert len({*file.texts()}) == 3
    assert file.late_notes[0].startswith("2 documents ")
