"""Reuters-21578: newswire articles of 1987 in seven classes, the second corpus of CVDD's paper."""

import html
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from adbench_text.contract.dataset import Dataset, Documents
from adbench_text.storage import RemoteFile

_FILES = tuple(f"reut2-{number:03}.sgm" for number in range(22))
_PARTS = ("TRAIN", "TEST")  # the ModApte split: LEWISSPLIT, of the articles with TOPICS="YES"

#: SHA-256 digest of a repacked archive with the same articles.
_REPACKED = "f71592bb81414e0d5be31a08f7a3276932ca9bfb77cd9700b0486aa1396468f9"

_ATTRIBUTE = re.compile(r'(?<!\w)(\w++)="([^"]*)"')
_TOPIC = re.compile(r"<D>([^<]*)</D>")
_CLOSING = re.compile(r"\sreuter(?:\.|\^M)*\Z", re.IGNORECASE)  # some end with "REUTER..." or "REUTER^M"


_Article = tuple[list[str], str]  # topics and text


class Reuters(Dataset):
    """Reuters-21578, ModApte split, the articles of one topic.

    As in CVDD's release, a topic counts if it occurs in both parts, and an article belongs to the corpus if
    exactly one of its topics counts and is among the seven classes. The text is the title and the body,
    without the dateline and the closing "Reuter". A brief article has only a title: the placeholder for its
    body is left out. The 37 articles without markup keep their datelines.
    """

    name = "reuters"
    classes = ("earn", "acq", "crude", "trade", "money-fx", "interest", "ship")
    source = "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.html"
    licence = "free for research (the terms of Reuters and Carnegie Group)"
    citation = "D. D. Lewis: Reuters-21578 Text Categorization Test Collection. 1997."
    files = (
        RemoteFile(
            "reuters/reuters21578-sgm.tar.gz",
            "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
            sha256="3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
            others=(_REPACKED,),
        ),
    )

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts."""
        train, test = map(self._documents, self.articles())
        return train, test

    def articles(self) -> tuple[list[_Article], list[_Article]]:
        """Return the articles of both parts; each keeps only the topics that occur in both parts."""
        articles = [each for content in _sgml_files(self.files[0].fetch()) for each in _articles(content)]
        train, test = (
            [(topics, text) for part, topics, text in articles if part == wanted] for wanted in _PARTS
        )
        in_train, in_test = ({topic for topics, _ in part for topic in topics} for part in (train, test))
        return _counting(train, in_train & in_test), _counting(test, in_train & in_test)

    def _documents(self, articles: list[_Article]) -> Documents:
        texts, labels = [], []
        for topics, text in articles:
            if len(topics) == 1 and topics[0] in self.classes:
                texts.append(text)
                labels.append(self.classes.index(topics[0]))
        return Documents(texts, labels)


def _counting(articles: list[_Article], topics: set[str]) -> list[_Article]:
    """Return the articles; each keeps only topics in `topics`."""
    return [([topic for topic in own if topic in topics], text) for own, text in articles]


def _sgml_files(path: Path) -> list[str]:
    """Return the content of the 22 SGML files; nothing is extracted to disk."""
    with tarfile.open(path) as archive:
        names = {PurePosixPath(name).name: name for name in archive.getnames()}
        streams = [archive.extractfile(names[name]) for name in _FILES]
        return [stream.read().decode("latin-1") for stream in streams if stream]


def _articles(content: str) -> Iterator[tuple[str, list[str], str]]:
    """Yield the part, the topics and the text of each article of the ModApte split in an SGML file."""
    for article in content.split("</REUTERS>")[:-1]:
        head, _, body = article.partition("<REUTERS ")[2].partition(">")
        facts = dict(_ATTRIBUTE.findall(head))
        if facts["TOPICS"] == "YES" and facts["LEWISSPLIT"] in _PARTS:
            yield facts["LEWISSPLIT"], _TOPIC.findall(_element(body, "TOPICS")), _text(body)


def _element(content: str, name: str, attributes: str = "") -> str:
    """Return the content of the element with exactly these attributes, or an empty string."""
    return content.partition(f"<{name}{attributes}>")[2].partition(f"</{name}>")[0]


def _text(article: str) -> str:
    """Return title and body, without the dateline and the closing "Reuter"."""
    body = html.unescape(_element(article, "BODY") or _element(article, "TEXT", ' TYPE="UNPROC"'))
    for _ in range(2):  # a few articles have two closings
        body = _CLOSING.sub("", body.strip())
    title = html.unescape(_element(article, "TITLE"))
    return f"{title.strip()}\n{body.strip()}".strip()
