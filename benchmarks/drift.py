"""How often `score` says that a file differs from the file of the model.

A model has half of the documents of a class, at most 1,000. A file has as many of the other half
(`numpy.random.default_rng(seed)`), and a share of it is replaced by documents of other classes. The script
prints CSV: the number of files that differ, by the tests and the level of today, by the three tests without
words at a level of 0.005, and by each test:

    python benchmarks/drift.py --seeds 0-4

The script needs the real data in ADBENCH_TEXT_DATA; a file takes some seconds on one core.
"""

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
from scipy.stats import kstwo

from adbench_text.calibration import LEAST_P
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.model import Scorer
from adbench_text.orders import Order
from adbench_text.plugins import registry

CORPORA = "agnews", "20news", "reuters"
SHARES = 0.0, 0.02, 0.05, 0.1
MOST = 1_000
BEFORE = 0.005  # the level of three tests
ORDERS: tuple[Order, ...] = "both", "words"


def measured(corpus: str, seed: int) -> Iterator[tuple[tuple[str, Order, float], dict[str, bool]]]:
    """Yield the tests that find a difference, for each class, order and share."""
    parts = registry.dataset(corpus).read()
    texts = np.array([text for part in parts for text in part.texts], dtype=object)
    labels = np.array([label for part in parts for label in part.labels])
    texts, first = np.unique(texts, return_index=True)
    labels = labels[first]
    for label in np.unique(labels):
        draw = np.random.default_rng(seed)
        own = draw.permutation(np.flatnonzero(labels == label))[: 2 * MOST]
        others = draw.permutation(np.flatnonzero(labels != label))
        n = len(own) // 2
        model = fit_model(texts[own[:n]].tolist())
        for order in ORDERS:
            scorer = Scorer(model, by=order)
            for share in SHARES:
                n_other = round(share * n)
                rows = [*own[n : 2 * n - n_other], *others[:n_other]]
                drift = scorer.drift(scorer.evidence(scorer.score(texts[rows].tolist())))
                n_calibration = len(model.calibrations[order])
                size = round(n_calibration * drift.n_new / (n_calibration + drift.n_new))
                without_tolerance = kstwo.sf(drift.distance, size)
                p = {
                    "odd": drift.p_odd,
                    "uniform": drift.p,
                    "families": drift.p_family,
                    "words": drift.p_grown,
                }
                before = bool(min(drift.p_odd, without_tolerance, drift.p_family) < BEFORE)
                found = {name: each < LEAST_P for name, each in p.items()}
                yield (corpus, order, share), {"today": drift.is_found, "before": before, **found}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="0-0", metavar="FIRST-LAST")
    parser.add_argument("--corpora", default=",".join(CORPORA))
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    writer = None
    for corpus in options.corpora.split(","):
        counts: dict[tuple[str, Order, float], Counter[str]] = {}
        for seed in range(first, last + 1):
            for key, found in measured(corpus, seed):
                counts.setdefault(key, Counter()).update({"files": 1, **found})
        for (name, order, share), of_key in counts.items():
            row = {"corpus": name, "by": order, "share": share, **of_key}
            if writer is None:
                writer = csv.DictWriter(sys.stdout, [*row], lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
