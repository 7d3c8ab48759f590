import os
import signal
import sys
import time
import tracemalloc
from multiprocessing import active_children
from threading import Lock

import pytest
import sent_functions

from adbench_text.errors import AdbenchTextError
from adbench_text.processes import CallError, Limits, Processes, _Process, notify


def processes(**options) -> Processes:
    return Processes(1, "adbench_text.processes", **options)


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
        with pytest.raises(AdbenchTextError, match=r"process .*: TypeError: 'int' object"):
            workers.submit(sorted, 3).result()
        with pytest.raises(CallError, match=r"result .*: TypeError: .*lock"):
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
    with processes(on_notice=heard.append) as workers:
        assert workers.submit(notify, "half way").result() is None
    assert heard == ["half way"]


def test_a_call_whose_notice_fails_leaves_no_answer_for_the_next_call():
    with processes(on_notice=lambda notice: 1 / 0) as workers:
        with pytest.raises(ZeroDivisionError):
            workers.submit(notify, "half way").result()
        assert workers.submit(abs, -1).result() == 1


def test_a_process_that_is_spent_is_replaced():
    with processes(is_spent=tracemalloc.is_tracing) as workers:
        first, same = (workers.submit(os.getpid).result() for _ in range(2))
        workers.submit(tracemalloc.start).result()
        assert first == same != workers.submit(os.getpid).result()
