"""MLflow's client as this package wants it: errors in one line, Ctrl-C held back, all pages."""

import errno
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from adbench_text import interrupts
from adbench_text.errors import TrackingError
from adbench_text.escaping import without_password
from adbench_text.store.address import (
    artifact_root,
    check_reachable,
    first_line,
    locked,
    mlflow_uri,
    sqlite_file,
    sqlite_tables,
)

_CREATION_SECONDS = 120  # to wait for another process that creates the store
_JOURNALS = ("journal", "wal", "shm")  # what SQLite keeps beside a database


class StoreClient:
    """MLflow's client, whose errors are ours, each in one line."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._lost: TrackingError | None = None
        self._experiments: dict[str, str] = {}
        self._client = self._attempt(self._connect)

    def _connect(self) -> Any:
        os.environ["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"  # two lines for each run
        os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
        # otherwise it tries for four minutes to reach a server that does not answer
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        from mlflow import MlflowClient

        for name in ("mlflow", "alembic"):  # the migrations of a new database, line by line
            logging.getLogger(name).setLevel(logging.WARNING)
        # it prints the traceback of each error of a database, which is raised too
        logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
        if file := sqlite_file(self._uri):
            _create(file)
        return MlflowClient(mlflow_uri(self._uri))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda *args, **kwargs: self._attempt(method, *args, **kwargs)

    def try_again(self) -> None:
        """Raise TrackingError if the store was lost and is still out of reach."""
        if self._lost:
            check_reachable(self._uri)
            self._lost = None

    def _attempt(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        if self._lost:  # each further attempt would take MLflow minutes
            raise self._lost
        # Ctrl-C in the middle of a transaction may leave it open; a server ends its own
        guard = interrupts.held_back() if sqlite_file(self._uri) else nullcontext()
        try:
            with guard:
                return function(*args, **kwargs)
        except (MlflowException, SQLAlchemyError, OSError, ImportError) as error:
            try:
                check_reachable(self._uri)
            except TrackingError as lost:
                self._lost = lost
                raise
            raise as_tracking_error(error, self._uri) from error

    def experiment_id(self, name: str) -> str:
        """Return the id of an experiment, which is created if it does not exist."""
        if name not in self._experiments:
            known = self.get_experiment_by_name(name) or self._new_experiment(name)
            shown = without_password(self._uri)
            if known.lifecycle_stage == "deleted":
                raise TrackingError(
                    f"The experiment {name!r} was deleted from {shown}; restore it, or use --experiment."
                )
            is_of_server = known.artifact_location.startswith("mlflow-artifacts:")
            if is_of_server and not self._uri.startswith(("http:", "https:")):
                raise TrackingError(
                    f"The artifacts of the experiment {name!r} in {shown} are kept by an MLflow server; "
                    "give the address of the server as --tracking-uri."
                )
            self._experiments[name] = str(known.experiment_id)
        return self._experiments[name]

    def _new_experiment(self, name: str) -> Any:
        file = sqlite_file(self._uri)
        # artifacts go beside a database file, not where the command happens to run
        artifacts = artifact_root(file, name).absolute().as_uri() if file else None
        # without the tag MLflow's pages take it for an experiment on language models
        tags = {"mlflow.experimentKind": "custom_model_development"}
        try:
            self.create_experiment(name, artifacts, tags)
        except TrackingError:
            if self.get_experiment_by_name(name) is None:  # no other process has created it meanwhile
                raise
        return self.get_experiment_by_name(name)


def as_tracking_error(error: BaseException, uri: str) -> TrackingError:
    """Return an error of MLflow or SQLAlchemy as one of ours, in one line."""
    shown, text, database = without_password(uri), str(error), sqlite_file(uri)
    if "database is locked" in text:
        return locked(shown)
    full: Path | str | None = None
    if database is not None and "database or disk is full" in text:
        full = database.absolute()
    elif isinstance(error, OSError) and error.errno == errno.ENOSPC:
        # MLflow's copy of an artifact does not name its target
        folder = database.absolute().parent / "mlruns" if database is not None else gettempdir()
        full = error.filename or folder
    if full:
        return TrackingError(
            f"Cannot write to {full}: No space left on device. Make room, then run the same command again."
        )
    if answer := re.search(r"too many (\d+) error responses", text):
        reason = f"the server answers HTTP status {answer[1]}; its own log names the reason"
    else:
        reason = first_line(error).removesuffix(".")
    return TrackingError(f"The store {shown} cannot be used: {reason}.")


def _create(path: Path) -> None:
    """Create an MLflow database if it does not exist.

    MLflow creates one in many transactions. It cannot go on where it was cut off, and two processes
    must not do it at once. So one of them creates it beside its place, and moves it there.
    """
    path = path.resolve()  # a link stays a link
    if sqlite_tables(path):
        return
    from filelock import FileLock
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    new, lock = (path.with_name(f"{path.name}.{suffix}") for suffix in ("new", "lock"))
    with FileLock(lock, timeout=_CREATION_SECONDS):
        if not sqlite_tables(path):
            # a journal left by an earlier database of this name would be taken for the new one's
            for name in (new.name, *(f"{file.name}-{kind}" for file in (path, new) for kind in _JOURNALS)):
                path.with_name(name).unlink(missing_ok=True)
            artifacts = (path.parent / "mlruns").as_uri()
            store = SqlAlchemyStore(mlflow_uri(f"sqlite:///{new}"), artifacts)  # type: ignore[no-untyped-call]
            store.engine.dispose()
            new.replace(path)
        with suppress(OSError):  # Windows deletes no open file
            lock.unlink()


def pages(search: Callable[..., Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Yield all that a search of MLflow finds, page after page."""
    token: str | None = None
    while True:
        page = search(*args, page_token=token, **kwargs)
        yield from page
        token = page.token
        if not token:
            return
