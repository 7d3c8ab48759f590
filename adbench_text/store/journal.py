"""The journal of a store: results that are finished and not logged yet, and claims on cells.

A result is written and flushed here before MLflow is asked to log it, so that neither a killed process nor
a lost server costs a finished cell. A claim is a file that names a process; it counts as long as that process
holds its lock, which the system releases with the process.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock, Timeout

from adbench_text import storage
from adbench_text.errors import TrackingError
from adbench_text.escaping import file_name

_THIS_PROCESS = uuid4().hex
_own_locks: dict[Path, FileLock] = {}  # of this process, by folder; held to its end


class Journal:
    """A folder with one file per result that is not logged yet; it is created at the first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ended = folder / "ended"  # the keys of all entries, in their order
        self._ended_before = self._ended.stat().st_size if self._ended.exists() else 0
        self._written: set[str] = set()  # by this process

    def claim(self, key: str) -> bool | None:
        """Return True if the key is this process's now, None if another process holds it.

        False if another process has written an entry for it since this journal was opened.
        """
        with self.held("claims"), self._room():
            owner = self._owner(key)
            if owner not in (None, _THIS_PROCESS):
                return None
            if key in self._ended_meanwhile() - self._written:
                return False
            if not (self.folder / f"{_THIS_PROCESS}.process").exists():
                self._begin()
            self._claim(key).write_text(_THIS_PROCESS)
        return True

    def release(self, key: str) -> None:
        """Give up a claim of this process."""
        self._claim(key).unlink(missing_ok=True)

    def is_abandoned(self, key: str) -> bool:
        """Return whether no process holds a claim on a key."""
        with self.held("claims"):
            return self._owner(key) is None

    @contextmanager
    def held(self, name: str, notify: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Hold a lock in a block; wait for another process that holds it, after a call of `notify`."""
        lock = FileLock(self.folder / f"{name}.lock")
        with self._room():
            self.folder.mkdir(parents=True, exist_ok=True)
            if not _acquired(lock):
                notify()
                lock.acquire(poll_interval=0.01)
        try:
            yield
        finally:
            lock.release()

    def write(self, key: str, entry: Mapping[str, Any]) -> None:
        """Write an entry, and give up the claim on its key; the entry is on the disk when this returns."""
        self._written.add(key)
        temporary = self.folder / f"{key}.{_THIS_PROCESS}.new"
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
            with self._ended.open("a") as stream:  # one short line is appended at once
                stream.write(f"{key}\n")
        self.release(key)

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

    def _begin(self) -> None:
        """Lock the file of this process; remove those of processes that have ended."""
        for path in self.folder.glob("*.process"):
            if not self._lives(path.stem):
                for left in (path, *self.folder.glob(f"*.{path.stem}.new")):
                    left.unlink()
        _own_locks[self.folder] = FileLock(self.folder / f"{_THIS_PROCESS}.process", thread_local=False)
        _own_locks[self.folder].acquire()

    def _claim(self, key: str) -> Path:
        return self.folder / f"{key}.claim"

    def _owner(self, key: str) -> str | None:
        """Return the living process that has claimed a key."""
        try:
            owner = self._claim(key).read_text()
        except OSError:
            return None
        return owner if self._lives(owner) else None

    def _lives(self, process: str) -> bool:
        path = self.folder / f"{process}.process"
        if process == _THIS_PROCESS or not path.exists():
            return process == _THIS_PROCESS
        lock = FileLock(path)
        if not _acquired(lock):
            return True
        lock.release()
        return False

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

    def _ended_meanwhile(self) -> set[str]:
        if not self._ended.exists():
            return set()
        with self._ended.open() as stream:
            stream.seek(self._ended_before)
            return set(stream.read().split())


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
