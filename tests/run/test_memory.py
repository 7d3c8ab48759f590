import numpy as np

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
