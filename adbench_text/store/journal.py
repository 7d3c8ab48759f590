"""The journal of a store: finished results that are not logged yet.

A result is written and flushed here before MLflow logs it, so that a killed process or a lost server does not
cost a finished cell.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from adbench_text import storage
from adbench_text.errors import TrackingError
from adbench_text.escaping import file_name
from adbench_text.store.run import CELL, PARENT, Run


class Journal:
    """A folder with a file for each run that is not logged yet; the first use creates the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let no other process log entries during the block; first wait for a process that does."""
        with self._writable():
            lock = FileLock(self.folder / "log.lock", thread_local=False)
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def write(self, run: Run) -> None:
        """Write the run of a cell to the disk, and flush it."""
        name = run.tags[CELL]
        temporary = self.folder / f"{name}.{os.getpid()}.new"  # another process may run the same cell
        with self._writable():
            try:
                with temporary.open("w", encoding="utf-8") as stream:
                    json.dump(asdict(run), stream)
                    stream.flush()
                    os.fsync(stream.fileno())
                temporary.replace(self.folder / f"{name}.json")
            finally:
                temporary.unlink(missing_ok=True)

    def entries(self) -> Iterator[tuple[Path, Run]]:
        """Yield the runs of all processes with their files; remove damaged files."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                run = Run(**json.loads(storage.content_of(path)))
            except OSError:  # out of reach for now
                continue
            except (ValueError, TypeError, RecursionError):
                run = None
            if run and _is_cell(run):
                yield path, run
            else:  # the cell runs again
                path.unlink(missing_ok=True)

    def set_aside(self, entry: Path) -> Path:
        """Move an entry that the store refuses to another folder, so that others go on; return its path."""
        folder = self.folder / "refused"
        with self._writable():
            folder.mkdir(exist_ok=True)
            return entry.replace(folder / entry.name)

    @contextmanager
    def _writable(self) -> Iterator[None]:
        """Create the folder; report a full disk or a missing permission in one line."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            yield
        except OSError as error:
            raise TrackingError(
                f"Cannot write to {self.folder}: {error.strerror or error}. "
                "Make room, then run the same command again."
            ) from error


def _is_cell(run: Run) -> bool:
    """Return whether an entry has the parts of the run of a cell; the store checks their values."""
    texts = run.tags, run.params, run.files
    if not all(isinstance(part, dict) for part in (*texts, run.metrics, run.curves)):
        return False
    points = (point for curve in run.curves.values() for point in curve)
    return (
        run.status in ("FINISHED", "FAILED")
        and {CELL, PARENT} <= run.tags.keys()
        and "dataset" in run.params
        and all(isinstance(text, str) for part in texts for text in part.values())
        and all(file_name(name) == name for name in run.files)
        and all(isinstance(curve, list) for curve in run.curves.values())
        and all(isinstance(point, list) and len(point) == 3 for point in points)
    )


def folder_of(store: str, file: Path | None, experiment: str) -> Path:
    """Return the folder for the journal of an experiment: next to the file of the store, or in the cache."""
    if file is not None:
        return file.with_name(f"{file.name}.cells") / file_name(experiment)
    return storage.cache_dir() / "journals" / sha256(store.encode()).hexdigest()[:16] / file_name(experiment)
