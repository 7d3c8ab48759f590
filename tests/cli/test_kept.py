"""``odd --kept``: FILE without its odd documents, in the format that it had."""

import bz2
import gzip
import json
import lzma

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from commands import assert_refused
from spreadsheets import write_xlsx

from adbench_text.cli.main import main
from adbench_text.testing.topics import texts_about

SEA = texts_about("sea", 150, 0)
EGGS = "Preheat the oven, beat the eggs"
PLACE = 70  # of the odd document
TEXTS = [*SEA[:PLACE], EGGS, *SEA[PLACE:]]


@pytest.fixture
def odd(home, tmp_path, monkeypatch):
    """Return a function that runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    options = ["odd", "--keep-copies", "--by", "words", "-d", "llr"]
    return lambda *arguments: CliRunner().invoke(main, [*options, *map(str, arguments)])


def table_of_lines(end="\n"):
    """Return the lines of a CSV with quotes, a title, a blank line and a text of two lines."""
    lines = ["sep=;", "key;body", *(f'X{n:03};"{text}"' for n, text in enumerate(TEXTS))]
    lines[-1] += end
    lines[5] = lines[5].replace(" ", "\n", 1)
    lines[2 + PLACE] = lines[2 + PLACE].replace(", ", ",\n")
    lines[2 + PLACE - 1] += end  # followed by a blank line
    return lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_csv_keeps_every_other_byte(odd, tmp_path, encoding, end):
    lines = table_of_lines(end)
    lines[3] = lines[3].replace("a", "ä")
    content = end.join(lines)
    (tmp_path / "a.csv").write_bytes(content.encode(encoding))
    result = odd("a.csv", "--kept", "kept.csv", *(["--encoding", encoding] if encoding == "cp1252" else []))
    assert result.exit_code == 0, result.output
    assert "1 row of 151 called odd: kept.csv" in result.stdout
    without = end.join([*lines[: 2 + PLACE], *lines[3 + PLACE :]])
    assert (tmp_path / "kept.csv").read_bytes() == without.encode(encoding)


def test_lines_between_two_rows_that_are_no_documents_stay(odd, tmp_path):
    lines = ["key,body", *(f'X{n},"{text}"' for n, text in enumerate(TEXTS))]
    lines[1 + PLACE] = lines[1 + PLACE].replace(", ", ",\n")
    lines[2 + PLACE : 2 + PLACE] = ["", "X,too,many,fields", "key,body"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    result = odd("a.csv", "--kept", "kept.csv", "--errors", "replace", "--text", "body")
    assert result.exit_code == 0, result.output
    del lines[1 + PLACE]
    assert (tmp_path / "kept.csv").read_text() == "\n".join(lines)


def test_carriage_returns_in_long_lines_are_no_ends_of_lines(odd, tmp_path):
    lines = [("\r".join([text] * 800) if n == 0 else text) + "\n" for n, text in enumerate(TEXTS)]
    (tmp_path / "a.txt").write_text("".join(lines), newline="")
    assert odd("a.txt", "--kept", "kept.txt").exit_code == 0
    del lines[PLACE]
    assert (tmp_path / "kept.txt").read_bytes() == "".join(lines).encode()


def test_no_byte_order_mark_is_added(odd, tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    assert odd("a.txt", "--kept", "kept.txt", "--encoding", "utf-8-sig").exit_code == 0
    assert (tmp_path / "kept.txt").read_text() == "\n".join(SEA)


@pytest.mark.parametrize("row", [0, 150])
def test_the_first_and_the_last_row_of_plain_lines(odd, tmp_path, row):
    lines = [*SEA[:row], EGGS, *SEA[row:]]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    assert odd("a.txt", "--kept", "kept.log").exit_code == 0
    assert (tmp_path / "kept.log").read_text().splitlines() == SEA


def test_broken_bytes_and_blank_lines_stay(odd, tmp_path):
    before = [f"{text}\n".encode() for text in SEA]
    before[3] = b"the ship \xff sailed\n"
    before[9] += b"\n  \n"
    (tmp_path / "a.txt").write_bytes(b"".join([*before, f"{EGGS}\n".encode()]))
    assert odd("a.txt", "--kept", "kept.txt", "--errors", "replace", "--alpha", 0.006).exit_code == 0
    found = pd.read_csv(tmp_path / "odd.csv").query("odd == 1")["row"].tolist()
    every = b"".join([*before, f"{EGGS}\n".encode()]).splitlines(keepends=True)
    kept = [line for number, line in enumerate(every) if number not in found]
    assert (tmp_path / "kept.txt").read_bytes() == b"".join(kept)


@pytest.mark.parametrize(("suffix", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_json_lines_keep_lists_and_can_be_compressed(odd, tmp_path, suffix, module):
    lines = [json.dumps({"text": text, "tags": [n, {"é": None}]}) + "\n" for n, text in enumerate(TEXTS)]
    with module.open(tmp_path / f"a.jsonl{suffix}", "wt") as stream:
        stream.writelines(lines)
    assert odd(f"a.jsonl{suffix}", "--kept", f"kept.jsonl{suffix}").exit_code == 0
    del lines[PLACE]
    with module.open(tmp_path / f"kept.jsonl{suffix}", "rt") as stream:
        assert stream.readlines() == lines


def test_parquet_keeps_types_and_columns_that_no_document_needs(odd, tmp_path):
    whole = pa.table(
        {
            "text": TEXTS,
            "tags": [[n] for n in range(151)],
            "when": pa.array([n * 10**9 for n in range(151)], pa.timestamp("ns")),
        },
        metadata={"made": "by hand"},
    )
    pyarrow.parquet.write_table(whole, tmp_path / "a.parquet")
    assert odd("a.parquet", "--kept", "kept.parquet").exit_code == 0
    whole, kept = (pyarrow.parquet.read_table(tmp_path / name) for name in ("a.parquet", "kept.parquet"))
    assert kept.schema.equals(whole.schema, check_metadata=True)
    assert kept.equals(pa.concat_tables([whole[:PLACE], whole[PLACE + 1 :]]))


def test_other_formats_become_csv(odd, tmp_path):
    rows = [["key", "body"], *([f"X{n}", text] for n, text in enumerate(TEXTS))]
    write_xlsx(tmp_path / "a.xlsx", rows)
    (tmp_path / "array.json").write_text(json.dumps([{"text": text} for text in TEXTS]))
    for name, text in (("a.xlsx", "body"), ("array.json", "text")):
        assert odd(name, "--kept", "kept.csv").exit_code == 0
        assert pd.read_csv(tmp_path / "kept.csv")[text].tolist() == SEA
        result = odd(name, "--kept", f"kept{name[-5:]}")
        assert_refused(result, 2, f"'kept{name[-5:]}'", ".csv")


def test_with_marks_only_documents_marked_odd_and_their_copies_are_left_out(odd, tmp_path):
    texts = [*TEXTS, SEA[3].upper()]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    (tmp_path / "marks.csv").write_text("row,mark\n5,fine\n3,odd\n")
    result = odd("a.txt", "--kept", "kept.txt", "--marked", "marks.csv")
    assert "2 rows of 152 marked odd: kept.txt" in result.stdout
    assert (tmp_path / "kept.txt").read_text().splitlines() == [*texts[:3], *texts[4:-1]]


def test_a_path_that_has_another_use_is_refused_before_anything_is_written(odd, tmp_path):
    (tmp_path / "a.csv").write_text("\n".join(["text", *SEA]))
    (tmp_path / "marks.csv").write_text("row,mark\n3,odd\n")
    pyarrow.parquet.write_table(pa.table({"text": SEA}), tmp_path / "a.parquet")
    before = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    others = [str(tmp_path / "odd.csv"), "marks.csv"]
    for kept in ("a.csv", "odd.csv", "odd.html", "kept.parquet", "kept.csv.zip", "kept", *others):
        assert_refused(odd("a.csv", "--kept", kept, "--marked", "marks.csv"), 2, kept)
    assert_refused(odd("a.parquet", "--kept", "kept.parquet.gz"), 2, "kept.parquet.gz")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == before
