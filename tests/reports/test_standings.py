"""The leaderboard: who is the best of each kind of knowledge, and who competes."""

from itertools import chain

import pytest
from cells import cells_csv, compare, of_another_edition, stored, texts

import adbench_text
from adbench_text.contract.scores import FROM_SCRATCH, PRE_TRAINED, TEST_BATCH, WORDS
from adbench_text.errors import DataError
from adbench_text.reports import pages, standings


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


def of_20news(regime, **columns):
    """Cells that somebody sends, on the documents of our cells."""
    ours = adbench_text.results("main")
    ours = ours[(ours["dataset"] == "20news") & (ours["name"] == "llr") & (ours["seed"] == 0)]
    return [
        stored(
            "scores:theirs",
            row.inlier,
            0.999,
            dataset="20news",
            regime=regime,
            **{"dataset_digest": row.dataset_digest, "published": True, **columns},
        )
        for row in ours.itertuples()
    ]


PAGE = "above\n<!-- table: one-vs-rest -->\nolder\n<!-- end -->\nbelow\n"


def test_what_others_send_is_on_the_page(tmp_path):
    (tmp_path / "theirs.csv").write_text(cells_csv(of_20news(PRE_TRAINED)), encoding="utf-8")
    page = pages.with_tables(PAGE, tmp_path)
    assert "\n| 20news | pre-trained | scores:theirs (theirs.csv) | **99.9** | 1.8 |" in page
    assert page.startswith("above\n<!-- table: one-vs-rest -->\n")
    assert page.endswith("<!-- end -->\nbelow\n")
    assert "older" not in page
    assert "scores:theirs" not in pages.with_tables(PAGE)


@pytest.mark.parametrize(
    ("sent", "quoted"),
    [
        (of_20news(""), "''"),
        (of_20news(TEST_BATCH), TEST_BATCH),
        (of_20news(WORDS, dataset_digest="d7"), "d7"),
        (of_20news(WORDS, dataset_digest=""), "dataset_digest"),
        ([*of_20news(WORDS)[1:], *of_20news(PRE_TRAINED)[:1]], f"'{WORDS}'.*'{PRE_TRAINED}'"),
        (of_20news(WORDS)[1:], "at 0%: 5 of 6, at 10%: none"),
        ([*of_20news(WORDS), *of_20news(WORDS, seed=1)[1:]], "at 0%: 11 of 12"),
        (of_20news(WORDS, contamination=0.05), "at 0%: none, at 10%: none"),
        (of_20news(WORDS, oracle=True), "scores:theirs .*20news.* labels"),
        (
            [
                *of_20news(WORDS, started=1),
                *of_20news(WORDS, contamination=0.1, code_version="2", started=2),
            ],
            r"\(older\).* other code",
        ),
        ([*of_20news(WORDS), *of_20news(WORDS, preset="other")[1:]], "scores:theirs:other"),
    ],
)
def test_what_cannot_compete_is_refused(sent, quoted, tmp_path):
    (tmp_path / "theirs.csv").write_text(cells_csv(sent), encoding="utf-8")
    with pytest.raises(DataError, match=quoted) as error:
        pages.with_tables(PAGE, tmp_path)
    assert "theirs.csv" in str(error.value)


def test_a_corpus_of_other_documents_is_another_row():
    other = [of_another_edition(row) for row in cells("ngrams", 0.5, 0.5)]
    frames = [compare(cells("ngrams", 0.9, 0.9)), compare(other)]
    assert len(standings.places(frames)) == 2
