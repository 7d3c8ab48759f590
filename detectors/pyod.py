"""Any detector of PyOD, by name, on document vectors: pyod-ecod, pyod-knn, pyod-lof, ...

References
----------
Y. Zhao, Z. Nasrullah, Z. Li: PyOD: A Python Toolbox for Scalable Outlier Detection. JMLR 20, 2019.
"""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

#: Modules of PyOD with detectors for audio or one dimension, or with ensembles of other detectors.
_OTHER_DATA = ("audio_ae", "mad", "lscp")
_PREFIXES_OF_OTHER_DATA = ("_", "pyg_", "ts_")  # private, graphs, time series
#: A class, and the first paragraph of its docstring.
_CLASS = re.compile(r'(?ms)^class (\w+)[^:]*:(?:\s|#[^\n]*)*(?:r?"""(.*?)(?:\n\s*\n|"""))?')


def members() -> dict[str, str]:
    """Return the names and first sentences of PyOD's detectors, without importing PyOD."""
    return {name: summary for name, (_, summary) in _classes().items()}


@cache
def _classes() -> dict[str, tuple[str, str]]:
    """Map each name to the import path and the summary of a class that has the name of its module."""
    classes = {}
    for file in sorted(_folder().glob("*.py")):
        if file.stem.startswith(_PREFIXES_OF_OTHER_DATA) or file.stem in _OTHER_DATA:
            continue
        for class_name, text in _CLASS.findall(file.read_text(encoding="utf-8")):
            if _plain(class_name) == _plain(file.stem):
                sentence = " ".join(text.split()).partition(". ")[0].rstrip(".")
                summary = shorten(sentence, 100, placeholder=" ...") or class_name
                classes[file.stem.replace("_", "-")] = (f"pyod.models.{file.stem}:{class_name}", summary)
    return classes


def _folder() -> Path:
    """Return the folder of PyOD's detectors."""
    spec = find_spec("pyod")
    return Path(str((spec.submodule_search_locations or [""])[0])) / "models" if spec else Path()


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def member(name: str) -> Any:
    """Return the text detector around PyOD's detector with this name."""
    # imported here, because listing names must not import a library
    from adbench_text.plugins.pyod_detector import PyODDetector

    path, _ = _classes()[name]
    return PyODDetector.named(path, __name__)
