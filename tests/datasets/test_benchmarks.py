"""The corpora of other benchmarks: NLP-ADBench, TAD-Bench and Text-ADBench."""

import gzip
import io
import json
import os
import pickle
import tarfile
import tracemalloc
import zipfile
import zlib
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.utils import Bunch

from adbench_text.cli.main import main
from adbench_text.corpora.corpus import cleaned_parts
from adbench_text.datasets import _npz, _pickles, _sms, tad, textad
from adbench_text.datasets.newsgroups20 import GROUPS
from adbench_text.errors import DataError
from adbench_text.plugins import registry
from adbench_text.plugins.dataset import Dataset, Documents, Edition, Redraw

FAMILIES = ("nlpad", "tad", "textad")
NAMES = [name for name in registry.names("datasets") if name.partition("-")[0] in FAMILIES]


def labelled(documents: Documents) -> list[tuple[str, int]]:
    return list(zip(documents.texts, documents.labels.tolist(), strict=True))


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def damage(dataset: Dataset, path: Path) -> str:
    """The reason why a dataset cannot be read, in a message of one line that names file and remedy."""
    with pytest.raises(DataError) as caught:
        dataset.read()
    begin, end = f"Cannot read {path}: ", f"delete it and run adbench-text fetch {dataset.name}."
    message = str(caught.value)
    assert message.startswith(begin)
    assert message.endswith(end)
    assert "\n" not in message
    return message.removeprefix(begin)


def test_the_benchmarks_have_these_corpora():
    assert [
        *("nlpad-bbc", "nlpad-email", "nlpad-sms"),
        *("tad-email", "tad-sms", "tad-covid", "tad-liar2", "tad-hate", "tad-olid"),
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
def bbc(home) -> Path:
    """A small BBC of NLP-ADBench; returns its file of the training part."""
    write(home / "nlpad-bbc" / "bbc_test_data.jsonl", lines(("an anchor", 0), ("a star", 1)))
    return write(home / "nlpad-bbc" / "bbc_train_data.jsonl", lines(("a harbour", 0), ("a ship\u2028", 0)))


def test_bbc_has_the_parts_of_its_files(bbc):
    dataset = registry.dataset("nlpad-bbc")
    train, test = dataset.read()
    assert labelled(train) == [("a harbour", 0), ("a ship\u2028", 0)]
    assert labelled(test) == [("an anchor", 0), ("a star", 1)]
    assert dataset.edition().name.startswith("not the published files: bbc_train_data.jsonl ")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lines(("a", 0), ("b", 2)), "line 2 must have a text and the label 0 or 1, got 2"),
        (lines(("a", "0")), "line 1 must have a text and the label 0 or 1, got '0'"),
        ('{"text": 1, "label": 0}', "line 1 must have a text"),
        ('{"text": "a"}', "line 1 is no object with a text and a label"),
        (lines(("a", 0))[:-5], "line 1 is no object"),
        ("[" * 100_000, "line 1 is no object"),
        (b"\xff", "'utf-8' codec"),
    ],
)
def test_a_damaged_line_is_named(bbc, content, reason):
    write(bbc, content)
    assert damage(registry.dataset("nlpad-bbc"), bbc).startswith(reason)


# -- TAD-Bench

TEXTS = ["grey clouds", "wet façade", ""]
ARRAYS = {f"tad-{name}": tad.member(name).array for name in tad.members()}


def pickled(*values: object) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def npz(data: object, label: object = (0, 1, 0), save=np.savez) -> bytes:
    stream = io.BytesIO()
    save(stream, data=data, label=np.array(label))
    return stream.getvalue()


def archive(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return stream.getvalue()


def of_olid(data: object, *more: object) -> bytes:
    return archive({"data/olid.npz": npz(data, *more)})


@pytest.fixture
def data_zip(home) -> Path:
    """A small archive of TAD-Bench; returns its file."""
    files = {f"data/{array}.npz": npz(pickled(*TEXTS)) for array in ARRAYS.values()}
    files["data/email_spam.npz"] = npz(np.array(TEXTS), np.array([0, 1, 0], dtype="<i4"))
    return write(home / "tad-bench" / "data.zip", archive({"data/": b"", **files}))


@pytest.mark.parametrize("name", [*ARRAYS, "nlpad-email"])
def test_all_documents_of_an_array_are_in_the_test_part(data_zip, name):
    dataset = registry.dataset(name)
    train, test = dataset.read()
    assert (len(train), test.texts, test.labels.tolist()) == (0, TEXTS, [0, 1, 0])
    assert dataset.classes[1] == "anomaly"
    assert dataset.edition().name.startswith("not the published files: data.zip ")


def test_the_padding_of_an_array_takes_no_memory(data_zip):
    content = archive({"data/email_spam.npz": npz(np.array(["a" * 10_000, *["b"] * 1999]), [0] * 2000)})
    write(data_zip, content)  # unpacked it has 80 MB
    tracemalloc.start()
    try:
        _, test = tad.Email().read()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(test), len(test.texts[0]), test.texts[1999]) == (2000, 10_000, "b")
    assert peak < 10 * 2**20


class Hostile:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> object:
        return os.system, (self.command,)


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_pickle_that_names_code_does_not_run_it(data_zip, tmp_path, is_nested):
    hostile = Hostile(f"touch {tmp_path / 'marker'}")
    write(data_zip, of_olid(pickled("a", [hostile] if is_nested else hostile, "c")))
    reason = damage(tad.Olid(), data_zip)
    assert reason.startswith(f"it holds {os.system.__module__}.system, which is no part of an array")
    result = CliRunner().invoke(main, ["--offline", "fetch", "tad-olid"])
    assert result.exit_code == 1
    assert result.output.count("\n") == 1
    assert not (tmp_path / "marker").exists()


def longer(content: bytes) -> bytes:
    """An array with another number of values in its header."""
    return content.replace(b"'shape': (3,)", b"'shape': (4,)", 1)


GOOD = of_olid(pickled(*TEXTS))
STORED = npz(pickled(*TEXTS))
DAMAGED = {
    "empty": (b"", "BadZipFile"),
    "truncated": (GOOD[: len(GOOD) // 2], "BadZipFile"),
    "changed": (GOOD.replace(GOOD[60:70], bytes(10)), ""),
    "a missing member": (archive({"data/liar2.npz": STORED}), "it has no data/olid.npz"),
    "another folder": (archive({"../data/olid.npz": STORED}), "it has no data/olid.npz"),
    "another method": (
        archive({"data/olid.npz": STORED}, zipfile.ZIP_BZIP2),
        "data/olid.npz is packed in an unknown way",
    ),
    "no .npz": (archive({"data/olid.npz": b"x" * 100}), "an .npz in it has no data.npy"),
    "a cut .npz": (archive({"data/olid.npz": STORED[:300]}), "it ends too early"),
    "an .npz without labels": (archive({"data/olid.npz": STORED[:-700]}), ""),
    "arrays in another order": (
        archive(
            {"data/olid.npz": npz(np.array([0]), pickled("a"), lambda s, data, label: np.savez(s, label))}
        ),
        "an .npz in it has no data.npy",
    ),
    "packed arrays": (
        archive({"data/olid.npz": npz(np.array(TEXTS), save=np.savez_compressed)}),
        "data.npy is not stored as numpy does",
    ),
    "texts in a table": (of_olid(np.array([TEXTS])), "data.npy has 132 bytes, and not the shape (1, 3)"),
    "pickled texts in a table": (of_olid(pickled(*TEXTS).reshape(3, 1)), "data.npy has "),
    "bytes": (of_olid(np.array([b"a", b"b", b"c"])), "data.npy holds |S1"),
    "numbers for texts": (of_olid(np.arange(3)), "data/olid.npz has texts that are no strings"),
    "pickled numbers": (of_olid(pickled("a", 1, "c")), "a text is not a string"),
    "a pickled table": (of_olid(pickled("a", ["b"], "c")), "a text is not a string"),
    "labels in a table": (of_olid(np.array(TEXTS), [[0, 1, 0]]), "label.npy has 24 bytes"),
    "labels that are no integers": (of_olid(np.array(TEXTS), [0.0, 1.0, 0.0]), "label.npy holds <f8"),
    "labels that are texts": (of_olid(np.array(TEXTS), ["0", "1", "0"]), "data/olid.npz has the label '"),
    "another label": (of_olid(np.array(TEXTS), [0, 1, 2]), "data/olid.npz has the label 2, which"),
    "too few labels": (of_olid(np.array(TEXTS), [0, 1]), "data/olid.npz has 3 texts and 2 labels"),
    "a longer pickle": (
        archive({"data/olid.npz": longer(STORED)}),
        "data.npy has 3 values, and 4 in its header",
    ),
    "a longer array": (
        archive({"data/olid.npz": longer(npz(np.array(TEXTS)))}),
        "data.npy has 132 bytes, and not the shape (4,) of its header",
    ),
    "a wide row": (of_olid(np.array(["a" * 300_000, "", ""])), "data.npy has 3 rows of 1,200,000 bytes"),
    "no characters": (of_olid(np.array([2**31, 0, 0], "<u4").view("<U1")), "'utf-32-le' codec"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_archive_is_one_line(data_zip, case):
    content, reason = DAMAGED[case]
    write(data_zip, content)
    assert damage(tad.Olid(), data_zip).startswith(reason)


@pytest.mark.parametrize(
    ("module", "limit", "content", "reason"),
    [
        (tad, "_MOST_BYTES", archive({"data/olid.npz": bytes(10**6)}), "data/olid.npz has more than 0 MiB"),
        (_pickles, "MOST_BYTES", of_olid(pickled("a" * 10**6, "", "")), "an array has 1,000,"),
        (
            _pickles,
            "MOST_BYTES",
            of_olid(pickled(*["a" * 10**4] * 100)),
            "its texts have more than 0 million",
        ),
        (_pickles, "MOST_OPERATIONS", of_olid(pickled(*map(str, range(10**5)))), "it holds more than 100"),
        (_npz, "_MOST_ROWS", of_olid(np.full(10**6, "a")), "data.npy has 1,000,000 rows of 4 bytes"),
    ],
)
def test_an_archive_cannot_fill_the_memory(data_zip, monkeypatch, module, limit, content, reason):
    monkeypatch.setattr(module, limit, 10**5)
    write(data_zip, content)
    assert damage(tad.Olid(), data_zip).startswith(reason)


def test_an_archive_that_is_too_large_is_not_opened(data_zip, monkeypatch):
    monkeypatch.setattr(tad.Olid, "archive", replace(tad.Olid.archive, most_bytes=1000))
    assert damage(tad.Olid(), data_zip).startswith("it has more than 0 MiB")


@pytest.mark.parametrize("repeated", [b"h\x00h\x00", b"2", b"j\x00\x00\x00\x00j\x00\x00\x00\x00"])
def test_a_tuple_is_not_used_several_times(repeated):
    # as the key of a dictionary, each level of such tuples would double the time
    with pytest.raises(ValueError, match="it uses a tuple several times"):
        _pickles.unpickled(b"\x80\x04)\x85\x94" + repeated + b"\x86\x94.")


def test_nothing_of_an_archive_is_extracted(data_zip, tmp_path):
    hostile = {"../../marker": b"x", f"{tmp_path}/marker": b"x", "data/olid.npz": STORED}
    write(data_zip, archive(hostile))
    assert tad.Olid().read()[1].texts == TEXTS
    assert not list(tmp_path.rglob("marker"))


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize("kind", ["<i4", "<i8", object])
def test_arrays_are_read_from_pickles_of_every_protocol(protocol, kind):
    values = ["a", "", "ü"] if kind is object else [1, -2, 3]
    array = pickle.dumps(np.array(values, dtype=kind), protocol)
    assert _pickles.values_of(_pickles.unpickled(array), str if kind is object else int) == values


@pytest.mark.parametrize("array", [np.ones(2), np.ones((2, 1), int), np.array(["a"]), np.ones(2, ">i8")])
def test_other_arrays_are_refused(array):
    with pytest.raises(ValueError, match="an array "):
        _pickles.values_of(_pickles.unpickled(pickle.dumps(array)), int)


# -- SMS Spam Collection

MESSAGES = "ham\tA ship. \nspam\tA\x85 prize\nham\tA ship.\nham\t\tan anchor\nspam\tA prize"


@pytest.fixture
def sms(home) -> Path:
    """A small SMS Spam Collection; returns its file."""
    return write(home / "sms" / "SMSSpamCollection", MESSAGES)


def test_distinct_messages_are_in_the_test_part(sms):
    train, test = registry.dataset("nlpad-sms").read()
    assert len(train) == 0
    assert labelled(test) == [("A ship.", 0), ("A\x85 prize", 1), ("an anchor", 0), ("A prize", 1)]


@pytest.mark.parametrize("name", ["nlpad-sms", "textad-sms"])
def test_a_newline_at_the_end_makes_no_other_edition(sms, monkeypatch, name):
    dataset = registry.dataset(name)
    digest = sha256(MESSAGES.encode() + b"\n").hexdigest()
    assert dataset.edition() == Edition(f"not the published file: SMSSpamCollection {digest[:8]}", digest)
    monkeypatch.setattr(_sms, "FILE", replace(_sms.FILE, sha256=digest))
    parts = [labelled(part) for part in dataset.read()]
    for end in ("", "\n"):
        write(sms, MESSAGES + end)
        assert dataset.edition() == Edition("published", digest, is_published=True)
        assert [labelled(part) for part in dataset.read()] == parts


@pytest.mark.parametrize("line", ["eggs\tA", "ham", "", "A ship"])
def test_a_damaged_message_is_named(sms, monkeypatch, line):
    write(sms, f"ham\tA\n{line}\nham\tB")
    reason = f"line 2 must be ham or spam, a tab and a text, got {line!r}"
    assert damage(registry.dataset("textad-sms"), sms).startswith(reason)
    monkeypatch.setattr(_sms, "_MOST_BYTES", 5)
    assert damage(registry.dataset("nlpad-sms"), sms).startswith("it has more than 0 MiB")


@pytest.mark.parametrize(
    ("name", "page"), [("nlpad-sms", "archive.ics.uci.edu"), ("textad-sst2", "github.com/awake020")]
)
def test_a_missing_file_that_nothing_downloads_is_described(home, name, page):
    with pytest.raises(DataError, match=rf"is missing, and nothing downloads it\. Get it from .*{page}"):
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
def sst2(home) -> Path:
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


@pytest.mark.parametrize("line", ["2\tA", "A film\t1", "1", ""])
def test_a_damaged_sentence_is_named(sst2, line):
    write(sst2, f"label\tsentence\n1\tA\n{line}\n")
    reason = damage(textad.Sst2(), sst2)
    assert reason.startswith("line 3 must be 0 or 1, a tab and a sentence, got ")


def test_misc_forsale_of_both_parts_is_for_testing(home):
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


def test_articles_of_other_topics_are_for_testing(home):
    each = [article(part, topic) for part in ("TRAIN", "TEST") for topic in ("earn", "acq", "crude", "wheat")]
    more = [article("TRAIN", "ship"), article("TRAIN", "acq", "ship"), article("TRAIN", "crude", "crude")]
    none = [article("TRAIN", "earn", "acq"), article("TEST")]
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for number in range(22):
            content = "".join([*each, *more, *none] if number == 7 else none).encode()
            info = tarfile.TarInfo(f"reut2-{number:03}.sgm")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    write(home / "reuters" / "reuters21578-sgm.tar.gz", gzip.compress(stream.getvalue()))
    train, test = textad.ReutersTwo().read()
    assert labelled(train) == [("TRAIN earn", 0), ("TRAIN acq", 1), ("TRAIN acq ship", 1)]
    assert labelled(test) == [
        *[("TEST earn", 0), ("TEST acq", 1), ("TEST crude", 2), ("TEST wheat", 2)],
        *[("TRAIN crude", 2), ("TRAIN wheat", 2), ("TRAIN crude crude", 2)],
    ]


# -- Real data


@pytest.mark.parametrize(
    ("name", "n_train", "n_test", "n_odd"),
    [
        ("nlpad-bbc", 1206, 579, 62),
        ("nlpad-sms", 0, 5160, 642),
        ("tad-email", 0, 3578, 146),
        ("tad-sms", 0, 4969, 144),
        ("tad-covid", 0, 1173, 53),
        ("tad-liar2", 0, 2130, 62),
        ("tad-hate", 0, 4287, 124),
        ("tad-olid", 0, 641, 21),
        ("textad-reuters", 4436, 4725, 2946),
        ("textad-sms", 3000, 2574, 747),
        ("textad-sst2", 10_000, 58_221, 30_208),
    ],
)
def test_a_corpus_has_as_many_documents_as_its_publication(real_dataset, name, n_train, n_test, n_odd):
    dataset = real_dataset(name)
    train, test = dataset.read()
    normal = [dataset.classes.index(inlier) for inlier in dataset.inliers]
    assert (len(train), len(test), int((~np.isin(test.labels, normal)).sum())) == (n_train, n_test, n_odd)
    assert set(train.labels) <= set(normal)
    assert dataset.edition().is_published or name == "textad-reuters"  # which may be packed anew


def test_20_newsgroups_are_split_as_in_the_publication_after_cleaning(real_dataset):
    train, test, *_ = cleaned_parts(*real_dataset("textad-20news").read())
    assert np.bincount(train.labels).tolist() == [10_419]
    assert np.bincount(test.labels).tolist() == [6917, 959]
