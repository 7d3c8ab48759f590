"""Text-ADBench: the splits of four corpora with more than one class.

Only the split is theirs. Texts are cleaned as those of every other corpus here, for all detectors alike.
"""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from adbench_text.datasets import _sms
from adbench_text.datasets.newsgroups20 import Newsgroups20
from adbench_text.datasets.reuters import Reuters
from adbench_text.plugins.dataset import Dataset, Documents, Edition
from adbench_text.storage import RemoteFile

_CITATION = (
    "F. Xiao, J. Fan: Text-ADBench: Text Anomaly Detection Benchmark based on LLMs Embedding. "
    "arXiv 2507.12295, 2025."
)

_Named = tuple[str, str]  # the name of a class, and a text


class _TextADBench(Dataset):
    """A corpus that is split as Text-ADBench does."""

    contamination: ClassVar[tuple[float, ...]] = (0.0,)

    def _split(self, train: list[_Named], test: list[_Named]) -> tuple[Documents, Documents]:
        """Return both parts; the anomalies of the training part are for testing."""
        normal = [each for each in train if each[0] in self.inliers]
        odd = [each for each in train if each[0] not in self.inliers]
        return self._documents(normal), self._documents(test + odd)

    def _documents(self, named: list[_Named]) -> Documents:
        labels = [self.classes.index(name) for name, _ in named]
        return Documents([text for _, text in named], np.array(labels, dtype=np.int64))


class Newsgroups(_TextADBench):
    """20 Newsgroups; the posts of misc.forsale are odd, and those of both parts are for testing."""

    name: ClassVar[str] = "textad-20news"
    classes: ClassVar[tuple[str, ...]] = ("normal", "misc.forsale")
    inliers: ClassVar[tuple[str, ...]] = ("normal",)
    source: ClassVar[str] = Newsgroups20.source
    licence: ClassVar[str] = Newsgroups20.licence
    citation: ClassVar[str] = f"{_CITATION} {Newsgroups20.citation}"

    def edition(self) -> Edition:
        """Return ``published``."""
        return Newsgroups20().edition()

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts, without headers, footers and quotes."""
        normal, odd = self.classes
        train, test = (
            [(odd if group == odd else normal, post) for post, group in zip(*part, strict=True)]
            for part in Newsgroups20().posts()
        )
        return self._split(train, test)


class ReutersTwo(_TextADBench):
    """Reuters-21578; the articles of earn and acq are normal, and those of other topics are for testing.

    As in NLTK's ModApte split, a topic counts if it occurs in both parts, and an article belongs to the
    corpus if exactly one topic counts, be it named twice.
    """

    name: ClassVar[str] = "textad-reuters"
    classes: ClassVar[tuple[str, ...]] = ("earn", "acq", "other")
    inliers: ClassVar[tuple[str, ...]] = ("earn", "acq")
    source: ClassVar[str] = Reuters.source
    licence: ClassVar[str] = Reuters.licence
    citation: ClassVar[str] = f"{_CITATION} {Reuters.citation}"

    def edition(self) -> Edition:
        """Return ``published``, or that the archive was packed anew."""
        return Reuters().edition()

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts."""
        train, test = map(self._named, Reuters().articles())
        return self._split(train, test)

    def _named(self, articles: list[tuple[list[str], str]]) -> list[_Named]:
        one = [(topics[0], text) for topics, text in articles if len(set(topics)) == 1]
        return [(topic if topic in self.inliers else "other", text) for topic, text in one]


class Sms(_TextADBench):
    """SMS Spam Collection; 3,000 ham messages are for training, all else is for testing."""

    name: ClassVar[str] = "textad-sms"
    classes: ClassVar[tuple[str, ...]] = ("ham", "spam")
    inliers: ClassVar[tuple[str, ...]] = ("ham",)
    source: ClassVar[str] = _sms.FILE.page
    licence: ClassVar[str] = _sms.LICENCE
    citation: ClassVar[str] = f"{_CITATION} {_sms.CITATION}"

    def edition(self) -> Edition:
        """Return ``published``."""
        return _sms.edition()

    def read(self) -> tuple[Documents, Documents]:
        """Split the ham in the order of the file: before the training part come as many as there are spam."""
        messages = _sms.messages()
        ham, spam = ([each for each in messages if each[0] == kind] for kind in self.classes)
        begin, end = len(spam), len(spam) + 3000
        return self._split(ham[begin:end], ham[:begin] + ham[end:] + spam)


class Sst2(_TextADBench):
    """SST-2; the first 10,000 positive sentences are for training, all else is for testing."""

    name: ClassVar[str] = "textad-sst2"
    classes: ClassVar[tuple[str, ...]] = ("positive", "negative")
    inliers: ClassVar[tuple[str, ...]] = ("positive",)
    source: ClassVar[str] = "https://github.com/awake020/pytorch_Bert_sst2"
    licence: ClassVar[str] = "no licence stated"
    citation: ClassVar[str] = (
        f"{_CITATION} R. Socher, A. Perelygin, J. Wu, J. Chuang, C. D. Manning, A. Ng, C. Potts: Recursive "
        "Deep Models for Semantic Compositionality Over a Sentiment Treebank. EMNLP 2013."
    )
    # GLUE's sentences in its order; its own files have the two columns the other way round
    files: ClassVar[tuple[RemoteFile, ...]] = (
        RemoteFile(
            "sst2/train.tsv",
            page=source,
            sha256="e981ceb4fe6c9acd1c79851d0d091b9e78103f1f2a399ca83dda27915d41c56c",
        ),
        RemoteFile(
            "sst2/dev.tsv",
            page=source,
            sha256="84207e6be5873fb18db798cc6faec86871f5a426554650ff64a1c34e87665f6f",
        ),
    )

    def edition(self) -> Edition:
        """Return ``published``."""
        return Edition.of_files(*self.files)

    def read(self) -> tuple[Documents, Documents]:
        """Split the sentences in the order of the files."""
        train, dev = (list(self._sentences(file)) for file in self.files)
        positive, negative = ([each for each in train if each[0] == name] for name in self.classes)
        return self._split(positive[:10_000], positive[10_000:] + negative + dev)

    def _sentences(self, file: RemoteFile) -> Iterator[_Named]:
        """Yield class and text of the sentences of a file, which has a line with the names of its columns."""
        with file.fetch().open(encoding="utf-8") as stream:
            next(stream)
            for line in stream:
                label, _, text = line.partition("\t")
                yield self.classes[label == "0"], text.strip()


_MEMBERS: dict[str, type[Dataset]] = {
    kind.name.partition("-")[2]: kind for kind in (Newsgroups, ReutersTwo, Sms, Sst2)
}


def members() -> list[str]:
    """Return the names of the corpora."""
    return list(_MEMBERS)


def member(name: str) -> type[Dataset]:
    """Return the dataset of this name."""
    return _MEMBERS[name]


def summary(name: str) -> str:
    """Return the first line on the corpus of this name."""
    return (_MEMBERS[name].__doc__ or "").partition("\n")[0]
