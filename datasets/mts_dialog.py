"""Sections of doctors' notes: the family's history, allergies, medications and others.

A class is the header of a section, and each header with at least 50 training notes is normal in turn. The
other twelve headers have too few notes to be learned: they are always odd. The training part is the published
training file, and both published test files together are the test part.
"""

import csv
import hashlib
import json
from pathlib import PurePath

from adbench_text.contract.dataset import Dataset, Documents, Edition
from adbench_text.storage import RemoteFile

_MAIN = "https://raw.githubusercontent.com/abachaa/MTS-Dialog/"
_COLUMNS = ("ID", "section_header", "section_text")
#: sha256 of the ids, headers and notes of each file, see `_content`
_CONTENTS = (
    "476d1108fc2093551d746373e7b11d899bcefb3abb81b437465f7d27e0e73db1",
    "9c70202e53ffb3da0f0582164bb456e388f0cad34ef7387d6749466933d9e3f8",
    "a3b73ff4e703a4aa4a00984ce711c4b4e040516fab747fdfedabb3578b3715b2",
)


def _notes(name: str, commit: str, sha256: str, of_columns: str) -> RemoteFile:
    """Return a file: the beginning of its sha256, or the sha256 of its three columns without dialogues."""
    url = f"{_MAIN}{commit}/Main-Dataset/MTS-Dialog-{name}.csv"
    return RemoteFile(f"real/mts-dialog/notes-{name}.csv", url, sha256=sha256, others=(of_columns,))


class MtsDialog(Dataset):
    """Sections of doctors' notes in 20 classes; eight of them have enough notes to be normal.

    The dialogues of the original files are not read. A copy with only the columns of id, header and note is
    accepted, and has the same edition: the edition is known by the content of these columns.
    """

    name = "mts-dialog"
    classes = (
        "FAM/SOCHX",
        "GENHX",
        "PASTMEDICALHX",
        "CC",
        "PASTSURGICAL",
        "ALLERGY",
        "ROS",
        "MEDICATIONS",
        "ASSESSMENT",
        "EXAM",
        "DIAGNOSIS",
        "DISPOSITION",
        "PLAN",
        "EDCOURSE",
        "IMMUNIZATIONS",
        "IMAGING",
        "GYNHX",
        "PROCEDURES",
        "OTHER_HISTORY",
        "LABS",
    )
    outliers = classes[8:]  # fewer than 50 training notes
    as_papers = False
    source = "https://github.com/abachaa/MTS-Dialog"
    licence = "CC BY 4.0"
    citation = (
        "A. Ben Abacha, W. Yim, Y. Fan, T. Lin: An Empirical Study of Clinical Note Generation from "
        "Doctor-Patient Encounters. EACL 2023."
    )
    files = (
        _notes(
            "TrainingSet",
            "3d2beb01913d076cc51a57ff3a0c35894b2248ad",
            "65a28681dd59fc15",
            "efdefc9dfcef0557c633b99363c43a8332d50b92f4fdad930491bfa55d78a7a1",
        ),
        _notes(
            "TestSet-1-MEDIQA-Chat-2023",
            "10eadbd1a95911b6d6806a397a5d6414cb278c24",
            "b4d38dd2c99b2e98",
            "534dc781f99c2125fd606b4420a5348b8f9f8086f5f6eca4699c3da74fa61ac6",
        ),
        _notes(
            "TestSet-2-MEDIQA-Sum-2023",
            "183384b4725e590900eb34982b584040ccd40592",
            "226644466ed3af82",
            "54b8e6b71e28684b0ed2c5975d161fc2971f440314146debf801806137a20ea6",
        ),
    )

    def edition(self) -> Edition:
        """Return the edition of the files: ``published``, or the names of the files that differ.

        The ids, headers and notes of a file are compared with the published ones.
        """
        digests = [_content(_rows(file)) for file in self.files]
        others = [
            f"{PurePath(file.path).name} {digest[:8]}"
            for file, digest, published in zip(self.files, digests, _CONTENTS, strict=True)
            if digest != published
        ]
        name = f"not the published files: {', '.join(others)}" if others else "published"
        return Edition(name, "".join(digest[:16] for digest in digests), is_published=not others)

    def read(self) -> tuple[Documents, Documents]:
        """Read the training file, and both test files as one."""
        train, *test = map(_rows, self.files)
        return self._documents(train), self._documents([row for part in test for row in part])

    def _documents(self, rows: list[list[str]]) -> Documents:
        return Documents([text for *_, text in rows], [self.classes.index(header) for _, header, _ in rows])


def _rows(file: RemoteFile) -> list[list[str]]:
    """Return id, header and note of each row."""
    with file.fetch().open(encoding="utf-8-sig", newline="") as stream:
        rows = [*csv.DictReader(stream)]
    return [[row[name] for name in _COLUMNS] for row in rows]


def _content(rows: list[list[str]]) -> str:
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
