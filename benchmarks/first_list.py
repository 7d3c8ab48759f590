"""Which list a user should read first, if a file has one or several kinds of outliers.

A file has up to 3,000 documents of some classes, and 1 % of odd ones: documents of another class, spam
messages, sentences in four other languages, or these three and documents in base64. The script prints for
each list the AUROC, and the percentage of odd documents among the first ones, as many as there are odd ones.
Both are means over draws:

    python benchmarks/first_list.py --draws 2

With `--detectors`, a file has 980 documents of one class (or all, if there are fewer) and 20 of the other
classes. The script prints how many of the first 20 documents by words are odd, the mean over the classes and
draws. A name such as `ensemble:robust@encoder=minilm` has a setting:

    python benchmarks/first_list.py --draws 2 --detectors ensemble:robust knn-words

The script needs the real data in ADBENCH_TEXT_DATA; a file takes some seconds on one core.
"""

import argparse
import base64
import csv
import random
import sys
from collections.abc import Iterable

import numpy as np
from grew import labelled

from adbench_text import odd_documents
from adbench_text.metrics import auroc
from adbench_text.plugins import registry
from adbench_text.plugins.configure import setting
from adbench_text.storage import data_dir

N, SHARE = 3_000, 0.01
N_CLASSES = {"agnews": 1, "stackoverflow": 8, "20news": 6, "banking77": 30}  # classes of normal documents
LANGUAGES = "rus_Cyrl", "zho_Hans", "deu_Latn", "arb_Arab"
KINDS = [("topic",), ("spam",), ("foreign",), ("topic", "base64", "foreign", "spam")]
N_USUAL, N_SHOWN = 980, 20  # documents of one class, and of other classes, in a file of `--detectors`
OF_README = "20news", "agnews"
P_OF_LIST = {"both": "p_both", "words": "p", "form": "p_form"}


def spam() -> list[str]:
    """Return spam messages."""
    text = (data_dir() / "sms" / "SMSSpamCollection").read_text("utf-8")
    pairs = [line.split("\t", 1) for line in text.splitlines()]
    return [message for kind, message in pairs if kind == "spam"]


def foreign() -> list[str]:
    """Return sentences in several languages."""
    parts = [part for name in LANGUAGES for part in registry.dataset(f"sib-200:{name}").read()]
    return [text for part in parts for text in part.texts]


def file(corpus: str, kinds: tuple[str, ...], draw: int) -> tuple[list[str], np.ndarray]:
    """Return the documents of a file, and which of them are odd."""
    texts, labels = labelled(corpus)
    rng, sampler = np.random.default_rng(draw), random.Random(draw)
    classes = rng.permutation(np.unique(labels))
    is_normal = np.isin(labels, classes[: N_CLASSES[corpus]])
    is_other = labels == classes[N_CLASSES[corpus]]
    normal, other = (
        [texts[row] for row in rng.permutation(np.flatnonzero(rows)) if texts[row].strip()]
        for rows in (is_normal, is_other)
    )
    normal = normal[:N]
    n = max(4, int(SHARE * len(normal)) // len(kinds))
    odd = []
    for kind in kinds:
        if kind == "topic":
            odd += other[:n]
        elif kind == "base64":
            odd += [base64.b64encode(text.encode()).decode() for text in other[n : 2 * n]]
        else:
            odd += sampler.sample(foreign() if kind == "foreign" else spam(), n)
    return normal + odd, np.arange(len(normal) + len(odd)) >= len(normal)


def measured(corpus: str, kinds: tuple[str, ...], draw: int) -> list[float]:
    """Return the AUROC and the share of odd documents among the first ones, for each list."""
    texts, is_odd = file(corpus, kinds, draw)
    table = odd_documents(texts).table.sort_values("row")
    found = list[float]()
    for name in P_OF_LIST.values():
        p = table[name].fillna(1).to_numpy()
        first = np.argsort(p, kind="stable")[: is_odd.sum()]
        found += [100 * auroc(is_odd, -p), 100 * float(is_odd[first].mean())]
    return found


def first_shown(corpus: str, detector: str, draws: Iterable[int]) -> float:
    """Return how many of the first documents by words are odd, if as many are odd as are shown."""
    training = registry.dataset(corpus).read()[0]
    texts, labels = np.array(training.texts, dtype=object), np.array(training.labels)
    chosen, _, given = detector.partition("@")
    settings = dict([setting(given)]) if given else {}
    found = []
    for draw in draws:
        for name in np.unique(labels):
            rng, is_usual = np.random.default_rng(draw), labels == name
            n_usual = min(N_USUAL, is_usual.sum())
            usual = rng.choice(np.flatnonzero(is_usual), n_usual, replace=False)
            odd = rng.choice(np.flatnonzero(~is_usual), N_SHOWN, replace=False)
            ranked = odd_documents([*texts[usual], *texts[odd]], chosen, by="words", settings=settings)
            found.append((ranked.table["row"][:N_SHOWN] >= n_usual).sum())
    return float(np.mean(found))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--detectors", nargs="*", default=[])
    options = parser.parse_args()
    draws = range(options.draws)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if options.detectors:
        writer.writerow(["detector", *OF_README])
    for detector in options.detectors:
        shown = [first_shown(corpus, detector, draws) for corpus in OF_README]
        writer.writerow([detector, *np.round(shown, 1)])
        sys.stdout.flush()
    if options.detectors:
        return
    columns = [f"{order}, {what}" for order in P_OF_LIST for what in ("AUROC", "first")]
    writer.writerow(["corpus", "odd", *columns])
    for corpus in N_CLASSES:
        for kinds in KINDS:
            means = np.mean([measured(corpus, kinds, draw) for draw in draws], axis=0)
            writer.writerow([corpus, "+".join(kinds), *means.round(1)])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
