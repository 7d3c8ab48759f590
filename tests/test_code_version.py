import ast
import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from adbench_text import normal_form, source_code
from adbench_text.code_version import code_version, libraries, protocol_version
from adbench_text.plugins import registry

ROOT = Path(__file__).parents[1]
DETECTORS = ("llr", "ocsvm", "iforest", "pyod-knn", "pyod-lof", "cvdd", "date")


def versions() -> dict[str, str]:
    """The versions of all detectors, and of the protocol, from the code as it is parsed now."""
    of_detectors = {name: code_version.__wrapped__(registry.detector(name)) for name in DETECTORS}
    return {**of_detectors, "protocol": protocol_version.__wrapped__()}


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    return versions()


@pytest.fixture
def changed_by(before, monkeypatch):
    """Names whose version changes when a text is replaced in the source of a module."""

    def changed_by(name: str, old: str, new: str) -> set[str]:
        parse = source_code._parse
        source = source_code._file(f"adbench_text.{name}").read_text()
        assert old in source
        changed = ast.parse(source.replace(old, new))

        def parse_changed(asked):
            return changed if asked == f"adbench_text.{name}" else parse(asked)

        with monkeypatch.context() as patch:
            patch.setattr(source_code, "_parse", parse_changed)
            after = versions()
        return {each for each in before if before[each] != after[each]}

    return changed_by


def test_detectors_differ(before):
    assert len(set(before.values())) == len(before)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("detectors.date.training", "lower learning_rate", "decrease learning_rate"),  # a message
        ("detectors.date.training", "must not repeat", "may not repeat"),  # a comment
        ("detectors.date.training", "Train the networks", "Fit the networks"),  # a docstring
        ("detectors.date.training", "def seed_of(self, step: int) -> int", "def seed_of(self, step)"),
        (
            "detectors.date",
            "def check_params(self) -> None:",
            "def check_params(self) -> None:\n        pass",
        ),
        (
            "text.vectors",
            '"glove-wiki-gigaword-50": "GloVe 6B',
            '"glove-6b": "other", "glove-wiki-gigaword-50": "GloVe',
        ),
        ("text.vectors", "https://github.com", "https://example.com"),
        ("text.wordpiece", "64800d5d8528ce344256daf115d4965e", "0"),
        ("errors", "cutoff=0.5", "cutoff=0.6"),
        ("storage", "parents=True", "parents=False"),
    ],
)
def test_what_cannot_change_a_score_changes_no_version(changed_by, name, old, new):
    assert changed_by(name, old, new) == set()


VECTORS = {"ocsvm", "iforest", "pyod-knn", "pyod-lof"}


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("detectors.llr", "score = -sums", "score = sums", {"llr"}),
        ("detectors.llr", "smoothing: float = 1e4", "smoothing: float = 1e3", {"llr"}),
        ("detectors.date.electra", "F.gelu", "F.relu", {"date"}),
        ("detectors.date.training", "_REPORT_EVERY = 50", "_REPORT_EVERY = 51", {"date"}),
        ("detectors.cvdd.contexts", "_SETTLED = 5", "_SETTLED = 6", {"cvdd"}),
        ("detectors._batches", "max(1, n_tokens", "max(2, n_tokens", {"cvdd", "date"}),
        ("text.encoders", "(1 + frequency)", "(2 + frequency)", VECTORS),
        ("text.words", 'in ("Mn", "Mc")', 'in ("Mn",)', {"llr", "cvdd", *VECTORS}),
        ("text.cleaning", "len(word) > 2", "len(word) > 3", {"protocol"}),
        ("text.cleaning", "STOP_WORDS = frozenset(", "STOP_WORDS = set(", {"protocol"}),
        ("corpora.split", "rng.permutation(len(split.pool))", "np.arange(len(split.pool))", {"protocol"}),
        ("corpora.split", "round(contamination", "int(contamination", {"protocol"}),
        ("corpora.split", "permutation(places)[:n]", "permutation(places)[-n:]", set()),
        ("corpora.split", "corpus.train.labels == label", "corpus.train.labels != label", {"protocol"}),
        ("metrics", "_trapezoid_aupr(~outlier, -scores)", "_trapezoid_aupr(outlier, -scores)", {"protocol"}),
        ("run.evaluate", "return detector.decision", "return -detector.decision", {"protocol"}),
        ("run.evaluate", "list(split.train)", "list(split.test)", {"protocol"}),
        ("plugins.detector", "check_scores(self._score(", "check_scores(-self._score(", {*DETECTORS}),
    ],
)
def test_what_can_change_a_score_changes_the_versions_that_it_can_change(
    changed_by, name, old, new, expected
):
    assert changed_by(name, old, new) == expected


def test_moving_and_renaming_modules_changes_no_version(before, tmp_path):
    for folder in ("adbench_text", "detectors", "datasets", "reports"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    moves = {
        "detectors/_batches.py": "adbench_text/batching.py",
        "adbench_text/text/vector_files.py": "adbench_text/read.py",  # the name of a function in it
        "detectors/date/electra.py": "detectors/_networks.py",
    }
    names = {
        "adbench_text.detectors._batches": "adbench_text.batching",
        "adbench_text.detectors.date.electra": "adbench_text.detectors._networks",
        "adbench_text.text.vector_files": "adbench_text.read",
        "import glove_wheel, local_vectors, vector_files": (
            "import glove_wheel, local_vectors\nfrom adbench_text import read as vector_files"
        ),
    }
    for old, new in moves.items():
        (tmp_path / old).rename(tmp_path / new)
    for path in tmp_path.rglob("*.py"):
        text = path.read_text()
        for old, new in names.items():
            text = text.replace(old, new)
        path.write_text(text)
    code = (
        "from adbench_text import code_version; from adbench_text.plugins import registry\n"
        f"for name in {DETECTORS}: print(code_version.code_version(registry.detector(name)))\n"
        "print(code_version.protocol_version(), code_version.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    *found, file = done.stdout.split()
    assert Path(file).is_relative_to(tmp_path)
    assert found == list(before.values())


def test_the_libraries_are_those_a_detector_computes_with():
    import numpy
    import torch

    used = {name: libraries(registry.detector(name)) for name in DETECTORS}
    numpy_release = ".".join(numpy.__version__.split(".")[:2])
    torch_release = ".".join(torch.__version__.split(".")[:2])
    assert all(f"numpy {numpy_release}" in text.split(", ") for text in used.values())
    assert {name for name, text in used.items() if f"torch {torch_release}" in text} == {"cvdd", "date"}
    assert {name for name, text in used.items() if "pyod " in text} == {"pyod-knn", "pyod-lof"}
    assert {name for name, text in used.items() if "wordfreq " in text} == {"llr"}
    assert not any("pytest" in text or "mlflow" in text for text in used.values())


# Plug-ins of other packages


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Writes modules of a package and returns the version of its class Mine."""
    monkeypatch.syspath_prepend(tmp_path)

    def version_of(**sources: str) -> str:
        for name, source in {"__init__": "", **sources}.items():
            path = tmp_path / "package_of_test" / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(source)
        importlib.invalidate_caches()
        forget()
        for memory in (source_code._parsed, source_code._spec, normal_form.normal_form):
            memory.cache_clear()  # of the files before these
        return code_version.__wrapped__(importlib.import_module("package_of_test.mine").Mine)

    def forget():
        for name in [name for name in sys.modules if name.startswith("package_of_test")]:
            del sys.modules[name]

    yield version_of
    forget()


MINE = '''
"""A detector."""
import numpy as np
from .helper import K
from . import helper

class Mine:
    """It has a docstring."""
    k = K
    def fit(self, texts):
        # and a comment
        if not texts:
            raise ValueError("no texts")
        return helper.prepared(self, np.array([1]))
'''
HELPER = "K = 1\n\ndef prepared(x, y):\n    return x\n\ndef unused():\n    return 1\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# and a comment", "\n"),
        ("It has a docstring", "It does"),
        ("no texts", "There are no texts."),
        ("import numpy as np", "import numpy as other"),
        ("np.array", "np . array"),
        ("from .helper import K", "from package_of_test.helper import K"),
        ("def fit(self, texts):", "def fit(self, texts: list[str]) -> 'Mine':"),
    ],
)
def test_words_and_layout_of_a_plug_in_do_not_count(plugin, old, new):
    changed = MINE.replace(old, new)
    changed = changed.replace("np.", "other.") if "as other" in new else changed
    assert changed != MINE
    assert plugin(mine=MINE, helper=HELPER) == plugin(mine=changed, helper=HELPER)


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("K = 1", "K = 2", True),
        ("return x\n", "return y\n", True),
        ("def unused():\n    return 1", "def unused():\n    return 2", False),
        ("K = 1\n", "K = 1\nK += 1\n", True),
        ("K = 1\n", "try:\n    K = 2\nexcept ValueError:\n    K = 3\n", True),
        ("    return 1\n", "    return 1\n\nprepared.more = 1\n", True),  # runs when it is imported
    ],
)
def test_what_a_plug_in_uses_of_its_package_counts(plugin, old, new, counts):
    changed = HELPER.replace(old, new)
    assert changed != HELPER
    assert (plugin(mine=MINE, helper=HELPER) != plugin(mine=MINE, helper=changed)) is counts


def test_a_helper_may_move_within_its_package(plugin):
    moved = MINE.replace("from .helper import K", "from .inner import K")
    split = "from .inner import prepared\n"
    inner = HELPER.replace("def unused", "def used")
    assert plugin(mine=MINE, helper=HELPER) == plugin(mine=moved, helper=split, inner=inner)


def test_a_class_made_on_the_fly_has_the_version_of_its_module(plugin):
    made = "K = 1\n\ndef make():\n    class Mine:\n        k = K\n    return Mine\n\nMine = make()\n"
    assert plugin(mine=made) != plugin(mine=made.replace("K = 1", "K = 2"))
