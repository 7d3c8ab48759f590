import os
import signal
import threading

import pytest
from interpreters import printed

from adbench_text.interrupts import held_back, ignored


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(autouse=True)
def _heard():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("presses", "reached"), [(1, ["inner", "outer"]), (2, []), (0, ["inner", "outer"])])
def test_ctrl_c_waits_until_the_outer_block_is_done_unless_it_comes_twice(presses, reached):
    done = []

    def block():
        with held_back():
            with held_back():
                for _ in range(presses):
                    press_ctrl_c()
                done.append("inner")
            done.append("outer")
            raise ZeroDivisionError  # Ctrl-C goes before an error of the block

    with pytest.raises(KeyboardInterrupt if presses else ZeroDivisionError):
        block()
    assert done == reached


def test_processes_started_while_it_is_ignored_ignore_it_for_life():
    code = "import signal; print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"
    with ignored():
        press_ctrl_c()
        inside = printed(code)
    assert (inside, printed(code)) == ("True\n", "False\n")


@pytest.mark.parametrize("block", [held_back, ignored])
def test_in_a_thread_nothing_is_changed(block):
    seen = []

    def work():
        with block():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@pytest.mark.parametrize("block", [held_back, ignored])
def test_where_ctrl_c_is_handled_by_somebody_else_nothing_is_changed(block):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with block():
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
