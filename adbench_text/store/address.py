"""Addresses of MLflow stores: which one to use, and whether it can be used at all."""

import os
import re
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from adbench_text.errors import InvalidValueError, TrackingError
from adbench_text.escaping import file_name, without_password

DEFAULT_URI = "sqlite:///mlflow.db"
PATIENCE = 5  # seconds to wait for a server
_LONGEST = 100  # characters of the prefix of an experiment


def tracking_uri(given: str | None = None) -> str:
    """Return the store to use: the given one, ``MLFLOW_TRACKING_URI``, or ``mlflow.db`` in this folder."""
    return given or os.environ.get("MLFLOW_TRACKING_URI") or DEFAULT_URI


def checked_experiment(name: str) -> str:
    """Return the prefix of the names of experiments; raise InvalidValueError if it cannot be one."""
    parts = name.split("/")
    if not name.isprintable() or "\\" in name or len(name) > _LONGEST or {"", ".", ".."}.intersection(parts):
        raise InvalidValueError(
            f"--experiment must be a name of at most {_LONGEST} printable characters, perhaps with / within "
            f"it, got {name!r:.80}."
        )
    return name


def check_reachable(uri: str, writes: bool = True) -> None:
    """Raise TrackingError if the store cannot be used; if nothing is written, its file may be read-only.

    MLflow itself would retry for many minutes first.
    """
    shown = without_password(uri)
    try:
        scheme = urlsplit(uri).scheme.partition("+")[0]
        if scheme in ("http", "https"):
            _check_server(uri)
        elif scheme == "sqlite":
            _check_sqlite(uri, writes)
        elif scheme in ("postgresql", "mysql", "mssql"):
            _check_database(uri)
    except ValueError as error:  # no host, or a port that is no number
        raise TrackingError(f"{shown!r} is not an address of a store: {error}.") from error
    # the rest is a path (one letter is a drive), or another scheme of MLflow
    if (scheme in ("file", "") and not uri.startswith("databricks")) or len(scheme) == 1:
        raise TrackingError(
            f"MLflow keeps no runs in plain folders any more, got {shown!r}; use {DEFAULT_URI}."
        )


def _check_server(uri: str) -> None:
    import requests

    try:
        answer = requests.get(f"{uri.rstrip('/')}/health", timeout=PATIENCE, stream=True)
        answer.close()
        reason = f"HTTP status {answer.status_code}" if answer.status_code >= 500 else ""
    except requests.RequestException as error:
        reason = type(error).__name__
    if reason:  # any other answer is a server's; what kind of server shows at its first use
        raise TrackingError(
            f"No MLflow server answers at {without_password(uri)} ({reason}). "
            f"Start it, or use --tracking-uri {DEFAULT_URI}."
        )


def _check_database(uri: str) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        url = make_url(uri)
        if url.host:  # else a socket in the file system
            port = url.port or {"postgresql": 5432, "mysql": 3306, "mssql": 1433}[url.get_backend_name()]
            socket.create_connection((url.host, port), timeout=PATIENCE).close()
        engine = create_engine(url)
        engine.connect().close()
        engine.dispose()
    except (OSError, SQLAlchemyError, ImportError) as error:
        raise TrackingError(
            f"The database {without_password(uri)} cannot be used ({first_line(error)}). "
            f"Start it, or use --tracking-uri {DEFAULT_URI}."
        ) from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, as SQLAlchemy's and MLflow's are long; without passwords."""
    return without_password(str(error).strip().partition("\n")[0])


def locked(store: str | Path) -> TrackingError:
    """Return the error about a store that another process writes to."""
    return TrackingError(f"Another process has locked {store}; try again when it is done.")


def artifact_root(database: Path, experiment: str) -> Path:
    """Return the folder for the artifacts of an experiment: beside its database file, never elsewhere."""
    return database.parent.joinpath("mlruns", *map(file_name, experiment.split("/")))


def local_path(address: str) -> Path | None:
    """Return the path of an address on this machine; None of any other address."""
    parts = urlsplit(address)
    if parts.scheme not in ("file", "") or parts.netloc or not parts.path.startswith("/"):
        return None
    return Path(url2pathname(parts.path) if parts.scheme else address)


def sqlite_file(uri: str) -> Path | None:
    """Return the file of a SQLite store, None for any other store."""
    prefix = "sqlite:///"
    return Path(uri.removeprefix(prefix)) if uri.startswith(prefix) else None


def mlflow_uri(uri: str) -> str:
    """Return an address as MLflow needs it: that of a SQLite file is quoted and absolute where necessary.

    SQLAlchemy takes ``?`` and ``%`` in a path for options and quoted characters.
    """
    from sqlalchemy.engine import URL, make_url

    path = sqlite_file(uri)
    if path is None:
        return uri
    file = str(path.absolute())
    if make_url(f"sqlite:///{file}").database == file:
        return f"sqlite:///{file}"
    # with the name of the driver, or else MLflow creates a folder of the quoted name
    return URL.create("sqlite+pysqlite", database=file).render_as_string()


def _check_sqlite(uri: str, writes: bool) -> None:
    path, shown = sqlite_file(uri), without_password(uri)
    if path is None:
        raise TrackingError(f"A SQLite store is written sqlite:///path/to/mlflow.db, got {shown!r}.")
    if re.search(r"\?\w+=[^/]*$", uri):
        raise TrackingError(
            f"Options after ? are not supported in {shown!r}; give the path of the file only."
        )
    if not path.parent.is_dir():
        raise TrackingError(f"There is no folder {path.parent.absolute()} for the store {uri}.")
    if path.is_dir():
        raise TrackingError(f"{path.absolute()} is a folder; name a file in it for the store.")
    verb, mode = ("write", os.W_OK) if writes else ("read", os.R_OK)
    if not os.access(path if path.exists() else path.parent, mode):
        raise TrackingError(f"Cannot {verb} the store {path.absolute()}; choose another with --tracking-uri.")
    tables = sqlite_tables(path)
    if tables and not {"experiments", "runs"} <= tables:  # MLflow would write its own beside them
        raise TrackingError(
            f"{path.absolute()} belongs to another program; choose another with --tracking-uri."
        )


def sqlite_tables(path: Path) -> set[str]:
    """Return the names of the tables of a SQLite database; none if there is no file."""
    if not path.exists():
        return set()
    # opened for writing, so that SQLite rolls back a transaction in which a process died
    address = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            return {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
            raise locked(path.absolute()) from error
        raise TrackingError(
            f"{path.absolute()} is not a usable SQLite database ({error}); "
            "choose another with --tracking-uri."
        ) from error
