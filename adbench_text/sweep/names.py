"""Lists, patterns and ranges that name several detectors, datasets, classes or seeds at once."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adbench_text.errors import InvalidValueError, PluginError, listing
from adbench_text.plugins import registry
from adbench_text.sweep.sweep import DetectorChoice

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector

ALL = "all"
_PATTERN = re.compile(r"[*?\[]")
_RANGES = re.compile(r"\s*\d+\s*(-\s*\d+\s*)?(,\s*\d+\s*(-\s*\d+\s*)?)*")
_MOST_SEEDS = 10_000
_OPTIONS = {"detector": "--detector (-d)", "dataset": "--dataset (-s)"}


def expand(
    kind: str, texts: Iterable[str], choices: Callable[[], Sequence[str]] | None = None, place: str = ""
) -> list[str]:
    """Return the names that texts stand for, each once.

    A text is a name, a list such as ``"llr,ocsvm"``, a pattern of the shell such as ``"pyod-*"``, or
    ``"all"``. A name that does not exist is returned as it is: the code that uses it reports it. `choices`
    returns all names, by default those of the plug-ins; `place` is where they come from, for messages.

    >>> expand("detector", ["llr,ocsvm", "pyod-k*", "llr"])
    ['llr', 'ocsvm', 'pyod-kde', 'pyod-knn', 'pyod-kpca']
    """
    lookup = choices or (lambda: registry.names(f"{kind}s"))
    names: dict[str, None] = {}
    for text in texts:
        names |= dict.fromkeys(_names(kind, text, lookup, place))
    if choices is None:
        for name in names:
            _check_kind(kind, name, lookup)
    return list(names)


def _names(kind: str, text: str, lookup: Callable[[], Sequence[str]], place: str) -> list[str]:
    if not stands_for_several(text) or text in lookup():  # the name of a foreign one may have a comma
        return [text]
    names: list[str] = []
    for part in (each.strip() for each in text.split(",")):
        if not part:
            raise InvalidValueError(f"Expected names of a {kind} with commas between them, got {text!r}.")
        if part != ALL and not _PATTERN.search(part):
            names.append(part)
            continue
        matches = [name for name in lookup() if part == ALL or fnmatchcase(name, part)]
        if not matches:
            raise InvalidValueError(f"No {kind}{place} matches {part!r}. Known: {listing(lookup())}.")
        names += matches
    return names


def stands_for_several(text: str) -> bool:
    """Return whether a text may stand for several names."""
    if text.startswith((registry.OWN, registry.GIVEN)):
        return False
    return text == ALL or "," in text or bool(_PATTERN.search(text))


def _check_kind(kind: str, name: str, lookup: Callable[[], Sequence[str]]) -> None:
    """Raise InvalidValueError if a name is one of a dataset instead of a detector, or the reverse."""
    if (
        kind not in _OPTIONS
        or name in registry.plugins(f"{kind}s")
        or name.startswith((registry.OWN, registry.GIVEN))
    ):
        return
    if kind == "dataset" and name not in lookup() and Path(name).is_file():
        raise InvalidValueError(f"{name!r} is a file; use {registry.OWN}{name}.")
    other = "dataset" if kind == "detector" else "detector"
    if name in registry.names(f"{other}s") and name not in lookup():
        raise wrong_kind(name, other)


def wrong_kind(name: str, kind: str) -> InvalidValueError:
    """Return the error of a name that is given for the other kind; `kind` is its own."""
    return InvalidValueError(f"{name!r} is a {kind}; use {_OPTIONS[kind]}.")


def choices_of(
    entries: Iterable[str | DetectorChoice], note: Callable[[str], object]
) -> list[DetectorChoice]:
    """Return a choice for each detector that names stand for; `note` gets a message on those left out."""
    choices = []
    for entry in entries:
        choice = DetectorChoice(entry) if isinstance(entry, str) else entry
        names = expand("detector", [choice.name])
        if names != [choice.name]:
            names = _loadable(choice.name, names, note)
        choices += [with_preset(replace(choice, name=name)) for name in names]
    return choices


def with_preset(choice: DetectorChoice) -> DetectorChoice:
    """Return a choice whose name contains a preset, ``"llr:robust"``, with both apart."""
    name, _, preset = choice.name.partition(":")
    is_one = choice.name.startswith(registry.GIVEN) or choice.name in registry.names("detectors")
    if not preset or choice.preset or is_one:
        return choice
    return replace(choice, name=name, preset=preset)


def detector(name: str) -> "Callable[..., TextDetector]":
    """Return what makes the detector of a name, given hyper-parameters: its class.

    For a name with a preset, ``"llr:robust"``, it is `TextDetector.from_preset` of the class, with this
    preset.

    Examples
    --------
    >>> detector("llr")(cap=3).get_params()["cap"]
    3
    >>> robust = detector("llr:robust")(topics=4)
    >>> type(robust).__name__, robust.topics, robust.em_rounds
    ('LLR', 4, 5)
    """
    choice = with_preset(DetectorChoice(name))
    kind = registry.detector(choice.name)
    if choice.preset is None:
        return kind
    kind.from_preset(choice.preset)  # an error at once
    return partial(kind.from_preset, choice.preset)


def _loadable(text: str, names: Sequence[str], note: Callable[[str], object]) -> list[str]:
    """Return the detectors that can be loaded; those named themselves stay, so that they are an error."""
    named = {part.strip() for part in text.split(",")}
    errors = {}
    for name in names:
        if name not in named:
            try:
                registry.detector(name)
            except PluginError as error:
                errors[name] = error
    loadable = [name for name in names if name not in errors]
    if errors and not loadable:
        raise next(iter(errors.values()))
    if errors:
        first = next(iter(errors.values()))
        note(f"Left out of {text!r}, because they cannot be loaded: {', '.join(errors)}. The first: {first}")
    return loadable


def parse_seeds(text: str) -> list[int] | None:
    """Return the numbers of a list or range such as ``"0-3,7"``, None if the text is neither."""
    if not _RANGES.fullmatch(text):
        return None
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        begin, end = int(first), int(last if dash else first)
        if not 0 <= end - begin < _MOST_SEEDS:
            raise InvalidValueError(
                f"A range of seeds goes up and has at most {_MOST_SEEDS:,} numbers, got {part.strip()!r}."
            )
        numbers += range(begin, end + 1)
    return numbers
