"""Check the result that the process of a detector returns, and measure its scores.

The code of a detector can change any value in its process. So this module checks the type and the name of
each value, and copies it into a plain one. It draws the split again, and takes labels only from this split.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from adbench_text.checks import Number, Range, Text, Whole
from adbench_text.contract.scores import Scores, check_scores
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import Split
from adbench_text.errors import DetectorError
from adbench_text.escaping import one_line
from adbench_text.failures import FAILURES, described
from adbench_text.metrics import COSTS, all_metrics, auroc
from adbench_text.processes import STOPPED
from adbench_text.run.cell import Cell
from adbench_text.run.examples import completed
from adbench_text.run.result import MEMORY, TRAINING, Point, Result
from adbench_text.run.words import metrics_of_words

_COST = Number("[0, inf)")
_TIME = Number("[0, 1e11)")  # seconds since the epoch
_STEP = Whole(0, 2**63 - 1)  # of a training; databases cannot store a larger number


def measured(returned: Any, cell: Cell, split: Split, corpus: Corpus) -> Result:
    """Return the result of a cell, with its metrics and the numbers of its documents.

    `evaluate.scored` returned `returned` in the process of the detector. If a value is wrong, the cell has
    failed, and the reason quotes the value.
    """
    try:
        result = _taken_over(returned, cell, split, corpus)
        of_words = metrics_of_words(corpus, split, result.word_scores)
    except FAILURES as error:
        result, of_words = Result(cell, time.time(), {}, reason=described(error)), {}
    metrics: dict[str, float] = {
        **result.metrics,
        "n_train": len(split.train_rows),
        "n_train_outliers": int(split.train_outlier.sum()),
        "n_test": len(split.places),
        "n_test_outliers": int(split.outlier.sum()),
    }
    if result.scores is not None:
        metrics |= all_metrics(split.outlier, result.scores)
        metrics |= _seen_and_unseen(split, corpus, result.scores) | of_words
    return replace(result, metrics=metrics, places=split.places, outlier=split.outlier)


def _taken_over(returned: Any, cell: Cell, split: Split, corpus: Corpus) -> Result:
    """Copy a result into plain values; raise an error for a wrong value."""
    if not isinstance(returned, Result):
        raise DetectorError(f"the process of a cell must return its result, got {returned!r:.80}.")
    result = Result(
        cell,
        float(_checked("started", returned.started, _TIME)),
        {name: float(_checked(name, cost, _COST)) for name, cost in returned.metrics.items()},
        curves=dict(map(_curve, returned.curves.items())),
        ran_on={
            _checked("a name of ran_on_", name, Text()): _checked(f"ran_on_[{name!r}]", fact, Text())
            for name, fact in returned.ran_on.items()
        },
        reason=one_line(_checked("reason", returned.reason, Text())),
        traceback=_checked("traceback", returned.traceback, Text()),
        stopped=returned.stopped if returned.stopped in STOPPED else "",
    )
    if unknown := result.metrics.keys() - {*COSTS, MEMORY}:
        known = ", ".join((*COSTS, MEMORY))
        raise DetectorError(f"a cost of a cell must be one of {known}, got {min(unknown)!r}.")
    if result.reason:
        return result
    scores = checked_scores(returned.scores, len(split.places))
    examples = [each.tokens for each in returned.examples]
    return replace(
        result,
        scores=scores,
        word_scores=returned.word_scores,  # `metrics_of_words` checks their number
        examples=completed(examples, corpus, split, scores) if examples else [],
    )


def checked_scores(scores: Any, n_texts: int) -> Scores:
    """Check scores and return them; raise DetectorError if they cannot be measured."""
    checked = check_scores(scores, n_texts)
    if checked.min() == checked.max():
        raise DetectorError(f"all {n_texts:,} scores are {checked[0]:g}.")
    return checked


def checked_step(step: Any, steps: Any, losses: Any) -> tuple[int, int, dict[str, float]]:
    """Return the state of a training as plain values; raise an error if a store cannot keep it."""
    values = {str(name): float(value) for name, value in losses.items()}
    return int(_checked("step", step, _STEP)), int(_checked("steps", steps, _STEP)), values


def _curve(named: tuple[Any, Any]) -> tuple[str, list[Point]]:
    """Check the name and the points of a curve; a curve never has the name of a metric."""
    name, points = named
    name = _checked("the name of a curve", name, Text())
    if not name.startswith(TRAINING):
        raise DetectorError(f"the name of a curve must begin with {TRAINING!r}, got {name!r}.")
    curve = [
        Point(int(_checked("step", step, _STEP)), float(value), float(_checked("time", at, _TIME)))
        for step, value, at in points
    ]
    return name, curve


def _checked(name: str, value: Any, values: Range) -> Any:
    """Return a value; raise InvalidValueError, which names it, if it is not one of the allowed `values`.

    A text of a subclass of str, which may have methods of a plug-in, becomes a plain one.
    """
    values.check(name, value)
    return str.__str__(value) if isinstance(value, str) else value


def _seen_and_unseen(split: Split, corpus: Corpus, scores: Scores) -> dict[str, float]:
    """Return the AUROC for outliers from the classes of known outliers, and from other classes."""
    is_seen = np.isin(np.asarray(corpus.test.labels)[split.places], [*split.known_classes])
    kinds = {"auroc_seen": is_seen, "auroc_unseen": ~is_seen}
    rows = {name: ~split.outlier | (split.outlier & kind) for name, kind in kinds.items()}
    return {
        name: auroc(split.outlier[among], scores[among])
        for name, among in rows.items()
        if split.known_classes and (split.outlier & among).any()
    }
