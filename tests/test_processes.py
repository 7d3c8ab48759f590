import os
import pickle
import signal
import sys
import time
import tracemalloc
from multiprocessing import active_children
from pathlib import Path
from threading import Lock

import numpy as np
import pytest
import sent_functions

from adbench_text.corpora import corpus
from adbench_text.errors import AdbenchTextError
from adbench_text.plugins import registry
from adbench_text.processes import CallError, Limits, Processes, _Process, pickled, tell

MAPS = Path("/proc/self/maps")
needs_maps = pytest.mark.skipif(not MAPS.exists(), reason="needs Linux, which lists mapped files")


def processes(**options) -> Processes:
    return Processes(1, "adbench_text.processes", "--jobs 0", **options)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes start at once, and it is ignored")
def test_ctrl_c_waits_until_a_process_has_started(monkeypatch):
    start = _Process.__init__

    def interrupted(self, *arguments):
        os.kill(os.getpid(), signal.SIGINT)
        start(self, *arguments)

    monkeypatch.setattr(_Process, "__init__", interrupted)
    with processes() as workers:
        with pytest.raises(KeyboardInterrupt):
            workers.submit(abs, 1)
        (child,) = active_children()
    assert not child.is_alive()


def test_a_call_returns_a_value_or_raises_one_line():
    with processes() as workers:
        shared = workers.share([3, 1, 2], "The list")
        assert workers.submit(sorted, shared).result() == [1, 2, 3]
        with pytest.raises(AdbenchTextError, match="Another process failed: TypeError: 'int' object"):
            workers.submit(sorted, 3).result()
        with pytest.raises(CallError, match="its result cannot be passed on: TypeError: "):
            workers.submit(Lock).result()
        assert workers.submit(abs, -1).result() == 1


@pytest.mark.parametrize("function", [time.sleep, sent_functions.chatter])
def test_a_call_over_a_limit_costs_its_process_alone(function):
    with processes(limits=Limits(seconds=0.5)) as workers:
        with pytest.raises(CallError, match=r"stopped after 0\.5 s") as error:
            workers.submit(function, 600).result()
        assert error.value.stopped == "timed out"
        assert workers.submit(abs, -1).result() == 1
    assert active_children() == []


def test_what_a_call_tells_is_heard_before_it_returns():
    heard = []
    with processes(hear=heard.append) as workers:
        assert workers.submit(tell, "half way").result() is None
    assert heard == ["half way"]


def test_a_process_that_is_spent_is_replaced():
    with processes(is_spent=tracemalloc.is_tracing) as workers:
        first, same = (workers.submit(os.getpid).result() for _ in range(2))
        workers.submit(tracemalloc.start).result()
        assert first == same != workers.submit(os.getpid).result()


def files_mapped(path: Path) -> int:
    return MAPS.read_text().count(str(path))


@pytest.fixture
def tiny(toy_path, home):
    return corpus.load(registry.dataset("tiny"))


@pytest.fixture
def cache(tiny):
    return Path(tiny.train.texts._data.filename)


def contents(loaded: corpus.Corpus) -> list[object]:
    return [part for d in (loaded.train, loaded.test) for part in (list(d.texts), d.labels.tolist())]


@needs_maps
def test_a_corpus_reaches_a_process_of_this_machine_as_the_place_in_its_file(tiny, cache):
    sent = pickled(tiny, "The corpus")
    first = tiny.train.texts[0].encode()
    assert first not in sent
    assert first in pickle.dumps(tiny)  # another machine has no such file
    before = files_mapped(cache)
    received = pickle.loads(sent)
    assert files_mapped(cache) > before
    assert contents(received) == contents(tiny)
    assert received.digest == tiny.digest


@pytest.mark.parametrize("change", ["deleted", "edited", "shorter"])
def test_a_corpus_whose_file_is_another_one_now_is_sent_itself(tiny, cache, change):
    content = cache.read_bytes()
    cache.unlink()
    if change == "edited":
        place = content.index(tiny.train.texts[0].encode())
        cache.write_bytes(content[:place] + b"?" + content[place + 1 :])
    elif change == "shorter":
        cache.write_bytes(content[:100])
    received = pickle.loads(pickled(tiny, "The corpus"))
    assert contents(received) == contents(tiny)
    assert received.digest == tiny.digest


def test_a_part_of_a_mapped_array_stays_this_part(tiny):
    part = tiny.train.texts._data[2:5]
    assert isinstance(part, np.memmap)
    np.testing.assert_array_equal(pickle.loads(pickled(part, "A part")), part)
