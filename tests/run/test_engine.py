import os
import pickle
import random
import signal
import sys
from contextlib import closing
from dataclasses import replace

import numpy as np
import psutil
import pytest
from interpreters import printed
from parameters import slow
from sweep_processes import wait_until

from adbench_text import provenance
from adbench_text.corpora import corpus
from adbench_text.corpora.split import draw
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.plugins.foreign import adapted
from adbench_text.processes import Limits, _Process
from adbench_text.run.definition import definition
from adbench_text.run.engine import Local, Work
from adbench_text.run.measure import measured
from adbench_text.run.progress import Progress
from adbench_text.run.running import run_cells
from adbench_text.run.sweep import Sweep

pytestmark = pytest.mark.usefixtures("toy_path")  # for the worker processes too

FEW = {"contamination": [0.1], "inliers": ["sea", "law"]}  # two cells of a detector


@pytest.fixture(scope="module")
def corpora(toy_path, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADBENCH_TEXT_CACHE", str(tmp_path_factory.mktemp("cache")))
        return {"tiny": corpus.load(registry.dataset("tiny"))}


class Begun(Progress):
    """Keeps the cells that begin, and calls a function with each."""

    def __init__(self, call=lambda cell: None):
        self.cells, self.call = [], call

    def started(self, cell):
        self.cells.append(cell)
        self.call(cell)


def measure(result, cell, corpus):
    return measured(result, cell, draw(corpus, cell.split), corpus)


def run(todo, corpora, jobs=0, progress=None, **options):
    keep = options.pop("keep", lambda result, cell: measure(result, cell, corpora["tiny"]))
    return run_cells(Local(jobs), Work(todo, corpora, progress=progress or Progress(), **options), keep)


def cells(*detectors: str | DetectorChoice, **options):
    choices = [DetectorChoice(d) if isinstance(d, str) else d for d in detectors]
    return Sweep(choices, ["tiny"], **{"contamination": [0, 0.1], **options}).expand()


def faulty(fault: str) -> DetectorChoice:
    return DetectorChoice("faulty", settings={"fault": fault})


def workers() -> list[psutil.Process]:
    """The worker processes: on Linux, they are children of the process that forks them."""
    children = psutil.Process().children(recursive=True)
    servers = {p.pid for p in children if "forkserver" in " ".join(p.cmdline()) and p.ppid() == os.getpid()}
    parents = servers if sys.platform == "linux" else {os.getpid()}
    return [p for p in children if p.ppid() in parents and p.pid not in servers]


def is_running(pid: int) -> bool:
    """Whether a process runs; a dead one may wait for somebody to read how it ended."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def plain(results) -> dict:
    """Results by their cell, without times and memory."""
    varying = {"fit_seconds", "score_seconds", "peak_memory_mb"}
    return {
        str(r.cell): ({k: v for k, v in r.metrics.items() if k not in varying}, r.reason, r.scores)
        for r in results
    }


def assert_equal(results, expected) -> None:
    results, expected = plain(results), expected if isinstance(expected, dict) else plain(expected)
    assert results.keys() == expected.keys()
    for cell, (metrics, reason, scores) in expected.items():
        assert results[cell][:2] == (metrics, reason)
        np.testing.assert_array_equal(results[cell][2], scores)


@pytest.mark.parametrize("jobs", [*slow(1), 2])
def test_a_detector_that_changes_all_it_gets_hold_of_changes_no_other(corpora, jobs):
    texts = list(corpora["tiny"].test.texts)
    others = "llr", DetectorChoice("iforest", settings={"encoder": "svd"})
    alone = list(run(cells(*others, **FEW), corpora))
    results = list(run(cells("vandal", *others, **FEW), corpora, jobs))
    assert [r.reason for r in results if r.cell.detector == "vandal"] == [""] * 2
    assert_equal([r for r in results if r.cell.detector != "vandal"], alone)
    assert corpora["tiny"].test.texts == texts


@pytest.fixture(scope="module")
def alone(corpora) -> dict:
    """The results of two detectors without any other."""
    return plain(run(cells("counting", "llr", **FEW), corpora, 1))


@pytest.mark.parametrize(("jobs", "when"), [(2, "fit"), *slow((1, "fit"), (2, "identified"))])
def test_a_detector_that_replaces_functions_of_libraries_falsifies_no_figure(
    corpora, alone, jobs, when, tmp_path
):
    """In a process of its own, as a command is one: its parent is patched, too."""
    script = PATCHED.format(jobs=jobs, when=when, file=str(tmp_path / "results"))
    printed(script, PYTHONPATH=os.pathsep.join(sys.path))
    results = pickle.loads((tmp_path / "results").read_bytes())
    assert_equal([r for r in results if r.cell.detector != "patching"], alone)
    own = [r.metrics["auroc"] for r in results if r.cell.detector == "patching"]
    assert len(own) == 2
    assert max(own) < 1


PATCHED = """
import pickle
from dataclasses import replace
from pathlib import Path
from adbench_text.corpora import corpus
from adbench_text.corpora.split import draw
from adbench_text.plugins import registry
from adbench_text.run.engine import Local, Work
from adbench_text.run.measure import measured
from adbench_text.run.running import run_cells
from adbench_text.run.definition import definition
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.run.sweep import Sweep

corpora = {{"tiny": corpus.load(registry.dataset("tiny"))}}
patching = DetectorChoice("patching", settings={{"when": "{when}"}})
choices = [patching, DetectorChoice("counting"), DetectorChoice("llr")]
todo = Sweep(choices, ["tiny"], ["sea", "law"], contamination=[0.1]).expand()
for cell in todo:
    definition(cell, corpora["tiny"])
if __name__ == "__main__":
    measure = lambda result, cell: measured(
        result, cell, draw(corpora["tiny"], cell.split), corpora["tiny"]
    )
    results = run_cells(Local({jobs}), Work(todo, corpora), measure)
    Path("{file}").write_bytes(pickle.dumps(list(results)))
"""


@pytest.mark.parametrize(("jobs", "left"), [(1, "answers"), (2, "waits"), (1, "dies"), (2, "dies")])
def test_a_detector_that_forks_costs_no_other_its_cells(corpora, alone, jobs, left, monkeypatch, tmp_path):
    monkeypatch.setenv("TOY_FORK", left)
    monkeypatch.setenv("TOY_FORK_FILE", str(tmp_path / "children"))
    results = list(run(cells("forking", "counting", "llr", **FEW), corpora, jobs))
    assert len(results) == len({str(r.cell) for r in results}) == 6
    assert_equal([r for r in results if r.cell.detector != "forking"], alone)
    own = [(r.status, r.reason) for r in results if r.cell.detector == "forking"]
    ((status, reason),) = {*own}
    assert status == ("killed" if left == "dies" else "ok")
    assert "(exit code 7)" in reason if left == "dies" else reason == ""
    children = [int(line) for line in (tmp_path / "children").read_text().split()]
    assert len(children) == 2
    wait_until(lambda: not any(is_running(pid) for pid in children))


def test_a_worker_that_ends_before_its_first_cell_ends_the_sweep_with_a_line(corpora, monkeypatch):
    started = _Process.__init__

    def killed(self, *arguments):
        started(self, *arguments)
        os.kill(self._process.pid, signal.SIGKILL)

    monkeypatch.setattr(_Process, "__init__", killed)
    with pytest.raises(AdbenchTextError, match=r"worker process .*start: .* \(signal 9\)"):
        list(run(cells("llr"), corpora, 1))
    assert workers() == []


def test_a_detector_that_draws_from_the_global_generators_is_repeatable(corpora, monkeypatch):
    class Drawing:
        def fit(self, texts):
            self.scores = {text: random.random() for text in sorted(texts)}

        def decision_function(self, texts):
            return np.random.random(len(texts))  # noqa: NPY002

    monkeypatch.setattr("adbench_text.run.evaluate.build_detector", lambda cell: adapted(Drawing)())
    todo = cells("counting")
    assert_equal(run(todo[1:], corpora), list(run(todo, corpora))[1:])


def test_one_process_runs_the_cells_in_order_and_notifies_of_each(corpora):
    todo, begun = cells("counting", "llr"), Begun()
    results = run(todo, corpora, progress=begun)
    assert next(results).cell == todo[0]
    assert begun.cells == todo[:1]  # nothing is run ahead
    assert [result.cell for result in results] == todo[1:]
    assert begun.cells == todo


def test_several_processes_give_exactly_the_same_results(corpora):
    choices = "counting", "llr", DetectorChoice("ocsvm", settings={"encoder": "svd"})
    todo = cells(*choices, contamination=[0.1], seeds=[0, 1])
    begun = Begun()
    with closing(run(todo, corpora, 2, begun)) as results:
        assert_equal(results, run(todo, corpora))
    assert sorted(map(str, begun.cells)) == sorted(map(str, todo))


@pytest.mark.parametrize("jobs", [0, 2])
def test_what_a_detector_does_wrong_costs_its_own_cells_alone(jobs, corpora, toy_path):
    lines = (toy_path / "toy_plugins.py").read_text().splitlines()

    def line(text):
        return next(number for number, line in enumerate(lines, 1) if text in line)

    faults = {
        "raises": f"RuntimeError: no luck at all (toy_plugins.py:{line('no luck')})",
        "exits": f"SystemExit: 5 (toy_plugins.py:{line('sys.exit(5)')})",
        "nan": "DetectorError: 1 of 30 scores are NaN.",
    }
    todo = cells("counting", *map(faulty, faults), contamination=[0])
    results = list(run(todo, corpora, jobs))
    for result in results:
        reason = faults.get(result.cell.settings.get("fault"), "")
        assert result.reason == reason
        assert result.status == ("failed" if reason else "ok")
        assert (result.scores is None) == bool(reason)
        assert ("auroc" in result.metrics) == (not reason)
    assert len(results) == 3 * 4


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Cells wait in their training until there are two, and a moment longer."""

    folder = tmp_path / "gate"
    folder.mkdir()
    monkeypatch.setenv("TOY_GATE", str(folder))
    monkeypatch.setenv("TOY_SECONDS", "0.2")
    return folder


def test_a_process_that_dies_costs_its_cell_alone(corpora):
    todo = cells("llr", faulty("leaves"), contamination=[0], inliers=["sea", "law"])
    begun = Begun()
    results = list(run(todo, corpora, 2, begun))
    assert sorted(map(str, begun.cells)) == sorted(map(str, todo))
    killed = {result.cell.detector: result.reason for result in results if result.status == "killed"}
    assert [*killed] == ["faulty"]
    assert "(exit code 0)" in killed["faulty"]
    assert sum(result.status == "ok" for result in results) == 2


def test_a_cell_over_its_memory_is_stopped_and_named(corpora):
    todo = cells(faulty("eats"), "counting", contamination=[0], inliers=["sea"])
    eating, good = run(todo, corpora, 1, limits=Limits(megabytes=1000))
    assert (eating.status, good.status) == ("out of memory", "ok")
    assert "1000 MB (--cell-memory)" in eating.reason


def test_a_result_is_kept_before_its_process_begins_with_another_cell(corpora):
    events = []
    progress = Begun(lambda cell: events.append(("begun", cell)))
    todo = cells("knn-words", contamination=[0])

    def keep(result, cell):
        events.append(("kept", result.cell))
        return result

    for result in run(todo, corpora, 1, progress, keep=keep):
        events.append(("yielded", result.cell))
    first, second, third = todo
    assert events == [
        ("begun", first),
        ("kept", first),
        ("begun", second),  # while the first is being logged
        ("yielded", first),
        ("kept", second),
        ("begun", third),
        ("yielded", second),
        ("kept", third),
        ("yielded", third),
    ]


@pytest.mark.parametrize("jobs", [0, 1, 2])
def test_nothing_to_run_is_no_error(corpora, jobs):
    assert list(run([], corpora, jobs)) == []


@pytest.mark.filterwarnings("error")
def test_a_sweep_that_is_left_ends_its_workers_and_prints_nothing(corpora, capfd):
    slow = cells(*(DetectorChoice("knn-words", settings={"k": k}) for k in range(1, 20)))
    results = run(slow, corpora, 2)
    next(results)
    started = workers()
    assert 1 <= len(started) <= 2
    results.close()
    _, alive = psutil.wait_procs(started, timeout=10)
    assert alive == []
    assert capfd.readouterr().err == ""


def test_cells_on_a_gpu_take_turns_and_the_others_do_not_wait(corpora, gate, monkeypatch):
    monkeypatch.setattr(provenance, "visible_gpus", lambda: ["7"])
    todo = cells("on-gpu", "counting", contamination=[0])
    definitions = {cell: definition(cell, corpora["tiny"]) for cell in todo}
    running, at_once = set(), []

    def started(cell):
        running.add(cell)
        at_once.append(sorted(cell.detector for cell in running))

    def keep(result, cell):
        running.discard(result.cell)
        return result

    work = Work(todo, corpora, definitions, Begun(started))
    assert [result.status for result in run_cells(Local(2), work, keep)] == ["ok"] * 6
    assert ["on-gpu", "on-gpu"] not in at_once
    assert ["counting", "on-gpu"] in at_once
    at_once.clear()
    for file in gate.iterdir():
        file.unlink()
    work = replace(work, cells=sorted(todo, key=work.may_use_gpu, reverse=True))
    assert [result.status for result in run_cells(Local(2, gpu_jobs=2), work, keep)] == ["ok"] * 6
    assert ["on-gpu", "on-gpu"] in at_once


@pytest.mark.usefixtures("gate")
def test_each_worker_sees_one_gpu(corpora, monkeypatch):
    monkeypatch.setattr(provenance, "visible_gpus", lambda: ["3", "5"])
    todo = cells("on-gpu", contamination=[0])
    work = Work(todo, corpora, {cell: definition(cell, corpora["tiny"]) for cell in todo})
    assert {result.ran_on["gpu"] for result in run_cells(Local(2), work)} == {"3", "5"}


def test_processes_share_the_cores_and_one_alone_has_all(corpora, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("adbench_text.processes.cpu_count", lambda: 6)
    todo = cells("on-gpu", contamination=[0])
    assert {result.ran_on["threads"] for result in run(todo, corpora, 2)} == {"3"}
    assert {result.ran_on["threads"] for result in run(todo, corpora, 8)} == {"2"}  # three cells
    assert {result.ran_on["threads"] for result in run(todo, corpora, 1)} == {""}
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert {result.ran_on["threads"] for result in run(todo, corpora, 2)} == {"5"}


def test_limits_need_a_process_that_can_be_ended():
    Local(1).check(Limits(seconds=1, megabytes=1))
    with pytest.raises(InvalidValueError, match=r"--cell-timeout .*--cell-memory .*--jobs 1"):
        Local(0).check(Limits(seconds=1))
