"""Files of documents: formats, columns, and everything that can be wrong with them."""

import io
import json
import sys

import pandas as pd
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
    elif name == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    return str(path)


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format_gives_the_same_documents(tmp_path, name):
    documents = DocumentFile(write(tmp_path, name))
    assert (documents.text_column, documents.id_column) == ("text", "id")
    read = list(documents)
    assert [(document.id, document.text) for document in read] == list(zip("abc", TEXTS, strict=True))
    assert [int(document.fields["size"]) for document in read] == [1, 2, 3]


def test_a_place_is_the_line_where_the_row_begins(tmp_path):
    places = [document.place for document in DocumentFile(write(tmp_path, "csv"))]
    assert places == ["tickets.csv, line 2", "tickets.csv, line 3", "tickets.csv, line 5"]


def test_semicolons_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfid;text\n1;first, one\n2;second\n")
    assert [document.text for document in DocumentFile(str(path), text="text")] == ["first, one", "second"]


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
        ("1", "one"),
        ("2", "two"),
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
        message = f"5 links of {path} are left out: they lead out of it, to a folder, or nowhere."
        assert documents.notes == [message]
    for path in (folder / "a", folder / "deep" / "inner"):
        path.unlink()
    with pytest.raises(DataError, match=r"in has no documents\. 5 links of .* are left out"):
        DocumentFile(str(folder))


@pytest.mark.parametrize(("data", "texts"), [(b'{"text": "one"}\n', ["one"]), (b"one\ntwo", ["one", "two"])])
def test_standard_input(monkeypatch, data, texts):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert [document.text for document in DocumentFile("-")] == texts


def test_the_column_of_the_text_is_guessed_only_when_there_is_one_choice(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("queue,subject,body\nx,not able to login,password was rejected again\n")
    with pytest.raises(InvalidValueError, match="--text with one of: subject, body"):
        DocumentFile(str(path))
    path.write_text("queue,subject,body\nx,login,password was rejected again\n")
    assert DocumentFile(str(path)).text_column == "body"


BAD = {
    "a missing column": ("a.csv", b"a,b\n1,2\n", {"text": "body"}, "No column named 'body'"),
    "no rows": ("a.csv", b"a,b\n", {}, "has no documents"),
    "nothing": ("a.jsonl", b"", {}, "has no documents"),
    "not JSON": ("a.jsonl", b'{"text": "one"}\n{oops\n', {}, "line 2 is not JSON"),
    "no object": ("a.jsonl", b'{"text": "one"}\n[1]\n', {}, "line 2 is JSON, but not an object"),
    "a value missing": ("a.jsonl", b'{"text": "one"}\n{"x": 1}\n', {}, "line 2 has no 'text'"),
    "a list": ("a.jsonl", b'{"text": "one"}\n{"text": [1]}\n', {}, "'text' must be text, got list"),
    "another encoding": (
        "a.csv",
        b"text\none\ncaf\xe9\n",
        {},
        "line 3 is not in utf-8: byte 0xe9 at position 4",
    ),
    "UTF-16": ("a.csv", "text\none\n".encode("utf-16"), {}, "is in UTF-16; convert it"),
    "NUL": ("a.csv", b"text\none\ntw\0o\n", {}, "line 3 has a NUL byte"),
    "too many fields": (
        "a.csv",
        b"a,b\n1,2\n1,2,3\n",
        {"text": "b"},
        "line 3 has 3 fields, but the header has 2",
    ),
    "an open quote": ("a.csv", b'a,b\n1,"2\n3,4\n5,6\n', {"text": "b"}, "line 2: unexpected end of data"),
    "two columns of one name": ("a.csv", b"a,a\n1,2\n", {}, "two columns named 'a'"),
    "no Parquet": ("a.parquet", b"text", {}, "not a Parquet file"),
    "an unknown suffix": ("a.docx", b"text", {}, "Cannot guess the format of a.docx"),
    "an unknown format": ("a.csv", b"text", {"kind": "xls"}, "No format of documents named 'xls'"),
    "an unknown encoding": ("a.csv", b"text", {"encoding": "latin-99"}, "There is no encoding 'latin-99'"),
    "wide characters": ("a.csv", b"text", {"encoding": "utf-16"}, "convert it: iconv"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_clear_line(tmp_path, case):
    name, data, options, message = BAD[case]
    (tmp_path / name).write_bytes(data)
    with pytest.raises((DataError, InvalidValueError)) as error:
        list(DocumentFile(str(tmp_path / name), **options))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_an_unreadable_one(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        DocumentFile(str(tmp_path / "none.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="Cannot read"):
        DocumentFile(str(tmp_path / "folder.csv"), kind="csv")


def test_huge_documents_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "x" * 1000}) + "\n")
    monkeypatch.setattr(reading, "_LONGEST", 999)
    with pytest.raises(DataError, match=r"line 1: a document of 1,000 characters; at most 999"):
        list(DocumentFile(str(path)))
    monkeypatch.setattr(reading, "_LONGEST_LINE", 500)
    with pytest.raises(DataError, match="line 1 is longer than"):
        list(DocumentFile(str(path)))


def test_identifiers_must_differ(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\nx,one\ny,two\nx,three\n")
    documents = DocumentFile(str(tmp_path / "a.csv"), text="text")
    with pytest.raises(DataError, match=r"the id 'x': a.csv, line 2 and a.csv, line 4"):
        documents.all()
    assert [d.id for d in DocumentFile(str(tmp_path / "a.csv"), text="text", id="")] == ["1", "2", "3"]
    with pytest.raises(UnknownNameError, match="No column named 'key'"):
        DocumentFile(str(tmp_path / "a.csv"), text="text", id="key")
