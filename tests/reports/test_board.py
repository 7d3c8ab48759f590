"""The leaderboard over all corpora: who has a mean and a rank, and what each row says."""

from itertools import chain

import pytest
from cells import compare, stored, texts

from adbench_text.contract.scores import FROM_SCRATCH, PRE_TRAINED
from adbench_text.reports import pages, standings
from adbench_text.reports.board import Board, Group
from adbench_text.reports.build import Builder
from adbench_text.reports.files import MEASURED
from adbench_text.reports.formats import markdown
from adbench_text.reports.origins import Origin, origin_of
from adbench_text.reports.report import Report
from adbench_text.store.cells_file import read_csv

MEMORY = {"peak_memory_mb": 480.0}


def cells(detector, dataset, *figures, regime=FROM_SCRATCH, **columns):
    """The cells of a detector on the splits a and b of a dataset."""
    facts = {"dataset": dataset, "dataset_digest": dataset, "regime": regime} | MEMORY | columns
    return [stored(detector, inlier, figure, **facts) for inlier, figure in zip("ab", figures, strict=True)]


NEAR = [
    cells("llr", "ship", 0.9, 0.9),
    cells("ngrams", "ship", 0.8, 0.8),
    cells("knn-words", "ship", 0.7, 0.7),
    cells("llr", "law", 0.6, 0.6),
    cells("ngrams", "law", 0.7, 0.7),
]
FAR = [cells(name, "sky", figure, figure) for name, figure in (("llr", 0.6), ("ngrams", 0.5))]
FAR += [cells("knn-words", "sky", 0.8, 0.8)]


def board(*sweeps, origins=()):
    groups = [
        Group(title, standings.places([compare([*chain(*rows)])]))
        for title, rows in zip(("near", "far"), sweeps, strict=False)
    ]
    return Board(groups, dict(origins))


def columns(table, *names):
    """The texts of some columns, by the detector of the row."""
    places = [table.header.index(name) for name in names]
    return {row[0]: [row[place] for place in places] for row in texts(table)}


def test_a_row_has_the_means_of_the_groups_that_the_detector_has_completely():
    found = columns(board(NEAR, FAR).table(), "near", "far", "mean")
    assert found == {
        "llr": ["*75.0", "60.0", "*67.5"],
        "ngrams": ["*75.0", "50.0", "62.5"],
        "knn-words": ["–", "*80.0", "–"],  # without the corpus law
    }


def test_ranks_are_among_the_detectors_that_have_the_group():
    found = columns(board(NEAR, FAR).table(), "rank, near", "rank, far", "rank")
    assert found == {
        "llr": ["*1.5", "2.0", "*1.8"],
        "ngrams": ["*1.5", "3.0", "2.2"],
        "knn-words": ["–", "*1.0", "–"],
    }


def test_equal_figures_have_the_mean_of_their_ranks():
    sweep = [cells(name, "ship", 0.8, 0.8) for name in ("llr", "ngrams")] + [cells("form", "ship", 0.9, 0.9)]
    assert columns(board(sweep).table(), "rank") == {"form": ["*1.0"], "llr": ["2.5"], "ngrams": ["2.5"]}


def test_detectors_with_all_groups_come_first_by_their_rank():
    worse = [*FAR, cells("form", "sky", 0.9, 0.9)]
    assert [*columns(board(NEAR, worse).table())] == ["llr", "ngrams", "form", "knn-words"]


def test_a_detector_without_a_complete_group_has_no_row():
    assert [*columns(board(NEAR).table())] == ["llr", "ngrams"]


def test_an_oracle_has_no_row():
    assert [*columns(board([*FAR, cells("form", "sky", 0.9, 0.9, oracle=True)]).table())] == [
        "knn-words",
        "llr",
        "ngrams",
    ]


def test_variants_of_a_dataset_count_as_one_corpus():
    of_variants = [cells("llr", f"sky:{part}", figure, figure) for part, figure in (("a", 0.9), ("b", 0.7))]
    group = board([*of_variants, cells("llr", "law", 0.5, 0.5)])
    assert columns(group.table(), "near") == {"llr": ["*65.0"]}
    assert group.table().notes == ["near: law, sky (2 variants)."]


def test_other_settings_and_detectors_in_files_are_apart_and_not_ranked():
    more = [
        cells("knn-words", "sky", 0.9, 0.9, configuration="k=5"),
        cells("rulers.py:Words", "sky", 0.3, 0.3),
        cells("pyod-knn", "sky", 0.2, 0.2, configuration="encoder=minilm", regime=PRE_TRAINED),
    ]
    found = board([*FAR, *more])
    assert [*columns(found.table())] == ["knn-words", "llr", "ngrams", "pyod-knn(encoder=minilm)"]
    variants = found.variants()
    assert columns(variants, "near") == {"knn-words(k=5)": ["90.0"], "rulers.py:Words": ["30.0"]}
    assert not [name for name in variants.header if name.startswith("rank")]


def test_a_row_has_knowledge_costs_and_year():
    sweep = [cells("cvdd", "sky", 0.9, 0.9, regime=PRE_TRAINED), *FAR]
    found = columns(board(sweep).table(), "knows", "seconds for 10,000", "GB", "year")
    assert found["cvdd"] == ["pre-trained", "580", "0.48", "2019"]  # (1.5 + 0.25) s for 10 + 20 documents
    unmeasured = board([cells("llr", "sky", 0.9, 0.9, peak_memory_mb=None, fit_seconds=None)]).table()
    assert columns(unmeasured, "seconds for 10,000", "GB") == {"llr": ["–", "–"]}


@pytest.mark.parametrize(
    ("detector", "year", "section"),
    [
        ("llr", 2026, "llr"),
        ("date", 2021, "date"),
        ("iforest", 2008, "ocsvm-and-iforest"),
        ("pyod-lof", 2019, "pyods-detectors"),
    ],
)
def test_a_detector_has_the_year_of_its_publication_and_its_section(detector, year, section):
    assert origin_of(detector) == Origin(year, f"detectors.md#{section}")


def test_a_detector_in_a_file_has_no_year():
    assert origin_of("rulers.py:Words") == Origin()


def test_a_sent_detector_has_its_own_year_and_address():
    sweep = [*FAR, cells("mine", "sky", 0.9, 0.9, source="sent")]
    origin = Origin(1999, "https://example.org/mine")
    table = board(sweep, origins={"mine": origin}).table()
    assert columns(table, "year")["mine (sent)"] == ["1999"]
    assert "| [mine (sent)](https://example.org/mine) |" in markdown.render(Report([table], []))


def test_each_group_says_of_a_sent_detector_whether_it_has_a_mean():
    sent = compare(cells("mine", "ship", 0.9, 0.8, source="sent"))
    ours = compare([*chain(*NEAR)])
    ship = [place for place in standings.places([ours, sent]) if place.corpus.dataset == "ship"]
    found = Board([Group("one", ship), Group("two", standings.places([ours, sent]))])
    assert [*found.notes_on_submitted(sent)] == [
        "mine (sent): all corpora, one, 85.0; shown",
        "mine (sent): all corpora, two; not shown, it has 1 of 2 corpora",
    ]


@pytest.mark.parametrize("part", pages.PARTS)
def test_no_published_method_has_all_corpora_of_a_group_as_the_page_says(part):
    places = standings.places([Builder(read_csv(MEASURED[sweep])).comparison for sweep in pages.PARTS[part]])
    methods = [{row.label for row in place.corpus.published_rows} for place in places]
    assert any(methods)
    assert set.intersection(*methods) == set()
