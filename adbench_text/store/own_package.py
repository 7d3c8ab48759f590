"""Writes adbench-text itself as a wheel, for servers of models that cannot install it from a package index.

The wheel contains the installed files, or the files of the checkout. Nothing is built or downloaded.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import adbench_text
from adbench_text.code_version import installed
from adbench_text.provenance import COMMIT, git_commit

_NAME = "adbench-text"
_PLUG_INS = ("detectors", "datasets", "reports")  # in a checkout they are beside the package
_SUFFIXES = {".py", ".pyi", ".typed", ".md", ".html", ".json", ".toml", ".css", ".csv", ".js", ".txt"}
_MEASURED = "results"  # of reports; not installed
_WHEEL = "Wheel-Version: 1.0\nGenerator: adbench-text\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_wheel(folder: Path) -> Path:
    """Write a wheel of this package into a folder; return its path."""
    package = distribution(_NAME)
    full_name = f"adbench_text-{package.version}"
    contents = {name: path.read_bytes() for name, path in _files().items()}
    contents[f"adbench_text/{COMMIT.name}"] = git_commit().encode()
    metadata = package.read_text("METADATA") or package.read_text("PKG-INFO")  # PKG-INFO: in a checkout
    others = {name: package.read_text(name) for name in ("entry_points.txt", "licenses/LICENSE")}
    dist_info = {"WHEEL": _WHEEL, "METADATA": metadata, **others}
    contents |= {f"{full_name}.dist-info/{name}": text.encode() for name, text in dist_info.items() if text}
    record = f"{full_name}.dist-info/RECORD"
    rows = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in contents.items()]
    contents[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    path = folder / f"{full_name}-py3-none-any.whl"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return path


def requirements(others: Iterable[str]) -> list[str]:
    """Return the dependencies of this package and `others`, each with its installed version, if any."""
    declared = distribution(_NAME).requires or ()
    names = [re.split(r"[^\w.-]", each)[0] for each in declared if "extra ==" not in each]
    # the local part of a version, as in 2.13.0+cpu, is on no index
    versions = {name: installed(name).partition("+")[0] for name in [*names, *others] if name != _NAME}
    return [f"{name}=={number}" if number else name for name, number in versions.items()]


def _files() -> dict[str, Path]:
    """Return the files of this package by their names in a wheel."""
    package = Path(adbench_text.__file__).parent
    folders = {"adbench_text": package}
    for name in _PLUG_INS:
        if not (package / name).is_dir():
            folders[f"adbench_text/{name}"] = package.parent / name
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path
        for name, folder in folders.items()
        for path in sorted(folder.rglob("*"))
        if path.suffix in _SUFFIXES and _MEASURED not in path.relative_to(folder).parts
    }


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
