"""Objects in files of the user's own: the detector ``./mine.py:Mine``, the encoder ``./mine.py:embed``.

The name of such an object has no folder, ``mine.py:Mine``: its results are the same on another machine. Only
what a user wrote leads to a file (`named`), so that a name in a saved model does not lead to code.

The file is imported as a module, like one beside a script: its folder goes to the end of Python's path. So it
may import the modules beside it, and worker processes find what they unpickle. If two modules have one name,
the second is refused.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module, invalidate_caches
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from adbench_text.code_version import code_of, file_of
from adbench_text.errors import InvalidValueError, PluginError, listing

#: The path of a file, and what follows of its object: ``./mine.py``, ``:Mine``.
WRITTEN = re.compile(r"([^\s():,=][^():,=]*\.py)(?![\w.])((?::\w+)?)")
# The same within a text. What leads to no file is matched, too, so that no part of it is read again.
_PARTS = re.compile(rf"{WRITTEN.pattern}|\s+|[^():,=]+")

_paths: dict[str, Path] = {}  # of the files that are known, by the names of their objects


def named(text: str) -> str:
    """Make the files known that a text of the user names; return it with the names of their objects."""
    return _replaced(text, _add)


def _add(found: re.Match[str]) -> str:
    if found[0] in _paths:  # a name, and no path
        return found[0]
    name, path = name_and_path(found)
    if _paths.setdefault(name, path) != path:
        raise InvalidValueError(f"Two files have an object {name!r}; rename one of the files.")
    return name


def name_and_path(found: re.Match[str]) -> tuple[str, Path]:
    """Return the name of an object that is `WRITTEN`, and the path of its file, absolute without links."""
    path = Path(found[1]).expanduser().resolve()
    return f"{path.name}{found[2]}", path


def without_folders(text: str) -> str:
    """Return a text with the names of the objects in files that it has; nothing becomes known by it."""
    return _replaced(text, lambda found: name_and_path(found)[0])


def names_in(text: str) -> Iterator[str]:
    """Yield the objects in files that a text names, as the text writes them."""
    return (found[0] for found in _PARTS.finditer(text) if found[1])


def _replaced(text: str, by: Callable[[re.Match[str]], str]) -> str:
    return _PARTS.sub(lambda found: by(found) if found[1] else found[0], text)


def written_in(settings: Mapping[str, Any]) -> list[str]:
    """Return the objects in files that the settings of a detector name, as the settings write them."""
    texts = (value for value in settings.values() if isinstance(value, str))
    return [name for text in texts for name in names_in(text)]


def known() -> dict[str, Path]:
    """Return the files that are known, by the names of their objects."""
    return dict(_paths)


def make_known(paths: Mapping[str, Path]) -> None:
    """Make files known that another process knows."""
    _paths.update(paths)


def find(name: str) -> Path:
    """Return the path of the file of an object; raise InvalidValueError if the user has not named it."""
    if name not in _paths:
        raise InvalidValueError(f"{name!r} is in a file that was not given; give its path: ./{name}.")
    return _paths[name]


def load(path: Path, name: str = "") -> Any:
    """Import a file, and return the object of this name; without one, the only class or function.

    `path` is absolute, without links. Raise PluginError if there is no such file or object, or if the file or
    a module beside it has the name of another module. The code of the file may raise anything.
    """
    module, folder = path.stem, str(path.parent)
    if not path.is_file():
        raise PluginError(f"There is no file {path} on this machine.")
    if folder not in sys.path:
        sys.path.append(folder)
    invalidate_caches()  # it may have been written just now
    found = file_of(module) if "." not in module else None
    if found is None or found.resolve() != path:
        named = found or "no file or another module"
        raise PluginError(f"{path} cannot be imported: {module!r} leads to {named}. Rename the file.")
    objects = vars(import_module(module))
    for each, used in code_of(module).files.items():
        beside = PathFinder.find_spec(each.partition(".")[0], [folder])
        if beside and beside.origin and path.parent not in used.resolve().parents:
            raise PluginError(f"{path.name} gets {used} instead of {beside.origin}: rename one of the two.")
    public = [
        each
        for each, value in objects.items()
        if getattr(value, "__module__", "") == module and callable(value) and not each.startswith("_")
    ]
    name = name or (public[0] if len(public) == 1 else "")
    if name not in objects:
        asked = f"no {name!r}" if name else "no single class or function"
        raise PluginError(f"{path.name} has {asked}; write {path.name}:NAME with one of: {listing(public)}.")
    return objects[name]
