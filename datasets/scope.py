"""Documents that are out of scope: several classes are normal together, and labels are unknown in training.

Far outliers come from other corpora. Near outliers are other intents of the same bank, or questions to a chat
bot that it cannot answer. Documents are not cleaned, as in the publications: utterances are short, and
cleaning would remove every word of "what can you do".
"""

import csv
from collections.abc import Sequence
from itertools import chain
from typing import ClassVar

import numpy as np

from adbench_text.contract.dataset import Dataset, Documents, Redraw
from adbench_text.storage import RemoteFile

_GITHUB = "https://raw.githubusercontent.com/"
_SST = f"{_GITHUB}rivercold/BERT-unsupervised-OOD/"
_ROSTD = f"{_GITHUB}vgtomahawk/LR_GC_OOD/e5439cecf396e7b9018e3c4c56f1558452bff8f7/code/data/fbrelease/unsup/"
_BANKING = f"{_GITHUB}jianguoz/Few-Shot-Intent-Detection/e8b107dee13eb81ac1414ce83f0aa0fa87abce99/Datasets/"
_HINT3 = f"{_GITHUB}hellohaptik/HINT3/99965c892ea9a6801a87083d3861b0b04c91a4e7/dataset/v1/"


def _sst(
    name: str, sha256: str, folder: str = "c813425c8234f6f3eb91d9340192ad8360bae26c/dataset/sst"
) -> RemoteFile:
    return RemoteFile(f"sst-far/{name}", f"{_SST}{folder}/{name}", sha256=sha256)


def _rostd(name: str, sha256: str) -> RemoteFile:
    return RemoteFile(f"rostd/{name}", f"{_ROSTD}{name}", sha256=sha256)


def _lines(file: RemoteFile) -> list[str]:
    return file.fetch().read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _banking(path: str, sha256: str) -> RemoteFile:
    return RemoteFile(f"banking77-oos/{path}", f"{_BANKING}BANKING77-OOS/{path}", sha256=sha256)


def _hint3(bot: str, train: str, test: str) -> tuple[RemoteFile, RemoteFile]:
    """Return the two files of a bot, given their sha256."""
    paths = f"train/{bot}_train.csv", f"test/{bot}_test.csv"
    files = (
        RemoteFile(f"hint3/{path}", f"{_HINT3}{path}", sha256=digest)
        for path, digest in zip(paths, (train, test), strict=True)
    )
    return next(files), next(files)


class _Scope(Dataset):
    """A corpus whose training part is in scope."""

    classes: ClassVar[tuple[str, ...]] = ("in scope", "out of scope")
    inliers: ClassVar[tuple[str, ...]] = ("in scope",)
    contamination = (0.0,)
    is_cleaned = False

    def _parts(self, train: Sequence[str], *test: Sequence[str]) -> tuple[Documents, Documents]:
        """Return both parts, given the test documents of each class."""
        labels = np.repeat(np.arange(len(test)), [len(of_class) for of_class in test])
        return Documents(train, [0] * len(train)), Documents(chain.from_iterable(test), labels)


class SstFar(_Scope):
    """Sentences of film reviews; 4 times 500 sentences from other corpora are odd, drawn by the seed."""

    name = "sst-far"
    classes = ("reviews", "snli", "rte", "20ng", "multi30k")
    inliers = ("reviews",)
    protocol = "redrawn"
    redraw = Redraw(n_of_class=500)  # the seeds of the publications: 171, 354, 550, 667, 985
    source = "https://github.com/rivercold/BERT-unsupervised-OOD"
    licence = "MIT (the repository)"
    citation = (
        "K. Xu, T. Ren, S. Zhang, Y. Feng, C. Xiong: Unsupervised Out-of-Domain Detection via Pre-trained "
        "Transformers. ACL 2021. Q. Wu, H. Jiang, H. Yin, B. F. Karlsson, C.-Y. Lin: Multi-Level Knowledge "
        "Distillation for Out-of-Distribution Detection in Text. ACL 2023."
    )
    files = (
        _sst("sst-train.txt", "19c73ffc0b01b65df0f1c9d7c12eb82d7378dbf4b916c49fcdb445f940e6a40b"),
        _sst(
            "sst-test.txt",
            "0a0c0896d049b026423a32a82ce81b588eb80dac79a4364ccaf8b2a5945a6a7b",
            "642e83099e1c1755fff061f2bd4865116082d214/dataset",
        ),
        _sst("snli-dev.txt", "143a0c6ba95fb4455f073a3b1d9c52485f4509112d36d77e765c1e89e7b783a7"),
        _sst("rte-dev.txt", "05e585f56480fd2d9e0bae4a64ea83c33ac6a7634d18f1910b70e36183317df4"),
        _sst("20ng-test.txt", "3ed54c9405210de11e88e8a5b168e39ccbec62f12139b469b8a6aefe395faefb"),
        _sst("multi30k-val.txt", "63726c41ff31a9c31686895e1ebcd46c43ca1f8dd6205bbaf9983b2adada0a9e"),
    )

    def read(self) -> tuple[Documents, Documents]:
        """Read the sentences as the released code does: quotes join lines, rows without text are dropped."""
        import pandas as pd

        tables = [pd.read_csv(file.fetch(), sep="\t").dropna() for file in self.files]
        return self._parts(*(table["text"].tolist() for table in tables))


class Rostd(_Scope):
    """Utterances on alarms, reminders and weather; utterances that the assistant cannot answer are odd."""

    name = "rostd"
    source = "https://github.com/vgtomahawk/LR_GC_OOD"
    licence = "no licence stated"
    citation = (
        "V. Gangal, A. Arora, A. Einolghozati, S. Gupta: Likelihood Ratios and Generative Classifiers for "
        "Unsupervised Out-of-Domain Detection in Task Oriented Dialog. AAAI 2020."
    )
    files = (
        _rostd("OODRemovedtrain.tsv", "ed2d4ab6141182935f34deb9ab961b1f6b9b89c1bcda6e8f075bbd08492d4012"),
        _rostd("test.tsv", "c43df2b7a5df63cbee2bb1dab6e17367a3085d2a8d201841a0537b37523bcb81"),
    )

    def read(self) -> tuple[Documents, Documents]:
        """Read both files, which have a label and the text in the first and the third column."""
        train, test = ([line.split("\t") for line in _lines(file)] for file in self.files)
        normal, odd = (
            [row[2] for row in test if (row[0] == "outOfDomain") == is_odd] for is_odd in (False, True)
        )
        return self._parts([row[2] for row in train], normal, odd)


class BankingNear(_Scope):
    """Questions to a bank with 50 intents; questions with 27 other intents are odd."""

    name = "banking-near"
    source = "https://github.com/jianguoz/Few-Shot-Intent-Detection"
    licence = "CC BY 4.0 (BANKING77)"
    citation = (
        "J. Zhang, K. Hashimoto, Y. Wan, Z. Liu, Y. Liu, C. Xiong, P. Yu: Are Pre-trained Transformers "
        "Robust in Intent Classification? NLP4ConvAI 2022. I. Casanueva, T. Temcinas, D. Gerz, M. Henderson, "
        "I. Vulic: Efficient Intent Detection with Dual Sentence Encoders. NLP4ConvAI 2020."
    )
    files = (
        _banking("train/seq.in", "5ba97261ce844b33e85b2af8f271927699f2ab3d79f99daac074d22abd79453d"),
        _banking("test/seq.in", "dc38952ebf63fcb1cdde63bd4fcd5cdf064cafa44fe4d13ab240640b4f06c5ca"),
        _banking("id-oos/test/seq.in", "faeeb6fa5c97b249f234d2f468d37fe90a94ffdab5fa2812ad00ca201721f11c"),
    )

    def read(self) -> tuple[Documents, Documents]:
        """Read the three files, which have a question on each line."""
        return self._parts(*map(_lines, self.files))


class BankingFar(BankingNear):
    """Questions to a bank with 50 intents; 1,080 utterances on alarms, reminders and weather are odd."""

    name = "banking-far"
    source = f"{BankingNear.source} {Rostd.source}"
    citation = f"{BankingNear.citation} {Rostd.citation}"
    files = (*BankingNear.files[:2], Rostd.files[1])

    def read(self) -> tuple[Documents, Documents]:
        """Read the questions; draw as many normal utterances of rostd as banking-near has odd questions."""
        train, test = map(_lines, self.files[:2])
        utterances = Rostd().read()[1]
        drawn = np.random.RandomState(0).permutation(np.flatnonzero(utterances.labels == 0))[:1080]
        return self._parts(train, test, utterances.take(drawn).texts)


class _Hint3(_Scope):
    """A chat bot: its intents, with examples by its authors, and the questions of its users."""

    source = "https://github.com/hellohaptik/HINT3"
    licence = "ODbL"
    citation = (
        "G. Arora, C. Jain, M. Chaturvedi, K. Modi: HINT3: Raising the bar for Intent Detection in the Wild. "
        "Insights from Negative Results in NLP 2020."
    )

    def read(self) -> tuple[Documents, Documents]:
        """Read both files; queries without an intent are odd, and also queries without words."""
        train, test = map(self._rows, self.files)
        normal, odd = (
            [text for text, label in test if (label == "NO_NODES_DETECTED") == is_odd]
            for is_odd in (False, True)
        )
        return self._parts([text for text, _ in train], normal, odd)

    def _rows(self, file: RemoteFile) -> list[tuple[str, str]]:
        with file.fetch().open(encoding="utf-8", newline="") as stream:
            return [(row["sentence"], row["label"]) for row in csv.DictReader(stream)]


class Hint3Curekart(_Hint3):
    """HINT3: questions to the bot of a health shop; questions without an intent are odd."""

    name = "hint3-curekart"
    files = _hint3(
        "curekart",
        "f5dd24f36db6ee00524a6626200a26855139671c641227dff3adaca0c7ac652a",
        "19173881f51949b81d06f6df2ce4561fdf42b3bfaaafd47410042e99c59d0cfd",
    )


class Hint3Powerplay11(_Hint3):
    """HINT3: questions to the bot of a fantasy league; questions without an intent are odd."""

    name = "hint3-powerplay11"
    files = _hint3(
        "powerplay11",
        "af230d4aa97e2c01ac378222d3e466b9fddc48c4190bcc30e345e4ca85bf6517",
        "1a4bde924f924342f405ebdd468bbfb2955e76f2f63ec14efbf7bccf6b0eb485",
    )


class Hint3Sofmattress(_Hint3):
    """HINT3: questions to the bot of a mattress shop; questions without an intent are odd."""

    name = "hint3-sofmattress"
    files = _hint3(
        "sofmattress",
        "0addf4dc4b9df1e71509da5318d5a9f6e9a5d6eb98b9584d55cab3da7badf4b1",
        "8d36c0e5d49225f07b8cf5ee582e0a083479af97cbd612e104099176a9648043",
    )
