"""Benchmarks of the commands for own documents, on files made of the words of pydocs.

With ADBENCH_TEXT_BENCH=large there are also files of a million long rows and of three million rows.
"""

import csv
import os
import random
import subprocess
import sys
import time

import psutil
import pytest

from adbench_text.plugins import registry

pytestmark = pytest.mark.bench

_SIZES = [(10_000, 20), (100_000, 20), (1_000_000, 20), (100_000, 100)]
if os.environ.get("ADBENCH_TEXT_BENCH") == "large":
    _SIZES += [(1_000_000, 100), (3_000_000, 20)]
_OF_A_PIECE = 7  # words that follow each other; the pieces of a row are of any documents
_LOOK_SECONDS = 0.1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model."""
    folder = tmp_path_factory.mktemp("documents")
    run(folder, "fit", written(folder, 20_000, 12), "--model", "default", "-d", "llr:default")
    run(folder, "fit", written(folder, 20_000, 12), "--model", "ensemble")
    return folder


def written(folder, n, n_words):
    """Return the name of a file of n rows, written when it is first asked for."""
    path = folder / f"{n}x{n_words}.csv"
    if not path.exists():
        words = [word for text in registry.dataset("pydocs").read()[0].texts for word in text.split()]
        draw = random.Random(0)
        with path.open("w", newline="") as stream:
            rows = csv.writer(stream)
            rows.writerow(["id", "text"])
            for number in range(n):
                starts = [draw.randrange(len(words) - _OF_A_PIECE) for _ in range(0, n_words, _OF_A_PIECE)]
                text = [word for start in starts for word in words[start : start + _OF_A_PIECE]]
                rows.writerow([number, " ".join(text[:n_words])])
    return path.name


def run(folder, *arguments):
    """Run a command in a process of its own; return what it and its own processes used."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "adbench_text.cli", *map(str, arguments)]
    process = psutil.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, cpu, n_written = 0, {}, {}
    while process.poll() is None:
        memory = 0
        for each in [process, *children(process)]:
            try:
                memory += each.memory_full_info().pss  # memory that processes share counts once
                cpu[each.pid] = sum(each.cpu_times()[:2])
                n_written[each.pid] = each.io_counters().write_bytes
            except psutil.Error:
                continue
        peak = max(peak, memory)
        time.sleep(_LOOK_SECONDS)
    assert process.returncode == 0
    return (
        f"{time.perf_counter() - begin:.1f} s, {sum(cpu.values()):.1f} CPU seconds, peak memory of all "
        f"processes {peak // 2**20:,} MiB, {sum(n_written.values()) / 1e6:.0f} MB written"
    )


def children(process):
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("n", "n_words"), _SIZES)
@pytest.mark.benchmark(group="odd, with table and page, start included")
@pytest.mark.timeout(1800)
def test_odd(benchmark, folder, n, n_words, jobs, capsys):
    arguments = "odd", written(folder, n, n_words), "--jobs", jobs
    usage = benchmark.pedantic(run, (folder, *arguments), rounds=1)
    with capsys.disabled():
        print(f"\nodd, {n:,} documents of {n_words} words, {jobs} jobs: {usage}")


@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.parametrize("model", ["default", "ensemble"])
@pytest.mark.benchmark(group="score, start included")
@pytest.mark.timeout(1800)
def test_score(benchmark, folder, model, n, capsys):
    by = "words" if model == "default" else "both"
    usage = benchmark.pedantic(run, (folder, "score", model, written(folder, n, 20), "--by", by), rounds=1)
    with capsys.disabled():
        print(f"\nscore, {model}, by {by}, {n:,} documents of 20 words: {usage}")
