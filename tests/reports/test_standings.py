"""The leaderboard: who is the best of each kind of knowledge, and who competes."""

import json
import re
import shutil
from itertools import chain

import numpy as np
import pytest
from cells import compare, of_another_edition, stored, texts
from commands import adbench

from adbench_text.contract.scores import FROM_SCRATCH, TEST_BATCH, WORDS
from adbench_text.corpora.corpus import load
from adbench_text.corpora.split import draw
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.metrics import all_metrics
from adbench_text.plugins import registry
from adbench_text.reports import pages, standings
from adbench_text.reports.build import Builder
from adbench_text.reports.origins import Origin
from adbench_text.reports.submitted import origins, read_entries
from adbench_text.store.cells import keys_of


def cells(detector, *figures, regime=FROM_SCRATCH, **columns):
    """The cells of a detector on the splits a and b."""
    found = zip("ab", figures, strict=False)
    return [stored(detector, inlier, figure, regime=regime, **columns) for inlier, figure in found]


def board(*sweeps) -> list[list[str]]:
    return texts(standings.table(standings.places([compare([*chain(*rows)]) for rows in sweeps])))


def test_the_best_of_each_kind_of_knowledge_is_on_the_board():
    sweep = [
        cells("ngrams", 0.7, 0.9),
        cells("knn-words", 0.8, 0.7),
        cells("llr", 0.9, 0.8, regime=WORDS),
        cells("ngrams", 0.5, 0.6, level=0.1),
        cells("knn-words", 0.7, 0.6, level=0.1),
    ]
    assert board(sweep) == [
        ["made-up", "none", "ngrams", "80.0", "1.8", "knn-words", "65.0"],
        ["made-up", "words", "llr", "*85.0", "1.8", "–", "–"],
    ]


def test_what_lacks_a_split_or_is_an_oracle_or_sees_the_test_batch_does_not_compete():
    sweep = [
        cells("ngrams", 0.6, 0.6),
        cells("knn-words", 0.9),
        cells("knn-vectors", 0.9, 0.9, oracle=True),
        cells("llr", 0.9, 0.9, regime=TEST_BATCH),
    ]
    assert board(sweep) == [["made-up", "none", "ngrams", "*60.0", "1.8"]]


def test_of_two_sweeps_the_one_with_most_seeds_counts():
    once = [cells("ngrams", 0.9, 0.9)]
    thrice = [cells("ngrams", 0.6, 0.6, seed=seed) for seed in range(3)]
    for sweeps in ([once, thrice], [thrice, once]):
        assert [row[3] for row in board(*sweeps)] == ["*60.0"]


PAGE = "above\n<!-- table: one-vs-rest -->\nolder\n<!-- end -->\nbelow\n"


def test_a_page_has_its_tables_made_anew():
    page = pages.with_tables(PAGE)
    assert page.startswith("above\n<!-- table: one-vs-rest -->\n\n| corpus |")
    assert page.endswith("<!-- end -->\nbelow\n")
    assert "older" not in page


# -- what others send


@pytest.fixture
def sent(toy_path, here):
    """Write an entry with all splits of a corpus: the longer a text, the odder. Return its folder."""

    def sent(name="mine", knows=FROM_SCRATCH, options="--contamination 0,0.1"):
        folder = here / "submitted" / name
        assert adbench(f"export -s tiny {options} --to {folder}").exit_code == 0
        for file in folder.rglob("test.jsonl"):
            texts = [json.loads(line) for line in file.read_text().splitlines()]
            rows = "".join(f"{text['id']},{len(text['text'])}\n" for text in texts)
            (file.parent / "scores.csv").write_text(f"id,score\n{rows}")
        for file in (*folder.rglob("*.jsonl"), *folder.rglob("labels.csv")):
            file.unlink()
        (folder / "entry.toml").write_text(f'knows = "{knows}"\n')
        return folder

    return sent


def of_tiny(name="llr", seeds=(0,), figure=0.6, levels=(0, 0.1)):
    """Our results on the corpus of the entry."""
    tiny = load(registry.dataset("tiny"))
    facts = {"dataset": "tiny", "dataset_digest": tiny.digest, "regime": FROM_SCRATCH}
    return [
        stored(name, inlier, figure, seed=seed, level=level, **facts)
        for inlier in tiny.classes
        for seed in seeds
        for level in levels
    ]


def checked(folder, ours):
    (cells,) = read_entries(folder.parent)
    comparison = Builder(cells).comparison
    standings.check(comparison, [compare(ours)])
    return comparison


def test_the_figures_of_an_entry_are_those_of_its_scores(sent):
    folder = sent()
    (table,) = read_entries(folder.parent)
    tiny = load(registry.dataset("tiny"))
    assert len(table) == 2 * len(tiny.classes)
    for row, key in zip(table.itertuples(), keys_of(table), strict=True):
        split = draw(tiny.raw, key)
        expected = all_metrics(split.outlier, np.array([float(len(text)) for text in split.test]))
        assert {name: getattr(row, name) for name in expected} == pytest.approx(expected)
        assert (row.n_train, row.n_test) == (len(split.train), len(split.test))
    assert set(table["regime"]) == {FROM_SCRATCH}
    assert set(table["name"]) == {"mine"}


@pytest.mark.parametrize(("figure", "fate"), [(0.2, "; shown"), (0.99, "; not shown, llr has 99.0")])
def test_each_figure_of_an_entry_is_told_and_in_the_table_of_entries(sent, figure, fate):
    ours = of_tiny(figure=figure)
    comparison = checked(sent(), ours)
    found = standings.places([compare(ours), comparison])
    lines = [*standings.notes_on_submitted(found, comparison)]
    assert [line.partition(",")[0] for line in lines] == [
        "mine (sent): tiny at 0%",
        "mine (sent): tiny at 10%",
    ]
    assert all(line.endswith(fate) for line in lines)
    ((name, corpus, knows, *figures),) = texts(standings.table_of_entries(found))
    assert (name, corpus, knows) == ("mine (sent)", "tiny", "none")
    assert all(f", {figure};" in line for figure, line in zip(figures, lines, strict=True))


def test_a_level_that_lacks_a_split_is_told(sent):
    folder = sent()
    shutil.rmtree(first(folder, "scores.csv").parent)
    comparison = checked(folder, of_tiny())
    at_0, at_10 = standings.notes_on_submitted(standings.places([compare(of_tiny()), comparison]), comparison)
    assert at_0.endswith("; not shown, it has 2 of 3 cells")
    assert at_10.endswith("; not shown, llr has 60.0")


def rewritten(file, **facts):
    known = json.loads(file.read_text())
    file.write_text(json.dumps(known | facts))


def first(folder, name):
    return sorted(folder.rglob(name))[0]


@pytest.mark.parametrize(
    ("spoil", "quoted"),
    [
        (lambda folder: (folder.parent / "lie.csv").write_text("auroc\n0.999\n"), "lie.csv"),
        (lambda folder: (folder / "entry.toml").write_text('knows = "all"'), "'all'"),
        (lambda folder: (folder / "entry.toml").write_text(f'knows = "{TEST_BATCH}"'), TEST_BATCH),
        (lambda folder: (folder / "entry.toml").unlink(), "entry.toml"),
        (lambda folder: [shutil.rmtree(each) for each in folder.glob("*/law-*")], "at 0%: 2 of 3"),
        (lambda folder: first(folder, "scores.csv").unlink(), "scores.csv"),
        (lambda folder: first(folder, "scores.csv").write_text("id,score\n0,0.5\n"), "missing: id '1'"),
        (lambda folder: rewritten(first(folder, "split.json"), seed="5"), "documents differ"),
        (lambda folder: rewritten(first(folder, "split.json"), inlier="space"), "space"),
        (lambda folder: rewritten(first(folder, "split.json"), dataset="other"), "'other'"),
        (lambda folder: rewritten(first(folder, "split.json"), digests={}), "export"),
    ],
)
def test_an_entry_that_cannot_compete_is_refused(sent, spoil, quoted):
    folder = sent()
    spoil(folder)
    with pytest.raises((DataError, InvalidValueError), match=re.escape(quoted)):
        checked(folder, of_tiny())


@pytest.mark.parametrize(
    ("facts", "origin"),
    [
        ("", Origin()),
        ('code = "https://example.org/a-b"\nyear = 2020', Origin(2020, "https://example.org/a-b")),
    ],
)
def test_an_entry_may_state_its_address_and_year(sent, facts, origin):
    folder = sent()
    (folder / "entry.toml").write_text(f'knows = "{FROM_SCRATCH}"\n{facts}\n')
    assert origins(folder.parent) == {"mine": origin}


@pytest.mark.parametrize(
    ("fact", "quoted"),
    [
        ('code = "javascript:x"', "'javascript:x'"),
        ('code = "https://a.org/)](b"', "'https://a.org/)](b'"),
        ('year = "new"', "'new'"),
    ],
)
def test_a_wrong_address_or_year_of_an_entry_is_refused(sent, fact, quoted):
    folder = sent()
    (folder / "entry.toml").write_text(f'knows = "{FROM_SCRATCH}"\n{fact}\n')
    with pytest.raises(DataError, match=re.escape(f"got {quoted}")):
        origins(folder.parent)


def test_the_seeds_of_an_entry_are_those_of_our_results(sent):
    folder = sent(options="--contamination 0,0.1 --seed 77")
    with pytest.raises(DataError, match=r"seeds are \[77\].* have \[0, 1, 2\] or \[0\]"):
        checked(folder, [*of_tiny(), *of_tiny("date", range(3))])


def test_an_entry_on_other_documents_is_on_no_corpus_of_the_leaderboard(sent):
    with pytest.raises(DataError, match="has no corpus tiny"):
        checked(sent(), cells("llr", 0.9, 0.9))


def test_a_corpus_of_other_documents_is_another_row():
    other = [of_another_edition(row) for row in cells("ngrams", 0.5, 0.5)]
    frames = [compare(cells("ngrams", 0.9, 0.9)), compare(other)]
    assert len(standings.places(frames)) == 2
