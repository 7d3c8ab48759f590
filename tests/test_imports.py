"""Which libraries a command imports: only those that it uses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adbench_text.corpora.corpus import Corpus
from adbench_text.plugins.dataset import Documents
from adbench_text.run.result import Result
from adbench_text.store.store import Store
from adbench_text.sweep.cell import Cell
from adbench_text.testing.topics import texts_about, write_vectors

OF_DETECTORS = {"numba", "pyod", "torch"}
OF_REPORTS = {"matplotlib", "mlflow", "pandas", "scipy", "sklearn", "sqlalchemy"}
# the server of `ui` is not started, and plug-ins that happen to be installed are not loaded
COMMAND = """
import sys
from adbench_text.plugins import registry
class Server:
    pid, returncode = 2**30, None
    poll = wait = lambda self: 0
if "ui" in sys.argv:
    import subprocess
    subprocess.Popen = lambda *_: Server()
registry.entry_points = lambda group: []
from adbench_text.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print(*{name.partition(".")[0] for name in sys.modules})
"""


def run(command: str, uri: str = "") -> tuple[int, str, set[str]]:
    """Run a command in a new process; return its exit code, its output, and what it imported."""
    words = command.split() + (["--tracking-uri", uri] if uri else [])
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, check=False, timeout=250
    )
    *output, imported = done.stdout.splitlines()
    return done.returncode, "\n".join([*output, done.stderr]), set(imported.split())


@pytest.fixture(scope="module")
def uri(empty_database: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with results of two detectors on a dataset that is installed."""
    folder = tmp_path_factory.mktemp("store")
    uri = f"sqlite:///{shutil.copy(empty_database, folder / 'mlflow.db')}"
    labels = np.arange(6) % 2
    documents = Documents([f"text {i}" for i in range(6)], labels)
    corpus = Corpus("pydocs", ("numpy", "scipy"), documents, documents, "published")
    store = Store(uri)
    with store.sweep({"pydocs": corpus}, "a sweep"):
        for detector in ("llr", "pyod-knn"):
            for inlier, auroc in (("numpy", 0.8), ("scipy", 0.7)):
                store.keep(result(detector, inlier, auroc), definition(detector, inlier), corpus)
                store.log_kept()
    return uri


def result(detector: str, inlier: str, auroc: float) -> Result:
    cell = Cell(detector, "default", {}, "pydocs", inlier, 0.0, 0)
    metrics = {"auroc": auroc, "aupr_in": 0.5, "aupr_out": 0.5, "fit_seconds": 2.0, "score_seconds": 1.0}
    return Result(cell, 1e9, {**metrics, "n_train": 3.0, "n_test": 6.0}, np.arange(6.0))


def definition(detector: str, inlier: str) -> dict[str, str]:
    names = {"detector": detector, "preset": "default", "configuration": "", "dataset": "pydocs"}
    numbers = {"inlier": inlier, "contamination": "0", "seed": "0"}
    return {**names, **numbers, "dataset_digest": "d1", "code_version": "c0de"}


@pytest.mark.parametrize(
    "command", ["report", pytest.param("report --format html", marks=pytest.mark.slow), "ui"]
)
def test_on_results_no_library_of_detectors_is_imported(uri, command):
    exit_code, output, imported = run(command, uri)
    assert exit_code == 0, output
    assert "127.0.0.1" in output if command == "ui" else "pyod-knn" in output
    assert not imported & OF_DETECTORS


@pytest.mark.parametrize("command", ["report", "report --format html --table all", "report --cells", "ui"])
def test_without_a_store_neither_mlflow_nor_what_draws_is_imported(tmp_path: Path, command):
    exit_code, output, imported = run(command, f"sqlite:///{tmp_path / 'mlflow.db'}")
    assert exit_code == 1
    assert "There are no results" in output
    assert not imported & (OF_DETECTORS | OF_REPORTS)


def test_lists_import_none_of_these_libraries():
    kinds = ("detectors", "datasets", "vectors", "engines", "tables", "formats")
    command = f"[main(['list', kind], standalone_mode=False) for kind in {kinds!r}]"
    code = COMMAND.replace("main(sys.argv[1:])", command)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *output, imported = done.stdout.splitlines()
    for name in ("pyod-knn", "pydocs", "glove", "local", "ranks", "html"):
        assert any(name in line for line in output), name
    assert not set(imported.split()) & (OF_DETECTORS | OF_REPORTS)


HEAVY = {"torch", "mlflow", "gensim", "matplotlib"}


@pytest.mark.parametrize("has_vectors", [False, True])
def test_the_default_for_own_documents_imports_no_heavy_library(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_vectors: bool
):
    monkeypatch.chdir(tmp_path)
    Path("normal.csv").write_text("\n".join(["text", *texts_about("sea", 60, seed=0)]))
    chosen = f"--set vectors={write_vectors(tmp_path / 'topics.vec')}" if has_vectors else ""
    for command in (
        f"odd normal.csv {chosen}",
        f"fit normal.csv --model kept {chosen}",
        "score kept normal.csv",
        "explain kept normal.csv",
    ):
        exit_code, output, imported = run(command)
        assert exit_code == 0, output
        assert "sklearn" in imported
        assert not imported & HEAVY, command
    settings = json.loads(Path("kept/model.json").read_text())["detector"]["settings"]
    assert bool(settings["coherence"]) == has_vectors


def test_a_command_imports_the_file_of_no_other_command():
    code = (
        "import sys; from adbench_text.cli.main import main\n"
        "main(['list', 'vectors'], standalone_mode=False); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = {name.removeprefix("adbench_text.cli.") for name in done.stdout.split()}
    assert modules & {"check", "doctor", "fetch", "info", "list", "new", "report", "run", "ui"} == {"list"}
