"""Detectors in a file of the user's own: ``./mine.py:Mine``."""

import json
import pickle
import re
import sys
import textwrap
from pathlib import Path

import pytest
from commands import adbench, dry_run

from adbench_text import own_file
from adbench_text.contract import scores
from adbench_text.contract.scores import PRE_TRAINED
from adbench_text.corpora.split_key import SplitKey
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.folder import _digest, save_model
from adbench_text.errors import InvalidValueError, PluginError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.plugins.declared import declared
from adbench_text.run.cell import Cell
from adbench_text.run.definition import build_detector, identified
from adbench_text.run.names import choices_of
from adbench_text.store.store import Store

MINE = '''
from beside import length

class Mine:
    """By the length of a document."""

    def __init__(self, k=1):
        self.k = k

    @staticmethod
    def presets(dataset):
        return {"wide": [{"k": 20}]}

    def fit(self, texts):
        return self

    def decision_function(self, texts):
        return [self.k * length(text) for text in texts]
'''
BESIDE = "def length(text):\n    return float(len(text))\n"
SPLIT = SplitKey("tiny", "sea")
CELL = Cell("mine.py:Mine", "default", {}, SPLIT)


pytestmark = pytest.mark.usefixtures("here", "own_files")


@pytest.fixture
def write(here):
    """Writes files to the working directory."""

    def write(**codes: str) -> None:
        for name, code in codes.items():
            path = here / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(code)

    write(mine=MINE, beside=BESIDE)
    return write


def detector_of(text: str) -> type:
    (choice,) = choices_of([text], print)
    return registry.detector(choice.name)


def test_a_class_declares_what_it_knows_as_the_page_on_plug_ins_shows(write):
    page = (Path(__file__).parents[2] / "docs/plug-ins.md").read_text(encoding="utf-8")
    shown = re.search(r"    from adbench_text\.contract\.scores import .*\n\n    class Mine:\n.*\n", page)[0]
    assert detector_of("./mine.py:Mine")().regime is None
    write(other=f"{MINE}\n{textwrap.dedent(shown).replace('class Mine', 'class Other(Mine)')}")
    assert detector_of("./other.py:Other")().regime == PRE_TRAINED
    assert {getattr(scores, name) for name in re.findall("[A-Z_]{5,}", shown)} == {*scores.REGIMES}


def scores_of(text: str) -> list[float]:
    return detector_of(text)().fit(["a"]).decision_function(["two", "three"]).tolist()


@pytest.mark.usefixtures("write")
def test_its_name_has_no_folder_and_presets_and_settings_are_written_as_for_any_detector(here):
    texts = [
        "./mine.py:Mine",
        f"{here}/mine.py:Mine:wide",
        "mine.py:Mine:wide(k=3)",
        "../here/mine.py:Mine(k=5)",
    ]
    name = "mine.py:Mine"
    assert choices_of([",".join(texts)], print) == [
        DetectorChoice(name),
        DetectorChoice(name, "wide"),
        DetectorChoice(name, "wide", {"k": 3}),
        DetectorChoice(name, settings={"k": 5}),
    ]
    (here / "sweep.toml").write_text(
        'detector = ["./mine.py:Mine:wide"]\n[only]\n"./mine.py:Mine:wide" = { seed = 1 }'
    )
    cells = dry_run("--sweep sweep.toml -s pydocs --inlier numpy --contamination 0 --seed 0-2")
    assert cells == ["mine.py:Mine:wide on pydocs/numpy at 0%, seed 1"]
    assert choices_of(["ensemble(members=llr, ./mine.py:Mine(k=2))"], print) == [
        DetectorChoice("ensemble", settings={"members": "llr, mine.py:Mine(k=2)"})
    ]
    (_, mine) = build_detector(
        Cell("ensemble", "default", {"members": "llr, mine.py:Mine(k=2)"}, SPLIT)
    ).build_members()
    assert mine.get_params() == {"k": 2}


def test_it_may_be_a_class_of_ours_or_of_scikit_learn_or_a_function(write):
    write(
        mine="from sklearn.feature_extraction.text import TfidfVectorizer\n"
        "from sklearn.pipeline import make_pipeline\nfrom sklearn.svm import OneClassSVM\n"
        "from adbench_text.contract.detector import TextDetector\n"
        "class Ours(TextDetector):\n"
        "  def _fit(self, texts): ...\n"
        "  def _score(self, texts): return [len(text) for text in texts]\n"
        "def pipeline(nu=0.5): return make_pipeline(TfidfVectorizer(), OneClassSVM(nu=nu))\n"
    )
    assert scores_of("./mine.py:Ours") == [3, 5]
    pipeline = detector_of("./mine.py:pipeline")
    near, far = pipeline(nu=0.3).fit(["ship sea", "sea crew"] * 9).decision_function(["sea ship", "court"])
    assert far > near


def test_the_only_class_of_a_file_needs_no_name(write):
    assert scores_of("./mine.py") == [3, 5]
    write(other="class One: ...\nclass Two: ...\n")
    with pytest.raises(PluginError, match=r"^other\.py .*: One, Two\.$"):
        scores_of("./other.py")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("class Mine:\n  def fit(self: ...", r"SyntaxError: .*\(mine.py, line 2\)"),
        ("class One: ...\nclass Two: ...", "mine.py .*'Mine'.* mine.py:NAME .*: One, Two"),
        ("class Mine:\n  fit = 1", "TypeError: mine.py:Mine .*decision_function"),
        ("import no_package_x", "mine.py:Mine .*'no_package_x'.*pip"),
        ("import sys\nsys.exit(3)", r"SystemExit: 3 \(mine.py:2\)"),
        ("\n1 / 0", r"ZeroDivisionError: division by zero \(mine.py:2\)"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_of_one_line(write, code, message):
    write(mine=code)
    for command in ("run -s pydocs -d", "check", "info"):
        result = adbench(command, "./mine.py:Mine")
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1), command
        assert re.search(message, result.stderr)


def test_a_file_that_is_not_there_or_cannot_be_imported_by_its_name_is_named(write, here):
    write(json="class Mine: ...", **{"my.own": "class Mine: ..."})
    for text, message in {
        "./none.py:Mine": f"{here}/none.py ",
        "./json.py:Mine": "json.py .*'json' .*/__init__.py",
        "./my.own.py:Mine": "my.own.py .*'my.own'",
    }.items():
        with pytest.raises(PluginError, match=message):
            scores_of(text)


def test_two_files_or_modules_beside_them_of_one_name_are_refused(write):
    write(there__mine=MINE, there__beside=BESIDE, there__other=MINE.replace("Mine", "Other"))
    assert scores_of("./mine.py:Mine") == [3, 5]
    with pytest.raises(InvalidValueError, match=r"'mine\.py:Mine'"):
        scores_of("there/mine.py:Mine")
    with pytest.raises(PluginError, match=r"there/mine.py .*'mine' .*here/mine"):
        scores_of("there/mine.py")
    with pytest.raises(PluginError, match=r"^other.py .*here/beside.py .*there/beside.py"):
        scores_of("there/other.py:Other")


def test_a_change_of_the_file_or_of_a_module_beside_it_outdates_its_results(write):
    detector_of("./mine.py:Mine")
    versions = []
    for codes in (
        {},
        {"beside": f"# A comment.\n{BESIDE}"},
        {"beside": BESIDE + "ONE = 1\n"},
        {"mine": MINE + "ONE = 1\n"},
    ):
        write(**codes)
        versions.append(identified(declared(build_detector(CELL), "mine"), CELL)["code_version"])
    assert versions[0] == versions[1]
    assert len(set(versions)) == 3


@pytest.mark.usefixtures("write")
def test_its_cells_run_in_processes_that_know_it_and_end(monkeypatch, toy_path, here):
    monkeypatch.setattr(registry, "_loaded_from_others", set())
    detector_of("./mine.py:Mine")
    assert registry.has_loaded_others()
    members = "ensemble(members=knn-words,./mine.py:Mine)"
    result = adbench(f"run -d {here}/mine.py:Mine,{members} -s tiny --inlier sea --contamination 0")
    assert result.exit_code == 0, result.stderr
    store = Store(create=False)
    of_file, of_ensemble = store.cells(["tiny"]).itertuples()
    assert of_file.detector == "mine.py:Mine"
    assert of_ensemble.configuration == "members=knn-words, mine.py:Mine"
    params = [run.params for run in store.reader.runs("adbench-text/tiny")]
    assert len(params) == 2
    assert str(here) not in str(params)
    _, row = adbench("report --format csv -d ./mine.py:Mine").stdout.splitlines()
    assert row.startswith("mine.py:Mine,mine.py:Mine,default,,tiny,sea,0,")


@pytest.mark.usefixtures("write")
def test_a_cell_takes_it_to_a_process_that_does_not_know_it():
    choices_of(["./mine.py:Mine"], print)
    sent = pickle.dumps(Cell("mine.py:Mine", "default", {"k": 4}, SPLIT))
    own_file._paths.clear()
    with pytest.raises(UnknownNameError):
        registry.detector("mine.py:Mine")
    assert build_detector(pickle.loads(sent)).get_params() == {"k": 4}


@pytest.mark.usefixtures("write")
def test_documents_are_ranked_by_it_and_no_model_is_saved(here):
    (here / "docs.txt").write_text("\n".join(f"ship {'sea ' * (i % 7)}{i}x" for i in range(40)))
    result = adbench("odd docs.txt --no-clean --top 1 -d ./mine.py:Mine(k=2)")
    assert re.search(r"; mine\.py:Mine\(k=2\), [^;]* 10 folds; ", result.stdout)
    assert result.exit_code == 0
    for detector in ("./mine.py:Mine", "ensemble(members=llr,./mine.py:Mine)"):
        result = adbench("fit docs.txt -m model -d", detector)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
        assert re.search("saved.*mine.py:Mine .*adbench-text odd", result.stderr)


@pytest.mark.parametrize(
    "named", [{"name": "mine.py:Mine"}, {"name": "ensemble", "settings": {"members": "llr, ./mine.py:Mine"}}]
)
def test_a_model_that_names_a_file_is_refused_and_the_file_is_not_executed(write, here, named):
    write(mine="from pathlib import Path\nPath('executed').touch()\nclass Mine: ...\n")
    sys.path.append(str(here))
    folder = save_model(fit_model(["ship sea", "sea crew", "crew storm"], "llr"), here / "model")
    description = json.loads((folder / "model.json").read_text())
    description["detectors"][0] |= {"settings": {}, **named}
    description.pop("sha256")
    (folder / "model.json").write_text(json.dumps(description | {"sha256": _digest(description)}))
    (here / "docs.txt").write_text("ship sea")
    result = adbench("score model docs.txt")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "mine.py:Mine" in result.stderr
    assert not (here / "executed").exists()


@pytest.mark.usefixtures("write")
def test_python_does_not_save_it_either():
    (choice,) = choices_of(["./mine.py:Mine"], print)
    model = fit_model(["ship sea", "sea crew", "crew storm"], choice.name)
    with pytest.raises(InvalidValueError, match=r"Mine .*saved.* mine.py:Mine into"):
        save_model(model, "model")
