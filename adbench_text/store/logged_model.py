"""Registers saved models in MLflow, so that they can be listed, aliased and served."""

import json
import re
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from importlib.metadata import PackageNotFoundError
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adbench_text import __version__
from adbench_text.errors import InvalidValueError, TrackingError
from adbench_text.escaping import printable, without_password
from adbench_text.isolation import environment_with
from adbench_text.models import pyfunc
from adbench_text.models.folder import packages_of, read_description
from adbench_text.models.model import Training
from adbench_text.provenance import command_line, git_commit
from adbench_text.store.client import StoreClient, check_reachable, first_line, mlflow_uri
from adbench_text.store.own_package import requirements, write_wheel
from adbench_text.store.payload import DESCRIPTION, Input, Payload, Value, run_tags, write_run
from adbench_text.store.record import KIND, TAG

#: Of the runs of models; the experiments of datasets are called adbench-text/NAME.
EXPERIMENT = "adbench-text models"
_NAME = re.compile(r"[^/:.%\"']+")
_NEWEST = "Newest version: "  # what our description of a registered model begins with


def log_model(folder: Path | str, name: str, tracking_uri: str, alias: str | None = None) -> str:
    """Register the model in a folder as a new version of a registered model.

    MLflow stores a copy of the folder, and the name of our function that loads it: no pickle. The model
    loads with ``MLFLOW_ALLOW_PICKLE_DESERIALIZATION=false``. Its requirements are a wheel of this package,
    which is stored with it, and the packages that it needs, in the versions that are installed here.

    The version belongs to a run in the experiment ``adbench-text models``, with the command line, the
    dataset, the settings and the thresholds. An alias points to this version from now on. The address of the
    version is returned: ``models:/name@alias`` or ``models:/name/version``.
    """
    folder = Path(folder).expanduser()
    description = read_description(folder)
    if not _NAME.fullmatch(name):
        raise InvalidValueError(
            f"The name of a model must not be empty or contain / : . % or quotes, got {name!r}."
        )
    check_reachable(tracking_uri)
    import mlflow
    from sqlalchemy.exc import SQLAlchemyError

    try:
        # MLflow prints what it does, and asks for an example although there is a signature
        with TemporaryDirectory() as temporary, warnings.catch_warnings(), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            with _address(tracking_uri):
                return _log(folder, description, name, tracking_uri, alias, write_wheel(Path(temporary)))
    except (mlflow.MlflowException, SQLAlchemyError, OSError, PackageNotFoundError) as error:
        raise TrackingError(
            f"The model cannot be registered in {without_password(tracking_uri)}: {first_line(error)}"
        ) from error


@contextmanager
def _address(uri: str) -> Iterator[None]:
    """Let MLflow use a store in a block; the registry is that of the store, unless the user has set one."""
    import mlflow

    before = mlflow.get_tracking_uri()
    with environment_with({}):  # MLflow sets its variable, too
        try:
            mlflow.set_tracking_uri(mlflow_uri(uri))
            yield
        finally:
            mlflow.set_tracking_uri(before)


def _log(
    folder: Path, description: Mapping[str, Any], name: str, uri: str, alias: str | None, wheel: Path
) -> str:
    import mlflow

    client = StoreClient(uri)  # creates a database where there is none
    logged = _payload(description, name)
    run_id = write_run(client, client.experiment_id(EXPERIMENT), logged)
    detector = description["detectors"][0]
    needed = packages_of(str(detector["name"]), detector["resources"])
    with mlflow.start_run(run_id=run_id, nested=True):  # the user may have a run of their own
        version = mlflow.pyfunc.log_model(
            name=name,
            loader_module=pyfunc.__name__,
            data_path=str(folder),
            code_paths=[str(wheel)],
            signature=_signature(),
            pip_requirements=[f"code/{wheel.name}", *requirements(needed)],
            registered_model_name=name,
        ).registered_model_version
    number = str(version)
    client.update_model_version(name, number, logged.tags[DESCRIPTION])
    page = client.get_registered_model(name)
    if not page.description or page.description.startswith(_NEWEST):  # otherwise somebody has written it
        client.update_registered_model(name, f"{_NEWEST}{number}. {logged.tags[DESCRIPTION]}")
    for tag, value in logged.tags.items() - run_tags().items():
        client.set_model_version_tag(name, number, tag, value)
        client.set_registered_model_tag(name, tag, value)
    if alias is not None:
        client.set_registered_model_alias(name, alias, number)
    return f"models:/{name}/{number}" if alias is None else f"models:/{name}@{alias}"


def _payload(description: Mapping[str, Any], name: str) -> Payload:
    """Return what is logged of a model: everything in its description but its state."""
    detector, calibration = description["detectors"][0], description["calibration"]
    training = Training(**description["training"])
    source, now = training.source or "documents", int(time.time() * 1000)
    counts = {key: value for key, value in training.options.items() if key.startswith("n_")}
    params = {
        "detector": detector["name"],
        "alpha": pyfunc.ALPHA,
        "calibration": calibration["by"],
        **{key: value for key, value in training.options.items() if key not in counts},
        **{f"detector.{key}": value for key, value in detector["settings"].items()},
    }
    metrics = {
        "n_documents": training.n_documents,
        "n_calibration": calibration["n"],
        **counts,
        **{f"threshold_{alpha}": score for alpha, score in calibration["thresholds"].items()},
    }
    thresholds = [
        f"{score:.3g} at {100 * float(alpha):g} % of false alarms"
        for alpha, score in calibration["thresholds"].items()
        if score is not None
    ]
    label = training.options.get("configuration", detector["name"])
    tags = {
        KIND: "model",
        f"{TAG}detector": detector["name"],
        f"{TAG}training": f"{source}, digest {training.digest}",
        DESCRIPTION: "\n".join(
            [
                f"{label}, fitted on {training.n_documents:,} documents of {source}, calibrated by "
                f"its scores ({calibration['by']}).",
                "",
                f"- Made by `{command_line():.1000}`, adbench-text {__version__}, commit {git_commit()}; "
                f"the digest of its documents is {training.digest}.",
                f"- By words, a score is odd above {'; '.join(thresholds) or 'none: too few documents'}.",
                "- How many odd documents it finds is not known: its training documents have no labels. On "
                "labelled documents, `adbench-text run -s files:FILE` measures its detector.",
            ]
        ),
    }
    file, size = json.dumps({"file": training.source}), json.dumps({"num_rows": training.n_documents})
    return Payload(
        name=name,
        started=now,
        status="FINISHED",
        tags={tag: printable(value) for tag, value in tags.items()} | run_tags(),
        params={key: printable(str(value)) for key, value in params.items()},
        metrics=[Value(key, float(value), now) for key, value in metrics.items() if value is not None],
        inputs=[Input("training", source, training.digest, file, size)],
    )


def _signature() -> Any:
    from mlflow.models import ModelSignature
    from mlflow.types.schema import AnyType, ColSpec, ParamSchema, ParamSpec, Schema

    return ModelSignature(
        # "string" would turn a null of the request into the text "None"
        Schema([ColSpec(AnyType(), "text")]),  # type: ignore[no-untyped-call]
        Schema([ColSpec(kind, name, kind != "double") for name, kind in pyfunc.RESULTS.items()]),
        ParamSchema([ParamSpec("alpha", "double", pyfunc.ALPHA)]),
    )
