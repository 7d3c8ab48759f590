"""Times functions in turn. Machines differ and drift, so compare only ratios of one run."""

import time
from collections.abc import Callable, Mapping
from statistics import median


def compare(title: str, functions: Mapping[str, Callable[[], object]], rounds: int = 5) -> None:
    """Print the median time of each function, and its ratio to the last one, the reference.

    The first round warms up, and is not counted.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds + 1):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            seconds[name].append(time.perf_counter() - begin)
    medians = {name: median(times[1:]) for name, times in seconds.items()}
    *_, reference = medians.values()
    print(f"\n{title}, {rounds} rounds: median, and its ratio to the last line")
    for name, each in medians.items():
        print(f"{1e3 * each:10,.1f} ms {each / reference:8.3f}  {name}")
