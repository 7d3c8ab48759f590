"""MLflow's client as this package wants it: errors in one line, Ctrl-C held back, all pages."""

import errno
import logging
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from adbench_text import interrupts
from adbench_text.errors import TrackingError
from adbench_text.escaping import without_password
from adbench_text.store.address import (
    check_reachable,
    first_line,
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
        file = sqlite_file(self._uri)
        if file is None:
            return MlflowClient(self._uri)
        _create(file)
        try:
            return MlflowClient(mlflow_uri(self._uri))
        except Exception as error:
            if _holds_runs(file):
                raise
            raise TrackingError(
                f"The store {self._uri} cannot be used: {first_line(error)}. "
                "It holds no runs: if its creation was cut off, delete it."
            ) from error

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
            if "database is locked" in str(error):
                raise TrackingError(
                    f"Another process has locked {without_password(self._uri)}; try again when it is done."
                ) from error
            if full := _full_place(error, sqlite_file(self._uri)):
                raise TrackingError(
                    f"Cannot write to {full}: No space left on device. "
                    "Make room, then run the same command again."
                ) from error
            raise TrackingError(
                f"The store {without_password(self._uri)} cannot be used: {_reason(error)}."
            ) from error


def _full_place(error: BaseException, database: Path | None) -> Path | None:
    """Return what cannot be written because its disk is full; None after any other error."""
    if database is not None and "database or disk is full" in str(error):
        return database.absolute()
    if not isinstance(error, OSError) or error.errno != errno.ENOSPC:
        return None
    if error.filename:
        return Path(os.fsdecode(error.filename))
    # MLflow's copy of an artifact does not name its target
    return database.absolute().parent / "mlruns" if database is not None else Path(gettempdir())


def _reason(error: BaseException) -> str:
    """Return why MLflow has failed, without the addresses of its requests."""
    if answer := re.search(r"too many (\d+) error responses", str(error)):
        return f"the server answers HTTP status {answer[1]}; its own log names the reason"
    return first_line(error).removesuffix(".")


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


def _holds_runs(path: Path) -> bool:
    """Return False only if there are certainly none."""
    try:
        with closing(sqlite3.connect(path)) as database:
            return bool(database.execute("SELECT 1 FROM runs LIMIT 1").fetchall())
    except sqlite3.Error:
        return True


def pages(search: Callable[..., Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Yield all that a search of MLflow finds, page after page."""
    token: str | None = None
    while True:
        page = search(*args, page_token=token, **kwargs)
        yield from page
        token = page.token
        if not token:
            return
