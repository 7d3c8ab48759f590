import importlib
import pickle
import re
import sys
from pathlib import Path

import pytest
from interpreters import printed

from adbench_text.code_version import code_version
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import PluginError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.run.cell import Cell
from adbench_text.run.definition import build_detector
from adbench_text.testing import check_detector

PLUGINS = Path(__file__).parents[1] / "toy"

HEAVY = ("torch", "sklearn", "pandas", "mlflow", "gensim", "scipy", "matplotlib")


@pytest.fixture(autouse=True)
def _forget():
    registry.plugins.cache_clear()
    yield
    registry.plugins.cache_clear()


@pytest.fixture
def toy(monkeypatch):
    """The plug-ins of tests/toy are installed."""
    monkeypatch.syspath_prepend(PLUGINS)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution of some modules and entry points in a folder on the path."""
    installed = []

    def install(name: str, entry_points: str, **modules: str) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)
        for module, code in modules.items():
            (tmp_path / f"{module}.py").write_text(code)
            monkeypatch.delitem(sys.modules, module, raising=False)
        installed.extend(modules)
        monkeypatch.syspath_prepend(tmp_path)
        registry.plugins.cache_clear()

    yield install
    for module in installed:  # imported by the test; other tests must not find it
        sys.modules.pop(module, None)


@pytest.fixture
def own_files(tmp_path, monkeypatch):
    """Adds files to the folders of our own plug-ins."""

    def add(kind: str, **files: str) -> None:
        folder = tmp_path / kind
        folder.mkdir(exist_ok=True)
        for name, code in files.items():
            (folder / f"{name}.py").write_text(code)
        package = importlib.import_module(f"adbench_text.{kind}")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        registry.plugins.cache_clear()

    return add


def problems(kind: str) -> dict[str, str]:
    return {row.name: row.problem for row in registry.listing(kind)}


def summaries(kind: str) -> dict[str, str]:
    return {row.name: row.summary for row in registry.listing(kind) if not row.problem}


# Finding


def test_every_plugin_is_listed_with_a_summary():
    for kind in ("detectors", "datasets"):
        for row in registry.listing(kind):
            assert row.summary, row.name
            assert not row.problem, row.name


def test_the_shell_completes_without_importing_a_library():
    code = (
        "import sys, os\nfrom adbench_text.cli.main import main\n"
        "try: main(prog_name='adbench-text')\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    words = {"COMP_WORDS": "adbench-text run --dataset pyd", "COMP_CWORD": "3"}
    out = printed(code, _ADBENCH_TEXT_COMPLETE="bash_complete", **words)
    assert out.splitlines() == ["plain,pydocs", "[]"]


# Loading


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("detectors", "pyod-kn", "detector .*'pyod-kn'.*'pyod-knn'"),
        ("detectors", "pyod", "detector .*'pyod'"),
        ("detectors", "pyod-", "detector .*'pyod-'"),
        ("datasets", "../agnews", "dataset .*'../agnews'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(kind, name, message):
    with pytest.raises(UnknownNameError, match=message) as caught:
        registry.load(kind, name)
    assert caught.value.exit_code == 2


# Our own files


def test_a_new_file_is_a_new_plugin(own_files):
    own_files("detectors", longest='"""By length."""\nclass Longest:\n  def decision_function(self): ...\n')
    assert summaries("detectors")["longest"] == "By length."
    assert registry.plugins("detectors")["longest"].name == "longest"


@pytest.mark.parametrize("declaration", ['name = "thesis"', 'name: str = "thesis"'])
def test_a_class_may_declare_another_name_than_its_file(declaration, own_files):
    own_files("datasets", my_file=f"class Thesis:\n  {declaration}\n  def read(self): ...\n")
    assert "thesis" in registry.names("datasets")
    assert "my_file" not in registry.names("datasets")


def test_the_name_of_a_class_counts_before_the_name_of_its_base(own_files):
    base = 'class _Base:\n  name = "base"\n  def read(self): ...\n'
    own_files(
        "datasets", own=f'{base}class Own(_Base):\n  name = "own"\n', heir=f"{base}class Heir(_Base): ...\n"
    )
    assert registry.plugins("datasets")["own"].class_name == "Own"
    assert registry.plugins("datasets")["base"].class_name == "Heir"


def test_a_file_may_have_several_classes_that_each_declare_a_name(own_files):
    named = ['class A:\n  """One."""\n  name = "a-one"\n', 'class B:\n  """Two."""\n  name = "a-two"\n']
    own_files("datasets", several="class _Base: ...\n" + "".join(named), mistake=f"{named[0]}class C: ...\n")
    assert {"a-one": "One.", "a-two": "Two."}.items() <= summaries("datasets").items()
    assert registry.load("datasets", "a-two").__name__ == "B"
    assert problems("datasets")["mistake"].endswith("found A, C.")


LANGUAGES = """
from adbench_text.contract.dataset import Dataset


class Parallel(Dataset):
    name, classes, source, licence, citation = "parallel", ("a", "b"), "none", "none", "none"
    variants = ("de", "fr")

    def __init__(self, variant=""):
        self.name = f"parallel:{variant}" if variant else "parallel"
        self.language = variant or "en"

    def read(self): ...


made = Parallel()
"""


@pytest.mark.parametrize("point", ["other:Parallel", "other:made"], ids=["class", "instance"])
def test_a_dataset_of_another_package_may_have_variants(point, install):
    install("other", f"[adbench_text.datasets]\nparallel = {point}\n", other=LANGUAGES)
    assert registry.variants("parallel:*") == ["parallel:de", "parallel:fr"]
    assert [name for name in registry.names("datasets") if name.startswith("parallel")] == ["parallel"]
    assert registry.dataset("parallel:fr").name == "parallel:fr"
    assert [registry.language_of(name) for name in ("parallel", "parallel:de")] == ["en", "de"]
    with pytest.raises(UnknownNameError, match=r"'es'.*de, fr"):
        registry.dataset("parallel:es")


def test_a_dataset_without_variants_is_suggested_by_its_bare_name():
    with pytest.raises(UnknownNameError, match=r"'20news:de'.*'20news'"):
        registry.dataset("20news:de")
    assert registry.language_of("20news:de") == "en"


@pytest.mark.parametrize("name", ["sib-200:deu", "sib-200:de", "sib-200:DEU"])
def test_a_variant_is_suggested_by_its_beginning(name):
    with pytest.raises(UnknownNameError, match="Did you mean 'deu_Latn'"):
        registry.dataset(name)


def test_a_family_whose_file_was_deleted_costs_no_other_dataset(own_files):
    code = "from adbench_text.datasets import deleted\ndef members(): ...\ndef member(name): ...\n"
    own_files("datasets", orphans=code)
    assert {"20news", "tad-olid"} <= set(registry.names("datasets"))
    assert "cannot import name 'deleted'" in problems("datasets")["orphans"]
    with pytest.raises(PluginError, match="cannot import name 'deleted'"):
        registry.dataset("orphans")
    assert registry.dataset("tad-olid").name == "tad-olid"


@pytest.mark.parametrize(
    "code", ["class X(:\n", "x = '\0'", "\N{BYTE ORDER MARK}if:", "'''"], ids=["syntax", "nul", "bom", "open"]
)
def test_a_file_that_is_no_python_is_listed_as_broken_and_breaks_nothing(code, own_files):
    own_files("detectors", mistake=code)
    assert problems("detectors")["mistake"]
    assert registry.detector("llr").__name__ == "LLR"
    with pytest.raises(PluginError, match=r"detectors\.mistake "):
        registry.detector("mistake")


def test_an_empty_folder_is_an_error_only_if_it_is_asked_for(own_files, tmp_path):
    (tmp_path / "detectors" / "empty").mkdir(parents=True)
    (tmp_path / "detectors" / "empty" / "__init__.py").write_text("")
    own_files("detectors")
    with pytest.raises(PluginError, match=r"detectors\.empty .*found none"):
        registry.detector("empty")


# Plug-ins of other packages


def test_another_package_can_bring_detectors_and_datasets(toy):
    summary = "The share of words that were not seen in training, and some noise. (from toy)"
    assert summaries("detectors")["counting"] == summary
    assert summaries("datasets")["tiny"] == "from toy"
    assert registry.detector("counting").__module__ == "toy_plugins"
    assert registry.dataset("tiny").classes == ("sea", "law", "sky")


def test_a_dataset_may_be_an_instance_and_a_detector_a_function(install):
    code = (
        "from adbench_text.contract.dataset import Dataset\n"
        "class D(Dataset):\n  name = 'd'; classes = ('a', 'b')\n  def read(self): ...\n"
        "d = D()\ndef detector(*, k=1): ...\n"
    )
    entry_points = "[adbench_text.datasets]\nd = other:d\n[adbench_text.detectors]\nf = other:detector\n"
    install("other", entry_points, other=code)
    assert registry.dataset("d").classes == ("a", "b")
    assert registry.detector("f").__name__ == "detector"


BROKEN = """
[adbench_text.detectors]
absent = absent_module:X
attribute = fragile:Missing
number = fragile:NUMBER
fits-only = fragile:FitsOnly
raising = fragile_raising:X
exiting = fragile_exiting:X
sound = fragile:Sound

[adbench_text.datasets]
abstract = fragile:Abstract
bare = fragile:Sound
"""
FRAGILE = """
from adbench_text.corpora.corpus import Dataset
from adbench_text.corpora.split_key import SplitKey
NUMBER = 3
class FitsOnly:
    def fit(self, texts): ...
class Sound(FitsOnly):
    def decision_function(self, texts): ...
class Abstract(Dataset):
    name = "abstract"
"""


OF_VECTORS = """
import numpy as np
from pyod.models.base import BaseDetector


class Centre(BaseDetector):
    def __init__(self, contamination=0.1, power=2):
        super().__init__(contamination=contamination)
        self.power = power

    def fit(self, X, y=None):
        self.centre = X.mean(axis=0)
        self.decision_scores_ = self.decision_function(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X):
        return (np.abs(X - self.centre) ** self.power).sum(axis=1)


class Long(Centre):
    def fit(self, texts, y=None):
        return super().fit(np.array([[len(text)] for text in texts]))

    def decision_function(self, X):
        return super().decision_function(np.array([[len(text)] for text in X]) if isinstance(X, list) else X)
"""


def test_a_pyod_detector_of_vectors_gets_document_vectors(install):
    install("other", "[adbench_text.detectors]\ncentre = vectorial:Centre\n", vectorial=OF_VECTORS)
    detector = registry.detector("centre")(encoder="svd", power=1, random_state=0)
    assert detector.get_params()["power"] == 1
    detector.fit(["ship and crew", "ship and sail", "crew and sail"] * 5)
    near, far = detector.decision_function(["crew and ship", "the court"])
    assert far > near
    assert detector.regime == "from scratch"
    check_detector("centre")


def test_a_pyod_detector_whose_fit_takes_texts_gets_texts(install):
    install("other", "[adbench_text.detectors]\nlong = vectorial:Long\n", vectorial=OF_VECTORS)
    detector = registry.detector("long")().fit(["one", "two", "six"])
    assert detector.decision_function(["ten", "eleven"]).tolist() == [0, 9]
    again = pickle.loads(pickle.dumps(detector))
    assert again.decision_function(["eleven"]).tolist() == [9]


def test_the_threshold_of_a_pyod_detector_of_texts_is_that_of_its_contamination(install):
    install("other", "[adbench_text.detectors]\nlong = vectorial:Long\n", vectorial=OF_VECTORS)
    texts = ["x" * length**2 for length in range(1, 41)]
    detector = registry.detector("long")(contamination=0.3).fit(texts)
    assert detector.labels_.sum() == detector.wrapped.labels_.sum() == 12


def test_a_detector_without_a_default_is_named_with_the_parameter(install):
    code = "class Demanding:\n  def __init__(self, size): ...\n  def fit(self, texts): ...\n"
    install(
        "other",
        "[adbench_text.detectors]\ndemanding = strict:Demanding\n",
        strict=code + "  def decision_function(self, texts): ...\n",
    )
    message = "Demanding .*TypeError: .* argument: 'size'"
    with pytest.raises(PluginError, match=message):
        build_detector(Cell("demanding", "default", {}, SplitKey("pydocs", "torch")))


def test_the_code_of_a_wrapped_pyod_detector_decides_its_version(install, tmp_path):
    install("other", "[adbench_text.detectors]\ncentre = vectorial:Centre\n", vectorial=OF_VECTORS)
    version = code_version(registry.detector("centre"))
    (tmp_path / "vectorial.py").write_text(OF_VECTORS.replace("axis=1", "axis=-1"))
    assert code_version(registry.detector("centre")) != version


def test_broken_plugins_are_listed_with_their_error_and_break_nothing(install):
    raising = {
        "fragile_raising": "raise OSError('no\\nlicence')",
        "fragile_exiting": "import sys; sys.exit(3)",
    }
    install("other", BROKEN, fragile=FRAGILE, **raising)
    rows = problems("detectors") | problems("datasets")
    expected = {
        "absent": "'absent_module'",
        "attribute": "'Missing'",
        "number": "fragile:NUMBER .*decision_function",
        "fits-only": "fragile:FitsOnly .*decision_function",
        "raising": r"OSError: no licence \(fragile_raising.py:1\)",
        "exiting": "SystemExit: 3",
        "abstract": "abstract",
        "bare": "fragile:Sound .*adbench_text.contract.dataset.Dataset",
    }
    for name, reason in expected.items():
        assert re.search(reason, rows[name])
        with pytest.raises(PluginError, match=name) as caught:
            registry.load("datasets" if name in ("abstract", "bare") else "detectors", name)
        assert "\n" not in str(caught.value)
    assert rows["sound"] == ""
    assert registry.detector("sound").__name__ == "Sound"
    assert registry.detector("llr").__name__ == "LLR"


CLASHING = """
[adbench_text.detectors]
llr = fragile:Sound
pyod-knn = fragile:Sound
sound = fragile:Sound
[adbench_text.datasets]
agnews = fragile:Abstract
"""


@pytest.mark.parametrize(
    ("kind", "name", "own"),
    [
        ("detectors", "llr", "detectors.llr"),
        ("detectors", "pyod-knn", "detectors.pyod"),
        ("datasets", "agnews", "datasets.agnews"),
    ],
)
def test_a_name_of_ours_that_another_package_claims_is_an_error_with_both_places(kind, name, own, install):
    install("other", CLASHING, fragile=FRAGILE)
    with pytest.raises(PluginError) as caught:
        registry.load(kind, name)
    for place in (f"adbench_text.{own} (adbench-text)", "(other)", "Rename "):
        assert place in str(caught.value)
    assert problems(kind)[name] == str(caught.value)


def test_two_packages_or_two_files_of_ours_that_claim_one_name_are_both_named(install, own_files):
    install("one", "[adbench_text.detectors]\nsound = fragile:Sound\n", fragile=FRAGILE)
    install("two", "[adbench_text.detectors]\nsound = fragile:FitsOnly\n")
    own_files("datasets", thesis="class Thesis:\n  name = 'agnews'\n  def read(self): ...\n")
    message = r"'sound': fragile:FitsOnly \(two\), fragile:Sound \(one\)\."
    with pytest.raises(PluginError, match=message):
        registry.detector("sound")
    with pytest.raises(PluginError, match=r"datasets\.agnews .*, adbench_text\.datasets\.thesis "):
        registry.dataset("agnews")


def test_a_process_that_has_loaded_detectors_of_ours_goes_on(monkeypatch):
    monkeypatch.setattr(registry, "_loaded_from_others", set())
    for plugin in registry.plugins("detectors").values():
        if not plugin.is_member or plugin.name == "pyod-knn":
            registry.load("detectors", plugin.name)
    assert not registry.has_loaded_others()


def test_a_process_that_has_loaded_a_detector_of_another_package_is_spent(install, monkeypatch):
    monkeypatch.setattr(registry, "_loaded_from_others", set())
    install("one", "[adbench_text.detectors]\nsound = fragile:Sound\n", fragile=FRAGILE)
    registry.load("detectors", "sound")
    assert registry.has_loaded_others()
