import re
from dataclasses import dataclass, field

import pytest

from adbench_text.cli import progress
from adbench_text.cli.progress import Shown, count, duration


@dataclass(frozen=True)
class Cell:
    text: str
    detector: str = "d"
    configuration: str = ""
    dataset: str = "tiny"

    def __str__(self) -> str:
        return self.text


@dataclass
class Result:
    cell: Cell
    reason: str = ""
    ran_on: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> str:
        return "failed" if self.reason else "ok"

    @property
    def metrics(self) -> dict[str, float]:
        return {} if self.reason else {"auroc": 0.9876, "fit_seconds": 1.5}


def watch_a_sweep(cells: list[str], failed: tuple[str, ...] = ()) -> None:
    with Shown() as shown:
        shown.message("loading tiny")
        shown.begin(len(cells), 5, 0)
        for name in cells:
            shown.started(Cell(name))
            shown.done(Result(Cell(name), "Odd: [bold]no luck[/nothing] :warning:" if name in failed else ""))
        shown.end()


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Makes stderr a terminal of some width; what was written on it is returned without colours."""

    def make(width: int):
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm-256color")
        return lambda: re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)

    return make


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (200, "3 min 20 s"),
        (3599.6, "1 h 0 min"),
        (7500, "2 h 5 min"),
        (100_000, "27 h 46 min"),
    ],
)
def test_a_duration_is_written_for_people(seconds, text):
    assert duration(seconds) == text


def test_one_cell_is_not_cells():
    assert [count(n) for n in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]


def test_where_there_is_no_terminal_each_cell_is_a_plain_line_on_stderr(capsys):
    watch_a_sweep(["a", "b"], failed=("b",))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "loading tiny",
        "2 cells to run, 5 finished before",
        "[1/2] a: AUROC 98.8%, 0 s left",
        "[2/2] failed: b: Odd: [bold]no luck[/nothing] :warning:",
        "2 cells run in 0 s, 1 of them failed",
    ]


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """A clock that the test sets."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_the_time_left_is_that_of_the_cells_so_far(capsys, now):
    shown = Shown()
    shown.begin(4, 0, 0)
    for end in (10, 20):
        shown.started(Cell("a"))
        now[0] = end
        shown.done(Result(Cell("a")))
    lines = capsys.readouterr().err.splitlines()
    assert lines[1].endswith("30 s left")
    assert lines[2].endswith("20 s left")


def test_a_slow_start_says_what_it_does(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    with Shown() as shown:
        shown._loading.join()
        shown.message("loading tiny")
    with Shown() as shown:
        shown.message("loading tiny")
        shown._loading.join()
    assert capsys.readouterr().err.splitlines() == ["loading the detectors", "loading tiny", "loading tiny"]


def test_on_a_terminal_the_start_is_shown_at_once(terminal):
    written = terminal(100)
    with Shown():
        pass
    assert "loading the detectors" in written()


def test_a_long_training_reports_its_progress_now_and_then(capsys, now):
    shown = Shown()
    shown.started(Cell("a"))
    for step, seconds in ((50, 10.0), (100, 20.0), (200, 40.0), (250, 50.0), (400, 80.0)):
        now[0] = seconds
        shown.step(Cell("a"), step, 1000, {"loss_total": 412.345, "loss_rtd": 0.5})
    assert capsys.readouterr().err.splitlines() == [
        "    step 200/1,000, 2 min 40 s left; total 412, rtd 0.5",
        "    step 400/1,000, 2 min 0 s left; total 412, rtd 0.5",
    ]


def test_the_time_left_of_a_training_that_goes_on_is_that_of_the_steps_since(capsys, now):
    shown = Shown()
    shown.started(Cell("a"))
    for step, seconds in ((800, 1.0), (900, 51.0)):
        now[0] = seconds
        shown.step(Cell("a"), step, 1000, {})
    assert "step 900/1,000, 50 s left" in capsys.readouterr().err


def test_on_a_terminal_the_bar_shows_the_steps_of_a_training(terminal):
    written = terminal(120)
    with Shown() as shown:
        shown.begin(1, 0, 0)
        shown.started(Cell("date on tiny/sea"))
        shown.step(Cell("date on tiny/sea"), 50, 5000, {"loss_rtd": 0.123456})
        shown.done(Result(Cell("date on tiny/sea")))
    assert "step 50/5,000; rtd 0.123; date on tiny/sea" in written()


def test_when_nothing_is_run_nothing_is_printed_at_the_end(capsys):
    watch_a_sweep([])
    assert capsys.readouterr().err.splitlines() == ["loading tiny", "0 cells to run, 5 finished before"]


def test_on_a_narrow_terminal_the_name_of_the_cell_is_cut_in_the_bar(terminal):
    written = terminal(50)
    watch_a_sweep(["a name that is long enough to fill a line of fifty twice over, and more"] * 3)
    text = written()
    assert "3/3 0:00:00 a name that is" in text
    assert text.count("twice over") == 3  # once in the line of each
    assert all(len(line) <= 50 for line in re.split(r"[\r\n]", text))


def test_on_a_terminal_names_and_reasons_are_shown_literally(terminal):
    written = terminal(100)
    watch_a_sweep(["d base=[red] x=[/oops] on tiny/[b]"], failed=("d base=[red] x=[/oops] on tiny/[b]",))
    text = written()
    assert "failed: d base=[red] x=[/oops] on tiny/[b]: Odd: [bold]no luck[/nothing] :warning:" in text


def test_the_bar_goes_when_the_sweep_is_interrupted(terminal):
    written = terminal(100)
    shown = Shown()

    def sweep():
        with shown:
            shown.begin(2, 0, 0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep()
    assert not shown._bar.live.is_started
    assert "2 cells to run" in written()


def test_a_training_that_was_cut_short_is_printed(capsys):
    with Shown() as shown:
        shown.begin(1, 0, 0)
        shown.done(Result(Cell("date on x"), ran_on={"steps": "300 of 1,500, the end of epochs=30"}))
    assert "    date on x: trained for 300 of 1,500, the end of epochs=30\n" in capsys.readouterr().err


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_quiet_run_prints_results_and_errors_only(terminal, capsys, is_terminal):
    if is_terminal:
        terminal(100)
    with Shown(verbosity=-1) as shown:
        shown.message("loading tiny")
        shown.message("failed: x and its other splits: no luck", "error")
        shown.begin(1, 0, 0)
        shown.step(Cell("a"), 50, 100, {"loss_rtd": 0.5})
        shown.done(Result(Cell("a"), ran_on={"steps": "1 of 2"}))
        shown.end()
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["failed: x and its other splits: no luck", "[1/1] a: AUROC 98.8%, 0 s left"]


def test_a_verbose_run_prints_what_was_measured(capsys):
    with Shown(verbosity=1) as shown:
        shown.begin(1, 0, 0)
        shown.done(Result(Cell("a"), ran_on={"device": "cpu"}))
    assert capsys.readouterr().err.splitlines()[-1] == "    fit 1.5 s, device cpu"
