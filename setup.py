"""Maps the four code folders into the package adbench_text; everything else is in pyproject.toml.

The folders are read from the disk, so that adding or deleting a plug-in needs no other file.
"""

from pathlib import Path

from setuptools import setup

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
setup(packages=sorted(package_dir), package_dir=package_dir)
