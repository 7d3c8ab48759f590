"""adbench-text: which detector finds the odd documents in a text corpus, and by how much."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

try:
    __version__ = version("adbench-text")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "0+unknown"

# In a checkout the plug-in folders are beside this package, in an installation they are inside it.
# In both cases they are imported as adbench_text.detectors, adbench_text.datasets, adbench_text.reports.
_here = Path(__file__).parent
if not (_here / "detectors").is_dir():
    __path__.append(str(_here.parent))
