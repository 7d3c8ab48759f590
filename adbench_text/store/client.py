"""The address of a store, and MLflow's client for it: errors in one line, Ctrl-C delayed, all pages read."""

import errno
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from urllib.parse import urlsplit

from adbench_text import interrupts
from adbench_text.errors import InvalidValueError, RefusedError, TrackingError
from adbench_text.escaping import file_name, without_password

DEFAULT_URI = "sqlite:///mlflow.db"
PATIENCE = 5  # seconds to wait for a server
_LONGEST = 100  # characters of the prefix of an experiment
_CREATION_SECONDS = 120  # to wait for another process that creates the store
# codes of MLflow's errors about the data; all other errors are about the store
_REFUSALS = ("INVALID_PARAMETER_VALUE", "BAD_REQUEST")
_NO_STORES = ("sqlite", "file", "postgresql", "postgres", "mysql", "mssql")  # schemes; the rest is MLflow's


def tracking_uri(given: str | None = None) -> str:
    """Return the store to use: `given`, or ``MLFLOW_TRACKING_URI``, or ``mlflow.db`` in this folder."""
    return given or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_URI


def checked_experiment(name: str) -> str:
    """Return the prefix of the names of experiments; raise InvalidValueError if it is not allowed."""
    parts = name.split("/")
    if not name.isprintable() or "\\" in name or len(name) > _LONGEST or {"", ".", ".."}.intersection(parts):
        raise InvalidValueError(
            f"--experiment must be a name of at most {_LONGEST} printable characters, perhaps with / within "
            f"it, got {name!r:.80}."
        )
    return name


def check_reachable(uri: str, writes: bool = True) -> None:
    """Raise TrackingError if the store cannot be used; without `writes`, its file may be read-only.

    MLflow itself would first retry for many minutes. An address with a scheme that only MLflow knows, such as
    ``databricks``, passes unchecked.
    """
    shown = without_password(uri)
    try:
        scheme = urlsplit(uri).scheme.partition("+")[0]
        if scheme in ("http", "https"):
            _check_server(uri)
    except ValueError as error:  # a host with an open bracket, or with a part that is too long
        raise TrackingError(f"{shown!r} is not an address of a store: {error}.") from error
    if file := sqlite_file(uri):
        _check_file(file.absolute(), writes)
    elif scheme in _NO_STORES or (len(scheme) < 2 and not uri.startswith("databricks")):  # a path, or a drive
        path = uri if Path(uri).is_file() else "path/to/mlflow.db"
        raise TrackingError(
            f"{shown!r} is not a store: give a SQLite file (sqlite:///{path}), or the http address "
            "of an MLflow server, which may use a database (mlflow server --backend-store-uri ...)."
        )


def _check_server(uri: str) -> None:
    """Raise TrackingError if no server answers at an address."""
    import requests

    try:
        answer = requests.get(f"{uri.rstrip('/')}/health", timeout=PATIENCE, stream=True)
        answer.close()
        reason = f"HTTP status {answer.status_code}" if answer.status_code >= 500 else ""
    except requests.RequestException as error:
        reason = type(error).__name__
    if reason:  # any other answer comes from a server; its first use shows which kind
        raise TrackingError(
            f"No MLflow server answers at {without_password(uri)} ({reason}). "
            f"Start it, or use --tracking-uri {DEFAULT_URI}."
        )


def _check_file(path: Path, writes: bool) -> None:
    """Raise TrackingError if a SQLite file cannot be used, or belongs to another program."""
    verb, mode = ("write", os.W_OK) if writes else ("read", os.R_OK)
    if not {"?", "%"}.isdisjoint(str(path)):
        reason = "its path has a ? or a %, which mean something else in an address"
    elif not path.parent.is_dir():
        reason = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, mode):
        reason = f"cannot {verb} it"
    elif (tables := sqlite_tables(path)) and not {"experiments", "runs"} <= tables:
        reason = "it belongs to another program"  # MLflow would add its tables
    else:
        return
    raise TrackingError(
        f"The store {without_password(str(path))} cannot be used: {reason}. Choose another (--tracking-uri)."
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an error message without passwords: SQLAlchemy and MLflow write long ones."""
    return without_password(str(error).strip().partition("\n")[0])


def locked(store: str | Path) -> TrackingError:
    """Return the error for a store that another process has locked."""
    return TrackingError(f"Another process has locked {store}; try again when it is done.")


def artifact_root(database: Path, experiment: str) -> Path:
    """Return the folder for the artifacts of an experiment: always in the folder of the database file."""
    return database.parent.joinpath("mlruns", *map(file_name, experiment.split("/")))


def sqlite_file(uri: str) -> Path | None:
    """Return the file of a SQLite store, or None for another store."""
    prefix = "sqlite:///"
    return Path(uri.removeprefix(prefix)) if uri.startswith(prefix) else None


def sqlite_tables(path: Path) -> set[str]:
    """Return the names of the tables of a SQLite database; empty if the file does not exist."""
    if not path.exists():
        return set()
    # opened for writing, so that SQLite rolls back the transaction of a process that died
    address = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            return {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
            raise locked(path.absolute()) from error
        raise TrackingError(
            f"{path.absolute()} is not a usable SQLite database ({error}). Choose another (--tracking-uri)."
        ) from error


class StoreClient:
    """MLflow's client: it has the methods of `MlflowClient`, and raises our errors, in one line.

    Once the store is lost, each further call raises the same error at once, until `try_again`.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._lost: TrackingError | None = None
        self._experiments: dict[str, str] = {}
        self._client = self._attempt(self._connect)

    def _connect(self) -> Any:
        """Return MLflow's client, made quiet and impatient; create the database if it does not exist."""
        os.environ["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"  # else two lines a run
        os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
        # otherwise it tries for four minutes to reach a server that does not answer
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        from mlflow import MlflowClient

        for name in ("mlflow", "alembic"):  # they print the migrations of a new database
            logging.getLogger(name).setLevel(logging.WARNING)
        # it prints the traceback of each database error, although it raises the error
        logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
        if file := sqlite_file(self._uri):
            _create(file)
        return MlflowClient(self._uri)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda *args, **kwargs: self._attempt(method, *args, **kwargs)

    def try_again(self) -> None:
        """Raise TrackingError if the store was lost and is still out of reach."""
        if self._lost:
            check_reachable(self._uri)
            self._lost = None

    def _attempt(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function of MLflow; turn its errors into ours, and remember that the store is lost."""
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        if self._lost:  # every further attempt would take minutes
            raise self._lost
        # Ctrl-C may leave a transaction open; a server ends its transactions itself
        guard = interrupts.held_back() if sqlite_file(self._uri) else nullcontext()
        try:
            with guard:
                return function(*args, **kwargs)
        # ValueError: a number does not fit into a message to a server
        except (MlflowException, SQLAlchemyError, OSError, ImportError, ValueError) as error:
            try:
                check_reachable(self._uri)
            except TrackingError as lost:
                self._lost = lost
                raise
            raise as_tracking_error(error, self._uri) from error

    def experiment_id(self, name: str) -> str:
        """Return the id of an experiment; create the experiment if it does not exist."""
        if name not in self._experiments:
            known = self.get_experiment_by_name(name)
            if known and known.lifecycle_stage != "active":
                raise TrackingError(
                    f"The experiment {name} of {without_password(self._uri)} was deleted: restore it (mlflow "
                    f"experiments restore -x {known.experiment_id}), or give another --experiment."
                )
            self._experiments[name] = str(known.experiment_id) if known else self._new_experiment(name)
        return self._experiments[name]

    def _new_experiment(self, name: str) -> str:
        """Create an experiment, and return its id."""
        file = sqlite_file(self._uri)
        # artifacts go to the folder of the database file, not to the working directory
        artifacts = artifact_root(file, name).absolute().as_uri() if file else None
        # without the tag, older pages of MLflow show an experiment on language models
        tags = {"mlflow.experimentKind": "custom_model_development"}
        try:
            return str(self.create_experiment(name, artifacts, tags))
        except TrackingError:
            if known := self.get_experiment_by_name(name):  # another process may have created it
                return str(known.experiment_id)
            raise


def as_tracking_error(error: BaseException, uri: str) -> TrackingError:
    """Turn an error from MLflow, a database or the system into our error, in one line.

    It is a RefusedError if the store or MLflow refuses a value or a request.
    """
    shown, text, database = without_password(uri), str(error), sqlite_file(uri)
    if "database is locked" in text:
        return locked(shown)
    if "database or disk is full" in text or getattr(error, "errno", None) == errno.ENOSPC:
        # MLflow copies an artifact from a temporary file; its error may name both files, or no file
        known = f"{database} or {database.parent / 'mlruns'}" if database else gettempdir()
        place = getattr(error, "filename2", None) or getattr(error, "filename", None) or known
        return TrackingError(
            f"Cannot write to {place}: No space left on device. Make room, then run the same command again."
        )
    reason = first_line(error).removesuffix(".")
    # MLflow reports a number that is too large for its column as an internal error of the database
    is_value = isinstance(error, ValueError) or isinstance(error.__cause__, OverflowError)
    # MLflow reports a damaged file as a wrong request; its text names a DatabaseError
    is_request = getattr(error, "error_code", "") in _REFUSALS and "DatabaseError)" not in text
    if is_value or is_request:
        return RefusedError(f"The store {shown} refuses the request: {reason}.")
    return TrackingError(f"The store {shown} cannot be used: {reason}.")


def _create(path: Path) -> None:
    """Create an MLflow database if it does not exist.

    MLflow creates it in many transactions. It cannot continue after an interruption, and two processes
    must not do it at the same time. So one process creates the database under another name, and then renames
    it.
    """
    path = path.resolve()  # a link stays a link
    if sqlite_tables(path):
        return
    from filelock import FileLock
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    new, lock = (path.with_name(f"{path.name}.{suffix}") for suffix in ("new", "lock"))
    with FileLock(lock, timeout=_CREATION_SECONDS):
        if not sqlite_tables(path):
            new.unlink(missing_ok=True)
            artifacts = (path.parent / "mlruns").as_uri()
            store = SqlAlchemyStore(f"sqlite:///{new}", artifacts)  # type: ignore[no-untyped-call]
            store.engine.dispose()
            new.replace(path)
        with suppress(OSError):  # Windows does not delete an open file
            lock.unlink()


def pages(search: Callable[..., Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Yield all results of an MLflow search, page after page."""
    token: str | None = None
    while True:
        page = search(*args, page_token=token, **kwargs)
        yield from page
        token = page.token
        if not token:
            return
