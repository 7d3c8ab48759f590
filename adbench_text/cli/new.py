"""``adbench-text new``: write a package with a new plug-in."""

import keyword
import re
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from adbench_text.errors import DataError, InvalidValueError
from adbench_text.plugins import registry
from adbench_text.storage import writing

_LONGEST = 40  # characters of a name

# The files of a package; $name, $module, $title and $kind are replaced.
_PYPROJECT = """\
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

from adbench_text.checks import Whole
from adbench_text.plugins.detector import TextDetector


class $title(TextDetector):
    """Share of a text's words that occur in fewer than `min_count` training texts."""

    ranges = {"min_count": Whole(least=1)}  # the values that each hyper-parameter may have
    # test_settings = {"min_count": 1}  # `adbench-text check` uses them: make a slow detector small

    def __init__(self, *, min_count: int = 2, **shared):
        super().__init__(**shared)  # contamination and random_state
        self.min_count = min_count  # stored as it is given

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

_CODE = {"detector": _DETECTOR, "dataset": _DATASET}
_OPTIONS = {"detector": "--detector $name --dataset pydocs", "dataset": "--detector llr --dataset $name"}
_NEXT = """\
    pip install --editable ./$name
    adbench-text check $name
    adbench-text run {options} --limit 200"""


@click.command("new")
@click.argument("kind", type=click.Choice(list(_CODE)))
@click.argument("name")
def command(kind: str, name: str) -> None:
    """Write a package of two small files with a detector or dataset named NAME that works.

    The package is the folder NAME in the current folder. Then change it step by step.
    """
    given, name = name, re.sub(r"[-_. ]+", "-", name.strip().lower())
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > _LONGEST:
        raise InvalidValueError(
            f"A name must be letters, digits and hyphens, begin with a letter and have at most {_LONGEST} "
            f"characters, got {given!r}."
        )
    module, title = name.replace("-", "_"), "".join(part.capitalize() for part in name.split("-"))
    _check(kind, name, module, title)
    values = {"kind": kind, "name": name, "module": module, "title": title}
    files = {"pyproject.toml": _PYPROJECT, f"{module}.py": _CODE[kind]}
    folder = Path(name)
    if folder.exists():
        raise DataError(f"{folder} exists already: nothing is overwritten. Use another name.")
    with writing(folder):
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(Template(text).substitute(values), encoding="utf-8")
    click.echo(f"Wrote {' and '.join(f'{name}/{file}' for file in files)}. The next commands:\n")
    click.echo(Template(_NEXT.format(options=_OPTIONS[kind])).substitute(values))


def _check(kind: str, name: str, module: str, title: str) -> None:
    """Raise InvalidValueError if there is a plug-in, module or class of this name, or cannot be one."""
    if any(plugin.claims(name) for plugin in registry.plugins(f"{kind}s").values()):
        raise InvalidValueError(f"There is a {kind} named {name!r} already; use another name.")
    spec = find_spec(module)
    if keyword.iskeyword(title) or re.search(rf"import .*\b{title}\b", _CODE[kind]):
        raise InvalidValueError(f"The class of the {kind} cannot be named {title!r}; use another name.")
    if keyword.iskeyword(module) or (spec is not None and spec.origin):  # a folder alone has no origin
        raise InvalidValueError(f"{module!r} is the name of a Python module already; use another name.")
