"""AG News and 20 Newsgroups; the embedded corpus has its own file."""

import codecs
import hashlib
import os
import pickle
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import fetch_20newsgroups
from sklearn.utils import Bunch

from adbench_text import storage
from adbench_text.cli.main import main
from adbench_text.corpora import corpus
from adbench_text.corpora.corpus import Corpus
from adbench_text.datasets import _pickles, newsgroups20
from adbench_text.datasets.agnews import AGNews
from adbench_text.datasets.newsgroups20 import GROUPS, Newsgroups20
from adbench_text.errors import DataError
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
def ag_news(home) -> Path:
    """A small AG News; returns its folder."""
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
    for part in ("train", "test"):
        server.answers[f"/{part}.csv"] = CSV.encode()
        digest = hashlib.md5(CSV.encode()).hexdigest()
        remote = RemoteFile(f"agnews/{part}.csv", f"{server.url}/{part}.csv", digest)
        monkeypatch.setattr(AGNews, f"{part}_file", remote)


def test_ag_news_is_downloaded_and_published_only_if_both_files_are(served, home, server):
    editions = [corpus.load(AGNews()).edition]
    assert editions == ["published"]
    assert server.asked == ["/train.csv", "/test.csv"]
    assert files_in(home) == ["agnews", "agnews/test.csv", "agnews/train.csv"]
    for part in ("train.csv", "test.csv"):
        path = home / "agnews" / part
        path.write_bytes(CSV.encode() + ROW["sci"].encode())
        digest = hashlib.md5(path.read_bytes()).hexdigest()[:8]
        edition = AGNews().edition()
        assert edition.name == f"not the published files: {part} {digest}"
        editions.append(edition.digest)
        path.write_bytes(CSV.encode())
    assert len(set(editions)) == 3


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


@pytest.mark.parametrize("change", [lambda s: s.replace("\r\n", "\n"), str.rstrip, lambda s: "\ufeff" + s])
def test_ag_news_may_have_other_line_ends_or_a_byte_order_mark(ag_news, change):
    expected = AGNews().read()[0]
    (ag_news / "train.csv").write_bytes(change(CSV).encode())
    read = AGNews().read()[0]
    assert read.texts == expected.texts
    np.testing.assert_array_equal(read.labels, expected.labels)


DAMAGED = {
    "a wrong label": (CSV + '"5","a","b"\r\n', 5),
    "a header": ('"Class Index","Title","Description"\r\n' + CSV, 1),
    "a missing column": (CSV + '"3","a"\r\n' + CSV, 5),
    "cut within a text": (CSV[:-10], 4),
    "bad UTF-8": (CSV.encode() + '"1","Zürich","b"\r\n'.encode("latin-1"), None),
    "UTF-16": (CSV.encode("utf-16"), None),
    "NUL bytes in a text": (CSV + '"1","a","b\0c"\r\n', 5),
    "a quote too many": (CSV + '"1","a" b","c"\r\n' + CSV, 5),
    "a text without end": ('"1","' + "a" * 200_000 + '","b"\r\n', 1),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_ag_news_file_is_one_line_that_names_the_place(ag_news, what):
    content, line = DAMAGED[what]
    part = "test.csv" if line == 1 else "train.csv"
    (ag_news / part).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        load_ag_news()
    message = str(caught.value)
    assert message.startswith(f"{ag_news / part}, line {line or ''}")
    assert message.endswith("delete it and run adbench-text fetch agnews.")
    assert "\n" not in message
    assert not (storage.cache_dir() / "corpora").exists()


# -- 20 Newsgroups

HEADERS = "From: x@y.z (X)\nSubject: ships\n\n"


def posts(word: str, groups: list[str] = ALL_GROUPS) -> Bunch:
    texts = [f"{HEADERS}In article <1@x> y writes:\n> quoted\n{word} about {group[-5:]}" for group in groups]
    return Bunch(data=texts, target=np.arange(len(groups)), target_names=groups, filenames=np.array(groups))


def pack(train: object, test: object) -> bytes:
    """As scikit-learn keeps 20 Newsgroups."""
    return codecs.encode(pickle.dumps({"train": train, "test": test}), "zlib_codec")


PACKED = pack(posts("harbour"), posts("anchor"))


@pytest.fixture
def pkz(home) -> Path:
    """A small 20 Newsgroups; returns its file."""
    path = home / "20news" / "20news-bydate_py3.pkz"
    path.parent.mkdir(parents=True)
    path.write_bytes(PACKED)
    return path


def load_20news() -> Corpus:
    return corpus.load(Newsgroups20())


@pytest.mark.parametrize("protocol", [3, 5])
def test_20news_is_read_without_headers_and_quotes_in_six_classes(pkz, protocol):
    parts = {"train": posts("harbour"), "test": posts("anchor")}
    pkz.write_bytes(zlib.compress(pickle.dumps(parts, protocol)))
    train, test = Newsgroups20().read()
    assert train.texts[0] == f"harbour about {ALL_GROUPS[0][-5:]}"
    assert test.texts[0].startswith("anchor ")
    for group, label in zip(ALL_GROUPS, train.labels, strict=True):
        assert group in GROUPS[Newsgroups20.classes[label]]
    assert np.bincount(train.labels).tolist() == [5, 4, 4, 1, 3, 3]
    assert len(ALL_GROUPS) == 20


def test_an_own_edition_of_20news_is_not_published(pkz):
    first = Newsgroups20().edition()
    assert re.fullmatch("not the published posts: 40 posts [0-9a-f]{8}", first.name)
    pkz.write_bytes(pack(posts("anchor"), posts("harbour")))  # the parts exchanged
    assert Newsgroups20().edition().digest != first.digest
    pkz.write_bytes(pack(posts("harbour"), posts("anchor", ALL_GROUPS[:-1])))
    assert Newsgroups20().edition().name.startswith("not the published posts: 39 posts ")
    pkz.write_bytes(pack(posts("harbour", ALL_GROUPS[::-1]), posts("anchor")))  # in another order
    assert Newsgroups20().edition() == first


DAMAGED_PKZ = {
    "truncated": PACKED[: len(PACKED) // 2],
    "no pickle": zlib.compress(b"no pickle"),
    "a pickle cut short": zlib.compress(pickle.dumps({"train": posts("a")})[:-20]),
    "without test": zlib.compress(pickle.dumps({"train": posts("a")})),
    "targets without names": pack(posts("a"), Bunch(data=["a"], target=[7], target_names=["sci.med"])),
    "a pickle of a missing module": zlib.compress(b"cnowhere\nNothing\n."),
}


@pytest.mark.parametrize("what", DAMAGED_PKZ)
def test_a_damaged_20news_is_one_line_that_says_what_to_do(pkz, what, capsys):
    pkz.write_bytes(DAMAGED_PKZ[what])
    with pytest.raises(DataError) as caught:
        load_20news()
    message = str(caught.value)
    assert message.startswith(f"Cannot read {pkz}: ")
    assert message.endswith("delete it and run adbench-text fetch 20news.")
    assert "\n" not in message
    assert ": . " not in message  # there is a reason
    assert capsys.readouterr().out == ""
    assert pkz.read_bytes() == DAMAGED_PKZ[what]
    assert not (storage.cache_dir() / "corpora").exists()


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, call: object, *arguments: object) -> None:
        self.call = call, arguments

    def __reduce__(self) -> object:
        return self.call


@pytest.mark.parametrize("protocol", [0, 5])
def test_a_20news_file_that_names_code_does_not_run_it(pkz, tmp_path, protocol):
    marker = tmp_path / "marker"
    hostile = {"train": Hostile(os.system, f"touch {marker}"), "test": posts("a")}
    pkz.write_bytes(zlib.compress(pickle.dumps(hostile, protocol)))
    for ask in (Newsgroups20().edition, Newsgroups20().read):
        with pytest.raises(DataError, match=r"it holds (posix|nt)\.system, which is no part of an array"):
            ask()
    result = CliRunner().invoke(main, ["--offline", "fetch", "20news"])
    assert result.exit_code == 1
    assert result.output.count("\n") == 1
    assert not marker.exists()


def test_arrays_of_a_20news_file_are_not_numpys(pkz):
    # numpy takes the state of a type and of an array on trust, with addresses in it
    hostile = posts("a") | {"target": Hostile(np.ndarray, (10**15,))}
    pkz.write_bytes(pack(hostile, posts("b")))
    with pytest.raises(DataError, match="Cannot read"):
        Newsgroups20().read()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x80\x04" + b"0" * 10**6, "more than 0 MiB"),
        (b"\x80\x04" + b"]" * 5000 + b".", "more than 1,000 objects"),
        (b"\x80\x04]r\xff\xff\xff\x7f.", "more than 1,000 objects"),  # a table of two thousand million places
    ],
    ids=["bytes", "objects", "memo"],
)
def test_a_20news_file_cannot_fill_the_memory(pkz, monkeypatch, content, reason):
    monkeypatch.setattr(_pickles, "MOST_BYTES", 10**5)
    monkeypatch.setattr(_pickles, "MOST_OPERATIONS", 1000)
    pkz.write_bytes(zlib.compress(content))
    with pytest.raises(DataError, match=reason):
        Newsgroups20().read()


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
    posts = zip(*newsgroups20._posts("test"), strict=True)
    assert [newsgroups20._body(post) for post, group in posts if group == "sci.med"] == expected.data


@pytest.mark.parametrize("is_folder", [False, True])
def test_missing_20news_is_one_line_offline(home, monkeypatch, is_folder):
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", "1")
    if is_folder:
        (home / "20news" / "20news-bydate_py3.pkz").mkdir(parents=True)
    message = r"pkz is missing and downloads are off\. Copy .* without --offline\.$"
    with pytest.raises(DataError, match=message):
        load_20news()


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ([*ALL_GROUPS, "alt.folklore"], r"20news-bydate_py3\.pkz has .* unknown newsgroup: alt\.folklore\."),
        (
            [group for group in ALL_GROUPS if group != "misc.forsale"],
            "Class 'misc' of 20news has no test doc",
        ),
    ],
)
def test_posts_of_other_groups_are_refused(pkz, groups, problem):
    pkz.write_bytes(pack(posts("a"), posts("b", groups)))
    with pytest.raises(DataError, match=problem):
        load_20news()


def fake_download(monkeypatch, ending: BaseException | None) -> None:
    """Let scikit-learn write its file, or leave half of its archive and fail."""

    def fetch(data_home):
        name = "20news-bydate_py3.pkz" if ending is None else "20news_home"
        (Path(data_home) / name).write_bytes(PACKED)
        if ending:
            raise ending

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)


def test_missing_20news_is_downloaded_once(home, monkeypatch):
    fake_download(monkeypatch, None)
    loaded = load_20news()
    assert loaded.train.texts[0].split()[0] == "harbour"
    fake_download(monkeypatch, OSError("downloaded again"))
    assert load_20news().digest == loaded.digest
    assert files_in(home) == ["20news", "20news/20news-bydate_py3.pkz"]


@pytest.mark.parametrize("error", [OSError("the checksum\ndiffers"), RuntimeError()])
def test_a_failed_download_of_20news_is_one_line_and_leaves_nothing(home, monkeypatch, error):
    fake_download(monkeypatch, error)
    with pytest.raises(DataError) as caught:
        load_20news()
    reason = "the checksum differs" if isinstance(error, OSError) else "RuntimeError"
    assert str(caught.value).startswith(f"Could not download 20 Newsgroups: {reason}. Copy ")
    assert str(caught.value).endswith(f"scikit-learn data folder to {home / '20news'}.")
    assert files_in(home) == ["20news"]


def test_an_interrupted_download_of_20news_leaves_nothing(home, monkeypatch):
    fake_download(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        load_20news()
    assert files_in(home) == ["20news"]


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
    if digest == AGNews.train_file.md5:
        assert loaded.edition == "published"
        assert {train for train, _ in counted(loaded).values()} == {30_000}
    else:
        assert loaded.edition == f"not the published files: train.csv {digest[:8]}"
    if digest.startswith("8b59482d"):  # the rows of ../shared/data
        assert [train for train, _ in counted(loaded).values()] == [13_207, 13_251, 13_383, 13_368]
