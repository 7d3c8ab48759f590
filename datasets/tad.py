"""TAD-Bench: six corpora with about 3 % of anomalies; all documents are ranked, without a training part."""

import zipfile
from io import BytesIO
from typing import ClassVar

import numpy as np

from adbench_text.contract.dataset import Dataset, Documents
from adbench_text.contract.protocols import ProtocolName
from adbench_text.datasets import _sms
from adbench_text.storage import RemoteFile

_COMMIT = "f5a6fe4903c3101784aa76430ebe940dfa8c4911"


class _TADBench(Dataset):
    """An array of the archive `data.zip`; its publication ranks all its documents."""

    classes = ("normal", "anomaly")
    inliers = ("normal",)
    protocol: ClassVar[ProtocolName] = "rank-all"
    contamination = (0.0,)
    files = (
        RemoteFile(
            "tad-bench/data.zip",
            f"https://raw.githubusercontent.com/charles-cao/TAD-Bench/{_COMMIT}/data.zip",
            sha256="947f8a49bdb0b5d16339c18fe749b7e4e69d574bdd8bc3c52b8eb113bd382307",
        ),
    )
    source = files[0].url
    licence = "no licence stated for the texts; the repository is Apache-2.0"
    citation = (
        "Y. Cao, S. Yang, C. Li, H. Xiang, L. Qi, B. Liu, R. Li, M. Liu: TAD-Bench: A Comprehensive "
        "Benchmark for Embedding-Based Text Anomaly Detection. arXiv 2501.11960, 2025."
    )
    array: ClassVar[str]

    def read(self) -> tuple[Documents, Documents]:
        """Read all documents as the test part; the training part is empty."""
        with zipfile.ZipFile(BytesIO(self.files[0].read_bytes())) as archive:
            arrays = np.load(archive.open(f"data/{self.array}.npz"), allow_pickle=True)
            return Documents([], []), Documents(arrays["data"].tolist(), arrays["label"])


class Email(_TADBench):
    """TAD-Bench: e-mails, and a small part of the spam."""

    name = "tad-email"
    array = "email_spam"


class Sms(_TADBench):
    """TAD-Bench: text messages, and a small part of the spam, from the SMS Spam Collection."""

    name = "tad-sms"
    array = "smsspam"
    licence = f"{_sms.SpamCollection.licence} (SMS Spam Collection); the repository is Apache-2.0"
    citation = f"{_TADBench.citation} {_sms.CITATION}"


class Covid(_TADBench):
    """TAD-Bench: posts about COVID-19, and a small part of the fake ones."""

    name = "tad-covid"
    array = "covid_fake"


class Liar2(_TADBench):
    """TAD-Bench: statements of politicians, and a small part of the false ones, from LIAR2."""

    name = "tad-liar2"
    array = "liar2"
    citation = (
        f"{_TADBench.citation} C. Xu, M.-T. Kechadi: An Enhanced Fake News Detection System With Fuzzy Deep "
        "Learning. IEEE Access 12, 2024."
    )


class Hate(_TADBench):
    """TAD-Bench: posts, and a few with hate speech."""

    name = "tad-hate"
    array = "hate_speech"


class Olid(_TADBench):
    """TAD-Bench: posts, and a few offensive ones, from OLID."""

    name = "tad-olid"
    array = "olid"
    citation = (
        f"{_TADBench.citation} M. Zampieri, S. Malmasi, P. Nakov, S. Rosenthal, N. Farra, R. Kumar: "
        "Predicting the Type and Target of Offensive Posts in Social Media. NAACL 2019."
    )
