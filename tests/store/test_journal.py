import subprocess
import sys
import time
from threading import Timer

import pytest

from adbench_text.errors import TrackingError
from adbench_text.store.journal import Journal

OTHER = """
import sys
from pathlib import Path
from adbench_text.store.journal import Journal
journal = Journal(Path(sys.argv[1]))
print(journal.claim("a"), flush=True)
command = sys.stdin.readline().strip()
if command == "write":
    journal.write("a", {"x": 1})
    print("written", flush=True)
    sys.stdin.readline()
if command == "hold":
    with journal.held("lock"):
        print("held", flush=True)
        sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path):
    """Another process, which has claimed a."""
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path / "cells")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


@pytest.fixture
def journal(tmp_path) -> Journal:
    return Journal(tmp_path / "cells")


def send(process, line: str) -> None:
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def test_what_another_process_claims_is_not_claimed(other, journal):
    assert not journal.claim("a")
    assert journal.claim("b")
    assert not journal.is_abandoned("a")


def test_a_claim_ends_with_its_process(other, journal):
    other.kill()
    other.wait()
    assert journal.is_abandoned("a")
    assert journal.claim("a") is True


def test_a_block_waits_for_that_of_another_process(other, journal):
    send(other, "hold")
    assert other.stdout.readline() == "held\n"
    began = time.monotonic()
    Timer(0.2, other.kill).start()
    with journal.held("lock"):
        assert time.monotonic() - began >= 0.2


def test_two_processes_may_write_one_entry_and_the_last_one_stays(other, journal):
    journal.write("a", {"x": 2})
    send(other, "write")
    assert other.stdout.readline() == "written\n"
    assert list(journal.entries()) == list(Journal(journal.folder).entries()) == [("a", {"x": 1})]


def test_an_entry_that_cannot_be_read_for_now_is_kept(journal, monkeypatch):
    journal.write("a", {"x": 1})
    with monkeypatch.context() as patch:

        def fail(*args, **kwargs):
            raise OSError(24, "Too many open files")

        patch.setattr("pathlib.Path.read_text", fail)
        assert list(journal.entries()) == []
    assert list(journal.entries()) == [("a", {"x": 1})]


def test_a_full_disk_leaves_no_half_of_an_entry(journal, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(TrackingError, match=r"^Cannot write to .*: No space left on device\. Make room"):
        journal.write("a", {"x": 1})
    assert list(journal.folder.iterdir()) == []


def test_a_damaged_entry_is_removed(journal):
    journal.write("a", {"x": 1})
    (journal.folder / "b.json").write_text('{"x":')
    assert list(journal.entries()) == [("a", {"x": 1})]
    assert [path.name for path in journal.folder.glob("*.json")] == ["a.json"]


def test_a_journal_that_is_only_opened_leaves_nothing_behind(journal):
    assert list(journal.entries()) == []
    assert not journal.folder.exists()
