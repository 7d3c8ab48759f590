"""Where files are: the data directory, the cache directory, verified downloads, atomic writes.

The settings are environment variables, so that worker processes share them:

``ADBENCH_TEXT_DATA``     corpora and word vectors; default: the platform's user data directory
``ADBENCH_TEXT_CACHE``    files that can be rebuilt; default: the platform's user cache directory
``ADBENCH_TEXT_OFFLINE``  1 or true forbids downloads
"""

import errno
import gzip
import hashlib
import json
import logging
import multiprocessing
import os
import shlex
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from adbench_text.errors import DataError, NotDownloadedError
from adbench_text.escaping import without_password
from adbench_text.failures import message_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA, CACHE, OFFLINE = "ADBENCH_TEXT_DATA", "ADBENCH_TEXT_CACHE", "ADBENCH_TEXT_OFFLINE"


_SQLITE = b"SQLite format 3\0"  # the beginning of a database
_SECONDS_UNTIL_LOCKED = 1  # at most, from the creation of a temporary file


def data_dir() -> Path:
    """Return the folder of corpora and word vectors, which may not exist yet."""
    return Path(os.environ.get(DATA) or platformdirs.user_data_dir("adbench-text")).expanduser()


def cache_dir() -> Path:
    """Return the folder of files that can be rebuilt from the data directory."""
    return Path(os.environ.get(CACHE) or platformdirs.user_cache_dir("adbench-text")).expanduser()


def is_offline() -> bool:
    """Return whether downloads are forbidden."""
    return os.environ.get(OFFLINE, "").lower() not in ("", "0", "f", "false", "n", "no", "off")


def forbid_downloads() -> None:
    """Forbid downloads, also in processes that this one starts."""
    os.environ[OFFLINE] = "1"


def is_file(path: Path) -> bool:
    """Return whether a file exists; without permission, return False where ``Path.is_file`` raises."""
    try:
        return path.is_file()
    except OSError:
        return False


def database_advice(path: Path) -> str:
    """Return how to report from an SQLite database, which may be a store; empty for another file."""
    try:
        if not path.is_file():  # reading a pipe would wait for its writer
            return ""
        with path.open("rb") as stream:
            is_database = stream.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):  # no file can have a name with a NUL character
        return ""
    if not is_database:
        return ""
    command = f"adbench-text report --tracking-uri {shlex.quote(f'sqlite:///{path}')}"
    return f"{path.name} is an SQLite database. If it is a store, {command} shows its results"


def content_of(path: Path) -> bytes:
    """Return the bytes of a file, or of a pipe that something writes to, such as ``<(command)`` in a shell.

    Raise OSError for a device, or for a pipe without a writer: reading would never end.
    """
    with open(path, "rb", buffering=0, opener=_open_at_once) as stream:
        mode, first = os.fstat(stream.fileno()).st_mode, b""
        if stat.S_ISFIFO(mode):
            first = stream.read(1)  # None if a writer has not written yet
            if first == b"":
                raise OSError(errno.EINVAL, "nothing writes to this pipe", str(path))
            os.set_blocking(stream.fileno(), True)
        elif not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a device, not a file", str(path))
        return (first or b"") + stream.readall()


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # or else a pipe waits for a writer


def check_files(folder: Path) -> None:
    """Raise DataError if a folder has a pipe or a device: a library would never finish reading it."""
    for path in folder.rglob("*"):
        if path.is_fifo() or path.is_char_device() or path.is_block_device():
            raise DataError(f"{path} is a pipe or a device, not a file; delete it.")


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`; move it to `path` only if the block succeeds.

    Create the folder. Raise DataError if the file cannot be written, and keep an older file. Remove temporary
    files for the same path that a killed process has left, but not one that another process still writes.

    >>> path = Path(tempfile.mkdtemp()) / "results.csv"
    >>> with atomic_path(path) as temporary:
    ...     _ = temporary.write_text("auroc")
    >>> path.read_text()
    'auroc'
    """
    temporary, handle, prefix = None, -1, f".{path.stem[:40]}-adbench-text-"
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(path.parent, prefix, path.suffix)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=path.suffix)
            temporary = Path(name)
            if not _try_lock(handle):
                os.close(handle)
                handle = -1
            yield temporary
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)  # mkstemp is private; caches may be shared
            temporary.replace(path)
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)
        if handle >= 0:
            os.close(handle)


def _try_lock(handle: int) -> bool:
    """Lock a file until it is closed or its process ends; return whether this succeeded.

    It fails if another process has locked the file, and where files cannot be locked.
    """
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # Windows and some file systems have no such lock
        return False
    return True


def _remove_abandoned(folder: Path, prefix: str, suffix: str) -> None:
    """Remove temporary files that no process has locked: a killed process left them."""
    with suppress(OSError):
        for file in folder.iterdir():
            if file.name.startswith(prefix) and file.suffix == suffix and file.is_file():
                is_young = time.time() - file.stat().st_mtime < _SECONDS_UNTIL_LOCKED
                with file.open("rb") as stream:
                    if not is_young and _try_lock(stream.fileno()):
                        file.unlink()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the system, such as no permission or a full disk, into a DataError."""
    try:
        yield
    except OSError as error:
        raise DataError(f"Cannot write {path}: {error.strerror or error}.") from error


_is_reported = False


def write_cache(path: Path, write: Callable[[Path], object]) -> None:
    """Let a function write a file of the cache. If it fails, print one line, once, and not in workers."""
    global _is_reported
    try:
        with atomic_path(path) as temporary:
            write(temporary)
    except DataError as error:
        if not _is_reported and multiprocessing.parent_process() is None:
            print(f"Nothing is cached: {error} Set {CACHE} to another folder.", file=sys.stderr)
        _is_reported = True


def read_cache(path: Path, read: Callable[[Path], Any]) -> Any:
    """Let a function read a file of the cache; return None if the file is missing or damaged."""
    with suppress(Exception):
        return read(path) if path.is_file() else None
    return None


def write_array(path: Path, array: "NDArray[Any]") -> None:
    """Write an array to the cache."""
    import numpy as np

    def write(temporary: Path) -> None:
        # not "wb": numpy would then write without Python, and hide that a disk is full
        with temporary.open("w+b") as stream:
            np.save(stream, array, allow_pickle=False)

    write_cache(path, write)


def read_array(path: Path) -> "NDArray[Any] | None":
    """Return a read-only memory map of an array in the cache; None if it is missing or damaged."""
    import numpy as np

    array: NDArray[Any] | None = read_cache(path, partial(np.load, mmap_mode="r", allow_pickle=False))
    return array


@dataclass(frozen=True)
class RemoteFile:
    """A published file, which is downloaded once; a file with any other digest but `others` is refused.

    >>> file = RemoteFile("mine/train.csv", "https://example.org/train.csv", md5=32 * "0")
    >>> file.path
    'mine/train.csv'
    """

    path: str  # relative to the data directory
    url: str = ""  # empty if a person has to get the file
    # digest of the published file in hexadecimal, or its first 16 digits or more: either md5 or sha256
    md5: str = ""
    sha256: str = ""
    page: str = ""  # for a person who gets the file by hand; needed without `url`
    others: tuple[str, ...] = ()  # digests of other versions that are accepted, such as another archive

    @property
    def local(self) -> Path:
        """Where the file is, or would be."""
        return data_dir() / self.path

    @property
    def is_here(self) -> bool:
        """Whether the file is there."""
        return is_file(self.local)

    @property
    def algorithm(self) -> str:
        """Name of the digest of the published file."""
        return "md5" if self.md5 else "sha256"

    @property
    def digest(self) -> str:
        """Digest of the published file."""
        return self.md5 or self.sha256

    def fetch(self) -> Path:
        """Return the verified local file; download it first if it is missing.

        Raise DataError if the file cannot be downloaded, or is not the published one. Such a download is not
        kept.
        """
        local = self.local
        if not self.is_here:
            self._download()
        self._check(file_digest(local, self.algorithm))
        return local

    def read_bytes(self) -> bytes:
        """Return the content, verified without a cached digest, so that a pickle in it may be loaded."""
        content = self.fetch().read_bytes()
        self._check(hashlib.new(self.algorithm, content).hexdigest())
        return content

    def is_published(self, digest: str) -> bool:
        """Whether a file with this digest is the published one."""
        return digest.startswith(self.digest)

    def _accepts(self, digest: str) -> bool:
        return self.is_published(digest) or digest in self.others

    def _check(self, digest: str) -> None:
        if not self._accepts(digest):
            raise DataError(
                f"{self.local} is not the published file: its {self.algorithm} is {digest}, "
                f"not {self.digest}. Delete it, and "
                f"{'fetch it again' if self.url else f'get it from {self.page}'}."
            )

    def _download(self) -> None:
        """Download the file; raise DataError if this is not possible, or if its digest is wrong."""
        local, url = self.local, without_password(self.url)
        if not url:
            raise DataError(
                f"{local} is missing, and nothing downloads it. Get it from {self.page} "
                f"({self.algorithm} {self.digest}) and put it there."
            )
        if is_offline():
            raise NotDownloadedError(
                f"{local} is missing and downloads are off. "
                f"Put the file from {url} there, or run without --offline."
            )
        import pooch

        pooch.get_logger().setLevel(logging.WARNING)
        # some publishers state only the beginning of a digest
        is_whole = len(self.digest) == 2 * hashlib.new(self.algorithm).digest_size
        try:
            pooch.retrieve(  # writes a temporary file, verifies it, then moves it
                self.url,
                known_hash=f"{self.algorithm}:{self.digest}" if is_whole else None,
                path=local.parent,
                fname=local.name,
                downloader=pooch.HTTPDownloader(progressbar=sys.stderr.isatty()),
            )
            if not is_whole and not self._accepts(found := _digest_of_file(local, self.algorithm)):
                local.unlink()  # pooch verifies only whole digests
                raise ValueError(f"its {self.algorithm} is {found}")
        except (OSError, ValueError) as error:  # `requests` raises OSErrors; a wrong hash is a ValueError
            # the message of `requests` for this is long, and says no more
            is_cut_off = type(error).__name__ == "ConnectionError"
            reason = "no connection to the server" if is_cut_off else without_password(message_of(error))
            raise DataError(
                f"Could not download {url}: {reason}. "
                f"Get the file ({self.algorithm} {self.digest}) by hand and put it at {local}."
            ) from error


def file_digest(path: Path, algorithm: str = "sha256", unpack: bool = False) -> str:
    """Return the digest of a file, by an algorithm of `hashlib`; it is cached until the file changes.

    The size, the inode, the time of modification or the time of the last status change shows that a file has
    changed. A program cannot set the time of the last status change. With `unpack`, return the digest of the
    content of a gzipped file, which stays the same if the file is packed again.
    """
    try:
        resolved = path.resolve()
        status = resolved.stat()
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a file")
        stamp = [str(resolved), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        key = hashlib.sha256(json.dumps([algorithm, unpack, *stamp]).encode()).hexdigest()[:32]
        cached = cache_dir() / "digests" / key
        with suppress(TypeError, ValueError):
            digest: str = read_cache(cached, Path.read_text)
            if len(bytes.fromhex(digest)) == hashlib.new(algorithm).digest_size:
                return digest
        digest = _digest_of_file(path, algorithm, unpack)
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}.") from error
    write_cache(cached, lambda temporary: temporary.write_text(digest))
    return digest


def _digest_of_file(path: Path, algorithm: str, unpack: bool = False) -> str:
    if unpack:
        with suppress(gzip.BadGzipFile, EOFError, zlib.error), gzip.open(path) as content:
            return hashlib.file_digest(content, algorithm).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()
