"""The year of a detector's publication, and the address that describes it."""

import re
from contextlib import suppress
from dataclasses import dataclass

from adbench_text.errors import UnknownNameError
from adbench_text.plugins.citations import citation_of

_BEGINNING_OF_OURS = "adbench-text"  # of the citation of a method that this project publishes first
_YEAR_OF_OURS = 2026  # such a citation has only the years of earlier work
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
#: The sections of docs/detectors.md that have another name than their detector.
_SECTIONS = {"ocsvm": "ocsvm-and-iforest", "iforest": "ocsvm-and-iforest"}
_SECTION_OF_PYOD = "pyods-detectors"


@dataclass(frozen=True)
class Origin:
    """The year of a detector's publication, and the address that describes it."""

    year: int | None = None
    link: str = ""


def origin_of(detector: str) -> Origin:
    """Return the origin of a detector: the first year in its citation, and its section in docs/detectors.md.

    A method that this project publishes first has the year of the project. A detector in a file, or without a
    citation, has an empty origin.
    """
    citation = ""
    with suppress(UnknownNameError):  # a detector in a file
        citation = citation_of(detector)
    if not citation:
        return Origin()
    section = _SECTION_OF_PYOD if detector.startswith("pyod-") else _SECTIONS.get(detector, detector)
    link = f"detectors.md#{section}"
    if citation.startswith(_BEGINNING_OF_OURS):
        return Origin(_YEAR_OF_OURS, link)
    year = _YEAR.search(citation)
    return Origin(int(year[0]) if year else None, link)
