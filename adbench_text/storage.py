"""Where files are: the data directory, the cache directory, verified downloads, atomic writes.

The settings are environment variables, so that worker processes share them:

``ADBENCH_TEXT_DATA``     corpora and word vectors; default: the platform's user data directory
``ADBENCH_TEXT_CACHE``    files that can be rebuilt; default: the platform's user cache directory
``ADBENCH_TEXT_OFFLINE``  1 or true forbids downloads
"""

import gzip
import hashlib
import json
import logging
import multiprocessing
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from threading import Thread
from typing import TYPE_CHECKING, Any

import platformdirs

from adbench_text.errors import DataError, InvalidValueError
from adbench_text.escaping import without_password
from adbench_text.places import described, message_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIGESTS = "digests.json"  # of the arrays in a folder of the cache
_SECONDS = 60.0  # between two looks at what a download has brought
_LEAST_BYTES = 60_000  # in this time
_TIMEOUT = 30.0  # seconds without any byte, to connect and to read
DATA, CACHE, OFFLINE = "ADBENCH_TEXT_DATA", "ADBENCH_TEXT_CACHE", "ADBENCH_TEXT_OFFLINE"


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
    """Return whether a file exists; False also where ``Path.is_file`` raises for lack of permission."""
    try:
        return path.is_file()
    except OSError:
        return False


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` to write to; move it to `path` only if the block succeeds.

    The folder is created. DataError is raised if the file cannot be written; an older one is kept then.

    >>> path = Path(tempfile.mkdtemp()) / "results.csv"
    >>> with atomic_path(path) as temporary:
    ...     _ = temporary.write_text("auroc")
    >>> path.read_text()
    'auroc'
    """
    temporary = None
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-", suffix=path.suffix)
            os.close(handle)
            temporary = Path(name)
            yield temporary
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)  # mkstemp is private; caches may be shared
            temporary.replace(path)
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the system in the block into a DataError: no permission, a full disk, a folder."""
    try:
        yield
    except OSError as error:
        raise DataError(f"Cannot write {path}: {error.strerror or error}.") from error


def write_arrays(folder: Path, arrays: "Mapping[str, NDArray[Any]]") -> None:
    """Write arrays to a folder of the cache, then their digests; print a line if that fails."""
    import numpy as np

    paths = {name: folder / f"{name}.npy" for name in arrays}
    with _optional():
        for name, path in paths.items():
            # not "wb": numpy would write past Python, and hide that a disk is full
            with atomic_path(path) as temporary, temporary.open("w+b") as stream:
                np.save(stream, arrays[name], allow_pickle=False)
        digests = {name: file_digest(path) for name, path in paths.items()}
        with atomic_path(folder / _DIGESTS) as temporary:
            temporary.write_text(json.dumps(digests))


_is_reported = False


@contextmanager
def _optional() -> Iterator[None]:
    """Print a line if a file of the cache cannot be written; once, and not in worker processes."""
    global _is_reported
    try:
        yield
    except DataError as error:
        if not _is_reported and multiprocessing.parent_process() is None:
            print(f"Nothing is cached: {error} Set {CACHE} to another folder.", file=sys.stderr)
        _is_reported = True


def read_arrays(folder: Path) -> "dict[str, NDArray[Any]] | None":
    """Return the arrays of `write_arrays`, mapped read-only; None if one is missing, damaged or changed."""
    import numpy as np

    try:
        digests = json.loads((folder / _DIGESTS).read_text())
        paths = {name: folder / f"{name}.npy" for name in digests}
        if any(file_digest(path) != digests[name] for name, path in paths.items()):
            return None
        return {name: np.load(path, mmap_mode="r", allow_pickle=False) for name, path in paths.items()}
    except Exception:  # damaged in any way
        return None


@contextmanager
def reading(path: Path, name: str) -> Iterator[None]:
    """Turn any error in the block into a DataError that names the remedy: to fetch `name` again."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # a damaged file can fail in every way
        reason = message_of(error) if isinstance(error, ValueError) else described(error)
        raise DataError(
            f"Cannot read {path}: {reason}. The file is damaged or not what it claims to be: delete it and "
            f"run adbench-text fetch {name}."
        ) from error


@dataclass(frozen=True)
class RemoteFile:
    """A file that is downloaded once, with its path in the data directory and its source.

    Parameters
    ----------
    path : str
        Path relative to the data directory.
    url : str
        Address to download it from; empty if a person has to get it.
    md5, sha256 : str
        Digest of the published file, in hexadecimal: one of the two.
    most_bytes : int, default 4 GB
        A larger download is refused.
    page : str
        Page for a person who gets the file by hand; needed without `url`.

    Raises
    ------
    InvalidValueError
        If the path leads out of the data directory.

    Examples
    --------
    >>> from adbench_text.storage import RemoteFile
    >>> file = RemoteFile("mine/train.csv", "https://example.org/train.csv", md5=32 * "0")
    >>> file.path
    'mine/train.csv'
    """

    path: str
    url: str = ""
    md5: str = ""
    sha256: str = ""
    most_bytes: int = 4 * 10**9
    page: str = ""

    def __post_init__(self) -> None:
        path = PurePath(self.path)
        if path.is_absolute() or not path.parts or ".." in path.parts:
            raise InvalidValueError(
                "The path of a file must be relative to the data directory, and stay in it, "
                f"got {self.path!r}."
            )
        if self.url and not self.url.startswith(("http://", "https://")):
            raise InvalidValueError(
                f"The url of a file must begin with http:// or https://, got {self.url!r}."
            )

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
        """Return the local file; download and verify it first if it is missing.

        An existing file is not verified. DataError is raised if the file cannot be downloaded, or the
        download is too large, too slow or not the published file; then nothing is kept.
        """
        local = self.local
        if self.is_here:
            return local
        url = without_password(self.url)
        if not url:
            raise DataError(
                f"{local} is missing, and nothing downloads it. Get it from {self.page} "
                f"({self.algorithm} {self.digest}) and put it there."
            )
        if is_offline():
            raise DataError(
                f"{local} is missing and downloads are off. "
                f"Put the file from {url} there, or run without --offline."
            )
        import pooch

        pooch.get_logger().setLevel(logging.WARNING)
        try:
            pooch.retrieve(  # writes beside the target, verifies, then moves
                self.url,
                known_hash=f"{self.algorithm}:{self.digest}",
                path=local.parent,
                fname=local.name,
                downloader=_Download(self.most_bytes),
            )
        except (OSError, ValueError) as error:  # requests' errors are OSErrors; a wrong hash is a ValueError
            reason = without_password(message_of(error))
            raise DataError(
                f"Could not download {url}: {reason}. "
                f"Get the file ({self.algorithm} {self.digest}) by hand and put it at {local}."
            ) from error
        return local


class _Download:
    """Pooch's download of a file, which ends at a size, and when too little arrives."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._n_bytes = 0
        self._is_over = False

    def __call__(self, url: str, path: str, pooch: Any) -> None:
        done: Future[None] = Future()
        # a thread: a server that sends single bytes is never silent long enough for a timeout
        Thread(target=self._fetch, args=(url, Path(path), done), daemon=True).start()
        try:
            before = 0
            while not wait([done], _SECONDS).done:
                if self._n_bytes - before < _LEAST_BYTES:
                    raise TimeoutError(f"fewer than {_LEAST_BYTES:,} bytes came in {_SECONDS:g} s")
                before = self._n_bytes
            done.result()
        finally:
            self._is_over = True  # the thread ends, also after Ctrl-C

    def _fetch(self, url: str, path: Path, done: "Future[None]") -> None:
        from pooch import HTTPDownloader

        try:
            with path.open("wb") as self._file:
                HTTPDownloader(sys.stderr.isatty(), chunk_size=8192, timeout=_TIMEOUT)(url, self, None)
            done.set_result(None)
        except Exception as error:  # raised again where it was asked for
            done.set_exception(error)

    def write(self, data: bytes) -> None:
        """Write a piece; pooch takes this object for the file."""
        self._n_bytes += len(data)
        if self._is_over or self._n_bytes > self._most_bytes:
            raise ValueError(f"it is larger than {self._most_bytes / 1e6:,.0f} MB")
        self._file.write(data)

    def flush(self) -> None:
        """Do nothing: the file is closed at the end."""


def file_digest(path: Path, algorithm: str = "sha256", unpack: bool = False) -> str:
    """Return the digest of a file, by a name of `hashlib`; it is cached until the file changes.

    A change shows in the size, the inode, or the times of modification and of the last change of the file's
    status. The last one cannot be set back by a program. With `unpack` it is the digest of the content of a
    gzipped file: it stays the same if the file is packed again.
    """
    kind = f"{algorithm}{'-unpacked' if unpack else ''}"
    try:
        resolved = path.resolve()
        status = resolved.stat()
        stamp = [str(resolved), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        key = hashlib.sha256(str(resolved).encode()).hexdigest()[:16]
        cached = cache_dir() / "digests" / f"{key}-{kind}.json"
        digest = _cached_digest(cached, stamp, hashlib.new(algorithm).digest_size)
        if digest is None:
            digest = _digest_of_file(path, algorithm, unpack)
            with _optional(), atomic_path(cached) as temporary:
                temporary.write_text(json.dumps({"stamp": stamp, "digest": digest}))
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}.") from error
    return digest


def _digest_of_file(path: Path, algorithm: str, unpack: bool) -> str:
    if unpack:
        with suppress(gzip.BadGzipFile, EOFError, zlib.error), gzip.open(path) as content:
            return hashlib.file_digest(content, algorithm).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()


def _cached_digest(cached: Path, stamp: list[object], size: int) -> str | None:
    try:
        entry = json.loads(cached.read_text())
        is_sound = entry["stamp"] == stamp and len(bytes.fromhex(entry["digest"])) == size
        return str(entry["digest"]) if is_sound else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # nothing cached, or a damaged file in the cache
