"""The exceptions that this package raises on purpose: one tree, each class with its exit code.

Exit codes: 1 missing or damaged files and unreachable servers, 2 wrong names, values or
options, 3 some cells failed. The command line itself exits with 4 for drift and 130 if interrupted.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 1000  # characters; for a longer name, no other name is suggested


class AdbenchTextError(Exception):
    """Base of all errors this package raises on purpose; its message is one line for the user."""

    exit_code = 1


class InvalidValueError(AdbenchTextError, ValueError):
    """A value or an option is outside its range, or has the wrong type."""

    exit_code = 2


def listing(names: Iterable[str], most: int = 30) -> str:
    """Return names for a message: ``"cvdd, date and 12 more"``, or ``"none"``."""
    ordered = sorted(names)
    more = f" and {len(ordered) - most} more" if len(ordered) > most else ""
    return ", ".join(ordered[:most]) + more or "none"


class UnknownNameError(InvalidValueError):
    """A name is unknown; the message suggests a similar known name, or lists the known names.

    A known name that begins with the unknown one is similar, as ``deu_Latn`` to ``deu``.

    >>> print(UnknownNameError("detector", "lrr", ["cvdd", "date", "llr"]))
    No detector named 'lrr'. Did you mean 'llr'?
    >>> print(UnknownNameError("detector", "transformer", ["cvdd", "date", "llr"]))
    No detector named 'transformer'. Known: cvdd, date, llr.
    >>> print(UnknownNameError("variant of sib-200", "deu", ["deu_Latn", "fra_Latn"]))
    No variant of sib-200 named 'deu'. Did you mean 'deu_Latn'?
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], advice: str = "") -> None:
        self.kind, self.name, self.known, self.advice = kind, name, sorted(known), advice
        # if no name is similar, the list helps more; long names take quadratic time
        short = [each for each in self.known if len(each) <= _LONGEST]
        near = get_close_matches(name.lower(), short, n=1) if len(name) <= _LONGEST else []
        near = near or [known for known in self.known if len(name) > 1 and known.startswith(name.lower())]
        hint = f"Did you mean {near[0]!r}?" if near else f"Known: {listing(self.known)}."
        super().__init__(f"No {kind} named {name!r}. {hint} {advice}".rstrip())

    def __reduce__(self) -> tuple[type, tuple[str, str, list[str], str]]:  # to send it between processes
        return type(self), (self.kind, self.name, self.known, self.advice)


class DataError(AdbenchTextError):
    """A file is missing, truncated or has the wrong content."""


class NotDownloadedError(DataError):
    """A file is missing, and downloads are forbidden."""


class ModelError(AdbenchTextError):
    """A saved model is missing, damaged, not trusted, or cannot be used in this environment."""


class PluginError(AdbenchTextError):
    """A plug-in is installed but cannot be loaded."""


class TrackingError(AdbenchTextError):
    """The MLflow store cannot be reached or used."""


class NoResultsError(TrackingError):
    """The MLflow store holds no results yet."""


class RefusedError(TrackingError):
    """The MLflow store answers, but refuses the data."""


class DetectorError(AdbenchTextError):
    """A detector raised an error or returned unusable scores. The cell fails, and the sweep goes on."""

    exit_code = 3
