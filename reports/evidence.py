"""Scores, curves and examples of cells, from the artifacts of a store."""

from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.errors import TrackingError
from adbench_text.escaping import count
from adbench_text.metrics import ROUNDING, all_metrics
from adbench_text.reports.cells import text_of
from adbench_text.run import examples
from adbench_text.run.result import Example
from adbench_text.store.store import Store

_SCORES, _EXAMPLES = "scores.csv", "examples.json"

Scored = tuple[NDArray[np.bool_], NDArray[np.float64]]


class Evidence:
    """The artifacts of cells in a store.

    Damaged artifacts are left out and named in `notes`. Without a store there are no artifacts.
    """

    def __init__(self, store: Store | None = None) -> None:
        self.store = store
        self._held: dict[tuple[str, str], Any] = {}
        self._lost: dict[str, list[pd.Series]] = {}  # by the missing part

    def scores(self, cells: pd.DataFrame) -> dict[str, Scored]:
        """Return outliers and scores of the test documents of cells, by split."""
        tables = {row["inlier"]: self.table(row) for _, row in cells.iterrows()}
        return {inlier: scored(table) for inlier, table in tables.items() if table is not None}

    def table(self, row: pd.Series) -> pd.DataFrame | None:
        """Return document, class, outlier and score of the test documents of a cell, None if unreadable.

        The table stays in memory until `forget`. Raise TrackingError if a metric computed from the scores
        differs from the stored metric.
        """
        is_new = (_SCORES, row["run_id"]) not in self._held
        table: pd.DataFrame | None = self._read(row, _SCORES, lambda text: _scores(text, row["n_test"]))
        if table is not None and is_new:
            _check_metrics(row, table)
        return table

    def forget(self, row: pd.Series) -> None:
        """Release the memory of the `table` of a cell."""
        self._held.pop((_SCORES, row["run_id"]), None)

    def examples(self, row: pd.Series) -> list[Example] | None:
        """Return the examples of a cell, None if it has none or they cannot be read."""
        of_cell: list[Example] | None = self._read(row, _EXAMPLES, examples.from_json)
        return of_cell

    def _read(self, row: pd.Series, file: str, parse: Callable[[str], Any]) -> Any:
        """Return an artifact of a cell, from memory if it was read before; None without one.

        The first time, remember a cell whose artifact is damaged or missing: `notes` names it. The cells of a
        file have no artifacts.
        """
        key = file, row["run_id"]
        if self.store is not None and not row["source"] and key not in self._held:
            text = self.store.artifact(row["dataset"], row["run_id"], file)
            try:
                self._held[key] = None if text is None else parse(text)
                is_lost = text is None and file == _SCORES  # every finished cell has scores
            except Exception:  # damage can raise any error
                self._held[key], is_lost = None, True
            if is_lost:
                self._lost.setdefault("examples" if file == _EXAMPLES else "scores", []).append(row)
        return self._held.get(key)

    @property
    def notes(self) -> list[str]:
        """Notes on artifacts that cannot be read."""
        missing = {"scores": "figures", "examples": "heat maps"}
        return [_note(part, shown, self._lost[part]) for part, shown in missing.items() if part in self._lost]


def scored(table: pd.DataFrame) -> Scored:
    """Return outliers and scores of test documents."""
    return table["outlier"].to_numpy() == 1, table["score"].to_numpy()


def _scores(text: str, n_test: int) -> pd.DataFrame:
    """Read the scores of test documents from CSV; raise an error if the text has no such scores."""
    types = {"document": np.int64, "class": str, "outlier": np.int64, "score": str}
    table = pd.read_csv(StringIO(text), usecols=list(types), dtype=types, keep_default_na=False)
    table["score"] = table["score"].map(float)  # exact, unlike pandas' parser before version 3
    places = table["document"].to_numpy()
    if (np.diff(places, prepend=-1) <= 0).any() or len(places) != n_test:
        raise ValueError("the documents are not the test documents")
    if not (len(table) and table["outlier"].isin((0, 1)).all() and np.isfinite(table["score"]).all()):
        raise ValueError("these are no labels and scores")
    return table


def _check_metrics(row: pd.Series, table: pd.DataFrame) -> None:
    """Raise TrackingError if a stored metric of a cell differs from the metric of its scores."""
    for name, value in all_metrics(*scored(table)).items():
        stored = row[name]
        if abs(stored - value) > ROUNDING:  # False for NaN: an older cell may lack it
            raise TrackingError(
                f"The run {row['run_id']} ({text_of(row)}) was changed: its {name} is {stored:.4f}, and its "
                f"scores give {value:.4f}; delete the run, and run its cell again."
            )


def _note(part: str, missing: str, rows: Sequence[pd.Series]) -> str:
    """Return a note on the cells (rows) without a part, such as scores, and on the pictures without them."""
    rows = list({row["run_id"]: row for row in rows}.values())
    cells = list(dict.fromkeys(f"{row['detector']} on {row['dataset']}/{row['inlier']}" for row in rows))
    names = ", ".join(cells[:3]) + (", ..." if len(cells) > 3 else "")
    return (
        f"The {part} of {count(len(rows), 'finished cell')} cannot be read, so {missing} are missing "
        f"({names}): the artifacts of the store (the folder mlruns next to its file) were moved, deleted or "
        "damaged."
    )
