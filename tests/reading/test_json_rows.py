"""JSON as programs write it."""

import json

import pandas as pd
import pytest

from adbench_text.errors import DataError
from adbench_text.reading import decoding, json_rows
from adbench_text.reading.documents import DocumentFile

ROWS = [{"id": f"T{n}", "text": f'the "text", {n} [x]\n}}{{ ünï', "size": n} for n in range(50)]
FORMS = {
    "lines": "\n".join(map(json.dumps, ROWS)),
    "lines with empty ones": "\n\n".join(map(json.dumps, ROWS)),
    "an array": json.dumps(ROWS),
    "an array in lines": json.dumps(ROWS, indent=2, ensure_ascii=False),
    "an array, a row a line": "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n",
    "an array, a row a line, no break": "[" + ",\n".join(map(json.dumps, ROWS)) + "]",
    "objects in lines": "\n".join(json.dumps(row, indent=1) for row in ROWS),
    "records of pandas": pd.DataFrame(ROWS).to_json(orient="records"),
    "records of pandas, with a mark": "\ufeff" + pd.DataFrame(ROWS).to_json(orient="records"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize("size", [3, 2**18])
def test_every_form_has_the_same_rows(tmp_path, monkeypatch, form, suffix, size):
    for module in (decoding, json_rows):
        monkeypatch.setattr(module, "BUFFER", size)
    (tmp_path / f"a.{suffix}").write_text(FORMS[form])
    file = DocumentFile(str(tmp_path / f"a.{suffix}"))
    table = file.table()
    assert list(table.texts()) == [row["text"] for row in ROWS]
    assert table.ids == [row["id"] for row in ROWS]
    assert table.values("size") == [str(row["size"]) for row in ROWS]
    assert file.late_notes == []


def test_a_place_is_the_line_where_an_object_begins(tmp_path):
    (tmp_path / "a.json").write_text(FORMS["an array in lines"])
    table = DocumentFile(str(tmp_path / "a.json")).table()
    assert [table.place(row) for row in (0, 1, 49)] == [
        "a.json, line 2",
        "a.json, line 7",
        "a.json, line 247",
    ]


def test_texts_alone_are_rows(tmp_path):
    (tmp_path / "a.json").write_text('["one", "two"]')
    (tmp_path / "b.jsonl").write_text('"one"\n"two"\n')
    for name in ("a.json", "b.jsonl"):
        assert list(DocumentFile(str(tmp_path / name)).table().texts()) == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "quoted"),
    [
        ('{"data": [1, 2]}', "'data'.*one object per line"),
        ('{"n": 2, "users": [{"name": "Ann"}], "posts": [{"text": "one"}]}', "'posts', 'users'.*an array"),
        (
            '{"status": "ok", "users": [{"name": "Ann"}], "posts": [{"body": "one"}]}',
            "'posts', 'users'.*an array",
        ),
        ('{"status": "ok", "results": [{"text": "one"}]}', "'results'.*an array"),
        ('{"text": {"0": "one", "1": "two"}}', "'text'.*an array"),
        ('{"columns": ["text"], "data": [["one"]]}', "'columns', 'data'.*orient='records'"),
        ('{"T1": {"text": "one", "size": 1}, "T2": {"text": "two"}}', "'T1', 'T2'.*an array"),
        ('{"message": "all went well", "data": [{"body": "the first text"}, {"body": "another"}]}', "'data'"),
        ('{"response": {"docs": [{"text": "one"}]}}', "'response'.*an array"),
        ("[[1, 2], [3, 4]]", "line 1 .*\\[1, 2\\]"),
        ('[{"text": "one"}, {"text": tw}]', "line 1 is not JSON"),
        ('{"text": "two words", "notes": [{"t": "three more words"}]}', "less text than its lists 'notes'"),
        ("17", "line 1 .*17"),
    ],
)
def test_other_json_is_refused(tmp_path, content, quoted):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(DataError, match=quoted):
        DocumentFile(str(tmp_path / "a.json")).table()


@pytest.mark.parametrize("key", ["doc", "tweet"])
def test_objects_in_objects_are_no_columns(tmp_path, key):
    rows = [{key: row} for row in ROWS[:3]]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "b.json").write_text(json.dumps(rows))
    for name in ("a.jsonl", "b.json"):
        with pytest.raises(DataError, match=f"{name}, line 1: '{key}' .*got dict"):
            DocumentFile(str(tmp_path / name)).table()


@pytest.mark.parametrize(
    "row",
    [
        {"body": "one two", "spans": [{"a": 1}], "links": [{"b": 2}]},
        {"text": "one", "spans": [{"a": 1}], "links": [{"b": 2}]},
        {"body": "one", "meta": {"n": 1}},
        {"meta": {"lang": "en"}, "text": "one two three"},
    ],
)
def test_one_object_with_a_text_is_a_row(tmp_path, row):
    (tmp_path / "a.json").write_text(json.dumps(row))
    column = "text" if "text" in row else "body"
    assert list(DocumentFile(str(tmp_path / "a.json"), column).table().texts()) == [row[column]]


def test_texts_in_lists_of_pages_are_noted(tmp_path):
    pages = [{"title": "a page", "items": [{"body": f"the text number {n}"}]} for n in range(4)]
    tweets = [
        {"body": f"my parcel number {n} has not come", "users": [{"name": "Ann Lee"}]} for n in range(4)
    ]
    tokens = [
        {"text": f"it came, part {n}.", "tokens": [{"text": w} for w in "it came , part .".split()]}
        for n in range(4)
    ]
    of_kinds = (pages, "title", True), (tweets, "body", False), (tokens, "text", False)
    for rows, column, is_noted in of_kinds:
        (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
        file = DocumentFile(str(tmp_path / "a.jsonl"), column)
        assert len(file.table()) == 4
        assert ("have more text" in str(file.late_notes)) == is_noted
        (tmp_path / "a.jsonl").write_text(json.dumps(rows[0]))
        if not is_noted:
            assert len(DocumentFile(str(tmp_path / "a.jsonl"), column).table()) == 1


def test_lists_in_lines_are_no_texts(tmp_path):
    (tmp_path / "a.jsonl").write_text('["00000", "plum mint"]\n["00001", "hose"]\n')
    with pytest.raises(DataError, match=r"line 2 .*00001"):
        DocumentFile(str(tmp_path / "a.jsonl")).table()


def test_lines_may_end_with_a_comma(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one"},\n{"text": "two"}\n')
    assert list(DocumentFile(str(tmp_path / "a.jsonl")).table().texts()) == ["one", "two"]
