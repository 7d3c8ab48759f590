"""NLP-ADBench: corpora with 3 to 6 % of anomalies; 70 % of the normal documents are for training.

BBC has the published split. For the other two corpora, only the sizes of the parts are published, so each
seed draws the parts anew.
"""

import json

from adbench_text.contract.dataset import Dataset, Documents, Redraw
from adbench_text.datasets import _sms, tad
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

    classes = ("normal", "anomaly")
    inliers = ("normal",)
    contamination = (0.0,)


class Bbc(_NLPADBench):
    """NLP-ADBench: BBC news; four classes are normal, and a few articles on entertainment are anomalies."""

    name = "nlpad-bbc"
    source = _BBC
    licence = "research purposes (the texts); the repository is under the MIT licence"
    citation = (
        f"{_CITATION} D. Greene, P. Cunningham: Practical Solutions to the Problem of Diagonal Dominance in "
        "Kernel Document Clustering. ICML 2006."
    )
    files = (
        RemoteFile(
            "nlpad-bbc/bbc_train_data.jsonl",
            f"{_BBC}bbc_train_data.jsonl",
            sha256="1f69734fe2cb3261d3e7d8a6ee279c7c552ec6e470cca982b6745f524987756e",
        ),
        RemoteFile(
            "nlpad-bbc/bbc_test_data.jsonl",
            f"{_BBC}bbc_test_data.jsonl",
            sha256="0664bc1e5e605003c95a96affdfd0364d94a04efec5812208ff3ba8bd10717b1",
        ),
    )

    def read(self) -> tuple[Documents, Documents]:
        """Read both files."""
        train, test = map(self._documents, self.files)
        return train, test

    def _documents(self, file: RemoteFile) -> Documents:
        with file.fetch().open(encoding="utf-8") as stream:
            rows = [json.loads(line) for line in stream]
        return Documents([row["text"] for row in rows], [row["label"] for row in rows])


class Email(tad.Email):
    """NLP-ADBench: e-mails and the 146 spam among them, the documents of tad-email; drawn by seed."""

    name = "nlpad-email"
    citation = f"{_CITATION} {tad.Email.citation}"
    protocol = "redrawn"
    redraw = Redraw(0.7)


class Sms(_NLPADBench, _sms.SpamCollection):
    """NLP-ADBench: text messages, without repetitions, and 154 of the 642 spam; drawn by seed."""

    name = "nlpad-sms"
    citation = f"{_CITATION} {_sms.CITATION}"
    protocol = "redrawn"
    redraw = Redraw(0.7, 154)

    def read(self) -> tuple[Documents, Documents]:
        """Read the distinct messages as the test part; the training part is empty."""
        distinct = dict.fromkeys((text.strip(), kind == "spam") for kind, text in self.messages())
        test = Documents([text for text, _ in distinct], [int(is_spam) for _, is_spam in distinct])
        return Documents([], []), test
