"""The publications that detectors and datasets state."""

import inspect
import sys
from importlib import import_module
from typing import Any

from adbench_text.escaping import one_line
from adbench_text.plugins import registry


def citation_of(name: str) -> str:
    """Return the publications of a detector or dataset, or of its family."""
    kind = "detectors" if registry.find("detectors", name) else "datasets"
    plugin = registry.find(kind, name)
    if plugin is not None and not plugin.is_member:
        return stated_by(registry.load(kind, name))
    return stated_by(import_module(registry.module_of(kind, name)))


def stated_by(part: Any) -> str:
    """Return the publications of a class, an object or a module.

    They are its `citation`, or the `CITATION` of its module, and the References in the module's docstring.
    """
    module = part if inspect.ismodule(part) else sys.modules.get(part.__module__)
    stated = getattr(part, "citation", getattr(module, "CITATION", ""))
    references = (getattr(module, "__doc__", "") or "").partition("References\n----------\n")[2]
    if stated and references:
        stated = f"{stated.rstrip('.')}."
    return one_line(f"{stated} {references}".strip())
