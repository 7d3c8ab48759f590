"""Writes a cell to MLflow."""

from typing import Any

from adbench_text.errors import TrackingError
from adbench_text.store.client import StoreClient
from adbench_text.store.payload import Payload

_BATCH = 1000  # metrics that MLflow takes at once


def write_cell(client: StoreClient, experiment_id: str, parent: str, payload: Payload) -> None:
    """Log a cell as a child run. It counts as finished only once everything is written."""
    from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param

    run_id = client.create_run(
        experiment_id,
        start_time=payload.started,
        tags={**payload.tags, "mlflow.parentRunId": parent},
        run_name=payload.name,
    ).info.run_id
    client.log_batch(
        run_id,
        metrics=[Metric(*value) for value in payload.metrics],
        params=[Param(name, value) for name, value in payload.params.items()],
    )
    points: list[Any] = [Metric(*value) for value in payload.curves]
    for i in range(0, len(points), _BATCH):
        client.log_batch(run_id, metrics=points[i : i + _BATCH])
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
        client.log_text(run_id, text, name)
    client.set_terminated(run_id, payload.status)
