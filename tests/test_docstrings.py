"""The examples in docstrings run, and the classes that users and plug-in authors need have one."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

from adbench_text.contract.dataset import Dataset
from adbench_text.contract.detector import TextDetector
from adbench_text.contract.vector_detector import VectorDetector
from adbench_text.plugins import registry
from adbench_text.plugins.pyod_detector import PyODDetector

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules() -> dict[str, Path]:
    """Every module of the package, by name; ``pkgutil`` does not see folders without __init__.py."""
    paths = {}
    for folder in ("adbench_text", "detectors", "datasets", "reports"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts if folder == "adbench_text" else ("adbench_text", *parts))
            paths[name.removesuffix(".__init__")] = path
    del paths["adbench_text.cli.__main__"]  # importing it runs the command line
    return paths


def documented() -> set[type]:
    """Our detectors, and the classes that authors of plug-ins use."""
    plugins = registry.plugins("detectors").values()
    own = {registry.load("detectors", each.name) for each in plugins if not each.is_member}
    return {Dataset, PyODDetector, TextDetector, VectorDetector} | {
        each for each in own if each.__module__.startswith("adbench_text.")
    }


EXAMPLES = [name for name, path in modules().items() if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_module_run(name, monkeypatch, tmp_path):
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", str(tmp_path))
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", "1")
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert tried
    assert not failed


def test_every_module_can_be_imported():
    for name in modules():
        assert importlib.import_module(name).__doc__, f"{name} has no docstring"


def test_detectors_and_the_bases_of_plug_ins_have_an_example():
    examples = {each.__name__: ">>> " in (inspect.getdoc(each) or "") for each in documented()}
    assert "DATE" in examples
    assert all(examples.values()), examples
