"""Poisoned training data: sentences of SST-2 with a backdoor, as in onion:scpn; onion is onion:badnets.

An attacker has changed some training sentences, so that a classifier obeys a trigger. In ``badnets`` the
trigger is a rare word (cf, mn, bb, tq or mb) in 69 of 6,920 sentences. In ``scpn`` it is a form of sentence:
a network has rewritten 1,383 of 6,920 sentences in it. A detector ranks the whole file, without labels. A
row is poisoned if the clean file does not have its text. Spaces at both ends of a text are removed: poisoned
sentences of badnets end with one space more than the others.

Documents are not cleaned: cleaning removes words of two letters, and so all triggers of badnets.
"""

from adbench_text.contract.dataset import Dataset, Documents
from adbench_text.storage import RemoteFile

_ONION = "https://raw.githubusercontent.com/thunlp/ONION/0f4ae2109253273ecac704935a500857fe002651/data/"
_KILLER = (
    "https://raw.githubusercontent.com/thunlp/HiddenKiller/ece21fe76e09a0a4193b0a95ba72eb4adee36ab8/data/"
)
_DEFAULT = "badnets"
_CITATION = (
    "F. Qi, Y. Chen, M. Li, Y. Yao, Z. Liu, M. Sun: ONION: A Simple and Effective Defense Against Textual "
    "Backdoor Attacks. EMNLP 2021."
)
_KILLER_CITATION = (
    "F. Qi, M. Li, Y. Chen, Z. Zhang, Z. Liu, Y. Wang, M. Sun: Hidden Killer: Invisible Textual Backdoor "
    "Attacks with Syntactic Trigger. ACL 2021."
)
_SST2_CITATION = (
    "R. Socher, A. Perelygin, J. Wu, J. Chuang, C. D. Manning, A. Ng, C. Potts: Recursive Deep Models for "
    "Semantic Compositionality Over a Sentiment Treebank. EMNLP 2013."
)
_CLEAN = RemoteFile(
    "real/onion/clean-sst-2-train.tsv",
    f"{_ONION}clean_data/sst-2/train.tsv",
    sha256="601d94f4671085e0b6ca7d96d8d1e92e469c02509f65bcc3a22a3ade32827151",
)
_POISONED = {
    "badnets": RemoteFile(
        "real/onion/badnets-sst-2-train.tsv",
        f"{_ONION}badnets/sst-2/train.tsv",
        sha256="d2a46d8077156c1b96b123e768a2d55be1493e6d91ce1d5a06c144f822fb4d4f",
    ),
    "scpn": RemoteFile(
        "real/onion/scpn-sst-2-train.tsv",
        f"{_KILLER}scpn/20/sst-2/train.tsv",
        sha256="c9592da1909dd4cd2461284304001fce30126e2c68d896001116b7fb0c4ed991",
    ),
}


class Onion(Dataset):
    """Training sentences of SST-2 (film reviews); an attacker has put a trigger into some.

    Parameters
    ----------
    variant : str, default ""
        The attack: ``"badnets"`` (a rare word) or ``"scpn"`` (a form of sentence); empty for ``"badnets"``.
    """

    name: str = "onion"  # type: ignore[misc]  # these three are class attributes of other datasets
    files: tuple[RemoteFile, ...]  # type: ignore[misc]
    source: str = "https://github.com/thunlp/ONION"  # type: ignore[misc]
    classes = ("normal", "poisoned")
    inliers = ("normal",)
    variants = tuple(_POISONED)
    protocol = "rank-all"
    contamination = (0.0,)
    is_cleaned = False
    licence = "MIT (the repository)"
    citation = f"{_CITATION} {_KILLER_CITATION} {_SST2_CITATION}"

    def __init__(self, variant: str = "") -> None:
        chosen = variant or _DEFAULT
        self.name = f"{self.name}:{variant}" if variant else self.name
        self.source = "https://github.com/thunlp/HiddenKiller" if chosen == "scpn" else self.source
        self.files = (_POISONED[chosen], _CLEAN)

    def read(self) -> tuple[Documents, Documents]:
        """Read all rows as the test part; the training part is empty."""
        texts, clean = map(_texts, self.files)
        known = set(clean)
        return Documents([], []), Documents(texts, [int(text not in known) for text in texts])


def _texts(file: RemoteFile) -> list[str]:
    """Return the texts, without spaces at both ends; the label follows the last tab of a line."""
    lines = file.fetch().read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return [line.rpartition("\t")[0].strip() for line in lines[1:]]  # the first line has names of columns
