"""Expand lists, patterns and ranges of detectors, datasets, classes and seeds."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from adbench_text.errors import InvalidValueError, PluginError, listing
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice, split_list
from adbench_text.storage import is_offline

ALL = "all"
_PATTERN = re.compile(r"[*?\[]")
_RANGE = r"\s*\d{1,10}\s*(-\s*\d{1,10}\s*)?"
_RANGES = re.compile(f"{_RANGE}(,{_RANGE})*")
_MOST_SEEDS = 10_000
_LARGEST_SEED = 2**32 - 1


def expand(
    kind: str,
    texts: Iterable[str],
    choices: Callable[[], Sequence[str]] | None = None,
    place: str = "",
    note: Callable[[str], object] = lambda text: None,
) -> list[str]:
    """Return the unique names that texts stand for.

    A text is a name, a list such as ``"llr,ocsvm"``, a shell pattern such as ``"pyod-*"``, or ``"all"``. An
    unknown name is returned unchanged: the code that uses it reports the error. `choices` returns all names,
    by default of the plug-ins; messages say `place` for their origin.

    A pattern with a colon, such as ``"sib-200:*"``, matches variants of a dataset. If downloads are off,
    missing variants are left out, and `note` gets a message on them.

    >>> expand("detector", ["llr,ocsvm", "pyod-k*", "llr"])
    ['llr', 'ocsvm', 'pyod-kde', 'pyod-knn', 'pyod-kpca']
    """
    lookup = choices or (lambda: registry.names(f"{kind}s"))
    names: dict[str, None] = {}
    for text in texts:
        names |= dict.fromkeys(_names(kind, text, lookup, place, note))
    for name in names if kind == "dataset" else ():
        if not name.startswith(registry.OWN) and name not in lookup() and Path(name).is_file():
            raise InvalidValueError(f"{name!r} is a file; use {registry.OWN}{name}.")
    return list(names)


def _names(
    kind: str,
    text: str,
    lookup: Callable[[], Sequence[str]],
    place: str,
    note: Callable[[str], object],
) -> list[str]:
    """Return the names that one text stands for, see `expand`; a name may be in the list several times."""
    is_own = text.startswith((registry.OWN, registry.GIVEN))
    is_several = text == ALL or "," in text or bool(_PATTERN.search(text))
    if is_own or not is_several or text in lookup():  # the name of another package's plug-in may have a comma
        return [text]
    names: list[str] = []
    for part in split_list(text):
        if not part:
            raise InvalidValueError(f"Expected names of a {kind} with commas between them, got {text!r}.")
        is_pattern = part == ALL or bool(_PATTERN.search(part))
        if not is_pattern or (part != ALL and part in lookup()):  # a name may have a character of patterns
            names.append(part)
            continue
        matches = [name for name in lookup() if part == ALL or fnmatchcase(name, part)]
        if kind == "dataset" and not matches:
            matches = _variants(part, note)
        if not matches:
            raise InvalidValueError(f"No {kind}{place} matches {part!r}. Known: {listing(lookup())}.")
        names += matches
    return names


def _variants(pattern: str, note: Callable[[str], object]) -> list[str]:
    """Return the variants of a dataset that match a pattern; leave out missing ones if downloads are off."""
    names = [name for name in registry.variants(pattern) if fnmatchcase(name, pattern)]
    if not is_offline():
        return names
    here = [name for name in names if all(file.is_here for file in registry.dataset(name).files)]
    if not here:
        return names  # loading the first one says which file is missing
    if missing := [name for name in names if name not in here]:
        note(f"Left out of {pattern!r}, because downloads are off: {listing(missing)}")
    return here


def choices_of(
    texts: Iterable[str], note: Callable[[str], object], of_sweep: Sequence[str] = ()
) -> list[DetectorChoice]:
    """Return a choice for each detector that texts name, also by lists and patterns.

    If names are given in `of_sweep`, patterns match only these. Detectors that match a pattern but cannot be
    loaded are left out, and `note` gets a message on them.

    >>> [choice.name for choice in choices_of(["llr:robust,pyod-k*(encoder=svd)"], print)]
    ['llr', 'pyod-kde', 'pyod-knn', 'pyod-kpca']
    """
    choices, place = [], " of the sweep" if of_sweep else ""
    for text in map(registry.with_known_files, texts):
        # the name of another package's detector may have a comma
        for part in [text] if text in registry.names("detectors") else split_list(text):
            choice = DetectorChoice.parse(part)
            names = expand("detector", [choice.name], (lambda: of_sweep) if of_sweep else None, place)
            is_pattern = names != [choice.name]
            if is_pattern:
                names = _loadable(choice.name, names, note)
            choices += [replace(choice, name=name) for name in names]
    return choices


def _loadable(pattern: str, names: Sequence[str], note: Callable[[str], object]) -> list[str]:
    """Return the detectors that can be loaded; raise the first PluginError if there is no such detector."""
    errors = {}
    for name in names:
        try:
            registry.detector(name)
        except PluginError as error:
            errors[name] = error
    if not errors:
        return list(names)
    first = next(iter(errors.values()))
    if len(errors) == len(names):
        raise first
    note(f"Left out of {pattern!r}, because they cannot be loaded: {', '.join(errors)}. The first: {first}")
    return [name for name in names if name not in errors]


def parse_seeds(text: str) -> list[int]:
    """Return the seeds of a list or range such as ``"0-3,7"``; raise InvalidValueError for other texts."""
    if not _RANGES.fullmatch(text):
        raise InvalidValueError(
            f"Expected a seed, a list such as 0,2,5 or a range such as 0-4, got {text!r}."
        )
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        begin, end = int(first), int(last if dash else first)
        if not 0 <= end - begin < _MOST_SEEDS or end > _LARGEST_SEED:
            raise InvalidValueError(
                f"A range of seeds goes up, has at most {_MOST_SEEDS:,} numbers and ends at {_LARGEST_SEED}, "
                f"got {part.strip()!r}."
            )
        numbers += range(begin, end + 1)
    return numbers
