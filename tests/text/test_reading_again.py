"""A file of documents that is read several times: files that change, pipes, and identifiers."""

import io
import os
import re
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from pyarrow.parquet import ParquetFile

from adbench_text.errors import DataError, UnknownNameError
from adbench_text.text.reading import DocumentFile

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
def test_a_file_is_read_from_its_start_each_time(tmp_path, name):
    documents = DocumentFile(write(tmp_path, name))
    first = list(documents)
    assert [document.text for document in first] == TEXTS
    assert list(documents.texts()) == TEXTS
    assert list(documents) == first
    pairs = zip(documents, documents.texts(), documents.texts(), strict=True)  # at the same time
    assert all(document.text == one == other for document, one, other in pairs)


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


@pytest.mark.parametrize("again", [False, True])
def test_a_pipe_is_read_again_only_if_asked_for(tmp_path, monkeypatch, again):
    data = b"".join(b'{"id": "%d", "text": "the text %d"}\n' % (n, n) for n in range(300))
    with named_pipe(tmp_path / "fifo", data) as path:
        pipe(monkeypatch, data)
        for documents in (DocumentFile("-", again=again), DocumentFile(path, kind="jsonl", again=again)):
            first = list(documents)
            assert [document.text for document in first] == [f"the text {n}" for n in range(300)]
            if again:
                assert list(documents) == first
                pairs = zip(documents, documents.texts(), strict=True)
                assert all(document.text == text for document, text in pairs)
            else:
                for read in (documents, documents.texts()):
                    with pytest.raises(DataError, match=r"(standard input|fifo) .*once"):
                        list(read)


def test_the_copy_of_a_pipe_goes_with_the_documents(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pipe(monkeypatch, b"one\ntwo\n")
    documents = DocumentFile("-", again=True)
    assert list(documents.texts()) == ["one", "two"]
    assert list(tmp_path.iterdir())
    del documents
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_line(monkeypatch):
    full = Path("/dev/full").open("wb")  # noqa: SIM115
    monkeypatch.setattr(Path, "open", lambda *_: full)
    pipe(monkeypatch, b"one\ntwo\n")
    with pytest.raises(DataError) as error:
        DocumentFile("-", again=True)
    assert "\n" not in str(error.value)
    assert re.search("standard input .*: No space left on device.*TMPDIR", str(error.value))


def test_a_copied_pipe_may_be_parquet(tmp_path, monkeypatch):
    pipe(monkeypatch, Path(write(tmp_path, "a.parquet")).read_bytes())
    assert list(DocumentFile("-", kind="parquet", again=True).texts()) == TEXTS


def test_a_pipe_has_no_format_that_needs_a_file(tmp_path, monkeypatch):
    pipe(monkeypatch, b"PAR1")
    with pytest.raises(DataError, match=r"standard input .*Parquet"):
        DocumentFile("-", kind="parquet")
    with pytest.raises(UnknownNameError, match="'xls'"):
        DocumentFile("-", kind="xls")
    with named_pipe(tmp_path / "fifo", b"") as path, pytest.raises(DataError, match="fifo has no"):
        DocumentFile(path, kind="csv")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", ["size", "time"])
def test_a_file_that_has_changed_is_not_read_again(tmp_path, name, change):
    path = Path(write(tmp_path, name))
    documents = DocumentFile(str(path))
    list(documents)
    changed = sorted(path.iterdir())[1] if path.is_dir() else path
    if change == "size":
        changed.write_bytes(changed.read_bytes() + b"\n")
    else:
        status = changed.stat()
        os.utime(changed, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    for read in (documents, documents.texts()):
        with pytest.raises(DataError, match=f"^{re.escape(str(changed))} has changed"):
            list(read)
    changed.unlink()
    with pytest.raises(DataError, match=f"{re.escape(str(changed))}: No such file"):
        list(documents)


def test_a_log_may_grow_until_its_first_reading_ends_but_not_later(tmp_path):
    path = Path(write(tmp_path, "a.txt"))
    documents = DocumentFile(str(path))

    def read():
        for n, text in enumerate(documents.texts()):
            if n == 200:
                with path.open("a") as log:
                    log.write("\none more")
            yield text

    with path.open("a") as log:
        log.write("\none more")
    assert list(read()) == [*TEXTS, "one more", "one more"]
    with pytest.raises(DataError, match=r"a\.txt has changed"):
        list(documents)
    documents = DocumentFile(str(path))
    assert len(list(documents)) == 302
    with pytest.raises(DataError, match=r"a\.txt has changed"):
        list(read())


def test_the_texts_of_parquet_are_read_without_the_other_columns(tmp_path, monkeypatch):
    documents = DocumentFile(write(tmp_path, "a.parquet"))
    asked = []
    read = ParquetFile.iter_batches

    def iter_batches(self, *args, columns, **options):
        asked.append(columns)
        return read(self, *args, columns=columns, **options)

    monkeypatch.setattr(ParquetFile, "iter_batches", iter_batches)
    assert list(documents.texts()) == TEXTS
    assert [document.fields for document in documents][:1] == [
        dict(zip(documents.columns, ROWS[0], strict=True))
    ]
    assert asked == [["body"], None]
