"""The journal of a store: results that are finished and not logged yet, and claims on cells.

A result is written and flushed here before MLflow is asked to log it, so that neither a killed process nor
a lost server costs a finished cell. A claim is a lock on one byte of a file: the system releases it with the
process that holds it.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from adbench_text import storage
from adbench_text.escaping import file_name

try:
    import fcntl
except ImportError:  # Windows: no claims, so two runs at once may do a cell twice
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".json"
_SECONDS = 0.1  # between two attempts to get a claim that another process holds


class Journal:
    """A folder with one file per result that is not logged yet.

    Parameters
    ----------
    folder : Path
        It is created at the first use.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> temporary = TemporaryDirectory()
    >>> folder = Path(temporary.name) / "mlflow.db.cells"
    >>> journal = Journal(folder)
    >>> journal.claim("c0ffee")
    True
    >>> journal.write("c0ffee", {"auroc": 0.9})
    >>> [entry for _, entry in Journal(folder).entries()]
    [{'auroc': 0.9}]
    >>> journal.remove("c0ffee")
    >>> temporary.cleanup()
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: int | None = None
        self._claimed: set[str] = set()
        self._written: set[str] = set()  # by this process
        # in this order: a result that is written meanwhile is in one of them at least
        self._ended_before = self._size_of_ended()
        self._waiting = {path.stem for path in folder.glob(f"*{_SUFFIX}")}  # to be logged, by whomever

    def claim(self, key: str) -> bool | None:
        """Return True if the key is this process's now, None if another process holds it.

        False if another process wrote an entry for it since this journal was opened, or logged one that was
        waiting then.
        """
        if not self._lock(key):
            return None
        if key in (self._waiting | self._ended_meanwhile()) - self._written:
            self.release(key)
            return False
        return True

    def release(self, key: str) -> None:
        """Give up a claim."""
        if key in self._claimed:
            self._claimed.remove(key)
            if fcntl:
                fcntl.lockf(self._claims(), fcntl.LOCK_UN, 1, _offset(key))

    @contextmanager
    def held(self, key: str, notify: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Hold a claim within a block; wait for another process that holds it, after a call of `notify`."""
        if not self._lock(key):
            notify()
            while not self._lock(key):
                time.sleep(_SECONDS)
        try:
            yield
        finally:
            self.release(key)

    def write(self, key: str, entry: Mapping[str, Any]) -> None:
        """Write an entry; it is on the disk when this returns."""
        self._written.add(key)
        path = self.folder / f"{key}{_SUFFIX}"
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.new")
        try:
            with temporary.open("w", encoding="utf-8") as stream:
                json.dump(entry, stream)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(path)
        except OSError:  # a full disk
            temporary.unlink(missing_ok=True)
            raise
        _flush_folder(self.folder)
        with (self.folder / "ended").open("a") as stream:  # one short line is appended at once
            stream.write(f"{key}\n")

    def remove(self, key: str) -> None:
        """Remove an entry that is logged, and give up its claim."""
        (self.folder / f"{key}{_SUFFIX}").unlink(missing_ok=True)
        self._waiting.discard(key)
        self.release(key)

    def entries(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the entries of this process, and those of processes that have ended; they are claimed.

        Files that are damaged are removed: their cells are run again.
        """
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            key = path.stem
            if not self._lock(key):
                continue
            try:
                yield key, json.loads(path.read_text(encoding="utf-8"))
            except OSError:  # logged meanwhile, or out of reach for now
                self.release(key)
            except ValueError:
                self.remove(key)

    def is_abandoned(self, key: str) -> bool:
        """Return whether no process holds a claim on a key."""
        if key in self._claimed or not self._lock(key):
            return False
        self.release(key)
        return True

    def _lock(self, key: str) -> bool:
        if fcntl and key not in self._claimed:
            try:
                fcntl.lockf(self._claims(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(key))
            except (BlockingIOError, PermissionError):
                return False
            except OSError:  # a file system without locks
                pass
        self._claimed.add(key)
        return True

    def _claims(self) -> int:
        # one descriptor only: closing any other one of this file would release all locks
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.folder / "claims", os.O_RDWR | os.O_CREAT, 0o644)
        return self._file

    def _size_of_ended(self) -> int:
        try:
            return (self.folder / "ended").stat().st_size
        except OSError:
            return 0

    def _ended_meanwhile(self) -> set[str]:
        if self._size_of_ended() == self._ended_before:
            return set()
        with (self.folder / "ended").open() as stream:
            stream.seek(self._ended_before)
            return set(stream.read().split())


def folder_of(store: str, file: Path | None, experiment: str) -> Path:
    """Return the folder of the journal of an experiment: beside the file of the store, or in the cache."""
    if file is not None:
        return file.with_name(f"{file.name}.cells") / file_name(experiment)
    return storage.cache_dir() / "journals" / sha256(store.encode()).hexdigest()[:16] / file_name(experiment)


def _offset(key: str) -> int:
    return int(sha256(key.encode()).hexdigest()[:14], 16)


def _flush_folder(folder: Path) -> None:
    """Flush the names of a folder, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
