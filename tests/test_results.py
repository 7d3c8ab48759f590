"""The measured results of reports/results: their tables come from the CSV files beside them."""

import re
import runpy
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from cells import cells_csv, failed, stored
from pandas.testing import assert_frame_equal

from adbench_text import results
from adbench_text.contract.scores import FROM_SCRATCH, PRE_TRAINED, WORDS
from adbench_text.reports.build import Builder
from adbench_text.reports.files import MEASURED
from adbench_text.reports.pages import DOCS, RESULTS, with_tables, write
from adbench_text.reports.published import figures_of_the_paper, rows_of_wu
from adbench_text.reports.tables import twins
from adbench_text.store.cells import SPLIT, table_of
from adbench_text.store.cells_file import read_csv

ROOT = Path(__file__).parents[1]
RENEW = "run python -m adbench_text.reports.pages"
RESULTS_PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
HOME = re.compile(r"/(home|root|tmp|work|Users)/")


NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.mark.parametrize("sweep", MEASURED)
def test_the_tables_and_figures_are_those_of_the_cells(sweep, tmp_path):
    page, *figures = (path.relative_to(tmp_path) for path in write(sweep, tmp_path))
    assert (RESULTS / page).read_text("utf-8") == (tmp_path / page).read_text("utf-8"), RENEW
    kept = (RESULTS / "figures").glob(f"{sweep}-*")
    assert sorted(path.relative_to(RESULTS) for path in kept) == sorted(figures)
    for name in figures:
        kept, drawn = ((folder / name).read_text(encoding="utf-8") for folder in (RESULTS, tmp_path))
        assert NUMBER.split(kept) == NUMBER.split(drawn), RENEW
        # the last digits may be those of another processor
        assert list(map(float, NUMBER.findall(kept))) == pytest.approx(
            list(map(float, NUMBER.findall(drawn))), abs=0.01
        )


@pytest.mark.parametrize("name", DOCS)
def test_the_tables_in_pages_of_docs_are_those_of_the_cells(name):
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert "<!-- table: " in page
    assert page == with_tables(page), RENEW


@pytest.mark.parametrize("sweep", MEASURED)
def test_the_cells_state_their_origin_and_no_place_of_a_machine(sweep):
    assert not HOME.search((RESULTS / f"{sweep}.csv").read_text(encoding="utf-8"))
    table = results(sweep)
    assert (table[["version", "commit", "command", "machine", "edition"]] != "").all(axis=None)
    assert table["started"].min() > pd.Timestamp("2023-11-14", tz="UTC")


MADE_BY = {"version": "1.2", "commit": "c0ffee", "command": "adbench-text run", "machine": "2 x CPU"}
CELLS = [
    stored(
        "ocsvm", "a", 0.75, configuration="kernel=linear, nu=0.2", level=0.05, seed=3, regime="word vectors"
    ),
    stored("cvdd", "b", 0.5, oracle=True, test_outliers=0.1, harness_version="1", libraries="numpy 2"),
    failed("llr", "a", **MADE_BY, started=1_700_000_000, published=False, edition="half of it", known=3),
    stored("llr", "=1+1", classes='["=1+1", "NA, \\"b\\""]', limit=20.0, protocol="leave-one-out"),
]


def test_cells_are_read_as_they_were_written(tmp_path):
    (tmp_path / "mine.csv").write_text(cells_csv(CELLS), encoding="utf-8")
    assert_frame_equal(read_csv(tmp_path / "mine.csv"), table_of(CELLS))


@cache
def all_cells() -> pd.DataFrame:
    """The cells of all sweeps; tests may only read from it."""
    return pd.concat(map(results, MEASURED))


def complete_cells() -> pd.DataFrame:
    """The cells of all sweeps on complete corpora."""
    cells = all_cells()
    return cells[cells["limit"].isna()]


@cache
def means() -> dict[tuple[str, str, float], float]:
    """The mean AUROC over the splits and seeds, in percent, by detector, dataset and contamination."""
    cells = complete_cells()
    newest = cells[cells["status"] == "ok"].drop_duplicates(
        ["name", "dataset", "contamination", "inlier", "seed"], keep="last"
    )
    return (100 * newest.groupby(["name", "dataset", "contamination"])["auroc"].mean()).to_dict()


PART = re.compile(r"^‡ Our detectors were trained on part of AG News, ([\d,]+) of ([\d,]+) doc", re.MULTILINE)


@pytest.mark.parametrize(("page", "first"), [("README.md", 1), ("docs/results.md", 2)])
def test_a_page_marks_the_dataset_that_is_not_the_published_edition(page, first):
    text = (ROOT / page).read_text(encoding="utf-8")
    (header,) = [line.split(" | ") for line in text.splitlines() if line.startswith("| detector |")]
    cells = complete_cells()
    cells = cells[cells["contamination"] == 0]
    published = cells.groupby("dataset")["published"].all()
    assert ["‡" in name for name in header[first : first + 4]] == [
        not published[dataset] for dataset, _ in COLUMNS
    ]
    ((ours, theirs),) = PART.findall(text)
    n_train = cells[cells["dataset"] == "agnews"].groupby("inlier")["n_train"].last()
    assert ours == f"{n_train.mean():,.0f}"
    of_paper = figures_of_the_paper()["training_documents"]["agnews"]
    assert theirs == f"{fmean(of_paper.values()):,.0f}"


def test_each_network_of_the_twins_has_its_twin_and_its_plain_method():
    comparison = Builder(read_csv(RESULTS / "twins.csv")).comparison
    found = list(twins.measured(comparison, 0))
    assert len(found) == 8
    assert all(np.isfinite(each.figures).all(axis=None) and len(each.figures) == 17 for each in found)
    page = (RESULTS / "twins.md").read_text(encoding="utf-8")
    (table,) = (table for table in twins.tables(comparison) if " 0% " in table.title)
    for row in table.rows:
        figures = " | ".join(entry.text for entry in row[2:7])
        assert f" | {figures} |" in page


COLUMNS = [("20news", 0.0), ("20news", 0.1), ("agnews", 0.0), ("agnews", 0.1)]
ROW = re.compile(r"^\| `([^`]+)`.* \|$", re.MULTILINE)


@pytest.mark.parametrize(("page", "first", "n_rows"), [("README.md", 1, 7), ("docs/results.md", 2, 14)])
def test_the_figures_of_a_page_are_those_of_the_cells(page, first, n_rows):
    measured = means()
    rows = list(ROW.finditer((ROOT / page).read_text(encoding="utf-8")))
    assert len(rows) == n_rows
    for row in rows:
        figures = row[0].strip("|").split("|")[first:]
        shown = {column: figure.strip("* ") for column, figure in zip(COLUMNS, figures, strict=False)}
        expected = {key: f"{measured[row[1], *key]:.1f}" for key, figure in shown.items() if figure}
        assert {key: figure for key, figure in shown.items() if figure} == expected


@pytest.mark.parametrize("page", ["README.md", "docs/results.md"])
def test_a_page_says_of_each_detector_that_knows_a_pre_trained_model_that_it_is_pre_trained(page):
    regimes = all_cells().groupby("name")["regime"].last()
    rows = list(ROW.finditer((ROOT / page).read_text(encoding="utf-8")))
    said = {row[1]: "pre-trained" in row[0] for row in rows}
    assert said == {name: regimes[name] == PRE_TRAINED for name in said}
    of_llama = [row[0] for row in rows if re.fullmatch(r"ensemble:\w+", row[1])]
    assert of_llama
    assert all("token vectors of LLaMA 2 70B, no network at run time" in row for row in of_llama)


KINDS = {FROM_SCRATCH: "none", WORDS: "word frequencies|GloVe", PRE_TRAINED: "pre-trained"}
OF_US = re.compile(r"^\| (?:ours: )?`([^`]+)`[^|]* \| ([^|]+) \|", re.MULTILINE)


def test_the_page_says_none_of_a_detector_where_reports_say_that_it_knows_none():
    regimes = all_cells().groupby("name")["regime"].last()
    rows = OF_US.findall(RESULTS_PAGE)
    assert len(rows) == 18
    assert [name for name, knows in rows if not re.match(KINDS[regimes[name]], knows)] == []


def test_the_tables_of_real_anomalies_are_those_of_the_cells():
    real = runpy.run_path(str(ROOT / "benchmarks" / "real.py"))
    page = (RESULTS / "real.md").read_text(encoding="utf-8")
    cells = results("real")
    assert set(real["DETECTORS"]) == set(cells["name"])
    for table in (real["machine_texts"](cells), real["others"](cells)):
        assert table in page, "run python benchmarks/real.py"


IN_SCOPE = ["ensemble(members=llr, ngrams)", "ensemble:clean", "ensemble:clean(encoder=minilm)", "date:fast"]


@pytest.mark.parametrize("dataset", ["sst-far", "rostd", "banking-far", "banking-near"])
def test_the_figures_of_scope_are_those_of_the_cells(dataset):
    (row,) = [line for line in RESULTS_PAGE.splitlines() if line.startswith(f"| {dataset} |")]
    shown = [column.split()[0] for column in row.strip("| ").split(" | ")[2:6]]
    measured = means()
    assert shown == [f"{measured[name, dataset, 0.0]:.1f}" for name in IN_SCOPE]


BESIDE = re.compile(r"^\| (ours|theirs): (.+?) (?:† )?\| (.*?) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)


def test_the_figures_beside_those_of_wu_are_those_of_the_cells_and_of_the_data():
    shown = {(who, name.strip("`")): figures for who, name, _, *figures in BESIDE.findall(RESULTS_PAGE)}
    expected = defaultdict(list)
    for metric in ("auroc", "aupr_out", "fpr95"):
        values = defaultdict(list)
        for row in rows_of_wu("20news", metric):
            values["theirs", row["method"]].append(row[metric])
        cells = pd.concat(map(results, ("main", "beyond")))
        identity = ["detector", "preset", "configuration", *SPLIT]
        for cell in cells.drop_duplicates(identity, keep="last").itertuples():
            if cell.dataset == "20news" and not cell.contamination:
                values["ours", cell.name].append(100 * getattr(cell, metric))
        for key, of_key in values.items():
            expected[key].append(f"{fmean(of_key):.1f}")
    assert shown == {key: figures for key, figures in expected.items() if key in shown}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    best = [("theirs", "MLKD"), ("theirs", "GPT-2 from scratch"), ("ours", "knn-words")]
    named = re.search(
        r"best published means .* are ([\d.]+).* and ([\d.]+) .*`knn-words`, ([\d.]+)\)", readme, re.S
    )
    assert list(named.groups()) == [expected[key][0] for key in best]
    assert [who for who, _ in shown] == 4 * ["ours"] + 5 * ["theirs"]
