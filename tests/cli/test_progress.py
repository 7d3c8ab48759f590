import re
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import pytest

from adbench_text.cli.progress import ProgressDisplay, shown_documents
from adbench_text.cli.remaining import Remaining
from adbench_text.corpora.split_key import SplitKey
from adbench_text.escaping import count

SPLIT = SplitKey("tiny", "sea")


@dataclass(frozen=True)
class Cell:
    text: str
    detector: str = "llr"
    configuration: str = ""
    preset: str = "default"
    split: SplitKey = SPLIT
    n_configurations: int = 1

    @property
    def choice(self) -> str:
        return self.detector

    def __str__(self) -> str:
        return self.text


@dataclass
class Result:
    cell: Cell
    reason: str = ""
    ran_on: dict[str, str] = field(default_factory=dict)
    value: float = 0.9876
    tied: float = 0.0

    @property
    def status(self) -> str:
        return "failed" if self.reason else "ok"

    @property
    def metrics(self) -> dict[str, float]:
        return {} if self.reason else {"auroc": self.value, "fit_seconds": 1.5, "tied": self.tied}


def watch_a_sweep(cells: list[str], failed: tuple[str, ...] = (), verbosity: int = 0) -> None:
    with ProgressDisplay(verbosity) as shown:
        shown.message("loading tiny")
        shown.begin([Cell(name) for name in cells], 5, 0)
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


def test_detectors_with_many_ties_are_named_at_the_end(capsys):
    shares = {"coarse": (0.05, 0.25), "fine": (0.05, 0.1)}
    results = [Result(Cell(f"{name} {share}", name), tied=share) for name in shares for share in shares[name]]
    with ProgressDisplay() as shown:
        shown.begin([result.cell for result in results], 0, 0)
        for result in results:
            shown.done(result)
        shown.end()
    (note,) = [line for line in capsys.readouterr().err.splitlines() if "AUPR" in line]
    assert note.endswith("above 10% for coarse on tiny (15%).")


def test_one_cell_is_not_cells():
    assert [count(n) for n in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]


def test_where_there_is_no_terminal_each_detector_on_a_dataset_is_a_plain_line_on_stderr(capsys):
    watch_a_sweep(["a", "b", "c"], failed=("b",))
    captured = capsys.readouterr()
    assert captured.out == ""
    *lines, last = captured.err.splitlines()
    assert lines == [
        "loading tiny",
        "3 cells to run, 5 finished before",
        "[2/3] failed: b: Odd: [bold]no luck[/nothing] :warning:",
        "[3/3 done] llr on tiny: mean AUROC 98.8% of 2 cells at 0%, 1 failed",
    ]
    assert re.fullmatch("3 cells run in 0:00:00, 1 .*failed", last)


def test_a_detector_with_one_cell_on_a_dataset_has_the_line_of_the_cell(capsys):
    watch_a_sweep(["a"])
    assert capsys.readouterr().err.splitlines()[2] == "[1/1] a: AUROC 98.8%"


def test_a_log_has_signs_of_life_that_grow_rare(capsys, now):
    shown, cells = ProgressDisplay(), [Cell(str(n)) for n in range(2000)]
    shown.begin(cells, 0, 0)
    for n, cell in enumerate(cells[:-1]):
        shown.started(cell)
        now[0] += 2 if n < 1000 else 40
        shown.done(Result(cell))
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "[5/2000] 4: AUROC 98.8%"
    assert 50 < len(lines) < 150


def test_a_verbose_run_has_a_line_for_each_cell(capsys):
    watch_a_sweep(["a", "b", "c"], verbosity=1)
    lines = [line for line in capsys.readouterr().err.splitlines() if "] " in line]
    assert [line.partition(",")[0] for line in lines] == [
        *("[1/3] a: AUROC 98.8%", "[2/3] b: AUROC 98.8%", "[3/3] c: AUROC 98.8%"),
        "[3/3 done] llr on tiny: mean AUROC 98.8% of 3 cells at 0%",
    ]


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """A clock that the test sets."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_on_a_terminal_the_start_is_shown_at_once(terminal):
    written = terminal(100)
    with ProgressDisplay():
        pass
    assert "loading" in written()


def test_a_long_training_reports_its_progress_now_and_then(capsys, now):
    shown = ProgressDisplay()
    shown.started(Cell("a"))
    for step, seconds in ((50, 5.0), (100, 12.0), (200, 15.0), (400, 80.0)):
        now[0] = seconds
        shown.step(Cell("a"), step, 1000, {"loss_total": 412.345, "loss_rtd": 0.5})
    assert capsys.readouterr().err.splitlines() == [
        "    a: step 100/1,000, 0:02:06 left; total 412, rtd 0.5",
        "    a: step 400/1,000, 0:02:09 left; total 412, rtd 0.5",
    ]


def test_on_a_terminal_the_bar_shows_the_steps_of_a_training(terminal):
    written = terminal(120)
    with ProgressDisplay() as shown:
        shown.begin([Cell("date on tiny/sea")], 0, 0)
        shown.started(Cell("date on tiny/sea"))
        shown.step(Cell("date on tiny/sea"), 50, 5000, {"loss_rtd": 0.123456})
        shown.done(Result(Cell("date on tiny/sea")))
    assert "step 50/5,000; rtd 0.123; date on tiny/sea" in written()


def cells_of_date() -> list[Cell]:
    """The cells of date:paper on three splits at two levels."""
    return [
        Cell(f"{inlier} {level}", "date", preset="paper", split=SplitKey("tiny", inlier, level))
        for inlier in ("sea", "law", "art")
        for level in (0.0, 0.1)
    ]


def train(
    shown: ProgressDisplay, cell: Cell, now: list[float], seconds: float = 0.3, steps: int = 5000
) -> None:
    """Start the training of a cell, and tell its first hundred steps."""
    shown.started(cell)
    for step in (50, 100):
        now[0] += 50 * seconds
        shown.step(cell, step, steps, {"loss_total": 1.0})


def test_after_a_hundred_steps_the_bar_has_the_time_of_all_cells(terminal, now):
    written = terminal(120)
    with ProgressDisplay() as shown:
        shown.begin(cells_of_date()[:2], 0, 0)
        train(shown, cells_of_date()[0], now)
    # one cell takes 5,000 * 0.3 s = 25 minutes, of which half a minute is over
    assert "0:49:30 left" in written()


def test_a_sweep_of_more_than_half_an_hour_has_one_line_on_what_is_shorter(capsys, now, monkeypatch):
    monkeypatch.setattr("adbench_text.cli.remaining.visible_gpus", lambda: [])
    shown, cells = ProgressDisplay(), cells_of_date()
    shown.begin(cells, 0, 0)
    for cell in cells[:2]:
        train(shown, cell, now)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "Shorter" in line]
    assert "date on tiny needs 2:29:30" in line
    for shorter in (
        "date:fast (0:37:22)",
        "a GPU (0:04:29)",
        "--contamination 0 (1:14:45)",
        "--inlier sea (0:49:50)",
    ):
        assert shorter in line


@pytest.mark.parametrize(
    ("preset", "gpus", "seconds", "absent"),
    [("fast", [], 0.3, ":fast"), ("paper", ["0"], 0.3, "a GPU"), ("paper", [], 0.05, "Shorter")],
)
def test_nothing_is_advised_that_is_there_or_that_is_not_needed(
    preset, gpus, seconds, absent, capsys, now, monkeypatch
):
    monkeypatch.setattr("adbench_text.cli.remaining.visible_gpus", lambda: gpus)
    shown, cells = ProgressDisplay(), [replace(cell, preset=preset) for cell in cells_of_date()]
    shown.begin(cells, 0, 0)
    train(shown, cells[0], now, seconds)
    assert absent not in capsys.readouterr().err


def test_a_slow_detector_without_steps_has_the_time_after_its_first_cell(capsys, now):
    shown, cells = ProgressDisplay(), [Cell(str(n), split=SplitKey("tiny", str(n))) for n in range(7)]
    shown.begin(cells, 0, 0)
    shown.started(cells[0])
    now[0] += 600
    shown.done(Result(cells[0]))
    assert "llr on tiny needs 1:00:00. Shorter: --inlier 0 (0:08:34)" in capsys.readouterr().err


def test_cells_that_run_side_by_side_share_the_time(now):
    cells = [Cell(str(n)) for n in range(6)]
    remaining = Remaining(cells)
    for cell in cells[:2]:
        remaining.started(cell)
    now[0] += 60
    remaining.ended(cells[0])
    remaining.started(cells[2])
    assert remaining.by_group() == {("tiny", "llr"): (3 * 60 + 60) / 2}


@pytest.mark.parametrize(("step", "steps"), [(0, 3), (5, 3), (1, 2**63 - 1), (2**63 - 2, 2**63 - 1)])
def test_steps_of_any_size_are_shown(step, steps, capsys, now):
    shown, cell = ProgressDisplay(), Cell("a")
    shown.begin([cell], 0, 0)
    shown.started(cell)
    for at in (1, 20):
        now[0] = at
        shown.step(cell, step, steps, {"loss": 1.0})
    assert f"step {step:,}/{steps:,}" in capsys.readouterr().err


def test_when_nothing_is_run_nothing_is_printed_at_the_end(capsys):
    watch_a_sweep([])
    assert capsys.readouterr().err.splitlines() == ["loading tiny", "0 cells to run, 5 finished before"]


def test_on_a_narrow_terminal_the_name_of_the_cell_is_cut_in_the_bar(terminal):
    written = terminal(50)
    cell = Cell("a long name to fill a line of fifty characters twice over, and more")
    with ProgressDisplay() as shown:
        shown.begin([cell], 0, 0)
        shown.started(cell)
    text = written()
    assert "0/1 0:00:00  a long name" in text
    assert "twice over" not in text
    assert all(len(line) <= 50 for line in re.split(r"[\r\n]", text))


def test_on_a_terminal_a_detector_on_a_dataset_has_a_line_and_the_bar_stays(terminal):
    written = terminal(100)
    cells = [Cell("a", "llr"), Cell("b", "llr"), Cell("c", "llr", split=SplitKey("other", "sea"))]
    with ProgressDisplay() as shown:
        shown.begin(cells, 0, 0)
        for cell, value in zip(cells, (0.9, 0.6, 0.8), strict=True):
            shown.done(Result(cell, value=value))
        shown.end()
        shown.message("Next: ...")
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in written().splitlines()]
    assert [line for line in lines if "AUROC" in line] == [
        "[2/3 done] llr on tiny: mean AUROC 75.0% of 2 cells at 0%",
        "[3/3] c: AUROC 80.0%",
    ]
    assert [line.strip("━") for line in lines[-3:]] == [
        " 3/3 0:00:00",
        "3 cells run in 0:00:00",
        "Next: ...",
    ]


def lines_about(capsys, *cells: Cell) -> list[str]:
    with ProgressDisplay() as shown:
        shown.begin(cells, 0, 0)
        for cell in cells:
            shown.done(Result(cell, value=float(cell.text)))
    return capsys.readouterr().err.splitlines()[1:]


def test_a_mean_is_of_one_level(capsys):
    values = {0.0: ("0.9", "0.8"), 0.1: ("0.7", "0.5")}
    cells = [
        Cell(text, split=SplitKey("tiny", "sea", level)) for level, texts in values.items() for text in texts
    ]
    assert lines_about(capsys, *cells) == [
        "[4/4 done] llr on tiny: mean AUROC 85.0% of 2 cells at 0%; 60.0% of 2 cells at 10%"
    ]


def test_known_outliers_and_a_thinned_test_set_have_a_mean_of_their_own(capsys):
    keys = SPLIT, replace(SPLIT, known=10), replace(SPLIT, test_outliers=0.05)
    cells = [Cell(text, split=key) for text, key in zip(("0.9", "0.7", "0.5"), keys, strict=True)]
    assert lines_about(capsys, *cells) == [
        f"[3/3 done] llr on tiny: mean AUROC 90.0% of 1 cell at 0%; 70.0% of 1 cell at {keys[1].level}; "
        f"50.0% of 1 cell at {keys[2].level}"
    ]


def test_a_grid_has_no_mean_because_the_best_configuration_counts(capsys):
    cells = [Cell(text, n_configurations=2) for text in ("0.9", "0.5")]
    assert lines_about(capsys, *cells) == ["[2/2 done] llr on tiny: 2 cells"]


def test_on_a_terminal_names_and_reasons_are_shown_literally(terminal):
    written = terminal(100)
    watch_a_sweep(["d base=[red] x=[/oops] on tiny/[b]"], failed=("d base=[red] x=[/oops] on tiny/[b]",))
    text = written()
    assert "failed: d base=[red] x=[/oops] on tiny/[b]: Odd: [bold]no luck[/nothing] :warning:" in text


def test_the_bar_goes_when_the_sweep_is_interrupted(terminal):
    written = terminal(100)
    shown = ProgressDisplay()

    def sweep():
        with shown:
            shown.begin([Cell("a"), Cell("b")], 0, 0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep()
    assert not shown._bar.live.is_started
    assert "2 cells to run" in written()


def test_a_training_that_was_cut_short_is_printed(capsys):
    with ProgressDisplay() as shown:
        shown.begin([Cell("date on x")], 0, 0)
        shown.done(Result(Cell("date on x"), ran_on={"steps": "300 of 1,500, epochs=30"}))
    assert re.search(r"^    date on x: .* 300 of 1,500, epochs=30$", capsys.readouterr().err, re.MULTILINE)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_quiet_run_prints_results_and_errors_only(terminal, capsys, is_terminal):
    if is_terminal:
        terminal(100)
    with ProgressDisplay(verbosity=-1) as shown:
        shown.message("loading tiny")
        shown.message("failed: x: no luck", "error")
        shown.begin([Cell("a")], 0, 0)
        shown.step(Cell("a"), 50, 100, {"loss_rtd": 0.5})
        shown.done(Result(Cell("a"), ran_on={"steps": "1 of 2"}))
        shown.end()
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["failed: x: no luck", "[1/1] a: AUROC 98.8%"]


def test_a_verbose_run_prints_what_was_measured(capsys):
    with ProgressDisplay(verbosity=1) as shown:
        shown.begin([Cell("a")], 0, 0)
        shown.done(Result(Cell("a"), ran_on={"device": "cpu"}))
    assert capsys.readouterr().err.splitlines()[-1] == "    auroc 0.9876, fit_seconds 1.5, tied 0, device cpu"


@pytest.fixture
def lines_of(capsys, now):
    """Return a function that gives the lines about calls, each with its time."""

    def lines(*calls):
        now[0] = 0.0
        with shown_documents() as rows:
            for at, *call in calls:
                now[0] = at
                rows(*call)
        return capsys.readouterr().err.splitlines()

    return lines


def test_documents_have_a_line_every_ten_seconds(lines_of):
    calls = [(n / 1000, "scoring", 21 * n, 1_000_000) for n in range(19_048)]
    assert lines_of(*calls) == ["scoring: 210,000 of 1,000,000 documents"]


def test_work_of_less_than_ten_seconds_has_no_line(lines_of):
    assert lines_of((0, "reading", 0, None), (9.9, "reading", 120_000, None)) == []


def test_a_phase_that_counts_nothing_has_a_line_too(lines_of):
    calls = [(9, "reading", 12_001, None), (11, "learning", 0, None), (35, "scoring", 0, 3)]
    calls += [(39, "scoring", 1, 3), (45, "scoring", 3, 3)]
    assert lines_of(*calls) == ["learning", "scoring", "scoring: 3 of 3 documents"]


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_on_a_terminal_the_bar_of_documents_goes_with_the_work(terminal, error):
    written, shown = terminal(100), []

    def work():
        with shown_documents() as rows:
            rows("scoring", 500, 1000)
            while "scoring" not in "".join(shown):
                shown.append(written())
            if error:
                raise error

    with pytest.raises(error) if error else nullcontext():
        work()
    assert re.search("━+ +500/1000 0:00:0.* scoring", "".join(shown))


def test_what_is_printed_to_a_file_is_not_printed_above_the_bar(terminal, capsys):
    terminal(100)
    with shown_documents() as rows:
        rows("learning", 0, None)
        print("a result")
    captured = capsys.readouterr()
    assert captured.out == "a result\n"
    assert "a result" not in captured.err
