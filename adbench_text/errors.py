"""Everything that can go wrong on purpose: one tree of exceptions, each with its exit code.

Exit codes: 1 missing or damaged files and unreachable servers, 2 wrong names, values or
options, 3 some cells failed, 130 interrupted (raised by the command line itself).
"""

from collections.abc import Iterable
from difflib import get_close_matches


class AdbenchTextError(Exception):
    """Base of all errors this package raises on purpose; its message is one line for the user."""

    exit_code = 1


class InvalidValueError(AdbenchTextError, ValueError):
    """A value or option outside its range, or of the wrong kind."""

    exit_code = 2


class UnknownNameError(InvalidValueError):
    """A name that is not known; says which known name is nearest.

    Parameters
    ----------
    kind : str
        What is named, for example ``"detector"``.
    name : str
        The name that was given.
    known : iterable of str
        All names that would have been right.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, sorted(known)
        near = get_close_matches(name.lower(), self.known, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        listed = ", ".join(self.known[:30]) + (", ..." if len(self.known) > 30 else "")
        super().__init__(f"No {kind} named {name!r}.{hint} Known: {listed or 'none'}.")

    def __reduce__(self) -> tuple[type, tuple[str, str, list[str]]]:  # crosses process borders
        return type(self), (self.kind, self.name, self.known)


class DataError(AdbenchTextError):
    """A file that is missing, truncated or not what it should be."""


class PluginError(AdbenchTextError):
    """A plug-in that is there but cannot be loaded."""


class TrackingError(AdbenchTextError):
    """The MLflow store cannot be reached or used."""


class DetectorError(AdbenchTextError):
    """A detector raised, or returned scores that no metric can use; fails one cell, not the sweep."""

    exit_code = 3
