"""Events of a running sweep, for code that shows them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from adbench_text.run.cell import Cell
    from adbench_text.run.result import Result

MessageKind = Literal["note", "result", "error"]  # --quiet leaves out notes


class Progress:
    """Receives the events of a sweep, in the thread that runs it; a subclass shows them."""

    def message(self, text: str, kind: MessageKind = "note") -> None:
        """Receive a line for the user."""

    def begin(self, todo: "Sequence[Cell]", finished: int, failed: int) -> None:
        """Receive the cells to run, how many cells ended in earlier runs, and how many of these failed."""

    def started(self, cell: "Cell") -> None:
        """Receive a cell that begins."""

    def step(self, cell: "Cell", step: int, steps: int, losses: Mapping[str, float]) -> None:
        """Receive the state of a training, perhaps in another thread and while other cells run."""

    def done(self, result: "Result") -> None:
        """Receive a cell that has ended."""
