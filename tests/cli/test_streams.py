"""What is kept does not depend on who reads what is printed."""

import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from parameters import slow

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")

TOY = Path(__file__).parents[1] / "toy"
ODD = "odd own.csv --detector form --output odd"
N_TEXTS = 20
STORE = "--tracking-uri sqlite:///mlflow.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = [f"the ship and crew number {i}" for i in range(N_TEXTS - 1)]
    lines = ["text", *texts, "nets are drying 😀 near the lighthouse"]
    (tmp_path / "own.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def shell(folder: Path, arguments: str, rest: str, **variables: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command in bash; its exit code is that of the command, also in a pipe."""
    command = f"{sys.executable} -m adbench_text.cli {arguments} {rest}; exit ${{PIPESTATUS[0]}}"
    environment = os.environ | variables
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, check=False
    )


@pytest.mark.parametrize(
    "reader", ["2>&1 | true", *slow("| head -1", "| true", "2>&1 | head -1", "2> >(true)")]
)
def test_a_reader_that_leaves_is_a_normal_end_and_all_files_are_there(folder, reader):
    done = shell(folder, ODD, reader)
    assert (done.returncode, b"Traceback" in done.stderr + done.stdout) == (0, False)
    assert b"roken" not in done.stderr
    assert len((folder / "odd.csv").read_text().splitlines()) == N_TEXTS + 1
    assert "lighthouse" in (folder / "odd.html").read_text()


def test_help_may_lose_its_reader(folder):
    assert shell(folder, "--help", "| true").returncode == 0


@pytest.mark.slow
def test_scores_that_nobody_reads_are_not_computed_and_a_verdict_is(folder):
    words = ["".join(letters) for letters in product("abcdefghijklmnop", repeat=3)]
    normal = [f"the ship and crew {word}" for word in words[:200]]
    (folder / "own.csv").write_text("\n".join(["text", *normal]))
    other = [f"{word} lion {first} sleeps" for word in words for first in words[:5]]
    (folder / "other.csv").write_text("\n".join(["text", *other]))
    assert shell(folder, "fit own.csv --detector llr --model model", "").returncode == 0
    unread = shell(folder, "score model other.csv", "| true")
    assert (unread.returncode, b"called odd" in unread.stderr) == (0, False)
    judged = shell(folder, "score model other.csv --fail-on-drift", "| true")
    assert (judged.returncode, b"This file differs" in judged.stderr) == (4, True)


@pytest.mark.parametrize("encoding", ["cp1252:strict", *slow("cp1252", "latin-1")])
def test_a_character_that_a_stream_cannot_show_is_replaced(folder, encoding):
    done = shell(folder, ODD, "> list.txt", PYTHONIOENCODING=encoding)
    assert (done.returncode, (folder / "odd.csv").exists()) == (0, True)
    assert b"drying ? near" in (folder / "list.txt").read_bytes()
    assert "drying 😀 near" in (folder / "odd.csv").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Path:
    """A folder with the store of a sweep whose progress nobody read."""
    folder = tmp_path_factory.mktemp("swept")
    shutil.copy(empty_database, folder / "mlflow.db")
    path = f"{TOY}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    cells = "-d llr -s tiny --inlier sea --inlier law --no-report"
    assert shell(folder, f"run {cells} {STORE}", "2>&1 | true", PYTHONPATH=path).returncode == 0
    return folder


@pytest.fixture(scope="module")
def report(swept) -> "subprocess.CompletedProcess[bytes]":
    """The report of that sweep, to a stream that has no characters for the lines of tables."""
    return shell(swept, f"report {STORE}", "", PYTHONIOENCODING="cp1252")


def test_a_sweep_goes_on_when_nobody_reads_its_progress(report):
    rows = [line.split() for line in report.stdout.decode("cp1252").splitlines()]
    assert [row[3] for row in rows if row[1:2] == ["tiny"] and len(row) == 7] == ["sea", "law"]


def test_tables_keep_their_lines_where_a_stream_has_no_characters_for_them(report):
    assert (report.returncode, b"?" in report.stdout) == (0, False)
    lines = report.stdout.decode("cp1252").splitlines()
    frames = [line for line in lines if line.startswith("+-") and line.endswith("-+")]
    assert len(frames) == 6  # three of each table
    assert {len(line) for line in lines if line.startswith("|")} == {len(line) for line in frames}


@pytest.mark.slow
def test_figures_are_there_when_nobody_reads_the_report(swept):
    assert shell(swept, f"report --figures figures {STORE}", "| true").returncode == 0
    assert [*(swept / "figures").iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["date", "pydocs"])
def test_what_is_known_of_a_part_is_printed_in_any_encoding(folder, name):
    done = shell(folder, f"info {name}", "", PYTHONIOENCODING="cp1252:strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


@pytest.mark.slow
def test_characters_that_a_stream_cannot_show_have_plain_ones_that_look_alike(folder):
    (folder / "own.csv").write_text("text\n" + "the ship\n" * 9 + "“nets” – it’s ≥ 3\n", encoding="utf-8")
    done = shell(folder, ODD, "", PYTHONIOENCODING="latin-1")
    assert (done.returncode, b'"nets" - it\'s ? 3' in done.stdout) == (0, True)


@pytest.mark.slow
def test_what_a_stream_can_show_stays(folder):
    done = shell(folder, ODD, "| cat", PYTHONIOENCODING="utf-8")
    assert "drying 😀 near" in done.stdout.decode()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_files_are_complete_although_the_disk_of_the_list_is_full(folder):
    done = shell(folder, ODD, "> /dev/full")
    assert (done.returncode, done.stderr.count(b"No space left")) == (1, 1)
    assert len((folder / "odd.csv").read_text().splitlines()) == N_TEXTS + 1
    assert (folder / "odd.html").exists()
