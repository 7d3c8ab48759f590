import random
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest
from joblib.externals.loky import get_reusable_executor

from adbench_text.corpora import corpus
from adbench_text.errors import AdbenchTextError
from adbench_text.plugins import registry
from adbench_text.plugins.foreign import adapted
from adbench_text.run import engine
from adbench_text.sweep.sweep import DetectorChoice, Sweep


@pytest.fixture(scope="module", autouse=True)
def _toy():
    """The plug-ins of tests/toy are installed, for the worker processes too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[1] / "toy")
        registry.plugins.cache_clear()
        yield
    registry.plugins.cache_clear()
    get_reusable_executor().shutdown(kill_workers=True)  # it knows the plug-ins


@pytest.fixture(scope="module")
def corpora():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adbench_text.corpora.corpus._read_cache", lambda path: None)
        patch.setattr("adbench_text.corpora.corpus._write_cache", lambda path, parts: None)
        return {"tiny": corpus.load(registry.dataset("tiny"))}


def cells(*detectors: str | DetectorChoice, **options):
    choices = [DetectorChoice(d) if isinstance(d, str) else d for d in detectors]
    return Sweep(choices, ["tiny"], **{"contamination": [0, 0.1], **options}).expand()


def faulty(fault: str) -> DetectorChoice:
    return DetectorChoice("faulty", settings={"fault": fault})


def plain(results) -> dict:
    """Results by their cell, without times and memory."""
    varying = {"fit_seconds", "score_seconds", "peak_memory_mb"}
    return {
        str(r.cell): ({k: v for k, v in r.metrics.items() if k not in varying}, r.reason, r.scores)
        for r in results
    }


def assert_equal(results, expected) -> None:
    results, expected = plain(results), plain(expected)
    assert results.keys() == expected.keys()
    for cell, (metrics, reason, scores) in expected.items():
        assert results[cell][:2] == (metrics, reason)
        np.testing.assert_array_equal(results[cell][2], scores)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_detector_that_changes_all_it_gets_hold_of_changes_no_other(corpora, jobs):
    texts = list(corpora["tiny"].test.texts)
    others = "counting", "llr", DetectorChoice("iforest", settings={"encoder": "svd"})
    alone = list(engine.run(cells(*others), corpora))
    results = list(engine.run(cells("vandal", *others), corpora, jobs))
    assert [r.reason for r in results if r.cell.detector == "vandal"] == [""] * 6
    assert_equal([r for r in results if r.cell.detector != "vandal"], alone)
    assert corpora["tiny"].test.texts == texts


def test_a_detector_that_draws_from_the_global_generators_is_repeatable(corpora, monkeypatch):
    class Drawing:
        def fit(self, texts):
            self.scores = {text: random.random() for text in sorted(texts)}

        def decision_function(self, texts):
            return np.random.random(len(texts))  # noqa: NPY002

    monkeypatch.setattr("adbench_text.run.evaluate.build_detector", lambda cell: adapted(Drawing)())
    todo = cells("counting")
    assert_equal(engine.run(todo[1:], corpora), list(engine.run(todo, corpora))[1:])


def test_one_process_runs_the_cells_in_order_and_notifies_of_each(corpora):
    todo, begun = cells("counting", "llr"), []
    results = engine.run(todo, corpora, on_start=begun.append)
    assert next(results).cell == todo[0]
    assert begun == todo[:1]  # nothing is run ahead
    assert [result.cell for result in results] == todo[1:]
    assert begun == todo


def test_several_processes_give_exactly_the_same_results(corpora):
    todo = cells("counting", "llr", DetectorChoice("ocsvm", settings={"encoder": "svd"}), seeds=[0, 1])
    begun = []
    with closing(engine.run(todo, corpora, jobs=2, on_start=begun.append)) as results:
        assert_equal(results, engine.run(todo, corpora))
    assert len(begun) == len({cell.split for cell in todo})


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_detector_does_wrong_costs_its_own_cells_alone(jobs, corpora):
    faults = {
        "raises": "RuntimeError: no luck at all (toy_plugins.py:87)",
        "exits": "SystemExit: 5 (toy_plugins.py:89)",
        "nan": "DetectorError: 1 of 30 scores are NaN.",
        "inf": "DetectorError: 1 of 30 scores are infinite.",
        "constant": "DetectorError: all 30 scores are 1.",
        "short": "DetectorError: expected scores of shape (30,), got (29,).",
        "table": "DetectorError: expected scores of shape (30,), got (30, 1).",
        "text": "DetectorError: scores must be numbers, got list: could not convert string to float: 'high'",
    }
    todo = cells("counting", *map(faulty, faults), contamination=[0])
    results = list(engine.run(todo, corpora, jobs))
    for result in results:
        reason = faults.get(result.cell.settings.get("fault"), "")
        assert result.reason == reason
        assert result.status == ("failed" if reason else "ok")
        assert (result.scores is None) == bool(reason)
        assert ("auroc" in result.metrics) == (not reason)
    assert len(results) == 3 * 9


def test_a_worker_that_dies_is_one_clear_line(corpora):
    with pytest.raises(AdbenchTextError) as caught:
        list(engine.run(cells("counting", faulty("dies"), contamination=[0]), corpora, 2))
    assert str(caught.value) == (
        "A worker process died, perhaps for lack of memory. Finished cells are kept: "
        "run the same command again with fewer --jobs."
    )
    assert caught.value.exit_code == 1


def test_after_a_worker_has_died_others_work(corpora):
    todo = cells("counting", contamination=[0])
    assert_equal(engine.run(todo, corpora, 2), engine.run(todo, corpora))


@pytest.mark.filterwarnings("error")
def test_a_sweep_that_is_left_ends_its_workers_and_prints_nothing(corpora, capfd):
    slow = cells(*(DetectorChoice("counting", settings={"weight": w}) for w in range(20)))
    results = engine.run(slow, corpora, 2)
    next(results)
    workers = [p for p in psutil.Process().children() if "popen_loky" in " ".join(p.cmdline())]
    assert len(workers) == 2
    results.close()
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert alive == []
    assert capfd.readouterr().err == ""
