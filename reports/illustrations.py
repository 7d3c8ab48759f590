"""The pictures and heat maps of a report."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from adbench_text.reports import declared
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.drawing import Drawing
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.figures.export import svg, write
from adbench_text.reports.ranking import Ranking
from adbench_text.reports.report import Heatmap, Picture
from adbench_text.store.record import Record
from adbench_text.store.store import Results
from adbench_text.sweep.cell import Cell


class Illustrations:
    """Pictures and heat maps of records, each drawn once, when it is needed.

    Parameters
    ----------
    records : sequence of Record
        From `Store.cells`, oldest first; not empty.
    metric : str
        The metric of the pictures.
    store : Results
        Keeps scores, curves and examples.
    cells : sequence of Cell
        See `Comparison`.

    Attributes
    ----------
    evidence : Evidence
    """

    def __init__(
        self, records: Sequence[Record], metric: str, store: Results, cells: Sequence[Cell] = ()
    ) -> None:
        self._comparison = Comparison(records, metric, cells)
        self.evidence = Evidence(self._comparison, store)

    @cached_property
    def drawings(self) -> list[Drawing]:
        """All figures for which there is something to draw."""
        return list(self._drawings())

    def _drawings(self) -> Iterator[Drawing]:
        ranking = Ranking(self._comparison)
        for name in declared.names("drawings"):
            yield from declared.module("drawings", name).drawings(self._comparison, ranking, self.evidence)

    @property
    def pictures(self) -> list[Picture]:
        """All pictures, as SVG."""
        return [
            Picture(d.name, d.title, d.caption, svg(d.figure, d.title, f"figure-{number}"))
            for number, d in enumerate(self.drawings, start=1)
        ]

    @property
    def heatmaps(self) -> list[Heatmap]:
        """The examples of each detector and split."""
        return self.evidence.heatmaps

    @property
    def notes(self) -> list[str]:
        """What could not be drawn, and why."""
        return self.evidence.notes

    def write(self, folder: Path) -> list[Path]:
        """Write all pictures as SVG, PDF and PNG; return the files."""
        return [path for d in self.drawings for path in write(d.figure, folder / d.name)]
