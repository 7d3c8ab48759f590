"""The published figures that are listed beside ours, and a bound that the paper derives."""

import json
import math
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from adbench_text.reports.report import PUBLISHED, UNEQUAL

_NAMES = {"date": "DATE", "cvdd": "CVDD", "ocsvm": "OCSVM", "iforest": "IForest"}
#: Detectors whose published figures were chosen on the test labels.
ORACLES = frozenset({"cvdd", "ocsvm", "iforest"})


def label(detector: str) -> str:
    """Return the head of the column of the published figures of a detector."""
    return f"{_NAMES[detector]}{UNEQUAL if detector in ORACLES else ''} {PUBLISHED}"


@cache
def figures_of_the_paper() -> dict[str, Any]:
    """Return the figures of the DATE paper, as printed in its tables."""
    text = files("adbench_text.reports").joinpath("published.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def figures(metric: str) -> dict[str, dict[str, dict[str, float]]]:
    """Return detector -> dataset -> inlier -> percent; nothing of an unpublished metric."""
    return dict(figures_of_the_paper()["splits"].get(metric, {}))


def n_training_documents(dataset: str) -> dict[str, int]:
    """Return the number of training documents of each inlier class behind the figures of the paper."""
    return dict(figures_of_the_paper()["training_documents"].get(dataset, {}))


def ablations(metric: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return (detector, preset with settings) -> dataset -> mean over the splits, in percent (Table 3)."""
    of_metric = figures_of_the_paper()["ablations"].get(metric, {})
    return {
        (detector, preset): {dataset: mean for dataset, (mean, _) in of_preset.items()}
        for detector, of_detector in of_metric.items()
        for preset, of_preset in of_detector.items()
    }


def is_ablation(detector: str, preset: str) -> bool:
    """Return whether Table 3 has a mean of a configuration that Table 1, of the preset ``paper``, lacks."""
    presets = {key for metric in figures_of_the_paper()["ablations"] for key in ablations(metric)}
    return (detector, preset) in presets and preset != "paper"


def overlap_bound(n_patterns: int, length: int, n_masked: int, n_shared: int) -> float:
    """Bound the chance that two of N random patterns share at least p masked positions.

    Source: Appendix A: UB_N = C(N, 2) C(S, p) (C(S - p, M - p) / C(S, M))^2, with S positions of
    which each pattern masks M.
    """
    S, M, p = length, n_masked, n_shared
    shares = Fraction(math.comb(S - p, M - p), math.comb(S, M))  # that a pattern masks these p
    return float(math.comb(n_patterns, 2) * math.comb(S, p) * shares**2)
