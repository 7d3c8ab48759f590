"""Errors of plug-ins in one line, with the file and line of their code."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adbench_text.errors import AdbenchTextError, PluginError
from adbench_text.escaping import one_line

#: The exceptions of a plug-in that fails. Ctrl-C or a skipped test does not come from a plug-in.
FAILURES = (Exception, SystemExit)


def place_of_error(error: BaseException, module: str) -> str:
    """Return file and line of the innermost frame in a plug-in's package, ``" (mine.py:12)"``, or ``""``."""
    home = _home(module)
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        name = str(frame.f_globals.get("__name__", ""))
        if name == home or name.startswith(f"{home}."):
            return _written(frame.f_code.co_filename, line)
    return ""


def described(error: BaseException, module: str = "") -> str:
    """Return an error in one line: its type, its message, and its file and line in `module`, if given."""
    place = place_of_error(error, module) if module else ""
    return one_line(": ".join(filter(None, (type(error).__name__, message_of(error))))) + place


def message_of(error: BaseException) -> str:
    """Return the message of an error in one line, even if the error of a plug-in cannot print itself."""
    try:
        return one_line(str(error))
    except FAILURES:
        return "(an error whose text cannot be printed)"


@contextmanager
def as_plugin_error(problem: str, module: str, kind: type[AdbenchTextError] = PluginError) -> Iterator[None]:
    """Turn the failure of a plug-in into an error of one line; errors of this package pass unchanged."""
    try:
        yield
    except AdbenchTextError:
        raise
    except FAILURES as error:
        raise kind(f"{problem}: {described(error, module)}") from error


def _home(module: str) -> str:
    """Return the top-level package of a plug-in; for our own plug-ins, its module or subpackage."""
    parts = module.split(".")
    return ".".join(parts[:3] if parts[0] == "adbench_text" else parts[:1])


def _written(file: str, line: int | None) -> str:
    path = Path(file)
    name = f"{path.parent.name}/{path.name}" if path.stem == "__init__" else path.name
    return f" ({name}:{line})"
