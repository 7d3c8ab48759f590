"""A user's own documents: read from files, ranked against each other, scored by a model."""

from collections.abc import Callable, Iterable
from pathlib import Path

#: The detector of the commands for own documents, and of `odd_documents`.
DEFAULT_DETECTOR = "ensemble"

#: Different documents that a detector learns from, unless asked for more.
SAMPLE = 20_000

#: The file of `odd --example`; a note beside it has its licences.
EXAMPLE = Path(__file__).with_name("example.csv.gz")

#: The columns of documents in groups: their group, another one that they fit better, and by how much.
OF_GROUPS = "group", "fits", "misfit"

#: Documents, or a function that yields them.
Texts = Iterable[str] | Callable[[], Iterable[str]]

#: Receives what is done ("scoring"), the number of documents done, and that of all if it is known. It may be
#: called for each document, and with 0 where work begins that has no count.
OnProgress = Callable[[str, int, int | None], None]


def no_progress(what: str, n_done: int, n_total: int | None) -> None:
    """Show nothing."""
