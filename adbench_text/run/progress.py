"""What happens while a sweep runs, for those who show it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from adbench_text.run.cell import Cell
    from adbench_text.run.result import Result

MessageKind = Literal["note", "result", "error"]  # of a message; --quiet leaves out notes


class Progress:
    """Receives what happens in a sweep, in the thread that runs it; a subclass shows it."""

    def message(self, text: str, kind: MessageKind = "note") -> None:
        """Receive a line for the user."""

    def begin(self, todo: "Sequence[Cell]", finished: int, failed: int) -> None:
        """Receive the cells to run, and the numbers of those that ended before and of these that failed."""

    def started(self, cell: "Cell") -> None:
        """Receive a cell that begins."""

    def step(self, cell: "Cell", step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Receive the state of a training, perhaps in another thread, and while other cells run."""

    def done(self, result: "Result") -> None:
        """Receive a cell that has ended."""
