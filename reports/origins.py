"""The year of a detector's publication, and the address that describes it."""

import re
from contextlib import suppress
from dataclasses import dataclass

from adbench_text.errors import UnknownNameError
from adbench_text.plugins.citations import citation_of

_FIRST_PUBLISHED = 2026  # the methods of this project
_OF_PROJECT = "adbench-text"  # the beginning of their citations
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
#: Sections of docs/detectors.md that have another name than their detectors.
_SECTIONS = {"ocsvm": "ocsvm-and-iforest", "iforest": "ocsvm-and-iforest"}
_OF_PYOD = "pyods-detectors"


@dataclass(frozen=True)
class Origin:
    """The year of a detector's publication, and the address that describes it."""

    year: int | None = None
    link: str = ""


def origin_of(detector: str) -> Origin:
    """Return the origin of a detector; the year is the first one in its citation.

    A detector in a file, or without a citation, has an empty origin.
    """
    citation = ""
    with suppress(UnknownNameError):  # a detector in a file
        citation = citation_of(detector)
    if not citation:
        return Origin()
    year = _YEAR.search(citation)
    section = _OF_PYOD if detector.startswith("pyod-") else _SECTIONS.get(detector, detector)
    if citation.startswith(_OF_PROJECT):
        return Origin(_FIRST_PUBLISHED, f"detectors.md#{section}")
    return Origin(int(year[0]) if year else None, f"detectors.md#{section}")
