"""Maps the four code folders into the package adbench_text; everything else is in pyproject.toml.

The folders are read from the disk, so that adding or deleting a plug-in needs no other file. A package that
is built from a checkout contains its commit. Its description is README with links that work on other sites.
"""

import re
import shutil
import sys
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = {
    "adbench_text": "adbench_text",
    "detectors": "adbench_text.detectors",
    "datasets": "adbench_text.datasets",
    "reports": "adbench_text.reports",
}

root = Path(__file__).parent
package_dir = {
    ".".join([package, *path.parent.relative_to(root / folder).parts]): str(path.parent.relative_to(root))
    for folder, package in FOLDERS.items()
    for path in (root / folder).rglob("*.py")
}

sys.path.insert(0, str(root))
from adbench_text import __version__, provenance  # noqa: E402  # they import the standard library only


def description() -> str:
    """Return README with absolute links to the tag of this version: a package index has no other files."""
    source = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]

    def absolute(link: re.Match[str]) -> str:
        path = link.group(1)
        kind = "raw" if path.endswith((".png", ".svg")) else "blob"  # a page around a picture is no picture
        return f"]({source}/{kind}/v{__version__}/{path})"

    readme = (root / "README.md").read_text(encoding="utf-8")
    return re.sub(r"\]\((?![a-z]+:|#)([^)\s]+)\)", absolute, readme)


def link(place: Path, origin: Path) -> None:
    """Link to a file or folder, or copy it where the system refuses links, as Windows does to most users."""
    try:
        place.symlink_to(origin, target_is_directory=origin.is_dir())
    except OSError:
        if origin.is_dir():
            shutil.copytree(origin, place)
        else:
            shutil.copy(origin, place)


class Build(build_py):
    """Writes the commit of a checkout into the package; what is editable gets its types."""

    def run(self) -> None:
        """Build the package, and add the file."""
        super().run()
        if self.editable_mode:
            self._add_types()
        elif (root / ".git").exists():
            path = Path(self.build_lib, "adbench_text", provenance.COMMIT.name)
            path.write_text(provenance.git_commit())

    def _add_types(self) -> None:
        """Link the folders into a package of stubs: type checkers do not follow imports by setuptools."""
        stubs = root / "build" / "types" / "adbench_text-stubs"
        shutil.rmtree(stubs, ignore_errors=True)
        stubs.mkdir(parents=True)
        for path in (*(root / "adbench_text").iterdir(), *(root / folder for folder in list(FOLDERS)[1:])):
            link(stubs / path.name, path)
        pth = Path(self.get_finalized_command("install").install_lib, "adbench_text_types.pth")
        pth.write_text(f"{stubs.parent}\n")


setup(
    packages=sorted(package_dir),
    package_dir=package_dir,
    cmdclass={"build_py": Build},
    long_description=description(),
    long_description_content_type="text/markdown",
)
