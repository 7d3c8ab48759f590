"""Registers saved models in MLflow, so that they can be listed, aliased and served."""

import os
import re
import warnings
from contextlib import redirect_stderr
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from adbench_text import __version__
from adbench_text.errors import InvalidValueError, ModelError, TrackingError
from adbench_text.store.address import check_reachable, first_line, mlflow_uri, without_password

_LOADER = "adbench_text.models.pyfunc"
_VARIABLE = "MLFLOW_TRACKING_URI"
_RESULTS = {"score": "double", "p": "double", "odd": "boolean", "why": "string"}
_NONE_WITHOUT_WORDS = ("score", "p")
_NAME = re.compile(r"[^/:.%\"']+")


def log_model(folder: Path | str, name: str, tracking_uri: str, alias: str | None = None) -> str:
    """Register the model in a folder as a new version of a registered model.

    MLflow stores a copy of the folder, and the name of our function that loads it: no pickle. The model
    loads with ``MLFLOW_ALLOW_PICKLE_DESERIALIZATION=false``.

    Parameters
    ----------
    folder : path
        A folder that `adbench_text.models.save` wrote.
    name : str
        Of the registered model, created if it does not exist.
    tracking_uri : str
        Address of the store.
    alias : str, optional
        Name that points to this version from now on, such as ``"winner"``.

    Returns
    -------
    str
        Address of the version, ``models:/name@alias`` or ``models:/name/version``.

    Raises
    ------
    ModelError
        If there is no model in the folder.
    TrackingError
        If the store cannot be used.
    """
    folder = Path(folder).expanduser()
    if not (folder / "model.json").is_file():
        raise ModelError(f"There is no model at {folder}: it has no file model.json.")
    if not _NAME.fullmatch(name):
        raise InvalidValueError(
            f"The name of a model must not be empty or contain / : . % or quotes, got {name!r}."
        )
    check_reachable(tracking_uri)
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        return _log(folder, name, tracking_uri, alias)
    except (MlflowException, SQLAlchemyError, OSError) as error:
        raise TrackingError(
            f"The model cannot be registered in {without_password(tracking_uri)}: {first_line(error)}"
        ) from error


def _log(folder: Path, name: str, tracking_uri: str, alias: str | None) -> str:
    import mlflow
    from mlflow import MlflowClient

    from adbench_text.store.client import StoreClient

    StoreClient(tracking_uri)  # creates a database where there is none
    before, variable = mlflow.get_tracking_uri(), os.environ.get(_VARIABLE)
    try:
        # the registry is that of the store, unless the user has set another one
        mlflow.set_tracking_uri(mlflow_uri(tracking_uri))
        # MLflow prints what it does, and asks for an example although there is a signature
        with warnings.catch_warnings(), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            logged = mlflow.pyfunc.log_model(
                name=name,
                loader_module=_LOADER,
                data_path=str(folder),
                signature=_signature(),
                pip_requirements=_requirements(),
                registered_model_name=name,
            )
        number = str(logged.registered_model_version)
        if alias is not None:
            MlflowClient().set_registered_model_alias(name, alias, number)
    finally:
        mlflow.set_tracking_uri(before)
        os.environ.pop(_VARIABLE, None)  # MLflow sets it too
        if variable is not None:
            os.environ[_VARIABLE] = variable
    return f"models:/{name}/{number}" if alias is None else f"models:/{name}@{alias}"


def _signature() -> Any:
    from mlflow.models import ModelSignature
    from mlflow.types.schema import AnyType, ColSpec, ParamSchema, ParamSpec, Schema

    return ModelSignature(
        # "string" would turn a null of the request into the text "None"
        Schema([ColSpec(AnyType(), "text")]),  # type: ignore[no-untyped-call]
        Schema([ColSpec(kind, name, name not in _NONE_WITHOUT_WORDS) for name, kind in _RESULTS.items()]),
        ParamSchema([ParamSpec("alpha", "double", 0.01)]),
    )


def _requirements() -> list[str]:
    """Return what a server has to install: this package, and MLflow itself."""
    return [f"adbench-text=={__version__}", f"mlflow=={version('mlflow')}"]
