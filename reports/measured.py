"""Results as DataFrames: published results of this project, the cells of a store, and their scores."""

import warnings
from pathlib import Path

import pandas as pd

from adbench_text.errors import TrackingError, UnknownNameError
from adbench_text.reports.build import stored_cells
from adbench_text.reports.evidence import Evidence
from adbench_text.reports.files import MEASURED
from adbench_text.store.cells import COLUMNS, SPLIT, latest
from adbench_text.store.cells_file import read_csv
from adbench_text.store.store import Store

_IDENTITY = ["cell", "name", "detector", "preset", "configuration", *SPLIT]  # of a cell


def results(source: str) -> pd.DataFrame:
    """Return results as a table with a row for each cell: one training and one test of a detector.

    Parameters
    ----------
    source : str
        A sweep with published results of this project, such as ``"main"``; a file that
        ``adbench-text report --format csv`` wrote, such as ``"cells.csv"``; or the address of a store, such
        as ``"sqlite:///mlflow.db"``.

    Returns
    -------
    DataFrame
        The columns of ``adbench-text report --format csv``; `adbench_text.store.cells.COLUMNS` lists them.
        Metrics are in [0, 1], times in seconds. A missing number is NaN, a missing text is empty.

    Raises
    ------
    UnknownNameError, DataError, TrackingError
        If there is no such sweep, the file has no cells, or the store has no results.

    Examples
    --------
    >>> table = results("main")
    >>> clean = table[(table["dataset"] == "20news") & (table["contamination"] == 0)]
    >>> print(clean.groupby("name")["auroc"].mean()["date:paper"].round(3))
    0.829
    """
    if source in MEASURED or Path(source).suffix == ".csv":
        return read_csv(MEASURED.get(source, Path(source)))
    if "://" in source or Path(source).is_file():  # an error names the address
        return latest(_stored(Store(source, create=False)))
    known = [*MEASURED, "FILE.csv", "sqlite:///mlflow.db"]
    raise UnknownNameError("measured sweep, file or address of a store", source, known)


def scores(uri: str) -> pd.DataFrame:
    """Return the scores of all test documents of the finished cells in the store at the address `uri`.

    Returns
    -------
    DataFrame
        The columns that identify a cell in `results`, texts as categories; ``cell`` also tells results of
        other code and of other versions of a corpus apart; ``document``, the row of the
        document in ``adbench_text.corpora.corpus.load(dataset, limit).written_test``, the test part of the
        corpus; ``class``; ``outlier``; and ``score``, higher for more abnormal documents. A warning names the
        cells without readable scores.

    Raises
    ------
    TrackingError
        If the store has no scores.
    """
    store = Store(uri, create=False)
    cells, evidence = latest(_stored(store)), Evidence(store)
    tables = [evidence.table(row) if row["status"] == "ok" else None for _, row in cells.iterrows()]
    for note in evidence.notes:
        warnings.warn(note, stacklevel=2)
    if not (readable := [table for table in tables if table is not None]):
        raise TrackingError(f"There are no scores in {store.redacted}; begin with adbench-text run.")
    identity = cells[_IDENTITY]
    texts = {name: "category" for name in _IDENTITY if isinstance(COLUMNS[name], str)}
    rows = identity.index.repeat([0 if table is None else len(table) for table in tables])
    documents = pd.concat(readable, ignore_index=True).astype({"class": "category", "outlier": bool})
    return pd.concat([identity.astype(texts).loc[rows].reset_index(drop=True), documents], axis=1)


def _stored(store: Store) -> pd.DataFrame:
    """Return the results of a store; warn about results that somebody changed."""
    cells, notes = stored_cells(store)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return cells
