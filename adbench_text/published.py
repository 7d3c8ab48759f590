"""The published figures that stand beside ours, and a bound that the paper derives."""

import json
import math
from fractions import Fraction
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


def overlap_bound(n_patterns: int, length: int, n_masked: int, n_shared: int) -> float:
    """Bound the chance that two of N random patterns share at least p masked positions.

    Source: Appendix A: UB_N = C(N, 2) C(S, p) (C(S - p, M - p) / C(S, M))^2, with S positions of
    which each pattern masks M.
    """
    S, M, p = length, n_masked, n_shared
    shares = Fraction(math.comb(S - p, M - p), math.comb(S, M))  # that a pattern masks these p
    return float(math.comb(n_patterns, 2) * math.comb(S, p) * shares**2)
