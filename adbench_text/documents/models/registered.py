"""Register saved models in MLflow, which can list, alias and serve them."""

import re
import shutil
import time
import warnings
from collections.abc import Mapping
from contextlib import redirect_stderr, suppress
from importlib.metadata import PackageNotFoundError, requires
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import adbench_text
from adbench_text.code_version import installed
from adbench_text.documents.models import pyfunc
from adbench_text.documents.models.folder import check_can_be_served, read_description
from adbench_text.documents.models.model import TrainingFacts
from adbench_text.errors import InvalidValueError, TrackingError
from adbench_text.escaping import markdown, printable
from adbench_text.store.client import StoreClient, check_reachable, first_line
from adbench_text.store.run import KIND, Run
from adbench_text.store.writing import DESCRIPTION, run_tags, write_run
from adbench_text.text import pretrained, vectors

#: The experiment for runs of models. Experiments of datasets are called adbench-text/NAME.
EXPERIMENT = "adbench-text models"
_OURS = "adbench-text"
_NO_PACKAGE = re.compile(r"[^\w.-]")  # the first character after the name of a required package
_NAME = re.compile(r"[^/:.%\"']+")
_ALIAS = re.compile(r"(?!(?i:latest|v\d+)$)[\w-]+")  # MLflow reserves latest and v1


def log_model(folder: Path | str, name: str, tracking_uri: str, alias: str | None = None) -> str:
    """Register the model in a folder as a new version of a registered model.

    MLflow stores a copy of the folder, the name of our function that loads it, and the code of this package.
    It stores no pickle: the model loads with ``MLFLOW_ALLOW_PICKLE_DESERIALIZATION=false``. The requirements
    are the packages that it needs, in the versions that are installed here.

    The version belongs to a run in the experiment ``adbench-text models``. The run has the command line, the
    dataset and the settings. From now on the alias points to this version. The function returns the address
    of the version: ``models:/name@alias`` or ``models:/name/version``.
    """
    folder = Path(folder).expanduser()
    description = read_description(folder)
    if not _NAME.fullmatch(name):
        raise InvalidValueError(
            f"The name of a model must not be empty or contain / : . % or quotes, got {name!r}."
        )
    if alias is not None and not _ALIAS.fullmatch(alias):
        raise InvalidValueError(
            f"An alias has letters, digits, - and _, and is not latest or v1, got {alias!r}."
        )
    check_can_be_served(description["detectors"][0]["settings"])
    check_reachable(tracking_uri)
    client = StoreClient(tracking_uri)
    logged = _run_of_model(description, name)
    with TemporaryDirectory() as temporary:
        saved = _as_mlflow_model(folder, description["detectors"][0]["package"], Path(temporary))
        run_id = write_run(client, client.experiment_id(EXPERIMENT), logged)
        client.log_artifacts(run_id, str(saved), saved.name)
    with suppress(TrackingError):  # the name may exist already
        client.create_registered_model(name)
    source = f"{client.get_run(run_id).info.artifact_uri}/{saved.name}"
    text = logged.tags[DESCRIPTION]
    number = client.create_model_version(name, source, run_id, description=text).version
    if alias is not None:
        client.set_registered_model_alias(name, alias, number)
    return f"models:/{name}/{number}" if alias is None else f"models:/{name}@{alias}"


def _as_mlflow_model(folder: Path, package: str, temporary: Path) -> Path:
    """Write the model of a folder as an MLflow model into a temporary folder; return its path."""
    import mlflow

    path = temporary / "model"
    # MLflow warns about a missing input example, although there is a signature
    with warnings.catch_warnings(), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        try:
            mlflow.pyfunc.save_model(
                path,
                loader_module=pyfunc.__name__,
                data_path=str(folder),
                code_paths=[str(_copied_code(temporary))],
                signature=_signature(),
                pip_requirements=_requirements(package),
            )
        except (mlflow.MlflowException, OSError, PackageNotFoundError) as error:
            raise TrackingError(f"The model cannot be written for MLflow: {first_line(error)}") from error
    return path


def _copied_code(folder: Path) -> Path:
    """Copy the code of this package to a folder; return the path of the copy."""
    package = Path(adbench_text.__file__).parent
    # a model needs neither the results of reports nor the example
    ignored = shutil.ignore_patterns("__pycache__", "results", "example.csv*", "example-*")
    copied = shutil.copytree(package, folder / package.name, ignore=ignored)
    for name in () if (package / "detectors").is_dir() else ("detectors", "datasets", "reports"):
        shutil.copytree(package.parent / name, copied / name, ignore=ignored)  # a checkout has them outside
    return copied


def _requirements(package: str) -> list[str]:
    """Return the packages that a model needs, with their installed versions.

    These are the dependencies of this package, the package of the detector, and all installed encoders and
    word vectors.
    """
    declared = [_NO_PACKAGE.split(each)[0] for each in requires(_OURS) or () if "extra ==" not in each]
    wheels = [wheel.package for wheel in (pretrained.MINILM, vectors.WHEEL) if wheel.find()]
    names = [*declared, package, *wheels, *filter(installed, pretrained.LIBRARIES)]
    # no package index has the local part of a version, as in 2.13.0+cpu
    versions = {name: installed(name).partition("+")[0] for name in names if name != _OURS}
    return [f"{name}=={number}" if number else name for name, number in versions.items()]


def _run_of_model(description: Mapping[str, Any], name: str) -> Run:
    """Return the MLflow run of a model; its params are the settings and facts of the training.

    The detector learned from ``n_learned`` documents, and the param ``n_documents`` counts all documents.
    """
    detector, calibration = description["detectors"][0], description["calibration"]
    training = TrainingFacts(**description["training"])
    source = training.source or "documents"
    params = {
        "detector": detector["name"],
        "alpha": pyfunc.ALPHA,
        "calibration": calibration["by"],
        **training.options,
        **{f"detector.{key}": value for key, value in detector["settings"].items()},
    }
    metrics = {"n_learned": training.n_documents, "n_calibration": calibration["n"]}
    label = training.options.get("configuration", detector["name"])
    tags = {
        KIND: "model",
        DESCRIPTION: markdown(
            f"{label}, fitted on {training.n_documents:,} documents of {source}, digest "
            f"{training.digest}, calibrated by its scores ({calibration['by']})."
        ),
    }
    return Run(
        name=name,
        status="FINISHED",
        started=int(time.time() * 1000),
        tags={tag: printable(value) for tag, value in tags.items()} | run_tags(),
        params={key: printable(str(value)) for key, value in params.items()},
        metrics={key: float(value) for key, value in metrics.items()},
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
