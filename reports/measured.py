"""Results as DataFrames: the measured sweeps of this project, the cells of a store, and their scores."""

import warnings
from pathlib import Path

import pandas as pd

from adbench_text.errors import TrackingError, UnknownNameError
from adbench_text.metrics import OF_WORDS
from adbench_text.plugins.configure import DEFAULT, written
from adbench_text.reports.build import held_records
from adbench_text.reports.cells import IDENTITY, ORIGINS, Cells
from adbench_text.reports.evidence import Evidence
from adbench_text.store.store import Store, opened

_FOLDER = Path(__file__).with_name("results")
_TEXTS = "detector preset configuration dataset inlier splits labelled_from planted status regime".split()
_TEXTS += ["edition", "dataset_digest", "code_version", "protocol", "libraries", *ORIGINS]
_FLAGS = ["oracle", "published"]


def results(source: str) -> pd.DataFrame:
    """Return results as a table with a row for each cell, which is one training and one test of a detector.

    Parameters
    ----------
    source : str
        A measured sweep of this project, such as ``"main"``, or the address of a store, such as
        ``"sqlite:///mlflow.db"``.

    Returns
    -------
    DataFrame
        The columns of ``adbench-text report --format csv``, and ``name``, the detector as
        ``--detector`` takes it. Metrics are in [0, 1], times in seconds. A missing number is NaN, a missing
        text is empty.

    Raises
    ------
    UnknownNameError, TrackingError
        If there is no such sweep, or the store has no results.

    Examples
    --------
    >>> table = results("main")
    >>> clean = table[(table["dataset"] == "20news") & (table["contamination"] == 0)]
    >>> print(clean.groupby("name")["auroc"].mean()["date:paper"].round(3))
    0.829
    """
    files = {path.stem: path for path in _FOLDER.glob("*.csv")}
    if "://" in source or (source not in files and Path(source).is_file()):  # the error has its address
        return _typed(pd.DataFrame(_cells(opened([source])).facts()))
    if source not in files:
        raise UnknownNameError("measured sweep or address of a store (sqlite:///mlflow.db)", source, files)
    return _typed(pd.read_csv(files[source], dtype=str, keep_default_na=False))


def scores(uri: str) -> pd.DataFrame:
    """Return the scores of all test documents of the finished cells in the store at the address `uri`.

    Returns
    -------
    DataFrame
        The columns that identify a cell in `results`, texts as categories; ``document``, its row in the
        test part of the corpus, ``adbench_text.corpora.corpus.load(dataset, limit).originals``; ``class``;
        ``outlier``; and ``score``, higher for more abnormal documents. A warning names the cells whose
        scores cannot be read.

    Raises
    ------
    TrackingError
        If the store has no scores.
    """
    store = opened([uri])
    cells, evidence = _cells(store), Evidence(store)
    tables = [evidence.table(record) if record.is_ok else None for record in cells.records]
    for note in evidence.notes:
        warnings.warn(note, stacklevel=2)
    if not (found := [table for table in tables if table is not None]):
        raise TrackingError(f"There are no scores in {store.shown}; begin with adbench-text run.")
    identity = _typed(pd.DataFrame(cells.facts()))[["name", *IDENTITY]]
    texts = dict.fromkeys(identity.columns.intersection(["name", *_TEXTS]), "category")
    rows = identity.index.repeat([0 if table is None else len(table) for table in tables])
    documents = pd.concat(found, ignore_index=True).astype({"class": "category", "outlier": bool})
    return pd.concat([identity.astype(texts).loc[rows].reset_index(drop=True), documents], axis=1)


def _cells(store: Store) -> Cells:
    """Return the newest cells of a store; warn about those that somebody changed."""
    records, notes = held_records(store)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return Cells(records)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of cells with all columns, also those that older files lack, and with their types."""
    table = table.reindex(columns=list(dict.fromkeys([*IDENTITY, *table, *OF_WORDS])), fill_value="")
    numbers = table.columns.difference([*_TEXTS, *_FLAGS, "started"]).tolist()
    table[_TEXTS] = table[_TEXTS].fillna("").astype(str)
    table[_FLAGS] = table[_FLAGS] == "yes"
    table[numbers] = table[numbers].apply(pd.to_numeric).astype("float64")
    table["started"] = pd.to_datetime(table["started"])
    settings = table["configuration"].where(table["preset"] == DEFAULT, "")
    detectors = table["detector"].str.partition("(")[0]
    table.insert(0, "name", list(map(written, detectors, table["preset"], settings)))
    return table.astype({"seed": "int64", "n_configurations": "int64"})
