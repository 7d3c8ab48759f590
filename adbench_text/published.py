"""The published figures that stand beside ours."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def figures_of_the_paper() -> dict[str, Any]:
    """Return the figures of the DATE paper, as they stand in its tables."""
    text = files("adbench_text.reports").joinpath("published.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def columns(metric: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return label of the column -> dataset -> inlier -> percent."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    if metric == "auroc":
        names = {"date": "DATE", "cvdd_best": "CVDD†", "ocsvm_best": "OCSVM†", "iforest_best": "IForest†"}
        for dataset, of_inlier in figures_of_the_paper()["auroc_semi_supervised"].items():
            for inlier, figures in of_inlier.items():
                for key, label in names.items():
                    found.setdefault(f"{label} (paper)", {}).setdefault(dataset, {})[inlier] = figures[key]
    else:
        of_inlier = figures_of_the_paper()["aupr_agnews_date"]
        found["DATE (paper)"] = {"agnews": {inlier: figures[metric] for inlier, figures in of_inlier.items()}}
    return found
