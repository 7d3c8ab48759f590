"""Digests of code: of a detector, of a dataset's reader, and of the protocol that measures all detectors.

A digest covers the definitions (functions, classes, constants) that a detector reaches, step by step,
in its own package and in this one. Only what can change a score counts. Comments, docstrings, layout,
annotations, messages, the names of modules and the place of a definition do not.
"""

import hashlib
import sys
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Annotated, Any, TypeVar

from adbench_text.normal_form import normal_form
from adbench_text.source_code import is_within, read_source, resolve

T = TypeVar("T")
#: Annotation of a constant that cannot change a score: ``DOWNLOADS: Fact[dict[str, str]] = ...``.
Fact = Annotated[T, "decides no score"]

# Modules that cannot change a score. A digest covers the calls of their functions, not their code.
_PLUMBING = {
    *("adbench_text.checks", "adbench_text.code_version", "adbench_text.errors", "adbench_text.isolation"),
    *("adbench_text.memo", "adbench_text.normal_form", "adbench_text.plugins.registry"),
    *(
        "adbench_text.provenance",
        "adbench_text.run.memory",
        "adbench_text.source_code",
        "adbench_text.storage",
        "adbench_text.text.packed",
        "adbench_text.text.glove_wheel",  # its files are verified
    ),
}
# Base classes that compute no score.
_INTERFACES = ("abc", "pyod.models.base", "sklearn.base")
# Cleaning, splits, contamination, and the measurement of a cell.
_PROTOCOL = (
    "adbench_text.text.cleaning.clean",
    "adbench_text.plugins.dataset.Documents",
    "adbench_text.corpora.split.one_vs_rest",
    "adbench_text.corpora.split.contaminate",
    "adbench_text.run.evaluate.measure",
)


# What is evaluated in addition, where the outliers of the test set are thinned. It is no part of the
# protocol, so that it outdates no result of a complete test set.
_THINNING = ("adbench_text.corpora.split.thinned",)


@cache
def code_version(kind: Any) -> str:
    """Return the digest of the code that decides the scores of a detector or the texts of a dataset.

    Parameters
    ----------
    kind : type
        Class of the detector or dataset.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    reached = _reach(_roots(kind), _tops(kind))
    return _digest([str(kind.__qualname__), *sorted(reached.definitions)])


@cache
def libraries(kind: Any) -> str:
    """Return the libraries that a detector computes with: ``"numpy 2.4, scikit-learn 1.9"``.

    Of each version, the major and minor release are given.
    """
    names = set(_reach(_roots(kind), _tops(kind)).libraries)
    interfaces = {base for each in kind.__mro__ if _is_interface(each.__module__) for base in each.__mro__}
    wrapped = {value for value in vars(kind).values() if isinstance(value, type)}
    for foreign in {*kind.__mro__, *wrapped} - interfaces:
        if not is_within(foreign.__module__, _tops(kind)):
            source = read_source(foreign.__module__)
            names |= {foreign.__module__, *(source.imports.values() if source else ())}
    tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - _tops(kind)
    return ", ".join(sorted({_release(top) for top in tops if top}))


@cache
def protocol_version() -> str:
    """Return the digest of the protocol: cleaning, splits, contamination, metrics and evaluation."""
    return _digest(sorted(_reach(_PROTOCOL, {"adbench_text"}).definitions))


@cache
def thinning_version() -> str:
    """Return the digest of the code that thins the outliers of a test set."""
    return _digest(sorted(_reach(_THINNING, {"adbench_text"}).definitions))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _tops(kind: Any) -> set[str]:
    """Return the packages whose code counts; of other packages, the version counts."""
    return {"adbench_text", kind.__module__.partition(".")[0]}


def _is_interface(dotted: str) -> bool:
    return any(dotted == name or dotted.startswith(f"{name}.") for name in _INTERFACES)


def _roots(kind: Any) -> list[str]:
    """Return the definitions of a class and of the classes it inherits from."""
    roots = []
    for base in kind.__mro__:
        if is_within(base.__module__, _tops(kind)):
            source = read_source(base.__module__)
            names = [base.__qualname__]
            if (
                source and base.__qualname__ not in source.definitions
            ):  # made at run time, by any of the definitions
                names = list(source.definitions)
            roots += [f"{base.__module__}.{name}" for name in names]
    return roots


def _release(top: str) -> str:
    distribution = {"sklearn": "scikit-learn"}.get(top, top)
    try:
        number = version(distribution)
    except PackageNotFoundError:
        distribution = next(iter(packages_distributions().get(top, [])), "")
        if not distribution:
            return top
        number = version(distribution)
    return f"{distribution} {'.'.join(number.partition('+')[0].split('.')[:2])}"


@dataclass
class _Reached:
    definitions: set[str] = field(default_factory=set)  # normal forms
    libraries: set[str] = field(default_factory=set)  # dotted names


def _reach(roots: Iterable[str], tops: Set[str]) -> _Reached:
    """Follow references from definition to definition, beginning with these dotted names."""
    reached = _Reached()
    todo, done = list(roots), set()
    while todo:
        target = resolve(todo.pop(), tops)
        if target is None:
            continue
        if isinstance(target, str):
            reached.libraries |= set() if _is_interface(target) else {target}
            continue
        module = target.source.name
        if module in _PLUMBING or (module, target.name) in done:
            continue
        done |= {(module, target.name)}
        definitions, references = normal_form(target.source, target.name, frozenset(tops))
        reached.definitions |= definitions
        todo += references
    return reached
