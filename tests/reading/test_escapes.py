r"""Texts as programs escape them: ``&nbsp;``, ``\\n`` of databases, and what stands for a picture."""

import json

import pytest

from adbench_text.reading.documents import DocumentFile


def texts(path, content):
    """Return the texts of a file, and the notes on them."""
    path.write_text(content, encoding="utf-8")
    file = DocumentFile(str(path), "text")
    return [*file.table().texts()], file.late_notes


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["the&nbsp;ship", "R&amp;D"], ["the\xa0ship", "R&D"]),
        (["it&#39;s &lt;b&gt;late&lt;/b&gt; &#x2014; caf&eacute;"], ["it's <b>late</b> \u2014 caf\u00e9"]),
        (["twice &amp;nbsp;escaped", "&amp;#39;"], ["twice \xa0escaped", "'"]),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_entities_of_html_are_characters_and_counted(tmp_path, name, written, expected):
    rows = written if name != "a.jsonl" else [json.dumps({"text": text}) for text in written]
    content = "\n".join(["text"] * (name == "a.csv") + rows)
    found, (note,) = texts(tmp_path / name, content)
    assert found == expected
    assert note.startswith(f"{len(written)} text")


def test_a_picture_in_a_text_is_a_space(tmp_path):
    assert texts(tmp_path / "a.txt", "see\ufffcthe ship\n") == (["see the ship"], [])


@pytest.mark.parametrize(
    "text", ["AT&T; R&D; &c;", "?a=1&copy=2&lt=3", "salt & pepper; oil", "&;&#;", "&" * 9]
)
def test_an_ampersand_that_is_no_entity_stays(tmp_path, text):
    assert texts(tmp_path / "a.txt", text) == ([text], [])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"Dear all\n\nthe ship\tleft.\r\nYours", "Dear all\n\nthe ship\tleft.\r\nYours"),
        (r"the folder C:\\new\\temp\nis gone", "the folder C:\\new\\temp\nis gone"),
        (r"she said \'no\'.\nSo we left", "she said 'no'.\nSo we left"),
    ],
)
@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl"])
def test_line_breaks_of_databases_are_white_space_and_counted(tmp_path, name, written, expected):
    rows = ["the crew", written, r"a backslash \\ alone"]
    if name == "a.jsonl":
        content = "\n".join(json.dumps({"text": row}) for row in rows)
    else:
        content = "\n".join(["id\ttext".replace("\t", "," if name == "a.csv" else "\t")])
        content += "".join(f"\n{n}{',' if name == 'a.csv' else chr(9)}{row}" for n, row in enumerate(rows))
    found, (note,) = texts(tmp_path / name, content)
    assert found[:2] == ["the crew", expected]
    assert note.startswith("1 text has")


@pytest.mark.parametrize(
    "other",
    [
        r"in C:\new\temp",
        r"D:\temp",
        r"the formula \alpha + \nu",
        r"match \d+ in \news",
        "ends with \\",
        r"$\theta$",
    ],
)
def test_backslashes_stay_in_a_file_where_some_are_no_escapes(tmp_path, other):
    rows = [r"the ship\nleft", other]
    assert texts(tmp_path / "a.tsv", "\n".join(["text", *rows])) == (rows, [])


def test_lines_keep_their_backslashes(tmp_path):
    assert texts(tmp_path / "a.txt", r"the ship\nleft") == ([r"the ship\nleft"], [])
