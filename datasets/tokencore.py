"""TokenCore: documents with marked odd words.

Half of the normal documents are for training, drawn as in TokenCore; all others are for testing. Documents
are not cleaned, because each word is judged. In all three corpora, the length of a word reveals much;
docs/datasets-reference.md says what each corpus can show.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import ClassVar

import numpy as np

from adbench_text.contract.dataset import Dataset, Documents, OddWords
from adbench_text.storage import RemoteFile

_COMMIT = "830ff86f75b7da6e8561704186fb5749fa15ab8d"
_SEED = 42


def _file(name: str, sha256: str) -> RemoteFile:
    url = f"https://raw.githubusercontent.com/charles-cao/TokenCore/{_COMMIT}/data/{name}"
    return RemoteFile(f"tokencore/{name}", url, sha256=sha256)


class _TokenCore(Dataset):
    """A file of TokenCore."""

    classes = ("normal", "anomaly")
    inliers = ("normal",)
    contamination = (0.0,)
    is_cleaned = False
    source = "https://github.com/charles-cao/TokenCore"
    licence = "CC BY 4.0 (the marks); the repository is Apache-2.0"
    citation = (
        "Y. Cao, B. Yu, S. Yang, M. Liu, Y. Yang: Towards Token-Level Text Anomaly Detection. WWW 2026."
    )
    files: ClassVar[tuple[RemoteFile, ...]]

    def read(self) -> tuple[Documents, Documents]:
        """Return half of the normal documents, and all others with their odd words."""
        content = np.load(BytesIO(self.files[0].read_bytes()), allow_pickle=True).item()
        texts = [text for (text,) in content["sentences"]]
        words = [
            _words(*document) for document in zip(texts, content["tokens"], content["labels"], strict=True)
        ]
        labels = np.array([int(bool(of_text.odd)) for of_text in words])
        normal = np.flatnonzero(labels == 0)
        drawn = np.random.RandomState(_SEED).choice(normal, len(normal) // 2, replace=False)
        documents = Documents(texts, labels, words)
        return documents.take(drawn), documents.take(np.setdiff1d(np.arange(len(texts)), drawn))


def _words(text: str, tokens: Sequence[str], is_odd: Sequence[int]) -> OddWords:
    """Return the spans of the tokens of a document."""
    spans, odd, end = list[tuple[int, int]](), list[tuple[int, int]](), 0
    for token, mark in zip(tokens, is_odd, strict=True):
        if (start := text.find(token, end)) < 0:
            continue  # the tokens have a word twice that the text has once
        end = start + len(token)
        spans.append((start, end))
        if mark:
            odd.append((start, end))
    return OddWords(odd, spans)


class Sms(_TokenCore):
    """TokenCore: text messages without spam; words of random letters are odd."""

    name = "words-sms"
    files = (_file("sms_spam.npy", "912b081f401cd5b07aae235c138337c80b63cc9d943d0bc5a00da93449ba2806"),)


class Review(_TokenCore):
    """TokenCore: reviews of restaurants; words of complaint are odd, often several words as one."""

    name = "words-review"
    files = (
        _file("restaurant_review.npy", "04b366d402276c58f863928df2e333ce19abc9a489e023267ec700253cef7e53"),
    )


class Grammar(_TokenCore):
    """TokenCore: captions; words with wrong grammar are odd, and nearly all of them are "a"."""

    name = "words-grammar"
    files = (_file("grammar.npy", "92c89efe7f698608c672d8eac6ba73fd6a7bcf8d899a773552c64e0b20726904"),)
