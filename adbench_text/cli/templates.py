"""The files of a new plug-in package; ``$name``, ``$module`` and ``$title`` are replaced."""

PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "$name"
version = "0.1.0"
description = "A $kind for adbench-text"
requires-python = ">=3.11"
dependencies = ["adbench-text"]

[project.entry-points."adbench_text.${kind}s"]
$name = "$module:$title"

[tool.setuptools]
py-modules = ["$module"]
"""

_DETECTOR = '''\
"""$title: the share of a text's words that occur in few training texts."""

from collections import Counter

import numpy as np

from adbench_text.checks import check_whole
from adbench_text.plugins.detector import TextDetector


class $title(TextDetector):
    """Share of a text's words that occur in fewer than `min_count` training texts."""

    # test_settings = {"min_count": 1}  # `adbench-text check` uses them: make a slow detector small

    def __init__(self, *, min_count: int = 2, **shared):
        super().__init__(**shared)  # contamination and random_state
        self.min_count = min_count  # stored as it is given

    def check_params(self):
        super().check_params()
        check_whole("min_count", self.min_count, least=1)

    def _fit(self, texts):
        counts = Counter(word for text in texts for word in set(text.split()))
        self._words = {word for word, count in counts.items() if count >= self.min_count}

    def _score(self, texts):
        """Higher is more abnormal; each text is scored by itself."""
        return np.array([self._rare(text.split()) for text in texts])

    def _rare(self, words):
        return sum(word not in self._words for word in words) / max(1, len(words))

    # Optional methods; CONTRIBUTING.md of adbench-text describes all of them.
    #
    # @classmethod
    # def presets(cls, dataset):  # named configurations; several settings are a grid
    #     return {"grid": [{"min_count": 1}, {"min_count": 5}]}
    #
    # def resources(self):  # what the scores depend on besides code and hyper-parameters
    #     return {"stop-words": "sha256 of the file"}
    #
    # def token_scores(self, texts):  # one list of TokenScore(token, start, end, score) for each text
'''

_DATASET = '''\
"""$title: a corpus for adbench-text."""

import numpy as np

from adbench_text.plugins.dataset import Dataset, Documents, Edition

# For files: `adbench_text.storage` has data_dir(), file_digest(path) and RemoteFile(path, url, sha256=...).


class $title(Dataset):
    """Sentences about the sea and the law."""

    name = "$name"  # the same as in pyproject.toml
    classes = ("sea", "law")  # a label is an index into these names
    source = "address of the corpus"
    licence = "its terms of use"
    citation = "the publication to cite"

    def edition(self):
        """Return a name and a digest that change with the sources; download missing files here."""
        # path = data_dir() / "$name" / "train.csv"
        # return Edition("published", file_digest(path), is_published=True)
        return Edition("example", digest="1")

    def read(self):
        """Return the raw documents of the training and of the test part; the harness cleans them."""
        return self._part(40, seed=0), self._part(20, seed=1)

    def _part(self, n_each, seed):
        rng = np.random.default_rng(seed)
        words = "ship harbour sail tide anchor".split(), "judge court statute appeal trial".split()
        labels = np.repeat(np.arange(2), n_each)  # a NumPy array of whole numbers
        texts = [" ".join(rng.choice(words[label], 8)) for label in labels]
        return Documents(texts, labels)
'''

#: The module, by the kind of the plug-in.
CODE = {"detector": _DETECTOR, "dataset": _DATASET}

#: The next commands, likewise.
NEXT = {
    "detector": """\
    pip install --editable ./$name
    adbench-text check $name
    adbench-text run --detector $name --dataset pydocs --limit 200""",
    "dataset": """\
    pip install --editable ./$name
    adbench-text check $name
    adbench-text run --detector llr --dataset $name --limit 200""",
}
