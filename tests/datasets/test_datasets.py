"""AG News and 20 Newsgroups; the embedded corpus has its own file."""

import hashlib
import pickle
import re
import tarfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from archives import Hostile, packed
from click.testing import CliRunner
from sklearn.datasets import fetch_20newsgroups
from sklearn.utils import Bunch

from adbench_text.cli.main import main
from adbench_text.corpora import corpus
from adbench_text.corpora.corpus import Corpus
from adbench_text.datasets import newsgroups20
from adbench_text.datasets.agnews import AGNews
from adbench_text.datasets.newsgroups20 import GROUPS, Newsgroups20
from adbench_text.errors import DataError, NotDownloadedError
from adbench_text.storage import RemoteFile

ALL_GROUPS = sorted(group for groups in GROUPS.values() for group in groups)


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# -- AG News

ROW = {
    "world": '"1","Summit ends","Leaders of ""nine"" nations met, again."\r\n',
    "sports": '"2","","A title and a text in one column"\r\n',
    "business": '"3","Oil & quot;prices#39; rise","Crude \\ rose\\in trade"\r\n',
    "sci": '"4","Sonde","Zürich – naïve façade"\r\n',
}
CSV = "".join(ROW.values())


@pytest.fixture
def ag_news(home, any_file) -> Path:
    """A small AG News, which is taken for the published one; returns its folder."""
    folder = home / "agnews"
    folder.mkdir(parents=True)
    for name in ("train.csv", "test.csv"):
        (folder / name).write_bytes(CSV.encode())
    return folder


def load_ag_news() -> Corpus:
    return corpus.load(AGNews())


@pytest.fixture
def served(home, server, monkeypatch) -> None:
    """AG News comes from the server; its published files are CSV."""
    digest = hashlib.md5(CSV.encode()).hexdigest()
    server.answers |= {f"/{part}.csv": CSV.encode() for part in ("train", "test")}
    files = [
        RemoteFile(f"agnews/{part}.csv", f"{server.url}/{part}.csv", digest) for part in ("train", "test")
    ]
    monkeypatch.setattr(AGNews, "files", tuple(files))


def test_ag_news_is_downloaded_and_published_only_if_both_files_are(served, home, server, monkeypatch):
    editions = [corpus.load(AGNews()).edition]
    assert editions == ["published"]
    assert server.asked == ["/train.csv", "/test.csv"]
    assert files_in(home) == ["agnews", "agnews/test.csv", "agnews/train.csv"]
    files = AGNews.files
    for number, part in enumerate(("train", "test")):
        path = home / "agnews" / f"{part}.csv"
        path.write_bytes(CSV.encode() + ROW["sci"].encode())
        digest = hashlib.md5(path.read_bytes()).hexdigest()
        with pytest.raises(DataError, match=rf"^{re.escape(str(path))} .*md5 .* {digest}, "):
            AGNews().read()
        known = [replace(file, others=(digest,) if file is files[number] else ()) for file in files]
        monkeypatch.setattr(AGNews, "files", tuple(known))
        edition = AGNews().edition()
        assert edition.name.endswith(f": {part}.csv {digest[:8]}")
        assert not edition.is_published
        editions.append(edition.digest)
        path.write_bytes(CSV.encode())
    assert len(set(editions)) == 3


def test_files_with_the_beginning_of_a_digest_are_published(served, monkeypatch):
    files = [replace(file, md5=file.md5[:16]) for file in AGNews.files]
    monkeypatch.setattr(AGNews, "files", tuple(files))
    assert AGNews().edition().is_published


def test_ag_news_joins_title_and_description(ag_news):
    train, test = AGNews().read()
    assert (
        train.texts
        == test.texts
        == [
            'Summit ends Leaders of "nine" nations met, again.',
            "A title and a text in one column",
            "Oil & quot;prices#39; rise Crude \\ rose\\in trade",
            "Sonde Zürich – naïve façade",
        ]
    )
    assert train.labels.tolist() == [0, 1, 2, 3]
    assert [AGNews.classes[label] for label in train.labels] == list(ROW)
    assert load_ag_news().train.texts[2] == "oil quot prices rise crude rose trade"  # HTML leftovers stay


# -- 20 Newsgroups

HEADERS = "From: x@y.z (X)\nSubject: ships\n\n"


def post(word: str, group: str) -> str:
    return f"{HEADERS}In article <1@x> y writes:\n> quoted\n{word} about {group[-5:]}"


def posts(word: str) -> Bunch:
    texts = [post(word, group) for group in ALL_GROUPS]
    return Bunch(data=texts, target=np.arange(len(ALL_GROUPS)), target_names=ALL_GROUPS)


@pytest.fixture
def served_20news(home, server, monkeypatch) -> None:
    """A small 20 Newsgroups comes from the server, as an archive."""
    files = {
        f"20news-bydate-{part}/{group}/1": post(word, group).encode()
        for part, word in (("train", "harbour"), ("test", "anchor"))
        for group in ALL_GROUPS
    }
    server.answers["/20news.tar.gz"] = content = packed(files)
    remote = RemoteFile(
        "20news/20news.tar.gz", f"{server.url}/20news.tar.gz", sha256=hashlib.sha256(content).hexdigest()
    )
    monkeypatch.setattr(newsgroups20, "_ARCHIVE", remote)


def is_sound(dataset: Newsgroups20) -> bool:
    train, test = dataset.read()
    assert sorted(train.texts)[0] == f"harbour about {sorted(group[-5:] for group in ALL_GROUPS)[0]}"
    assert all(text.startswith("anchor ") for text in test.texts)
    assert np.bincount(train.labels).tolist() == [5, 4, 4, 1, 3, 3]
    return len(ALL_GROUPS) == 20


@pytest.fixture(params=["filter", "no filter"])
def archives(request, monkeypatch):
    """Archives as they are, and as in the first releases of Python 3.11, which have no filter."""
    if request.param == "no filter":
        extract = tarfile.TarFile.extractall
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
        monkeypatch.setattr(tarfile.TarFile, "extractall", lambda self, path: extract(self, path))


@pytest.mark.usefixtures("served_20news", "archives")
def test_20news_is_downloaded_once_and_read_without_headers_in_six_classes(home, server):
    assert Newsgroups20().edition().is_published
    assert is_sound(Newsgroups20())
    assert server.asked == ["/20news.tar.gz"]
    assert files_in(home) == ["20news", "20news/20news.tar.gz"]


def test_scikit_learns_copy_of_20news_comes_first(home, monkeypatch):
    content = zlib.compress(pickle.dumps({"train": posts("harbour"), "test": posts("anchor")}))
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(newsgroups20, "_COPY", replace(newsgroups20._COPY, sha256=digest))
    newsgroups20._COPY.local.parent.mkdir(parents=True)
    newsgroups20._COPY.local.write_bytes(content)
    assert is_sound(Newsgroups20())


def test_another_pickle_of_20news_is_not_loaded(home, tmp_path):
    file = newsgroups20._COPY.local
    file.parent.mkdir(parents=True)
    file.write_bytes(zlib.compress(pickle.dumps(Hostile(f"touch {tmp_path / 'marker'}"))))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    for ask in (Newsgroups20().edition, Newsgroups20().read):
        with pytest.raises(DataError, match=rf"^{re.escape(str(file))} .*sha256 .*{digest}, "):
            ask()
    result = CliRunner().invoke(main, ["--offline", "fetch", "20news"])
    assert result.exit_code == 1
    assert result.output.count("\n") == 1
    assert not (tmp_path / "marker").exists()


def test_the_published_20news_is_read_as_scikit_learn_reads_it(data_dir, monkeypatch):
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
    expected = fetch_20newsgroups(
        data_home=data_dir / "20news",
        subset="test",
        categories=["sci.med"],
        remove=("headers", "footers", "quotes"),
        shuffle=False,
        download_if_missing=False,
    )
    _, test = Newsgroups20().posts()
    assert [post for post, group in zip(*test, strict=True) if group == "sci.med"] == expected.data


def test_missing_20news_is_one_line_offline(home, monkeypatch):
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", "1")
    with pytest.raises(NotDownloadedError, match=r"tar\.gz .*https?://.* --offline\.$"):
        corpus.load(Newsgroups20())


# -- real data


def counted(loaded: Corpus) -> dict[str, tuple[int, int]]:
    train, test = (np.bincount(part.labels).tolist() for part in (loaded.train, loaded.test))
    return dict(zip(loaded.classes, zip(train, test, strict=True), strict=True))


def test_20news_has_the_documents_of_the_papers(real_corpus):
    loaded = real_corpus("20news")
    assert loaded.edition == "published"
    assert counted(loaded) == {
        "comp": (2857, 1909),
        "rec": (2301, 1524),
        "sci": (2311, 1520),
        "misc": (577, 382),
        "pol": (1531, 1025),
        "rel": (1419, 939),
    }


def test_ag_news_is_published_or_says_that_it_is_not(real_corpus, data_dir):
    loaded = real_corpus("agnews")
    assert {test for _, test in counted(loaded).values()} == {1900}
    digest = hashlib.md5((data_dir / "agnews/train.csv").read_bytes()).hexdigest()
    if digest == AGNews.files[0].md5:
        assert loaded.edition == "published"
        assert {train for train, _ in counted(loaded).values()} == {30_000}
    else:
        assert loaded.edition.endswith(f": train.csv {digest[:8]}")
        assert not loaded.is_published
    if digest.startswith("8b59482d"):  # the rows of ../shared/data
        assert [train for train, _ in counted(loaded).values()] == [13_207, 13_251, 13_383, 13_368]
