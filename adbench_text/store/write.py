"""Writes a run to MLflow."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from adbench_text.errors import TrackingError
from adbench_text.store.client import StoreClient
from adbench_text.store.payload import Payload, Value

PARENT = "mlflow.parentRunId"
_MOST_METRICS, _MOST_PARAMS = 900, 100  # that MLflow takes at once, together


def write_run(client: StoreClient, experiment_id: str, payload: Payload, parent: str | None = None) -> str:
    """Log a cell as a child run, or another run; return its id. It is finished only once all is written."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    run = client.create_run(
        experiment_id,
        start_time=payload.started,
        tags={**payload.tags, **({PARENT: parent} if parent else {})},
        run_name=payload.name,
    ).info
    run_id = str(run.run_id)
    write_values(client, run_id, payload.params, [*payload.metrics, *payload.curves])
    inputs = [
        DatasetInput(
            Dataset(used.name, used.digest, "adbench-text", used.source, profile=used.profile),
            [InputTag("mlflow.data.context", used.context)],
        )
        for used in payload.inputs
    ]
    try:
        client.log_inputs(run_id, datasets=inputs)
    except TrackingError:  # two processes that log the same dataset for the first time: one of them fails
        client.log_inputs(run_id, datasets=inputs)
    for name, text in payload.files.items():
        write_text(client, run_id, run.artifact_uri, name, text)
    client.set_terminated(run_id, payload.status)
    return run_id


def write_text(client: StoreClient, run_id: str, artifacts: str, name: str, text: str) -> None:
    """Write an artifact; into a folder of this machine directly, which MLflow would look up each time."""
    parts = urlsplit(artifacts)
    if parts.scheme != "file" or parts.netloc:
        client.log_text(run_id, text, name)
        return
    path = Path(url2pathname(parts.path), name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TrackingError(f"Cannot write {path}: {error.strerror or error}.") from error


def write_values(
    client: StoreClient, run_id: str, params: Mapping[str, str], metrics: Iterable[Value]
) -> None:
    """Log params and metrics of a run, as many at once as MLflow takes."""
    from mlflow.entities import Metric, Param

    all_params = [Param(name, value) for name, value in params.items()]
    all_metrics = [Metric(*value) for value in metrics]
    n_batches = max(-(-len(all_params) // _MOST_PARAMS), -(-len(all_metrics) // _MOST_METRICS))
    for i in range(n_batches):
        client.log_batch(
            run_id,
            metrics=all_metrics[i * _MOST_METRICS : (i + 1) * _MOST_METRICS],
            params=all_params[i * _MOST_PARAMS : (i + 1) * _MOST_PARAMS],
        )
