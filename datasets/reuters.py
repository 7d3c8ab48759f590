"""Reuters-21578: newswire articles of 1987 in seven classes, the second corpus of CVDD's paper."""

import gzip
import html
import io
import re
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import ClassVar, NamedTuple

import numpy as np

from adbench_text.plugins.dataset import Dataset, Documents, Edition
from adbench_text.storage import RemoteFile, file_digest, reading

_FILES = tuple(f"reut2-{number:03}.sgm" for number in range(22))
_PARTS = ("TRAIN", "TEST")  # the ModApte split: LEWISSPLIT, of the articles with TOPICS="YES"

_MOST_BYTES = 64 * 2**20  # of the unpacked archive; the published one has 28 MB
_MOST_BYTES_OF_FILE = 4 * 2**20  # the largest one has 1.5 MB
_MOST_MEMBERS = 100  # the published archive has 30

_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TOPIC = re.compile(r"<D>([^<]*)</D>")
_CLOSING = re.compile(r"\sreuter(?:\.|\^M)*\Z", re.IGNORECASE)  # some end with "REUTER..." or "REUTER^M"


class _Article(NamedTuple):
    """An article of the ModApte split; `topics` are all that are assigned to it."""

    part: str
    topics: list[str]
    text: str


class Reuters(Dataset):
    """Reuters-21578, ModApte split, the articles of one topic.

    As in CVDD's release, a topic counts if it occurs in both parts, and an article belongs to the corpus if
    exactly one of its topics counts and is among the seven classes. The text is title and body, without the
    dateline and the closing "Reuter". A brief article is its title: the placeholder that stands for its body
    is left out. The 37 articles without markup are read as they are, with their datelines.
    """

    name: ClassVar[str] = "reuters"
    classes: ClassVar[tuple[str, ...]] = ("earn", "acq", "crude", "trade", "money-fx", "interest", "ship")
    source: ClassVar[str] = "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.html"
    licence: ClassVar[str] = "free for research (the terms of Reuters and Carnegie Group)"
    citation: ClassVar[str] = "D. D. Lewis: Reuters-21578 Text Categorization Test Collection. 1997."
    archive: ClassVar[RemoteFile] = RemoteFile(
        "reuters/reuters21578-sgm.tar.gz",
        "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
        sha256="3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
    )

    def edition(self) -> Edition:
        """Return ``published`` if the archive is the published one.

        Another archive is identified by its SGML files, however they are packed.
        """
        path = self.archive.fetch()
        if (digest := file_digest(path)) == self.archive.sha256:
            return Edition("published", digest, is_published=True)
        digests = [sha256(content).hexdigest() for content in _sgml_files(path)]
        digest = sha256("".join(digests).encode()).hexdigest()
        return Edition(f"not the published archive: {len(digests)} SGML files {digest[:8]}", digest)

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts; raise DataError if the archive is damaged."""
        train, test = map(self._documents, self.articles())
        return train, test

    def articles(self) -> tuple[list[tuple[list[str], str]], list[tuple[list[str], str]]]:
        """Return the topics that count, and the text, of each article: of the training and the test part."""
        path = self.archive.fetch()
        articles: list[_Article] = []
        for name, content in zip(_FILES, _sgml_files(path), strict=True):
            with reading(path, self.name):
                try:
                    articles += _articles(content)
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from error
        train, test = ([article for article in articles if article.part == part] for part in _PARTS)
        topics = {t for article in train for t in article.topics}
        topics &= {t for article in test for t in article.topics}
        return _counting(train, topics), _counting(test, topics)

    def _documents(self, articles: list[tuple[list[str], str]]) -> Documents:
        texts, labels = [], []
        for topics, text in articles:
            if len(topics) == 1 and topics[0] in self.classes:
                texts.append(text)
                labels.append(self.classes.index(topics[0]))
        return Documents(texts, np.array(labels, dtype=np.int64))


def _counting(articles: list[_Article], topics: set[str]) -> list[tuple[list[str], str]]:
    """Return the topics that count, and the text, of each article."""
    return [([topic for topic in article.topics if topic in topics], article.text) for article in articles]


def _sgml_files(path: Path) -> list[bytes]:
    """Return the content of the 22 SGML files; nothing is extracted to disk."""
    with reading(path, Reuters.name):
        with gzip.open(path) as stream:
            data = stream.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"unpacked it has more than {_MOST_BYTES // 2**20} MiB")
        contents = _members(data)
        if missing := [name for name in _FILES if name not in contents]:
            raise ValueError(f"it has no {missing[0]}")
    return [contents[name] for name in _FILES]


def _members(data: bytes) -> dict[str, bytes]:
    """Return the SGML files of a tar archive by name, without their folders."""
    contents: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for count, member in enumerate(archive, 1):
            if count > _MOST_MEMBERS:
                raise ValueError(f"it has more than {_MOST_MEMBERS} files")
            name = PurePosixPath(member.name).name
            if name not in _FILES:
                continue
            if name in contents:
                raise ValueError(f"it has {name} twice")
            stream = archive.extractfile(member) if member.isreg() and not member.issparse() else None
            if stream is None:  # a link, a device, or a file with holes, which may have any size
                raise ValueError(f"{name} is not a plain file")
            if member.size > _MOST_BYTES_OF_FILE:
                raise ValueError(f"{name} has more than {_MOST_BYTES_OF_FILE // 2**20} MiB")
            contents[name] = stream.read()
    return contents


def _articles(content: bytes) -> Iterator[_Article]:
    """Yield the articles of the ModApte split in an SGML file."""
    *articles, rest = content.decode("latin-1").split("</REUTERS>")
    if not articles or "<REUTERS" in rest:
        raise ValueError("it ends within an article")
    for article in articles:
        _, start, article = article.partition("<REUTERS ")
        head, end, body = article.partition(">")
        facts = dict(_ATTRIBUTE.findall(head))
        if not (start and end) or not {"LEWISSPLIT", "TOPICS"} <= facts.keys():
            raise ValueError("an article has no LEWISSPLIT or no TOPICS")
        if facts["TOPICS"] == "YES" and facts["LEWISSPLIT"] in _PARTS:
            yield _Article(facts["LEWISSPLIT"], _TOPIC.findall(_element(body, "TOPICS")), _text(body))


def _element(content: str, name: str, attributes: str = "") -> str:
    """Return the content of an element with exactly these attributes; empty if there is none."""
    return content.partition(f"<{name}{attributes}>")[2].partition(f"</{name}>")[0]


def _text(article: str) -> str:
    """Return title and body, without the dateline and the closing "Reuter"."""
    body = html.unescape(_element(article, "BODY") or _element(article, "TEXT", ' TYPE="UNPROC"'))
    for _ in range(2):  # a few articles close twice
        body = _CLOSING.sub("", body.strip())
    title = html.unescape(_element(article, "TITLE"))
    return f"{title.strip()}\n{body.strip()}".strip()
