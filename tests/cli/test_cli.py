import errno
import hashlib
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from click.testing import Result
from commands import adbench, assert_refused, cells, dry_run
from parameters import slow
from sweep_processes import free_port, wait_until

from adbench_text.cli.list import names_of
from adbench_text.corpora.split_key import SplitKey
from adbench_text.escaping import count
from adbench_text.run.sweep_file import find, read
from adbench_text.store.cells import COLUMNS
from adbench_text.store.store import Store
from adbench_text.text import vectors, wordpiece

pytestmark = pytest.mark.usefixtures("toy_path")


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Path:
    """A folder that all tests use: the cache of corpora takes seconds to make."""
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(autouse=True)
def here(shared, tmp_path, monkeypatch) -> Path:
    """An empty folder to run in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(shared / "data"))
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", str(shared / "cache"))
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", "")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return tmp_path


def run(*words: str) -> Result:
    """Run cells in this process, where tests can change things, unless the words give --jobs."""
    here = [] if any("--jobs" in word for word in words) else ["--jobs 0"]
    return adbench("run -s tiny --contamination 0", *here, *words)


def runs(kind: str) -> list[tuple[str, ...]]:
    """Return status and stage of the runs of a kind, from the database."""
    with closing(sqlite3.connect("mlflow.db")) as database:
        return database.execute(
            "SELECT status, lifecycle_stage FROM runs JOIN tags USING (run_uuid) "
            "WHERE key = 'adbench_text.kind' AND value = ? ORDER BY start_time",
            [kind],
        ).fetchall()


# A story for each command


def test_run_and_report_on_real_text(store, quick_pydocs):
    command = "run --detector llr --detector ocsvm --encoder svd --dataset pydocs --limit 20 --inlier numpy"
    first = adbench(command, "--contamination 0 --contamination 0.05 --jobs 0 -v")
    assert first.exit_code == 0
    assert first.stdout == ""
    lines = first.stderr.splitlines()
    assert lines[0] == "loading pydocs"
    assert lines[1].startswith("pydocs: matplotlib ")
    assert "at most 20 documents" in lines[1]
    assert "140 training / 140 test" in lines[1]
    assert lines[2] == "4 cells to run"
    of_cells = [line for line in lines if line.startswith("[")]
    assert of_cells[0].startswith("[1/4] llr on pydocs/numpy at 0%, seed 0: AUROC ")
    assert of_cells[-2].startswith("[4/4] ocsvm(encoder=svd) on pydocs/numpy at 5%, seed 0: AUROC ")
    assert of_cells[-1].startswith("[4/4 done] ocsvm(encoder=svd) on pydocs: mean AUROC ")
    assert lines[-2].startswith("4 cells run in ")
    assert re.findall(r"adbench-text (\w+)", lines[-1]) == ["report", "ui"]

    table = adbench("report")
    assert (table.exit_code, table.stderr) == (0, "")
    for text in ("llr", "encoder=svd", "numpy", "5%", "(1 of 7)", "edition matplotlib"):
        assert text in table.stdout

    records = cells()
    assert [record["name"] for record in records] == ["llr", "ocsvm(encoder=svd)"] * 2
    assert {record["status"] for record in records} == {"ok"}


@pytest.mark.slow
def test_a_training_is_logged_step_by_step_(store):
    sizes = "--set vocabulary=trained --set steps=120 --set epochs=99 --set layers=1 --set hidden=16"
    more = "--set max_length=16 --set n_patterns=3 --inlier sea --contamination 0 --device cpu"
    assert adbench(f"run -s tiny -d date {sizes} {more}").exit_code == 0
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{store}")
    experiment = client.get_experiment_by_name("adbench-text/tiny")
    (run,) = client.search_runs([experiment.experiment_id], "tags.`adbench_text.kind` = 'cell'")
    history = client.get_metric_history(run.info.run_id, "training/loss_rtd")
    assert [point.step for point in history] == [50, 100, 120]
    assert run.data.tags["env.device"].startswith("cpu")
    (record,) = cells()
    assert "loss_rtd" not in record


def test_the_vocabulary_is_fetched_by_its_name(here, monkeypatch, tmp_path):
    path = tmp_path / "data" / "vocab" / "bert-base-uncased-vocab.txt"
    path.parent.mkdir(parents=True)
    path.write_text("[PAD]\n")
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(tmp_path / "data"))
    digest = hashlib.md5(path.read_bytes()).hexdigest()
    refused = adbench("fetch bert-base-uncased-vocab")
    assert_refused(refused, 1, f"Error: {path} ", digest, wordpiece.BERT_FILE.md5)
    monkeypatch.setattr(wordpiece, "BERT_FILE", replace(wordpiece.BERT_FILE, md5=digest))
    result = adbench("fetch bert-base-uncased-vocab")
    assert (result.exit_code, result.stdout) == (0, f"bert-base-uncased-vocab: {path}\n")


def test_report_in_all_formats(store, here):
    run("-d counting -d faulty --inlier sea --inlier law --seed 0 --seed 1")
    terminal, markdown, per_cell = (
        adbench("report", *words) for words in ([], ["--format markdown"], ["--format csv"])
    )
    for result in (terminal, markdown, per_cell):
        assert result.exit_code == 0
        assert "failed" in result.stdout
    assert terminal.stderr == markdown.stderr == ""
    assert "edition published" in per_cell.stderr  # the notes, which are no CSV
    assert "│ tiny    │ sea    │" in terminal.stdout
    assert "| dataset | inlier | counting | faulty |\n| --- | --- | ---: | ---: |\n" in markdown.stdout
    header, *_ = per_cell.stdout.splitlines()
    assert header.split(",") == [name for name in COLUMNS if name in header.split(",")]
    assert header.startswith("name,detector,preset,configuration,dataset,inlier,contamination,seed,")
    assert len(per_cell.stdout.splitlines()) == 9

    written = adbench("report --format markdown --output report.md")
    assert (written.stdout, written.exit_code) == ("", 0)
    assert written.stderr == "Wrote report.md: markdown, 8 results\n"
    assert (here / "report.md").read_text() == markdown.stdout
    assert adbench("report --quiet --format csv --output report.csv").output == ""


def test_report_of_some_datasets_and_detectors_and_another_metric(store):
    run("-d counting -d llr --inlier sea")
    table = adbench("report --dataset tiny --detector llr --metric aupr_in --format markdown").stdout
    assert "**AUPR-in (%), 0% " in table
    assert "| dataset | inlier | llr |" in table
    (record,) = cells("--detector l* --dataset all")
    assert f"| tiny | sea | {float(record['aupr_in']):.1%} |".replace("%", "") in table


def test_a_baseline_is_compared_with_all_other_detectors(store):
    run("-d counting -d llr -d knn-words --inlier sea,law")
    report = adbench("report -q --format markdown --baseline llr")
    assert report.exit_code == 0, report.stderr
    assert "paired differences from llr over 2 splits" in report.stdout
    pairs = [line.split(" | ")[:2] for line in report.stdout.splitlines() if " of 2 | " in line]
    assert len(pairs) == 2
    assert all("llr" in " ".join(pair) for pair in pairs)
    assert_refused(adbench("report --baseline lrl"), 2, "'lrl'", "'llr'")
    alone = adbench("report --baseline llr --detector llr")
    assert "No table 'significance'" in alone.stdout
    for words in ("--table main", "--format csv"):
        assert_refused(adbench(f"report --baseline llr {words}"), 2, "--baseline", " significance")


@pytest.mark.parametrize(
    ("kind", "name", "summary"),
    [
        ("detectors", "counting", "The share of words that were not seen in training"),
        ("encoders", "svd", "TF-IDF of "),
        ("sweeps", "main", "The main comparison: Table 1 of "),
        ("tables", "ranks", "Mean ranks "),
        ("formats", "csv", "One row per cell"),
        ("vectors", "fasttext-wiki-news-subwords-300", "999,999 words (958 MB)"),
        ("datasets", "tiny", ""),
    ],
)
def test_a_list_has_names_and_summaries(here, kind, name, summary):
    listed = adbench(f"list {kind}")
    rows = dict(re.split(" {2,}", line, maxsplit=1) for line in listed.stdout.splitlines() if "  " in line)
    assert rows.get(name, "").startswith(summary)
    assert name in listed.stdout.split()
    assert (listed.stderr, list(here.iterdir())) == ("", [])


def test_list_alone_lists_the_names_of_all_kinds(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    listed = adbench("list")
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert max(map(len, listed.stdout.splitlines())) <= 80
    titles = [line.split()[0] for line in listed.stdout.splitlines() if not line.startswith(" ")]
    words = set(re.split(r"[\s,]+", listed.stdout))
    assert len(titles) == 7
    assert {name for kind in titles for name in names_of(kind)} <= words


def test_fetch(monkeypatch):
    monkeypatch.setattr(vectors, "fetch", lambda name: Path("/data") / name)
    result = adbench("fetch tiny glove-wiki-gigaword-50")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "tiny: published; 60 training / 30 test documents (sea 20/10, law 20/10, sky 20/10)",
        "glove-wiki-gigaword-50: /data/glove-wiki-gigaword-50",
    ]


def test_ui_prints_its_address_and_starts_the_server(store, silent_port, monkeypatch):
    commands = []
    popen = subprocess.Popen

    def start(command):
        commands.append(command)
        return popen([sys.executable, "-c", ""])

    monkeypatch.setattr(subprocess, "Popen", start)
    result = adbench(f"ui --port {silent_port}")
    assert result.exit_code == 0
    assert "Ctrl-C" in result.stdout
    assert f": http://127.0.0.1:{silent_port}/#/experiments\n" in result.stdout
    server = ["mlflow", "server", "--backend-store-uri", "sqlite:///mlflow.db", "--workers", "1"]
    assert commands == [[sys.executable, "-m", *server, "--host", "127.0.0.1", "--port", str(silent_port)]]


def test_ui_names_a_port_that_is_used(store):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = adbench(f"ui --port {port}")
    assert_refused(result, 1, f" {port} is used ", "--port")
    assert result.stderr.count("\n") == 1


def test_ui_reports_a_server_that_does_not_start(store, silent_port, monkeypatch):
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _: popen([sys.executable, "-c", "raise SystemExit(3)"]))
    result = adbench(f"ui --port {silent_port}")
    assert result.exit_code == 1
    assert "exit code 3" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_the_server_ends_with_ui(store):
    port = free_port()
    command = [sys.executable, "-m", "adbench_text.cli", "ui", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as ui:
        try:
            for line in ui.stdout:
                if "Uvicorn running" in line or "startup complete" in line:
                    break
            servers = psutil.Process(ui.pid).children(recursive=True)
            assert servers
        finally:  # otherwise the block would wait for it for ever
            ui.terminate()
        ui.stdout.read()
    assert ui.returncode == 128 + signal.SIGTERM
    psutil.wait_procs(servers, timeout=20)
    assert not any(server.is_running() for server in servers)


def test_ui_of_a_server_is_its_own(server, monkeypatch):
    monkeypatch.setattr(Store, "comparisons", lambda self: {"team/20news": "#/experiments/7/runs?a=b"})
    result = adbench(f"ui --tracking-uri {server.url}/base/")
    assert result.exit_code == 0
    assert f"team/20news: {server.url}/base/#/experiments/7/runs?a=b\n" in result.stdout
    assert f": {server.url}/base/#/experiments\n" in result.stdout


def test_ui_prints_one_address_per_dataset_that_opens_on_its_comparison(store, silent_port, monkeypatch):
    assert run("-d counting --inlier sea").exit_code == 0
    assert run("-d counting --inlier law --experiment team/x").exit_code == 0
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _: popen([sys.executable, "-c", ""]))
    result = adbench(f"ui --port {silent_port}")
    assert result.exit_code == 0
    addresses = dict(line.split(": http", 1) for line in result.stdout.splitlines() if ": http" in line)
    assert list(addresses) == ["adbench-text/tiny", "team/x/tiny", "all experiments"]
    assert len(set(addresses.values())) == 3
    for address in list(addresses.values())[:2]:
        assert re.match(
            rf"://127.0.0.1:{silent_port}/#/experiments/\d+/runs\?workflowType=machine_learning&", address
        )


def test_ui_of_a_store_without_results_says_what_to_do(store, silent_port, monkeypatch):
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _: popen([sys.executable, "-c", ""]))
    result = adbench(f"ui --port {silent_port}")
    assert result.exit_code == 0
    assert "adbench-text run" in result.stdout
    (store.parent / "mlflow.db").unlink()
    assert_refused(adbench("ui"), 1, "sqlite:///mlflow.db", "adbench-text run")


def test_a_dry_run_prints_the_cells_and_does_nothing(here):
    result = adbench("run -s tiny -d counting -d llr --seed 0 --seed 1 --inlier sky --dry-run")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:3] == [
        "counting on tiny/sky at 0%, seed 0",
        "llr on tiny/sky at 0%, seed 0",
        "counting on tiny/sky at 0%, seed 1",
    ]
    assert len(result.stdout.splitlines()) == 16
    assert result.stderr == "16 cells\n"
    assert list(here.iterdir()) == []


SWEEP = """
dataset = "tiny"
detector = ["llr", "counting:heavy(weight=5)", "llr(smoothing=2)"]
inlier = "sea"
contamination = 0.1
seed = [3]
"""


@pytest.mark.parametrize(
    ("options", "cells", "outside"),
    [
        (
            "",
            [
                "llr on tiny/sea at 10%, seed 3",
                "counting:heavy(weight=5) on tiny/sea at 10%, seed 3",
                "llr(smoothing=2) on tiny/sea at 10%, seed 3",
            ],
            [],
        ),
        (
            "-d llr -d iforest --inlier law --contamination 0.075 --seed 1 --set smoothing=7",
            [
                "llr(smoothing=7) on tiny/law at 7.5%, seed 1",
                "iforest on tiny/law at 7.5%, seed 1",
            ],
            ["iforest"],
        ),
        ("-d c* --seed 0", ["counting:heavy(weight=5) on tiny/sea at 10%, seed 0"], []),
        ("-d llr:robust", ["llr:robust on tiny/sea at 10%, seed 3"], ["llr"]),
        ("-d counting:default", ["counting on tiny/sea at 10%, seed 3"], ["counting"]),
        ("-d counting:heavy", ["counting:heavy(weight=5) on tiny/sea at 10%, seed 3"], []),
        ("-d llr(smoothing=2)", ["llr(smoothing=2) on tiny/sea at 10%, seed 3"], []),
        ("-d llr(smoothing=7)", ["llr(smoothing=7) on tiny/sea at 10%, seed 3"], ["llr"]),
        ("-d counting --preset grid", ["counting:grid(weight=5) on tiny/sea at 10%, seed 3"], []),
    ],
)
def test_options_go_before_a_sweep_file_and_choose_from_its_detectors(here, options, cells, outside):
    (here / "sweep.toml").write_text(SWEEP)
    result = adbench("run --dry-run --sweep sweep.toml", options)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == cells
    *notes, last = result.stderr.splitlines()
    assert [note.partition(" is not ")[0] for note in notes] == outside  # of the sweep
    assert all("sweep" in note for note in notes)
    assert last == count(len(cells))


@pytest.mark.parametrize(
    ("options", "quoted"),
    [
        ("-d counting:heavy --preset default", ["--preset", " NAME:PRESET"]),
        ("-d pyod-*", ["'pyod-*'", "counting, llr."]),
    ],
)
def test_options_that_choose_nothing_from_a_sweep_file_are_refused(here, options, quoted):
    (here / "sweep.toml").write_text(SWEEP)
    assert_refused(adbench("run --dry-run --sweep sweep.toml", options), 2, *quoted)


def test_a_preset_names_the_detector_of_a_sweep_that_has_no_settings(here):
    (here / "sweep.toml").write_text(SWEEP.replace('"llr"', '"llr:robust", "llr:robust(cap=3)"'))
    result = adbench("run --dry-run --sweep sweep.toml -d llr:robust")
    assert result.stdout.splitlines() == ["llr:robust on tiny/sea at 10%, seed 3"]


@pytest.mark.parametrize(("preset", "is_in_sweep"), [("robust", True), ("default", False)])
def test_a_detector_of_a_sweep_without_a_preset_has_its_default_preset(here, preset, is_in_sweep):
    (here / "sweep.toml").write_text(SWEEP.replace('"llr"', '"ensemble"'))
    result = adbench(f"run --dry-run --sweep sweep.toml -d ensemble:{preset}")
    assert len(result.stdout.splitlines()) == 1
    assert ("ensemble is not in the sweep" not in result.stderr) == is_in_sweep


@pytest.mark.parametrize(
    ("options", "cells"),
    [
        ("-d llr,llr:robust,iforest", ["llr", "llr:robust", "iforest"]),
        (
            "-d pyod-knn --encoder svd --set normalize=False --set n_neighbors=3 --set metric=l1",
            ["pyod-knn(encoder=svd, metric=l1, n_neighbors=3, normalize=false)"],
        ),
        ("-d counting -d counting --inlier sea --seed 0 --contamination 0", ["counting"]),
        ("-d counting --preset grid --set weight=3", ["counting:grid(weight=3)"]),
    ],
)
def test_presets_and_settings_make_cells_each_once(options, cells):
    shown = dry_run("-s tiny --inlier sea --contamination 0 --seed 0", options)
    assert shown == [f"{cell} on tiny/sea at 0%, seed 0" for cell in cells]


def test_options_may_be_environment_variables(store, monkeypatch):
    monkeypatch.setenv("ADBENCH_TEXT_RUN_EXPERIMENT", "mine")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
    run("-d counting --inlier sea")
    assert len(cells("--experiment mine")) == 1
    assert adbench("report").exit_code == 1  # nothing under the usual name


def test_help_and_version():
    assert "Find out which detector finds the odd documents" in adbench("-h").stdout
    assert adbench("--version").stdout.startswith("adbench-text, version ")


# What is run again


def test_a_finished_cell_is_run_again_only_if_asked(store):
    assert "3 cells to run" in run("-d counting").stderr
    assert "\n0 cells to run, 3 finished before\n" in run("-d counting").stderr
    assert "3 cells to run\n" in run("-d counting --rerun").stderr
    assert len(cells()) == 3
    assert len(runs("cell")) == 6
    assert len(runs("sweep")) == 2


def test_another_definition_is_another_cell(store):
    run("-d counting --inlier sea")
    for change in ("--set weight=2", "--seed 1", "--limit 5", "--preset heavy", "--experiment x"):
        assert "1 cell to run" in run("-d counting --inlier sea", change).stderr, change


@pytest.mark.parametrize("name", ["TOY_EDITION", "TOY_RESOURCE"])
def test_another_corpus_or_resource_runs_the_cell_again(name, store, monkeypatch):
    run("-d counting --inlier sea")
    monkeypatch.setenv(name, "another")
    assert "1 cell to run\n" in run("-d counting --inlier sea").stderr
    assert "0 cells to run" in run("-d counting --inlier sea").stderr


def test_other_code_runs_the_cell_again(store, monkeypatch):
    run("-d counting --inlier sea")
    monkeypatch.setattr("adbench_text.run.definition.code_version", lambda *plugin: "another")
    assert "1 cell to run\n" in run("-d counting --inlier sea").stderr
    assert len(cells()) == 1  # the older one is superseded
    assert "1 older result" in adbench("report").stdout


# Detectors that go wrong


def test_a_faulty_detector_costs_its_cells_and_not_the_sweep(store):
    result = run("-d faulty -d counting --inlier sea --inlier law --set fault=nan")
    assert result.exit_code == 3
    lines = result.stderr.splitlines()
    reason = "1 of 30 scores are NaN"
    assert "[1/4] failed: faulty(fault=nan) on tiny/sea at 0%, seed 0: " in lines[3]
    assert reason in lines[3]
    assert re.fullmatch("4 cells run in .*, 2 .*failed", lines[-3])
    assert lines[-1].startswith("Error: 2 of 4 cells failed")
    assert [record["status"] for record in cells()] == ["failed", "ok"] * 2
    report = adbench("report --format markdown")
    assert report.exit_code == 0
    rows = [line for line in report.stdout.splitlines() if line.startswith("| tiny ")]
    figures = [row.split(" | ")[1:3] for row in rows]
    assert figures == [["sea", "failed"], ["law", "failed"], ["mean", "failed"]]
    assert reason in report.stdout.replace("\\", "")


def test_after_a_run_whose_every_cell_failed_the_next_step_is_no_report(store):
    *_, next_step, _ = run("-d faulty --inlier sea --set fault=nan").stderr.splitlines()
    assert "adbench-text report" not in next_step
    assert "--retry failed" in next_step
    *_, next_step, _ = run(
        "-d faulty -d counting --inlier sea --set fault=nan --retry failed"
    ).stderr.splitlines()
    assert "adbench-text report" in next_step


def test_the_mean_of_a_detector_that_failed_once_is_marked(store, monkeypatch):
    monkeypatch.setenv("TOY_MENDED", "1")
    run("-d faulty --inlier sea --inlier law")
    monkeypatch.delenv("TOY_MENDED")
    run("-d faulty --inlier sky")
    assert "(2 of 3) |" in adbench("report --format markdown").stdout


def test_failed_cells_are_run_again_on_request(store, monkeypatch):
    run("-d faulty")
    monkeypatch.setenv("TOY_MENDED", "1")
    again = run("-d faulty")
    assert re.search("^0 cells to run, 3 finished before .*3 .*--retry failed", again.stderr, re.MULTILINE)
    assert "3 cells to run" in run("-d faulty --retry failed").stderr
    assert {record["status"] for record in cells()} == {"ok"}


def test_limits_stop_a_cell_and_are_named(store):
    result = run("-d faulty --set fault=hangs --inlier sea --jobs 1 --cell-timeout 1.5")
    assert result.exit_code == 3
    assert "sea at 0%, seed 0: stopped after 1.5 s (--cell-timeout)" in result.stderr
    assert [record["status"] for record in cells()] == ["timed out"]
    refused = run("-d llr --jobs 0 --cell-memory 500")
    assert_refused(refused, 2, "--cell-memory", "--jobs 1")


# Interrupted


def test_an_interrupted_sweep_keeps_what_is_finished_and_goes_on_from_there(store, monkeypatch):
    monkeypatch.setenv("TOY_INTERRUPT", "judge")  # a word of the class law, the second
    result = run("-d counting -d llr")
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1].startswith("Interrupted. ")
    assert runs("cell") == [("FINISHED", "active")] * 2
    assert runs("sweep") == [("KILLED", "active")]
    assert runs("summary") == [("FINISHED", "active")] * 2
    monkeypatch.delenv("TOY_INTERRUPT")
    assert "4 cells to run, 2 finished before" in run("-d counting -d llr").stderr
    assert len(cells()) == 6


def test_ctrl_c_before_anything_has_begun_exits_with_130_too(store, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("adbench_text.run.sweep.Sweep.expand", interrupt)
    assert run("-d counting").exit_code == 130


def begin(toy_path: Path, jobs: int) -> subprocess.Popen:
    """Begin a sweep of twelve cells in a process group of its own."""
    path = os.pathsep.join([str(toy_path), os.environ.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": path, "TOY_SECONDS": "0.5", "TOY_FITS": "fits", "PYTHONUNBUFFERED": "1"}
    command = f"-m adbench_text.cli run -s tiny -d counting --jobs {jobs} -v".split()
    return subprocess.Popen(
        [sys.executable, *command],
        env=os.environ | environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.usefixtures("hears_hangup")
@pytest.mark.parametrize(
    ("jobs", "ending"),
    [
        (2, signal.SIGINT),
        *slow((0, signal.SIGINT), (1, signal.SIGINT), (2, signal.SIGTERM), (1, signal.SIGHUP)),
    ],
)
def test_a_real_signal_leaves_no_process_and_no_traceback(jobs, ending, store, toy_path):
    process = begin(toy_path, jobs)
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("[1/12]"):
            break
    wait_until(lambda: len(Path("fits").read_text().splitlines()) > max(jobs, 1))  # in another cell
    children = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, ending) if ending == signal.SIGINT else process.send_signal(ending)
    _, rest = process.communicate(timeout=60)
    lines += rest.splitlines(keepends=True)
    assert process.returncode == 128 + ending
    assert lines[-1].startswith("Interrupted. ")
    assert all(
        line.startswith(("loading", "tiny: ", "12 cells", "[", "    ", "Interrupted")) for line in lines
    ), lines
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert set(runs("cell")) <= {("FINISHED", "active"), ("RUNNING", "deleted")}
    assert runs("sweep") == [("KILLED", "active")]
    assert len(runs("cell")) < 12


def loads(child: psutil.Process) -> bool:
    """Whether a process has begun to load the libraries of detectors."""
    with suppress(psutil.Error):  # it has just ended
        return "forkserver" in str(child.cmdline()) and "numpy" in str(child.memory_maps())
    return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes start at once")
def test_ctrl_c_is_heard_while_a_worker_process_loads_its_libraries(store, toy_path):
    process = begin(toy_path, jobs=1)
    wait_until(lambda: process.poll() is not None or any(map(loads, psutil.Process(process.pid).children())))
    children = psutil.Process(process.pid).children()
    os.killpg(process.pid, signal.SIGINT)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed.splitlines()[-1].startswith("Interrupted. ")
    assert "Traceback" not in printed
    assert psutil.wait_procs(children, timeout=10)[1] == []


# Bad input


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        ("run -s tiney -d llr", ["'tiney'", "'tiny'"]),
        ("run -s tiny -d llr --set smoothing=-1", ["smoothing", "got -1"]),
        ("run -s tiny -d llr --set smoothing", ["KEY=VALUE", "'smoothing'"]),
        ("run -s tiny -d llr:robusst", ["llr on tiny", "'robusst'", "'robust'"]),
        ("run -s tiny -d llr --test-outliers 0", ["test_outliers", "(0, 1]", "got 0.0"]),
        ("run -s tiny -d date --device gpu", ["'--device'", "'gpu'", "'cuda'"]),
        ("run -s tiny -d llr --device cpu", ["llr", "'device'", "background, cap"]),
        ("run -s tiny -d llr --contamination 5%", ["'--contamination'", "'5%'", "float"]),
        ("run -s tiny -d llr --contamination 0,60", ["contamination", "[0, 0.5)", "got 60.0"]),
        ("run -s tiny -d tiny", ["detector", "'tiny'", "counting, cvdd"]),
        ("run -s tiny -d llr --inlier x*", ["'x*'", "law, sea, sky"]),
        ("run -s tiny -d llr --seed 4-0", ["seeds", "10,000", "4294967295", "'4-0'"]),
        ("run -s tiny -d llr --seed -1", ["seed", "0-4", "'-1'"]),
        ("run -s tiny -d llr --jobs many", ["'--jobs'", "'many'", "integer"]),
        ("run -s tiny", ["--detector", "list detectors"]),
        ("run -d llr", ["--dataset", "list datasets"]),
        ("report --metric auc", ["metric", "'auc'", "'auroc'"]),
        ("list detector", ["'[KIND]'", "'detector'", "'detectors'"]),
        ("fetch tiney", ["'tiney'", "'tiny'"]),
        ("fetch", ["'NAMES...'"]),
        ("rum", ["'rum'"]),
        ("--offlin run", ["'--offlin'", "'--offline'"]),
    ],
)
def test_wrong_names_values_and_options_exit_with_2_and_write_nothing(words, quoted, here):
    assert_refused(adbench(words), 2, *quoted)
    assert list(here.iterdir()) == []


def test_a_command_of_no_words_exits_with_2_and_prints_the_help():
    result = adbench()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == adbench("--help").stdout


def test_a_cluster_needs_a_scheduler_that_answers_before_documents_are_prepared(store, server, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("adbench_text.cluster._PATIENCE", 0.2)
    command = "run -s tiny -d counting --no-report"
    for address in ("tcp://127.0.0.1:9", server.url.replace("http", "tcp"), "nonsense"):
        silent = adbench(f"{command} -s files:absent.csv --address {address}")
        assert_refused(silent, 1, " Dask ", f" {address}: ")
        assert "loading tiny" not in silent.stderr
    assert runs("cell") == []


def test_a_sweep_file_names_its_jobs(store):
    sweep = 'detector = "counting"\ndataset = "tiny"\ncontamination = 0\ninlier = "sea"\n'
    Path("mine.toml").write_text(f"{sweep}jobs = 0\n")
    result = adbench("run --sweep mine.toml --no-report --cell-timeout 9")
    assert_refused(result, 2, "--cell-timeout", "--jobs 1")
    assert adbench("run --sweep mine.toml --no-report").exit_code == 0
    Path("mine.toml").write_text(f"{sweep}jbs = 0\n")
    assert_refused(adbench("run --sweep mine.toml"), 2, "mine.toml", "'jbs'", "'jobs'")


@pytest.mark.parametrize("experiment", ["", " --experiment mine"])
@pytest.mark.parametrize("of_store", ["", " --tracking-uri sqlite:///mlflow.db"])
def test_the_last_line_of_a_sweep_is_commands_that_show_its_results(store, of_store, experiment):
    Path("mine.toml").write_text('detector = "counting"\ndataset = "tiny"\ninlier = "sea"\njobs = 0\n')
    result = adbench(f"run --sweep mine.toml --no-report{of_store}{experiment}")
    report = f"report --sweep mine.toml{of_store}{experiment}"
    assert result.stderr.splitlines()[-1] == f"Next: adbench-text {report}; adbench-text ui{of_store}"
    assert adbench(report).exit_code == 0


def test_the_report_of_a_sweep_that_options_override_is_a_report_of_the_store(store):
    Path("mine.toml").write_text('detector = "counting"\ndataset = "tiny"\nlimit = 20\njobs = 0\n')
    result = adbench("run --sweep mine.toml --no-report --limit 30 --inlier sea --contamination 0")
    assert result.stderr.splitlines()[-1] == "Next: adbench-text report; adbench-text ui"
    assert adbench("report").exit_code == 0


def test_a_built_in_sweep_has_its_name():
    assert read(find("demo")).name == "demo"


def test_a_cell_that_is_impossible_is_left_out(store, monkeypatch):
    monkeypatch.setenv("TOY_EDITION", "lopsided")
    command = "-d counting --contamination 0.2 --inlier sea --inlier law"
    reason = ["contamination 0.2 ", " 45 outliers ", " 180 inliers", " 40 training documents"]
    assert run(command, "--dry-run").stderr == "4 cells\n"
    assert runs("sweep") == []
    result = run(command)
    assert result.exit_code == 0
    (note,) = [line for line in result.stderr.splitlines() if line.startswith("1 of 4 cells ")]
    assert all(text in note for text in [" counting on tiny/sea at 20%, seed 0: ", *reason])
    assert [record["status"] for record in cells()] == ["ok", "ok", "ok"]
    alone = adbench("run -s tiny -d counting --contamination 0.2 --inlier sea --jobs 0")
    assert_refused(alone, 2, *reason)


@pytest.mark.parametrize("command", ["run -s tiny -d counting", "report", "ui"])
@pytest.mark.parametrize(
    ("uri", "quoted"),
    [
        ("sqlite:///notes.txt", ["/notes.txt ", "SQLite database (", "--tracking-uri"]),
        ("http://127.0.0.1:9", [" http://127.0.0.1:9 (ConnectionError)", "--tracking-uri"]),
    ],
)
def test_a_store_that_cannot_be_used_exits_with_1(uri, quoted, command, here):
    (here / "notes.txt").write_text("no database")
    result = adbench(command, f"--tracking-uri {uri}")
    assert_refused(result, 1, *quoted)
    assert result.stderr.count("\n") == 1
    assert [path.name for path in here.iterdir()] == ["notes.txt"]
    assert (here / "notes.txt").read_text() == "no database"


def test_word_vectors_that_are_missing_exit_with_1_and_name_the_command_that_gets_them(here):
    result = adbench("--offline run -s tiny -d ocsvm")
    assert_refused(result, 1, "adbench-text fetch glove-wiki-gigaword-50")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("exists", [False, True])
def test_a_report_without_results_is_one_line(exists, here, empty_database):
    files = [Path(shutil.copy(empty_database, here / "mlflow.db"))] if exists else []
    result = adbench("report")
    assert_refused(result, 1, "no results", "sqlite:///mlflow.db", "adbench-text run")
    assert ("'adbench-text'" in result.stderr) == exists  # the experiment
    assert result.stderr.count("\n") == 1
    assert list(here.iterdir()) == files


def test_a_report_of_what_has_no_results_suggests_what_has(store):
    run("-d counting --inlier sea")
    for words, quoted in (
        ("--dataset tiney", ["dataset", "'tiney'", "'tiny'"]),
        ("--detector llr", ["detector", "'llr'", "counting."]),
        ("--detector l*", ["detector", "'l*'", "counting."]),
    ):
        assert_refused(adbench("report", words), 2, "sqlite:///mlflow.db", *quoted)


@pytest.mark.parametrize(
    ("option", "code", "path"),
    [
        ("-o mlflow.db/report.md", 1, " mlflow.db/report.md: "),
        ("-o .", 2, "'.'"),
        ("--figures mlflow.db/figures", 1, " mlflow.db/figures: "),
    ],
)
def test_a_report_that_cannot_be_written_is_one_line(option, code, path, store):
    run("-d counting --inlier sea")
    assert_refused(adbench("report", option), code, path)


@pytest.mark.slow
def test_one_page_with_figures_and_heat_maps_of_what_the_store_holds(store, tmp_path):
    settings = "--set background=uniform --set weight=2"
    assert run(f"-d llr -d counting {settings} --contamination 0.1").exit_code == 0
    page = tmp_path / "page.html"
    result = adbench(f"report --format html -o {page} --figures {tmp_path / 'figures'}")
    assert result.exit_code == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    for shown in ("Mean rank over 3 splits", "llr(background=uniform) on tiny / sea", "scored outlier"):
        assert shown in text
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    for name in ("contamination-tiny", "cost-tiny", "roc-tiny"):
        assert {f"{name}.svg", f"{name}.pdf", f"{name}.png"} <= names


def test_a_report_of_a_sweep_holds_its_cells_alone(store, here):
    Path("mine.toml").write_text('detector = "counting"\ndataset = "tiny"\ncontamination = 0\n')
    assert run("-d llr --set background=uniform").exit_code == 0
    nothing = adbench("report --sweep mine.toml")
    assert_refused(nothing, 1, "sqlite:///mlflow.db", "run --sweep mine.toml", "--limit")
    assert adbench("run --jobs 0 --sweep mine.toml").exit_code == 0
    table = adbench("report --sweep mine.toml").stdout
    assert "counting" in table
    assert "llr" not in table


@pytest.mark.slow
def test_outliers_of_the_test_set_are_thinned(store):
    assert run("-d llr --no-report").exit_code == 0
    before = cells()
    result = run("-d llr --no-report --test-outliers 0.1,0.2 -v")
    assert result.exit_code == 0, result.output
    thinned = SplitKey("tiny", "sea", test_outliers=0.1)
    assert f"llr on {thinned}: AUROC" in result.stderr
    assert "6 cells to run\n" in result.stderr
    rows = {(row["dataset"], row["test_outliers"], row["n_test"]) for row in cells()}
    assert rows == {("tiny", "1", "30"), ("tiny", "0.1", "11"), ("tiny", "0.2", "12")}
    assert [row for row in cells() if row["test_outliers"] == "1"] == before  # nothing was run again
    assert "0 cells to run" in run("-d llr --no-report --test-outliers 0.20,1 --test-outliers 0.10").stderr
    page = adbench("report --format html --figures figures")
    assert page.exit_code == 0
    assert "mlruns" not in page.output  # a note on scores that are missing would name it
    assert thinned.variant in page.output
    assert list(Path("figures").glob("roc-tiny-10-outliers-in-the-test-set*"))


def test_a_report_of_a_sweep_without_a_limit_has_no_limited_cells(store, quick_pydocs):
    Path("quick.toml").write_text('detector = "llr"\ndataset = "pydocs"\ninlier = "torch"\nlimit = 20\n')
    Path("whole.toml").write_text('detector = "llr"\ndataset = "pydocs"\ninlier = "torch"\n')
    assert adbench("run --jobs 0 --sweep quick.toml --contamination 0").exit_code == 0
    assert_refused(adbench("report --sweep whole.toml"), 1, "run --sweep whole.toml", "--limit")
    result = adbench("report --sweep quick.toml --format markdown")
    assert "| pydocs | mlflow |" not in result.stdout  # a class that the sweep has not
    assert re.search("3 of the 4 cells .*: llr on pydocs/torch at 5%", result.stdout)


def test_a_report_of_some_detectors_or_datasets_of_a_sweep_misses_no_others(store):
    Path("two.toml").write_text(
        'detector = ["knn-words", "ocsvm"]\ndataset = ["tiny", "pydocs"]\ncontamination = 0\n'
    )
    assert adbench("run --jobs 0 --sweep two.toml -d knn-words -s tiny").exit_code == 0
    assert "17 of the 20 cells" in adbench("report --sweep two.toml").output
    some = adbench("report --sweep two.toml -d knn-words").output
    assert re.search("7 of the 10 cells .*: knn-words on pydocs/", some)
    assert "3 of the 6 cells" in adbench("report --sweep two.toml -s tiny").output
    whole = adbench("report --sweep two.toml -d knn-words -s tiny").output
    assert not re.search(r"\d of the \d+ cells", whole)


def test_tables_are_chosen_by_their_names(store):
    run("-d counting,llr --inlier sea --no-report")
    cost = adbench("report -t cost --format markdown")
    assert "| dataset | detector | fit (s) |" in cost.stdout
    both = adbench("report -t levels,cost --format markdown")
    assert both.exit_code == 0, both.stderr
    assert both.stdout == adbench("report -t levels -t cost --format markdown").stdout
    assert_refused(adbench("report -t levels,costs"), 2, "table", "'costs'", "'cost'")
    assert_refused(adbench("report --format csv -t ranks"), 2, "--format csv", "--table")


def test_a_full_disk_costs_no_old_report(store, here, monkeypatch):
    assert run("-d counting").exit_code == 0
    Path("page.html").write_text("the old page")
    write_text = Path.write_text

    def write_half(path, text, **options):
        write_text(path, text[:100], **options)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", write_half)
    result = adbench("report --format html -o page.html")
    assert_refused(result, 1, f" page.html: {os.strerror(errno.ENOSPC)}")
    assert result.stderr.count("\n") == 1
    assert Path("page.html").read_text() == "the old page"
    assert sorted(path.name for path in here.iterdir() if path.is_file()) == ["mlflow.db", "page.html"]


def test_a_report_can_be_written_through_a_link_and_to_a_pipe(store, here):
    assert run("-d counting").exit_code == 0
    Path("link.md").symlink_to("report.md")
    assert adbench("report --format markdown -o link.md").exit_code == 0
    assert Path("link.md").is_symlink()
    assert "counting" in Path("report.md").read_text()
    os.mkfifo("pipe")
    reader = threading.Thread(
        target=lambda: Path("read.md").write_text(Path("pipe").read_text()), daemon=True
    )
    reader.start()
    assert adbench("report --format markdown -o pipe").exit_code == 0
    reader.join()
    assert Path("read.md").read_text() == Path("report.md").read_text()


@pytest.mark.slow
def test_figures_of_a_detector_with_a_long_name_can_be_written(store, here):
    assert run(f"-d counting --set weight={10**250}").exit_code == 0
    assert adbench("report --figures figures").exit_code == 0
    assert max(len(path.name) for path in (here / "figures").iterdir()) < 255


def test_the_report_of_a_sweep_is_in_its_run(store):
    assert run("-d llr --set background=uniform --report").exit_code == 0
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{store}")
    experiment = client.get_experiment_by_name("adbench-text/tiny")
    (parent,) = client.search_runs([experiment.experiment_id], "tags.`adbench_text.kind` = 'sweep'")
    found = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert "report.html" in found


@pytest.mark.slow
def test_a_sweep_that_finds_one_of_its_datasets_finished_reports_on_the_other(store, quick_pydocs):
    of_tiny = "run -d llr --set background=uniform --contamination 0 -s tiny --jobs 0"
    assert adbench(of_tiny).exit_code == 0
    result = adbench(f"{of_tiny} -s pydocs --limit 20 --report")
    assert result.exit_code == 0, result.stderr
    assert re.findall(r" report on (\w+)", result.stderr) == ["pydocs"]


def test_a_store_where_everything_failed_still_makes_a_page(store):
    assert run("-d faulty --contamination 0.1").exit_code == 3
    page = adbench("report --format html")
    assert page.exit_code == 0, page.stderr
    assert "failed" in page.stdout
