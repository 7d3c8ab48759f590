"""adbench-text: which detector finds the odd documents in a text corpus, and how well.

The names in ``__init__.pyi`` are the public face of the library. Each is imported when it is first used:

>>> from adbench_text import LLR
>>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
>>> near, far = LLR().fit(sea).decision_function(["the ship and its crew", "the court heard a witness"])
>>> bool(far > near)
True
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.2.0"

# A checkout has the plug-in folders next to this package, an installation has them inside it.
# Both import them as adbench_text.detectors, adbench_text.datasets, adbench_text.reports.
_here = Path(__file__).parent
if not (_here / "detectors").is_dir():
    __path__.append(str(_here.parent))

_MODULES = {
    public.name: str(node.module)
    for node in ast.parse((_here / "__init__.pyi").read_bytes()).body
    if isinstance(node, ast.ImportFrom)
    for public in node.names
}
__all__ = [*_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
