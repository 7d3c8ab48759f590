"""Benchmarks of the commands for own documents, on short documents made of the words of pydocs."""

import json
import random
import subprocess
import sys

import pytest

from adbench_text.plugins import registry

pytestmark = pytest.mark.bench

_N_WORDS = 12
_WITH_USAGE = """
import resource, sys
from pathlib import Path
from adbench_text.cli.main import main
try:
    main()
finally:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage.ru_utime + usage.ru_stime
    # not ru_maxrss, which begins with the memory of the process that started this one
    peak = next(line for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))
    print(f"{cpu:.1f} CPU seconds, peak memory {int(peak.split()[1]) // 1024} MiB", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, and files of 20,000, 100,000 and 1,000,000 documents."""
    folder = tmp_path_factory.mktemp("documents")
    words = [word for text in registry.dataset("pydocs").read()[0].texts for word in text.split()]
    draw = random.Random(0)
    for n in (20_000, 100_000, 1_000_000):
        with (folder / f"{n}.jsonl").open("w") as stream:
            for number in range(n):
                start = draw.randrange(len(words) - _N_WORDS)
                text = " ".join(words[start : start + _N_WORDS])
                stream.write(json.dumps({"id": number, "text": text}) + "\n")
    for preset in ("default", "robust"):
        run(folder, "fit", "20000.jsonl", "--model", preset, "--preset", preset)
    return folder


def run(folder, *arguments):
    """Run a command in a process of its own; return its last line of standard error, what it used."""
    result = subprocess.run(
        [sys.executable, "-c", _WITH_USAGE, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stderr.splitlines()[-1]


@pytest.mark.benchmark(group="odd on 20,000 documents, with table and page")
def test_odd(benchmark, folder, capsys):
    usage = benchmark.pedantic(run, (folder, "odd", "20000.jsonl"), rounds=1)
    with capsys.disabled():
        print(f"\nodd, 20,000 documents: {usage}")


@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.parametrize("model", ["default", "robust"])
@pytest.mark.benchmark(group="score with llr, start included")
def test_score(benchmark, folder, model, n, capsys):
    usage = benchmark.pedantic(run, (folder, "score", model, f"{n}.jsonl"), rounds=1)
    with capsys.disabled():
        print(f"\nscore, {model}, {n:,} documents: {usage}")
