"""Reuters-21578, as a small archive of our own and as the real one."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from archives import packed

from adbench_text.contract.dataset import Edition
from adbench_text.datasets.reuters import Reuters
from adbench_text.storage import RemoteFile

NAMES = [f"reut2-{number:03}.sgm" for number in range(22)]


def article(topics: str, text: str, part: str = "TRAIN", is_used: str = "YES", kind: str = "") -> str:
    assigned = "".join(f"<D>{topic}</D>" for topic in topics.split())
    return (
        f'<REUTERS TOPICS="{is_used}" LEWISSPLIT="{part}" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="1">\n'
        f"<DATE>26-FEB-1987</DATE><TOPICS>{assigned}</TOPICS><PLACES><D>usa</D></PLACES>"
        f"<UNKNOWN>&#5;&#22;f0704</UNKNOWN>\n<TEXT{kind}>&#2;\n{text}\n&#3;</TEXT>\n</REUTERS>\n"
    )


def story(title: str, body: str) -> str:
    dateline = "<DATELINE>    SALVADOR, Feb 26 - </DATELINE>"
    return f"<TITLE>{title}</TITLE>\n{dateline}<BODY>{body}\n Reuter\n&#3;</BODY>"


def sgml(*articles: str) -> bytes:
    return ('<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + "".join(articles)).encode("latin-1")


def corpus_files() -> dict[str, bytes]:
    """An article of each class in both parts, in 22 files."""
    files = dict.fromkeys(NAMES, sgml(article("", "nothing", is_used="NO")))
    for number, topic in enumerate(Reuters.classes):
        pair = [article(topic, story(f"{topic} news", "harbour"), part) for part in ("TRAIN", "TEST")]
        files[NAMES[number]] = sgml(*pair)
    return files


def with_articles(*articles: str) -> bytes:
    return packed(corpus_files() | {NAMES[20]: sgml(*articles)})


PACKED = packed(corpus_files())


pytestmark = pytest.mark.usefixtures("any_file")


@pytest.fixture
def archive(home) -> Path:
    """A small Reuters-21578; returns its file."""
    path = home / "reuters" / "reuters21578-sgm.tar.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(PACKED)
    return path


def texts_of(archive: Path, *articles: str) -> list[str]:
    """Return the training texts that are added to those of the small archive."""
    archive.write_bytes(with_articles(*articles))
    return Reuters().read()[0].texts[7:]


def test_a_text_has_no_dateline_no_control_characters_and_no_closing(archive):
    closings = ["\n Reuter", "\nREUTER...^M", " REUTER\nReuter", "\n reuter"]
    expected = "A & B <AB> BUYS C\nprofit\x9f rose"
    stories = [story("A &amp; B &lt;AB> BUYS C", f"&#127;profit\x9f rose{closing}") for closing in closings]
    articles = [article("acq", text.replace("\n Reuter\n&#3;", "")) for text in stories]
    assert texts_of(archive, *articles) == [expected] * len(closings)
    body = "He told Reuter\nthat it was so. They told Reuters"
    assert texts_of(archive, article("acq", story("T", body))) == [f"T\n{body}"]


def test_a_brief_article_is_its_title_and_one_without_markup_its_text(archive):
    brief = article("earn", "******<TITLE>QTR NET\n</TITLE>Blah blah blah.", kind=' TYPE="BRIEF"')
    plain = article("earn", "YEAR NET\n    Loss 2 dlrs\n Reuter", kind=' TYPE="UNPROC"')
    assert texts_of(archive, brief, plain) == ["QTR NET", "YEAR NET\n    Loss 2 dlrs"]


def test_only_articles_of_the_modapte_split_are_read(archive):
    others = [("TRAIN", "NO"), ("TRAIN", "BYPASS"), ("NOT-USED", "YES"), ("TEST", "NO")]
    assert texts_of(archive, *(article("acq", story("T", "b"), part, used) for part, used in others)) == []


@pytest.mark.parametrize(
    ("topics", "is_read"),
    [("acq", True), ("acq earn", False), ("acq rare", True), ("acq wheat", False), ("", False)],
)
def test_an_article_has_one_topic_among_those_of_both_parts(archive, topics, is_read):
    wheat = [article("wheat", story("W", "w"), part) for part in ("TRAIN", "TEST")]
    texts = texts_of(archive, article(topics, story("T", "b")), article("rare", story("R", "r")), *wheat)
    assert texts == (["T\nb"] if is_read else [])


def test_the_published_archive_is_downloaded_and_read_in_seven_classes(home, server, monkeypatch):
    server.answers["/reuters.tar.gz"] = PACKED
    digest = hashlib.sha256(PACKED).hexdigest()
    remote = RemoteFile("reuters/reuters21578-sgm.tar.gz", f"{server.url}/reuters.tar.gz", sha256=digest)
    monkeypatch.setattr(Reuters, "files", (remote,))
    for part in Reuters().read():
        assert part.labels.tolist() == list(range(7))
        assert part.texts == [f"{topic} news\nharbour" for topic in Reuters.classes]
    assert Reuters().edition() == Edition("published", digest[:16], is_published=True)


def test_nothing_of_an_archive_is_extracted(archive, tmp_path):
    files = {f"../../{name}": content for name, content in corpus_files().items()}
    archive.write_bytes(packed(files | {f"{tmp_path}/marker": b"x"}))
    assert len(Reuters().read()[0]) == 7
    assert not list(tmp_path.rglob("marker")) + list(tmp_path.rglob("*.sgm"))


# The real corpus


def test_reuters_has_the_documents_of_the_modapte_split(real_corpus):
    loaded = real_corpus("reuters")
    for part, counts in (
        (loaded.train, [2840, 1596, 253, 251, 222, 191, 108]),
        (loaded.test, [1083, 696, 121, 75, 87, 81, 36]),
    ):
        assert np.bincount(part.labels).tolist() == counts
        assert not [text for text in part.texts if "blah" in text]
        assert sum(text.endswith(" reuter") for text in part.texts) <= 1  # "REUTER N"
