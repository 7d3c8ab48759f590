"""Files with classes as a dataset."""

import csv
import json
import re
from pathlib import Path
from random import Random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import adbench, dry_run

from adbench_text.corpora.class_files import ClassFiles
from adbench_text.corpora.corpus import load
from adbench_text.corpora.split import draw, splits
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.run.sweep_options import sweep_named
from adbench_text.testing.topics import texts_about

SEA, LAW = texts_about("sea", 40, 0, compounds=True), texts_about("law", 30, 0, compounds=True)
ROWS = [(text, "sea", "train" if n % 2 else "test") for n, text in enumerate(SEA)]
ROWS += [(text, "law", "TEST " if n % 3 else "Training") for n, text in enumerate(LAW)]


def write(path, rows=ROWS, header=("body", "queue", "part")):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return str(path)


def test_seventy_percent_of_each_class_are_for_training(home, tmp_path):
    corpus = load(ClassFiles(write(tmp_path / "a.csv"), "body", "queue"))
    assert (corpus.name, corpus.classes) == ("files:a.csv", ("law", "sea"))
    assert corpus.counts() == "49 training / 21 test documents (law 21/9, sea 28/12)"
    assert sorted([*corpus.train.texts, *corpus.test.texts]) == sorted(SEA + LAW)
    assert re.search("'queue', 70 % .*seed 0", corpus.edition)
    again = load(ClassFiles(write(tmp_path / "a.csv"), "body", "queue"))
    assert again.digest == corpus.digest


def test_copies_are_on_one_side(home, tmp_path):
    rows = [(copy, queue, part) for text, queue, part in ROWS for copy in (text, f"{text.upper()}!")]
    rows.append((SEA[0], "law", "train"))
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert not set(corpus.train.texts) & set(corpus.test.texts)
    assert len(corpus.train) + len(corpus.test) == len(rows)
    assert "'queue', 70 % " in corpus.edition
    once = load(ClassFiles(write(tmp_path / "b.csv"), "body", "queue"))
    assert set(once.train.texts) == set(corpus.train.texts)  # copies move nothing else
    split = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue", "part"))
    assert "; 2 test documents " in split.counts()


def test_copies_make_no_class_large_enough(home, tmp_path):
    rows = [*ROWS, *[("one letter", "spam", "test")] * 30]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert re.search("; classes [^;]* 20 [^;]*: spam(;|$)", corpus.edition)


def near(text):
    """Return a near-copy: there is one more word."""
    return f"{text} another"


def test_near_copies_are_on_one_side_and_counted(home, tmp_path):
    rows = [(copy, queue, part) for text, queue, part in ROWS for copy in (text, near(text))]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    trained, tested = set(corpus.train.texts), set(corpus.test.texts)
    assert {near(text) for text in trained if not text.endswith("another")} <= trained
    assert not {near(text) for text in trained} & tested
    assert not {near(text) for text in tested} & trained
    assert "; 70 near-copies" in corpus.edition
    once = load(ClassFiles(write(tmp_path / "b.csv"), "body", "queue"))
    assert set(once.train.texts) <= trained  # near-copies move nothing else
    assert "near-copies" not in once.edition


def test_documents_that_share_80_percent_of_their_words_are_on_one_side(home, tmp_path):
    random = Random(0)
    words = ["".join(random.choices("abcdefghij", k=8)) for _ in range(2000)]
    pairs = []
    for _ in range(100):
        text, others = random.sample(words, 27), random.sample(words, 3)
        pairs.append((" ".join(text), " ".join([*text[3:], *others])))  # 24 of 30 words
    rows = [(text, "ab"[number % 2], "") for number, pair in enumerate(pairs) for text in pair]
    trained = set(load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue")).train.texts)
    assert [one in trained for one, _ in pairs] == [other in trained for _, other in pairs]


def test_short_texts_of_few_words_are_no_near_copies_of_each_other(home, tmp_path):
    rows = [(text, topic, "") for topic in ("sea", "law") for text in texts_about(topic, 40, 0)]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert (corpus.classes, corpus.inliers) == (("law", "sea"), ())


def test_near_copies_with_several_classes_are_on_one_side(home, tmp_path):
    rows = [*ROWS, *((near(text), "law", "train") for text in SEA)]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert not {near(text) for text in corpus.train.texts} & set(corpus.test.texts)
    assert not {near(text) for text in corpus.test.texts} & set(corpus.train.texts)


def test_near_copies_make_no_class_large_enough(home, tmp_path):
    shared = " ".join(LAW[:3])
    rows = [*ROWS, *[(f"{shared} {letter}zq", "spam", "test") for letter in "abcdefghijklmnopqrstuvwxyz"]]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert re.search("; classes [^;]* 20 [^;]*: spam(;|$)", corpus.edition)


def test_near_copies_across_a_given_split_are_counted_and_stay(home, tmp_path):
    rows = [*ROWS, *((near(text), queue, "test") for text, queue, part in ROWS if part == "train")]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue", "part"))
    n_near = sum(part == "train" for *_, part in ROWS)
    assert re.search(f"; {n_near} test documents [^;]*near-copies", corpus.edition)
    assert len(corpus.test) == sum(part.strip().lower() == "test" for *_, part in rows)


def test_near_copies_of_a_class_that_is_always_odd_are_counted(home, tmp_path):
    rows = [(text, "sea", "") for text in SEA] + [(near(text), "spam", "") for text in SEA[:9]]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert corpus.inliers == ("sea",)
    n_near = len({near(text) for text in corpus.train.texts} & set(corpus.test.texts))
    assert 0 < n_near < 9
    assert f"; {n_near} test documents are near-copies of training documents" in corpus.edition
    assert f"; {9 - n_near} near-copies, each in the part " in corpus.edition


def test_a_column_can_split_them(home, tmp_path):
    corpus = load(ClassFiles(write(tmp_path / "a.csv"), "body", "queue", "part"))
    assert corpus.counts() == "30 training / 40 test documents (law 10/20, sea 20/20)"
    assert re.search("'queue', split .*'part'", corpus.edition)


def test_documents_for_validation_are_left_out_of_a_given_split_and_other_parts_are_refused(home, tmp_path):
    rows = [
        *ROWS,
        *((text, "sea", part) for text, part in zip(LAW, ("val", "DEV", "Validation"), strict=False)),
    ]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue", "part"))
    assert corpus.counts() == "30 training / 40 test documents (law 10/20, sea 20/20)"
    assert re.search("; documents [^;]*other splits: 3(;|$)", corpus.edition)
    for part in ("", "0", "holdout"):
        path = write(tmp_path / "a.csv", [*ROWS, (LAW[0], "sea", part)])
        with pytest.raises(InvalidValueError, match=f"^a.csv, line {len(ROWS) + 2}: 'part' .*got '{part}'"):
            ClassFiles(path, "body", "queue", "part").edition()


def test_texts_with_several_classes_are_counted(home, tmp_path):
    rows = [*ROWS, *((f"{text.upper()}!", "law", "test") for text in SEA[:7])]
    for split in (None, "part"):
        corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue", split))
        assert re.search("; texts with several classes[^;]*: 7(;|$)", corpus.edition)


def test_small_classes_and_unusable_rows_are_named(home, tmp_path):
    rows = [*ROWS, ("one document", "tiny", "test"), ("no class", "", "test"), ("...", "sea", "test")]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert corpus.classes == ("law", "sea")
    assert re.search("; documents [^;]*: 2; classes [^;]* 20 [^;]*: tiny(;|$)", corpus.edition)


def test_an_error_names_the_classes_that_count_as_missing(home, tmp_path):
    rows = [(text, "None" if name == "law" else name, part) for text, name, part in ROWS]
    with pytest.raises(DataError, match=r"'queue', and another class\. .*'queue' count as missing: None"):
        ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue").edition()


def test_an_edited_text_is_another_edition(home, tmp_path):
    first = ClassFiles(write(tmp_path / "a.csv"), "body", "queue").edition().digest
    rows = [(ROWS[0][0].replace("s", "z", 1), *ROWS[0][1:]), *ROWS[1:]]
    assert ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue").edition().digest != first


@pytest.mark.parametrize(
    ("columns", "rows", "error", "quoted"),
    [
        (
            ("body", None, None),
            ROWS,
            InvalidValueError,
            r"a\.csv .*--label .*: body, queue, part\. .*adbench-text odd .*a\.csv$",
        ),
        (("body", "topic", None), ROWS, UnknownNameError, "column .*'topic'"),
        (("body", "queue", "fold"), ROWS, UnknownNameError, "column .*'fold'"),
        (("body", "body", None), ROWS, InvalidValueError, "'body' .*--label"),
        (
            ("body", "queue", None),
            ROWS[:40],
            DataError,
            r"^files:a\.csv .* 20 .*near-copies .*'queue', .* another class\. .* sea 40\.$",
        ),
        (
            ("body", "queue", "queue"),
            ROWS,
            InvalidValueError,
            r"^a\.csv, line 2: 'queue' .*train, test .*, got 'sea'",
        ),
    ],
)
def test_what_cannot_be_a_benchmark_gets_one_clear_line(tmp_path, columns, rows, error, quoted):
    path = write(tmp_path / "a.csv", rows)
    with pytest.raises(error, match=quoted) as caught:
        ClassFiles(path, *columns).edition()
    assert caught.type is error
    assert "\n" not in str(caught.value)


def test_run_and_report(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "tickets.csv")
    command = "run -d knn-words -s files:tickets.csv --text body --label queue --contamination 0 --jobs 0"
    assert adbench(command).exit_code == 0
    for options in ("", "-s files:./tickets.csv", f"-s files:{tmp_path}/tickets.csv"):
        rows = csv.DictReader(adbench("report --format csv", options).stdout.splitlines())
        found = sorted((row["dataset"], row["inlier"], row["auroc"]) for row in rows)
        assert found == [("files:tickets.csv", "law", "1"), ("files:tickets.csv", "sea", "1")]


def test_a_sweep_file_names_the_columns(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "tickets.csv")
    sweep = 'detector = "knn-words"\ndataset = "files:tickets.csv"\ncontamination = 0\ntext = "body"\n'
    Path("mine.toml").write_text(sweep)
    assert adbench("run --sweep mine.toml --label queue --jobs 0").exit_code == 0
    refused = adbench("report --sweep mine.toml")
    assert refused.exit_code == 2
    (line,) = refused.stderr.splitlines()
    assert line.startswith("Error: ")
    assert re.search(r"mine\.toml .*tickets\.csv .*--label .*: body, queue, part\. .*odd tickets\.csv$", line)
    Path("mine.toml").write_text(f'{sweep}label = "queue"\n')
    report = adbench("report --sweep mine.toml --format csv")
    assert report.exit_code == 0, report.output
    cells = list(csv.DictReader(report.stdout.splitlines()))
    assert {(row["name"], row["dataset"]) for row in cells} == {("knn-words", "files:tickets.csv")}
    assert [row["inlier"] for row in cells] == ["law", "sea"]


def test_the_options_on_reading_are_the_same_on_the_command_line_and_in_a_sweep_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.csv", header=("sea", "law", "train"))
    Path("a.csv").write_text(f"Exported in May; by Ann\n{Path('a.csv').read_text()}")
    typed = dry_run("-d llr -s files:a.csv --text column0 --label column1 --no-header --skip-lines 2")
    sweep = 'detector = "llr"\ndataset = "files:a.csv"\ntext = "column0"\nlabel = "column1"\n'
    Path("mine.toml").write_text(f"{sweep}no-header = true\nskip-lines = 2\n")
    assert dry_run("--sweep mine.toml") == typed
    assert {cell.partition("/")[2].partition(" ")[0] for cell in typed} == {"law", "sea"}
    assert [str(cell) for cell in sweep_named("mine.toml").expand()] == typed
    for key in ('no-header = "yes"', 'skip-lines = "two"', "skip-lines = -1"):
        Path("mine.toml").write_text(f"{sweep}{key}\n")
        value = key.split()[-1].strip('"')
        refused = adbench("run --dry-run --sweep mine.toml")
        assert refused.exit_code == 2
        assert value in refused.stderr
        with pytest.raises(InvalidValueError, match=value):
            sweep_named("mine.toml")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_documents_without_a_class_are_left_out_and_numbers_are_whole(home, tmp_path, kind):
    nan, path = float("nan"), tmp_path / f"a.{kind}"
    rows = [(text, float(queue == "sea")) for text, queue, *_ in ROWS] + [(text, nan) for text in SEA[:22]]
    table = pd.DataFrame(rows, columns=["body", "label"])
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, table.to_dict("records"))))
    else:
        pq.write_table(pa.table({name: pa.array(table[name], from_pandas=False) for name in table}), path)
    corpus = load(ClassFiles(str(path), "body"))
    assert corpus.classes == ("0", "1")
    assert re.search(": 22$|: 22;", corpus.edition)


def test_classes_that_mean_the_same_are_one_and_words_for_nothing_are_none(home, tmp_path):
    rows = [(text, "1.0" if n % 2 else "1", "") for n, text in enumerate(SEA)]
    rows += [(text, "2" if n < 25 else "NULL", "") for n, text in enumerate(LAW)]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert corpus.classes == ("1", "2")
    assert len(corpus.train) + len(corpus.test) == len(SEA) + 25
    assert all(each in corpus.edition for each in ("'1' and '1.0'", "5 values of 'queue'", "NULL"))


FEW = [*((text, "normal", "") for text in SEA), *((text, "odd", "") for text in LAW[:12])]
KINDS = [
    (text, queue if queue == "normal" else f"kind {n % 4}", "") for n, (text, queue, _) in enumerate(FEW)
]


@pytest.mark.parametrize(("rows", "n_kinds"), [(FEW, 1), (KINDS, 4)])
def test_few_outliers_of_any_kinds_are_all_for_testing(home, tmp_path, rows, n_kinds):
    source = ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue")
    corpus = load(source)
    assert (corpus.inliers, len(corpus.classes)) == (("normal",), 1 + n_kinds)
    split = draw(corpus, SplitKey(corpus.name, "normal"))
    assert (len(split.train), len(split.test), split.outlier.sum()) == (28, 24, 12)
    assert {corpus.written_texts(split.places[split.outlier])[0]} <= {*LAW}
    assert not len(split.pool)
    assert source.contamination == (0,)
    assert re.search("normal .*: 12, ", corpus.edition)
    done = adbench(f"run -d llr -s files:{tmp_path / 'a.csv'} --label queue --text body --dry-run")
    assert done.stdout.splitlines() == ["llr on files:a.csv/normal at 0%, seed 0"]


def test_few_outliers_of_a_given_split_stay_in_their_part(home, tmp_path):
    part = dict(enumerate(["train", "test"]))
    rows = [(text, queue, part[number % 2]) for number, (text, queue, _) in enumerate(FEW)]
    rows.append(("the only one of its class", "trained", "train"))
    source = ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue", split="part")
    corpus = load(source)
    assert corpus.classes == ("normal", "odd")  # nothing tests the other
    assert "trained" in corpus.edition
    split = draw(corpus, SplitKey(corpus.name, "normal"))
    assert (len(split.train), split.outlier.sum(), len(split.pool)) == (20, 6, 6)
    assert source.contamination == ()


SKY = texts_about("sky", 30, 1, compounds=True)
IN_PARTS = [(text, "normal", "train" if n % 2 else "test") for n, text in enumerate(SEA)]
LAW_IN_PARTS = [(text, "law", "train" if n % 2 else "test") for n, text in enumerate(LAW)]


@pytest.mark.parametrize("n_odd", [15, 30])
def test_odd_documents_may_be_for_testing_alone(here, tmp_path, n_odd):
    rows = [*IN_PARTS, *((text, "odd", "test") for text in SKY[:n_odd])]
    source = ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue", split="part")
    corpus = load(source)
    assert (corpus.inliers, corpus.outliers, source.contamination) == (("normal",), ("odd",), (0,))
    split = draw(corpus, SplitKey(corpus.name, "normal"))
    assert (len(split.train), len(split.test), split.outlier.sum()) == (20, 20 + n_odd, n_odd)
    options = f"-s files:{tmp_path / 'a.csv'} --label queue --text body --split part --no-report --jobs 0"
    done = adbench(f"run -d knn-words {options}")
    assert done.exit_code == 0, done.output
    assert "files:a.csv/normal at 0%, seed 0: AUROC 100.0%" in done.output
    for option, quoted in {
        "--inlier odd": "'odd' is always an outlier",
        "--contamination 0.05": "0 training documents",
        "--known-outliers 1": "only 0",
    }.items():
        refused = adbench(f"run -d llr {options} {option}")
        assert refused.exit_code == 2
        assert quoted in refused.stderr.splitlines()[-1]


def test_a_class_without_training_documents_is_an_outlier_of_each_other_class(home, tmp_path):
    rows = [*IN_PARTS, *LAW_IN_PARTS, *((text, "odd", "test") for text in SKY)]
    path = write(tmp_path / "a.csv", rows)
    corpus = load(ClassFiles(path, "body", "queue", split="part"))
    assert (corpus.classes, corpus.outliers) == (("law", "normal", "odd"), ("odd",))
    assert [*splits(corpus)] == ["law", "normal"]
    assert splits(corpus, "leave-one-out")["not-odd"] == ("law", "normal")
    assert splits(corpus, "leave-one-out")["not-law"] == ("normal",)
    split = draw(corpus, SplitKey(corpus.name, "law"))
    assert split.outlier.sum() == 20 + 30
    assert set(split.pool) <= {*SEA}
    assert "always outliers: odd" in corpus.edition
    assert load(ClassFiles(path, "body", "queue", split="part"), limit=5).outliers == ("odd",)


@pytest.mark.parametrize(
    ("rows", "counted"),
    [
        (
            [*((text, "normal", "train") for text in SEA), *((text, "odd", "test") for text in SKY)],
            "odd 0/30",
        ),
        ([*IN_PARTS, *((text, "odd", "train") for text in SKY)], "odd 30/0"),
    ],
)
def test_a_split_without_normal_or_odd_test_documents_has_no_auroc(tmp_path, rows, counted):
    with pytest.raises(DataError, match=rf"^files:a\.csv .*AUROC .*{counted}") as caught:
        ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue", split="part").edition()
    assert "\n" not in str(caught.value)


def test_a_class_without_test_documents_is_left_out_and_named(home, tmp_path):
    rows = [*IN_PARTS, *LAW_IN_PARTS, *((text, "odd", "train") for text in SKY)]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue", split="part"))
    assert corpus.classes == ("law", "normal")
    assert re.search("; classes [^;]*without test documents: odd(;|$)", corpus.edition)


def test_small_classes_are_left_out_where_several_can_be_normal(home, tmp_path):
    rows = [*ROWS, *((text, "few", "") for text in texts_about("sky", 8, 3))]
    corpus = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    assert (corpus.classes, corpus.inliers) == (("law", "sea"), ())
    assert "few" in corpus.edition


def test_several_columns_are_one_text(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(*text.split(maxsplit=1), *rest) for text, *rest in ROWS]
    write(tmp_path / "tickets.csv", rows, ("subject", "body", "queue", "part"))
    texts = load(ClassFiles("tickets.csv", ["subject", "body"], "queue")).train.texts
    assert set(texts) <= set(SEA + LAW)
    with pytest.raises(InvalidValueError, match=r"'body' .*--label"):
        ClassFiles("tickets.csv", ["subject", "body"], "body").edition()
    columns = "dataset = 'files:tickets.csv'\ntext = ['subject', 'body']\nlabel = 'queue'\n"
    Path("mine.toml").write_text(columns)
    for options in ("--sweep mine.toml", "-s files:tickets.csv --text subject --text body --label queue"):
        result = adbench(f"run -d knn-words {options} --contamination 0 --jobs 0 --no-report")
        assert result.exit_code == 0, result.output
    assert "0 cells to run, 2 finished before" in result.output


def test_two_files_of_one_name_are_refused(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("2023", "2024"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "tickets.csv")
    command = "run -d llr -s files:2023/tickets.csv -s files:2024/tickets.csv --text body --label queue"
    result = adbench(command, "--dry-run")
    assert result.exit_code == 2
    assert re.search(r"^Error: Two .*'files:tickets\.csv'", result.stderr, re.MULTILINE)


@pytest.mark.parametrize(
    "option", ["--text x", "--label x", "--split x", "--language x", "--skip-lines 2", "--no-header"]
)
def test_the_options_on_files_are_refused_without_documents_of_ones_own(home, option):
    result = adbench(f"run -d llr -s pydocs {option} --dry-run")
    assert result.exit_code == 2
    assert re.search(rf"^Error: {option.split()[0]} .*--dataset files:PATH", result.stderr, re.MULTILINE)


GERMAN = [
    (f"Straße über {letter}weg zur {letter}brücke", "road", "") for letter in "abcdefghijklmnopqrstuvwx"
]
GERMAN += [
    (f"Das Gericht hörte {letter}zeugen im {letter}saal", "law", "") for letter in "abcdefghijklmnopqrstuvwx"
]


def test_a_language_cleans_the_documents(home, tmp_path):
    path = write(tmp_path / "a.csv", GERMAN)
    german, english = (load(ClassFiles(path, "body", "queue", language=each)) for each in ("de", "en"))
    assert all(text.startswith("strasse") for text in german.train.texts if "brücke" in text)
    assert all("über" in text for text in english.train.texts if "brücke" in text)
    note = re.search("; [^;]*'de'", german.edition).group()
    assert german.edition.replace(note, "") == english.edition
    with pytest.raises(InvalidValueError, match=r"language .*, got 'german'"):
        ClassFiles(path, "body", "queue", language="german")


def test_run_configures_detectors_for_the_language(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.csv", GERMAN)
    files = "-s files:a.csv --text body --label queue --language de --contamination 0 --no-report --jobs 0"
    result = adbench(f"run -d llr -d form -d knn-words {files}")
    assert result.exit_code == 0, result.output
    assert "English" not in result.stderr
    cells = list(csv.DictReader(adbench("report --format csv").stdout.splitlines()))
    assert {row["name"] for row in cells} == {"llr(language=de)", "form(language=de)", "knn-words"}
    (settings,) = DetectorChoice("ensemble", "clean").configurations("files:a.csv")
    assert settings["members"].count("language=de") == 2  # of words, and of their parts
    assert "encoder" not in settings["members"]
    result = adbench(f"run -d llr(language=en) {files}")
    assert re.search(r"llr .*English.* files:a\.csv .*'de'", result.stderr)


def test_a_column_is_no_language(home, tmp_path):
    path = write(tmp_path / "a.csv", GERMAN, ("body", "queue", "lang"))
    result = adbench(f"run -d llr -s files:{path} --text body --label queue --language lang --dry-run")
    assert result.exit_code == 2
    assert "got 'lang'" in result.stderr


def test_lone_surrogates_are_replaced_and_noted(home, tmp_path):
    rows = [{"text": f"{text} \udfff", "label": "sea\ud800"} for text in SEA]
    rows += [{"text": text, "label": "law"} for text in LAW]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    corpus = load(ClassFiles(str(tmp_path / "a.jsonl")))
    assert corpus.classes == ("law", "sea\ufffd")
    assert re.search(f"; {2 * len(SEA)} values [^;]*surrogates", corpus.edition)
    assert [text[-1] == "\ufffd" for text in corpus.written_test.texts] == (corpus.test.labels == 1).tolist()


def test_own_classes_are_cleaned_by_unicode(home, tmp_path):
    rows = [(f"wait\u2022of\ufb01ce {letter}ship\u2026", "sea", "") for letter in "abcdefghijklmnopqrstuvwx"]
    rows += [(f"the judge\u2122 {letter}court", "law", "") for letter in "abcdefghijklmnopqrstuvwx"]
    loaded = load(ClassFiles(write(tmp_path / "a.csv", rows), "body", "queue"))
    words = {word for text in loaded.train.texts for word in text.split()}
    assert {"wait", "office", "judge"} <= words
    assert all(word.isascii() for word in words)
