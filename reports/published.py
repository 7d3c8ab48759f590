"""The published figures that are listed beside ours, and a bound that the paper derives."""

import json
import math
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

#: Detector -> label of the column of its published figures.
COUNTERPARTS = {
    "date": "DATE (paper)",
    "cvdd": "CVDD† (paper)",
    "ocsvm": "OCSVM† (paper)",
    "iforest": "IForest† (paper)",
}
#: Columns whose figures were chosen on the test labels.
ORACLES = frozenset(COUNTERPARTS[detector] for detector in ("cvdd", "ocsvm", "iforest"))

#: Presets of ``date`` with settings on top of them -> what Table 3 calls them.
_ABLATIONS = {
    "paper": "date",
    "electra": "electra_adapted",
    "paper score=mp": "score_mp",
    "paper score=ne": "score_ne",
    "paper generator=small": "generator_small",
    "paper generator=large": "generator_large",
    "paper rmd_weight=0": "rtd_only",
    "paper rtd_weight=0 score=pl_rmd": "rmd_only",
    "paper n_patterns=5": "masks_5",
    "paper n_patterns=10": "masks_10",
    "paper n_patterns=25": "masks_25",
    "paper n_patterns=100": "masks_100",
    "paper mask_share=0.15": "mask_percent_15",
    "paper mask_share=0.25": "mask_percent_25",
}


@cache
def figures_of_the_paper() -> dict[str, Any]:
    """Return the figures of the DATE paper, as printed in its tables."""
    text = files("adbench_text.reports").joinpath("published.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def columns(metric: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return label of the column -> dataset -> inlier -> percent; nothing of an unpublished metric."""
    labelled: dict[str, dict[str, dict[str, float]]] = {}
    if metric == "auroc":
        keys = {"date": "date", "cvdd": "cvdd_best", "ocsvm": "ocsvm_best", "iforest": "iforest_best"}
        for dataset, of_inlier in figures_of_the_paper()["auroc_semi_supervised"].items():
            for inlier, figures in of_inlier.items():
                for detector, label in COUNTERPARTS.items():
                    labelled.setdefault(label, {}).setdefault(dataset, {})[inlier] = figures[keys[detector]]
    else:
        figures_of = figures_of_the_paper()["aupr_agnews_date"]
        of_metric = {name: figures[metric] for name, figures in figures_of.items() if metric in figures}
        if of_metric:
            labelled[COUNTERPARTS["date"]] = {"agnews": of_metric}
    return labelled


def n_training_documents(dataset: str) -> dict[str, int]:
    """Return the number of training documents of each inlier class behind the figures of the paper."""
    return dict(figures_of_the_paper()["training_documents"].get(dataset, {}))


def ablations(metric: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return (detector, preset with its settings) -> dataset -> mean over the splits, in percent.

    Source: Table 3, which is of AUROC on AG News.
    """
    figures = figures_of_the_paper()["ablation_agnews_mean_auroc"]
    if metric != "auroc":
        return {}
    return {("date", preset): {"agnews": figures[key][0]} for preset, key in _ABLATIONS.items()}


def is_ablation(detector: str, preset: str) -> bool:
    """Return whether Table 3 has a figure of its own for a configuration, so that Table 1 is of another."""
    return detector == "date" and preset in _ABLATIONS and preset != "paper"


def overlap_bound(n_patterns: int, length: int, n_masked: int, n_shared: int) -> float:
    """Bound the chance that two of N random patterns share at least p masked positions.

    Source: Appendix A: UB_N = C(N, 2) C(S, p) (C(S - p, M - p) / C(S, M))^2, with S positions of
    which each pattern masks M.
    """
    S, M, p = length, n_masked, n_shared
    shares = Fraction(math.comb(S - p, M - p), math.comb(S, M))  # that a pattern masks these p
    return float(math.comb(n_patterns, 2) * math.comb(S, p) * shares**2)
