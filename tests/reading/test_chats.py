"""Chats: every turn is a document, in the forms that programs write."""

import io
import json
import sys

import pytest

from adbench_text.errors import DataError, UnknownNameError
from adbench_text.reading.documents import DocumentFile

SYSTEM, ASKED, SAID = "You help.", "Where is the ship?", "It left the harbour."
OPENAI = [
    {"role": "system", "content": SYSTEM},
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": SAID},
]
SHARE_GPT = [
    {"from": "system", "value": SYSTEM},
    {"from": "human", "value": ASKED},
    {"from": "gpt", "value": SAID},
]
PARTS = [
    {"role": "system", "content": [{"type": "text", "text": "You"}, {"type": "text", "text": "help."}]},
    {
        "role": "user",
        "content": [{"type": "image", "source": {"data": "x"}}, {"type": "text", "text": ASKED}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": SAID}, {"type": "tool_use", "name": "find"}]},
]


def write(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def read(path, *columns, **options):
    """The documents of a file in both ways: as a table, and one after the other."""
    file, again = (DocumentFile(str(path), *columns, **options) for _ in range(2))
    table = file.table()
    documents = [*again]
    assert [each.text for each in documents] == [*table.texts()]
    assert [each.id for each in documents] == table.ids
    return file, table


def cells(table, *names):
    return [*zip(*map(table.values, names), strict=True)]


FORMS = {
    "messages": [{"messages": OPENAI}],
    "conversations": [{"conversations": SHARE_GPT}],
    "conversations of messages": [{"conversations": OPENAI}],
    "conversation": [{"conversation": OPENAI}],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [1, 3])
def test_every_turn_is_a_document(tmp_path, form, n):
    file, table = read(write(tmp_path / "a.jsonl", FORMS[form] * n))
    assert [*table.texts()] == [SYSTEM, ASKED, SAID] * n
    assert cells(table, "conversation", "turn", "role") == [
        (str(line), str(turn), role)
        for line in range(1, n + 1)
        for turn, role in enumerate(["system", "user", "assistant"], 1)
    ]
    assert table.ids[:3] == ["1#1", "1#2", "1#3"]
    assert (file.text_columns, file.id_column) == (["content"], "id")
    assert file.description == "chats, a document for each turn, UTF-8"
    assert file.notes == file.late_notes == []


def test_of_a_list_of_parts_only_texts_count(tmp_path):
    nested = {"type": "tool_result", "content": [{"type": "text", "text": "a result"}]}
    more = [{"role": "user", "content": [nested, {"type": "text"}, None]}, {"role": "user", "content": []}]
    _, table = read(write(tmp_path / "a.jsonl", [{"messages": [*PARTS, *more]}]))
    assert [*table.texts()] == ["You\nhelp.", ASKED, SAID, "", ""]


def test_turns_without_text_are_empty_documents_and_keep_their_number(tmp_path):
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "find", "arguments": "{}"}}]}
    messages = [OPENAI[1], {**call, "content": None}, call, {"role": "tool", "content": ""}, OPENAI[2]]
    _, table = read(write(tmp_path / "a.jsonl", [{"messages": messages}]))
    assert [*table.texts()] == [ASKED, "", "", "", SAID]
    assert cells(table, "turn", "role")[2:] == [("3", "assistant"), ("4", "tool"), ("5", "assistant")]


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_and_objects_of_several_lines_are_read_too(tmp_path, indent):
    (tmp_path / "a.json").write_text(json.dumps([{"messages": OPENAI}] * 3, indent=indent))
    _, table = read(tmp_path / "a.json")
    assert len(table) == 9
    assert len({*table.values("conversation")}) == 3
    (tmp_path / "b.json").write_text(json.dumps({"messages": OPENAI}, indent=indent))
    assert [*read(tmp_path / "b.json")[1].texts()] == [SYSTEM, ASKED, SAID]


def test_a_byte_order_mark_line_ends_of_windows_and_unicode_change_nothing(tmp_path):
    texts = ["Größe \U0001f600?", "a\\nb\nNULL", "NULL"]
    rows = [{"messages": [{"role": "user", "content": text}]} for text in texts]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (tmp_path / "a.jsonl").write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    file, table = read(tmp_path / "a.jsonl")
    assert [*table.texts()] == texts  # a turn is no cell of a database: NULL is a word
    assert table.values("conversation") == ["1", "2", "3"]
    assert file.late_notes == []


def test_the_other_fields_of_a_row_are_columns(tmp_path):
    row = {"id": 7, "model": "small", "created": 1714573800, "system": None, "text_id": True, "tools": [{}]}
    rows = [{**row, "messages": OPENAI}, {"uuid": "u-1", "turn": 9, "content": 5, "messages": OPENAI[:1]}]
    file, table = read(write(tmp_path / "a.jsonl", rows))
    assert [*table.arrow.schema.names][:1] == ["content"]
    assert cells(table, "conversation", "turn", "model", "created", "system", "text_id")[2:] == [
        ("7", "3", "small", "1714573800", None, "True"),
        ("u-1", "1", None, None, None, None),
    ]
    assert table.ids == ["7#1", "7#2", "7#3", "u-1#1"]
    assert file.late_notes == ["Left out the column 'tools', which holds lists or objects."]


def test_an_identifier_has_one_of_three_names(tmp_path):
    rows = [
        {"conversation_id": "c", "uuid": "u", "messages": OPENAI[:1]},
        {"id": "", "conversation_id": None, "uuid": "u", "messages": OPENAI[:1]},
        {"id": False, "messages": OPENAI[:1]},
    ]
    _, table = read(write(tmp_path / "a.jsonl", rows))
    assert cells(table, "conversation", "uuid") == [("c", "u"), ("u", None), ("3", None)]


def test_conversations_of_several_files_have_different_names(tmp_path):
    for name in ("1.jsonl", "2.jsonl"):
        write(tmp_path / name, [{"messages": OPENAI[:1]}])
    file, table = read(tmp_path)
    assert table.values("conversation") == ["1.jsonl:1", "2.jsonl:1"]
    assert file.description == "2 files, each chats, a document for each turn, UTF-8"


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (["assistant"], [SAID]),
        (["gpt"], [SAID]),
        (["User"], [ASKED]),
        (["user", "system"], [SYSTEM, ASKED]),
        (["user, assistant"], [ASKED, SAID]),
        ([""], [SYSTEM, ASKED, SAID]),
    ],
)
@pytest.mark.parametrize("turns", [{"messages": OPENAI}, {"conversations": SHARE_GPT}])
def test_only_the_turns_of_a_role_are_kept(tmp_path, role, expected, turns):
    file, table = read(write(tmp_path / "a.jsonl", [turns]), role=tuple(role))
    assert [*table.texts()] == expected
    assert table.values("turn")[-1] == str(
        len([SYSTEM, ASKED, SAID][: [SYSTEM, ASKED, SAID].index(expected[-1]) + 1])
    )
    assert file.late_notes == []


def test_a_role_that_no_turn_has_is_named(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"messages": OPENAI}])
    note = "No turn of a.jsonl has the role 'asistant'. Its roles: 'assistant', 'system', 'user'."
    with pytest.raises(DataError) as error:
        DocumentFile(str(path), role=("asistant",))
    assert str(error.value) == f"{path} has no documents. {note}"
    file, table = read(path, role=("user,asistant",))
    assert ([*table.texts()], file.late_notes) == ([ASKED], [note])


OTHERS = {
    "texts": [{"messages": "the ship has left", "n": 1}],
    "numbers": [{"messages": 3, "body": "the ship has left"}],
    "lists of texts": [{"messages": ["a", "b"], "body": "the ship has left"}],
    "mails": [{"messages": [{"from": "ann@example.org", "body": "x"}], "body": "the ship has left"}],
    "roles alone": [{"messages": [{"role": "user"}], "body": "the ship has left"}],
    "an own text": [{"messages": OPENAI, "text": "the ship has left"}],
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_rows_are_read_as_before(tmp_path, case):
    file, table = read(write(tmp_path / "a.jsonl", OTHERS[case] * 2))
    assert [*table.texts()] == ["the ship has left"] * 2
    assert file.description == "JSON, UTF-8"


def test_a_named_column_of_the_rows_is_read_as_before(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"messages": OPENAI, "title": "on ships"}] * 2)
    assert [*read(path, "title")[1].texts()] == ["on ships"] * 2
    assert [*read(path, "content")[1].texts()] == [SYSTEM, ASKED, SAID] * 2
    assert read(path, group="title")[1].values("title") == ["on ships"] * 6
    with pytest.raises(DataError, match=r"line 1: 'messages' must be text, got list"):
        DocumentFile(str(path), "messages").table()
    write(path, [{"messages": "one"}, {"messages": "two"}])
    assert [*read(path, "messages")[1].texts()] == ["one", "two"]
    file, table = read(path, "messages", role=("user",))
    assert ([*table.texts()], file.late_notes) == (
        ["one", "two"],
        [f"{path} has no chats, so --role is not used."],
    )


def test_an_own_text_gives_way_if_a_role_is_asked_for(tmp_path):
    path = write(
        tmp_path / "a.jsonl", [{"messages": OPENAI, "text": "the ship has left", "prompt": "a b c d"}]
    )
    assert [*read(path, role=("user",))[1].texts()] == [ASKED]


def test_conversations_without_turns_have_no_documents(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"messages": []}, {"messages": OPENAI}, {"messages": []}])
    _, table = read(path)
    assert ([*table.texts()], table.values("conversation")) == ([SYSTEM, ASKED, SAID], ["2"] * 3)
    assert table.place(2) == "a.jsonl, line 2"


BAD = {
    "neither": (
        {"text": "one"},
        'a.jsonl, line 2 has no list of messages, as the rows before: {"text": "one"}.',
    ),
    "no list": ({"messages": None}, "a.jsonl, line 2 has no list of messages"),
    "no object": ([1], "a.jsonl, line 2 has no list of messages, as the rows before: [1]."),
    "no role": (
        {"messages": [{"content": "one"}]},
        "a.jsonl, line 2 has a message without a role and content",
    ),
    "no message": ({"messages": ["one"]}, "a.jsonl, line 2 has a message without a role and content"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_row_without_turns_is_an_error_with_its_line(tmp_path, case):
    row, message = BAD[case]
    path = write(tmp_path / "a.jsonl", [{"messages": OPENAI}, row, {"messages": OPENAI}])
    with pytest.raises(DataError) as error:
        DocumentFile(str(path)).table()
    assert str(error.value).startswith(message)
    assert "--errors replace" in str(error.value)
    assert "\n" not in str(error.value)
    file, table = read(path, errors="replace")
    assert len(table) == 6
    (note,) = file.late_notes
    assert note.startswith("1 row is unreadable")
    assert "a.jsonl, line 2" in note


def test_a_content_that_is_no_text_is_an_error_with_its_line(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"messages": OPENAI}, {"messages": [{"role": "user", "content": 5}]}])
    with pytest.raises(DataError, match="line 2: 'content' must be text, got int: 5"):
        DocumentFile(str(path)).table()


def test_a_missing_column_is_named(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"messages": OPENAI}])
    with pytest.raises(UnknownNameError, match="Did you mean 'content'"):
        DocumentFile(str(path), "contnt")


def test_a_pipe_is_read(monkeypatch):
    class Input:
        buffer = io.BytesIO(json.dumps({"messages": OPENAI}).encode() + b"\n")

    monkeypatch.setattr(sys, "stdin", Input)
    assert [each.text for each in DocumentFile("-", role=("user,assistant",))] == [ASKED, SAID]
