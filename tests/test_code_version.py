import ast
import os
import shutil
from pathlib import Path

import pytest
from interpreters import printed

from adbench_text import code_version as module
from adbench_text.code_version import code_of, code_version, libraries
from adbench_text.plugins import registry

ROOT = Path(__file__).parents[1]
DETECTORS = ("llr", "ensemble", "ocsvm", "iforest", "pyod-knn", "pyod-lof", "cvdd", "date")


def test_the_code_of_a_detector_is_its_folder_and_the_shared_files_that_it_imports():
    names = {
        name.removeprefix("adbench_text.detectors.") for name in code_of(registry.detector("cvdd")).files
    }
    assert names == {"_batches", "_devices", "cvdd", "cvdd.contexts", "cvdd.scoring"}


def versions() -> dict[str, str]:
    module._meaning.cache_clear()
    return {name: code_version(registry.detector(name)) for name in DETECTORS}


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (
            "detectors/llr/__init__.py",
            "return per_word(score, counts)",
            "return per_word(-score, counts)",
            {"llr"},
        ),
        ("detectors/llr/__init__.py", '"""Log-likelihood', '"""The log-likelihood', set()),
        (
            "detectors/llr/__init__.py",
            "return per_word(score, counts)",
            "return per_word(score, counts)  # a comment",
            set(),
        ),
        ("detectors/date/electra.py", "F.gelu", "F.relu", {"date"}),
        ("detectors/_batches.py", "max(1, n_tokens", "max(2, n_tokens", {"cvdd", "date"}),
        ("detectors/ensemble.py", "class Ensemble", "class _X: ...\n\n\nclass Ensemble", {"ensemble"}),
        ("detectors/pyod.py", '"audio_ae"', '"sound"', {"pyod-knn", "pyod-lof"}),
        ("adbench_text/text/words.py", 'in ("Mn", "Mc")', 'in ("Mn",)', set()),  # see HARNESS_VERSION
    ],
)
def test_a_change_of_code_changes_the_versions_of_the_detectors_that_have_it(
    monkeypatch, file, old, new, expected
):
    before, parsed = versions(), module._parsed
    text = (ROOT / file).read_text()
    assert old in text
    changed = ast.parse(text.replace(old, new))
    monkeypatch.setattr(module, "_parsed", lambda path: changed if path == ROOT / file else parsed(path))
    after = versions()
    assert {name for name in DETECTORS if before[name] != after[name]} == expected


def test_the_libraries_are_those_a_detector_computes_with():
    import numpy
    import torch

    kinds = {name: registry.detector(name) for name in DETECTORS}
    used = {name: libraries(kind, declared=kind.computes_with) for name, kind in kinds.items()}
    numpy_release = ".".join(numpy.__version__.split(".")[:2])
    torch_release = ".".join(torch.__version__.split(".")[:2])
    assert all(f"numpy {numpy_release}" in text.split(", ") for text in used.values())
    assert {name for name, text in used.items() if f"torch {torch_release}" in text} == {"cvdd", "date"}
    assert {name for name, text in used.items() if "pyod " in text} == {"pyod-knn", "pyod-lof"}
    assert {name for name, text in used.items() if "wordfreq " in text} == {"llr", "date"}
    assert {name for name, text in used.items() if "tokenizers " in text} >= {"date", "ocsvm"}
    assert not any("pytest" in text or "mlflow" in text for text in used.values())


# Plug-ins of other packages

MINE = '''
"""A detector."""
import numpy as np
from {helper} import K

class Mine:
    """It has a docstring."""
    k = K
    def fit(self, texts):
        # and a comment
        return self
'''
HELPER = "K = 1\n\ndef prepared(x, y):\n    return x\n"


@pytest.fixture
def version_of(tmp_path, monkeypatch):
    """Writes files and returns the version of the class Mine in a module of them, in a process of its own."""

    def version_of(module: str, files: dict[str, str], code: str = "") -> str:
        shutil.rmtree(tmp_path / "src", ignore_errors=True)
        for name, source in files.items():
            path = tmp_path / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        path = os.pathsep.join([str(tmp_path / "src"), str(ROOT)])
        return printed(f"{code}\n{PRINT.format(module)}", PYTHONPATH=path).strip()

    return version_of


PRINT = (
    "import importlib; from adbench_text.code_version import code_version; "
    "print(code_version({0!r}, importlib.import_module({0!r}).Mine))"
)
FLAT = {"evdet.py": MINE.format(helper="evhelp"), "evhelp.py": HELPER}
PACKAGE = {
    "evpack/__init__.py": "",
    "evpack/mine.py": MINE.format(helper=".helper"),
    "evpack/helper.py": HELPER,
}


def test_comments_and_docstrings_of_a_plug_in_do_not_count(version_of):
    changed = FLAT["evdet.py"].replace("# and a comment", "").replace('    """It has a docstring."""\n', "")
    assert len(changed) < len(FLAT["evdet.py"]) - 40
    assert version_of("evdet", FLAT) == version_of("evdet", FLAT | {"evdet.py": changed})


MADE = {"evdet.py": "K = 1\ndef make():\n    class Mine:\n        k = K\n    return Mine\nMine = make()\n"}


@pytest.mark.parametrize(
    ("module", "files", "file"),
    [
        ("evdet", FLAT, "evhelp.py"),
        ("evpack.mine", PACKAGE, "evpack/helper.py"),
        ("evdet", MADE, "evdet.py"),  # a class made on the fly
    ],
)
def test_a_changed_module_that_a_plug_in_imports_counts(version_of, module, files, file):
    changed = files | {file: files[file].replace("K = 1", "K = -1")}
    assert version_of(module, files) != version_of(module, changed)


def test_a_module_that_is_imported_within_a_function_counts(version_of):
    files = FLAT | {"evhelp.py": f"{HELPER}def later():\n    from evmore import K\n", "evmore.py": "K = 1"}
    assert version_of("evdet", files) != version_of("evdet", files | {"evmore.py": "K = 2"})
    beside = FLAT | {"evmore.py": "K = 1"}  # nothing imports it
    assert version_of("evdet", beside) == version_of("evdet", FLAT)


def test_each_file_of_a_package_counts_also_a_compiled_one(version_of, tmp_path):
    before = version_of("evpack.mine", PACKAGE)
    assert before != version_of("evpack.mine", PACKAGE | {"evpack/other.py": ""})
    assert before != version_of("evpack.mine", PACKAGE | {"evpack/fast.so": "\0"})


def installed(folder: Path, name: str, record: str) -> Path:
    """Make an installed release of one file; return the folder of its metadata."""
    info = folder / "lib" / "site-packages" / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text(f"{record},,\n")
    return info


def test_an_installed_release_counts_by_its_version(version_of, tmp_path, monkeypatch):
    info = installed(tmp_path, "evrel", record="evrel.py")
    site = info.parent
    (site / "evrel.py").write_text(MINE.replace("from {helper} import K", "K = 1"))
    path = f"import sys; sys.path.insert(0, {str(site)!r})"
    versions = []
    for number, source in (("1.0", "K = 1"), ("1.0", "K = 2"), ("1.1", "K = 2")):
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: evrel\nVersion: {number}\n")
        (site / "evrel.py").write_text((site / "evrel.py").read_text().replace("K = 1", source))
        versions.append(version_of("evrel", {}, path))
    assert versions[0] == versions[1] != versions[2]


LOCAL = '{"url": "file:///home/me/evrel", "dir_info": {}}'
GIT = '{"url": "https://example.org/evrel.git", "vcs_info": {"vcs": "git", "commit_id": "1a2b"}}'
WHEEL = '{"url": "file:///home/me/evrel-1.0-py3-none-any.whl", "archive_info": {}}'


@pytest.mark.parametrize(
    ("origin", "installer", "counts"),
    [
        (LOCAL, "pip", True),
        (LOCAL, "uv", True),
        (GIT, "pip", True),
        (WHEEL, "pip", False),
        (LOCAL, "conda", False),
    ],
)
def test_what_was_installed_from_a_folder_or_a_repository_counts_by_its_files(
    version_of, tmp_path, origin, installer, counts
):
    info = installed(tmp_path, "evrel", record="evrel.py")
    (info / "direct_url.json").write_text(origin)
    (info / "INSTALLER").write_text(f"{installer}\n")
    path = f"import sys; sys.path.insert(0, {str(info.parent)!r})"
    versions = []
    for code in ("K = 1", "K = 2"):  # the same version is installed twice
        (info.parent / "evrel.py").write_text(MINE.replace("from {helper} import K", code))
        versions.append(version_of("evrel", {}, path))
    assert (versions[0] != versions[1]) == counts


def test_an_editable_package_counts_by_its_files(version_of, tmp_path):
    info = installed(tmp_path, "evpack", record="__editable__.evpack-1.0.pth")
    (info / "top_level.txt").write_text("evpack\n")
    path = f"import sys; sys.path.append({str(info.parent)!r})"
    changed = PACKAGE | {"evpack/helper.py": HELPER.replace("K = 1", "K = 2")}
    assert version_of("evpack.mine", PACKAGE, path) != version_of("evpack.mine", changed, path)


def test_a_part_of_a_namespace_that_is_no_release_counts_by_its_files(version_of, tmp_path):
    site = installed(tmp_path, "evspace-core", record="evspace/core.py").parent
    (site / "evspace").mkdir()
    (site / "evspace" / "core.py").write_text("K = 1")
    path = f"import sys; sys.path.append({str(site)!r})"
    files = {"evspace/mine.py": MINE.format(helper="evspace.core")}
    other = {"evspace/mine.py": files["evspace/mine.py"].replace("return self", "return None")}
    assert version_of("evspace.mine", files, path) != version_of("evspace.mine", other, path)


def test_the_parts_of_a_namespace_count_whatever_the_order_of_the_imports(version_of, tmp_path, monkeypatch):
    far = tmp_path / "far" / "evhelpers" / "deep"
    far.mkdir(parents=True)
    (far / "more.py").write_text(HELPER)
    path = f"import sys; sys.path.append({str(tmp_path / 'far')!r})"
    own = (
        "from evhelpers import tools\nfrom evhelpers.tools import K\nfrom evhelpers.deep.more import prepared"
    )
    files = {"evdet.py": MINE.replace("from {helper} import K", own), "evhelpers/tools.py": HELPER}
    versions = set()
    for seed in range(4):
        monkeypatch.setenv("PYTHONHASHSEED", str(seed))
        versions.add(version_of("evdet", files, path))
    assert len(versions) == 1
    versions.add(version_of("evdet", files | {"evhelpers/tools.py": "K = 2"}, path))
    (far / "more.py").write_text("def prepared(x, y):\n    return y\n")
    versions.add(version_of("evdet", files, path))
    assert len(versions) == 3


@pytest.mark.parametrize(
    "call", ["import_module('evmore')", "importlib.import_module('evmore')", "__import__('evmore')"]
)
def test_a_module_that_a_call_imports_by_its_name_counts(version_of, call):
    own = f"import importlib\nfrom importlib import import_module\nK = {call}.K"
    files = {"evdet.py": MINE.replace("from {helper} import K", own), "evmore.py": "K = 1"}
    assert version_of("evdet", files) != version_of("evdet", files | {"evmore.py": "K = 2"})
