"""Reuters-21578, as a small archive of our own and as the real one."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from adbench_text import storage
from adbench_text.corpora import corpus
from adbench_text.datasets import reuters
from adbench_text.datasets.reuters import Reuters
from adbench_text.errors import DataError
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


def pack(files: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    """Pack files; the one of the number 3 may be a link or a device."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            if name == NAMES[3] and kind != tarfile.REGTYPE:
                info.type, info.linkname, content = kind, "/etc/passwd", b""
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


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
    return pack(corpus_files() | {NAMES[20]: sgml(*articles)})


PACKED = pack(corpus_files())


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


# Editions


def test_an_own_edition_is_identified_by_its_content_however_it_is_packed(archive):
    first = Reuters().edition()
    assert first.name == f"not the published archive: 22 SGML files {first.digest[:8]}"
    assert not first.is_published
    files = {"README.txt": b"read me", **{f"./sgm/{n}": c for n, c in reversed(corpus_files().items())}}
    archive.write_bytes(pack(files))
    assert Reuters().edition() == first
    archive.write_bytes(with_articles(article("acq", story("T", "b"))))
    assert Reuters().edition().digest != first.digest


def test_the_published_archive_is_downloaded_and_read_in_seven_classes(home, server, monkeypatch):
    server.answers["/reuters.tar.gz"] = PACKED
    digest = hashlib.sha256(PACKED).hexdigest()
    remote = RemoteFile("reuters/reuters21578-sgm.tar.gz", f"{server.url}/reuters.tar.gz", sha256=digest)
    monkeypatch.setattr(Reuters, "archive", remote)
    for part in Reuters().read():
        assert part.labels.tolist() == list(range(7))
        assert part.texts == [f"{topic} news\nharbour" for topic in Reuters.classes]
    assert Reuters().edition() == reuters.Edition("published", digest, is_published=True)


# Damage


def with_holes() -> bytes:
    """A GNU sparse file that claims to have a million times a million bytes."""
    header = bytearray(tarfile.TarInfo(NAMES[0]).tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[483:495] = b"%011o\0" % 2**32
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return gzip.compress(bytes(header) + bytes(1024))


DAMAGED = {
    "empty": (b"", ""),
    "truncated": (PACKED[: len(PACKED) // 2], "EOFError"),
    "a web page": (b"<html>not found</html>", "BadGzipFile"),
    "a cut archive": (gzip.compress(gzip.decompress(PACKED)[:10_000]), ""),
    "a missing file": (
        pack({n: c for n, c in corpus_files().items() if n != NAMES[5]}),
        "it has no reut2-005",
    ),
    "a file twice": (
        pack({f"{folder}/{n}": c for folder in "ab" for n, c in corpus_files().items()}),
        "it has reut2-000.sgm twice",
    ),
    "a symbolic link": (pack(corpus_files(), tarfile.SYMTYPE), "reut2-003.sgm is not a plain file"),
    "a hard link": (pack(corpus_files(), tarfile.LNKTYPE), "reut2-003.sgm is not a plain file"),
    "a file with holes": (with_holes(), "reut2-000.sgm is not a plain file"),
    "cut within an article": (
        with_articles(article("acq", "a"), article("acq", "b")[:-20]),
        "reut2-020.sgm: it ends within an article",
    ),
    "an article without split": (
        with_articles(article("acq", "a").replace("LEWISSPLIT", "SPLIT")),
        "reut2-020.sgm: an article has no LEWISSPLIT",
    ),
    "a number too long": (
        with_articles(article("acq", story("T", f"&#{'9' * 5000};"))),
        "reut2-020.sgm: Exceeds the limit",
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_archive_is_one_line_that_names_the_remedy(archive, case, capsys):
    content, reason = DAMAGED[case]
    archive.write_bytes(content)
    with pytest.raises(DataError) as caught:
        corpus.load(Reuters())
    message = str(caught.value)
    assert message.startswith(f"Cannot read {archive}: {reason}")
    assert message.endswith("delete it and run adbench-text fetch reuters.")
    assert "\n" not in message
    assert ": . " not in message  # there is a reason
    assert capsys.readouterr().out == ""
    assert not (storage.cache_dir() / "corpora").exists()


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("_MOST_BYTES", 2**20, "unpacked it has more than 1 MiB"),
        ("_MOST_BYTES_OF_FILE", 2**20, "reut2-007.sgm has more than 1 MiB"),
        ("_MOST_MEMBERS", 10, "it has more than 10 files"),
    ],
)
def test_an_archive_cannot_fill_the_memory(archive, monkeypatch, limit, value, reason):
    monkeypatch.setattr(reuters, limit, value)
    archive.write_bytes(pack(corpus_files() | {NAMES[7]: bytes(3 * 2**20)}))
    with pytest.raises(DataError, match=reason):
        Reuters().read()


def test_paths_of_an_archive_are_not_followed(archive, tmp_path):
    files = {f"../../{name}": content for name, content in corpus_files().items()}
    archive.write_bytes(pack(files | {f"{tmp_path}/marker": b"x"}))
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
