"""What is noted on every run: versions, machine, commit and command line."""

import platform
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from adbench_text import __version__

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyod", "gensim", "torch", "tokenizers", "mlflow", "wordfreq")


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"


@cache
def environment() -> dict[str, str]:
    """Return versions and machine, for the record of every run."""
    record = {"adbench-text": __version__, "python": platform.python_version()}
    record |= {name: _version(name) for name in _LIBRARIES}
    record["platform"] = f"{platform.system()} {platform.machine()}, {_processor()}"
    return record


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


@cache
def git_commit() -> str | None:
    """Return the commit of the checkout this package runs from (with ``-dirty``), None elsewhere."""
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        return None
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()


def command_line() -> str:
    """Return the command that is running, as the user typed it."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
