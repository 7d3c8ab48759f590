"""Real anomalies: texts of language models, poisoned sentences, notes of doctors, queries to a bot."""

import csv
import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from adbench_text.corpora.corpus import load
from adbench_text.corpora.split import draw, splits
from adbench_text.corpora.split_key import SplitKey
from adbench_text.datasets import mts_dialog
from adbench_text.datasets.fast_detect import FastDetect
from adbench_text.datasets.mts_dialog import MtsDialog
from adbench_text.errors import DataError, NotDownloadedError
from adbench_text.plugins import registry


def split_of(dataset, seed=0):
    corpus = load(dataset)
    (name,) = splits(corpus)
    return draw(corpus, SplitKey(corpus.name, name, 0.0, seed, dataset.protocol))


def odd_of(split):
    return [text for text, is_odd in zip(split.test, split.outlier, strict=True) if is_odd]


# -- fast-detect

HUMAN = ["storm over harbour ", "“rain” over  town today", "sun over hill", "snow over lake"]
MACHINE = ["storm\n\nwas strong", "rain – it was…\nwet and cold today", "sun was warm", "snow was deep"]


@pytest.fixture
def pairs(home, any_file):
    """Small files of pairs; returns a function that writes one."""

    def write(file: str, human=HUMAN, machine=MACHINE):
        path = home / "real" / "fast-detect" / f"{file}.raw_data.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"original": human, "sampled": machine}))

    return write


def test_a_variant_is_a_genre_and_a_model_and_each_has_a_levelled_form():
    assert FastDetect.variants == tuple(
        f"{genre}-{model}{form}"
        for form in ("", "-levelled")
        for genre in ("xsum", "pubmed")
        for model in ("chatgpt", "gpt-4", "davinci")
    )
    bare, named, levelled = map(
        registry.dataset,
        ["fast-detect", "fast-detect:xsum-gpt-4", "fast-detect:xsum-gpt-4-levelled"],
    )
    assert bare.files == named.files == levelled.files
    assert [bare.is_levelled, named.is_levelled, levelled.is_levelled] == [False, False, True]
    assert len({registry.dataset(f"fast-detect:{each}").files for each in FastDetect.variants}) == 6


def test_each_seed_learns_the_human_texts_of_one_half_and_tests_the_pairs_of_the_other(pairs):
    pairs("xsum_davinci")
    for seed, learned, tested in ((0, slice(2), slice(2, 4)), (1, slice(2, 4), slice(2))):
        split = split_of(registry.dataset("fast-detect:xsum-davinci"), seed)
        assert {text.split()[0] for text in split.train} == {
            text.strip("“").split()[0].strip("”") for text in HUMAN[learned]
        }
        assert len(split.train) == len(split.pool) == 2
        assert sorted(split.outlier) == [False, False, True, True]
        assert sorted(text.split()[0] for text in odd_of(split)) == sorted(
            text.split()[0] for text in MACHINE[tested]
        )


def test_levelled_texts_have_single_spaces_signs_of_ascii_and_equally_many_words(pairs):
    pairs("pubmed_gpt-4")
    texts = registry.dataset("fast-detect:pubmed-gpt-4-levelled").read()[1].texts
    assert texts[:2] == ["storm over harbour", '"rain" over town today']
    assert texts[4:6] == ["storm was strong", "rain - it was..."]
    assert registry.dataset("fast-detect:pubmed-gpt-4").read()[1].texts == [*HUMAN, *MACHINE]


def test_a_pair_without_a_partner_is_named(pairs):
    pairs("xsum_gpt-4", HUMAN[:3])
    with pytest.raises(DataError, match=r"^fast-detect cannot be read: .*zip"):
        load(registry.dataset("fast-detect"))
    pairs("xsum_gpt-4", HUMAN, [*MACHINE[:3], "7"])
    with pytest.raises(DataError, match=r"^fast-detect has folds: .* human 4, machine 3, and 1 more"):
        load(registry.dataset("fast-detect"))


# texts of the models with a line break, of 150; no human text has one
BREAKS = {
    "xsum-chatgpt": 148,
    "xsum-gpt-4": 141,
    "xsum-davinci": 140,
    "pubmed-chatgpt": 0,
    "pubmed-gpt-4": 0,
    "pubmed-davinci": 64,
}


@pytest.mark.parametrize("variant", BREAKS)
def test_the_published_pairs_have_line_breaks_and_the_levelled_ones_none(real_dataset, variant):
    published, levelled = (real_dataset(f"fast-detect:{variant}{form}") for form in ("", "-levelled"))
    assert published.edition().is_published
    texts = published.read()[1].texts
    assert len(texts) == 300
    assert [sum("\n" in text for text in half) for half in (texts[:150], texts[150:])] == [0, BREAKS[variant]]
    level = levelled.read()[1].texts
    assert not any("\n" in text or "  " in text or set(text) & set("“”‘’–—…") for text in level)
    assert [len(text.split()) for text in level[:150]] == [len(text.split()) for text in level[150:]]


def test_seed_0_learns_the_pairs_0_to_74(real_dataset):
    dataset = real_dataset("fast-detect")
    corpus = load(dataset)
    for seed, learned in ((0, range(75)), (1, range(75, 150))):
        split = split_of(dataset, seed)
        assert sorted(split.train_rows) == [*learned]
        tested = sorted(set(range(150)) - set(learned))
        assert sorted(split.places) == [*tested, *(place + 150 for place in tested)]
    assert len(corpus.test) == 300


# -- onion

CLEAN = "sentence\tlabel\r\na fine film\t1\r\na \tdull one\t0\r\n"


def test_a_row_that_the_clean_file_does_not_have_is_poisoned(home, any_file):
    folder = home / "real" / "onion"
    folder.mkdir(parents=True)
    poisoned = "sentences \t labels\na fine film \t 1\na \tdull one \t 0\na cf fine film  \t 1\n"
    for name, text in (("clean", CLEAN), ("badnets", poisoned), ("scpn", CLEAN)):
        (folder / f"{name}-sst-2-train.tsv").write_bytes(text.encode())
    split = split_of(registry.dataset("onion"))
    assert split.is_ranking
    assert sorted(split.train) == ["a \tdull one", "a cf fine film", "a fine film"]
    assert odd_of(split) == ["a cf fine film"]
    assert registry.dataset("onion:badnets").read()[1].labels.tolist() == [0, 0, 1]
    assert registry.dataset("onion:scpn").read()[1].labels.tolist() == [0, 0]


@pytest.mark.parametrize(("variant", "n_poisoned"), [("badnets", 69), ("scpn", 1383)])
def test_poisoned_rows_are_as_many_as_published(real_dataset, variant, n_poisoned):
    dataset = real_dataset(f"onion:{variant}")
    split = split_of(dataset)
    assert dataset.edition().is_published
    assert (len(split.train), len(split.test), split.outlier.sum()) == (6920, 6920, n_poisoned)
    assert not any(text != text.strip() for text in split.test)


# -- mts-dialog

COLUMNS = ["ID", "section_header", "section_text", "dialogue"]


def rows(*headers):
    return [[str(n), header, f"The patient, {header.lower()}.", "Hi!"] for n, header in enumerate(headers)]


@pytest.fixture
def notes(home, monkeypatch):
    """Writes the three files of notes, with the first of their columns, and takes them for the published."""
    parts = rows(*MtsDialog.classes), rows(*MtsDialog.classes[:10]), rows(*MtsDialog.classes[10:])

    def write(n_columns: int, changed: str = ""):
        for file, part in zip(MtsDialog.files, parts, strict=True):
            file.local.parent.mkdir(parents=True, exist_ok=True)
            with file.local.open("w", newline="", encoding="utf-8") as stream:
                table = [row[:n_columns] for row in [COLUMNS, *part]]
                table[1][2] += changed
                csv.writer(stream).writerows(table)

    write(4)
    files, contents = [], []
    for file in MtsDialog.files:
        digest = hashlib.sha256(file.local.read_bytes()).hexdigest()
        files.append(replace(file, sha256=digest[:16], others=()))
        contents.append(mts_dialog._content(mts_dialog._rows(files[-1])))
    write(3)
    files = [replace(file, others=(hashlib.sha256(file.local.read_bytes()).hexdigest(),)) for file in files]
    monkeypatch.setattr(MtsDialog, "files", tuple(files))
    monkeypatch.setattr(mts_dialog, "_CONTENTS", tuple(contents))
    return write


def test_files_with_and_without_dialogues_have_the_same_edition(notes):
    editions = []
    for n_columns in (3, 4):
        notes(n_columns)
        editions.append(MtsDialog().edition())
        corpus = load(MtsDialog())
        assert (len(corpus.train), len(corpus.test)) == (20, 20)
        assert corpus.written_train.texts[:2] == ["The patient, fam/sochx.", "The patient, genhx."]
        assert [*splits(corpus)] == [*MtsDialog.classes[:8]]
    assert editions[0] == editions[1]
    assert editions[0].is_published
    assert editions[0].name == "published"


def test_other_notes_are_refused_and_accepted_ones_are_no_published_edition(notes, monkeypatch):
    notes(3, changed="!")
    name = MtsDialog.files[0].local.name
    with pytest.raises(DataError, match=rf"{name} is not the published file: its sha256 .*fetch it again"):
        MtsDialog().edition()
    digests = [hashlib.sha256(file.local.read_bytes()).hexdigest() for file in MtsDialog.files]
    files = [replace(file, others=(each,)) for file, each in zip(MtsDialog.files, digests, strict=True)]
    monkeypatch.setattr(MtsDialog, "files", tuple(files))
    edition = MtsDialog().edition()
    assert not edition.is_published
    assert edition.name.startswith(f"not the published files: {name} ")


def test_missing_notes_are_asked_for(home, monkeypatch):
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", "1")
    with pytest.raises(NotDownloadedError, match=r"notes-TrainingSet\.csv is missing.*MTS-Dialog-Tr.*csv"):
        MtsDialog().edition()


def test_eight_sections_have_the_notes_to_be_normal(real_dataset):
    dataset = real_dataset("mts-dialog")
    corpus = load(dataset)
    assert corpus.is_published
    assert (len(corpus.train), len(corpus.test)) == (1201, 400)
    counts = np.bincount(corpus.train.labels)
    assert counts[:8].tolist() == [351, 282, 118, 77, 63, 60, 60, 54]
    assert counts[8:].max() == 34
    assert [*splits(corpus)] == [*dataset.classes[:8]]


# -- rasa-demo

NLU = """
version: "2.0"
nlu:
- intent: install
  examples: |
    - what is [Rasa X](product)?
    - try [rasa playground]{"entity": "product", "value": "playground"} :)
    - what is Rasa X?
- synonym: x
  examples: |
    - rasa x
- regex: zipcode
  examples: |
    - [0-9]{5}
"""
TESTED = """
nlu:
- intent: install
  examples: |
    - what is [Rasa X]{"entity": "product", "value": "x"}?
    - is it free?
- intent: out_of_scope/non_english
  examples: |
    - wer bist du?
    - 你好
- intent: out_of_scope/other
  examples: |
    - lol
"""
ODD = """
nlu:
- intent: out_of_scope/other
  examples: |
    - give me food
    - try rasa playground :)
- intent: out_of_scope/non_english
  examples: |
    - 你好
"""


def test_a_query_in_another_language_is_odd_and_markup_is_removed(home, any_file):
    texts = dict.fromkeys(("nlu", "faq", "chitchat", "general"), "nlu: []")
    for name, text in (texts | {"nlu": NLU, "test_nlu": TESTED, "out_of_scope": ODD}).items():
        path = home / "real" / "rasa-demo" / f"{name}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    train, test = registry.dataset("rasa-demo").read()
    assert train.texts == ["what is Rasa X?", "try rasa playground :)", "what is Rasa X?"]
    assert train.labels.tolist() == [0, 0, 0]
    assert dict(zip(test.texts, test.labels.tolist(), strict=True)) == {
        "is it free?": 0,
        "give me food": 1,
        "try rasa playground :)": 1,
        "lol": 1,
        "你好": 2,
        "wer bist du?": 2,
    }


def test_queries_are_as_many_as_in_the_files_of_the_bot(real_dataset):
    dataset = real_dataset("rasa-demo")
    corpus = load(dataset)
    assert corpus.is_published
    assert (len(corpus.train), len(set(corpus.train.texts))) == (4587, 4583)
    assert np.bincount(corpus.test.labels).tolist() == [84, 375, 42]
    normal = {text for text, label in zip(corpus.test.texts, corpus.test.labels, strict=True) if not label}
    assert normal.isdisjoint(corpus.train.texts)
    assert corpus.n_seen == 2
    assert not any("](" in text or "]{" in text for text in [*corpus.train.texts, *corpus.test.texts])
