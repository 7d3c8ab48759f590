"""adbench-text: which detector finds the odd documents in a text corpus, and by how much.

The names in ``__all__`` and the classes of the detectors are the public face of the library. Each is imported
when it is first used:

>>> from adbench_text import LLR
>>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
>>> near, far = LLR().fit(sea).decision_function(["the ship and its crew", "the court heard a witness"])
>>> bool(far > near)
True
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

try:
    __version__ = version("adbench-text")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "0+unknown"

# In a checkout the plug-in folders are beside this package, in an installation they are inside it.
# In both cases they are imported as adbench_text.detectors, adbench_text.datasets, adbench_text.reports.
_here = Path(__file__).parent
if not (_here / "detectors").is_dir():
    __path__.append(str(_here.parent))

_PLACES = {  # of each public name: its module, and its name there if it is another
    "ADBenchDetector": "adbench_text.plugins.adbench",
    "Cleaner": "adbench_text.plugins.cleaner",
    "Dataset": "adbench_text.plugins.dataset",
    "Documents": "adbench_text.plugins.dataset",
    "Edition": "adbench_text.plugins.dataset",
    "Model": "adbench_text.models.model",
    "Scorer": "adbench_text.models.model",
    "TextDetector": "adbench_text.plugins.detector",
    "VectorDetector": "adbench_text.plugins.vector_detector",
    "detector": "adbench_text.sweep.names",
    "fit_model": "adbench_text.documents.ranking",
    "load_model": "adbench_text.models.folder:load",
    "odd_documents": "adbench_text.documents.ranking",
    "p_values": "adbench_text.calibration",
    "save_model": "adbench_text.models.folder:save",
}
__all__ = [*_PLACES, "__version__"]


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name) or _detectors().get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, own_name = place.partition(":")
    value = getattr(import_module(module), own_name or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_detectors()})


def _detectors() -> dict[str, str]:
    """Return the module of each detector by the name of its class, without importing it."""
    registry = import_module("adbench_text.plugins.registry")
    plugins = registry.plugins("detectors").values()
    return {plugin.class_name: plugin.module for plugin in plugins if plugin.class_name}
