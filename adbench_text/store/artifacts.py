"""Where the artifacts of a stored cell are on this machine."""

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from adbench_text.escaping import file_name
from adbench_text.store.record import Record


def artifact_root(database: Path, experiment: str) -> Path:
    """Return the folder for the artifacts of an experiment: beside its database file, never elsewhere."""
    return database.parent.joinpath("mlruns", *map(file_name, experiment.split("/")))


def local_folder(record: Record, database: Path | None, experiment: str) -> Path | None:
    """Return the folder of the artifacts of a cell, which may be absent; None if a server has them.

    MLflow stores complete paths. If a database was moved or copied together with its artifacts, they are
    beside it, in the folder that `artifact_root` returns.

    Parameters
    ----------
    record : Record
    database : path, optional
        The file of the store.
    experiment : str
        Name of the experiment of the cell.
    """
    parts = urlsplit(record.artifact_uri)
    if parts.scheme not in ("file", "") or not parts.path.startswith("/"):
        return None
    named = Path(url2pathname(parts.path) if parts.scheme else record.artifact_uri)
    if named.is_dir() or database is None:
        return named
    beside = artifact_root(database, experiment) / file_name(record.run_id) / "artifacts"
    return beside if beside.is_dir() else named


def is_of_run(folder: Path, record: Record) -> bool:
    """Whether a folder is one that MLflow makes for the artifacts of a run.

    The path comes from a database, which may be anybody's, and name any folder of this machine.
    """
    return record.run_id.isalnum() and folder.resolve().parts[-2:] == (record.run_id, "artifacts")


def files_below(folder: Path) -> list[Path]:
    """Return the files of a folder, relative to it; links are left out: they may point anywhere."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path.relative_to(folder) for path in paths]
