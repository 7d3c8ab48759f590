"""Chunks of documents, and the processes that work on them."""

import os
import tempfile
import time
from contextlib import closing, nullcontext
from itertools import count
from multiprocessing import active_children
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest
import sent_functions

from adbench_text.documents import chunks
from adbench_text.documents.chunks import OnTexts, in_chunks, results_of
from adbench_text.documents.source import TextSource
from adbench_text.errors import AdbenchTextError, DataError, InvalidValueError
from adbench_text.reading import decoding, documents
from adbench_text.reading.documents import DocumentFile
from adbench_text.reading.stored import StoredTexts


@pytest.fixture
def at_once(monkeypatch):
    """Other processes work from the first chunk on."""
    monkeypatch.setattr(chunks, "_PATIENCE", 0)


@pytest.fixture(autouse=True)
def _no_process_remains():
    yield
    assert active_children() == []


def test_chunks_have_about_the_same_work():
    short, long = ["a"] * (chunks._SIZE + 1), ["a" * (chunks._LONGEST // 2 + 1)] * 3
    assert list(map(len, in_chunks(short))) == [chunks._SIZE, 1]
    assert list(map(len, in_chunks(long))) == [2, 1]
    assert list(in_chunks([])) == []


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A table in temporary files; its texts come from two columns."""
    monkeypatch.setattr(documents, "_IN_MEMORY", 100)
    monkeypatch.setattr(decoding, "MOST_ROWS", 7)
    rows = [f"title {n},{'the text ' * (n % 5)}" for n in range(50)] + [",only a text", ",", "only a title,"]
    (tmp_path / "a.csv").write_text("\n".join(["title,text", *rows]))
    table = DocumentFile(str(tmp_path / "a.csv"), ["title", "text"]).table()
    assert len(table.stored.files) > 1
    return table


@pytest.mark.parametrize(("size", "longest"), [(4, 10**6), (1000, 50), (1000, 0), (1000, 10**6)])
def test_chunks_do_not_depend_on_where_the_documents_are(stored, monkeypatch, size, longest):
    monkeypatch.setattr(chunks, "_SIZE", size)
    monkeypatch.setattr(chunks, "_LONGEST", longest)
    texts, numbers = [*stored.texts()], np.arange(len(stored)) % 3
    in_memory, in_files = TextSource.of(texts), TextSource.of(stored)
    for rows in (None, np.arange(0, 53, 2), np.arange(0)):
        of_rows = numbers if rows is None else numbers[rows]
        expected = [*in_memory.chunks(rows, of_rows)]
        found = [*in_files.chunks(rows, of_rows)]
        assert [chunk.texts for chunk in found] == [chunk.texts for chunk in expected]
        assert [*map(len, found)] == [*map(len, expected)]
        assert [chunk.numbers.tolist() for chunk in found] == [chunk.numbers.tolist() for chunk in expected]
    assert all(chunk.numbers is None for chunk in in_files.chunks())


def test_other_processes_read_the_documents_of_a_large_table_themselves(stored, at_once):
    of_table = [*TextSource.of(stored).chunks()]
    assert [isinstance(chunk.held, StoredTexts) for chunk in of_table] == [True]
    (n_characters,) = results_of(OnTexts(sent_functions.n_characters), of_table, 2)
    assert n_characters == sum(map(len, stored.texts()))


def test_workers_that_do_not_see_the_files_get_the_texts(stored, at_once, monkeypatch):
    elsewhere = Elsewhere()
    elsewhere.sees = lambda file: False
    monkeypatch.setattr(chunks, "_workers", lambda jobs: nullcontext((elsewhere, jobs)))
    held = results_of(attrgetter("held"), TextSource.of(stored).chunks(), 2)
    assert [*held] == [[*stored.texts()]]


def test_files_that_are_gone_are_one_line(stored):
    gone = StoredTexts(("/no/such/file.arrow",), (9,), ("text",))
    with pytest.raises(DataError, match=r"/no/such/file\.arrow.*No such file or directory.*TMPDIR"):
        gone.at([0])


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_any_number_of_processes_gives_the_same_results_in_their_order(at_once, jobs):
    results = list(results_of(sent_functions.square, iter(range(50)), jobs))
    assert [square for square, _ in results] == [number * number for number in range(50)]
    processes = {process for _, process in results}
    assert processes == {os.getpid()} if jobs == 1 else 1 <= len(processes - {os.getpid()}) <= jobs


def test_processes_start_where_the_folder_of_temporary_files_has_a_long_path(at_once, tmp_path, monkeypatch):
    folder = tmp_path / ("long" * 20)  # too long for the socket of a forkserver
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    results = list(results_of(sent_functions.square, range(50), 2))
    assert os.getpid() not in {process for _, process in results}
    assert list(folder.iterdir()) == []


def test_the_first_seconds_of_work_need_no_other_process(monkeypatch):
    monkeypatch.setattr(chunks, "_PATIENCE", 60)
    assert list(results_of(lambda chunk: -chunk, range(3), 2)) == [0, -1, -2]


@pytest.mark.parametrize("jobs", [0, -1, 1.5])
def test_the_number_of_processes_is_positive(jobs):
    with pytest.raises(InvalidValueError, match="jobs"):
        list(results_of(abs, range(3), jobs))


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (sent_functions.complain, DataError, "^not here$"),
        (sent_functions.fail, AdbenchTextError, "UnequalError: this is not that$"),
        (sent_functions.end, AdbenchTextError, "2 workers .*--jobs 1"),
        (lambda chunk: chunk, AdbenchTextError, "detector .*pickle.*--jobs 1 "),
        (sent_functions.Unloadable(), AdbenchTextError, "detector .*: not in .*--jobs 1 "),
    ],
)
def test_what_fails_elsewhere_is_one_error_of_one_line(at_once, function, kind, message):
    with pytest.raises(kind, match=message) as error:
        list(results_of(function, range(9), 2))
    assert "\n" not in str(error.value)


def test_processes_that_cannot_be_started_are_one_line(at_once, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with pytest.raises(AdbenchTextError, match=r"No such file or directory.*--jobs 1"):
        list(results_of(abs, range(9), 2))


def test_the_end_of_the_results_is_the_end_of_the_processes(at_once):
    begin = time.monotonic()
    with closing(results_of(sent_functions.hang, count(), 3)) as results:
        assert next(results) == 0
        busy = active_children()
        assert len(busy) == 3
    assert not any(process.is_alive() for process in busy)
    assert time.monotonic() - begin < 60


def test_an_error_among_the_chunks_ends_the_processes(at_once):
    def read():
        yield from range(9)
        raise DataError("line 10 is damaged")

    with pytest.raises(DataError, match="line 10"):
        list(results_of(abs, read(), 2))


class Elsewhere:
    """Workers whose work is done when it is waited for."""

    def share(self, function, name):
        return function

    def submit(self, call, function, chunk):
        return SimpleNamespace(done=lambda: False, result=lambda: call(function, chunk))


@pytest.mark.parametrize("n_ahead", [2, 4])
def test_no_more_chunks_are_read_than_wait(at_once, monkeypatch, n_ahead):
    monkeypatch.setattr(chunks, "_AHEAD", 1)
    monkeypatch.setattr(chunks, "_workers", lambda jobs: nullcontext((Elsewhere(), jobs)))
    numbers = iter(range(20))
    results = results_of(abs, numbers, n_ahead)
    assert next(results) == 0
    assert next(numbers) == n_ahead + 1
    assert len(list(results)) == 18
