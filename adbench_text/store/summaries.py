"""What a summary run holds: means and spreads of cells."""

import math
from collections.abc import Mapping, Sequence
from statistics import mean, pstdev, stdev

from adbench_text.metrics import MAIN, METRICS
from adbench_text.store.payload import run_tags
from adbench_text.store.record import TAG, Record, params_and_tags
from adbench_text.sweep.cell import DEFAULT, TEST_OUTLIERS, of_test_set, percent
from adbench_text.sweep.construct import cell_id

# MLflow sorts charts by name, those of a name with a slash first: the main metric opens the page under this
FIRST_CHART = f"{MAIN.title}/mean over splits"


def summary_key(definition: Mapping[str, str]) -> str:
    """Return a digest of what the cells of one summary share: all but inlier class and seed."""
    return cell_id(_shared(definition))


def summary_name(definition: Mapping[str, str], is_of_grid: bool) -> str:
    """Return the name of the summary run of a cell with this definition."""
    preset = definition.get("preset", DEFAULT)
    suffix = definition["configuration"] if preset == DEFAULT else preset
    if is_of_grid:
        suffix = f"{preset}: {definition['configuration']}"
    share = definition.get(TEST_OUTLIERS)
    level = percent(float(definition["contamination"]))
    detector = f"{definition['detector']} {suffix}".strip()
    return f"{detector} | {level} | mean{of_test_set(float(share) if share else None)}"


def summary_params_and_tags(key: str, definition: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the params and tags of the summary run of a cell with this definition."""
    params, versions = params_and_tags(_shared(definition))
    tags = {
        f"{TAG}kind": "summary",
        f"{TAG}summary": key,
        "mlflow.note.content": "Mean over splits and seeds; std is over splits, std_seeds over seeds.",
        **run_tags(),
    }
    return params, tags | versions


def _shared(definition: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in definition.items() if name not in ("inlier", "seed")}


def summary(group: Sequence[Record]) -> dict[str, float]:
    """Average cells: seeds within each split first, then the splits.

    ``..._std`` is the spread of the splits (of all there are), ``..._std_seeds`` that of the seeds'
    means (as a sample), where there are several seeds; NaN unless each has every split.
    """
    good = [record for record in group if record.is_ok]
    means: dict[str, float] = {}
    splits, seeds = {record.inlier for record in good}, {record.seed for record in good}
    has_seeds = len({record.seed for record in group}) > 1
    for metric in (*METRICS, "fit_seconds", "score_seconds"):
        if has_seeds:
            means[f"{metric}_std_seeds"] = math.nan  # unless each seed has every split
        # NaN where no cell is left that is finished: a number would be that of an earlier summary.
        # And where a cell was run before the metric was measured: the mean would be of fewer cells.
        if not good or any(metric not in record.metrics for record in good):
            means |= {metric: math.nan, f"{metric}_std": math.nan}
            continue
        of_split = [mean(r.metrics[metric] for r in good if r.inlier == split) for split in sorted(splits)]
        of_seed = [mean(r.metrics[metric] for r in good if r.seed == seed) for seed in sorted(seeds)]
        means |= {metric: mean(of_split), f"{metric}_std": pstdev(of_split)}
        if len(seeds) > 1 and len(good) == len(seeds) * len(splits):
            means[f"{metric}_std_seeds"] = stdev(of_seed)
    # last: MLflow's comparison of selected runs opens on the first
    means |= {"cells": float(len(good)), "failed_cells": float(len(group) - len(good))}
    return means | {FIRST_CHART: means[MAIN.name]}
