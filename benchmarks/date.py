"""Benchmark of DATE: its speed of training and scoring, compared with a matrix product on the machine.

The texts are made up, because only their lengths matter, which are as in AG News (28 word pieces on average)
and 20 Newsgroups. FLOPs are counted for the texts only, not for pads and the optimiser. ``python
benchmarks/date.py cuda`` measures only on the GPU.
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

from adbench_text.cli.main import SPIN_COUNT
from adbench_text.detectors._devices import find_dtype
from adbench_text.detectors.date import DATE
from adbench_text.detectors.date.corruption import RandomGenerator, mask_patterns
from adbench_text.detectors.date.electra import Discriminator, Embeddings, Objective, Shape
from adbench_text.detectors.date.scoring import window_scores
from adbench_text.detectors.date.training import Training, train
from adbench_text.detectors.date.windows import Windows
from adbench_text.text.wordpiece import Pieces

N_PIECES = 30_522


class Vocabulary:
    cls, sep = 101, 102


def made_up(corpus: str, n_texts: int) -> Windows:
    rng = np.random.default_rng(0)
    if corpus == "AG News":
        lengths, max_length = np.clip(rng.normal(28, 8, n_texts), 5, 128), 128
    else:
        lengths, max_length = np.clip(rng.lognormal(4, 0.9, n_texts), 5, 8000), 498
    ends = np.cumsum([0, *lengths.astype(np.int64)])
    ids = rng.integers(5, N_PIECES, ends[-1], dtype=np.int32)
    return Windows(Pieces(ids, ends), Vocabulary, max_length)


def flops(lengths: np.ndarray) -> float:
    """Return the multiplications and additions of one pass over windows of these lengths."""
    shape = Shape()
    H, F = shape.hidden, shape.feed_forward
    linear = 128 * H + shape.layers * (4 * H * H + 2 * H * F) + H * H + H
    attention = shape.layers * 2 * H * lengths.astype(np.float64)
    return float((2 * lengths * (linear + attention)).sum())


def synchronize(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def product_rate(device: str, dtype: torch.dtype, n: int = 2048) -> float:
    """Return the best FLOP/s of several dense matrix products."""
    a, b = (torch.randn(n, n, dtype=dtype, device=device) for _ in range(2))
    seconds = []
    for _ in range(8):
        synchronize(device)
        begin = time.perf_counter()
        a @ b
        synchronize(device)
        seconds.append(time.perf_counter() - begin)
    return 2 * n**3 / min(seconds)


def network(max_length: int) -> Objective:
    torch.manual_seed(0)
    embeddings = Embeddings(N_PIECES, max_length + 2)
    return Objective(RandomGenerator(5, N_PIECES), Discriminator(embeddings, Shape(), 50))


class Clock:
    """Records the time after every fifty steps."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.times: list[float] = []

    def losses(self, *_):
        synchronize(self.device)
        self.times.append(time.perf_counter())


def measure_training(device, corpus, batch_size):
    """Return the seconds of a step."""
    windows = made_up(corpus, 3000).to(torch.device(device))
    dtype = find_dtype(DATE().precision, torch.device(device))
    patterns = mask_patterns(50, windows.max_length, 0.5, torch.Generator().manual_seed(0)).to(device)
    clock, steps = Clock(device), 250
    training = Training(steps, batch_size, 1e-5, patterns, 0.5, 0, dtype)
    rates = [product_rate(device, dtype)]
    train(network(windows.max_length).to(device), windows, training, clock)
    rates.append(product_rate(device, dtype))
    step = (clock.times[-1] - clock.times[0]) / (steps - 50)
    tokens = windows.lengths.mean() * batch_size
    rate = 3 * flops(windows.lengths) / len(windows) * batch_size / step
    print(
        f"\nDATE trains on {device}, {str(dtype)[6:]}, {corpus}, batch {batch_size}: "
        f"{1e3 * step:.1f} ms a step, {tokens / step:,.0f} tokens/s, {rate / 1e9:,.0f} GFLOP/s "
        f"= {rate / max(rates):.0%} of a matrix product "
        f"({max(rates) / 1e9:,.0f}); {peak_memory(device):.2f} GB held at most so far"
    )
    return step


def measure_training_as_one_would_write_it_first():
    """Return the seconds of a step in fp32, every window padded to the limit, by torch's own optimiser."""
    windows = made_up("AG News", 500)
    objective = network(128)
    optimizer = torch.optim.AdamW(objective.parameters(), lr=1e-5, weight_decay=0.1, amsgrad=True)
    patterns = mask_patterns(50, 128, 0.5, torch.Generator().manual_seed(0))
    training = Training(10, 16, 1e-5, patterns, 0.5, 0, torch.float32)
    windows.lengths, real = np.full_like(windows.lengths, 130), windows.lengths
    windows.padded = windows.lengths
    times = []
    for step in range(8):
        ids, lengths = windows.batch(np.arange(16 * step, 16 * step + 16))
        begin = time.perf_counter()
        corruption = training.corruption(step, ids, lengths)
        objective(ids, lengths, corruption).total.backward()
        torch.nn.utils.clip_grad_norm_(objective.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.perf_counter() - begin)
    step = float(np.median(times))
    print(
        f"\nDATE as one would write it first (fp32, padded to 130, torch's AdamW), AG News, batch 16: "
        f"{1e3 * step:.0f} ms a step, {16 * real.mean() / step:,.0f} tokens/s"
    )
    return step


def seconds_beside(n_alone: int, n_beside: int) -> tuple[float, float]:
    """Return the seconds of a training step alone, and next to a process that uses one core."""
    windows = made_up("AG News", 1000)
    dtype = find_dtype(DATE().precision, torch.device("cpu"))
    patterns = mask_patterns(50, windows.max_length, 0.5, torch.Generator().manual_seed(0))
    objective = network(windows.max_length)

    def seconds(steps: int) -> float:
        training = Training(steps, 16, 1e-5, patterns, 0.5, 0, dtype)
        begin = time.perf_counter()
        train(objective, windows, training, Clock("cpu"))
        return (time.perf_counter() - begin) / steps

    seconds(10)  # to warm up
    alone = seconds(n_alone)
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)  # wait until it has started
        return alone, seconds(n_beside)
    finally:
        busy.kill()
        busy.wait()


def measure_training_beside_a_busy_process(count, n_beside):
    """Measure with a spin count of libgomp, or with its default, which needs only a few steps."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))
    }
    environment |= {"GOMP_SPINCOUNT": count} if count else {}
    code = f"from date import seconds_beside; print(*seconds_beside(60, {n_beside}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    alone, with_load = map(float, done.stdout.split())
    print(
        f"\nDATE trains next to one busy process on {os.cpu_count()} cores, "
        f"spin count {count or 'of libgomp'}: {alone / with_load:.0%} of its speed alone "
        f"({1e3 * alone:.0f} and {1e3 * with_load:.0f} ms a step)"
    )


def measure_scoring(device, corpus):
    n_texts = 2000 if corpus == "AG News" else 400
    windows = made_up(corpus, n_texts).to(torch.device(device))
    discriminator = network(windows.max_length).discriminator.to(device).eval()
    window_scores(discriminator, windows, "pl")
    begin = time.perf_counter()
    window_scores(discriminator, windows, "pl")
    seconds = time.perf_counter() - begin
    rate, dense = flops(windows.lengths) / seconds, product_rate(device, torch.float32)
    print(
        f"\nDATE scores on {device}, fp32, {corpus}: {n_texts / seconds:,.0f} documents/s, "
        f"{rate / 1e9:,.0f} GFLOP/s = {rate / dense:.0%} of a matrix product ({dense / 1e9:,.0f})"
    )


def peak_memory(device: str) -> float:
    """Return the peak memory of the GPU or of this process, in GB."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated() / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main(devices):
    for device in devices:
        steps = [
            measure_training(device, corpus, batch_size)
            for corpus, batch_size in (("AG News", 16), ("AG News", 64), ("20 Newsgroups", 16))
        ]
        if device == "cpu":
            first = measure_training_as_one_would_write_it_first()
            print(f"A step on AG News, batch 16, takes {steps[0] / first:.3f} of that")
            measure_training_beside_a_busy_process(SPIN_COUNT, 60)
            measure_training_beside_a_busy_process(None, 12)
        for corpus in ("AG News", "20 Newsgroups"):
            measure_scoring(device, corpus)


if __name__ == "__main__":
    main(sys.argv[1:] or ["cpu", "cuda"][: 1 + torch.cuda.is_available()])
