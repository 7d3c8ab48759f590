"""Objects in the user's files: the detector ``./mine.py:Mine``, the encoder ``./mine.py:embed``.

The name of such an object, ``mine.py:Mine``, has no folder, so that results keep their name on another
machine. Only a path that the user writes makes a file known (`named`). So the name in a saved model alone
never runs code.

The file is imported as a module: its folder goes to the end of Python's path. So it may import the modules in
its folder, and worker processes can unpickle its objects. If two modules have the same name, the second is
refused.
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

#: The path of a file and the name of its object: ``./mine.py``, ``:Mine``.
WRITTEN = re.compile(r"([^\s():,=][^():,=]*\.py)(?![\w.])((?::\w+)?)")
# The same within a text. It also matches other text, so that no part is read twice.
_PARTS = re.compile(rf"{WRITTEN.pattern}|\s+|[^():,=]+")

_paths: dict[str, Path] = {}  # the known files, by the names of their objects


def named(text: str) -> str:
    """Make the files in a text of the user known; return the text with names of objects for their paths."""
    return _replaced(text, _add)


def _add(found: re.Match[str]) -> str:
    if found[0] in _paths:  # a name, not a path
        return found[0]
    name, path = name_and_path(found)
    if _paths.setdefault(name, path) != path:
        raise InvalidValueError(f"Two files have an object {name!r}; rename one of the files.")
    return name


def name_and_path(found: re.Match[str]) -> tuple[str, Path]:
    """Return the name of an object that is `WRITTEN`, and the absolute path of its file, without links."""
    path = Path(found[1]).expanduser().resolve()
    return f"{path.name}{found[2]}", path


def without_folders(text: str) -> str:
    """Return a text with names of objects for their paths, without making the files known."""
    return _replaced(text, lambda found: name_and_path(found)[0])


def names_in(text: str) -> Iterator[str]:
    """Yield the objects in files that a text names, with their paths as in the text."""
    return (found[0] for found in _PARTS.finditer(text) if found[1])


def _replaced(text: str, by: Callable[[re.Match[str]], str]) -> str:
    return _PARTS.sub(lambda found: by(found) if found[1] else found[0], text)


def written_in(settings: Mapping[str, Any]) -> list[str]:
    """Return the objects in files that the settings of a detector name, with the paths as given there."""
    texts = (value for value in settings.values() if isinstance(value, str))
    return [name for text in texts for name in names_in(text)]


def known() -> dict[str, Path]:
    """Return the known files by the names of their objects."""
    return dict(_paths)


def make_known(paths: Mapping[str, Path]) -> None:
    """Take over the files that another process knows."""
    _paths.update(paths)


def find(name: str) -> Path:
    """Return the path of the file of an object; raise InvalidValueError if the user has not named it."""
    if name not in _paths:
        raise InvalidValueError(f"{name!r} is in a file that was not given; give its path: ./{name}.")
    return _paths[name]


def load(path: Path, name: str = "") -> Any:
    """Import a file, and return the object `name`; without a name, the only class or function.

    `path` is absolute, without links. Raise PluginError if the file or the object does not exist, or if the
    file or another module in its folder has the name of another module. The code of the file may raise
    anything.
    """
    module, folder = path.stem, str(path.parent)
    if not path.is_file():
        raise PluginError(f"The file {path} does not exist on this machine.")
    if folder not in sys.path:
        sys.path.append(folder)
    invalidate_caches()  # the file may be new
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
        several = f"{len(public)} classes and functions" if public else "no class and no function"
        asked = f"no {name!r}" if name else several
        raise PluginError(f"{path.name} has {asked}; write {path.name}:NAME with one of: {listing(public)}.")
    return objects[name]
