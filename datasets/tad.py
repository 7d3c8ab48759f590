"""TAD-Bench: six corpora with about 3 % of anomalies; all documents are ranked, without a training part."""

import zipfile
from pathlib import Path
from typing import ClassVar

import numpy as np

from adbench_text.datasets import _sms
from adbench_text.datasets._npz import arrays_of
from adbench_text.plugins.dataset import Dataset, Documents, Edition
from adbench_text.storage import RemoteFile, reading

_COMMIT = "f5a6fe4903c3101784aa76430ebe940dfa8c4911"
_MOST_BYTES = 512 * 2**20  # of an .npz; that of email_spam has 424 MB, nearly all of it padding


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
        most_bytes=16 * 2**20,
    )
    source: ClassVar[str] = archive.url
    licence: ClassVar[str] = "no licence stated for the texts; the repository is Apache-2.0"
    citation: ClassVar[str] = (
        "Y. Cao, S. Yang, C. Li, H. Xiang, L. Qi, B. Liu, R. Li, M. Liu: TAD-Bench: A Comprehensive "
        "Benchmark for Embedding-Based Text Anomaly Detection. arXiv 2501.11960, 2025."
    )
    array: ClassVar[str]

    def edition(self) -> Edition:
        """Return ``published`` if the archive is the published one."""
        return Edition.of_files(self.archive)

    def read(self) -> tuple[Documents, Documents]:
        """Read all documents as the test part; the training part is empty."""
        return Documents([], np.array([], dtype=np.int64)), self._read(self.archive.fetch())

    def _read(self, path: Path) -> Documents:
        with reading(path, self.name):
            if path.stat().st_size > self.archive.most_bytes:
                raise ValueError(f"it has more than {self.archive.most_bytes // 2**20} MiB")
            with zipfile.ZipFile(path) as archive:
                file = f"data/{self.array}.npz"
                if file not in archive.namelist():
                    raise ValueError(f"it has no {file}")
                info = archive.getinfo(file)
                if info.file_size > _MOST_BYTES:
                    raise ValueError(f"{file} has more than {_MOST_BYTES // 2**20} MiB")
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ValueError(f"{file} is packed in an unknown way")  # others unpack without a limit
                with archive.open(info) as stream:
                    texts, labels = arrays_of(stream, "data", "label")
            if len(texts) != len(labels):
                raise ValueError(f"{file} has {len(texts):,} texts and {len(labels):,} labels")
            if not all(isinstance(text, str) for text in texts):
                raise ValueError(f"{file} has texts that are no strings")
            if unknown := set(labels).difference((0, 1)):
                raise ValueError(f"{file} has the label {next(iter(unknown))!r:.40}, which is not 0 or 1")
        return Documents(texts, np.array(labels, dtype=np.int64))


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
