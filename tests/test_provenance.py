import importlib
import sys
from pathlib import Path

import pytest

from adbench_text import registry
from adbench_text.provenance import code_version, environment, git_commit

BEFORE = '''
"""A detector."""
class Mine:
    """It has a docstring."""
    def fit(self, texts):
        # and a comment
        return self
'''


@pytest.fixture
def version_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(tmp_path)

    def version_of(source: str) -> str:
        (tmp_path / "mine_of_test.py").write_text(source)
        importlib.invalidate_caches()
        sys.modules.pop("mine_of_test", None)
        return code_version(importlib.import_module("mine_of_test").Mine)

    yield version_of
    sys.modules.pop("mine_of_test", None)


def test_comments_docstrings_and_layout_do_not_count(version_of):
    after = BEFORE.replace("# and a comment", "\n").replace("It has a docstring", "Said otherwise")
    assert version_of(BEFORE) == version_of(after)


def test_code_counts(version_of):
    assert version_of(BEFORE) != version_of(BEFORE.replace("return self", "return None"))


def test_detectors_of_one_file_differ():
    names = ("llr", "ocsvm", "iforest", "pyod-knn", "pyod-lof")
    assert len({code_version(registry.detector(name)) for name in names}) == len(names)


def test_what_a_detector_imports_of_this_package_counts(monkeypatch):
    from adbench_text import provenance

    parse = provenance._parse

    def parse_changed(module):
        tree = parse(module)
        if module == "adbench_text.encoders":
            tree.body.pop()
        return tree

    kinds = {name: registry.detector(name) for name in ("ocsvm", "pyod-knn", "llr")}
    before = {name: code_version.__wrapped__(kind) for name, kind in kinds.items()}
    monkeypatch.setattr(provenance, "_parse", parse_changed)
    after = {name: code_version.__wrapped__(kind) for name, kind in kinds.items()}
    assert {name for name in kinds if before[name] != after[name]} == {"ocsvm", "pyod-knn"}


def test_the_environment_names_the_libraries():
    assert {
        "adbench-text",
        "python",
        "numpy",
        "scikit-learn",
        "pyod",
        "torch",
        "platform",
    } <= environment().keys()
    assert all(environment().values())


def test_the_commit_is_that_of_the_checkout():
    commit = git_commit()
    assert commit is None or len(commit.removesuffix("-dirty")) == 40


def test_the_helpers_of_another_package_count(tmp_path, monkeypatch):
    package = tmp_path / "package_of_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text("K = 1\n")
    (package / "mine.py").write_text("from .helper import K\n\nclass Mine:\n    k = K\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    kind = importlib.import_module("package_of_test.mine").Mine
    before = code_version.__wrapped__(kind)
    (package / "helper.py").write_text("K = 2\n")
    assert code_version.__wrapped__(kind) != before
    for name in [name for name in sys.modules if name.startswith("package_of_test")]:
        del sys.modules[name]
