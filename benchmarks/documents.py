"""Benchmark of `odd`, `fit` and `score`, on files made of the words of pydocs.

ADBENCH_TEXT_BENCH=large adds files of a million long rows, and of three and ten million rows.
"""

import csv
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from adbench_text.plugins import registry

SIZES = [(10_000, 20), (100_000, 20), (1_000_000, 20), (100_000, 100)]
OF_PARQUET = [100_000, 300_000, 1_000_000]
if os.environ.get("ADBENCH_TEXT_BENCH") == "large":
    SIZES += [(1_000_000, 100), (3_000_000, 20)]
    OF_PARQUET += [3_000_000, 10_000_000]
OF_A_PIECE = 7  # words in a row; the pieces of a row come from any documents
OF_A_GROUP = 100_000  # rows in a group of a Parquet file
LOOK_SECONDS = 0.5  # a look at gigabytes takes a tenth of a second


class Usage(NamedTuple):
    """The costs of a command and its processes, including the start."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    written_bytes: int

    def __str__(self):
        return (
            f"{self.seconds:.1f} s, {self.cpu_seconds:.1f} CPU seconds, peak memory of all processes "
            f"{self.peak_bytes // 2**20:,} MiB, {self.written_bytes / 1e6:.0f} MB written"
        )


def written(folder, words, n, n_words):
    """Return the name of a file of n rows; write it at the first call."""
    path = folder / f"{n}x{n_words}.csv"
    if not path.exists():
        draw = random.Random(0)
        with path.open("w", newline="") as stream:
            rows = csv.writer(stream)
            rows.writerow(["id", "text"])
            for number in range(n):
                starts = [draw.randrange(len(words) - OF_A_PIECE) for _ in range(0, n_words, OF_A_PIECE)]
                text = [word for start in starts for word in words[start : start + OF_A_PIECE]]
                rows.writerow([number, " ".join(text[:n_words])])
    return path.name


def written_as_parquet(folder, words, n):
    """Return the name of a Parquet file of n rows of 20 words."""
    starts = len(words) - OF_A_PIECE
    pieces = [" ".join(words[start : start + OF_A_PIECE]) for start in range(starts)]
    short = [" ".join(words[start : start + OF_A_PIECE - 1]) for start in range(starts)]
    path, draw = folder / f"{n}.parquet", np.random.default_rng(0)
    with ParquetWriter(path, pa.schema([("text", pa.string())])) as writer:
        for begin in range(0, n, OF_A_GROUP):
            drawn = draw.integers(0, starts, (3, min(OF_A_GROUP, n - begin))).tolist()
            rows = [
                f"{pieces[one]} {pieces[two]} {short[three]}" for one, two, three in zip(*drawn, strict=True)
            ]
            writer.write_table(pa.table({"text": rows}))
    return path.name


def run(folder, *arguments):
    """Run a command in a new process."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "adbench_text.cli", *map(str, arguments)]
    process = psutil.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, cpu, n_written = 0, {}, {}
    while process.poll() is None:
        memory = 0
        for each in [process, *children(process)]:
            try:
                # memory that processes share counts once; a new process still has the memory of its parent
                is_new = time.time() - each.create_time() < LOOK_SECONDS
                memory += 0 if is_new else each.memory_full_info().pss
                cpu[each.pid] = sum(each.cpu_times()[:2])
                n_written[each.pid] = each.io_counters().write_bytes
            except psutil.Error:
                continue
        peak = max(peak, memory)
        time.sleep(LOOK_SECONDS)
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode} of: {' '.join(command)}")
    return Usage(time.perf_counter() - begin, sum(cpu.values()), peak, sum(n_written.values()))


def children(process):
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def main(folder):
    words = [word for text in registry.dataset("pydocs").read()[0].texts for word in text.split()]
    for n, n_words in SIZES:
        file = written(folder, words, n, n_words)
        one, two = (run(folder, "odd", file, "--jobs", jobs) for jobs in (1, 2))
        print(f"\nodd, {n:,} documents of {n_words} words, with table and page")
        print(f"    --jobs 1: {one}")
        print(f"    --jobs 2: {two}; {one.seconds / two.seconds:.2f} times as fast")
    before = None
    print("\nodd --by words, Parquet files of rows of 20 words, two processes")
    for n in OF_PARQUET:
        usage = run(folder, "odd", written_as_parquet(folder, words, n), "--by", "words", "--jobs", 2)
        slope = ""
        if before:
            growth = math.log(n / before[0])
            of_time = math.log(usage.seconds / before[1].seconds) / growth
            of_memory = math.log(usage.peak_bytes / before[1].peak_bytes) / growth
            slope = f"; log-log slope of the time {of_time:.2f}, of the memory {of_memory:.2f}"
        print(f"    {n:,} rows: {usage}{slope}")
        before = n, usage
    learned = written(folder, words, 20_000, 12)
    run(folder, "fit", learned, "--model", "default", "-d", "llr:default")
    run(folder, "fit", learned, "--model", "mean")
    for n in (100_000, 1_000_000):
        file = written(folder, words, n, 20)
        of_default = run(folder, "score", "default", file, "--by", "words")
        of_mean = run(folder, "score", "mean", file, "--by", "both")
        print(f"\nscore, {n:,} documents of 20 words")
        print(f"    llr, by words: {of_default}")
        print(f"    mean, by both: {of_mean}; {of_mean.seconds / of_default.seconds:.2f} times as long")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
