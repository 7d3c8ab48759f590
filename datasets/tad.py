"""TAD-Bench: six corpora with about 3 % of anomalies; all documents are ranked, without a training part."""

import zipfile
from io import BytesIO
from typing import ClassVar

import numpy as np

from adbench_text.datasets import _sms
from adbench_text.plugins.dataset import Dataset, Documents, Edition
from adbench_text.storage import RemoteFile

_COMMIT = "f5a6fe4903c3101784aa76430ebe940dfa8c4911"


class _TADBench(Dataset):
    """An array of the archive `data.zip`, which its publication ranks as it is."""

    classes: ClassVar[tuple[str, ...]] = ("normal", "anomaly")
    inliers: ClassVar[tuple[str, ...]] = ("normal",)
    protocol: ClassVar[str] = "unlabelled"
    contamination: ClassVar[tuple[float, ...]] = (0.0,)
    archive: ClassVar[RemoteFile] = RemoteFile(
        "tad-bench/data.zip",
        f"https://raw.githubusercontent.com/charles-cao/TAD-Bench/{_COMMIT}/data.zip",
        sha256="947f8a49bdb0b5d16339c18fe749b7e4e69d574bdd8bc3c52b8eb113bd382307",
    )
    source: ClassVar[str] = archive.url
    licence: ClassVar[str] = "no licence stated for the texts; the repository is Apache-2.0"
    citation: ClassVar[str] = (
        "Y. Cao, S. Yang, C. Li, H. Xiang, L. Qi, B. Liu, R. Li, M. Liu: TAD-Bench: A Comprehensive "
        "Benchmark for Embedding-Based Text Anomaly Detection. arXiv 2501.11960, 2025."
    )
    array: ClassVar[str]

    def edition(self) -> Edition:
        """Return ``published``."""
        return Edition.of_files(self.archive)

    def read(self) -> tuple[Documents, Documents]:
        """Read all documents as the test part; the training part is empty."""
        with zipfile.ZipFile(BytesIO(self.archive.read_bytes())) as archive:
            arrays = np.load(archive.open(f"data/{self.array}.npz"), allow_pickle=True)
            texts, labels = arrays["data"].tolist(), arrays["label"].astype(np.int64)
        return Documents([], np.array([], dtype=np.int64)), Documents(texts, labels)


class Email(_TADBench):
    """E-mails, and a few of the spam."""

    name: ClassVar[str] = "tad-email"
    array: ClassVar[str] = "email_spam"


class Sms(_TADBench):
    """Text messages, and a few of the spam, from the SMS Spam Collection."""

    name: ClassVar[str] = "tad-sms"
    array: ClassVar[str] = "smsspam"
    licence: ClassVar[str] = f"{_sms.LICENCE} (SMS Spam Collection); the repository is Apache-2.0"
    citation: ClassVar[str] = f"{_TADBench.citation} {_sms.CITATION}"


class Covid(_TADBench):
    """Posts about COVID-19, and a few of those that are fake."""

    name: ClassVar[str] = "tad-covid"
    array: ClassVar[str] = "covid_fake"


class Liar2(_TADBench):
    """Statements of politicians, and a few of the false ones, from LIAR2."""

    name: ClassVar[str] = "tad-liar2"
    array: ClassVar[str] = "liar2"
    citation: ClassVar[str] = (
        f"{_TADBench.citation} C. Xu, M.-T. Kechadi: An Enhanced Fake News Detection System With Fuzzy Deep "
        "Learning. IEEE Access 2024."
    )


class Hate(_TADBench):
    """Posts, and a few with hate speech."""

    name: ClassVar[str] = "tad-hate"
    array: ClassVar[str] = "hate_speech"


class Olid(_TADBench):
    """Posts, and a few offensive ones, from OLID."""

    name: ClassVar[str] = "tad-olid"
    array: ClassVar[str] = "olid"
    citation: ClassVar[str] = (
        f"{_TADBench.citation} M. Zampieri, S. Malmasi, P. Nakov, S. Rosenthal, N. Farra, R. Kumar: "
        "Predicting the Type and Target of Offensive Posts in Social Media. NAACL 2019."
    )


_MEMBERS: dict[str, type[_TADBench]] = {
    kind.name.partition("-")[2]: kind for kind in (Email, Sms, Covid, Liar2, Hate, Olid)
}


def members() -> list[str]:
    """Return the names of the corpora."""
    return list(_MEMBERS)


def member(name: str) -> type[_TADBench]:
    """Return the dataset of this name."""
    return _MEMBERS[name]


def summary(name: str) -> str:
    """Return the first line on the corpus of this name."""
    return (_MEMBERS[name].__doc__ or "").partition("\n")[0]
