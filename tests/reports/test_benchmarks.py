import json
import re
from itertools import combinations
from pathlib import Path
from statistics import fmean

import pytest
from cells import build, compare, main_table, only_table, stored, texts

from adbench_text.contract.scores import FROM_SCRATCH, PRE_TRAINED, TEST_BATCH, WORDS
from adbench_text.metrics import MAIN, METRICS
from adbench_text.reports import benchmarks, published
from adbench_text.reports.build import Builder
from adbench_text.reports.contents import FORMATS
from adbench_text.reports.tables import benchmarks as beside
from adbench_text.reports.tables import leaderboard
from adbench_text.store.cells import table_of

NLPAD, TEXTAD = ("nlpad-bbc", "nlpad-email", "nlpad-sms"), ("20news", "reuters", "sms", "sst2")
ROOT = Path(__file__).parents[2]
TAD = ("email", "sms", "covid", "liar2", "hate", "olid")
REGIMES = {"date": FROM_SCRATCH, "llr": WORDS, "knn": PRE_TRAINED, "ecod": TEST_BATCH}


def cell(detector="llr", figure=0.9, dataset="nlpad-bbc", **changes):
    own = {"nlpad-email": "redrawn", "nlpad-sms": "redrawn", "sst-far": "redrawn"}
    own |= {f"tad-{name}": "rank-all" for name in TAD}
    changes = ({"protocol": own[dataset]} if dataset in own else {}) | changes
    facts = {"regime": REGIMES.get(detector, FROM_SCRATCH), "classes": '["normal"]', **changes}
    return stored(detector, "normal", figure, dataset=dataset, dataset_digest=dataset, **facts)


def best(dataset: str, metric="auroc") -> dict[str, tuple[str, float]]:
    rows = benchmarks.best_of_each(benchmarks.rows(dataset, metric))
    return {kind: (row.method, row.figure) for kind, row in rows.items()}


def labels(*records) -> list[str]:
    return [corpus.label for corpus in compare(records).corpora]


# The figures


@pytest.mark.parametrize("name", ["outside.json", "fast-detect.json"])
def test_the_figures_are_those_that_were_read_in_the_publications(data_dir: Path, name):
    read = data_dir.parent / "reference" / name
    if not read.is_file():
        pytest.skip(f"no {read.name} beside the folder of real data")
    assert published.read(name) == json.loads(read.read_text(encoding="utf-8"))


def test_each_source_has_all_its_rows():
    bbc = [row.source for row in benchmarks.rows("nlpad-bbc", "auroc")]
    assert bbc == ["NLP-ADBench"] * 19 + ["MCA2"] * 15
    assert {len(benchmarks.rows(name, "auroc")) for name in NLPAD[1:]} == {19}
    assert {len(benchmarks.rows(f"tad-{name}", "auroc")) for name in TAD} == {64}
    # 4 groups of embeddings and 10 methods; DPAD on the vectors of OpenAI was run on SMS alone
    assert [len(benchmarks.rows(f"textad-{name}", "auroc")) for name in TEXTAD] == [39, 39, 40, 39]
    assert [len(benchmarks.rows(f"textad-{name}", "aupr_out")) for name in TEXTAD] == [39, 39, 40, 39]


def test_every_figure_of_a_source_is_in_a_row():
    figures = published.read("outside.json")["text_adbench"]["percent"]["sms_spam"]["aupr"]
    rows = {row.method: row for row in benchmarks.rows("textad-sms", "aupr_out")}
    assert rows["GloVe + OCSVM"].figure == figures["GloVe"]["OCSVM"][0]
    assert rows["BERT + OCSVM, best of 2"].figure == max(figures["BERT"]["OCSVM"])
    figures = published.read("outside.json")["tad_bench"]["auroc"]
    rows = {row.method: row.figure / 100 for row in benchmarks.rows("tad-olid", "auroc")}
    assert rows == pytest.approx({method: of_corpora["olid"] for method, of_corpora in figures.items()})


def test_texts_of_language_models_have_the_figures_of_their_authors_only_as_published():
    rows = benchmarks.rows("fast-detect:xsum-chatgpt", "auroc")
    assert {row.source for row in rows} == {"Bao et al."}
    assert [row.knowledge for row in rows].count("pre-trained") == 8
    assert best("fast-detect:xsum-chatgpt") == {
        "pre-trained": ("Fast-DetectGPT", 99.07),
        "labels": ("RoBERTa base", 91.5),
    }
    assert benchmarks.rows("fast-detect:xsum-chatgpt-levelled", "auroc") == ()
    assert benchmarks.rows("fast-detect:xsum-chatgpt", "fpr95") == ()
    assert labels(cell(dataset="fast-detect:pubmed-gpt-4", protocol="redrawn")) == [
        "fast-detect:pubmed-gpt-4 (redrawn)"
    ]


def test_other_metrics_and_datasets_have_no_rows():
    assert benchmarks.rows("nlpad-bbc", "aupr_out") == benchmarks.rows("textad-sst2", "aupr_in") == ()
    assert benchmarks.rows("20news", "auroc") == ()
    assert [*benchmarks.relation(table_of([cell(dataset="20news")]))] == [""]


@pytest.mark.parametrize("name", TEXTAD)
def test_what_was_not_run_is_left_out(name):
    areas = benchmarks.rows(f"textad-{name}", "auroc")
    assert 50.0 not in {row.figure for row in areas}
    for metric in ("auroc", "aupr_out"):
        methods = {row.method for row in benchmarks.rows(f"textad-{name}", metric)}
        run = [method for method in methods if method.startswith("OpenAI + DPAD")]
        assert run == (["OpenAI + DPAD, best of 2"] if name == "sms" else [])
        assert "GloVe + DPAD" in methods
        assert f"LLM2Vec + ECOD, best of {26 if name == 'sms' else 27}" in methods


def test_the_best_rows_are_those_of_the_tables():
    assert best("nlpad-bbc") == {
        "none": ("DATE", 90.3),
        "word vectors": ("CVDD", 72.21),
        "pre-trained": ("BERT + LUNAR", 93.81),  # MCA2; 93.20 by LOF in NLP-ADBench
        "commercial encoder": ("MCA2 (OpenAIs)", 98.6),
        "labels": ("FATE (labels)", 93.1),
    }
    of_nlpad = [row for row in benchmarks.rows("nlpad-bbc", "auroc") if row.source == "NLP-ADBench"]
    assert max(of_nlpad, key=lambda row: row.figure).figure == 97.32
    assert best("nlpad-email")["none"] == ("DATE", 96.97)
    assert best("nlpad-sms")["commercial encoder"] == ("OpenAI-large + LOF", 78.62)
    assert best("tad-sms") == {
        "pre-trained": ("stella + COPOD", 85.89),
        "commercial encoder": ("O-ada + ECOD", 88.22),
    }
    assert best("textad-20news") == {
        "word vectors": ("GloVe + LOF", 60.16),
        "pre-trained": ("LLM2Vec + PCA, best of 27", 73.68),
        "commercial encoder": ("OpenAI + KNN, best of 3", 74.56),
    }
    # 56.08 is the area of equal scores there
    assert best("textad-20news", "aupr_out")["commercial encoder"] == ("OpenAI + KNN, best of 3", 29.65)


def test_the_page_on_reports_names_all_repeated_figures():
    of_methods = published.read("outside.json")["nlp_adbench"]["auroc"]
    repeated = {
        one[column]
        for one, other in combinations(of_methods.values(), 2)
        for column in one
        if one[column] == other[column]
    }
    page = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    named = re.findall(r"\.\d{4}\b(?!\d)", page.partition("NLP-ADBench: Li")[2].partition("MCA2: arXiv")[0])
    assert {float(figure) for figure in named} == repeated


# The figures of Wu et al., by split and of sst-far and rostd

WU = published.read("mlkd.json")["rows"]
OF_WU = {"auroc": 83.9, "aupr_out": 96.5, "fpr95": 62.0}  # GPT-2 from scratch, the mean of the splits
SPLITS = ("comp", "rec", "sci", "misc", "pol", "rel")


def news(detector="llr", figure=0.9, **changes):
    facts = {"dataset": "20news", "dataset_digest": "20news", "regime": REGIMES[detector], **changes}
    return [stored(detector, name, figure, **facts) for name in SPLITS]


def test_the_figures_of_wu_are_those_of_the_reference(data_dir: Path):
    read = data_dir.parent / "reference" / "mlkd.json"
    if not read.is_file():
        pytest.skip(f"no {read.name} beside the folder of real data")
    assert published.read("mlkd.json") == json.loads(read.read_text(encoding="utf-8"))


@pytest.mark.parametrize("metric", OF_WU)
def test_every_split_of_20_newsgroups_has_its_figures_and_their_spread(metric):
    table = main_table(compare(news(), metric))
    rows = {row[1].text: dict(zip(table.header, row, strict=True)) for row in table.rows}
    figures = {
        (r["inlier"], r["method"]): (r[metric], r[f"{metric}_sd"])
        for r in WU
        if r["inlier"] and r["method"] not in published.SURPASSED
    }
    assert len(figures) == 6 * 3
    for (inlier, method), pair in figures.items():
        entry = rows[inlier][published.label(method)]
        assert (entry.value, entry.spread) == pair
    for method in {method for _, method in figures}:
        mean = rows["mean"][published.label(method)]
        assert mean.value == pytest.approx(fmean(figures[name, method][0] for name in SPLITS))
        assert mean.spread is None
    assert rows["mean"]["GPT-2 from scratch (Wu et al.)"].text == f"{OF_WU[metric]}"


def test_a_table_of_splits_has_the_best_of_each_kind_and_date():
    table = main_table(compare(news(), "fpr95"))
    assert table.header[3:] == [
        *("DATE, run again (Wu et al.)", "GPT-2 from scratch (Wu et al.)", "MLKD (Wu et al.)"),
    ]
    assert texts(table)[0][3:] == ["46.6 ± 1.4", "49.4 ± 5.1", "43.3 ± 1.6"]
    assert {row[0] for row in texts(table)} == {"20news"}
    left_out = set(compare(news(), "fpr95").published) - {"DATE (run again)", "GPT-2 from scratch", "MLKD"}
    for metric in OF_WU:
        rows = {row.method: row.figure for row in compare(news(), metric).corpora[0].published_rows}
        better = min if metric == "fpr95" else max
        assert {better(rows["MLKD"], rows[published.method(name)]) for name in left_out} == {rows["MLKD"]}


def test_contaminated_or_other_training_data_have_no_figures_of_wu():
    assert main_table(compare(news(level=0.1), "fpr95")).header[3:] == []
    assert main_table(compare(news(), "aupr_in")).header[3:] == ["chance"]
    assert main_table(compare(news(test_outliers=0.05))).header[3:] == []


def test_a_kind_of_knowledge_is_that_of_the_reference():
    kinds = {"none": "none", "word pieces": "none", "BERT": "pre-trained", "GPT-2": "pre-trained"}
    known = {published.method(row["method"]): kinds[row["knows"]] for row in WU}
    rows = [*compare(news()).corpora[0].published_rows, *benchmarks.rows("rostd", "auroc")]
    assert {row.method: row.knowledge for row in rows if row.source == "Wu et al."} == known


def test_what_was_chosen_on_the_test_labels_is_marked_and_never_the_best_published():
    rows = compare(news()).corpora[0].published_rows
    assert benchmarks.best_of_each(row for row in rows if "†" in row.method) == {}
    assert {row.method for row in rows if "†" in row.method} == {"CVDD†", "OCSVM†", "IForest†", "MDF+IMLM†"}


@pytest.mark.parametrize(
    ("name", "label", "n_rows", "none", "encoder"),
    [("sst-far", "exact", 5, 17.98, 9.5), ("rostd", "redrawn", 6, 3.88, 3.79)],
)
def test_sst_and_rostd_have_rows_of_wu(name, label, n_rows, none, encoder):
    cells = [cell("knn", 0.8, name), cell("date", 0.7, name), cell(dataset="20news")]
    comparison = compare(cells, "fpr95")
    assert [corpus.label for corpus in comparison.corpora] == ["20news", f"{name} ({label})"]
    for metric in OF_WU:
        rows = {(row.figure, row.spread) for row in benchmarks.rows(name, metric)}
        assert rows == {(row[metric], row[f"{metric}_sd"]) for row in WU if row["dataset"] == name}
        assert len(rows) == n_rows
    best = benchmarks.best_of_each(benchmarks.rows(name, "fpr95"), higher_is_better=False)
    assert {kind: row.figure for kind, row in best.items()} == {"none": none, "pre-trained": encoder}
    table = only_table(beside, comparison)
    of_name = [row for row in table.rows if row[0].text != "20news"]
    assert [row[1].text for row in of_name] == ["none", "pre-trained", "same method"]
    assert [row[2].text for row in of_name][2] == "DATE, run again"


def test_a_leaderboard_has_all_rows_of_wu_and_of_the_paper():
    of_agnews = [stored("llr", name, dataset="agnews") for name in ("world", "sports", "business", "sci")]
    report = build([*news(), *of_agnews, *(cell(dataset=name) for name in ("sst-far",))], ["leaderboard"])
    (table,) = report.tables
    assert table.header[2:] == ["20news", "agnews", "sst-far (exact)"]
    assert texts(table)[1:] == [
        ["best published", "none", "83.9", "90.0", "96.6 ± 0.7"],
        ["best published", "pre-trained", "85.8", "–", "98.0 ± 0.4"],
        ["DATE (paper)", "none", "83.2", "90.0", "–"],
        ["DATE, run again (Wu et al.)", "none", "81.9", "–", "82.2 ± 0.2"],
        ["CVDD† (paper)", "word vectors", "69.7", "83.1", "–"],
        ["OCSVM† (paper)", "word vectors", "71.5", "84.1", "–"],
        ["IForest† (paper)", "word vectors", "63.7", "78.6", "–"],
        ["MDF+IMLM† (Wu et al.)", "pre-trained", "75.6", "–", "96.8 ± 0.1"],
        ["GPT-2 fine-tuned (Wu et al.)", "pre-trained", "76.6", "–", "92.7 ± 0.2"],
        ["GPT-2 from scratch (Wu et al.)", "none", "83.9", "–", "96.6 ± 0.7"],
        ["MLKD (Wu et al.)", "pre-trained", "85.8", "–", "98.0 ± 0.4"],
    ]
    assert [note.partition(":")[0] for note in table.notes] == ["(paper)", "(Wu et al.)"]


def test_the_best_published_error_rate_is_the_lowest():
    report = build([*news(), cell(dataset="sst-far")], ["leaderboard"], "fpr95")
    rows = [row for row in texts(report.tables[0]) if row[0] == "best published"]
    assert rows == [
        ["best published", "none", "62.0", "18.0 ± 3.5"],
        ["best published", "pre-trained", "55.7", "9.5 ± 2.1"],
    ]


# The words beside corpora


def test_a_corpus_of_another_benchmark_is_marked():
    cells = [cell(dataset=name) for name in ("nlpad-bbc", "nlpad-sms", "textad-sst2", "made-up")]
    assert labels(*cells) == ["made-up", "nlpad-bbc (exact)", "nlpad-sms (redrawn)", "textad-sst2 (rebuilt)"]
    others = [cell(protocol="rank-all"), cell(dataset="tad-olid", protocol="redrawn"), cell(published=False)]
    assert [labels(other) for other in others] == [
        ["nlpad-bbc, rank-all"],
        ["tad-olid, redrawn"],
        ["nlpad-bbc"],
    ]
    report = build(cells, ["main"])
    assert {row[0].text for row in report.tables[0].rows} == set(labels(*cells))


def test_a_part_of_a_corpus_is_not_that_of_the_benchmark():
    of_others = cell(published=False), cell(test_outliers=0.05)
    for changed in of_others:
        assert "exact" not in labels(changed)[0]
        assert list(beside.tables(compare([changed]))) == []


def test_results_of_contaminated_training_data_are_beside_no_published_figure():
    contaminated = cell(level=0.1)
    assert labels(contaminated) == ["nlpad-bbc (exact)"]
    assert list(beside.tables(compare([contaminated]))) == []


# The tables


def test_the_best_of_each_kind_is_beside_our_best_that_knows_no_more():
    cells = [cell("date", 0.8), cell("llr", 0.95), cell("knn", 0.97), cell("ecod", 0.99)]
    cells += [cell("grid", 0.999, oracle=True, regime=WORDS), cell("own", 0.99, regime="")]
    table = only_table(beside, compare([c for c in cells if c["regime"] or c["detector"] == "own"]))
    assert table.header[1:] == [
        *("knowledge", "published method", "published", "our detector", "ours", "difference", "source"),
    ]
    assert [row[1:] for row in texts(table)] == [
        ["none", "DATE", "90.3", "date", "80.0", "-10.3", "NLP-ADBench"],
        ["word vectors", "CVDD", "72.2", "llr", "95.0", "+22.8", "NLP-ADBench"],
        ["pre-trained", "BERT + LUNAR", "93.8", "knn", "97.0", "+3.2", "MCA2"],
        ["commercial encoder", "MCA2 (OpenAIs)", "98.6", "knn", "97.0", "-1.6", "MCA2"],
        ["labels", "FATE (labels)", "93.1", "knn", "97.0", "+3.9", "NLP-ADBench"],
        ["same method", "DATE", "90.3", "date", "80.0", "-10.3", "NLP-ADBench"],
        ["same method", "DATE", "80.3", "date", "80.0", "-0.3", "MCA2"],
    ]


def test_what_we_have_no_detector_for_stays_in_the_table():
    table = only_table(beside, compare([cell("knn")]))
    assert texts(table)[0][2:] == ["DATE", "90.3", "–", "–", "–", "NLP-ADBench"]


# The leaderboard

TWO = [
    *(cell("llr", figure, name) for name, figure in (("nlpad-bbc", 0.95), ("textad-sst2", 0.99))),
    *(cell("knn", figure, name) for name, figure in (("nlpad-bbc", 0.97), ("textad-sst2", 0.90))),
    *(cell("ecod", 0.98, name) for name in ("nlpad-bbc", "textad-sst2")),
]


def test_a_report_of_several_corpora_opens_with_detectors_by_corpora():
    table = build(TWO).tables[0]
    assert table.header == ["detector", "knows", "nlpad-bbc (exact)", "textad-sst2 (rebuilt)", "mean"]
    assert texts(table) == [
        ["llr", "words", "95.0", "*99.0", "*97.0"],
        ["knn", "pre-trained", "*97.0", "90.0", "93.5"],
        ["ecod", "test batch", "98.0", "98.0", "98.0"],
        ["best published", "none", "90.3", "–", "–"],
        ["best published", "word vectors", "72.2", "58.7", "65.5"],
        ["best published", "pre-trained", "93.8", "85.2", "89.5"],
        ["best published", "commercial encoder", "98.6", "81.4", "90.0"],
        ["best published", "labels", "93.1", "–", "–"],
        ["DATE (NLP-ADBench)", "none", "90.3", "–", "–"],
        ["DATE (MCA2)", "none", "80.3", "–", "–"],
        ["CVDD (NLP-ADBench)", "word vectors", "72.2", "–", "–"],
        ["CVDD (MCA2)", "word vectors", "61.5", "–", "–"],
    ]
    assert table.group_starts == {0, 1, 2, 3, 8}
    assert build(TWO[:1] + TWO[2:3]).tables[0].title == main_table(compare(TWO[:1])).title


def test_the_page_opens_with_the_best_detector():
    builder = Builder(table_of(TWO))
    report = builder.report(pictures=True)
    page = FORMATS["html"].render(report)
    first = re.search(r'<h3 id="leaders-1-title">(.*?)</h3>', page)
    assert first[1].startswith("AUROC (%) of each dataset, mean over the splits")
    assert page.index("textad-sst2 <wbr>(rebuilt)</th>") < page.index('id="table-1"')
    board = report.leaders["0%"]
    assert board.header == ["detector", "mean", *board.header[2:4], "knows"]
    assert [row[0].text for row in board.rows][:5] == [
        *("llr", "knn", "ecod"),
        *("best published (knows: none)", "best published (knows: word vectors)"),
    ]
    assert board.group_starts == {0, 2, 3, 8}
    assert board.bars_from == 50


def test_a_page_of_one_dataset_has_leaders_too():
    cells = [cell("late", None), cell("knn", 0.7), cell("llr", 0.8, level=0.1), cell("x", 0.9)]
    cells += [cell("best", 1.0, oracle=True)]
    board, _ = leaderboard.leaders(compare(cells)).values()
    assert board.header == ["detector", board.header[1], "knows"]
    assert texts(board)[:4] == [
        ["x", "*90.0", "none"],
        ["knn", "70.0", "pre-trained"],
        ["late", "failed", "none"],  # what is not complete comes after what is
        ["best (oracle)", "100.0", "none"],
    ]
    assert board.title == "AUROC (%), mean over the splits, 0% of outliers in the training data"
    by_fpr = leaderboard.leaders(compare(cells, "fpr95"))["0%"]
    assert by_fpr.rows[0][0].text == "x"  # 1 - AUROC
    assert by_fpr.bars_from == 0


def test_the_leaders_of_each_level_are_ranked_and_marked_at_that_level():
    at_10 = {("llr", "nlpad-bbc"): 0.9, ("llr", "textad-sst2"): 0.7, ("knn", "nlpad-bbc"): 0.9}
    cells = [*TWO, *(cell(name, figure, dataset, level=0.1) for (name, dataset), figure in at_10.items())]
    cells += [cell("knn", 0.8, "textad-sst2", level=0.1), cell("late", 0.6, "nlpad-bbc", level=0.1)]
    first, second = leaderboard.leaders(compare(cells)).values()
    assert texts(first)[:3] == texts(leaderboard.leaders(compare(TWO))["0%"])[:3]
    assert second.header == first.header
    assert texts(second) == [  # equal figures are all marked; nothing is beside contaminated training data
        ["knn", "*85.0", "*90.0", "*80.0", "pre-trained"],
        ["llr", "80.0", "*90.0", "70.0", "words"],
        ["late", "–", "60.0", "–", "none"],
    ]
    assert second.title.endswith("mean over the splits, 10% of outliers in the training data")


def test_a_page_folds_the_tables_of_the_other_metrics():
    page = Builder(table_of(TWO)).report(pictures=True)
    folded = [table.title.partition(" (%")[0] for table in page.tables if table.is_folded]
    assert folded == [metric.title for metric in METRICS.values() if metric is not MAIN]
    assert [table.is_folded for table in page.tables] == sorted(table.is_folded for table in page.tables)


def test_a_terminal_explains_the_stars_once():
    text = FORMATS["terminal"].render(build(TWO, ["leaderboard", "main"]))
    assert len(re.findall(r"(?m)^\W*\*: ", text)) == 1


def test_means_are_of_the_corpora_that_most_detectors_share():
    others = [cell("llr", 0.5, "made-up"), cell("late", 0.9), cell("knn", 0.7, "made-up")]
    table = only_table(leaderboard, compare([*TWO[:4], *others]))
    means = {row[0].text: row[-1].text for row in table.rows}
    assert {name: means[name] for name in ("llr", "knn", "late")} == {
        "llr": "81.3",
        "knn": "85.7",
        "late": "–",
    }
    few = [*TWO[:4], cell("llr", 0.5, "made-up"), cell("odd", 0.5, "textad-sst2"), cell("odd", 0.7)]
    table = only_table(leaderboard, compare(few))
    assert {row[0].text: row[-1].text for row in table.rows}["llr"] == "97.0"
    assert "mean: over nlpad-bbc (exact), textad-sst2 (rebuilt)." in table.notes


def test_corpora_of_several_protocols_have_no_mean():
    table = build([*TWO, cell("llr", 0.9, "tad-olid")]).tables[0]
    assert table.header[2:] == ["nlpad-bbc (exact)", "tad-olid (exact)", "textad-sst2 (rebuilt)"]
    one = [cell(), cell(protocol="leave-one-out")]
    assert build(one).tables[0].title == main_table(compare(one)).title


def test_one_detector_has_a_mean_too():
    table = only_table(leaderboard, compare(TWO[:2]))
    assert texts(table)[0] == ["llr", "words", "95.0", "99.0", "97.0"]


def test_other_corpora_have_a_leaderboard_without_published_rows():
    cells = [cell(name, 0.8, dataset) for name in ("llr", "knn") for dataset in ("one", "two")]
    report = build(cells)
    assert [row[0].text for row in report.tables[0].rows] == ["llr", "knn"]
    assert not any("published" in note for note in report.every_note)


def test_a_metric_without_published_figures_has_none():
    report = build(TWO, ["leaderboard", "benchmarks"], "fpr95")
    assert [[row[0].text for row in table.rows] for table in report.tables] == [["llr", "knn", "ecod"]]
