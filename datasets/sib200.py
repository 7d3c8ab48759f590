"""SIB-200: sentences of seven topics in 205 languages, as in sib-200:deu_Latn; sib-200 is English.

The sentences of all languages are translations of the same sentences. The file ``sib200.json`` in this
folder has the digests of the files of each language.
"""

import csv
import json
from importlib.resources import files as resources

from adbench_text.contract.dataset import Dataset, Documents
from adbench_text.storage import RemoteFile
from adbench_text.text.languages import standard

_REPOSITORY = "https://github.com/dadelani/sib-200"
_FILES = "https://raw.githubusercontent.com/dadelani/sib-200/593cea88519930f776c1a4a1980b6a35b39dca57/data/annotated/"
_PARTS = ("train.tsv", "test.tsv")
_ENGLISH = "eng_Latn"
#: The sha256 of the files for training and for testing, by the code of their language in FLORES-200.
_DIGESTS: dict[str, list[str]] = json.loads(
    resources("adbench_text.datasets").joinpath("sib200.json").read_text(encoding="utf-8")
)


class Sib200(Dataset):
    """SIB-200: sentences of seven topics in one of 205 languages.

    Parameters
    ----------
    variant : str, default ""
        The code of the language and its script in FLORES-200, such as ``"deu_Latn"``; empty for English.
    """

    name: str = "sib-200"  # type: ignore[misc]  # these three are class attributes of other datasets
    language: str  # type: ignore[misc]
    files: tuple[RemoteFile, ...]  # type: ignore[misc]
    classes = ("entertainment", "geography", "health", "politics", "science/technology", "sports", "travel")
    variants = tuple(_DIGESTS)
    source = _REPOSITORY
    licence = "CC BY-SA 4.0"
    citation = (
        "D. I. Adelani, H. Liu, X. Shen, N. Vassilyev, J. O. Alabi, Y. Mao, H. Gao, E.-S. A. Lee: SIB-200: A "
        "Simple, Inclusive, and Big Evaluation Dataset for Topic Classification in 200+ Languages and "
        "Dialects. EACL 2024."
    )
    as_papers = False  # no published figure depends on these words

    def __init__(self, variant: str = "") -> None:
        code = variant or _ENGLISH
        self.name = f"{self.name}:{variant}" if variant else self.name
        self.language = standard(code)
        self.files = tuple(
            RemoteFile(f"sib-200/{code}/{part}", f"{_FILES}{code}/{part}", sha256=digest)
            for part, digest in zip(_PARTS, _DIGESTS[code], strict=True)
        )

    def read(self) -> tuple[Documents, Documents]:
        """Read both files."""
        train, test = map(self._documents, self.files)
        return train, test

    def _documents(self, file: RemoteFile) -> Documents:
        with file.fetch().open(encoding="utf-8", newline="") as stream:
            rows = [*csv.DictReader(stream, delimiter="\t")]
        return Documents([row["text"] for row in rows], [self.classes.index(row["category"]) for row in rows])
