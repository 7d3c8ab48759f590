"""What the store writes of a result; nothing is written here."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from adbench_text import escaping
from adbench_text.corpora.corpus import Corpus
from adbench_text.escaping import encodable, file_name, printable
from adbench_text.provenance import command_line, environment, git_commit
from adbench_text.run.examples import to_json
from adbench_text.run.result import Result
from adbench_text.store.record import TAG, params_and_tags
from adbench_text.sweep.cell import of_test_set, percent
from adbench_text.sweep.construct import cell_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_TAG = 5000  # characters; MLflow refuses longer ones
_LONGEST_NAME = 200  # likewise
_NOT_IN_NAMES = re.compile(r"[^\w\-. :/]", re.ASCII)  # likewise, other characters


class Value(NamedTuple):
    """A value of a metric, `time` in milliseconds since the epoch."""

    name: str
    value: float
    time: int
    step: int = 0


class Input(NamedTuple):
    """A dataset that a run used: ``"training"`` or ``"testing"``, its name, digest, source and profile."""

    context: str
    name: str
    digest: str
    source: str
    profile: str


@dataclass(frozen=True)
class Payload:
    """Everything that is logged of a cell.

    Attributes
    ----------
    name : str
        Name of the run.
    started : int
        Milliseconds since the epoch.
    status : str
        ``"FINISHED"`` or ``"FAILED"``, as MLflow calls it.
    tags, params : mapping of str to str
    metrics : list of Value
        One value each.
    curves : list of Value
        The steps of trainings.
    inputs : list of Input
    files : mapping of str to str
        Text of each artifact, by file name.
    """

    name: str
    started: int
    status: str
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: list[Value]
    curves: list[Value]
    inputs: list[Input]
    files: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, texts and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Self:
        """Return what `to_json` was called on."""
        kinds = {"metrics": Value, "curves": Value, "inputs": Input}
        parts = {name: [kind(*item) for item in read[name]] for name, kind in kinds.items()}
        return cls(**{**read, **parts})


def payload(result: Result, definition: Mapping[str, str], corpus: Corpus) -> Payload:
    """Return everything that is logged of the result of a cell."""
    cell = result.cell
    started = int(result.started * 1000)
    detector = f"{cell.detector} {cell.configuration}".strip()
    params, versions = params_and_tags(definition)
    tags = {_accepted(name): printable(tag) for name, tag in _tags(result, definition, corpus).items()}
    return Payload(
        name=f"{detector} | {cell.inlier} | {percent(cell.contamination)} | seed {cell.seed}"
        + of_test_set(cell.test_outliers),
        started=started,
        status="FAILED" if result.reason else "FINISHED",
        tags=tags | versions,
        params=params,
        metrics=[Value(name, value, started) for name, value in result.metrics.items()],
        curves=[
            Value(_accepted(name), point.value, int(point.time * 1000), point.step)
            for name, curve in result.curves.items()
            for point in curve
        ],
        inputs=_inputs(result, corpus),
        files={name: encodable(text) for name, text in _files(result, corpus).items()},
    )


def _accepted(name: str) -> str:
    """Return a name that MLflow accepts for a tag or a metric."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME]


def run_tags() -> dict[str, str]:
    """Return the tags of every run: environment, command line, commit."""
    tags = {f"env.{name}": value for name, value in environment().items()}
    tags["mlflow.source.name"] = command_line()
    return tags | {"mlflow.source.git.commit": git_commit()}


def _tags(result: Result, definition: Mapping[str, str], corpus: Corpus) -> dict[str, str]:
    tags = {
        f"{TAG}kind": "cell",
        f"{TAG}cell": cell_id(definition),
        f"{TAG}status": result.status,
        f"{TAG}edition": corpus.edition,
        f"{TAG}documents": corpus.counts(),
        f"{TAG}configurations": str(result.cell.n_configurations),
        "mlflow.note.content": _description(result, corpus),
        **run_tags(),
        **{f"env.{name}": value for name, value in result.ran_on.items()},
    }
    classes = "\n".join(corpus.classes)
    if len(classes) <= LONGEST_TAG:  # otherwise a report knows only those that have results
        tags[f"{TAG}classes"] = classes
    if corpus.is_published:
        tags[f"{TAG}published"] = "true"
    if corpus.limit is not None:
        tags[f"{TAG}limit"] = str(corpus.limit)
    if result.reason:
        tags[f"{TAG}reason"] = result.reason[:LONGEST_TAG]
    return tags


def _description(result: Result, corpus: Corpus) -> str:
    sizes = [
        f"{verb} on {int(result.metrics[f'n_{part}']):,} documents, "
        f"{int(result.metrics[f'n_{part}_outliers']):,} of them outliers"
        for verb, part in (("trained", "train"), ("tested", "test"))
        if f"n_{part}_outliers" in result.metrics
    ]
    summary = f"{result.cell}: {'; '.join([*sizes, corpus.edition])}."
    return f"Failed: {result.reason[:LONGEST_TAG]}\n\n{summary}" if result.reason else summary


def _inputs(result: Result, corpus: Corpus) -> list[Input]:
    cell = result.cell
    source = json.dumps({"dataset": corpus.name, "edition": corpus.edition})
    names = {
        "training": f"{corpus.name}/{cell.inlier} {percent(cell.contamination)}",
        "testing": f"{corpus.name} test{of_test_set(cell.test_outliers)}",
    }
    n_test = len(corpus.test) if cell.test_outliers is None else result.metrics.get("n_test")
    sizes = {"training": result.metrics.get("n_train"), "testing": n_test}
    return [
        # MLflow's own digest would read the first rows only
        Input(context, name, corpus.digest, source, json.dumps({"num_rows": sizes[context]}))
        for context, name in names.items()
    ]


def _files(result: Result, corpus: Corpus) -> dict[str, str]:
    files = {}
    if result.scores is not None:
        files["scores.csv"] = _scores_csv(result, corpus, result.scores)
    if result.early is not None:
        places, early = result.early
        files["scores_before_training.csv"] = _scores_csv(result, corpus, early, places)
    for name, table in result.tables.items():
        safe = table.map(escaping.no_formula).rename(columns=escaping.no_formula)  # words of the documents
        files[f"{file_name(name)}.csv"] = safe.to_csv(index=False, lineterminator="\n")
    if result.examples:
        files["examples.json"] = to_json(result.examples)
    if result.traceback:
        files["traceback.txt"] = result.traceback
    return files


def _scores_csv(
    result: Result,
    corpus: Corpus,
    scores: "NDArray[np.float64]",
    places: "NDArray[np.int64] | slice" = slice(None),
) -> str:
    import numpy as np
    import pandas as pd

    labels = corpus.test.labels
    documents = np.arange(len(labels)) if result.documents is None else result.documents
    labels = labels[documents[places]]
    escaped = [escaping.no_formula(name) for name in corpus.classes]
    names = [escaped[label] for label in labels.tolist()]
    table = pd.DataFrame({"class": names, "score": scores}, index=documents[places])
    table.insert(1, "outlier", (labels != corpus.classes.index(result.cell.inlier)).astype(int))
    return table.to_csv(index_label="document", float_format="%.9g", lineterminator="\n")
