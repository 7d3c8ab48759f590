"""The table of cells, which a store returns, reports read, and a CSV file can keep."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields
from itertools import starmap
from typing import TYPE_CHECKING, Any

from adbench_text.corpora.split_key import AXES, SplitKey
from adbench_text.metrics import COSTS, METRICS, OF_KNOWN, OF_WORDS, TIED
from adbench_text.plugins.configure import DEFAULT, choice_name
from adbench_text.store.run import (
    MADE_BY,
    RESOURCE,
    Run,
    changed_error,
    check_unchanged,
    definition_of,
    own_tags,
)

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.run.cell import Cell

#: Measurements of a cell besides its metrics.
MEASURED = (*COSTS, "n_train", "n_train_outliers", "n_test", "n_test_outliers", "peak_memory_mb")
#: Columns that name a split; see `SplitKey`.
SPLIT = tuple(field.name for field in fields(SplitKey))
#: The origin of a cell: version and commit of this package, command and machine.
MADE_BY_COLUMNS = tuple(MADE_BY)

_TEXT, _NUMBER, _WHOLE, _FLAG, _TIME = "", float("nan"), 0, False, None  # the values of an empty cell
#: The columns, with the value of an empty cell; metrics are in [0, 1], times in seconds.
COLUMNS: dict[str, Any] = {
    "name": _TEXT,  # the detector in the notation of --detector
    "detector": _TEXT,
    "preset": DEFAULT,
    "configuration": _TEXT,  # the settings that differ from the defaults, in one line
    "dataset": _TEXT,
    "inlier": _TEXT,  # name of the split: its inlier class or classes
    "contamination": _NUMBER,
    "seed": _WHOLE,
    **{axis.name: axis.default for axis in AXES.values()},
    **dict.fromkeys([*METRICS, *MEASURED], _NUMBER),
    "status": _TEXT,  # ok, failed, or how the process was ended
    "reason": _TEXT,  # why the cell failed
    "oracle": _FLAG,  # whether the test labels chose the scores
    "regime": _TEXT,  # knowledge besides the training texts; empty if the detector does not declare it
    "n_configurations": 1,  # of the preset on the dataset; several make a grid
    "edition": _TEXT,  # version of the corpus, for people
    "documents": _TEXT,  # numbers of documents, for people
    "published": _FLAG,  # whether the corpus is the complete published one
    "limit": _NUMBER,  # maximum number of documents per class
    "classes": _TEXT,  # names of all splits of the corpus in order, as a JSON list; empty if too long
    "n_splits": _NUMBER,  # of the corpus
    "dataset_digest": _TEXT,
    "code_version": _TEXT,  # of the detector
    "harness_version": _TEXT,  # of this package, see `code_version.HARNESS_VERSION`
    "libraries": _TEXT,  # packages that the detector computes with
    "resources": _TEXT,  # digest of the files and data that decide the scores
    **dict.fromkeys(MADE_BY_COLUMNS, _TEXT),
    "started": _TIME,
    "cell": _TEXT,  # digest of everything that determines the result
    "run_id": _TEXT,  # in MLflow
    "source": _TEXT,  # the file that has the cell; empty for a store
    **dict.fromkeys([TIED, *OF_KNOWN, *OF_WORDS], _NUMBER),
}


def row_of(run: Run, store_name: str) -> dict[str, Any]:
    """Return the row for the run of a cell; raise TrackingError if somebody changed the run."""
    check_unchanged(run, store_name)
    definition, tags = definition_of(run), own_tags(run)
    try:
        key = SplitKey.of(definition)
        limit, n_splits = (float(tags.get(name, "nan")) for name in ("limit", "splits"))
        n_configurations = int(tags.get("configurations", 1))
    except ValueError as error:
        raise changed_error(run, store_name, error) from error
    resources = sorted(item for item in definition.items() if item[0].startswith(RESOURCE))
    return {
        # texts that have no tag, such as the regime, are in the definition
        **{name: definition.get(name, default) for name, default in COLUMNS.items() if default == _TEXT},
        **{name: tags[name] for name in ("status", "reason", "edition", "documents", "cell") if name in tags},
        **vars(key),
        **{name: value for name, value in run.metrics.items() if name in COLUMNS},
        **{name: run.tags.get(tag, "") for name, tag in MADE_BY.items()},
        "preset": definition["preset"],
        "name": choice_name(definition["detector"], definition["preset"], definition["configuration"]),
        "oracle": "oracle" in definition,
        "n_configurations": n_configurations,
        "published": tags.get("published") == "true",
        "limit": limit,
        "classes": json.dumps(tags["classes"].splitlines()) if tags.get("classes") else "",
        "n_splits": n_splits,
        "resources": hashlib.sha256(repr(resources).encode()).hexdigest()[:16] if resources else "",
        "started": run.started / 1000,
        "run_id": run.run_id,
    }


def table_of(rows: Iterable[dict[str, Any]]) -> "pd.DataFrame":
    """Make a table of rows; columns outside `COLUMNS` are numbers, and missing columns are empty."""
    import pandas as pd

    table = pd.DataFrame(list(rows))
    for name, default in COLUMNS.items():
        if name not in table:
            table[name] = default
    others = [str(name) for name in table.columns if name not in COLUMNS]
    table = table[[*COLUMNS, *others]].copy()
    for name in others:
        table[name] = table[name].astype("float64")
    for name, default in COLUMNS.items():
        if name == "started":
            table[name] = pd.to_datetime(table[name], unit="s", utc=True).astype("datetime64[ns, UTC]")
            continue
        kind: Any = {str: str, bool: bool, int: "int64"}.get(type(default), "float64")
        table[name] = table[name].where(table[name].notna(), default).astype(kind)
    return table


def latest(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the newest result of each cell, from a table with the oldest results first."""
    return table.drop_duplicates(["cell", "source"], keep="last").reset_index(drop=True)


def key_of(row: "pd.Series") -> SplitKey:
    """Return the split of a row."""
    return SplitKey(**{name: row[name] for name in SPLIT})


def keys_of(table: "pd.DataFrame") -> list[SplitKey]:
    """Return the split of each row."""
    return list(starmap(SplitKey, table[[*SPLIT]].itertuples(index=False, name=None)))


def identities_of(table: "pd.DataFrame") -> list[tuple[str, str, str, SplitKey]]:
    """Return the `Cell.identity` of each row."""
    names = (table[name] for name in ("detector", "preset", "configuration"))
    return list(zip(*names, keys_of(table), strict=True))


def of_cells(table: "pd.DataFrame", cells: Iterable["Cell"]) -> "pd.DataFrame":
    """Return the rows of some cells, with any version of their code."""
    wanted = {cell.identity for cell in cells}
    return table[[identity in wanted for identity in identities_of(table)]]
