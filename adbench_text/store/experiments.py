"""The experiment of a dataset: found, or created."""

from pathlib import Path

from adbench_text.errors import TrackingError
from adbench_text.escaping import without_password
from adbench_text.store.artifacts import artifact_root
from adbench_text.store.client import StoreClient


def experiment_id(client: StoreClient, name: str, uri: str, file: Path | None) -> str:
    """Return the id of an experiment, which is created if it does not exist.

    Parameters
    ----------
    client : StoreClient
    name : str
    uri : str
        Address of the store.
    file : path, optional
        The file of a SQLite store.

    Raises
    ------
    TrackingError
        If the experiment was deleted, or its artifacts cannot be written through this address.
    """
    shown = without_password(uri)
    known = client.get_experiment_by_name(name)
    if known is None:
        return _create(client, name, file)
    if known.lifecycle_stage == "deleted":
        raise TrackingError(
            f"The experiment {name!r} was deleted from {shown}; restore it, or use --experiment."
        )
    is_of_server = known.artifact_location.startswith("mlflow-artifacts:")
    if is_of_server and not uri.startswith(("http:", "https:")):
        raise TrackingError(
            f"The artifacts of the experiment {name!r} in {shown} are kept by an MLflow server; "
            "give the address of the server as --tracking-uri."
        )
    return str(known.experiment_id)


def _create(client: StoreClient, name: str, file: Path | None) -> str:
    # artifacts go beside a database file, not where the command happens to run
    artifacts = artifact_root(file, name).as_uri() if file else None
    # without the tag MLflow's pages take it for an experiment on language models
    tags = {"mlflow.experimentKind": "custom_model_development"}
    try:
        return str(client.create_experiment(name, artifacts, tags))
    except TrackingError:
        created = client.get_experiment_by_name(name)
        if created is None:
            raise
        return str(created.experiment_id)  # by another process, meanwhile
