"""The report on stores that somebody changed or that are read-only, and on cells of others."""

import csv
import io
import os
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from commands import assert_refused
from stores import execute, files, log, result

from adbench_text import results
from adbench_text.cli.main import main
from adbench_text.store.store import Store

LAPTOP = "my laptop"
THEIRS = [("0", "0.7", "ok", "theirs.csv"), ("2", "", "failed", "theirs.csv")]


@pytest.fixture(scope="module")
def both_stores(empty_database, tmp_path_factory) -> Path:
    """A folder with two stores in folders of their own; tests work on copies of it."""
    folder = tmp_path_factory.mktemp("stores")
    made = []
    for name in (LAPTOP, "node"):
        (folder / name).mkdir()
        made.append(Store(f"sqlite:///{shutil.copy(empty_database, folder / name / 'mlflow.db')}"))
    log(made[0], result(0.9, scores=None), result(0.8, seed=1, scores=None))  # no scores give these figures
    log(made[1], result(0.7, scores=None), result(None, seed=2))
    return folder


@pytest.fixture
def stores(both_stores, tmp_path, monkeypatch) -> list[Store]:
    """Two stores in folders of their own; one cell is in both."""
    monkeypatch.chdir(shutil.copytree(both_stores, tmp_path, dirs_exist_ok=True))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return [Store(f"sqlite:///{Path(name) / 'mlflow.db'}") for name in (LAPTOP, "node")]


def report(*words: str) -> Result:
    return CliRunner().invoke(main, ["report", *words])


def cells(*words: str) -> list[dict[str, str]]:
    done = report("--format", "csv", *words)
    assert done.exit_code == 0, done.output
    return list(csv.DictReader(io.StringIO(done.stdout)))


def facts(*words: str) -> list[tuple[str, ...]]:
    names = ("seed", "auroc", "status", "source")
    return sorted(tuple(row[name] for name in names) for row in cells(*words))


def test_a_store_that_cannot_be_written_is_read(stores, monkeypatch):
    laptop = stores[0].uri
    before = files(Path(LAPTOP))
    access = os.access
    monkeypatch.setattr(  # root may write everything
        "os.access",
        lambda path, mode: access(path, mode) and not (mode & os.W_OK and LAPTOP in str(path)),
    )
    assert [row[:2] for row in facts("--tracking-uri", laptop)] == [("0", "0.9"), ("1", "0.8")]
    page = report("--format", "html", "--output", "page.html", "--tracking-uri", laptop)
    assert page.exit_code == 0, page.output
    assert files(Path(LAPTOP)) == before
    refused = CliRunner().invoke(main, ["ui", "--tracking-uri", laptop])
    assert_refused(refused, 1, f"{LAPTOP}/mlflow.db", "cannot write", "--tracking-uri")


@pytest.mark.parametrize("command", [["odd"], ["report", "--with"], ["report"]])
def test_a_store_in_a_wrong_place_is_refused_with_the_command_that_reports_from_it(stores, command):
    file = Path(LAPTOP, "mlflow.db").absolute()
    refused = CliRunner().invoke(main, [*command, str(file)])
    assert refused.exit_code != 0
    assert f"report --tracking-uri 'sqlite:///{file}'" in refused.stderr


def test_the_variable_of_mlflow_holds_an_address_with_spaces(stores, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", stores[0].uri)
    assert " " in stores[0].uri
    assert len(cells()) == 2


def test_a_report_names_the_run_that_was_changed_and_leaves_it_out(stores):
    laptop = stores[0].uri
    execute(stores[0], "UPDATE latest_metrics SET value = 5 WHERE key = 'auroc' AND value = 0.9")
    for form in ("markdown", "csv", "html"):
        done = report("--tracking-uri", laptop, "--format", form)
        assert done.exit_code == 0
        assert "has 5 as its &#39;auroc&#39;" in done.output.replace("'", "&#39;")
    execute(stores[0], "UPDATE params SET value = '00' WHERE key = 'seed' AND value = '1'")
    done = report("--tracking-uri", laptop)
    assert_refused(done, 1, "'d(k=3) | sea | 0% | seed ", laptop)
    assert done.stderr.count("\n") == 1


# -- cells of others


@pytest.fixture
def theirs(stores) -> Path:
    """The cells of the node, as a colleague sends them."""
    path = Path("theirs.csv")
    assert report("--tracking-uri", stores[1].uri, "--format", "csv", "--output", str(path)).exit_code == 0
    return path


def test_cells_of_a_file_are_beside_those_of_the_store(stores, theirs):
    both = "--tracking-uri", stores[0].uri, "--with", str(theirs)
    ours = [("0", "0.9", "ok", ""), ("1", "0.8", "ok", "")]
    assert facts(*both) == sorted(
        [*ours, ("0", "0.7", "ok", "theirs.csv"), ("2", "", "failed", "theirs.csv")]
    )


def head(*words: str) -> str:
    """The detectors of the main table."""
    table = report("--table", "main", "--format", "markdown", *words)
    assert table.exit_code == 0, table.output
    (line,) = re.findall(r"^\| dataset \| inlier \| (.*) \|$", table.stdout, re.MULTILINE)
    return line


def test_a_detector_of_the_store_and_of_a_file_has_one_column_unless_both_are_named(stores, theirs):
    both = "--tracking-uri", stores[0].uri, "--with", str(theirs)
    printed = report(*both, "--table", "main", "--format", "markdown").stdout
    assert "| sea | 85.0 ± 7.1 |" in printed
    assert re.search(r"^- .* theirs\.csv, because the store has it: d\(k=3\)\. .* 20 points", printed, re.M)
    assert "failed" not in printed  # the cell that failed is not shown
    for chosen in ([], ["-d", "d"], ["-d", "d*"]):
        assert head(*both, *chosen) == "d(k=3)"
    apart = "d(k=3) | d(k=3) (theirs.csv)"
    assert head(*both, "-d", "d,d(k=3) (theirs.csv)") == apart
    assert head(*both, "-d", "d(k=3) (theirs.csv)") == "d(k=3) (theirs.csv)"
    assert head(*both, "--baseline", "d(k=3) (theirs.csv)", "-t", "significance") == apart


def test_results_of_a_file_have_no_advice_to_run_them_again(stores, theirs):
    lines = theirs.read_text().splitlines(keepends=True)
    changed = [line.replace("c0de", "0ther") for line in lines]
    Path("older.csv").write_text("".join([*lines[:2], *changed[2:]]))
    assert "d(k=3) (older) (older.csv)" in head("--with", "older.csv")
    assert "run the sweep again" not in report("--with", "older.csv").stdout


def test_a_report_needs_no_store_beside_a_file(theirs):
    assert facts("--with", str(theirs)) == [
        ("0", "0.7", "ok", "theirs.csv"),
        ("2", "", "failed", "theirs.csv"),
    ]
    for form in ("terminal", "markdown", "html"):
        done = report("--with", str(theirs), "--format", form)
        assert done.exit_code == 0, done.output
        assert "theirs.csv" in done.stdout
    assert not Path("mlflow.db").exists()


def test_cells_of_a_measured_sweep_are_beside_those_of_the_store_under_its_name(stores):
    rows = cells("--tracking-uri", stores[0].uri, "--with", "main")
    assert {row["seed"] for row in rows if not row["source"]} == {"0", "1"}
    assert sum(row["source"] == "main" for row in rows) == len(results("main"))
    assert " | llr (main) | " in head("--with", "main", "--dataset", "20news")
    assert_refused(report("--with", "mian"), 2, "'mian'", "'main'")
    Path("main").mkdir()
    assert len(cells("--tracking-uri", stores[0].uri, "--with", "main")) == len(rows)


def test_a_file_with_the_name_of_a_measured_sweep_is_given_by_its_path(theirs):
    shutil.copy(theirs, "main")
    rows = cells("--with", "./main", "--with", "main", "-s", "tiny,20news")
    here = f"{Path.cwd().name}/main"
    assert {(row["dataset"], row["source"]) for row in rows} == {("tiny", here), ("20news", "main")}


def test_a_file_is_written_back_as_it_was_read(theirs):
    again = report("--with", str(theirs), "--format", "csv", "--output", "again.csv")
    assert again.exit_code == 0, again.output
    before, after = (list(csv.DictReader(path.open())) for path in (theirs, Path("again.csv")))
    assert after == [row | {"source": "theirs.csv"} for row in before]


def test_datasets_and_detectors_of_a_file_are_chosen_by_name(theirs):
    assert len(cells("--with", str(theirs), "--dataset", "ti*", "--detector", "d")) == 2
    refused = report("--with", str(theirs), "--dataset", "tinny")
    assert_refused(refused, 2, "'tinny'", "'tiny'")


def test_a_file_with_other_columns_than_ours_is_read_if_it_names_its_cells(theirs):
    rows = list(csv.DictReader(theirs.open()))
    names = ("detector", "dataset", "inlier", "contamination", "seed", "status", "auroc")
    with Path("few.csv").open("w", newline="") as stream:
        few = csv.DictWriter(stream, [*names, "of_mine"])
        few.writeheader()
        few.writerows({name: row[name] for name in names} | {"of_mine": "0.5"} for row in rows)
    assert facts("--with", "few.csv") == [("0", "0.7", "ok", "few.csv"), ("2", "", "failed", "few.csv")]


@pytest.mark.parametrize(
    ("content", "quoted"),
    [
        (None, "absent.csv"),
        ("detector,dataset\nllr,tiny\n", "column 'inlier'"),
        ("", "column 'detector'"),
        ("detector,dataset,inlier,contamination,seed,status\nllr,tiny,sea,many,0,ok\n", "'many'"),
    ],
)
def test_a_file_that_holds_no_cells_is_one_line(theirs, content, quoted):
    path = Path("absent.csv" if content is None else "wrong.csv")
    if content is not None:
        path.write_text(content)
    done = report("--with", str(path))
    assert_refused(done, 1, str(path), quoted)
    assert done.stderr.count("\n") == 1


def test_files_of_one_name_are_told_apart_by_their_folders(theirs):
    for folder in ("mine", "hers"):
        Path(folder).mkdir()
        text = theirs.read_text()
        for row in csv.DictReader(theirs.open()):
            text = text.replace(row["run_id"], f"{folder}-{row['run_id']}")
        (Path(folder) / "cells.csv").write_text(text)
    given = "--with", "mine/cells.csv", "--with", "hers/cells.csv", "--with", "mine/../mine/cells.csv"
    assert [row[3] for row in facts(*given)] == ["hers/cells.csv", "mine/cells.csv"] * 2


def test_files_of_one_name_in_folders_of_one_name_are_told_apart(theirs):
    paths = [Path(who) / "results" / "cells.csv" for who in ("alice", "bob")]
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True)
        rows = list(csv.DictReader(theirs.open()))
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0])
            writer.writeheader()
            writer.writerows(row | {"run_id": f"{number}{row['run_id']}"} for row in rows)
    given = [word for path in paths for word in ("--with", str(path))]
    assert [row[3] for row in facts(*given)] == [path.as_posix() for path in paths] * 2


def test_cells_that_two_files_have_count_once_with_a_note(theirs):
    shutil.copy(theirs, "copy.csv")
    both = "--with", str(theirs), "--with", "copy.csv"
    assert facts(*both) == THEIRS
    assert "2 cells of copy.csv" in report(*both).stdout


def test_a_source_is_kept_in_the_file_of_files(stores, theirs):
    both = "--tracking-uri", stores[0].uri, "--with", str(theirs)
    assert report(*both, "--format", "csv", "--output", "all.csv").exit_code == 0
    sources = [row[3] for row in facts("--with", "all.csv")]
    assert sources == ["theirs.csv in all.csv", "all.csv", "all.csv", "theirs.csv in all.csv"]


def test_cells_that_the_store_has_count_once_with_a_note(stores, theirs):
    both = "--tracking-uri", stores[1].uri, "--with", str(theirs)
    assert facts(*both) == [("0", "0.7", "ok", ""), ("2", "", "failed", "")]
    assert "2 cells of theirs.csv" in " ".join(report(*both).output.split())
    assert "differ" not in report(*both).output
    theirs.write_text(theirs.read_text().replace(",0.7,", ",0.61,"))
    printed = " ".join(report(*both).output.split())
    assert all(each in printed for each in ("1 differ", "9 points"))


def test_files_that_do_not_say_which_documents_they_are_of_are_not_compared(theirs):
    rows = list(csv.DictReader(theirs.open()))
    names = ("detector", "dataset", "inlier", "contamination", "seed", "status", "auroc")
    for path in ("one.csv", "two.csv"):
        with Path(path).open("w", newline="") as stream:
            few = csv.DictWriter(stream, names)
            few.writeheader()
            few.writerows({name: row[name] for name in names} for row in rows)
    table = report("--with", "one.csv", "--with", "two.csv", "--table", "main", "--format", "markdown").stdout
    assert len(re.findall(r"\| tiny \(\d\) \| sea \| 70", table)) == 2


def test_the_store_that_a_sweep_file_names_is_that_of_its_report(stores):
    Path("mine.toml").write_text(
        f'dataset = "tiny"\ndetector = "llr"\ntracking-uri = "{stores[1].uri}"\nexperiment = "none"\n'
    )
    named = report("--sweep", "mine.toml")
    assert named.exit_code == 1
    assert stores[1].redacted in named.stderr
    assert "'none'" in named.stderr
    assert stores[0].redacted in report("--sweep", "mine.toml", "--tracking-uri", stores[0].uri).stderr


@pytest.mark.usefixtures("own_files")
def test_a_metric_of_ones_own_is_that_of_its_column_in_a_file(theirs):
    Path("mine.py").write_text("def of_mine(outlier, scores):\n    return 0.5\n")
    metric = "--metric", "./mine.py:of_mine"
    without = report("--with", str(theirs), *metric)
    assert without.exit_code == 0, without.output
    assert "1 cell of theirs.csv" in " ".join(without.output.split())
    header, *lines = theirs.read_text().splitlines()
    assert header.endswith(",published_word_max_fpr95")
    theirs.write_text("\n".join([f"{header},mine.py:of_mine", *(f"{line},0.25" for line in lines)]))
    assert [row["mine.py:of_mine"] for row in cells("--with", str(theirs), *metric)] == ["0.25", "0.25"]
    assert "1 cell of theirs.csv" not in " ".join(report("--with", str(theirs), *metric).output.split())
    theirs.write_text("\n".join([f"{header},mine.py:of_mine", *(f"{line},5.5" for line in lines)]))
    wrong = report("--with", str(theirs), *metric)
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert " 5.5" in wrong.stderr
    assert "theirs.csv" in wrong.stderr


# -- some of the detectors

CHOSEN = "name,detector,preset,configuration,dataset,inlier,contamination,seed,status,auroc,n_configurations"
COLUMNS = {
    "llr": "llr,llr,default,",
    "llr(cap=3)": "llr(cap=3),llr,default,cap=3",
    "llr:robust": "llr:robust,llr,robust,",
    "mine.py:Mine": "mine.py:Mine,mine.py:Mine,default,",
    "mine.py:Mine(k=20)": "mine.py:Mine(k=20),mine.py:Mine,default,k=20",
    "ocsvm(encoder=svd, nu=0.2)": '"ocsvm(encoder=svd, nu=0.2)",ocsvm,default,"encoder=svd, nu=0.2"',
    "pyod-knn(encoder=[1])": "pyod-knn(encoder=[1]),pyod-knn,default,encoder=[1]",
    "pyod-lof": "pyod-lof,pyod-lof,default,",
}


@pytest.fixture
def columns(tmp_path, monkeypatch):
    """Return a function that returns the columns of tables that words choose, of a file of all of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///none.db")
    rows = [f"{names},tiny,sea,0,0,ok,0.9,1" for names in COLUMNS.values()]
    Path("cells.csv").write_text("\n".join([CHOSEN, *rows]), encoding="utf-8")
    return lambda *words: sorted(row["name"] for row in cells("--with", "cells.csv", *words))


@pytest.mark.parametrize("name", [name for name in COLUMNS if "(" in name or ":robust" in name])
def test_a_detector_is_chosen_by_the_name_that_tables_print(columns, name):
    assert columns("-d", name) == [name]
    assert columns("-d", f"{name} (cells.csv)") == [name]
    assert columns("-d", f"pyod-lof,{name}") == sorted([name, "pyod-lof"])


def test_a_name_alone_is_all_of_a_detector_and_with_empty_brackets_its_column_only(columns):
    assert columns("-d", "llr") == ["llr", "llr(cap=3)", "llr:robust"]
    assert columns("-d", "llr()") == ["llr"]
    assert columns("-d", "mine.py:Mine(),llr(cap=3)") == ["llr(cap=3)", "mine.py:Mine"]


@pytest.mark.parametrize(
    ("ours", "called"),
    [("llr:robust", "Ours"), ("llr:robust=Mine (k = 3)", "Mine (k = 3)"), ("llr(cap=3)=", "Ours")],
)
def test_a_detector_is_called_ours_or_as_the_user_likes(columns, ours, called):
    detector = ours.split("=Mine")[0].removesuffix("=")
    given = "--with", "cells.csv", "--ours", ours.replace(detector, f"{detector} (cells.csv)")
    assert f"▸ **{called}**" in head(*given)
    assert f"{detector} (cells.csv)" not in head(*given)


@pytest.mark.parametrize(
    ("ours", "quoted"),
    [
        (["lrr (cells.csv)=Mine"], "'lrr (cells.csv)'"),
        (["llr (cells.csv)=A", "pyod-lof (cells.csv)=A"], "'A'"),
        (["llr (cells.csv)=pyod-lof (cells.csv)"], "'pyod-lof (cells.csv)'"),
    ],
)
def test_names_that_two_detectors_would_have_are_refused(columns, ours, quoted):
    refused = report("--with", "cells.csv", *(word for each in ours for word in ("--ours", each)))
    assert_refused(refused, 2, quoted)


def test_patterns_choose_detectors_by_the_names_of_their_columns(columns):
    assert columns("-d", "pyod-*") == ["pyod-knn(encoder=[1])", "pyod-lof"]
    assert columns("-d", "llr:*") == ["llr:robust"]
    assert columns("-d", "all") == sorted(COLUMNS)


def test_settings_are_named_in_any_order_and_others_are_refused_with_the_nearest(columns):
    assert columns("-d", "ocsvm(nu=0.2,encoder=svd)") == ["ocsvm(encoder=svd, nu=0.2)"]
    refused = report("--with", "cells.csv", "-d", "mine.py:Mine(k=21)")
    assert_refused(refused, 2, "'mine.py:Mine(k=21)'", "'mine.py:Mine(k=20)'")


def test_a_column_of_a_measured_sweep_is_chosen_as_tables_print_it(columns):
    grid = "cvdd:paper-grid (oracle) (main)"
    chosen = cells(
        "--with", "cells.csv", "--with", "main", "-d", f"{grid},llr (main),llr()", "-s", "tiny,20news"
    )
    assert {(row["name"], row["source"]) for row in chosen} == {
        ("cvdd:paper-grid", "main"),
        ("llr", "main"),
        ("llr", "cells.csv"),
    }


def test_a_column_of_a_sweep_is_chosen_with_its_splits(columns):
    Path("mine.toml").write_text('dataset = "pydocs"\ndetector = ["llr", "llr(cap=3)"]\ncontamination = 0\n')
    text = Path("cells.csv").read_text()
    Path("cells.csv").write_text(text.replace("tiny,sea", "pydocs,numpy"))
    assert columns("-d", "llr(cap=3)", "--sweep", "mine.toml") == ["llr(cap=3)"]
    assert columns("-d", "llr", "--sweep", "mine.toml") == ["llr", "llr(cap=3)"]
    for name, n_columns in (("llr(cap=3)", 1), ("llr", 2)):
        (note,) = re.findall(
            r"(\d+) of the (\d+) cells",
            report("--with", "cells.csv", "-d", name, "--sweep", "mine.toml").stdout,
        )
        assert note == (f"{6 * n_columns}", f"{7 * n_columns}")
