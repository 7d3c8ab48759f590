"""The published figures of splits, and a bound from the DATE paper."""

import json
import math
from collections import defaultdict
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from adbench_text.reports.report import UNEQUAL, Entry, figure

_NAMES = {"date": "DATE", "cvdd": "CVDD", "ocsvm": "OCSVM", "iforest": "IForest"}
#: Sources of figures: the DATE paper, and Wu et al. (ACL 2023), who also ran DATE again.
PAPER, WU = "paper", "Wu et al."
#: Methods whose published figures were chosen by the test labels.
ORACLES = frozenset({"cvdd", "ocsvm", "iforest", "MDF+IMLM"})
#: Methods that are worse than another of the same knowledge; a table of splits has no room for them.
SURPASSED = frozenset({"GPT-2 fine-tuned", "MDF+IMLM"})


def source(name: str) -> str:
    """Return the source of a method: `PAPER` for the names of our detectors, otherwise `WU`."""
    return PAPER if name in _NAMES else WU


def method(name: str) -> str:
    """Return the name of a method as people read it, with a mark if it is an oracle."""
    readable = _NAMES.get(name, name.replace(" (run again)", ", run again"))
    return f"{readable}{UNEQUAL}" if name in ORACLES else readable


def label(name: str) -> str:
    """Return the head of the column for the figures of a method."""
    return f"{method(name)} ({source(name)})"


@cache
def read(name: str) -> dict[str, Any]:
    """Return the content of a file of published figures, such as ``"outside.json"``."""
    text = files("adbench_text.reports").joinpath(name).read_text(encoding="utf-8")
    return dict(json.loads(text))


def figures_of_the_paper() -> dict[str, Any]:
    """Return the figures of the DATE paper, as printed in its tables."""
    return read("published.json")


def rows_of_wu(dataset: str, metric: str) -> list[dict[str, Any]]:
    """Return the rows of a dataset with this metric of Wu et al."""
    return [row for row in read("mlkd.json")["rows"] if row["dataset"] == dataset and metric in row]


def figures(dataset: str, metric: str) -> dict[str, dict[str, Entry]]:
    """Return method -> inlier -> figure in percent; methods of the paper have the names of our detectors."""
    of_methods: dict[str, dict[str, Entry]] = defaultdict(dict)
    for name, of_datasets in figures_of_the_paper()["splits"].get(metric, {}).items():
        for inlier, value in of_datasets.get(dataset, {}).items():
            of_methods[name][inlier] = figure(value)
    for row in rows_of_wu(dataset, metric):
        if row["inlier"]:  # a row without one is a mean
            of_methods[row["method"]][row["inlier"]] = figure(row[metric], spread=row[f"{metric}_sd"])
    return dict(of_methods)


def ablation(detector: str, label: str) -> dict[str, Any]:
    """Return metric -> dataset -> [mean over the splits in percent, spread] of a row of Table 3.

    `label` is a preset with its settings: ``"paper(rtd_weight=0, score=pl_rmd)"``. Other configurations have
    no figures, and ``"paper"`` has none here: Table 1 has its splits.
    """
    if label == "paper":
        return {}
    found = {
        metric: of_detectors.get(detector, {}).get(label)
        for metric, of_detectors in figures_of_the_paper()["ablations"].items()
    }
    return {metric: of_datasets for metric, of_datasets in found.items() if of_datasets}


def overlap_bound(n_patterns: int, length: int, n_masked: int, n_shared: int) -> float:
    """Bound the chance that two of N random patterns share at least p masked positions.

    Source: Appendix A: UB_N = C(N, 2) C(S, p) (C(S - p, M - p) / C(S, M))^2. Each pattern masks M of S
    positions.
    """
    S, M, p = length, n_masked, n_shared
    shares = Fraction(math.comb(S - p, M - p), math.comb(S, M))  # the share of patterns that mask these p
    return float(math.comb(n_patterns, 2) * math.comb(S, p) * shares**2)
