"""The commands for a user's own documents on many rows, by real processes that meet faults."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from sweep_processes import FULL, PLUGINS, disk, filled, kill, printed, worker_process

from adbench_text.testing.topics import texts_about

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

# A command that uses other processes at once, and small chunks, and writes what it has done to the log.
COMMAND = """
from adbench_text.cli import progress
from adbench_text.cli.main import main
from adbench_text.documents import chunks
chunks._PATIENCE = 0
chunks._SIZE = 4000
show = progress.ProgressDisplay.documents
def log(self, what, n_done, n_total):
    if n_done % 2000 == 0:
        with open("done", "a") as stream:
            stream.write(f"{what} {n_done}.\\n")
    show(self, what, n_done, n_total)
progress.ProgressDisplay.documents = log
main()
"""
N = 60_000
FORMER = "the former table\n"


@pytest.fixture(scope="session")
def rows(tmp_path_factory) -> Path:
    """A file of sixty thousand documents."""
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    texts = texts_about("sea", N, 0)
    path.write_text("id,text\n" + "".join(f"d{n},{text} w{n}\n" for n, text in enumerate(texts)))
    return path


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with the result of an earlier command, and one for temporary files, with a short path."""
    (tmp_path / "odd.csv").write_text(FORMER)
    (tmp_path / "tmp").mkdir()
    return tmp_path


def begin(folder: Path, *words: object, **options: object) -> subprocess.Popen:
    (folder / "done").touch()
    path = os.pathsep.join([str(PLUGINS), os.environ.get("PYTHONPATH", "")])
    variables = {"PYTHONPATH": path, "TMPDIR": str(folder / "tmp"), "OMP_NUM_THREADS": "1"}
    with (folder / "log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND, *map(str, words)],
            **{"cwd": folder, "env": os.environ | variables, "stdout": log, "stderr": log} | options,
            start_new_session=True,
        )


def odd(folder: Path, file: object, *words: object, **options: object) -> subprocess.Popen:
    return begin(folder, "odd", file, "--jobs=2", "--top=0", "--keep-copies", *words, **options)


def wait_until_done(folder: Path, text: str, process: subprocess.Popen) -> None:
    while f"{text}.\n" not in (folder / "done").read_text():
        assert process.poll() is None, printed(folder)
        time.sleep(0.02)


def errors(folder: Path) -> list[str]:
    """What was printed, except for the progress and the summary."""
    known = "reading", "learning", "scoring", "explaining", "writing", f"{N:,} documents, "
    return [line for line in printed(folder).splitlines() if not line.startswith(known)]


def assert_nothing_is_left(folder: Path) -> None:
    assert (folder / "odd.csv").read_text() == FORMER
    assert {path.name for path in folder.iterdir()} == {"odd.csv", "tmp", "log", "done"}
    assert list((folder / "tmp").iterdir()) == []


def children_of(process: subprocess.Popen) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


SIGNALS = [
    ("reading 20000", signal.SIGINT),
    ("reading 20000", signal.SIGTERM),
    ("learning 0", signal.SIGINT),
    ("scoring 12000", signal.SIGINT),
    ("scoring 12000", signal.SIGHUP),
    ("writing 30000", signal.SIGINT),
    ("writing 30000", signal.SIGTERM),
]


@pytest.mark.usefixtures("hears_hangup")
@pytest.mark.parametrize(("when", "ending"), SIGNALS)
def test_a_signal_ends_the_command_at_once_and_leaves_nothing(folder, rows, when, ending):
    process = odd(folder, rows)
    wait_until_done(folder, when, process)
    children = children_of(process)
    if ending == signal.SIGINT:  # as a terminal sends it
        os.killpg(process.pid, ending)
    else:
        process.send_signal(ending)
    assert process.wait(10) == 128 + ending
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert errors(folder) == []
    assert_nothing_is_left(folder)


@pytest.mark.parametrize("when", ["reading 20000", "scoring 12000"])
def test_a_killed_process_ends_the_command_in_one_line(folder, rows, when):
    process = odd(folder, rows)
    wait_until_done(folder, when, process)
    *_, worker = children = children_of(process)  # of a server, or of the command if its folder is too deep
    worker.kill()
    assert process.wait(60) == 1
    assert psutil.wait_procs(children, timeout=10)[1] == []
    (line,) = errors(folder)
    assert line.startswith("Error: ")
    assert "2 workers" in line
    assert "--jobs 1" in line
    assert_nothing_is_left(folder)


@pytest.mark.parametrize("when", ["reading 20000", "scoring 12000", "writing 30000"])
def test_the_other_processes_end_when_the_command_is_killed(folder, rows, when):
    process = odd(folder, rows)
    wait_until_done(folder, when, process)
    kill(process)
    assert (folder / "odd.csv").read_text() == FORMER


def test_a_model_is_complete_or_not_there(folder, rows):
    process = begin(folder, "fit", rows, "--model=model", "--jobs=2")
    wait_until_done(folder, "reading 20000", process)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(10) == 130
    assert_nothing_is_left(folder)


# Full disks


def test_a_full_disk_of_the_table_keeps_the_former_one(folder, rows):
    with disk(folder / "small", 2) as small:
        (small / "odd.csv").write_text(FORMER)
        assert odd(folder, rows, "--output", small / "odd").wait() == 1
        (line,) = errors(folder)
        assert line.startswith("Error: ")
        assert line.endswith(f" {small}/odd.csv: {FULL}.")
        assert [path.name for path in small.iterdir()] == ["odd.csv"]
        assert (small / "odd.csv").read_text() == FORMER


def test_a_full_disk_of_temporary_files_is_one_line(folder, rows):
    with disk(folder / "tmp", 1):
        with filled(folder / "tmp", left=20_000):  # less than a detector needs
            assert odd(folder, rows).wait() == 1
        (line,) = errors(folder)
        assert re.search(rf"^Error: .*processes: {FULL}\. .*--jobs 1\.$", line), line
        assert list((folder / "tmp").iterdir()) == []


# Detectors


@pytest.mark.parametrize(
    ("fault", "code", "quoted"),
    [
        ("lock", 1, "detector .*: TypeError: .*--jobs 1 .*--address"),
        ("raises", 3, r"sent\(fault=raises\) .*: RuntimeError: no luck here \(toy_plugins\.py:\d+\)"),
    ],
)
def test_a_detector_that_fails_elsewhere_is_one_line(folder, rows, fault, code, quoted):
    options = ["-d", "sent", "--set", f"fault={fault}", "--folds=2", "--sample=2000"]
    assert odd(folder, rows, *options).wait() == code
    (line,) = errors(folder)
    assert re.search(f"^Error: .*{quoted}", line), line
    assert_nothing_is_left(folder)
    assert odd(folder, rows, *options, "--jobs=1").wait() == 0


# Files


def write(path: Path, number: int, row: bytes, n: int = 1_000_000) -> Path:
    """Write a file of many documents, with one row of its own."""
    lines = [b"d%d,the ship is at anchor in harbour w%d" % (each, each) for each in range(n)]
    lines[number] = row
    path.write_bytes(b"id,text\n" + b"\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("number", "row", "quoted"),
    [
        (900_000, b"x,caf\xe9", r"odd\.csv, line 900,002 .*utf-8: "),
        (900_000, b"d5,ship", r"'d5': .* 5 .* 900,000\."),
        (5_000, b"x," + b"word " * 10_000_000, r"odd\.csv, line 5,002 .* 41 million "),
        (5_000, b"x," + b"word " * 4_000_000, " 20,000,000 characters; .* 10,000,000 "),
    ],
)
def test_a_bad_row_among_a_million_is_one_line(folder, number, row, quoted):
    (folder / "many").mkdir()
    file = write(folder / "many" / "odd.csv", number, row)
    code = odd(folder, file, "--id=id", "--sample=100").wait()
    shutil.rmtree(folder / "many")
    (line,) = errors(folder)
    assert code == 1
    assert re.search(quoted, line), line
    assert_nothing_is_left(folder)


@pytest.mark.parametrize(
    ("row", "n_different"),
    [("", 0), ("ship harbour", 1), ("{n}", 0)],
)
def test_a_million_rows_with_nothing_to_rank_are_one_line(folder, row, n_different):
    file = folder / "rows.txt"
    file.write_text("".join(f"{row.format(n=n)}\n" for n in range(1_000_000)))
    assert odd(folder, file).wait() == 2
    file.unlink()
    (error,) = errors(folder)
    assert re.search(rf"^Error: .* 2 different .*, got {n_different}\. .*--sample", error), error
    assert_nothing_is_left(folder)


def test_a_million_documents_of_other_words_are_ranked(folder):
    letters = str.maketrans("0123456789", "bcdfghjklm")
    words = (
        f"{4 * n}x {4 * n + 1}x {4 * n + 2}x {4 * n + 3}x\n".translate(letters) for n in range(1_000_000)
    )
    (folder / "rows.txt").write_text("".join(words))
    process = odd(folder, "rows.txt", "--keep-copies")
    peak = 0
    while process.poll() is None:
        try:
            peak = max(peak, psutil.Process(process.pid).memory_info().rss)
        except psutil.NoSuchProcess:
            break
        time.sleep(0.2)
    assert process.wait() == 0
    assert "1,000,000 documents, 0 duplicates" in printed(folder)
    assert peak < 1.5e9
    with (folder / "odd.csv").open() as table:
        assert sum(1 for _ in table) == 1_000_001


@pytest.mark.parametrize("when", ["reading 20000", "scoring 12000"])
def test_a_file_that_changes_once_it_was_read_changes_nothing(folder, rows, when):
    file = folder / "changing.csv"
    header, *lines = rows.read_text().splitlines(keepends=True)
    file.write_text("".join([header, *lines, *(f"more-{line}" for line in lines)]))  # too many to be kept
    process = odd(folder, file)
    wait_until_done(folder, when, process)
    with file.open("a") as stream:
        stream.write("late,a late document\n")
    assert process.wait() == 0
    written = (folder / "odd.csv").read_text()
    assert written.count("\n") == 2 * N + 1
    assert "late" not in written


def test_a_pipe_gets_its_first_answer_while_it_is_open(folder, rows):
    assert begin(folder, "fit", rows, "--model=model", "--jobs=2").wait() == 0
    process = begin(
        *(folder, "score", "model", "-", "--text=text", "--jobs=2"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("the ship is at anchor\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith('{"id": "0"')
    assert process.poll() is None
    rest, _ = process.communicate("the crew\nthe storm\n")
    assert [line[:9] for line in rest.splitlines()] == ['{"id": "1', '{"id": "2']
    assert process.returncode == 0


# A Dask cluster


@pytest.fixture
def on_cluster(cluster, folder, rows):
    """Starts the command on the cluster."""
    return lambda: odd(folder, rows, "--address", cluster.address)


@pytest.mark.parametrize("n_workers", [1, 2])  # one alone is started again by its nanny
def test_work_of_a_killed_worker_is_done_again_and_gives_the_same(
    cluster, on_cluster, folder, rows, n_workers
):
    assert odd(folder, rows).wait() == 0
    expected = (folder / "odd.csv").read_text()
    (folder / "done").unlink()
    first, *_ = (cluster.add_worker() for _ in range(n_workers))
    process = on_cluster()
    wait_until_done(folder, "scoring 12000", process)
    worker_process(first).kill()
    assert process.wait() == 0, printed(folder)
    assert (folder / "odd.csv").read_text() == expected


def test_a_lost_scheduler_is_one_line(cluster, on_cluster, folder):
    cluster.add_worker()
    process = on_cluster()
    wait_until_done(folder, "scoring 12000", process)
    cluster.scheduler.kill()
    assert process.wait() == 1
    (line,) = errors(folder)
    assert re.search(f"^Error: .*scheduler .*{re.escape(cluster.address)} ", line), line


def test_a_worker_with_another_version_is_one_line(cluster, on_cluster, folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "adbench_text-0.0.1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: adbench-text\nVersion: 0.0.1\n")
    cluster.add_worker(PYTHONPATH=str(other.parent))
    assert on_cluster().wait() == 1
    (line,) = errors(folder)
    assert re.search(r"^Error: .*worker tcp://127\.0\.0\.1:\d+ .*adbench-text 0\.0\.1, ", line), line
