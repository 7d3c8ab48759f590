"""Files of documents: formats, columns, and everything that can be wrong with them."""

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import os
import random
import re
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.reading import batch, decoding
from adbench_text.reading.documents import DocumentFile

TEXTS = ["the ship left the harbour", 'a "storm",\nthen calm again', "the crew, at last, came home"]


def read(path, *columns, **options):
    """The documents of a file in both ways: as a table, and one after the other."""
    file, again = (DocumentFile(str(path), *columns, **options) for _ in range(2))
    table = file.table()
    documents = list(again)
    assert [document.text for document in documents] == list(table.texts())
    assert [document.id for document in documents] == table.ids
    assert again.late_notes == file.late_notes or "lists" in str(file.late_notes)
    return file, table


def texts(path, *columns, **options):
    return list(read(path, *columns, **options)[1].texts())


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
    elif name == "json":
        frame.to_json(path, orient="records", indent=2)
    else:
        frame.to_parquet(path)
    return str(path)


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_every_format_gives_the_same_documents(tmp_path, name):
    file, table = read(write(tmp_path, name))
    assert (file.text_columns, file.id_column) == (["text"], "id")
    assert (table.ids, list(table.texts()), table.values("size")) == ([*"abc"], TEXTS, ["1", "2", "3"])
    assert file.notes == file.late_notes == []


def zipped(data, name):
    with io.BytesIO() as stream:
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(name, data)
        return stream.getvalue()


PACKED = {
    "GZ": lambda data, name: gzip.compress(data),
    "bz2": lambda data, name: bz2.compress(data),
    "xz": lambda data, name: lzma.compress(data),
    "zst": lambda data, name: pa.compress(data, "zstd", asbytes=True),
    "zip": zipped,
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "json", "txt"])
def test_a_compressed_file_is_read_like_its_content(tmp_path, name, packed):
    path = Path(write(tmp_path, name))
    expected = texts(path)
    other = tmp_path / f"{path.name}.{packed}"
    other.write_bytes(PACKED[packed](path.read_bytes(), path.name))
    _, table = read(other)
    assert list(table.texts()) == expected
    assert table.place(0) == f"{other.name}, line {read(path)[1].place(0).rpartition(' ')[2]}"
    kind = {"txt": "lines", "json": "jsonl"}.get(name, name)
    for renamed in (f"b.{packed}", "b", f"b.{name}"):  # the bytes tell, not the name
        other = other.rename(tmp_path / renamed)
        assert texts(other, kind=kind) == expected
    (tmp_path / f"c.{name}.{packed}").write_bytes(path.read_bytes())  # unpacked by a download
    assert texts(tmp_path / f"c.{name}.{packed}") == expected


def test_a_zip_archive_is_named_by_what_is_in_it(tmp_path):
    path = tmp_path / "archive.zip"
    path.write_bytes(zipped("text\none\n", "tickets.csv"))
    assert texts(path) == ["one"]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/tickets.csv", "")
    assert texts(path) == ["one"]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("other.csv", "")
    with pytest.raises(DataError, match=r"archive\.zip .* 2 files"):
        DocumentFile(str(path))
    path.write_bytes(zipped("", "[Content_Types].xml"))
    with pytest.raises(DataError, match=r"archive\.zip .*Office"):
        DocumentFile(str(path))


# -- folders


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
    file, rows = read(table)
    assert list(zip(rows.ids, rows.texts(), map(rows.place, range(4)), strict=True)) == [
        ("a", "one", "part-0.parquet, row 1"),
        ("b", "two", "part-0.parquet, row 2"),
        ("c", "three", "part-1.parquet, row 1"),
        ("d", "four", "z/part-0.parquet, row 1"),
    ]
    (note,) = file.notes
    assert note.startswith(f"Skipped 1 link of {table}:")
    (table / "README.txt").write_text("a table")
    # among other files each file is a text, and what is none costs itself; both are said
    file, rows = read(table)
    assert (list(rows.texts()), rows.ids) == (["a table", ""], ["README.txt", "_SUCCESS"])
    assert "--format parquet" in file.notes[1]
    assert file.late_notes[0].startswith("4 files ")
    file, rows = read(table, kind="parquet")
    assert len(rows) == 4
    assert file.notes[1].startswith("Skipped 1 other file ")


@pytest.mark.parametrize("name", ["csv", "csv.gz", "tsv", "jsonl", "json", "parquet"])
def test_parts_of_a_table_are_one_table(tmp_path, name):
    expected = []
    for part in range(3):
        frame = pd.DataFrame({"id": [f"{part}{n}" for n in range(4)], "text": [f"row {n}" for n in range(4)]})
        expected += frame["text"].tolist()
        path = tmp_path / f"part-{part}.{name}"
        if name == "parquet":
            frame.to_parquet(path)
        elif "json" in name:
            frame.to_json(path, orient="records", lines=name == "jsonl")
        else:
            frame.to_csv(path, index=False, sep="\t" if name == "tsv" else ",")
    file, table = read(tmp_path)
    assert (list(table.texts()), table.ids[4]) == (expected, "10")
    assert "3 files" in file.description
    assert table.place(4).startswith(f"part-1.{name}, ")


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_names_of_folders_are_columns(tmp_path, name):
    for folder in ("label=garden", "label=court%20house", "label=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / f"part-0.{name}"
        frame = pd.DataFrame({"text": [f"the text of {folder}"]})
        if name == "parquet":
            frame.to_parquet(path)
        elif name == "jsonl":
            frame.to_json(path, orient="records", lines=True)
        else:
            frame.to_csv(path, index=False)
    file, table = read(tmp_path)
    assert file.columns == ["text", "label"]
    assert table.values("label") == [None, "court house", "garden"]


def test_parts_with_other_columns(tmp_path):
    pd.DataFrame({"text": ["one", "two"], "id": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"body": ["three"], "text.x": ["no"], "id": [3]}).to_parquet(tmp_path / "b.parquet")
    for use in (list, DocumentFile.table):
        with pytest.raises(DataError, match=r"^b\.parquet has no column 'text'"):
            use(DocumentFile(str(tmp_path)))
    (tmp_path / "b.parquet").unlink()
    pd.DataFrame({"text": ["three"], "more": ["x"]}).to_parquet(tmp_path / "b.parquet")
    _, table = read(tmp_path)
    assert (table.ids, table.values("more")) == (["1", "2", "row 2"], [None, None, "x"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty has no"):
        DocumentFile(str(tmp_path / "empty"), kind="parquet")


def parquet(**columns):
    with io.BytesIO() as stream:
        pd.DataFrame(columns).to_parquet(stream)
        return stream.getvalue()


BAD_PARTS = {
    "no Parquet": ("parquet", parquet(text=["one"]), b"PAR1 and no more"),
    "another column": ("parquet", parquet(text=["one"]), parquet(body=["two"])),
    "another header": ("csv", b"text,n\none,1\n", b"body,n\ntwo,2\n"),
    "no gzip to its end": ("csv.gz", gzip.compress(b"text\none\n"), gzip.compress(b"text\ntwo\n")[:-12]),
    "an array that is cut off": ("json", b'[{"text": "one"}]', b'[{"text": '),
    "an open quote": ("csv", b"text\none\n", b'text\n"two\nthree\n'),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("case", BAD_PARTS)
def test_a_bad_part_costs_itself_where_reading_goes_on(tmp_path, case, place):
    name, good, bad = BAD_PARTS[case]
    for part in range(3):
        (tmp_path / f"{part}.{name}").write_bytes(bad if part == place else good)
    with pytest.raises(DataError, match=rf"{place}\.{name}.*--errors replace"):
        list(DocumentFile(str(tmp_path), "text"))
    file = DocumentFile(str(tmp_path), "text", errors="replace")
    assert [text for text in file.table().texts() if text != "two"] == ["one", "one"]
    (note,) = file.late_notes
    assert note.startswith("1 file is ")
    assert f"{place}.{name}" in note


def test_plain_lines_and_folders(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "b").write_text("second\nline")
    (tmp_path / "in" / "a.txt").write_text("first")
    (tmp_path / "in" / ".hidden").write_text("no")
    _, table = read(tmp_path / "in")
    assert (table.ids, list(table.texts())) == (["a.txt", "deep/b"], ["first", "second\nline"])
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    _, table = read(tmp_path / "lines.txt")
    assert (table.ids, list(table.texts())) == (["0", "1"], ["one", "two"])


def test_a_file_of_a_folder_that_is_no_text_costs_itself_alone(tmp_path):
    (tmp_path / "a.txt").write_text("first")
    (tmp_path / "b.txt").write_bytes(b"one\ncaf\xe9 two\n")
    (tmp_path / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (tmp_path / "d.docx").write_bytes(zipped("", "[Content_Types].xml"))
    (tmp_path / "e.txt").write_bytes("ünï".encode("utf-16"))
    file, table = read(tmp_path)
    assert list(table.texts()) == ["first", "one\ncaf\ufffd two\n", "ünï"]
    lost = " ".join(file.late_notes)
    assert all(each in lost for each in ("1 line has", "b.txt, line 2", "2 files are", "c.png"))
    assert texts(tmp_path, encoding="cp1252")[1] == "one\ncafé two\n"


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
        file, table = read(path)
        assert (table.ids, list(table.texts())) == (["a", "deep/inner"], ["first", "first"])
        (note,) = file.notes
        assert note.startswith(f"Skipped 5 links of {path}:")
    for path in (folder / "a", folder / "deep" / "inner"):
        path.unlink()
    with pytest.raises(DataError, match=f"in has no .* 5 links of {re.escape(str(folder))}:"):
        DocumentFile(str(folder))


# -- encodings and places


def test_a_place_is_the_line_where_the_row_begins(tmp_path):
    _, table = read(write(tmp_path, "csv"))
    assert [*map(table.place, range(3))] == [f"tickets.csv, line {line}" for line in (2, 3, 5)]
    (tmp_path / "a.csv").write_text('\nid,text\n\n1,one\n   \n2,"two\n\nlines"\n3,three\n')
    _, table = read(tmp_path / "a.csv")
    assert [*map(table.place, range(3))] == [f"a.csv, line {line}" for line in (4, 6, 9)]
    assert list(table.texts()) == ["one", "two\n\nlines", "three"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "folder"])
def test_a_byte_order_mark_of_utf_16_needs_no_option(tmp_path, encoding, name):
    # in the last two, bytes and characters look like line breaks and are none
    written = ["ünï, ✓ \U0001f6a2", "two\r\nlines", "ਊ\u0a0d\u0d0aਊ", "\u2028\x85"]
    path = tmp_path / name
    mark = "\ufeff" * (encoding != "utf-16")
    if name == "folder":
        path.mkdir()
        for place, text in enumerate(written):
            (path / str(place)).write_bytes((mark + text).encode(encoding))
        assert texts(path) == written
        return
    with io.StringIO(newline="") as stream:
        csv.writer(stream).writerows([("id", "text"), *enumerate(written)])
        data = (mark + stream.getvalue()).encode(encoding)
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    _, table = read(path)
    assert (table.ids, list(table.texts())) == (["0", "1", "2", "3"], written)
    assert [table.place(row) for row in (2, 3)] == [f"{name}, line {n}" for n in (5, 6)]
    if encoding != "utf-16":
        path.write_bytes(gzip.compress(data[2:], mtime=0) if name.endswith(".gz") else data[2:])
        assert texts(path, encoding=encoding) == written


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("asked", ["utf-8", "cp1252", "utf-32"])
def test_a_byte_order_mark_takes_precedence(tmp_path, encoding, asked):
    (tmp_path / "a.csv").write_bytes("id,text\n1,ünï\n".encode(encoding))
    _, table = read(tmp_path / "a.csv", encoding=asked)
    assert (table.ids, list(table.texts())) == (["1"], ["ünï"])


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "shift_jis", "gb18030"])
def test_a_character_may_lie_across_two_blocks(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(decoding, "BUFFER", 7)
    written = [
        "ships in the harbour",
        "ünï ûber" if encoding in ("utf-8", "cp1252") else "日本語 海港",
        "end",
    ]
    (tmp_path / "a.txt").write_bytes("\r\n".join(written).encode(encoding))
    assert texts(tmp_path / "a.txt", encoding=encoding) == written


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "shift_jis", "gb18030", "euc_jp", "big5"])
@pytest.mark.parametrize("buffer", [5, 16, 4096])
def test_wrong_bytes_are_replaced_as_in_the_whole_file(tmp_path, monkeypatch, encoding, buffer):
    monkeypatch.setattr(decoding, "BUFFER", buffer)
    for seed in range(5):
        draw = random.Random(seed)
        lines = ["".join(draw.choice("abcxyz日本語海") for _ in range(20)) for _ in range(20)]
        data = bytearray("\n".join(lines).encode(encoding))
        for _ in range(2):
            data.insert(draw.randrange(8, len(data)), draw.choice([0xFF, 0xD8, 0x80]))
        (tmp_path / "a.txt").write_bytes(data)
        whole = bytes(data).decode(encoding, "replace").replace("\0", "\ufffd")
        expected = [line.strip() for line in whole.split("\n") if line.strip()]
        found = texts(tmp_path / "a.txt", encoding=encoding, errors="replace")
        assert [line.strip() for text in found for line in text.split("\n") if line.strip()] == expected


_ENCODINGS_WITH_A_MARK = {
    "utf-8-sig": (codecs.BOM_UTF8, "utf-8", b"\xff"),
    "utf-16-be": (codecs.BOM_UTF16_BE, "utf-16-be", b"\xd8\x00"),
    "utf-16-le": (codecs.BOM_UTF16_LE, "utf-16-le", b"\x00\xd8"),
}


@pytest.mark.parametrize("encoding", _ENCODINGS_WITH_A_MARK)
@pytest.mark.parametrize("buffer", [7, 64, 4096])
def test_a_wrong_byte_after_a_byte_order_mark_has_the_right_line(tmp_path, monkeypatch, encoding, buffer):
    monkeypatch.setattr(decoding, "BUFFER", buffer)
    mark, codec, wrong = _ENCODINGS_WITH_A_MARK[encoding]
    before = "text,x\n" + "".join(f"ship {n} ✓,{n}\n" for n in range(20)) + "the "
    data = mark + before.encode(codec) + wrong + "end,20\n".encode(codec)
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(DataError, match=r"a\.csv, line 22 is not in"):
        texts(tmp_path / "a.csv", "text")
    file, table = read(tmp_path / "a.csv", "text", errors="replace")
    assert file.columns == ["text", "x"]
    assert list(table.texts()) == [*(f"ship {n} ✓" for n in range(20)), "the \ufffdend"]
    assert "a.csv, line 22" in " ".join(file.late_notes)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", ["csv", "tsv", "txt", "jsonl"])
def test_lines_may_end_as_on_any_system(tmp_path, monkeypatch, name, end):
    path = Path(write(tmp_path, name))
    expected = texts(path) if name in ("txt", "jsonl") else ["one", "two"]
    content = path.read_text() if name in ("txt", "jsonl") else "id\ttext\n1\tone\n2\ttwo\n"
    content = content if name != "csv" else content.replace("\t", ",")
    path.write_bytes(content.replace("\n", end).encode())
    assert texts(path) == expected
    monkeypatch.setattr(decoding, "BUFFER", 3)  # an end of a line lies across two blocks
    assert texts(path) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [3, 2**18])
@pytest.mark.parametrize("name", ["csv", "txt", "jsonl"])
def test_lines_at_the_start_may_be_left_out(tmp_path, monkeypatch, name, size, end):
    monkeypatch.setattr(decoding, "BUFFER", size)
    rows = {"csv": "text\nthe ship\nthe crew", "txt": "the ship\nthe crew", "jsonl": '"the ship"\n"the crew"'}
    path = tmp_path / f"a.{name}"
    path.write_bytes(f"Exported in May, by Ann\n\n{rows[name]}\n".replace("\n", end).encode())
    _, table = read(path, skip_lines=2)
    assert list(table.texts()) == ["the ship", "the crew"]
    assert table.place(1) == f"a.{name}, line {5 if name == 'csv' else 4}"
    with pytest.raises(DataError, match=f"a.{name} has no"):
        DocumentFile(str(path), skip_lines=9)


def test_lines_can_be_left_out_of_text_only(tmp_path):
    for use in (list, DocumentFile.table):
        with pytest.raises(InvalidValueError, match=r"tickets\.parquet .*--skip-lines"):
            use(DocumentFile(write(tmp_path, "parquet"), skip_lines=1))
    with pytest.raises(InvalidValueError, match=r"skip_lines .*-1"):
        DocumentFile(write(tmp_path, "csv"), skip_lines=-1)


# -- standard input


@pytest.mark.parametrize(
    ("data", "text", "expected"),
    [
        (b'{"text": "one"}\n', None, ["one"]),
        (b'[{"text": "one"},\n{"text": "two"}]', None, ["one", "two"]),
        (b'[\n  {\n    "text": "one"\n  }\n]\n', None, ["one"]),
        (b'{\n "text": "one"\n}\n{\n "text": "two"\n}\n', None, ["one", "two"]),  # as jq writes it
        (b"[10:30] one\n[10:31] two", None, ["[10:30] one", "[10:31] two"]),
        (b'\n{"text": "one"}\n', None, ["one"]),
        (b"{tag} one\n[x] two", None, ["{tag} one", "[x] two"]),
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
def test_standard_input(monkeypatch, data, text, expected):
    for use in (list, lambda file: [*file.table().texts()]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        read = use(DocumentFile("-", text))
        assert [getattr(each, "text", each) for each in read] == expected


def test_a_wrong_column_of_standard_input_is_an_error_that_names_those_of_its_header(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,body\n1,one\n")))
    with pytest.raises(UnknownNameError, match=r"column .*'bdy'.*'body'"):
        DocumentFile("-", "bdy")


# -- columns


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
    joined = ["login\nno access", "no subject", "no body", ""]
    assert texts(path, ["subject", "body"]) == joined
    assert texts(path, ("body", "subject"))[0] == "no access\nlogin"
    with pytest.raises(UnknownNameError, match=r"column .*'bdy'.*'body'"):
        DocumentFile(str(path), text=["subject", "bdy"])


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_of_several_columns_some_may_be_missing_in_a_row(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    rows = [
        {"id": 1, "body": "no access"},
        {"subject": "login", "body": "again"},
        {"subject": None},
        {"id": 4},
    ]
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        pd.DataFrame(rows).to_parquet(path)
    _, table = read(path, ["subject", "body"])
    assert list(table.texts()) == ["no access", "login\nagain", "", ""]
    assert table.ids == ["1", "row 1", "row 2", "4"]
    with pytest.raises(UnknownNameError, match=r"column .*'title'"):
        DocumentFile(str(path), text=["title", "body"])


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet", "csv", "tsv"])
def test_what_is_missing_is_no_text_and_no_identifier(tmp_path, kind):
    nan = float("nan")
    written, ids = ["ship", nan, None, "", "NaN", "None", "NA"], ["a", nan, None, "", "NaN", "null", "nan"]
    table = pd.DataFrame({"text": written, "id": ids, "size": [1.5, nan, None, 2, 3, 4, 5]})
    path = tmp_path / f"a.{kind}"
    if "json" in kind:  # NaN as Python writes it
        rows = table.astype(object).to_dict("records")
        path.write_text("\n".join(map(json.dumps, rows)) if kind == "jsonl" else json.dumps(rows))
    elif kind == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    _, found = read(path, "text")
    assert list(found.texts()) == ["ship", "", "", "", "", "", ""]
    assert found.ids == ["a", "row 1", "row 2", "row 3", "NaN", "null", "nan"]
    sizes = [each or None for each in found.values("size")]
    assert sizes[:3] == ["1.5", None, None]
    assert [float(each) for each in sizes[3:]] == [2, 3, 4, 5]


def test_not_a_time_and_an_empty_column_are_missing(tmp_path):
    frame = pd.DataFrame(
        {"text": ["ship", "crew"], "when": [pd.NaT, pd.Timestamp("2026-01-02")], "note": None}
    )
    frame["size"] = [np.nan, np.nan]
    frame.to_parquet(tmp_path / "a.parquet")
    _, table = read(tmp_path / "a.parquet", ["text", "note"], "when")
    assert (list(table.texts()), table.ids) == (["ship", "crew"], ["row 0", "2026-01-02 00:00:00"])
    _, table = read(tmp_path / "a.parquet", ["size", "text"])
    assert list(table.texts()) == ["ship", "crew"]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_number_is_no_text(tmp_path, kind):
    frame = pd.DataFrame({"text": ["ship", "crew"], "size": [1.0, 2.5], "flag": [True, False]})
    path = tmp_path / f"a.{kind}"
    if kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    unit = "line" if kind == "jsonl" else "row"
    for column, value in (("size", r"\w+: 1"), ("flag", "bool: True")):
        with pytest.raises(
            DataError, match=rf"^a\.{kind}, {unit} 1: '{column}' .*got {value}.*--errors replace"
        ):
            DocumentFile(str(path), column).table()
    file, table = read(path, ["text", "size"], errors="replace")
    assert list(table.texts()) == ["ship", "crew"]
    assert file.late_notes[0].startswith("2 rows have")
    _, table = read(path, "text")
    assert table.values("flag") == ["True", "False"]


def test_columns_of_lists_are_left_out_unless_they_are_asked_for(tmp_path):
    rows = [
        {"text": "ship", "tags": ["a"], "vector": [0.5] * 4},
        {"text": "crew", "tags": None, "n": {"a": 1}},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pd.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        file, table = read(tmp_path / name, "text")
        assert table.arrow.schema.names == ["text"]
        assert len([note for note in file.late_notes if "'tags'" in note or "'vector'" in note]) == 2
        assert DocumentFile(str(tmp_path / name), "text").table(["tags"]).values("tags") == ['["a"]', None]


def test_bytes_of_parquet_are_text(tmp_path):
    raw = ["ünï".encode(), b"two", None]
    for kind in (pa.binary(), pa.large_binary(), pa.dictionary(pa.int8(), pa.string())):
        values = [each and each.decode() for each in raw] if pa.types.is_dictionary(kind) else raw
        pq.write_table(
            pa.table({"id": pa.array([1, 2, 3]), "text": pa.array(values, kind)}), tmp_path / "a.parquet"
        )
        assert texts(tmp_path / "a.parquet") == ["ünï", "two", ""]
    pq.write_table(pa.table({"body": pa.array(["the ship is ünï".encode("cp1252")])}), tmp_path / "a.parquet")
    assert texts(tmp_path / "a.parquet", encoding="cp1252") == ["the ship is ünï"]
    assert texts(tmp_path / "a.parquet", errors="replace") == ["the ship is \ufffdn\ufffd"]
    with pytest.raises(DataError, match=r"a\.parquet, row 1: 'body' .*got bytes"):
        DocumentFile(str(tmp_path / "a.parquet")).table()


def test_parquet_that_a_table_cannot_be(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([pa.array(["one"]), pa.array(["two"])], ["text", "text"]), path)
    with pytest.raises(DataError, match=r"^.*a\.parquet .*'text'"):
        DocumentFile(str(path))
    broken = pa.array([b"caf\xe9"]).view(pa.string())
    pq.write_table(pa.table([broken], ["text"]), path)
    with pytest.raises(DataError, match=r"a\.parquet, row 1: 'text' .*got bytes: b'caf\\xe9'"):
        list(DocumentFile(str(path)))


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
    _, table = read(path)
    assert list(table.texts()) == TEXTS[:2]
    assert table.values("raw") == ["\ufffd", "x"]
    with pytest.raises(DataError, match=r"a\.parquet, row 1: 'raw' .*got bytes: b'\\xff'"):
        DocumentFile(path, "raw").table()


def test_the_texts_of_parquet_are_read_without_the_other_columns(tmp_path, monkeypatch):
    asked = []
    iter_batches = pq.ParquetFile.iter_batches

    def noted(self, *args, columns, **options):
        asked.append(columns)
        return iter_batches(self, *args, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    path = write(tmp_path, "parquet")
    assert list(DocumentFile(path, id="").table(()).texts()) == TEXTS
    assert [document.text for document in DocumentFile(path)] == TEXTS
    assert DocumentFile(path).table(["size"]).values("size") == ["1", "2", "3"]
    assert asked == [None, ["text"], None, ["id", "text"], None, ["id", "text", "size"]]


def test_a_column_of_identifiers_may_be_named_or_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\nx,one\ny,two\nx,three\n")
    assert read(tmp_path / "a.csv", "text", "")[1].ids == ["0", "1", "2"]
    with pytest.raises(UnknownNameError, match=r"column .*'key'"):
        DocumentFile(str(tmp_path / "a.csv"), text="text", id="key")


def test_a_header_of_many_columns_is_read_in_seconds(tmp_path):
    header, row = ["text", *(f"c{n}" for n in range(100_000))], ["ship", *(100_000 * ["x"])]
    (tmp_path / "a.csv").write_text("\n".join(map(",".join, [header, row, row])))
    begin = time.perf_counter()
    assert [*DocumentFile(str(tmp_path / "a.csv")).table(()).texts()] == ["ship", "ship"]
    assert time.perf_counter() - begin < 10


# -- what is wrong


BAD = {
    "a missing column": ("a.csv", b"a,b\n1,2\n", {"text": "body"}, "'body'"),
    "no rows": ("a.csv", b"a,b\n", {}, "a.csv has no"),
    "nothing": ("a.jsonl", b"", {}, "a.jsonl has no"),
    "not JSON": ("a.jsonl", b'{"text": "one"}\n{oops\n', {}, "line 2 is not"),
    "no object": ("a.jsonl", b'{"text": "one"}\n[1]\n', {}, "line 2 is JSON"),
    "a list": ("a.jsonl", b'{"text": "one"}\n{"text": [1]}\n', {}, "line 2: 'text' .*got list"),
    "an array that is cut off": (
        "a.json",
        b'[{"text": "one"},\n{"text": "two"}',
        {},
        "line 2: .*does not end",
    ),
    "an object that is cut off": ("a.json", b'[{"text": "one"},\n{"text": "two', {}, "line 2 is not JSON"),
    "another encoding": (
        "a.csv",
        b"text\none\ncaf\xe9\n",
        {},
        "a.csv, line 3 .*utf-8: byte 0xe9, .*--encoding.*--errors replace",
    ),
    "half a character": (
        "a.csv",
        "text\none\n".encode("utf-16") + b"x",
        {},
        "a.csv, line 3 .*utf-16: .*truncated data",
    ),
    "UTF-32": ("a.csv", "text\none\n".encode("utf-32-le"), {}, "NUL byte"),
    "a spreadsheet": ("a.xlsx", b"PK", {}, "a.xlsx is not a spreadsheet"),
    "NUL": ("a.csv", b"text\none\ntw\0o\n", {}, "line 3 .*NUL byte"),
    "too many fields": (
        "a.csv",
        b"a,b\n1,2\n1,2,3\n",
        {"text": "b"},
        "line 3 has 3 .*has 2",
    ),
    "an open quote": (
        "a.csv",
        b'a,b\n1,"2\n3,4\n5\n',
        {"text": "b"},
        "line 2: .*quote.*3 lines.*--no-quotes",
    ),
    "two columns of one name": ("a.csv", b"a,a\n1,2\n", {"text": "a"}, "a.csv .*'a'"),
    "an empty gzip": ("a.csv.gz", b"", {}, "a.csv.gz has no"),
    "a truncated gzip": (
        "a.csv.gz",
        gzip.compress(b"text\none\n", mtime=0)[:-9],
        {},
        "a.csv.gz .*damaged: Compressed file ended",
    ),
    "a damaged gzip": (
        "a.csv.gz",
        gzip.compress(b"text\n", mtime=0)[:10] + b"\xff" * 20,
        {},
        "a.csv.gz .*damaged: Error -3",
    ),
    "a truncated bzip2": ("a.csv.bz2", bz2.compress(b"text\none\n")[:-9], {}, "a.csv.bz2 .*damaged"),
    "a damaged xz": ("a.csv.xz", lzma.compress(b"text\none\n")[:-9] + b"x" * 9, {}, "a.csv.xz "),
    "a damaged zstd": (
        "a.csv.zst",
        pa.compress(b"text\none\n" * 99, "zstd", asbytes=True)[:-9],
        {},
        "a.csv.zst",
    ),
    "a damaged zip": ("a.csv.zip", zipped("text\none\n", "a.csv")[:-9], {}, "a.csv.zip "),
    "gzip of another encoding": (
        "a.jsonl.gz",
        gzip.compress(b'{"text": "one"}\n' * 900 + b'{"text": "caf\xe9"}\n', mtime=0),
        {},
        "a.jsonl.gz, line 901 .*utf-8",
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
    "no encoding of text": ("a.csv", b"text", {"encoding": "base64"}, "encoding 'base64'"),
    "no UTF-16": (
        "a.csv",
        b"text",
        {"encoding": "utf-16"},
        "a.csv .*utf-16: ",
    ),
    "a long delimiter": ("a.csv", b"text", {"delimiter": "||"}, r"'\|\|'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_clear_line(tmp_path, case):
    name, data, options, message = BAD[case]
    (tmp_path / name).write_bytes(data)
    for use in (list, DocumentFile.table):
        with pytest.raises((DataError, InvalidValueError)) as error:
            use(DocumentFile(str(tmp_path / name), **options))
        assert re.search(message, str(error.value))
        assert "\n" not in str(error.value)


GOES_ON = {
    "wrong bytes": (
        "a.csv",
        b"text\none\ncaf\xe9\n\xff\xfe\nend\n",
        ["one", "caf\ufffd", "\ufffd\ufffd", "end"],
        2,
        "line 3",
    ),
    "NUL": ("a.txt", b"one\ntw\0o\n", ["one", "tw\ufffdo"], 1, "line 2"),
    "too many fields": ("a.csv", b"id,text\n1,one\n2,two,x\n3,three\n", ["one", "three"], 1, "line 3"),
    "JSON that is none": (
        "a.jsonl",
        b'{"text": "one"}\n{oops\n[1]\n{"text": "two"}\n',
        ["one", "two"],
        2,
        "line 2",
    ),
    "no text": ("a.jsonl", b'{"text": "one"}\n{"text": 5}\n', ["one", ""], 1, "line 2"),
}


@pytest.mark.parametrize("case", GOES_ON)
def test_errors_replace_goes_on_and_counts_what_is_lost(tmp_path, case):
    name, data, expected, n, place = GOES_ON[case]
    (tmp_path / name).write_bytes(data)
    file, table = read(tmp_path / name, errors="replace")
    assert list(table.texts()) == expected
    (note,) = file.late_notes
    assert note.startswith(f"{n} ")
    assert f"{name}, {place}" in note


def test_a_missing_file_and_an_unreadable_one(tmp_path):
    with pytest.raises(DataError, match=re.escape(str(tmp_path / "none.csv"))):
        DocumentFile(str(tmp_path / "none.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder\.csv has no"):
        DocumentFile(str(tmp_path / "folder.csv"), kind="csv")


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_huge_documents_are_refused(tmp_path, monkeypatch, name):
    path, data = tmp_path / name, json.dumps({"text": "x" * 1000}).encode() + b"\n"
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    monkeypatch.setattr(batch, "LONGEST", 999)
    monkeypatch.setattr("adbench_text.reading.documents.LONGEST", 999)
    for use in (list, DocumentFile.table):
        with pytest.raises(DataError, match=r"line 1: .*1,000 .*999"):
            use(DocumentFile(str(path)))
    monkeypatch.setattr(decoding, "_LONGEST_LINE", 500)
    monkeypatch.setattr(decoding, "BUFFER", 100)
    with pytest.raises(DataError, match=r"line 1 .*million"):
        list(DocumentFile(str(path)))


# -- lone surrogates


def test_lone_surrogates_are_replaced_everywhere_in_a_row_and_counted(tmp_path):
    rows = [
        {"id": "a\udfff", "text": "ship \ud800", "k\udc80": "\udc81"},
        {"id": "é", "text": "\0 😀", "n": "\udfff"},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file = DocumentFile(str(tmp_path / "a.jsonl"), "text")
    assert (file.notes, file.late_notes) == ([], [])
    table = file.table()
    assert (table.ids, list(table.texts())) == (["a\ufffd", "é"], ["ship \ufffd", "\0 😀"])
    assert (table.values("k\ufffd"), table.values("n")) == (["\ufffd", None], [None, "\ufffd"])
    (note,) = file.late_notes
    assert "surrogates" in note
    assert "a.jsonl, line 1" in note


def test_a_column_is_named_as_it_is_read(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "caf\udce9": "ship", "other": "x"}))
    assert texts(tmp_path / "a.jsonl", "caf\udce9") == ["ship"]


def test_columns_that_only_lone_surrogates_distinguish_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "ship", "\\ud800": 1, "\\ud801": 2}')
    with pytest.raises(DataError, match=r"a\.jsonl .*surrogates"):
        DocumentFile(str(tmp_path / "a.jsonl"))


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux only")
def test_names_of_files_that_are_not_utf8_are_mended(tmp_path):
    for name in (b"caf\xe9.txt", b"caf\xe8.txt", "café.txt".encode()):
        (tmp_path / os.fsdecode(name)).write_text(f"the text of {name!r}")
    file = DocumentFile(str(tmp_path), id="")
    table = file.table()
    assert sorted(table.values("file")) == ["café.txt", *["caf\ufffd.txt"] * 2]
    assert len({*table.texts()}) == 3
    assert file.late_notes[0].startswith("2 values ")


def test_a_file_of_a_folder_that_unpacks_to_too_much_is_not_unpacked(tmp_path, monkeypatch):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"x" * 10_000_000))
    for module in ("batch", "documents", "source"):
        monkeypatch.setattr(f"adbench_text.reading.{module}.LONGEST", 999)
    with pytest.raises(DataError, match=r"a\.txt\.gz.* characters; at most 999 "):
        DocumentFile(str(tmp_path)).table()
    (tmp_path / "b.txt").write_text("the ship")
    file = DocumentFile(str(tmp_path), errors="replace")
    assert list(file.table().texts()) == ["the ship"]
    assert "a.txt.gz" in file.late_notes[0]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [(["a", "b", "c"], None), (["a", "b", "a"], (0, 2)), (["a", "", "row 1"], (1, 2)), (["", "", "b"], None)],
)
def test_documents_with_the_same_identifier_are_found(tmp_path, ids, expected):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"id": each, "text": "the ship"}) for each in ids))
    assert DocumentFile(str(path), "text").table().rows_with_equal_ids() == expected
