"""The user's own documents: rank them against each other, or score them with a saved model."""

from collections.abc import Callable, Iterable
from pathlib import Path

#: Default number of different documents that a detector learns from.
SAMPLE = 20_000

#: The file of `odd --example`. Its licences are in ``example-licences.txt``.
EXAMPLE = Path(__file__).with_name("example.csv.gz")

#: Columns for groups: the group of a document, a group that it fits better, and by how much.
OF_GROUPS = "group", "fits", "misfit"

#: Documents, or a function that yields them.
Texts = Iterable[str] | Callable[[], Iterable[str]]

#: Receives the name of the step ("scoring"), the number of documents done, and the total, or None if unknown.
#: It may be called for each document. A step without a count calls it once with 0.
OnProgress = Callable[[str, int, int | None], None]


def no_progress(what: str, n_done: int, n_total: int | None) -> None:
    """Show nothing."""
