import platform

import numpy as np
import psutil
import pytest

from adbench_text.run.memory import PeakMemory


def test_memory_held_for_a_moment_is_seen():
    with PeakMemory() as nothing:
        pass
    with PeakMemory() as memory:
        held = np.ones(25_000_000)  # 200 MB
        held.sum()
        for _ in range(5):
            held = np.sqrt(held)
        del held
    assert 150 < memory.megabytes - nothing.megabytes < 1000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc, which keeps freed memory")
def test_a_block_is_not_charged_for_memory_that_was_freed_before():
    chunks = [bytes(2000) for _ in range(150_000)]  # 300 MB, with one chunk after them in use
    last = chunks.pop()
    del chunks
    before = psutil.Process().memory_info().rss / 1e6
    with PeakMemory() as memory:
        pass
    assert last
    assert before - memory.megabytes > 200
