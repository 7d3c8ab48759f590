"""Exported splits, and scores that another program wrote beside them."""

import csv
import json
import os
import re
import shutil
import textwrap
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from commands import adbench, assert_refused, cells

from adbench_text.detectors.llr import LLR
from adbench_text.errors import DetectorError
from adbench_text.plugins import exported as files
from adbench_text.testing.topics import texts_about
from adbench_text.text.cleaning import clean

pytestmark = pytest.mark.usefixtures("toy_path")
SPLITS = "-s tiny --contamination 0,0.1"


@pytest.fixture(autouse=True)
def here(empty_database, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    shutil.copy(empty_database, tmp_path / "mlflow.db")
    return tmp_path


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["split.json", "scores.csv", "labels.csv"])
def test_a_pipe_in_place_of_a_file_is_refused(name, exported):
    path = first(exported).with_name(name)
    path.unlink()
    os.mkfifo(path)
    code = 2 if name == "split.json" else 1
    assert_refused(adbench(f"run {SPLITS} -d scores:out --no-report"), code, str(path.parent))


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def exported() -> Path:
    """The splits of a corpus, with the scores of llr."""
    result = adbench(f"export {SPLITS} --to out")
    assert result.exit_code == 0, result.stderr
    assert "6 splits written to out" in result.stdout
    for train in Path("out").rglob("train.jsonl"):
        test = lines(train.with_name("test.jsonl"))
        detector = LLR(random_state=0).fit([line["text"] for line in lines(train)])
        scores = detector.decision_function([line["text"] for line in test])
        rows = [f"{line['id']},{float(score)!r}" for line, score in zip(test, scores, strict=True)]
        train.with_name("scores.csv").write_text("\n".join(["id,score", *reversed(rows)]))
    return Path("out")


def first(folder: Path) -> Path:
    return sorted(folder.rglob("scores.csv"))[0]


def reason(result: Result) -> str:
    """Return why cells have failed; it is the same for all that have."""
    assert result.exit_code == 3, result.output
    (reason,) = set(re.findall(r"failed: .*: DetectorError: (.*)", result.stderr))
    return reason


def test_a_split_is_four_files_and_only_one_has_labels(exported):
    folder = first(exported).parent
    assert folder == Path("out/tiny/law-0-seed0")
    facts = json.loads((folder / "split.json").read_text())
    assert (facts["dataset"], facts["inlier"], facts["contamination"]) == ("tiny", "law", "0")
    outlier = {row["id"]: row["outlier"] for row in csv.DictReader((folder / "labels.csv").open())}
    assert outlier.keys() == {str(line["id"]) for line in lines(folder / "test.jsonl")}
    assert set(outlier.values()) == {"0", "1"}
    in_order = "".join(outlier[str(line["id"])] for line in lines(folder / "test.jsonl"))
    assert in_order.strip("0").strip("1")  # the order gives no label away
    for name in ("train.jsonl", "test.jsonl"):
        assert {tuple(line) for line in lines(folder / name)} == {("id", "text")}


def test_texts_are_as_they_were_written_or_cleaned_on_request(here):
    written = [
        (f"The {text.upper()} of {n}!", topic)
        for topic in ("sea", "law")
        for n, text in enumerate(texts_about(topic, 40, 0))
    ]
    with Path("mine.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("body", "label"), *written])
    splits = "-s files:mine.csv --text body --contamination 0"
    assert "(texts as " in adbench(f"export {splits} --to raw").stdout
    assert "(cleaned texts)" in adbench(f"export {splits} --cleaned --to words").stdout
    for name in ("train.jsonl", "test.jsonl"):
        (raw, words) = (
            [line["text"] for line in lines(next(Path(to).rglob(name)))] for to in ("raw", "words")
        )
        assert set(raw) < {text for text, _ in written}
        assert words == [clean(text) for text in raw] != raw
    facts = [json.loads(next(Path(to).rglob("split.json")).read_text()) for to in ("raw", "words")]
    assert [each["texts"] for each in facts] == ["as written", "cleaned"]
    for test in [*Path("raw").rglob("test.jsonl"), *Path("words").rglob("test.jsonl")]:
        scores = "".join(f"{line['id']},{len(line['text'])}\n" for line in lines(test))
        test.with_name("scores.csv").write_text(f"id,score\n{scores}")
    assert adbench(f"run {splits} -d scores:raw -d scores:words --no-report").exit_code == 0


def test_the_seed_draws_the_order_and_train_and_test_of_a_ranking_have_the_same(here):
    splits = "-s tiny --protocol rank-all --inlier law --contamination 0 --seed 0,1"
    assert adbench(f"export {splits} --to mine").exit_code == 0
    first, second = sorted(Path("mine").rglob("test.jsonl"))
    assert lines(first) != lines(second)
    assert sorted(line["text"] for line in lines(first)) == sorted(line["text"] for line in lines(second))
    assert lines(first) == lines(first.with_name("train.jsonl"))


def test_scores_go_to_their_texts_in_whatever_order_they_come(tmp_path):
    train, by_id = ["a", "b", "c"], ["x", "y", "x", "z", "z"]
    folder = tmp_path / "mine"
    documents = {"train": train, "known": [], "test": by_id}
    files.write(folder, {"seed": "3"}, documents, np.array([0, 1, 0, 1, 1], dtype=bool))
    (folder / "scores.csv").write_text("".join(["id,score\n", *(f"{id},{id}\n" for id in range(5))]))
    detector = files.given_scores(str(tmp_path))(random_state=3).fit(train[::-1])
    assert detector.decision_function(by_id).tolist() == [0, 1, 2, 3, 4]
    for seed in range(5):
        texts = np.random.default_rng(seed).permutation(by_id).tolist()
        scores = detector.decision_function(texts).tolist()
        for text in set(by_id):  # the k-th copy has the k-th score
            ids = [float(id) for id, other in enumerate(by_id) if other == text]
            assert [score for score, other in zip(scores, texts, strict=True) if other == text] == ids
    with pytest.raises(DetectorError, match=f"^{re.escape(str(tmp_path))} .* test documents"):
        detector.decision_function(by_id[:-1])


def test_scores_that_come_back_give_the_same_cells(exported):
    assert adbench(f"run {SPLITS} -d llr -d scores:out --no-report").exit_code == 0
    rows = cells()
    metrics: dict[tuple, list] = {}
    for row in rows:
        split = row["inlier"], row["contamination"]
        metrics.setdefault(split, []).append(
            [row[name] for name in ("auroc", "aupr_in", "aupr_out", "fpr95")]
        )
    assert len(metrics) == 6
    assert all(ours == theirs for ours, theirs in metrics.values())


def test_other_scores_are_another_cell(exported):
    assert "6 cells run" in adbench(f"run {SPLITS} -d scores:out --no-report").stderr
    assert "0 cells to run" in adbench(f"run {SPLITS} -d scores:out --no-report").stderr
    path = first(exported)
    head, *rows = path.read_text().splitlines()
    path.write_text("\n".join([head, *(row + "1" for row in rows)]))
    assert "6 cells run" in adbench(f"run {SPLITS} -d scores:out --no-report").stderr


@pytest.mark.parametrize(
    ("change", "quoted"),
    [
        (lambda rows: rows[:-1], ["labels.csv once; missing: id '0'."]),
        (lambda rows: [*rows, rows[-1]], ["labels.csv once; more ", " once: id '0'."]),
        (lambda rows: [*rows, "9999,1"], ["labels.csv once; unknown: id '9999'."]),
        (
            lambda rows: [*rows[:-1], ",1", ",1"],
            ["labels.csv once; missing: id '0'; unknown: id ''; more ", " once: id ''."],
        ),
        (lambda rows: [*rows[:-1], rows[-1].partition(",")[0] + ",NaN"], ["1 of 30 scores", "NaN"]),
        (lambda rows: [*rows[:-1], rows[-1].partition(",")[0] + ",high"], ["scores", "'high'"]),
        (lambda rows: ["number,score", *rows[1:]], ["'id'", "'number'"]),
        (lambda rows: [row.replace(",", ";") for row in rows], ["'id'", "'id;score'"]),
        (lambda rows: ["id,score"], ["once; missing: id '0', '1', '10', '11', '12' and 25 more."]),
    ],
)
def test_a_wrong_file_of_scores_is_one_line_and_nothing_is_counted(exported, change, quoted):
    path = first(exported)
    path.write_text("\n".join(change(path.read_text().splitlines())))
    result = adbench(f"run {SPLITS} -d scores:out")
    assert_refused(result, 2, str(path), *quoted)
    assert len(result.stderr.splitlines()) == 1
    assert_refused(adbench("report"), 1, "no results", "sqlite:///mlflow.db")


def test_scores_of_other_texts_are_refused(exported):
    result = adbench(f"run {SPLITS} --limit 15 -d scores:out --no-report")
    assert reason(result).startswith("out ")
    assert " training texts" in reason(result)
    assert "6 of 6 cells failed" in result.stderr
    path = first(exported).with_name("split.json")
    facts = json.loads(path.read_text())
    facts["digests"]["test"] = "0" * 32
    path.write_text(json.dumps(facts))
    result = adbench(f"run {SPLITS} --inlier law -d scores:out --no-report")
    assert reason(result).startswith("out ")
    assert " test documents " in reason(result)
    assert "1 of 2 cells failed" in result.stderr
    path.write_text("{}")
    assert_refused(adbench(f"run {SPLITS} -d scores:out"), 2, f"{path.parent} ", "'digests'", "export")


def test_the_page_on_plug_ins_shows_the_files_and_a_program_that_writes_scores(here):
    assert adbench(f"export {SPLITS} --to splits").exit_code == 0
    page = (Path(__file__).parents[2] / "docs/plug-ins.md").read_text(encoding="utf-8")
    listed = re.search(r"splits/20news/comp-0\.1-seed0/ +(.+)", page)[1].split()
    assert sorted(path.name for path in Path("splits/tiny/law-0.1-seed0").iterdir()) == sorted(listed)
    program = re.search(r"    from pathlib import Path\n(?:    .*\n|\n)+", page)[0]
    assert len([line for line in program.splitlines() if line]) == 8
    exec(textwrap.dedent(program), {})
    result = adbench(f"run {SPLITS} -d scores:splits --no-report")
    assert result.exit_code == 0, result.stderr
    rows = cells()
    assert {row["name"] for row in rows} == {"scores:splits"}
    assert min(float(row["auroc"]) for row in rows) > 0.7


def test_a_split_whose_scores_are_missing_is_named_and_runs_once_they_are_there(exported):
    path = first(exported)
    scores = path.read_text()
    path.unlink()
    result = adbench(f"run {SPLITS} -d scores:out --no-report")
    assert reason(result).startswith(f"{path.parent} ")
    assert " scores.csv" in reason(result)
    assert "1 of 6 cells failed" in result.stderr
    path.write_text(scores)
    assert adbench(f"run {SPLITS} -d scores:out --no-report").exit_code == 0


def test_seeds_with_the_same_texts_have_their_own_scores(exported):
    splits = "-s tiny --protocol rank-all --inlier law --contamination 0 --seed 0,1"
    assert adbench(f"export {splits} --to mine").exit_code == 0
    for path in Path("mine").rglob("test.jsonl"):
        sign = -1 if "seed1" in str(path) else 1
        rows = [f"{line['id']},{sign * (1 + len(line['text']))}" for line in lines(path)]
        path.with_name("scores.csv").write_text("\n".join(["id,score", *rows]))
    assert adbench(f"run {splits} -d scores:mine --no-report").exit_code == 0
    rows = cells()
    first, second = (float(row["auroc"]) for row in rows)
    assert first == pytest.approx(1 - second)
    assert first != second
    next(Path("mine").rglob("*seed1*/scores.csv")).unlink()
    result = adbench(f"run {splits} -d scores:mine --no-report")
    assert "seed1" in reason(result)  # the scores of the other seed are no substitute
    assert " scores.csv" in reason(result)


def test_a_split_that_cannot_be_drawn_is_left_out(exported):
    result = adbench(
        "export -s tiny --protocol leave-one-out --inlier not-law --contamination 0,0.4 --to few"
    )
    assert "Left out: contamination 0.4 needs" in result.stderr
    assert "1 split written to few" in result.stdout


def test_folders_are_never_written_over(exported):
    before = first(exported).read_text()
    result = adbench(f"export {SPLITS} --to out")
    assert_refused(result, 2, "Error: out ", "empty")
    assert result.stderr.count("\n") == 1
    assert first(exported).read_text() == before
    result = adbench("run -s tiny -d scores:elsewhere")
    assert_refused(result, 2, "Error: elsewhere ", " scores.csv", "export --to elsewhere")


def test_each_split_has_a_folder(here):
    axes = "--known-outliers 0,10 --known-from sea,sky --test-outliers 0.5,1 --seed 0,1"
    assert adbench(f"export -s tiny --inlier law --contamination 0 {axes} --to out").exit_code == 0
    splits = {path.parent.name: json.loads(path.read_text()) for path in Path("out").rglob("split.json")}
    variants = ["", "-known-10-known-from-sea", "-known-10-known-from-sky"]
    assert sorted(splits) == sorted(
        f"law-0-seed{seed}{share}{known}"
        for seed in (0, 1)
        for share in ("", "-test-outliers-0.5")
        for known in variants
    )
    facts = splits["law-0-seed1-test-outliers-0.5-known-10-known-from-sky"]
    assert (facts["seed"], facts["test_outliers"], facts["known"]) == ("1", "0.5", "10")
    assert facts["known_from"] == "sky"
    assert "known" not in splits["law-0-seed1"]


def test_a_folder_has_the_protocol(here):
    assert adbench("export -s tiny --protocol leave-one-out --contamination 0 --to out").exit_code == 0
    names = {path.name for path in Path("out/tiny").iterdir()}
    assert names == {f"not-{name}-0-seed0-protocol-leave-one-out" for name in ("sea", "law", "sky")}


KNOWN = "-s tiny --inlier law --contamination 0 --known-outliers 0,10 --seed 0,1"


@pytest.fixture
def with_known(here) -> Path:
    """Splits without and with known outliers in one folder; scores count the words of these."""
    assert adbench(f"export {KNOWN} --to out").exit_code == 0
    for test in Path("out").rglob("test.jsonl"):
        known = test.with_name("known.jsonl")
        words = {word for line in (lines(known) if known.exists() else []) for word in line["text"].split()}
        scores = [(line["id"], len(words & {*line["text"].split()})) for line in lines(test)]
        rows = [f"{id},{score + id / 1000}" for id, score in scores]
        test.with_name("scores.csv").write_text("\n".join(["id,score", *rows]))
    return Path("out")


def test_known_outliers_have_a_file_of_their_own(with_known):
    folders = {path.parent.name: len(lines(path)) for path in with_known.rglob("known.jsonl")}
    assert folders == {"law-0-seed0-known-10": 10, "law-0-seed1-known-10": 10}
    for path in with_known.rglob("known.jsonl"):
        known = {line["text"] for line in lines(path)}
        assert known.isdisjoint(line["text"] for line in lines(path.with_name("train.jsonl")))
        assert {tuple(line) for line in lines(path)} == {("id", "text")}
    without, beside = (with_known / "tiny" / f"law-0-seed0{known}" for known in ("", "-known-10"))
    for name in ("train.jsonl", "test.jsonl"):
        assert (without / name).read_text() == (beside / name).read_text()


def test_each_number_of_known_outliers_gets_its_own_scores(with_known):
    result = adbench(f"run {KNOWN} -d scores:out --no-report")
    assert result.exit_code == 0, result.stderr
    rows = cells()
    found = {(row["known"], row["seed"]): float(row["auroc"]) for row in rows}
    assert len(found) == 4
    for seed in ("0", "1"):  # only what was known in that split makes the difference
        assert found["0", seed] < 0.7
        assert found["10", seed] > 0.8


def test_a_split_that_cannot_be_drawn_is_an_error_and_leaves_no_folder(here):
    result = adbench("export -s tiny --inlier law --contamination 0 --known-outliers 1000 --to none")
    assert_refused(result, 2, "1,000 known outliers", " 40 ", "--known-outliers")
    assert not Path("none").exists()


def test_scores_of_a_split_with_other_known_outliers_are_refused(with_known):
    for wrong in ("--known-outliers 5", "--known-outliers 10 --known-from sky"):
        result = adbench(f"run -s tiny --inlier law --contamination 0 {wrong} -d scores:out --no-report")
        assert reason(result).startswith("out ")
        assert " known outliers " in reason(result)
