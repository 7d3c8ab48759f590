"""AUROC by the number of normal documents that the default detector of `fit` learns from.

In AG News each class is the outlier in turn, and the other three are normal. ROSTD has a class of outliers.
"""

import numpy as np
from sklearn.metrics import roc_auc_score

from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents.own_detector import own_detector
from adbench_text.plugins import registry

SIZES = 300, 1_000, 3_000, 10_000, 20_000, 40_000
OUTLIERS = {"agnews": (0, 1, 2, 3), "rostd": (1,)}  # numbers of classes
SEED = 0


def curve(train, test, outlier):
    """Yield numbers of normal documents, and the AUROC on all test documents."""
    cleaner = Cleaner()
    labels, cleaned = np.array(test.labels), [*map(cleaner, test.texts)]
    kept = [place for place, text in enumerate(cleaned) if text]
    texts = [text for text, label in zip(train.texts, train.labels, strict=True) if label != outlier]
    normal = [text for text in map(cleaner, texts) if text]
    order = np.random.default_rng(SEED).permutation(len(normal))
    for n in SIZES:
        if n <= len(normal):
            detector = own_detector("ensemble", None, None, "en", SEED, normal=True).detector
            detector.fit([normal[place] for place in order[:n]])
            scores = detector.decision_function([cleaned[place] for place in kept])
            yield n, 100 * roc_auc_score(labels[kept] == outlier, scores)


def main():
    for name, outliers in OUTLIERS.items():
        train, test = registry.dataset(name).read()[:2]
        for outlier in outliers:
            points = ", ".join(f"{n:,}: {auroc:.1f}" for n, auroc in curve(train, test, outlier))
            print(f"{name}, class {outlier} is the outlier: {points}", flush=True)


if __name__ == "__main__":
    main()
