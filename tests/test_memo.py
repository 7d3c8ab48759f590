import pytest

from adbench_text.memo import Stopwatch, forget_documents, remember


def test_the_last_values_are_remembered():
    calls = []

    @remember(2)
    def double(number):
        calls.append(number)
        return 2 * number

    assert [double(n) for n in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert calls == [1, 2, 3, 2]  # 3 drove out 2, which was used longest ago


def test_an_error_is_not_remembered():
    calls = []

    @remember(2)
    def fail(number):
        calls.append(number)
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):
            fail(1)
    assert calls == [1, 1]


def test_a_remembered_value_costs_what_it_cost_the_first_time(clock):
    @remember(2)
    def inner(_):
        clock.go_on(5)

    @remember(2)
    def outer(key):
        inner(0)
        clock.go_on(2)

    inner(0)
    for _ in range(2):  # first with the inner remembered, then with the outer
        with Stopwatch() as watch:
            outer("key")
        assert watch.seconds == pytest.approx(7)
    assert clock.now == 7  # each was computed once


def test_only_values_of_documents_are_forgotten():
    calls = []

    @remember(2)
    def of_settings(key):
        calls.append(key)

    @remember(2, of_documents=True)
    def of_documents(key):
        calls.append(key)

    for _ in range(2):
        of_settings("settings")
        of_documents("documents")
        forget_documents()
    assert calls == ["settings", "documents", "documents"]
