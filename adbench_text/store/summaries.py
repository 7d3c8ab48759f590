"""What a summary run says of the cells it stands for."""

import math
from collections.abc import Mapping
from statistics import mean, pstdev, stdev
from typing import Any

from adbench_text.metrics import METRICS
from adbench_text.sweep.definition import cell_id

Record = dict[str, Any]

_NO_PARAMS = (  # of a record's texts
    *("cell", "status", "reason", "edition", "documents", "kind", "configurations"),
    *("run_id", "artifact_uri"),
)


def summary_key(definition: Mapping[str, Any]) -> str:
    """Return what cells share whose results are averaged."""
    ignored = ("inlier", "seed")
    params = {
        name: value for name, value in definition.items() if isinstance(value, str) and name not in ignored
    }
    return cell_id({name: value for name, value in params.items() if name not in _NO_PARAMS})


def summary(group: list[Record]) -> dict[str, float]:
    """Average cells: seeds within each split first, then the splits.

    ``..._std`` is the spread of the splits (of all there are), ``..._std_seeds`` that of the seeds'
    means (as a sample), where there are several seeds and each has every split.
    """
    good = [record for record in group if record["status"] == "ok"]
    means: dict[str, float] = {}
    splits, seeds = ({record[name] for record in good} for name in ("inlier", "seed"))
    for metric in (*METRICS, "fit_seconds", "score_seconds"):
        # NaN where no cell is left that is finished: a number would be that of an earlier summary.
        # And where a cell was run before the metric was measured: the mean would be of fewer cells.
        if not good or any(metric not in record for record in good):
            means |= {metric: math.nan, f"{metric}_std": math.nan}
            continue
        of_split, of_seed = (
            [mean(r[metric] for r in good if r[name] == value) for value in sorted(values)]
            for name, values in (("inlier", splits), ("seed", seeds))
        )
        means |= {metric: mean(of_split), f"{metric}_std": pstdev(of_split)}
        if len(seeds) > 1 and len(good) == len(seeds) * len(splits):
            means[f"{metric}_std_seeds"] = stdev(of_seed)
    # last: MLflow's comparison opens on the first
    return means | {"cells": float(len(good)), "failed_cells": float(len(group) - len(good))}
