import errno
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, replace
from threading import Timer

import pytest

from adbench_text.errors import TrackingError
from adbench_text.store.journal import Journal
from adbench_text.store.run import CELL, PARENT, Run

FULL = os.strerror(errno.ENOSPC)
RUN = Run("d | sea", "FINISHED", 0, {CELL: "a", PARENT: "b"}, {"dataset": "tiny"}, {"auroc": 0.5})
HOLDER = """
import sys
from pathlib import Path
from adbench_text.store.journal import Journal
with Journal(Path(sys.argv[1])).held():
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def journal(tmp_path) -> Journal:
    return Journal(tmp_path / "cells")


def kept(journal: Journal) -> list[Run]:
    return [run for _, run in journal.entries()]


def test_a_block_waits_for_that_of_another_process(journal):
    command = [sys.executable, "-c", HOLDER, str(journal.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        began = time.monotonic()
        Timer(0.2, other.kill).start()
        with journal.held():
            assert time.monotonic() - began >= 0.2


def test_of_two_results_of_a_cell_the_last_one_stays(journal):
    journal.write(RUN)
    Journal(journal.folder).write(replace(RUN, metrics={"auroc": 0.75}))
    assert [run.metrics for run in kept(journal)] == [{"auroc": 0.75}]
    assert [path.name for path in journal.folder.iterdir()] == ["a.json"]


def test_an_entry_that_cannot_be_read_for_now_is_kept(journal, monkeypatch):
    journal.write(RUN)
    with monkeypatch.context() as patch:

        def fail(*args, **kwargs):
            raise OSError(24, "Too many open files")

        patch.setattr("os.open", fail)
        assert kept(journal) == []
    os.mkfifo(journal.folder / "b.json")
    assert kept(journal) == [RUN]


def test_a_full_disk_leaves_no_half_of_an_entry(journal, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, FULL)

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(TrackingError, match=rf" {re.escape(str(journal.folder))}: {FULL}\. "):
        journal.write(RUN)
    assert list(journal.folder.iterdir()) == []


@pytest.mark.parametrize("text", ['{"x":', "[]", '{"dataset": "tiny", "payload": {}}'])
def test_an_entry_that_is_damaged_or_of_another_version_is_removed(text, journal):
    journal.write(RUN)
    (journal.folder / "b.json").write_text(text)
    assert len(kept(journal)) == 1
    assert [path.name for path in journal.folder.glob("*.json")] == ["a.json"]


@pytest.mark.parametrize(
    "part",
    [
        {"params": {}},
        {"params": []},
        {"params": {"dataset": 5}},
        {"tags": {CELL: "a"}},
        {"status": "LOST"},
        {"curves": None},
        {"curves": {"loss": [[1, 0.5]]}},
        {"files": {"scores.csv": 5}},
        {"files": {"../scores.csv": ""}},
    ],
)
def test_an_entry_that_is_no_cell_is_removed_and_stops_no_other(part, journal):
    journal.write(RUN)
    (journal.folder / "0.json").write_text(json.dumps(asdict(RUN) | part))
    (journal.folder / "1.json").write_text("[" * 100_000)
    assert kept(journal) == [RUN]
    assert [path.name for path in journal.folder.glob("*.json")] == ["a.json"]


def test_a_journal_that_is_only_opened_leaves_nothing_behind(journal):
    assert kept(journal) == []
    assert not journal.folder.exists()
