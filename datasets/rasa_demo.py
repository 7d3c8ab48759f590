"""What users said to a bot: queries that it has no intent for, and queries in other languages than English.

The training part has the examples of all intents. The test part has the queries of the bot's own test file
that the training part does not have, and the queries that are out of scope. Documents are not cleaned:
utterances are short, and cleaning would remove every word of "what can you do".
"""

import re

import yaml

from adbench_text.contract.dataset import Dataset, Documents
from adbench_text.storage import RemoteFile

_FILES = "https://raw.githubusercontent.com/RasaHQ/rasa-demo/6935627/"
_SCOPE = "out_of_scope/"
_KINDS = {f"{_SCOPE}other": "out of scope", f"{_SCOPE}non_english": "not English"}
# "[Rasa X](product)" or '[Rasa X]{"entity": "product"}': only the words between the brackets were said
_ENTITY = re.compile(r"\[([^\[\]]*)\](?:\([^()]*\)|\{[^{}]*\})")


def _file(path: str, sha256: str) -> RemoteFile:
    return RemoteFile(f"real/rasa-demo/{path.rpartition('/')[2]}", f"{_FILES}{path}", sha256=sha256)


class RasaDemo(Dataset):
    """Queries to a bot that knows Rasa; queries that are out of scope or in another language are odd.

    A query is once in a class of the test part: both files of odd queries have 21 in common. The training
    part keeps its four repeated queries. Two odd queries ("lol") are also training examples.
    """

    name = "rasa-demo"
    classes = ("in scope", "out of scope", "not English")
    inliers = ("in scope",)
    contamination = (0.0,)
    is_cleaned = False
    source = "https://github.com/RasaHQ/rasa-demo"
    licence = "GPL-3.0"
    citation = "Rasa Technologies: Sara - the Rasa Demo Bot. 2018."
    files = (
        _file("data/nlu/nlu.yml", "15e823b98da342d7e1c66beceb83b556eaef1dbd375b168ce6223f14d41b307b"),
        _file("data/nlu/faq.yml", "2190aebe2879c082e0a3a4df44def8661b3ef4f369fb820c1e87521fea72d4cf"),
        _file("data/nlu/chitchat.yml", "15ba62d73246439b8483a9455b25152dd3fd474766e1b860eb90fd8506cd0bf5"),
        _file("data/nlu/general.yml", "e789536817da90d17551fd60085299e7712331d9ed6a14fe9e863ad12d22d05b"),
        _file(
            "data/nlu/out_of_scope.yml", "8ee23076959393ac8619649c60b4c2adcbb99364886e39cb062059548dafdb2f"
        ),
        _file("tests/test_nlu.yml", "0c8dc9a0c6f9090198fe750aaedebbe96fa16de96dd78d73044b23f05e3d8977"),
    )

    def read(self) -> tuple[Documents, Documents]:
        """Read the examples of the bot, and the queries of its test file and its file out_of_scope."""
        train = [text for file in self.files[:4] for _, text in _queries(file)]
        known = set(train)
        tested = [
            (text, _KINDS.get(intent, self.inliers[0]))
            for file in self.files[4:]
            for intent, text in _queries(file)
        ]
        test = {
            (text, kind): self.classes.index(kind)
            for text, kind in tested
            if kind not in self.inliers or text not in known
        }
        return Documents(train, [0] * len(train)), Documents([text for text, _ in test], [*test.values()])


def _queries(file: RemoteFile) -> list[tuple[str, str]]:
    """Return the intent and the words of each query; a file also has lists of synonyms and patterns."""
    entries = yaml.safe_load(file.fetch().read_text(encoding="utf-8"))["nlu"]
    return [
        (entry["intent"], _ENTITY.sub(r"\1", line.removeprefix("- ")).strip())
        for entry in entries
        if "intent" in entry
        for line in entry["examples"].splitlines()
    ]
