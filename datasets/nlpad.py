"""NLP-ADBench: corpora with 3 to 6 % of anomalies; 70 % of the normal documents are for training.

BBC has the split of the publication. Of the other two, only the sizes of the parts are known: each seed draws
them anew.
"""

import json
from typing import ClassVar

import numpy as np

from adbench_text.datasets import _sms, tad
from adbench_text.plugins.dataset import Dataset, Documents, Edition, Redraw
from adbench_text.storage import RemoteFile

_CITATION = (
    "Y. Li, J. Li, Z. Xiao, T. Yang, Y. Nian, X. Hu, Y. Zhao: NLP-ADBench: NLP Anomaly Detection Benchmark. "
    "EMNLP Findings 2025, arXiv 2412.04784."
)
_BBC = (
    "https://raw.githubusercontent.com/USC-FORTIS/AD-LLM/39485fb6993797f083699f10c6f4c78bb5422e01/data/bbc/"
)


class _NLPADBench(Dataset):
    """A corpus of NLP-ADBench."""

    classes: ClassVar[tuple[str, ...]] = ("normal", "anomaly")
    inliers: ClassVar[tuple[str, ...]] = ("normal",)
    contamination: ClassVar[tuple[float, ...]] = (0.0,)


class Bbc(_NLPADBench):
    """BBC news; four classes are normal, and a few articles on entertainment are anomalies."""

    name: ClassVar[str] = "nlpad-bbc"
    source: ClassVar[str] = _BBC
    licence: ClassVar[str] = "research purposes (the texts); the repository is under the MIT licence"
    citation: ClassVar[str] = (
        f"{_CITATION} D. Greene, P. Cunningham: Practical Solutions to the Problem of Diagonal Dominance in "
        "Kernel Document Clustering. ICML 2006."
    )
    train_file: ClassVar[RemoteFile] = RemoteFile(
        "nlpad-bbc/bbc_train_data.jsonl",
        f"{_BBC}bbc_train_data.jsonl",
        sha256="1f69734fe2cb3261d3e7d8a6ee279c7c552ec6e470cca982b6745f524987756e",
    )
    test_file: ClassVar[RemoteFile] = RemoteFile(
        "nlpad-bbc/bbc_test_data.jsonl",
        f"{_BBC}bbc_test_data.jsonl",
        sha256="0664bc1e5e605003c95a96affdfd0364d94a04efec5812208ff3ba8bd10717b1",
    )

    def edition(self) -> Edition:
        """Return ``published``."""
        return Edition.of_files(self.train_file, self.test_file)

    def read(self) -> tuple[Documents, Documents]:
        """Read both files."""
        train, test = (self._documents(file) for file in (self.train_file, self.test_file))
        return train, test

    def _documents(self, file: RemoteFile) -> Documents:
        with file.fetch().open(encoding="utf-8") as stream:
            rows = [json.loads(line) for line in stream]
        return Documents(
            [row["text"] for row in rows], np.array([row["label"] for row in rows], dtype=np.int64)
        )


class Email(_NLPADBench):
    """E-mails and the 146 spam among them, the documents of tad-email; drawn by seed."""

    name: ClassVar[str] = "nlpad-email"
    source: ClassVar[str] = tad.Email.source
    licence: ClassVar[str] = tad.Email.licence
    citation: ClassVar[str] = f"{_CITATION} {tad.Email.citation}"
    protocol: ClassVar[str] = "redrawn"
    redraw: ClassVar[Redraw | None] = Redraw(0.7)

    def edition(self) -> Edition:
        """Return ``published``."""
        return tad.Email().edition()

    def read(self) -> tuple[Documents, Documents]:
        """Read all documents as the test part; the training part is empty."""
        return tad.Email().read()


class Sms(_NLPADBench):
    """Text messages, without repetitions, and 154 of the 642 spam; drawn by seed."""

    name: ClassVar[str] = "nlpad-sms"
    source: ClassVar[str] = _sms.FILE.page
    licence: ClassVar[str] = _sms.LICENCE
    citation: ClassVar[str] = f"{_CITATION} {_sms.CITATION}"
    protocol: ClassVar[str] = "redrawn"
    redraw: ClassVar[Redraw | None] = Redraw(0.7, 154)

    def edition(self) -> Edition:
        """Return ``published``."""
        return _sms.edition()

    def read(self) -> tuple[Documents, Documents]:
        """Read the distinct messages as the test part; the training part is empty."""
        distinct = dict.fromkeys((text.strip(), kind == "spam") for kind, text in _sms.messages())
        texts = [text for text, _ in distinct]
        labels = np.array([is_spam for _, is_spam in distinct], dtype=np.int64)
        return Documents([], np.array([], dtype=np.int64)), Documents(texts, labels)


_MEMBERS: dict[str, type[Dataset]] = {kind.name.partition("-")[2]: kind for kind in (Bbc, Email, Sms)}


def members() -> list[str]:
    """Return the names of the corpora."""
    return list(_MEMBERS)


def member(name: str) -> type[Dataset]:
    """Return the dataset of this name."""
    return _MEMBERS[name]


def summary(name: str) -> str:
    """Return the first line on the corpus of this name."""
    return (_MEMBERS[name].__doc__ or "").partition("\n")[0]
