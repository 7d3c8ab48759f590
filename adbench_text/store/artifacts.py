"""Where the artifacts of a stored cell are.

A store names an address for each run. It may be anybody's store, and name any folder of this machine and any
host. So only the folder of a database file, or the server of the store, is read.
"""

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from adbench_text.errors import TrackingError
from adbench_text.escaping import file_name, without_password
from adbench_text.store.record import Record

# where the server of a store may keep its artifacts
_BUCKETS = ("abfs", "abfss", "dbfs", "gs", "hdfs", "oss", "r2", "s3", "wasb", "wasbs")
_PORTS = {"http": 80, "https": 443}


def artifact_root(database: Path, experiment: str) -> Path:
    """Return the folder for the artifacts of an experiment: beside its database file, never elsewhere."""
    return database.parent.joinpath("mlruns", *map(file_name, experiment.split("/")))


def local_folder(record: Record, uri: str, database: Path | None, experiment: str) -> Path | None:
    """Return the folder of the artifacts of a cell, which may be absent; None if a server has them.

    MLflow stores complete paths. If a database was moved or copied together with its artifacts, they are
    beside it, in the folder that `artifact_root` returns.

    Parameters
    ----------
    record : Record
    uri : str
        Address of the store.
    database : path, optional
        The file of the store.
    experiment : str
        Name of the experiment of the cell.

    Raises
    ------
    TrackingError
        If the artifacts are neither in the folder of the file, nor on the server of the store.
    """
    if database is not None:
        beside = artifact_root(database, experiment) / file_name(record.run_id) / "artifacts"
        if beside.is_dir() and _is_of_run(beside, record):
            return beside
    try:
        named = _path(record.artifact_uri)
        if named is None and database is None and _is_on_server(record.artifact_uri, uri):
            return None
        is_within = named is not None and (database is None or _is_below(named, database.parent))
        if named is not None and is_within and _is_of_run(named, record):
            return named
    except (ValueError, OSError, RuntimeError):  # no address at all, or a path that links to itself
        pass
    raise TrackingError(
        f"The artifacts of the run {record.run_id} are not read: {without_password(record.artifact_uri)!r} "
        f"is neither in the folder of {without_password(uri)} nor on its server."
    )


def _path(address: str) -> Path | None:
    """Return the path of an address on this machine; None of any other address."""
    parts = urlsplit(address)
    if parts.scheme not in ("file", "") or parts.netloc or not parts.path.startswith("/"):
        return None
    return Path(url2pathname(parts.path) if parts.scheme else address)


def _is_on_server(address: str, uri: str) -> bool:
    """Return whether artifacts are on the server of a store, or in a bucket of its."""
    parts, store = urlsplit(address), urlsplit(uri)
    if parts.scheme in _BUCKETS:
        return True
    ports = [each.port or _PORTS.get(each.scheme) for each in (parts, store)]
    is_same = parts.hostname == store.hostname and (ports[0] == ports[1] or parts.port == store.port)
    return (parts.scheme == "mlflow-artifacts" and not parts.netloc) or (
        parts.scheme in ("mlflow-artifacts", "http", "https") and is_same
    )


def _is_below(path: Path, folder: Path) -> bool:
    """Return whether a path is below a folder: as it is written, or where its links lead."""
    return folder.resolve() in path.resolve().parents or (folder in path.parents and ".." not in path.parts)


def _is_of_run(folder: Path, record: Record) -> bool:
    """Return whether a folder is one that MLflow makes for the artifacts of a run."""
    return record.run_id.isalnum() and folder.resolve().parts[-2:] == (record.run_id, "artifacts")


def files_below(folder: Path) -> list[Path]:
    """Return the files of a folder, relative to it; links are left out: they may point anywhere."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path.relative_to(folder) for path in paths]
