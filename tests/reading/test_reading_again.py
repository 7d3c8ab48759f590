"""How files are read once: pipes, tables in temporary files, and files that grow."""

import io
import os
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from adbench_text.errors import DataError, UnknownNameError
from adbench_text.reading import documents as reading
from adbench_text.reading.documents import DocumentFile

ROWS = [(f"T{number}", f"the text of ticket {number}", number) for number in range(300)]
TEXTS = [text for _, text, _ in ROWS]


def write(folder, name):
    frame = pd.DataFrame(ROWS, columns=["id", "body", "size"])
    path = folder / name
    if name == "folder":
        path.mkdir()
        for number, text in enumerate(TEXTS):
            (path / f"{number:03}").write_text(text)
    elif name == "table":
        path.mkdir()
        for number in range(3):
            frame[100 * number : 100 * number + 100].to_parquet(path / f"{number}.parquet")
    elif name.endswith(".parquet"):
        frame.to_parquet(path)
    elif ".jsonl" in name:
        frame.to_json(path, orient="records", lines=True)
    elif name.endswith(".txt"):
        path.write_text("\n".join(TEXTS))
    else:
        frame.to_csv(path, index=False)
    return str(path)


NAMES = ["a.csv", "a.csv.gz", "a.jsonl", "a.jsonl.gz", "a.txt", "a.parquet", "folder", "table"]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_can_be_read_again_though_its_file_is_gone(tmp_path, name):
    path = write(tmp_path, name)
    file = DocumentFile(path)
    table = file.table()
    Path(path).rename(tmp_path / "elsewhere")
    assert list(table.texts()) == list(table.texts()) == TEXTS
    assert list(table.texts_at([7, 3])) == [TEXTS[7], TEXTS[3]]
    pairs = zip(table.texts(), table.texts(), strict=True)  # at the same time
    assert all(one == other for one, other in pairs)
    for use in (list, DocumentFile.table):
        with pytest.raises(DataError, match=r"once"):
            use(file)


def pipe(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@contextmanager
def named_pipe(path, data):
    """A named pipe to which data is written once."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[data], daemon=True)
    writer.start()
    yield str(path)
    writer.join(20)


@pytest.mark.parametrize("use", ["table", "documents"])
def test_a_pipe_is_read_like_a_file(tmp_path, monkeypatch, use):
    data = b"".join(b'{"id": "%d", "text": "the text %d"}\n' % (n, n) for n in range(300))
    with named_pipe(tmp_path / "fifo", data) as path:
        pipe(monkeypatch, data)
        for file in (DocumentFile("-"), DocumentFile(path, kind="jsonl")):
            found = file.table().texts() if use == "table" else (document.text for document in file)
            assert list(found) == [f"the text {n}" for n in range(300)]


@pytest.mark.timeout(30)
def test_a_pipe_in_a_folder_and_a_device_are_no_documents(tmp_path):
    (tmp_path / "a.txt").write_text("the ship")
    os.mkfifo(tmp_path / "b.txt")
    file = DocumentFile(str(tmp_path))
    assert list(file.table().texts()) == ["the ship"]
    assert [note for note in file.notes if note.startswith("Skipped 1 pipe")]
    for kind in ("lines", "mbox", "parquet"):
        with pytest.raises(DataError, match="/dev/zero"):
            DocumentFile("/dev/zero", kind=kind, errors="replace")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "lines"])
def test_each_row_of_a_pipe_comes_before_the_next_is_written(tmp_path, kind):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    is_read = threading.Semaphore(0)
    row = {
        "csv": "{0},the text {0}\n",
        "jsonl": '{{"id": {0}, "text": "the text {0}"}}\n',
        "lines": "the text {0}\n",
    }

    def write_slowly():
        with path.open("w") as stream:
            stream.write("id,text\n" * (kind == "csv"))
            for number in range(9):
                stream.write(row[kind].format(number))
                stream.flush()
                assert is_read.acquire(timeout=20)
            stream.write("".join(row[kind].format(n) for n in range(9, 300)))

    writer = threading.Thread(target=write_slowly, daemon=True)
    writer.start()
    for number, document in enumerate(DocumentFile(str(path), "text", kind=kind)):
        assert document.text == f"the text {number}"
        is_read.release()
    assert number == 299
    writer.join(20)


def test_a_large_table_is_in_temporary_files_that_go_with_it(tmp_path, monkeypatch):
    path = write(tmp_path, "a.csv")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(reading, "_IN_MEMORY", 100)
    table = DocumentFile(path).table()
    assert (list(table.texts()), table.ids[299], table.values("size")[299]) == (TEXTS, "T299", "299")
    assert len(list(tmp_path.iterdir())) == 2
    del table
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def test_a_table_in_several_files_has_the_columns_of_all_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_IN_MEMORY", 100)
    monkeypatch.setattr("adbench_text.reading.decoding.MOST_ROWS", 2)
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n' * 5 + '{"text": "two", "new": "x"}\n' * 3)
    table = DocumentFile(str(tmp_path / "a.jsonl"), "text").table()
    assert table.values("new") == [None] * 5 + ["x"] * 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr(reading, "_IN_MEMORY", 100)
    open_file = pa.OSFile
    monkeypatch.setattr(pa, "OSFile", lambda *_: open_file("/dev/full", "wb"))
    with pytest.raises(DataError) as error:
        DocumentFile(write(tmp_path, "a.csv")).table()
    assert "\n" not in str(error.value)
    assert "TMPDIR" in str(error.value)


def test_parquet_may_come_through_a_pipe(tmp_path, monkeypatch):
    pipe(monkeypatch, Path(write(tmp_path, "a.parquet")).read_bytes())
    assert list(DocumentFile("-", kind="parquet").table().texts()) == TEXTS


def test_a_pipe_has_no_format_that_needs_a_file(tmp_path, monkeypatch):
    pipe(monkeypatch, b"PAR1")
    for kind in ("parquet", "mbox", "folder"):
        with pytest.raises(DataError, match=r"standard input"):
            DocumentFile("-", kind=kind)
    with pytest.raises(UnknownNameError, match="'xls'"):
        DocumentFile("-", kind="xls")
    with named_pipe(tmp_path / "fifo", b"") as path, pytest.raises(DataError, match="fifo has no"):
        DocumentFile(path, kind="csv")


@pytest.mark.parametrize("most", [299, 300])
def test_other_columns_are_kept_for_a_number_of_rows(tmp_path, monkeypatch, most):
    monkeypatch.setattr("adbench_text.reading.decoding.MOST_ROWS", 50)
    table = DocumentFile(write(tmp_path, "a.csv")).table(None, most)
    assert table.ids[299] == "T299"
    assert (table.values("size")[299] == "299") == (most == 300)
