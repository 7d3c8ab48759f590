"""Where files live: the data directory, the cache directory, verified downloads, atomic writes.

The settings are environment variables, so that worker processes share them:

``ADBENCH_TEXT_DATA``     corpora and word vectors; default: the platform's user data directory
``ADBENCH_TEXT_CACHE``    what can be made again; default: the platform's user cache directory
``ADBENCH_TEXT_OFFLINE``  1 or true forbids downloads
"""

import hashlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from adbench_text.errors import DataError

DATA, CACHE, OFFLINE = "ADBENCH_TEXT_DATA", "ADBENCH_TEXT_CACHE", "ADBENCH_TEXT_OFFLINE"


def data_dir() -> Path:
    """Return the folder of corpora and word vectors (it need not exist yet)."""
    return Path(os.environ.get(DATA) or platformdirs.user_data_dir("adbench-text")).expanduser()


def cache_dir() -> Path:
    """Return the folder of everything that can be made again from the data directory."""
    return Path(os.environ.get(CACHE) or platformdirs.user_cache_dir("adbench-text")).expanduser()


def is_offline() -> bool:
    """Say whether downloads are forbidden."""
    return os.environ.get(OFFLINE, "").lower() not in ("", "0", "f", "false", "n", "no", "off")


def is_file(path: Path) -> bool:
    """Say whether there is a file; also where a closed folder makes ``Path.is_file`` raise."""
    try:
        return path.is_file()
    except OSError:
        return False


@contextmanager
def atomic_path(path: Path, advice: str = f"Set {CACHE} to another folder.") -> Iterator[Path]:
    """Give a temporary path beside `path` to write to, and move it there only if all went well.

    Parameters
    ----------
    path : Path
        Its folder is made if it is not there.
    advice : str
        What to do if it cannot be written: the end of the message.

    Raises
    ------
    DataError
        If it cannot be written. What was there before is still there.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-", suffix=path.suffix)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp is private; caches may be shared
        temporary.replace(path)
    except OSError as error:  # no such right, a full disk, a folder in its place
        reason = error.strerror or error
        raise DataError(f"Cannot write {path}: {reason}. {advice}".strip()) from error
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


@dataclass(frozen=True)
class RemoteFile:
    """One file of a corpus: where it lies in the data directory and where it comes from.

    Parameters
    ----------
    path : str
        Place below the data directory.
    url : str
        Where it is downloaded from when it is not there.
    md5 : str
        Digest of the published file, in hexadecimal.
    """

    path: str
    url: str
    md5: str

    def fetch(self) -> Path:
        """Return the local file; download and verify it first if it is not there.

        Raises
        ------
        DataError
            If the file is missing and cannot be downloaded, or the download is not the
            published file (nothing is kept then). A file that is already there is taken as
            it is: `file_digest` tells whether it is the published one.
        """
        local = data_dir() / self.path
        if is_file(local):
            return local
        if is_offline():
            raise DataError(
                f"{local} is missing and downloads are off. "
                f"Put the file from {self.url} there, or run without --offline."
            )
        import pooch

        pooch.get_logger().setLevel(logging.WARNING)
        try:
            pooch.retrieve(  # writes beside the target, verifies, then moves
                self.url,
                known_hash=f"md5:{self.md5}",
                path=local.parent,
                fname=local.name,
                downloader=pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=30),
            )
        except (OSError, ValueError) as error:  # requests' errors are OSErrors; a wrong hash is a ValueError
            reason = " ".join(str(error).split())
            raise DataError(
                f"Could not download {self.url}: {reason}. "
                f"Get the file (md5 {self.md5}) by hand and put it at {local}."
            ) from error
        return local


def file_digest(path: Path, algorithm: str = "sha256") -> str:
    """Digest a file, once per content: the result is remembered under its size and time."""
    resolved = path.resolve()
    key = hashlib.sha256(str(resolved).encode()).hexdigest()[:16]
    memory = cache_dir() / "digests" / f"{key}-{algorithm}.json"
    try:
        status = resolved.stat()
        stamp = [str(resolved), status.st_size, status.st_mtime_ns]
        if known := _remembered(memory, stamp):
            return known
        with resolved.open("rb") as stream:
            digest = hashlib.file_digest(stream, algorithm).hexdigest()
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}.") from error
    with atomic_path(memory) as temporary:
        temporary.write_text(json.dumps({"stamp": stamp, "digest": digest}))
    return digest


def _remembered(memory: Path, stamp: list[object]) -> str | None:
    try:
        known = json.loads(memory.read_text())
        return str(known["digest"]) if known["stamp"] == stamp else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not remembered, or a damaged memory: digest anew
