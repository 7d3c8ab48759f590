"""Data sets of Hugging Face: copies of ``save_to_disk``, and a Hub on this machine."""

import csv
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from commands import adbench
from interpreters import printed
from servers import Handler, Server, serving

from adbench_text.corpora.class_files import ClassFiles
from adbench_text.corpora.corpus import load
from adbench_text.errors import AdbenchTextError, InvalidValueError, PluginError
from adbench_text.reading.documents import DocumentFile
from adbench_text.reading.hub import HubData
from adbench_text.testing.topics import texts_about

SEA, LAW = texts_about("sea", 60, 0, compounds=True), texts_about("law", 60, 0, compounds=True)
TEXTS = [text for pair in zip(SEA, LAW, strict=True) for text in pair]
NAMES = ["Sea/Ships", "law"]
SHA = "0123456789" * 4


@pytest.fixture
def library():
    # a folder ``datasets`` of this checkout can be imported, but has no such module
    return (
        pytest.importorskip("datasets.arrow_dataset", reason="needs the extra hub")
        and sys.modules["datasets"]
    )


@pytest.fixture
def save(library, tmp_path, monkeypatch):
    """Return a function that saves splits, as lists of labels for the texts in their order, as ./saved."""
    monkeypatch.chdir(tmp_path)

    def saved(splits, other=(), **features):
        rest, made = iter(TEXTS), library.DatasetDict()
        for name, labels in splits.items():
            columns = {"text": [next(rest) for _ in labels], "label": labels}
            columns |= {column: [f"{column} {label}" for label in labels] for column in other}
            columns |= {column: [label % 2 for label in range(len(labels))] for column in features}
            kinds = {name: library.Value("string") for name in ("text", *other)}
            kinds |= {"label": library.ClassLabel(names=NAMES), **features}
            made[name] = library.Dataset.from_dict(columns, features=library.Features(kinds))
        made.save_to_disk("saved")
        return "hf:./saved"

    return saved


def write_csv(path, parts):
    with path.open("w", newline="") as stream:
        rows = [(text, NAMES[n % 2], part) for n, (text, part) in enumerate(zip(TEXTS, parts, strict=True))]
        csv.writer(stream).writerows([("text", "label", "part"), *rows])
    return str(path)


def test_a_saved_copy_is_the_corpus_of_the_same_file(save, home, tmp_path):
    corpus = load(ClassFiles(save({"train": [0, 1] * 40, "test": [0, 1] * 20})))
    file = ClassFiles(write_csv(tmp_path / "a.csv", ["train"] * 80 + ["test"] * 40), split="part")
    assert corpus.digest == load(file).digest
    assert (corpus.name, corpus.classes) == ("hf:saved", ("Sea/Ships", "law"))
    assert "'label'" in corpus.edition
    assert "as published" in corpus.edition
    assert corpus.counts() == "80 training / 40 test documents (Sea/Ships 40/20, law 40/20)"


def test_other_splits_are_left_out_beside_train_and_test(save, home):
    corpus = load(ClassFiles(save({"validation": [0, 1] * 10, "train": [0, 1] * 30, "test": [0, 1] * 20})))
    assert not set(TEXTS[:20]) & {*corpus.train.texts, *corpus.test.texts}
    assert (len(corpus.train), len(corpus.test)) == (60, 40)


@pytest.mark.parametrize("last", [{}, {"test": [-1, None] * 20}])
def test_without_a_labelled_test_split_seventy_percent_of_all_splits_are_drawn(save, home, tmp_path, last):
    corpus = load(ClassFiles(save({"train": [0, 1] * 30, "validation": [0, 1] * 10} | last)))
    assert (len(corpus.train), len(corpus.test)) == (56, 24)
    assert "70 %" in corpus.edition
    assert corpus.edition.endswith(" words: 40") == bool(last)


def test_a_test_split_of_small_classes_alone_is_not_replaced_by_another_split(save, home, monkeypatch):
    monkeypatch.setitem(globals(), "NAMES", ["sea", "law", "sky"])
    with pytest.raises(AdbenchTextError, match=r"for training and for testing.* sky 0/5"):
        load(ClassFiles(save({"train": [0, 1] * 30, "test": [2] * 5})))


def test_a_column_can_split_them_instead(save, home, library):
    labels, part = [0, 0, 1, 1] * 20, library.ClassLabel(names=["train", "test"])
    path = save({"train": labels, "test": labels[:40]}, part=part)  # train and test in turn
    corpus = load(ClassFiles(path, label="label", split="part"))
    assert "'part'" in corpus.edition
    assert set(corpus.train.texts) == set(TEXTS[::2])


def test_the_only_column_of_classes_is_found_or_asked_for(save, home, library):
    path = save({"train": [0, 1] * 60}, ["category"], topic=library.ClassLabel(names=NAMES))
    table = DocumentFile(path).table()
    names = ("text", "label", "category", "topic")
    assert [table.values(name)[1] for name in names] == [TEXTS[1], "law", "category 1", "law"]
    assert (table.place(1), table.splits[1]) == ("hf:./saved, train, row 2", "train")
    assert ClassFiles(path).classes == ("Sea/Ships", "law")  # of two columns the one with the usual name
    path = save({"train": [0, 1] * 60}, ["label_text"], label=library.Value("int64"))
    assert ClassFiles(path).classes == ("label_text 0", "label_text 1")


def test_without_labels_odd_is_advised_and_ranks_the_rows(library, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library.Dataset.from_dict({"body": TEXTS, "number": list(range(len(TEXTS)))}).save_to_disk("saved")
    with pytest.raises(InvalidValueError, match=r"adbench-text odd hf:\./saved"):
        ClassFiles("hf:./saved").edition()
    result = adbench("odd hf:./saved --text body")
    assert result.exit_code == 0, result.output
    with Path("odd.csv").open() as stream:
        assert {int(row["row"]) for row in csv.DictReader(stream)} <= set(range(120))


def test_run_and_report(save, home):
    save({"train": [0, 1] * 40, "test": [0, 1] * 20})
    sweep = 'detector = "knn-words"\ndataset = "hf:./saved"\ncontamination = 0\n'
    Path("mine.toml").write_text(sweep)
    result = adbench("run --sweep mine.toml --jobs 1 --offline")
    assert result.exit_code == 0, result.output
    assert "0 cells to run, 2 finished before" in adbench("run --sweep mine.toml --jobs 0").output
    lines = adbench("report --sweep mine.toml --format csv -s hf:./saved").stdout.splitlines()
    rows = [(row["dataset"], row["inlier"], row["auroc"]) for row in csv.DictReader(lines)]
    assert sorted(rows) == [("hf:saved", "Sea/Ships", "1"), ("hf:saved", "law", "1")]


@pytest.mark.parametrize("found", [None, ModuleType("datasets")])  # none, and a folder of this name
def test_without_the_library_one_line_has_the_command(home, monkeypatch, found):
    monkeypatch.setitem(sys.modules, "datasets", found)
    result = adbench("run -d llr -s hf:nobody/nothing")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "hf:nobody/nothing " in result.stderr
    assert result.stderr.endswith("pip install 'adbench-text[hub]'\n")
    with pytest.raises(PluginError, match=r"hf:\./saved .*package datasets"):
        HubData("hf:./saved")


@pytest.mark.parametrize("damage", ["absent", "empty", "damaged"])
def test_a_folder_that_is_no_copy_is_one_line(save, damage):
    save({"train": [0, 1]})
    Path("empty").mkdir()
    Path("saved").rename("damaged")
    (arrow,) = Path("damaged/train").glob("*.arrow")
    arrow.write_bytes(arrow.read_bytes()[:-50])
    with pytest.raises(AdbenchTextError, match=rf"^hf:\./{damage} .*files:PATH") as caught:
        ClassFiles(f"hf:./{damage}").edition()
    assert "\n" not in str(caught.value)


def test_a_folder_without_its_path_gets_the_name_to_give(library, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library.Dataset.from_dict({"text": TEXTS}).save_to_disk("saved")
    result = adbench("run -d llr -s hf:saved --offline")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "saved using `save_to_disk`" in result.stderr
    assert "hf:./FOLDER" in result.stderr


class Hub(Server):
    """Answers as the Hub does for the data sets of a few owners."""

    def answer(self, request: Handler) -> None:
        """Answer for those of many (two configurations), script (code), gated, and nobody (none)."""
        self.asked.append(request.path)
        path = request.path.partition("?")[0]
        owner, name = ([*path.removeprefix("/api").split("/"), "", ""])[2:4]
        configurations = [{"config_name": each, "data_files": "rows.csv"} for each in ("first", "second")]
        card = f"---\n{json.dumps({'configs': configurations})}\n---\n"
        rows = "\n".join(["text,label", *(f"{text},{NAMES[n % 2]}" for n, text in enumerate(TEXTS))])
        files = {"many": {"README.md": card, "rows.csv": rows}, "script": {f"{name}.py": ""}}.get(owner, {})
        listed = [
            {"type": "file", "path": file, "size": len(text), "oid": SHA} for file, text in files.items()
        ]
        codes = {"nobody": (401, "RepoNotFound"), "gated": (403, "GatedRepo")}
        body, code = "", (404, "EntryNotFound")
        if path == "/" or owner in codes:
            code = codes.get(owner, (200, ""))
        elif "/tree/" in path or "/paths-info/" in path:
            length = int(request.headers.get("Content-Length", 0))
            asked = request.rfile.read(length).decode()
            body, code = (
                json.dumps([each for each in listed if not asked or each["path"] in asked]),
                (200, ""),
            )
        elif path.startswith("/api/"):
            body, code = json.dumps({"id": f"{owner}/{name}", "sha": SHA}), (200, "")
        elif (file := path.rpartition("/")[2]) in files:
            body, code = files[file], (200, "")
        request.send_response(code[0])
        headers = {"X-Error-Code": code[1], "X-Repo-Commit": SHA, "ETag": f'"{owner}{len(body)}"'}
        for key, value in (headers | {"Content-Length": str(len(body))}).items():
            request.send_header(key, value)
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body.encode())


LOAD = """
import json, sys
from adbench_text.errors import DataError
from adbench_text.reading.hub import HubData
for name in json.loads('NAMES'):
    try:
        data = HubData(f"hf:{name}")
        print(sum(map(len, data.batches())), *data.notes)
    except DataError as error:
        print(error)
"""


@pytest.fixture
def ask(library, tmp_path, monkeypatch):
    """Return a function that loads data sets in another process; its cache is temporary."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_DATASETS_CACHE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)

    def lines(address, *names, **variables):
        variables |= {"HF_HOME": str(tmp_path / "hf"), "HF_ENDPOINT": address, "HF_HUB_DISABLE_XET": "1"}
        return printed(LOAD.replace("NAMES", json.dumps(names)), **variables).splitlines()

    return lines


@pytest.mark.slow
def test_the_hub_and_its_cache(home, ask):
    with serving(Hub()) as hub:
        found, missing, unknown, script, gated, nobody = ask(
            hub.url, "many/x:second", "many/x", "many/x:third", "script/x", "gated/x", "nobody/x"
        )
        hub.asked.clear()
        offline, absent = ask(hub.url, "many/x:second", "nobody/x", ADBENCH_TEXT_OFFLINE="1")
        assert ask(hub.url, "nobody/x", HF_DATASETS_OFFLINE="1") == [absent]
        assert hub.asked == []
    assert found == offline
    assert re.match(f"120 .*{SHA}", found)
    assert "['first', 'second']" in missing
    assert re.search(r"'third' .*\['first', 'second'\]", unknown)
    assert "x.py" in script
    assert re.search("hf:gated/x .*'gated/x' is a gated dataset", gated)
    assert re.search("hf:nobody/x .*'nobody/x' doesn't exist", nobody)
    for line in (missing, unknown, script, gated, nobody):
        assert re.search("hf auth login.* hf:NAME:CONFIGURATION.*files:PATH$", line)
    # nothing answers any more at this address
    again, silent = ask(hub.url, "many/x:second", "nobody/x")
    assert again == found
    assert silent == absent
    assert re.search("hf:nobody/x .*Couldn't reach 'nobody/x'", silent)
