"""Hyper-parameters of a detector, as its docstrings describe them and with the values that it declares."""

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from adbench_text.checks import Range

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector

_UNDERLINE = re.compile(r"-{3,}\s*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_REFERENCE = re.compile(r"(?i)see `\w+`")
_BRACES = re.compile(r"\{([^{}]*)\}")
# "Ruff et al., ACL 2019", "Van Driessen and Sathe, 2015", 'Ruff, Li and Zhang, "A title", ACL 2019'
_CITATION = re.compile(
    r"(?:[A-Z][\w-]+, )*[A-Z][\w-]+(?: et al\.| and (?:[A-Z][\w-]+ ?)+)"
    r'(?:, "[^"]+")?, (?:[A-Z]\w+ )?(?:19|20)\d\d\b'
)
_CITE = re.compile(r":cite:`([^`]+)`")


class Entry(NamedTuple):
    """An entry of the section "Parameters" of a docstring in numpydoc's format."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class Parameter:
    """A hyper-parameter of a detector."""

    name: str
    default: Any
    type: str  # as the docstring of its class, or of a base, states it
    meaning: str  # likewise
    range: str  # values that it may have; empty if that is not known
    nullable: bool  # whether it may be None
    choices: Sequence[str]  # names that it may have; empty if it is no choice


def parameters(detector: "type[TextDetector]") -> list[Parameter]:
    """Return the hyper-parameters of a detector: those that its own docstring describes come first."""
    entries = documented(detector)
    fixed: frozenset[str] = getattr(detector, "fixed", frozenset())
    defaults, ranges = detector.default_params(), detector.parameter_ranges()
    order = [name for name in entries if name in defaults and name not in fixed]
    result = []
    for name in [*order, *(name for name in defaults if name not in order)]:
        entry = entries.get(name, Entry(name, "", ""))
        values = ranges.get(name, Range())
        choices = values.choices if name in ranges else _choices_of_type(entry.type)
        fields = name, defaults[name], entry.type, entry.meaning, values.text, values.nullable, choices
        result.append(Parameter(*fields))
    return result


def documented(kind: type) -> dict[str, Entry]:
    """Return the entries for all parameters of a class and of its bases, by name.

    One that only refers to another class ("See `TextDetector`.") is left out: that class has its own.
    """
    fixed: frozenset[str] = getattr(kind, "fixed", frozenset())
    entries: dict[str, Entry] = {}
    for base in kind.__mro__:
        for entry in parsed(vars(base).get("__doc__") or ""):
            is_reference = not entry.type and _REFERENCE.match(entry.meaning)
            # the base of an adapter describes those that replace the wrapped detector's own
            if not (is_reference or (base is kind and entry.name in fixed)):
                entries.setdefault(entry.name, entry)
    return entries


def parsed(docstring: str) -> Iterator[Entry]:
    """Yield the entries of the section "Parameters"; several names in one entry become one each."""
    lines = inspect.cleandoc(docstring).splitlines()
    titles = [i for i in range(len(lines) - 1) if lines[i].strip() and _UNDERLINE.fullmatch(lines[i + 1])]
    begin = next((i for i in titles if lines[i].strip() == "Parameters"), None)
    if begin is None:
        return
    end = next((i for i in titles if i > begin), len(lines))
    head, body = "", list[str]()
    for line in [*lines[begin + 2 : end], "end"]:
        if not line.strip() or line.startswith(" "):
            body.append(line.strip())
            continue
        names, _, kind = head.partition(":")
        meaning = " ".join(filter(None, body))
        for name in (each.strip() for each in names.split(",")):
            if _NAME.fullmatch(name):
                yield Entry(name, kind.strip(), meaning)
        head, body = line, []


def _choices_of_type(kind: str) -> Sequence[str]:
    match = _BRACES.match(kind)
    return [each.strip().strip("'\"") for each in match[1].split(",")] if match else ()


def citations(kind: type, module_docstring: str = "") -> list[str]:
    """Return the publications that a class, or the head of its module, cites; each once.

    A detector that no publication contains states what to cite: in the attribute ``citation`` of its class,
    or the constant ``CITATION`` of its module.

    >>> citations(object, "Isolation Forest on document vectors (Liu et al., 2008).")
    ['Liu et al., 2008']
    """
    stated = getattr(kind, "citation", getattr(sys.modules.get(kind.__module__), "CITATION", None))
    if isinstance(stated, str):
        return [stated]
    text = " ".join(f"{module_docstring} {vars(kind).get('__doc__') or ''}".split())
    keys = [key.strip() for group in _CITE.findall(text) for key in group.split(",")]
    return list(dict.fromkeys([*_CITATION.findall(text), *keys]))
