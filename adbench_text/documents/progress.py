"""How long work on a user's documents reports what it has done."""

from collections.abc import Callable

#: Receives what is done ("scoring"), the number of documents done, and that of all if it is known. It may be
#: called for each document, and with 0 where work begins that has no count.
OnProgress = Callable[[str, int, int | None], None]


def no_progress(what: str, n_done: int, n_total: int | None) -> None:
    """Show nothing."""
