"""Make the runs of cells and summaries, and log them."""

import json
import math
import time
from collections.abc import Mapping
from statistics import mean, pstdev
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split import splits
from adbench_text.corpora.split_key import SplitKey, percent, with_variant
from adbench_text.escaping import encodable, markdown, no_formula, printable
from adbench_text.metrics import COSTS, MAIN, METRICS, OF_WORDS
from adbench_text.plugins.configure import format_name
from adbench_text.provenance import command_line, environment, git_commit
from adbench_text.run.definition import accepted_name, cell_id
from adbench_text.run.examples import to_json
from adbench_text.run.result import Result
from adbench_text.store.client import StoreClient
from adbench_text.store.run import KIND, LONGEST_TAG, PARENT, TAG, Run, of_kind, params_and_tags

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

DESCRIPTION = "mlflow.note.content"
SUMMARY = f"{TAG}summary"
_MOST_METRICS, _MOST_PARAMS = 1000, 100  # in one request to MLflow
_DESCRIBED = 1000  # characters of a reason in the description: escaping makes some of them five times as long


def write_run(client: StoreClient, experiment_id: str, run: Run, run_id: str | None = None) -> str:
    """Log a run, new or to `run_id`; return its id. Its status is set last, after everything is written."""
    from mlflow.entities import Metric, Param

    if run_id is None:
        created = client.create_run(experiment_id, start_time=run.started, tags=run.tags, run_name=run.name)
        run_id = str(created.info.run_id)
    else:
        client.update_run(run_id, name=run.name)
    params = [Param(name, value) for name, value in run.params.items()]
    metrics = [Metric(name, value, run.started, 0) for name, value in run.metrics.items()]
    for name, curve in run.curves.items():
        metrics += [Metric(name, value, at, step) for step, value, at in curve]
    for i in range(0, len(params), _MOST_PARAMS):
        client.log_batch(run_id, params=params[i : i + _MOST_PARAMS])
    for i in range(0, len(metrics), _MOST_METRICS):
        client.log_batch(run_id, metrics=metrics[i : i + _MOST_METRICS])
    for name, text in run.files.items():
        client.log_text(run_id, text, name)
    client.set_terminated(run_id, run.status)
    return run_id


def run_tags() -> dict[str, str]:
    """Return the tags of every run: environment, command line, commit."""
    tags = {f"env.{name}": value for name, value in environment().items()}
    tags["mlflow.source.name"] = command_line()
    return tags | {"mlflow.source.git.commit": git_commit()}


# A cell


def run_of_cell(result: Result, definition: Mapping[str, str], corpus: Corpus, parent: str) -> Run:
    """Return the run of a cell; its parent is the run of its sweep."""
    cell, key = result.cell, result.cell.split
    params, versions = params_and_tags(definition)
    tags = {accepted_name(name): printable(tag) for name, tag in _tags(result, definition, corpus).items()}
    return Run(
        name=with_variant(
            f"{cell.name} | {key.inlier} | {percent(key.contamination)} | seed {key.seed}", key.variant
        ),
        status="FAILED" if result.reason else "FINISHED",
        started=int(result.started * 1000),
        tags={**tags, **versions, PARENT: parent},
        params=params,
        metrics=result.metrics,
        curves={
            accepted_name(name): [(point.step, point.value, int(point.time * 1000)) for point in curve]
            for name, curve in result.curves.items()
        },
        files={name: encodable(text) for name, text in _files(result, corpus).items()},
    )


def _tags(result: Result, definition: Mapping[str, str], corpus: Corpus) -> dict[str, str]:
    """Return the tags of the run of a cell, besides its definition; a tag without a value is missing."""
    names = [*splits(corpus, result.cell.split.protocol)]  # such as "sun", or "not-sun" with leave-one-out
    joined = "\n".join(names)
    failed = f"Failed: {markdown(result.reason[:_DESCRIBED])}\n\n" if result.reason else ""
    ours = {
        "kind": "cell",
        "cell": cell_id(definition),
        "status": result.status,
        "edition": corpus.edition,
        "documents": corpus.counts(),
        "configurations": str(result.cell.n_configurations),
        # so that a report knows splits without results; too many names leave only their number
        "classes": joined if len(joined) <= LONGEST_TAG else "",
        "splits": str(len(names)),
        "published": "true" if corpus.is_published else "",
        "limit": "" if corpus.limit is None else str(corpus.limit),
        "reason": result.reason[:LONGEST_TAG],
    }
    return {
        **{f"{TAG}{name}": text for name, text in ours.items() if text},
        DESCRIPTION: failed + markdown(f"{result.cell}: {corpus.edition}."),
        **{f"env.{name}": value for name, value in result.ran_on.items()},
        **run_tags(),  # last: a fact of `ran_on_` may have the name of one of these tags, such as "python"
    }


def _files(result: Result, corpus: Corpus) -> dict[str, str]:
    """Return the text of each artifact of a cell, by the name of its file."""
    files = {}
    if result.scores is not None:
        files["scores.csv"] = _scores_csv(result, corpus, result.scores)
    if result.examples:
        files["examples.json"] = to_json(result.examples)
    if result.traceback:
        files["traceback.txt"] = result.traceback
    return files


def _scores_csv(result: Result, corpus: Corpus, scores: "NDArray[np.float64]") -> str:
    """Return the scores of all test documents as CSV, in the order of the corpus and with all digits."""
    import numpy as np
    import pandas as pd

    documents, outlier = np.asarray(result.places), np.asarray(result.outlier)
    escaped = [no_formula(name) for name in corpus.classes]
    names = [escaped[label] for label in corpus.test.labels[documents].tolist()]
    table = pd.DataFrame({"class": names, "outlier": outlier.astype(int), "score": scores}, index=documents)
    table = table.sort_index()
    return table.to_csv(index_label="document", lineterminator="\n")


# The summary of cells


def comparison_page(experiment_id: str) -> str:
    """Return the address in MLflow's pages that shows charts of the summary runs, best AUROC first."""
    query = {
        "workflowType": "machine_learning",  # otherwise MLflow shows its pages for language models
        "searchFilter": of_kind("summary"),
        "orderByKey": f"metrics.`{MAIN.name}`",
        "orderByAsc": "false",
        "compareRunsMode": "CHART",
    }
    return f"#/experiments/{experiment_id}/runs?{urlencode(query, quote_via=quote)}"


def summary_key(definition: Mapping[str, str]) -> str:
    """Return a digest of the values that the cells of a summary share: all but inlier class and seed."""
    return cell_id(_shared(definition))


def _shared(definition: Mapping[str, str]) -> dict[str, str]:
    """Return the part of a definition that the cells of a summary share."""
    return {name: value for name, value in definition.items() if name not in ("inlier", "seed")}


def run_of_summary(definition: Mapping[str, str], cells: "pd.DataFrame") -> Run:
    """Return the summary run of `cells`, which are sorted, oldest first.

    The name of the run says if splits are missing. `definition` is the definition of any of the cells.
    """
    newest = cells.iloc[-1]  # older cells may not know all splits
    n_splits = cells.loc[cells["status"] == "ok", "inlier"].nunique()
    n_expected = len(json.loads(newest["classes"] or "[]"))
    if newest["n_splits"] > n_expected:  # too many names are not kept; the number is NaN in an older store
        n_expected = int(newest["n_splits"])
    lacking = f" ({n_splits} of {n_expected} splits)" if n_splits < n_expected else ""
    name = newest["name"]
    if (cells["n_configurations"] > 1).any():  # a preset has a summary for each configuration
        name = f"{format_name(newest['detector'], newest['preset'])}: {newest['configuration']}"
    params, versions = params_and_tags(_shared(definition))
    tags = {
        KIND: "summary",
        SUMMARY: summary_key(definition),
        DESCRIPTION: "Mean over splits and seeds; std is over splits.",
        **run_tags(),
    }
    return Run(
        name=f"{name} | {SplitKey.of(definition).level}{lacking}",
        status="FINISHED",
        started=int(time.time() * 1000),
        tags=tags | versions,
        params=params,
        metrics=summary(cells),
    )


def summary(cells: "pd.DataFrame") -> dict[str, float]:
    """Return the means of cells: over the seeds of each split, then over the splits.

    ``..._std`` is the spread over the splits. A metric is NaN if no cell has finished, or if one lacks it.
    """
    good = cells[cells["status"] == "ok"]
    means: dict[str, float] = {}
    of_words = [name for name in OF_WORDS if good[name].notna().any()]
    for metric in (*METRICS, *COSTS, *of_words):
        # without NaN, the number of an earlier summary would stay, or the mean would leave out a cell
        means |= {metric: math.nan, f"{metric}_std": math.nan}
        if len(good) and good[metric].notna().all():
            of_split = [mean(values.tolist()) for _, values in good.groupby("inlier")[metric]]
            means |= {metric: mean(of_split), f"{metric}_std": pstdev(of_split)}
    # last, because MLflow's comparison of selected runs opens on the first metric
    return means | {"cells": float(len(good)), "failed_cells": float(len(cells) - len(good))}
