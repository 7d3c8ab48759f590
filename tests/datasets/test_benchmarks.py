"""The corpora of other benchmarks: NLP-ADBench, TAD-Bench and Text-ADBench."""

import hashlib
import io
import json
import pickle
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from archives import Hostile, packed
from click.testing import CliRunner
from sklearn.utils import Bunch

from adbench_text.cli.main import main
from adbench_text.contract.dataset import Documents, Edition, Redraw
from adbench_text.corpora.corpus import cleaned
from adbench_text.datasets import _sms, tad, textad
from adbench_text.datasets.newsgroups20 import GROUPS
from adbench_text.errors import DataError
from adbench_text.plugins import registry

FAMILIES = ("nlpad", "tad", "textad")
NAMES = [name for name in registry.names("datasets") if name.partition("-")[0] in FAMILIES]


def labelled(documents: Documents) -> list[tuple[str, int]]:
    return list(zip(documents.texts, documents.labels.tolist(), strict=True))


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_the_benchmarks_have_these_corpora():
    assert [
        *("nlpad-bbc", "nlpad-email", "nlpad-sms"),
        *("tad-covid", "tad-email", "tad-hate", "tad-liar2", "tad-olid", "tad-sms"),
        *("textad-20news", "textad-reuters", "textad-sms", "textad-sst2"),
    ] == NAMES
    listed = {row.name: row.summary for row in registry.listing("datasets")}
    assert all(listed[name].endswith(".") for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_states_its_facts(name):
    dataset = registry.dataset(name)
    assert dataset.name == name
    assert dataset.source.startswith("http") or name == "textad-20news"
    assert dataset.licence
    assert {"nlpad": "2412.04784", "tad": "2501.11960", "textad": "2507.12295"}[name.partition("-")[0]] in (
        dataset.citation
    )
    assert set(dataset.inliers) < set(dataset.classes)
    assert dataset.contamination == (0.0,)
    assert (dataset.redraw is not None) == (dataset.protocol == "redrawn")


def test_draws_that_are_not_published_are_drawn_again():
    redraws = {name: registry.dataset(name).redraw for name in NAMES}
    assert {name: redraw for name, redraw in redraws.items() if redraw} == {
        "nlpad-email": Redraw(0.7),
        "nlpad-sms": Redraw(0.7, 154),
    }


# -- BBC of NLP-ADBench


def lines(*documents: tuple[str, object]) -> str:
    return "".join(json.dumps({"text": text, "label": label, "more": 1}) + "\n" for text, label in documents)


@pytest.fixture
def bbc(home, any_file) -> Path:
    """A small BBC of NLP-ADBench; returns its file of the training part."""
    write(home / "nlpad-bbc" / "bbc_test_data.jsonl", lines(("an anchor", 0), ("a star", 1)))
    return write(home / "nlpad-bbc" / "bbc_train_data.jsonl", lines(("a harbour", 0), ("a ship\u2028", 0)))


def test_bbc_has_the_parts_of_its_files(bbc):
    dataset = registry.dataset("nlpad-bbc")
    train, test = dataset.read()
    assert labelled(train) == [("a harbour", 0), ("a ship\u2028", 0)]
    assert labelled(test) == [("an anchor", 0), ("a star", 1)]


# -- TAD-Bench

TEXTS = ["grey clouds", "wet façade", ""]
ARRAYS = {name: registry.dataset(name).array for name in NAMES if name.startswith("tad-")}


def pickled(*values: object) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def npz(data: object, label: object = (0, 1, 0)) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, data=data, label=np.array(label))
    return stream.getvalue()


def archive(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return stream.getvalue()


@pytest.fixture
def data_zip(home) -> Path:
    """A small archive of TAD-Bench; returns its file."""
    files = {f"data/{array}.npz": npz(pickled(*TEXTS)) for array in ARRAYS.values()}
    files["data/email_spam.npz"] = npz(np.array(TEXTS), np.array([0, 1, 0], dtype="<i4"))
    return write(home / "tad-bench" / "data.zip", archive({"data/": b"", **files}))


@pytest.mark.parametrize("name", [*ARRAYS, "nlpad-email"])
def test_all_documents_of_an_array_are_in_the_test_part(data_zip, any_file, name):
    dataset = registry.dataset(name)
    train, test = dataset.read()
    assert (len(train), test.texts, test.labels.tolist()) == (0, TEXTS, [0, 1, 0])
    assert dataset.classes[1] == "anomaly"


def test_another_archive_of_pickles_is_not_loaded(data_zip, tmp_path):
    hostile = pickled("a", Hostile(f"touch {tmp_path / 'marker'}"), "c")
    write(data_zip, archive({"data/olid.npz": npz(hostile)}))
    digest = hashlib.sha256(data_zip.read_bytes()).hexdigest()
    for ask in (tad.Olid().edition, tad.Olid().read):
        with pytest.raises(DataError, match=rf"^{re.escape(str(data_zip))} .*sha256 .*{digest}, "):
            ask()
    result = CliRunner().invoke(main, ["--offline", "fetch", "tad-olid"])
    assert result.exit_code == 1
    assert result.output.count("\n") == 1
    assert not (tmp_path / "marker").exists()


# -- SMS Spam Collection

MESSAGES = "ham\tA ship. \nspam\tA\x85 prize\nham\tA ship.\nham\t\tan anchor\nspam\tA prize"


@pytest.fixture
def sms(home, any_file) -> Path:
    """A small SMS Spam Collection; returns its file."""
    return write(home / "sms" / "SMSSpamCollection", MESSAGES)


def test_distinct_messages_are_in_the_test_part(sms):
    train, test = registry.dataset("nlpad-sms").read()
    assert len(train) == 0
    assert labelled(test) == [("A ship.", 0), ("A\x85 prize", 1), ("an anchor", 0), ("A prize", 1)]


@pytest.mark.parametrize("name", ["nlpad-sms", "textad-sms"])
def test_a_newline_at_the_end_makes_no_other_edition(sms, name):
    dataset = registry.dataset(name)
    parts = [labelled(part) for part in dataset.read()]
    write(sms, MESSAGES + "\n")
    assert dataset.edition() == Edition("published", _sms.SpamCollection.files[0].sha256, is_published=True)
    assert [labelled(part) for part in dataset.read()] == parts


@pytest.mark.parametrize(
    ("name", "page"), [("nlpad-sms", "archive.ics.uci.edu"), ("textad-sst2", "github.com/awake020")]
)
def test_a_missing_file_that_nothing_downloads_is_described(home, name, page):
    with pytest.raises(DataError, match=rf"^{re.escape(str(home))}.* missing, .*{page}"):
        registry.dataset(name).read()


# -- The splits of Text-ADBench


def test_messages_are_split_in_the_order_of_the_file(sms):
    ham = [f"ham\t{number}" for number in range(3010)]
    write(sms, "\n".join([*ham[:1], "spam\tA", *ham[1:5], "spam\tB", *ham[5:]]))
    train, test = textad.Sms().read()
    assert train.texts == [str(number) for number in range(2, 3002)]
    assert sorted(test.texts) == sorted([*"01AB", *map(str, range(3002, 3010))])
    assert [textad.Sms.classes[label] for label in test.labels[-2:]] == ["spam", "spam"]
    assert set(train.labels) == {0}


@pytest.fixture
def sst2(home, any_file) -> Path:
    """A small SST-2; returns its file of the training part."""
    write(home / "sst2" / "dev.tsv", "label\tcontent\n1\tgood\n0\tbad\n")
    rows = [f"{number % 2}\tsentence {number}" for number in range(20_010)]
    return write(home / "sst2" / "train.tsv", "\r\n".join(["label\tsentence", *rows, ""]))


def test_the_first_positive_sentences_are_for_training(sst2):
    train, test = textad.Sst2().read()
    assert train.texts == [f"sentence {number}" for number in range(1, 20_000, 2)]
    assert np.bincount(train.labels).tolist() == [10_000]
    assert np.bincount(test.labels).tolist() == [6, 10_006]
    assert labelled(test)[-2:] == [("good", 0), ("bad", 1)]


def test_misc_forsale_of_both_parts_is_for_testing(home, any_file):
    groups = sorted(group for of_class in GROUPS.values() for group in of_class)
    parts = {
        part: Bunch(
            data=[f"Subject: x\n\n{part} {group}" for group in groups],
            target=np.arange(len(groups)),
            target_names=groups,
        )
        for part in ("train", "test")
    }
    write(home / "20news" / "20news-bydate_py3.pkz", zlib.compress(pickle.dumps(parts)))
    train, test = textad.Newsgroups().read()
    normal = [group for group in groups if group != "misc.forsale"]
    assert labelled(train) == [(f"train {group}", 0) for group in normal]
    assert sorted(labelled(test)) == sorted(
        [(f"test {group}", 0) for group in normal] + [(f"{part} misc.forsale", 1) for part in parts]
    )


def article(part: str, *topics: str) -> str:
    of_topics = "".join(f"<D>{topic}</D>" for topic in topics)
    head = f'<REUTERS TOPICS="YES" LEWISSPLIT="{part}"><TOPICS>{of_topics}</TOPICS>'
    return f"{head}<TEXT><TITLE>{part} {' '.join(topics)}</TITLE></TEXT></REUTERS>"


def test_articles_of_other_topics_are_for_testing(home, any_file):
    each = [article(part, topic) for part in ("TRAIN", "TEST") for topic in ("earn", "acq", "crude", "wheat")]
    more = [article("TRAIN", "ship"), article("TRAIN", "acq", "ship"), article("TRAIN", "crude", "crude")]
    none = [article("TRAIN", "earn", "acq"), article("TEST")]
    files = {f"reut2-{number:03}.sgm": "".join(none).encode() for number in range(22)}
    files["reut2-007.sgm"] = "".join([*each, *more, *none]).encode()
    write(home / "reuters" / "reuters21578-sgm.tar.gz", packed(files))
    train, test = textad.ReutersTwo().read()
    assert labelled(train) == [("TRAIN earn", 0), ("TRAIN acq", 1), ("TRAIN acq ship", 1)]
    assert labelled(test) == [
        *[("TEST earn", 0), ("TEST acq", 1), ("TEST crude", 2), ("TEST wheat", 2)],
        *[("TRAIN crude", 2), ("TRAIN wheat", 2), ("TRAIN crude crude", 2)],
    ]


# -- Real data


def test_20_newsgroups_are_split_as_in_the_publication_after_cleaning(real_dataset):
    documents = cleaned(real_dataset("textad-20news"))
    sizes = documents[documents["cleaned"] != b""].groupby(["part", "label"]).size()
    assert sizes.to_dict() == {("training", 0): 10_419, ("test", 0): 6917, ("test", 1): 959}
