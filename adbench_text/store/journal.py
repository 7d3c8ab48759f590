"""The journal of a store: results that are finished and not logged yet, and claims on sweeps.

A result is written and flushed here before MLflow is asked to log it, so that neither a killed process nor
a lost server costs a finished cell. A claim is a locked file; the system releases the lock with the process.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from adbench_text import storage
from adbench_text.errors import TrackingError
from adbench_text.escaping import file_name


class Journal:
    """A folder with one file per result that is not logged yet; it is created at the first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._claims: dict[str, FileLock] = {}  # of this process

    def claim(self, key: str) -> bool:
        """Return True if the key is this process's now, False if another process holds it."""
        lock = self._claims.get(key) or self._lock(f"{key}.claim")
        with self._room():
            if key not in self._claims and not _acquired(lock):
                return False
        self._claims[key] = lock
        return True

    def release(self, key: str) -> None:
        """Give up a claim, if there is one."""
        if key in self._claims:
            with suppress(OSError):  # Windows deletes no open file
                (self.folder / f"{key}.claim").unlink()
            self._claims.pop(key).release()

    def release_all(self) -> None:
        """Give up all claims of this process."""
        for key in list(self._claims):
            self.release(key)

    def is_abandoned(self, key: str) -> bool:
        """Return whether no process holds a claim on a key."""
        if key in self._claims or not self.claim(key):
            return False
        self.release(key)
        return True

    def _lock(self, name: str) -> FileLock:
        with self._room():
            self.folder.mkdir(parents=True, exist_ok=True)
        return FileLock(self.folder / name, thread_local=False)

    @contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Hold a lock in a block; wait for another process that holds it."""
        lock = self._lock(f"{name}.lock")
        with self._room():
            lock.acquire(poll_interval=0.01)
        try:
            yield
        finally:
            lock.release()

    def write(self, key: str, entry: Mapping[str, Any]) -> None:
        """Write an entry; it is on the disk when this returns."""
        temporary = self.folder / f"{key}.{os.getpid()}.new"  # another process may write the same one
        with self._room():
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                with temporary.open("w", encoding="utf-8") as stream:
                    json.dump(entry, stream)
                    stream.flush()
                    os.fsync(stream.fileno())
                temporary.replace(self.folder / f"{key}.json")
            finally:
                temporary.unlink(missing_ok=True)
            _flush_folder(self.folder)

    def remove(self, key: str) -> None:
        """Remove an entry that is logged."""
        (self.folder / f"{key}.json").unlink(missing_ok=True)

    def entries(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the entries of all processes, and remove damaged ones."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                yield path.stem, json.loads(path.read_text(encoding="utf-8"))
            except OSError:  # out of reach for now
                pass
            except ValueError:
                self.remove(path.stem)

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Turn errors of a full disk, or of missing permissions, into one line."""
        try:
            yield
        except OSError as error:
            raise TrackingError(
                f"Cannot write to {self.folder}: {error.strerror or error}. "
                "Make room, then run the same command again."
            ) from error


def folder_of(store: str, file: Path | None, experiment: str) -> Path:
    """Return the folder of the journal of an experiment: beside the file of the store, or in the cache."""
    if file is not None:
        return file.with_name(f"{file.name}.cells") / file_name(experiment)
    return storage.cache_dir() / "journals" / sha256(store.encode()).hexdigest()[:16] / file_name(experiment)


def _acquired(lock: FileLock) -> bool:
    """Return whether a lock could be acquired at once."""
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True


def _flush_folder(folder: Path) -> None:
    """Flush the names of a folder, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
