"""Text-ADBench: the splits of four corpora with more than one class.

Only the split comes from Text-ADBench. Texts are cleaned like in our other corpora, for all detectors.
"""

from collections.abc import Iterator

from adbench_text.contract.dataset import Dataset, Documents, Edition
from adbench_text.datasets import _sms
from adbench_text.datasets.newsgroups20 import Newsgroups20
from adbench_text.datasets.reuters import Reuters
from adbench_text.storage import RemoteFile

_CITATION = (
    "F. Xiao, J. Fan: Text-ADBench: Text Anomaly Detection Benchmark based on LLMs Embedding. "
    "arXiv 2507.12295, 2025."
)

_Named = tuple[str, str]  # the name of a class, and a text


class _TextADBench(Dataset):
    """A corpus with the split of Text-ADBench."""

    contamination = (0.0,)

    def _split(self, train: list[_Named], test: list[_Named]) -> tuple[Documents, Documents]:
        """Return both parts; anomalies in the training part are for testing."""
        normal = [each for each in train if each[0] in self.inliers]
        odd = [each for each in train if each[0] not in self.inliers]
        return self._documents(normal), self._documents(test + odd)

    def _documents(self, named: list[_Named]) -> Documents:
        return Documents([text for _, text in named], [self.classes.index(name) for name, _ in named])


class Newsgroups(_TextADBench):
    """Text-ADBench: 20 Newsgroups; misc.forsale is odd, and its posts of both parts are for testing."""

    name = "textad-20news"
    classes = ("normal", "misc.forsale")
    inliers = ("normal",)
    source = Newsgroups20.source
    licence = Newsgroups20.licence
    citation = f"{_CITATION} {Newsgroups20.citation}"

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
    """Text-ADBench: Reuters-21578; earn and acq are normal, the articles of other topics are for testing.

    As in NLTK's ModApte split, a topic counts if it occurs in both parts, and an article belongs to the
    corpus if exactly one topic counts, even if it is named twice.
    """

    name = "textad-reuters"
    classes = ("earn", "acq", "other")
    inliers = ("earn", "acq")
    source = Reuters.source
    licence = Reuters.licence
    citation = f"{_CITATION} {Reuters.citation}"
    files = Reuters.files

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts."""
        train, test = map(self._named, Reuters().articles())
        return self._split(train, test)

    def _named(self, articles: list[tuple[list[str], str]]) -> list[_Named]:
        one = [(topics[0], text) for topics, text in articles if len(set(topics)) == 1]
        return [(topic if topic in self.inliers else "other", text) for topic, text in one]


class Sms(_TextADBench, _sms.SpamCollection):
    """Text-ADBench: SMS Spam Collection; 3,000 ham messages are for training, all else is for testing."""

    name = "textad-sms"
    classes = ("ham", "spam")
    inliers = ("ham",)
    citation = f"{_CITATION} {_sms.CITATION}"

    def read(self) -> tuple[Documents, Documents]:
        """Split the ham (messages that are no spam) by its order in the file.

        The first messages are for testing, as many as there are spam messages; the next 3,000 are for
        training. The other ham and all spam are for testing, too.
        """
        messages = self.messages()
        ham, spam = ([each for each in messages if each[0] == kind] for kind in self.classes)
        n_test, n_train = len(spam), 3000
        train = ham[n_test : n_test + n_train]
        test = ham[:n_test] + ham[n_test + n_train :] + spam
        return self._split(train, test)


class Sst2(_TextADBench):
    """Text-ADBench: SST-2; the first 10,000 positive sentences are for training, all else is for testing."""

    name = "textad-sst2"
    classes = ("positive", "negative")
    inliers = ("positive",)
    source = "https://github.com/awake020/pytorch_Bert_sst2"
    licence = "no licence stated"
    citation = (
        f"{_CITATION} R. Socher, A. Perelygin, J. Wu, J. Chuang, C. D. Manning, A. Ng, C. Potts: Recursive "
        "Deep Models for Semantic Compositionality Over a Sentiment Treebank. EMNLP 2013."
    )
    # GLUE's sentences in its order; GLUE's files have the two columns in the other order
    files = (
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

    def read(self) -> tuple[Documents, Documents]:
        """Split the sentences in the order of the files."""
        train, dev = (list(self._sentences(file)) for file in self.files)
        positive, negative = ([each for each in train if each[0] == name] for name in self.classes)
        return self._split(positive[:10_000], positive[10_000:] + negative + dev)

    def _sentences(self, file: RemoteFile) -> Iterator[_Named]:
        """Yield the class and the text of each sentence of a file with a header."""
        with file.fetch().open(encoding="utf-8") as stream:
            next(stream)
            for line in stream:
                label, _, text = line.partition("\t")
                yield self.classes[label == "0"], text.strip()
