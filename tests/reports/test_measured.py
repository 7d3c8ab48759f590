"""Results as DataFrames: measured sweeps, the cells of a store, and their scores."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cells import cells_csv, failed, stored
from commands import adbench
from sklearn.metrics import roc_auc_score
from stores import log, result

from adbench_text import Cleaner, results, scores
from adbench_text.errors import TrackingError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.reports.files import MEASURED
from adbench_text.store.cells import COLUMNS
from adbench_text.store.store import Store

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
URI = "sqlite:///mlflow.db"


@pytest.fixture
def store(empty_database: Path, here: Path) -> Store:
    """A store in this folder, with a finished cell of each of two splits, and a failed one."""
    shutil.copy(empty_database, here / "mlflow.db")
    store = Store(URI)
    log(
        store,
        result(scores=np.arange(6.0)),
        result(inlier="law", scores=np.array([5.0, 4, 3, 2, 1, 0])),
        result(None, seed=1),
    )
    return store


def test_a_store_and_all_sweeps_have_the_same_columns_and_types(store):
    tables = [results(URI), *map(results, MEASURED)]
    for table in tables[1:]:
        assert table.dtypes.to_dict() == tables[0].dtypes.to_dict()
        assert list(table) == list(tables[0])
    joined = pd.concat(tables, ignore_index=True)
    assert joined.dtypes.to_dict() == tables[0].dtypes.to_dict()
    kinds = joined[["auroc", "test_outliers", "seed", "oracle", "started"]].dtypes
    assert [kind.kind for kind in kinds] == ["f", "f", "i", "b", "M"]
    assert joined.select_dtypes(["object", "str"]).notna().all(axis=None)


def test_the_page_says_what_each_column_has():
    section = PAGE.read_text(encoding="utf-8").partition("\n### Columns\n")[2].partition("\n#")[0]
    named = re.findall(r"`([^`]+)`", " ".join(re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE)))
    starts = [name.removesuffix("...") for name in named if name.endswith("...")]
    missing = [name for name in COLUMNS if name not in named and not name.startswith(tuple(starts))]
    assert missing == [], f"add a line to the table of columns in docs/python.md for {missing}"
    outdated = [name for name in named if name not in COLUMNS and not name.endswith("...")]
    assert outdated == [], f"remove {outdated} from the table of columns in docs/python.md"


@pytest.mark.parametrize("sweep", MEASURED)
def test_a_sweep_has_the_cells_of_its_file(sweep):
    table, written = results(sweep), pd.read_csv(MEASURED[sweep], keep_default_na=False, dtype=str)
    for name in ("name", "inlier", "status"):
        assert table[name].tolist() == written[name].tolist()
    for name in ("contamination", "auroc"):
        numbers = pd.to_numeric(written[name]).tolist()
        assert table[name].tolist() == pytest.approx(numbers, nan_ok=True)


def test_a_failed_cell_has_no_metric_and_a_missing_text_is_empty(store):
    table = results(URI).set_index(["inlier", "seed"])
    assert table["auroc"].to_dict() == pytest.approx(
        {("sea", 0): 1.0, ("law", 0): 1.0, ("sea", 1): np.nan}, nan_ok=True
    )
    assert table.loc["sea", 1]["status"] == "failed"
    assert set(table["protocol"]) == {"one-vs-rest"}
    assert set(table["name"]) == {"d(k=3)"}


def test_a_written_table_is_read_as_it_was(tmp_path):
    cells = [
        stored("ocsvm", "NA", 0.75, configuration="nu=0.2", preset="paper", oracle=True, test_outliers=0.1),
        failed("llr", "null", known=3, known_from="nan"),
    ]
    (tmp_path / "mine.csv").write_text(cells_csv(cells), encoding="utf-8")
    first, second = results(str(tmp_path / "mine.csv")).to_dict("records")
    assert (first["name"], first["detector"]) == ("ocsvm:paper", "ocsvm")
    assert (first["inlier"], first["oracle"], first["test_outliers"]) == ("NA", True, 0.1)
    assert (second["name"], second["inlier"], second["oracle"]) == ("llr", "null", False)
    assert (second["known"], second["known_from"]) == (3, "nan")
    assert np.isnan(second["auroc"])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("mian", "'mian'.*'main'"),
        ("mlflow.db", "'mlflow.db'.*'sqlite:///mlflow.db'"),
    ],
)
def test_an_unknown_sweep_is_one_line_with_the_names(source, message):
    with pytest.raises(UnknownNameError, match=message) as error:
        results(source)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("call", [results, scores])
def test_the_path_of_a_store_gets_its_address(store, call):
    for path in ("mlflow.db", str(Path("mlflow.db").absolute())):
        with pytest.raises(TrackingError, match=rf"^'{re.escape(path)}' .*\(sqlite:///{re.escape(path)}\)"):
            call(path)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("call", [results, scores])
def test_a_store_that_is_not_there_is_one_line(call):
    with pytest.raises(TrackingError, match=re.escape(URI)):
        call(URI)
    assert not Path("mlflow.db").exists()


def test_the_scores_of_documents_join_their_cells_and_are_written_as_parquet(store, tmp_path):
    documents, cells = scores(URI), results(URI)
    assert len(documents) == 12
    law = documents[documents["inlier"] == "law"]
    assert law["document"].tolist() == list(range(6))
    assert law["class"].tolist() == ["sea"] * 3 + ["law"] * 3
    assert law["outlier"].tolist() == [True] * 3 + [False] * 3
    assert law["score"].tolist() == [5, 4, 3, 2, 1, 0]
    joined = documents.merge(cells)
    assert len(joined) == 12
    assert roc_auc_score(law["outlier"], law["score"]) == 1
    documents.to_parquet(tmp_path / "scores.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "scores.parquet"), documents)


def test_scores_of_older_code_join_their_own_results(store):
    log(store, result(scores=np.arange(6.0)[::-1]), code_version="0ther")
    documents, cells = scores(URI), results(URI)
    joined = documents.merge(cells)
    assert len(joined) == len(documents) == 18
    assert joined.groupby("cell", observed=True)["code_version"].nunique().tolist() == [1, 1, 1]


def test_scores_are_those_of_the_detector_to_the_last_bit(store):
    made = [1e10 + 1 / 7, np.nextafter(1e10 + 1 / 7, 0), -1e-300 / 3, np.pi, 5e-324, -0.1]
    log(store, result(dataset="other", scores=np.array(made)))
    documents = scores(URI)
    assert documents[documents["dataset"] == "other"]["score"].tolist() == made


def test_the_scores_of_several_datasets_are_one_table(store):
    log(store, result(dataset="other", scores=np.arange(6.0)))
    assert scores(URI).groupby("dataset", observed=True).size().to_dict() == {"tiny": 12, "other": 6}


def test_lost_scores_are_left_out_with_a_warning_and_none_are_an_error(store):
    first, *others = Path("mlruns").rglob("scores.csv")
    first.unlink()
    with pytest.warns(UserWarning, match="scores of 1 "):
        assert len(scores(URI)) == 6
    for path in others:
        path.write_text("damaged")
    with (
        pytest.warns(UserWarning, match="scores of 2 "),
        pytest.raises(TrackingError, match="no scores"),
    ):
        scores(URI)


def code_of(text: str) -> str:
    """The indented lines of a page."""
    return "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))


@pytest.mark.usefixtures("toy_path", "here")
@pytest.mark.parametrize("limit", [None, 4])
def test_the_corpus_of_the_page_has_the_texts_of_documents(limit, monkeypatch):
    counting = registry.load("detectors", "counting")
    monkeypatch.setattr(counting, "decision_function", lambda self, texts: list(map(len, texts)))
    limited = f"--limit {limit}" if limit else ""
    result = adbench(f"run -d counting -s tiny --inlier sea --contamination 0 --jobs 0 {limited}")
    assert result.exit_code == 0, result.stderr
    section = PAGE.read_text(encoding="utf-8").partition("The corpus has the texts")[2]
    code = code_of(section.partition("\n## ")[0])
    load = f'load(registry.dataset("tiny"), {limit})'
    names = {"documents": scores(URI)}
    exec(re.sub(r"load\(.*\)", load, code.replace("20news", "tiny"), count=1), names)
    corpus, oddest, texts = names["corpus"], names["oddest"], names["texts"]
    assert len(texts) == len(oddest) == 10
    assert set(results(URI)["dataset_digest"]) == {corpus.digest}
    rows = oddest["document"].to_numpy()
    assert oddest["score"].tolist() == [len(corpus.test.texts[row]) for row in rows]
    assert oddest["class"].tolist() == [corpus.classes[label] for label in corpus.test.labels[rows]]
    assert Cleaner(as_papers=True).transform(texts) == [corpus.test.texts[row] for row in rows]


def test_the_example_of_the_page_runs(store):
    section = PAGE.read_text(encoding="utf-8").partition("## Results as data\n")[2].partition("\n## ")[0]
    names = {}
    exec(re.sub(r"tail\(100\)", "tail(2)", code_of(section.partition("The corpus has the texts")[0])), names)
    assert names["table"].loc["date:paper", ("20news", 0)] == pytest.approx(0.829, abs=5e-4)
    assert len(pd.read_parquet("scores.parquet")) == 12
    assert names["found"].tolist() == [1, 1]
