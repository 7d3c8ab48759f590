"""Any detector of PyOD, by name, on document vectors: pyod-ecod, pyod-knn, pyod-lof, ...

References
----------
Y. Zhao, Z. Nasrullah, Z. Li: PyOD: A Python Toolbox for Scalable Outlier Detection. JMLR 20, 2019.
"""

import ast
import importlib
import sys
from contextlib import redirect_stdout
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

#: Modules of PyOD whose detectors are for audio, for one dimension, or made of other detectors.
_OTHER_DATA = ("audio_ae", "mad", "lscp")
_PREFIXES_OF_OTHER_DATA = ("_", "pyg_", "ts_")  # private, graphs, time series


def members() -> list[str]:
    """Return the names of PyOD's detectors, from its source files, without importing it."""
    return sorted(_classes())


def summary(name: str) -> str:
    """Return the first sentence on PyOD's detector of this name, without importing it."""
    module, class_name = _classes()[name]
    source = (_folder() / f"{module.rpartition('.')[2]}.py").read_bytes()
    (node,) = [n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == class_name]
    paragraph = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    return shorten(paragraph.partition(". ")[0].rstrip("."), 100, placeholder=" ...") or class_name


@cache
def _classes() -> dict[str, tuple[str, str]]:
    """Map each name to module and class: the class that is called as its module is."""
    classes = {}
    for path in sorted(_folder().glob("*.py")):
        if path.stem.startswith(_PREFIXES_OF_OTHER_DATA) or path.stem in _OTHER_DATA:
            continue
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and _plain(node.name) == _plain(path.stem):
                classes[path.stem.replace("_", "-")] = (f"pyod.models.{path.stem}", node.name)
    return classes


def _folder() -> Path:
    """Return the folder of PyOD's detectors."""
    spec = find_spec("pyod")
    return Path(str((spec.submodule_search_locations or [""])[0])) / "models" if spec else Path()


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def member(name: str) -> Any:
    """Return the text detector around PyOD's detector of this name."""
    # not above: listing names imports no library
    from adbench_text.plugins.pyod_detector import PyODDetector

    module, class_name = _classes()[name]
    with redirect_stdout(sys.stderr):  # PyOD prints the names of missing packages
        wrapped = getattr(importlib.import_module(module), class_name)
    return PyODDetector.around(wrapped, __name__)
