"""Provenance of a run: versions, machine, GPUs, commit and command line."""

import json
import os
import platform
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from adbench_text import __version__
from adbench_text.code_version import installed
from adbench_text.escaping import printable, without_password

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyod", "gensim", "torch", "tokenizers", "mlflow", "wordfreq")

#: The file with the commit of an installed package; setup.py writes it when it builds from a checkout.
COMMIT = Path(__file__).with_name("commit.txt")


@cache
def environment() -> dict[str, str]:
    """Return the versions of the libraries, and a description of the machine."""
    record = {"adbench-text": __version__, "python": platform.python_version()}
    record |= {name: installed(name) or "none" for name in _LIBRARIES}
    record["platform"] = f"{platform.system()} {platform.machine()}, {_processor()}"
    return record


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


VISIBLE = "CUDA_VISIBLE_DEVICES"

_DEVICES = """
import json, torch
count = torch.cuda.device_count()
gpus = [torch.cuda.get_device_properties(index) for index in range(count)]
print(json.dumps({
    "torch": torch.__version__,
    "cuda": torch.version.cuda,
    "threads": torch.get_num_threads(),
    "gpus": [{"name": gpu.name, "gigabytes": round(gpu.total_memory / 2**30, 1)} for gpu in gpus],
}))
"""


def devices() -> dict[str, Any]:
    """Return the versions of torch and CUDA, the threads, and the GPUs; or no GPUs and a ``problem``.

    Another process imports torch, because it takes much memory, and this process may not need it.
    """
    done = subprocess.run([sys.executable, "-c", _DEVICES], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"gpus": [], "problem": lines[-1]}
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return facts


@cache
def visible_gpus() -> list[str]:
    """Return the GPUs that torch may use, as values of `VISIBLE`."""
    count = len(devices()["gpus"])
    chosen = [each for each in os.environ.get(VISIBLE, "").split(",") if each]
    return chosen[:count] or [str(index) for index in range(count)]


@cache
def git_commit() -> str:
    """Return the commit of this checkout or of the installed package, or the reason why it is unknown."""
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return COMMIT.read_text().strip() if COMMIT.is_file() else "unknown (installed without git)"
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown (git does not answer)"
    return described.stdout.strip()


def command_line() -> str:
    """Return the command line of this process, without the program's path and without passwords."""
    return printable(without_password(shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])))
