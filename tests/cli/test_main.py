import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from commands import adbench
from parameters import slow

import adbench_text.cli
from adbench_text.cli.main import main


def spin_count_of_a_child(**variables: str) -> str:
    """Return GOMP_SPINCOUNT as a process sees it that a command started; no command imports OpenMP first."""
    code = (
        "import subprocess, sys; from adbench_text.cli.main import main\n"
        "main(['list', 'datasets'], standalone_mode=False)\n"
        "early = {'torch', 'sklearn'} & set(sys.modules)\n"
        "child = 'import os; print(os.environ.get(\"GOMP_SPINCOUNT\"))'\n"
        "sys.exit(early) if early else subprocess.run([sys.executable, '-c', child], check=True)"
    )
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=inherited | variables, capture_output=True, text=True, check=True
    )
    return done.stdout.split()[-1]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({}, "3000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None")],
)
def test_openmp_spins_briefly_in_processes_that_a_command_starts_or_as_the_user_chose(variables, expected):
    assert spin_count_of_a_child(**variables) == expected


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", *slow(">&-", "2>&-")])
def test_a_command_works_where_standard_streams_are_closed(tmp_path, closed):
    texts = [f"the ship and crew number {i}" for i in range(20)]
    (tmp_path / "own.csv").write_text("\n".join(["text", *texts]))
    command = f"exec {sys.executable} -m adbench_text.cli odd own.csv --detector form --output odd {closed}"
    done = subprocess.run(command, cwd=tmp_path, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr + done.stdout) == (0, False)
    assert len((tmp_path / "odd.csv").read_text().splitlines()) == 21


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_of_standard_output_is_one_line():
    command = f"exec {sys.executable} -m adbench_text.cli list datasets > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert f": {os.strerror(errno.ENOSPC)}." in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_help_lists_each_command_once_and_the_main_ones_first():
    files = [path.read_text() for path in Path(adbench_text.cli.__file__).parent.glob("*.py")]
    names = [name for file in files for name in re.findall(r'^@click.command\("(\w+)"', file, re.MULTILINE)]
    _, _, sections = adbench("--help").stdout.partition("--help ")
    listed = re.findall(r"^(\S.*:)$|^  (\w+) +\S", sections, re.MULTILINE)
    commands = [name for _, name in listed if name]
    assert sorted(commands) == sorted(names)
    assert commands[0] == "run"
    titles = [title for title, _ in listed if title]
    assert [titles.index(title) for title in ("Compare detectors:", "Your own documents:")] == [0, 1]


def test_a_similar_command_is_suggested():
    assert "'odd'" in CliRunner().invoke(main, ["od", "a.csv"]).stderr
    assert "Did you mean" not in CliRunner().invoke(main, ["transform"]).stderr
