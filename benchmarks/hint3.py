"""Queries that chat bots should reject: five platforms, with published confidences of HINT3, and our models.

It prints Markdown tables. Our models reject a query if its p is at most 0.05. A platform rejects it if it
answers that no intent fits. For the share found when 5 % in scope are rejected, the test labels give the
threshold, for all models. This share is 0 if more than 5 % in scope have the lowest confidence.

The script needs the real data in ADBENCH_TEXT_DATA, with the folder ``preds`` of the repository
hellohaptik/HINT3 as ``hint3/preds``, and takes a minute on one core.
"""

import csv
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from adbench_text import Scorer, fit_model
from adbench_text.contract.dataset import Documents
from adbench_text.metrics import auroc
from adbench_text.plugins import registry
from adbench_text.storage import data_dir

BOTS = ("curekart", "powerplay11", "sofmattress")
PLATFORMS = {"bert": "BERT", "dialogflow": "Dialogflow", "haptik": "Haptik", "luis": "LUIS", "rasa": "Rasa"}
NONE = "NO_NODES_DETECTED"
ALPHA = 0.05
N_TIMED = 200  # queries, one at a time
# A detector, its settings, and whether it reads cleaned queries. The first is the default of `fit`.
MODELS = [
    ("ensemble:clean", {}, True),
    ("ensemble:clean", {}, False),
    ("llr:topics", {}, False),
    ("ngrams", {}, False),
    ("knn-vectors", {"encoder": "wordllama", "k": 5}, False),
]
HEAD = (
    "knows labels",
    "AUROC",
    f"found where {ALPHA:.0%} in scope are rejected",
    "in scope, rejected",
    "out of scope, found",
    "rejected by words and form",
    "found",
    "ms a query",
    "p95",
)


class Rejected(NamedTuple):
    """Shares of the queries in scope, and of the queries out of scope, in percent."""

    in_scope: float
    out_of_scope: float

    @classmethod
    def of(cls, is_rejected: np.ndarray, is_odd: np.ndarray) -> "Rejected":
        return cls(100 * is_rejected[~is_odd].mean(), 100 * is_rejected[is_odd].mean())

    def __str__(self) -> str:
        return f"{self.in_scope:.1f} | {self.out_of_scope:.1f}"


def ranked(is_odd: np.ndarray, scores: np.ndarray) -> str:
    """Return AUROC, and the share found above the score that a share alpha of the queries in scope has."""
    threshold = np.quantile(scores[~is_odd], 1 - ALPHA)  # by the labels of the test part, for all models
    return f"{100 * auroc(is_odd, scores):.1f} | {100 * (scores[is_odd] > threshold).mean():.1f}"


def of_platforms(bot: str, test: Documents) -> Iterator[str]:
    """Yield a row for each platform, by 1 - confidence."""
    is_odd = test.labels > 0
    for file, name in PLATFORMS.items():
        path = data_dir() / "hint3" / "preds" / f"{file}_{bot}.csv"
        if not path.is_file():
            print(f"{name} is left out: there is no {path.name}")
            continue
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [*csv.DictReader(stream)]
        assert {row["sentence"] for row in rows} == {*test.texts}, f"{path.name} has other queries"
        of_row = np.array([row["label"] == NONE for row in rows])
        assert of_row.sum() == is_odd.sum(), f"{path.name} has other labels"
        confidence = np.array([float(row["predicted_node_score"]) for row in rows])
        answers_none = np.array([row["predicted_node"] == NONE for row in rows])
        rejected = str(Rejected.of(answers_none, of_row)) if answers_none.any() else "|"
        yield f"| {name} | yes | {ranked(of_row, -confidence)} | {rejected} | | | | |"
        if confidence[answers_none].any():
            ranks = ranked(of_row, -np.where(answers_none, 0, confidence))
            yield f"| {name}, its answer none as confidence 0 | yes | {ranks} | {rejected} | | | | |"


def of_models(train: Sequence[str], test: Documents) -> Iterator[str]:
    """Yield a row for each of our models, by the score of words and by p."""
    is_odd = test.labels > 0
    for name, settings, clean in MODELS:
        detector, _, preset = name.partition(":")
        model = fit_model(train, detector, preset=preset or None, settings=settings, clean=clean)
        scorer = Scorer(model, alpha=ALPHA, by="both")
        table = scorer.score(test.texts)
        # all queries to learn from have words, so a query without words is the oddest
        scores = table["score"].fillna(table["score"].max() + 1).to_numpy()
        by_words, by_both = (Rejected.of((table[p] <= ALPHA).to_numpy(), is_odd) for p in ("p", "p_both"))
        inner = ", ".join(f"{key}={value}" for key, value in settings.items())
        way = f"`{name}{f'({inner})' if inner else ''}`, {'cleaned' if clean else 'as written'}"
        low, high = 1e3 * np.quantile(seconds_of(scorer, test.texts[-N_TIMED:]), [0.5, 0.95])
        yield f"| {way} | no | {ranked(is_odd, scores)} | {by_words} | {by_both} | {low:.1f} | {high:.1f} |"


def seconds_of(scorer: Scorer, texts: Sequence[str]) -> list[float]:
    """Return the seconds of single queries; the first one is not counted."""
    seconds = []
    for text in [texts[0], *texts]:
        begin = time.perf_counter()
        scorer.score([text])
        seconds.append(time.perf_counter() - begin)
    return seconds[1:]


def main() -> None:
    for bot in BOTS:
        dataset = registry.dataset(f"hint3-{bot}")
        if not all(file.is_here for file in dataset.files):
            print(f"\n{dataset.name} is not measured: its files are not in {data_dir()}")
            continue
        train, test = dataset.read()
        n_odd = int((test.labels > 0).sum())
        print(f"\n{dataset.name}: {len(train):,} to learn from, {len(test) - n_odd} in scope, {n_odd} not")
        print(f"\n| | {' | '.join(HEAD)} |\n| --- | --- |{' ---: |' * (len(HEAD) - 1)}")
        for row in (*of_platforms(bot, test), *of_models(train.texts, test)):
            print(row, flush=True)


if __name__ == "__main__":
    main()
