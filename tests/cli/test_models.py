"""``fit`` and ``score``: a model to keep."""

import io
import json
import math
import re
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from commands import assert_refused
from german import GERMAN
from mlflow import MlflowClient
from scipy.stats import false_discovery_control
from tickets import tickets

from adbench_text.calibration import drift, p_values
from adbench_text.cli import score
from adbench_text.cli.main import main
from adbench_text.contract.scores import TOGETHER
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.model import Scorer
from adbench_text.documents.own_detector import own_detector
from adbench_text.errors import InvalidValueError
from adbench_text.testing.topics import texts_about, write_vectors

SEA = texts_about("sea", 120, 0, compounds=True)
NEW = [*texts_about("sea", 3, 1, compounds=True), "", "The JUDGE heard <b>a witness</b>", "12 ..."]


@pytest.fixture
def adbench(home, tmp_path, monkeypatch):
    """Return a function that runs a command in a folder with normal.csv, new.jsonl and a model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("adbench_text.cli.progress._LINE_SECONDS", 1000)  # the same on a slow machine
    (tmp_path / "normal.csv").write_text(
        "\n".join(["id,body", *(f"N{n},{text}" for n, text in enumerate(SEA))])
    )
    lines = [json.dumps({"key": f"K{n}", "body": text}) for n, text in enumerate(NEW)]
    (tmp_path / "new.jsonl").write_text("\n".join(lines) + "\n")

    def run(*arguments, stdin=None):
        return CliRunner().invoke(main, list(map(str, arguments)), input=stdin)

    return run


def lines(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_session(adbench, tmp_path):
    fitted = adbench("fit", "normal.csv", "--model", "kept")
    assert fitted.exit_code == 0, fitted.output
    first, read, last = fitted.stdout.splitlines()
    assert first.startswith("120 documents, 0 duplicates, 0 without words; ensemble:clean, ")
    assert read == "Read as comma, header, UTF-8; text 'body'."
    assert last.startswith("Model: kept. ")
    assert last.endswith("adbench-text score kept FILE")
    scored = adbench("score", "kept", "new.jsonl", "--text", "body", "--id", "key")
    assert scored.exit_code == 0, scored.output
    results = lines(scored)
    assert [result["id"] for result in results] == ["K0", "K1", "K2", "K3", "K4", "K5"]
    assert [result["odd"] for result in results] == [False] * 4 + [True, True]
    assert list(results[4]) == ["id", "score", "p", "p_form", "p_both", "odd", "why", "why_form"]
    assert set(results[4]["why"]) == {"judge", "heard", "witness"}
    assert results[4]["p"] == pytest.approx(1 / 121)
    empty = {"id": "K3", "score": None, "p": None, "odd": False, "why": []}
    assert results[3] == empty | {"p_form": None, "p_both": None, "why_form": []}
    assert results[4]["p_both"] == pytest.approx(1 / 121)
    assert results[4]["why_form"][0] == '"judge": unusual letters'
    assert (results[5]["p"], results[5]["p_form"]) == (pytest.approx(1 / 121), pytest.approx(1 / 121))
    assert results[5]["why"] == ["no words"]
    by_words = lines(adbench("score", "kept", "new.jsonl", "--text", "body", "--id", "key", "--by", "words"))
    assert by_words[3] == empty
    assert [result["odd"] for result in by_words] == [False] * 4 + [True, True]
    assert [result["p"] for result in by_words] == [result["p"] for result in results]
    model = fit_model(SEA)
    # rounding: a document's words are added in the order in which its batch has them
    expected = Scorer(model).score(NEW).score
    assert expected.isna().tolist() == [False] * 3 + [True, False, True]
    scores = [math.nan if result["score"] is None else result["score"] for result in results]
    assert scores == pytest.approx(expected.tolist(), rel=1e-12, nan_ok=True)
    page = adbench("score", "kept", "new.jsonl", "--text", "body", "--page", "page.html", "--top", "2")
    assert (page.exit_code, page.stdout) == (0, ""), page.output
    assert page.stderr == f"Page: page.html.\n{scored.stderr}"
    markup = (tmp_path / "page.html").read_text()
    verdict, counted = re.fullmatch(
        r"(This file .*: 2 odd, .*\.) (6 documents, 5 new .*\.)\n", scored.stderr
    ).groups()
    assert f'<h1 id="top">{verdict}</h1>' in markup
    assert f"<p>{counted}</p>" in markup
    assert re.search("ensemble:clean, .*fitted on 120 documents; p ", markup)
    assert markup.count("<article") == 2
    assert re.search(r"<title>.* new\.jsonl</title>", markup)
    assert "p_both <b>" in markup
    assert " (others 0 %)" in markup
    assert 'title="' in markup
    assert "<b>a witness" not in markup


def test_the_page_has_the_reasons_of_the_file(adbench, tmp_path):
    """Also of a document without an odd word."""
    usual, mixed = tickets()
    written(tmp_path / "usual.csv", ["heron reeds frost perch marsh", *usual[1:]])
    written(tmp_path / "new.csv", [*mixed, "the court heard"])
    detector = "llr(background=uniform, coherence=0, capped=0, cap=null)"
    assert adbench("fit", "usual.csv", "-d", detector, "-m", "kept").exit_code == 0
    how = ["score", "kept", "new.csv", "--alpha", "0.95", "--by", "words"]
    assert adbench(*how, "-o", "a.csv", "--page", "a.html", "--top", "200").exit_code == 0
    odd = pd.read_csv("a.csv")[lambda table: table["odd"] == 1]
    assert TOGETHER in odd["why"].tolist()
    page = (tmp_path / "a.html").read_text()
    for why, count in odd["why"].value_counts().items():
        assert page.count(f"because of <b>{why}</b>") == count, why


def test_several_columns_are_one_text_in_all_commands(adbench, tmp_path):
    halves = [("subject", "rest"), *(text.split(maxsplit=1) for text in SEA)]
    (tmp_path / "halves.csv").write_text("\n".join(map(",".join, halves)))
    joined = [f"{subject} {rest}" for subject, rest in halves[1:]]
    (tmp_path / "joined.csv").write_text("\n".join(["body", *joined]))
    columns = ["--text", "subject", "--text", "rest"]
    assert adbench("fit", "halves.csv", *columns, "-m", "kept").exit_code == 0
    assert adbench("fit", "joined.csv", "-m", "expected").exit_code == 0
    of_halves = adbench("score", "kept", "halves.csv", *columns, "--by", "words")
    assert lines(of_halves) == lines(adbench("score", "expected", "joined.csv", "--by", "words"))
    assert len({result["score"] for result in lines(of_halves)}) > 1
    assert adbench("score", "kept", "halves.csv", *columns, "--page", "a.html").exit_code == 0
    other = adbench("score", "kept", "halves.csv", "--text", "subject", "--by", "words")
    assert lines(other) != lines(of_halves)


def test_a_file_is_read_as_that_of_the_model(adbench, tmp_path):
    halves = [f"K{n};{text.split(maxsplit=1)[0]};{text.split(maxsplit=1)[1]} é" for n, text in enumerate(SEA)]
    (tmp_path / "halves.csv").write_text("\n".join(["key;subject;rest", *halves]), encoding="latin-1")
    columns = ["--text", "subject", "--text", "rest", "--encoding", "latin-1", "--id", "key"]
    assert adbench("fit", "halves.csv", *columns, "-m", "kept").exit_code == 0
    plain, said = adbench("score", "kept", "halves.csv"), adbench("score", "kept", "halves.csv", *columns)
    assert lines(plain) == lines(said)
    assert "Note" not in plain.stderr + said.stderr
    assert lines(plain)[0]["id"] == "K0"
    assert {result["p_both"] for result in lines(plain)} == {1.0}  # they are known
    other = adbench("score", "kept", "halves.csv", "--text", "rest", "--id", "")
    here, there = " --text rest, ", " --text subject --text rest --id key."
    (note,) = [line for line in other.stderr.splitlines() if line.startswith("Note: ")]
    assert here in note
    assert note.endswith(there)


def test_lines_that_fit_leaves_out_are_left_out_of_files_of_its_format(adbench, tmp_path):
    (tmp_path / "a.csv").write_text("\n".join(["Exported in May", "by Ann, Bob", "text", *SEA]))
    assert adbench("fit", "a.csv", "--skip-lines", "2", "-m", "kept").exit_code == 0
    assert len(lines(adbench("score", "kept", "a.csv"))) == len(SEA)
    (tmp_path / "b.csv").write_text("\n".join(["text", *SEA[:5]]))  # without titles
    other = adbench("score", "kept", "b.csv")
    assert (len(lines(other)), "--skip-lines 0" in other.stderr) == (3, True)
    (tmp_path / "new.txt").write_text("\n".join(NEW[:3]))
    for file, stdin in (("new.txt", None), ("-", (tmp_path / "new.txt").read_text())):
        other = adbench("score", "kept", file, stdin=stdin)
        assert len(lines(other)) == 3  # each line is a document
        assert "--skip-lines 2" in other.stderr


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("new.jsonl", '{"body": "ship sail", "n": 1}', ["--text body", "--text text"]),
        ("new.txt", "ship sail", []),
        ("-", "ship sail\nthe crew", []),
    ],
)
def test_columns_that_a_file_lacks_are_found_and_noted(adbench, tmp_path, name, content, columns):
    (tmp_path / "a.csv").write_text("\n".join(["text", *SEA]))
    adbench("fit", "a.csv", "-m", "kept")
    (tmp_path / "new.jsonl").write_text(content)
    (tmp_path / "new.txt").write_text(content)
    options = ["--text", "body"] if columns else []
    scored = adbench("score", "kept", name, *options, stdin=content)
    assert scored.exit_code == 0, scored.output
    assert scored.stderr.count("Note: ") == bool(columns)
    assert re.findall(r"--text \w+", scored.stderr) == columns  # its own, and those of the model


def test_what_was_scored_before_a_bad_line_is_printed(adbench, tmp_path):
    adbench("fit", "normal.csv", "--model", "kept")
    (tmp_path / "bad.jsonl").write_text(
        '{"body": "ship"}\n{"body": "sail"}\n{"body": "tide"}\noops\n{"body": "crew"}'
    )
    scored = adbench("score", "kept", "bad.jsonl", "--text", "body")
    assert scored.exit_code == 1
    assert [result["id"] for result in lines(scored)] == ["0", "1", "2"]
    assert scored.stderr.startswith("Error: bad.jsonl, line 4 ")
    assert " JSON: " in scored.stderr


@pytest.mark.parametrize(
    ("row", "options"),
    [
        ('{{"body": "ship {}"}}', ["--text", "body"]),
        ('{{"body": "ship {}"}}', []),
        ('{{"text": "ship {}"}}', []),
        ("ship {}", []),
        ("ship {},tide", ["--format", "csv", "--text", "column0", "--no-header"]),
    ],
)
def test_no_answer_waits_for_the_next_document(adbench, tmp_path, monkeypatch, row, options):
    """A pipe sends each line once the one before it is answered."""
    adbench("fit", "normal.csv", "--model", "kept")
    printed = []

    class Pipe(io.RawIOBase):
        n_sent = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            assert sum(each.count("\n") for each in printed) == self.n_sent
            if self.n_sent == 9:
                return 0
            line = row.format(self.n_sent).encode() + b"\n"
            self.n_sent += 1
            buffer[: len(line)] = line
            return len(line)

    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Pipe()}))
    monkeypatch.setattr(score.click, "echo", lambda text, **_: printed.append(text))
    score.command.main(["kept", "-", "--quiet", *options], standalone_mode=False)
    answers = [json.loads(line) for text in printed for line in text.splitlines() if line.startswith("{")]
    assert [each["id"] for each in answers] == [*map(str, range(9))]


@pytest.fixture
def files(adbench, tmp_path):
    """A model of the sea, and files to score: alike.csv, and mixed.csv with a tenth of texts about law."""
    adbench("fit", "normal.csv", "--model", "kept", "-d", "llr")
    alike, law = texts_about("sea", 200, 5, compounds=True), texts_about("law", 20, 0, compounds=True)
    for name, texts in (("alike", alike), ("mixed", [*alike[:180], *law])):
        rows = [f"{'=' * (n == 199)}D{n},{text}" for n, text in enumerate(texts)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,body", *rows]))


@pytest.mark.parametrize("by", ["both", "words"])
def test_scores_are_written_to_a_file(adbench, files, tmp_path, by):
    printed = adbench("score", "kept", "mixed.csv", "--by", by)
    for name in ("a.jsonl", "a.csv"):
        written = adbench("score", "kept", "mixed.csv", "--by", by, "-o", name)
        assert (written.exit_code, written.stdout) == (0, "")
        assert written.stderr == printed.stderr
    assert (tmp_path / "a.jsonl").read_text() == printed.stdout
    documents = lines(printed)
    table = pd.read_csv(tmp_path / "a.csv", keep_default_na=False)
    assert list(table) == list(documents[0])
    assert list(table["id"][198:]) == ["D198", "'=D199"]  # a spreadsheet must not compute it
    assert list(table["p"]) == [document["p"] for document in documents]
    assert list(table["odd"]) == [int(document["odd"]) for document in documents]
    assert list(table["why"]) == [", ".join(document["why"]) for document in documents]


def test_a_file_of_scores_is_complete_or_not_there(adbench, files, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"body": "ship"}\noops\n')
    (tmp_path / "old.csv").write_text("mine")
    for name in ("old.csv", "new.csv"):
        assert adbench("score", "kept", "bad.jsonl", "-o", name).exit_code == 1
    assert (tmp_path / "old.csv").read_text() == "mine"
    assert not (tmp_path / "new.csv").exists()


def test_the_last_line_shows_whether_a_file_differs(adbench, files, tmp_path):
    command = ["score", "kept", "-o", "a.csv", "--fail-on-drift"]
    alike, mixed = adbench(*command, "alike.csv"), adbench(*command, "mixed.csv")
    assert (alike.exit_code, mixed.exit_code) == (0, 4)
    no_sign = r"No sign .*: \d+ odd, 1\.7 expected \(p .*\); p-values may be uniform \(.*\)\. 200 documents; "
    assert re.match(no_sign, alike.stderr)
    assert (alike.stdout, mixed.stdout) == ("", "")
    n_odd = pd.read_csv(tmp_path / "a.csv")["odd"].sum()
    assert n_odd >= 20
    found = re.match(rf"This file .*: {n_odd} odd, 1\.7 expected \(p (\S+)\)\. 200 documents; ", mixed.stderr)
    assert float(found[1]) < 1e-4
    assert adbench("score", "kept", "mixed.csv").exit_code == 0  # unless asked for


def test_a_quiet_command_says_only_that_a_file_differs(adbench, files, tmp_path):
    command = ["score", "kept", "-q", "-o", "a.csv", "--page", "a.html"]
    assert adbench(*command, "alike.csv").output == ""
    assert len(pd.read_csv(tmp_path / "a.csv")) == 200
    mixed = adbench(*command, "mixed.csv")
    assert (mixed.exit_code, mixed.stdout) == (0, "")
    assert mixed.stderr == adbench("score", "kept", "-o", "b.csv", "mixed.csv").stderr
    assert adbench(*command, "mixed.csv", "--fail-on-drift").exit_code == 4
    rows = adbench("score", "kept", "--quiet", "alike.csv")
    assert (len(rows.stdout.splitlines()), rows.stderr) == (200, "")  # they are the result
    assert adbench("fit", "alike.csv", "-m", "quiet", "-q").output == ""
    assert adbench("score", "quiet", "alike.csv", "-q", "-o", "a.csv").output == ""


def test_a_quiet_command_has_its_errors_and_notes(adbench, files, tmp_path):
    wrong = adbench("score", "kept", "none.csv", "-q")
    assert_refused(wrong, 1, "none.csv")
    for n, is_noted in ((6, True), (19, True), (20, False)):
        (tmp_path / "few.csv").write_text("body\n" + "\n".join(SEA[:n]))
        for others in ([], ["-d", "llr"], ["-d", "form"]):
            fitted = adbench("fit", "few.csv", "-m", "few", "-q", "--overwrite", *others)
            assert (f"Note: p among {n} documents " in fitted.stderr) == is_noted
            assert " --alpha 0.01, " in fitted.stderr


def test_new_families_of_near_copies_are_named(adbench, files, tmp_path):
    letter = texts_about("sea", 1, 9, compounds=True)[0]
    rows = [f"D{n},{text}" for n, text in enumerate(texts_about("sea", 60, 5, compounds=True))]
    wave = [f"W{n},{letter} {word}" for n, word in enumerate([*"abcd"] * 5)]
    (tmp_path / "wave.csv").write_text("\n".join(["id,body", *rows, *wave]))
    scored = adbench("score", "kept", "wave.csv", "-o", "a.csv", "--page", "a.html", "--fail-on-drift")
    assert scored.exit_code == 4
    (line,) = [line for line in scored.stderr.splitlines() if line.startswith("Near-copies: ")]
    assert re.match(f"Near-copies: 20 .* id W0: {letter[:60].rstrip()}", line)
    assert re.search(
        "^This file .*: 20 near-copies, 0 in the file of the model ", scored.stderr, re.MULTILINE
    )
    assert re.search("Near-copies: 20 .* id W0", (tmp_path / "a.html").read_text())
    assert "Near-copies" not in adbench("score", "kept", "alike.csv").stderr


@pytest.mark.parametrize(("n_empty", "is_noted"), [(200, True), (20, True), (5, False), (0, False)])
def test_many_empty_documents_have_a_note(adbench, files, tmp_path, n_empty, is_noted):
    texts = [*[" "] * n_empty, *texts_about("sea", 200 - n_empty, 6, compounds=True)]
    rows = [f'D{n},"{text}"' for n, text in enumerate(texts)]
    (tmp_path / "empty.csv").write_text("\n".join(["id,body", *rows]))
    scored = adbench("score", "kept", "empty.csv", "-q", "-o", "a.csv")
    assert (f"Note: {n_empty} of 200 documents are empty" in scored.stderr) == is_noted


@pytest.mark.parametrize(("n_words", "which"), [(3, "shorter"), (8, ""), (60, "longer")])
def test_documents_of_another_length_have_a_note(adbench, files, tmp_path, n_words, which):
    words = " ".join(texts_about("sea", 200, 6, compounds=True)).split()
    texts = [" ".join(words[n : n + n_words]) for n in range(0, 2000, n_words)]
    (tmp_path / "other.csv").write_text("\n".join(["body", *texts]))
    notes = adbench("score", "kept", "other.csv", "-o", "a.csv").stderr
    assert (f"Note: documents are much {which} than" in notes) == bool(which)
    assert (f"{n_words} words (median)" in notes) == bool(which)


@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_words_that_grew_are_named_below_the_line_on_drift(adbench, files, tmp_path, quiet):
    usual, places = (texts_about("sea", n, n, compounds=True) for n in (60, 20))
    grown = [f"G{n},smoke from the engine near {place}" for n, place in enumerate(places)]
    rows = [*(f"D{n},{text}" for n, text in enumerate(usual)), *grown]
    (tmp_path / "grown.csv").write_text("\n".join(["id,body", *rows]))
    command = ["score", "kept", "grown.csv", "-o", "a.csv", "--page", "a.html", "--fail-on-drift", *quiet]
    scored = adbench(*command)
    assert scored.exit_code == 4
    lines = [line for line in scored.stderr.splitlines() if re.match("This file differs|Grew", line)]
    assert re.match(r"This file .*; 1 subject grew \(p \S+\)\. 80 documents", lines[0])
    assert re.match(
        r"Grew: .*smoke.*: 20 different documents .* expected \(p \S+\), like id G\d+: smoke", lines[1]
    )
    assert "Grew: " in (tmp_path / "a.html").read_text()
    assert "Grew" not in adbench("score", "kept", "alike.csv", "-o", "a.csv").stderr


@pytest.mark.parametrize(("n_copies", "is_told", "code"), [(20, True, 4), (12, True, 0), (5, False, 0)])
def test_a_quiet_command_names_new_families_that_are_rare_by_chance(
    adbench, files, tmp_path, n_copies, is_told, code
):
    letter = texts_about("sea", 1, 9, compounds=True)[0]
    rows = [*texts_about("sea", 60, 5, compounds=True), *(f"{letter} {word}" for word in "abcd" * 5)]
    (tmp_path / "wave.csv").write_text("\n".join(["body", *rows[: 60 + n_copies]]))
    scored = adbench("score", "kept", "wave.csv", "-q", "-o", "a.csv", "--fail-on-drift")
    families = [line for line in scored.stderr.splitlines() if line.startswith("Near-copies: ")]
    assert (scored.exit_code, len(families)) == (code, is_told)
    assert (len(scored.stderr.splitlines()) == 2) == (code == 4)


def test_empty_documents_are_in_no_test(adbench, files, tmp_path):
    (tmp_path / "empty.csv").write_text('id,body\n1,""\n2," "')
    for name, n_empty in (("empty.csv", 2), ("new.jsonl", 1)):
        command = ["score", "kept", name, "--text", "body", "--id", "", "--by", "words"]
        scored = adbench(*command, "-o", "a.csv")
        assert scored.exit_code == 0, scored.output
        n_new, n_documents = pd.read_csv(tmp_path / "a.csv")["p"].agg(["count", "size"])
        assert n_new == n_documents - n_empty
        assert f". {n_documents} documents, {n_new} new texts; " in scored.stderr


def test_only_the_highest_scores_of_folds_are_compared(adbench, files, tmp_path):
    """Those of `ocsvm` grow with the number of documents: by all scores, each file would differ."""
    write_vectors(tmp_path / "vectors.txt")
    adbench("fit", "normal.csv", "--model", "folds", "-d", "ocsvm", "--set", "vectors=vectors.txt")
    scored = adbench("score", "folds", "alike.csv", "-o", "a.csv", "--by", "words")
    assert scored.exit_code == 0, scored.output
    assert "uniform" not in scored.stderr


def test_few_files_of_normal_documents_differ():
    """All p-values of a file depend on the same calibration, which is smaller than the file."""
    draw = np.random.default_rng(0)
    same, shifted = (
        [
            drift(p_values(draw.normal(size=2000) + shift, normal), normal, 0.01, True)
            for normal in draw.normal(size=(300, 200))
        ]
        for shift in (0.0, 0.5)
    )
    assert sum(each.is_found for each in same) <= 6
    assert sum(each.is_found for each in shifted) >= 295
    assert np.mean([each.n_odd for each in same]) == pytest.approx(same[0].n_expected, rel=0.1)


def test_ties_are_no_drift():
    normal = np.repeat([0.0, 1.0], [90, 10])  # as where a tenth shares no word with another
    new = np.repeat([0.0, 1.0], [900, 100])
    found = drift(p_values(new, normal), normal, 0.05, True)
    assert (found.n_odd, found.p_odd, found.distance, found.p) == (0, 1.0, 0.0, 1.0)


def test_one_new_text_beside_one_normal_one_shows_no_drift():
    assert drift([0.5], np.array([1.0]), 0.05, with_distance=True).p == 1.0


def test_a_model_is_not_overwritten_unasked(adbench):
    assert adbench("fit", "normal.csv", "--model", "kept").exit_code == 0
    again = adbench("fit", "normal.csv", "--model", "kept")
    assert_refused(again, 1, "Error: kept ", "--overwrite")
    assert adbench("fit", "normal.csv", "--model", "kept", "--overwrite").exit_code == 0


def test_a_model_is_registered_in_mlflow(adbench):
    command = ["fit", "normal.csv", "--model", "kept", "--log-model", "tickets", "--alias", "winner"]
    result = adbench(*command)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "Registered: models:/tickets@winner"
    version = MlflowClient("sqlite:///mlflow.db").get_model_version_by_alias("tickets", "winner")
    assert (version.name, int(version.version)) == ("tickets", 1)
    refused = adbench("fit", "normal.csv", "--model", "other", "--alias", "winner")
    assert_refused(refused, 2, "--alias", "--log-model")


@pytest.mark.parametrize(
    ("arguments", "code", "quoted"),
    [
        (["score", "none", "new.jsonl"], 1, ["no model", " none: ", "model.json"]),
        (["score", ".", "new.jsonl"], 1, ["no model", " .: ", "model.json"]),
        (["score", "kept", ".", "--page", "a.html"], 2, ["a.html would replace . "]),
        (["fit", "", "-m", "kept"], 2, ["('')", " - "]),
        (["score", "kept", "new.jsonl", "--page", "a.csv"], 2, ["--page", " .html", "'a.csv'"]),
        (["score", "kept", "new.jsonl", "-o", "a.txt"], 2, ["--output", " .csv ", " .jsonl", "'a.txt'"]),
        (["score", "kept", "new.jsonl", "-o", "new.jsonl"], 2, ["new.jsonl would replace new.jsonl "]),
        (["fit", "normal.csv", "-m", "normal.csv"], 1, ["normal.csv exists"]),
        (["fit", "normal.csv", "-m", "kept", "-d", "pyod-ecod"], 2, ["pyod-ecod", " batch ", "--detector"]),
    ],
)
def test_one_clear_line(adbench, tmp_path, arguments, code, quoted):
    before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
    result = adbench(*arguments)
    assert_refused(result, code, *quoted)
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "kept").exists()
    assert {path: path.read_bytes() for path in tmp_path.glob("*.*")} == before


def test_a_detector_that_cannot_be_saved_is_not_fitted(adbench, toy_path):
    result = adbench("fit", "normal.csv", "-m", "kept", "-d", "counting")
    assert_refused(result, 2, "Error: counting ", " trusted_types", "odd -d counting")
    assert "fitting" not in result.stderr
    assert own_detector("ensemble", None, {"members": "llr, counting"}).detector.trusted_types is None
    assert own_detector("ensemble", None, {"members": "llr, pyod-knn"}).detector.trusted_types


def test_the_rows_of_a_column_are_scored_in_their_order(home):
    scorer = Scorer(fit_model(SEA), alpha=0.1)
    shuffled = pd.Series(NEW, index=range(len(NEW) - 1, -1, -1))
    table = scorer.score(NEW)
    assert scorer.score(shuffled).equals(table)
    assert scorer.score(iter(NEW)).equals(table)
    assert len(scorer.score([])) == 0


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("ship sail", "got .*bare string"),
        ([None], "got NoneType .* 0"),
        (pd.DataFrame({"text": ["ship"]}), r"got .*DataFrame; .*\['text'\]"),
        ({"text": "ship"}, "got a dict"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(home, texts, message):
    model = fit_model(SEA)
    for call in (Scorer(model).score, model.detector.decision_function, model.detector.fit, fit_model):
        with pytest.raises(InvalidValueError, match=message):
            call(texts)


def test_a_detector_of_whole_documents_gives_no_words(home):
    table = Scorer(fit_model(SEA, "iforest", settings={"encoder": "svd"}), alpha=0.1).score(NEW)
    assert table.p.isna().tolist() == [False, False, False, True, False, False]
    assert [why for why in table.why if why] == [["no words"]]


def test_documents_without_cleaning(home):
    texts = [f"{text} THE" for text in SEA]
    assert Scorer(fit_model(texts, clean=False)).explain(["THE ship"])[0].words[0].token == "THE"
    assert Scorer(fit_model(texts)).explain(["THE ship"])[0].words[0].token == "ship"
    with pytest.raises(InvalidValueError, match=r" 2 .*got 0"):
        fit_model(["", "..."])
    with pytest.raises(InvalidValueError, match=r" 2 .*got 1"):
        fit_model(["The ship sails", "ship sails!"])


# A share of false alarms


@pytest.mark.slow
def test_a_share_of_false_alarms_decides_on_all_documents(adbench, files, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "adbench_text.documents.chunks._PATIENCE", 0
    )  # other processes from the first chunk on
    by_alpha = lines(adbench("score", "kept", "mixed.csv", "--alpha", "0.1"))
    printed = adbench("score", "kept", "mixed.csv", "--fdr", "0.1")
    assert printed.exit_code == 0, printed.output
    documents = lines(printed)
    p = np.array([document["p_both"] for document in documents])
    is_odd = false_discovery_control(p) <= 0.1
    assert [document["odd"] for document in documents] == is_odd.tolist()
    assert 20 <= is_odd.sum() < sum(document["odd"] for document in by_alpha)
    for document, candidate in zip(documents, by_alpha, strict=True):
        reasons = {} if document["odd"] else {"odd": False, "why": [], "why_form": []}
        assert document == candidate | reasons
    drift_line = adbench("score", "kept", "mixed.csv").stderr
    n_at_alpha, tests = re.search(r"(\d+) odd, (.*)\. 200 documents", drift_line).groups()
    counts = rf"{n_at_alpha} .* 0\.01, {re.escape(tests)}\. 200 documents; {is_odd.sum()} .*\(--fdr: .* 10 % "
    assert re.search(counts, printed.stderr)
    for name in ("a.jsonl", "a.csv"):
        written = adbench("score", "kept", "mixed.csv", "--fdr", "0.1", "-o", name, "--jobs", 2)
        assert (written.exit_code, written.stdout, written.stderr) == (0, "", printed.stderr)
    assert (tmp_path / "a.jsonl").read_text() == printed.stdout
    table = pd.read_csv(tmp_path / "a.csv", keep_default_na=False)
    assert list(table["odd"]) == is_odd.astype(int).tolist()
    assert list(table["why"]) == [", ".join(document["why"]) for document in documents]
    piped = adbench(
        "score", "kept", "-", "--text", "body", "--fdr", "0.1", stdin=(tmp_path / "mixed.csv").read_text()
    )
    assert piped.stdout == printed.stdout


def test_a_share_of_false_alarms_by_words_and_on_a_page(adbench, files, tmp_path):
    command = ["score", "kept", "mixed.csv", "--fdr", "0.1", "--by", "words"]
    scored = adbench(*command, "-o", "a.csv", "--page", "a.html", "--top", "30", "--fail-on-drift")
    assert scored.exit_code == 4, scored.output
    table = pd.read_csv(tmp_path / "a.csv")
    assert list(table["odd"]) == (false_discovery_control(table["p"]) <= 0.1).astype(int).tolist()
    last_line = scored.stderr.splitlines()[-1]
    counts = rf" {(table['p'] <= 0.01).sum()} .* 0\.01, .*; {table['odd'].sum()} documents .*\(--fdr: "
    assert re.search(counts, last_line)
    markup = (tmp_path / "a.html").read_text()
    assert 0 < table["odd"].sum() < 30
    above, _, _ = markup.split('class="usual"')
    assert above.count('<a href="#document') == table["odd"].sum()


def test_a_model_of_few_documents_calls_nothing_odd_and_notes_why(adbench, files):
    scored = adbench("score", "kept", "mixed.csv", "--fdr", "0.05")
    assert (scored.exit_code, any(document["odd"] for document in lines(scored))) == (0, False)
    note, last_line = scored.stderr.splitlines()
    assert re.match(r"Note: --fdr 0\.05 .* 0\.0083\. .*--alpha", note)
    assert re.search(r"200 documents; 0 .*\(--fdr: .* 5 % ", last_line)
    few = adbench("score", "kept", "-", "--fdr", "0.1", stdin="the ship sails\nthe captain and the tide")
    assert "Note" not in few.stderr  # one document would do


def test_a_model_that_can_call_nothing_odd_at_alpha_says_so(adbench, tmp_path):
    (tmp_path / "few.csv").write_text("\n".join(["body", *SEA[:60], *(f"{text} again" for text in SEA[:60])]))
    fitted = adbench("fit", "few.csv", "-m", "few")
    noted = adbench("score", "few", "new.jsonl", "--text", "body").stderr
    assert re.search(r"^Note: --alpha 0\.01 .* 0\.016\. ", noted, re.MULTILINE)
    assert re.search(r"^Note: .*--alpha 0\.01, .* 0\.016\. ", fitted.stderr)
    assert "Note" not in adbench("score", "few", "new.jsonl", "--text", "body", "--alpha", "0.02").stderr


def test_documents_without_a_p_and_known_ones_are_not_odd(adbench, files, tmp_path):
    (tmp_path / "empty.csv").write_text('id,body\n1,""\n2," "')
    scored = adbench("score", "kept", "empty.csv", "--text", "body", "--fdr", "0.1", "--by", "words")
    assert scored.exit_code == 0, scored.output
    assert [(document["p"], document["odd"]) for document in lines(scored)] == [(None, False)] * 2
    assert ". 2 documents, 0 new texts; 0 documents " in scored.stderr
    known = adbench("score", "kept", "normal.csv", "--fdr", "0.9")
    assert not any(document["odd"] for document in lines(known))


def test_a_bad_line_leaves_nothing_decided(adbench, files, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"body": "ship"}\n{"body": "sail"}\noops\n')
    scored = adbench("score", "kept", "bad.jsonl", "--text", "body", "--fdr", "0.1")
    assert_refused(scored, 1, "Error: bad.jsonl, line 3 ", " JSON: ")


@pytest.mark.parametrize(
    ("options", "quoted"),
    [
        (["--fdr", "0"], ["fdr ", "(0, 1), got 0.0."]),
        (["--fdr", "1.5"], ["fdr ", "(0, 1), got 1.5."]),
        (["--fdr", "nan"], ["fdr ", "(0, 1), got nan."]),
        (["--fdr", "0.1", "--alpha", "0.01"], ["--alpha", "--fdr"]),
    ],
)
def test_a_wrong_share_of_false_alarms_is_refused(adbench, files, tmp_path, options, quoted):
    scored = adbench("score", "kept", "mixed.csv", "-o", "a.csv", *options)
    assert_refused(scored, 2, *quoted)
    assert not (tmp_path / "a.csv").exists()


def test_a_share_of_false_alarms_from_python(home):
    model, texts = fit_model(SEA), [*texts_about("sea", 20, 1), *texts_about("law", 10, 0), "", "..."]
    table = Scorer(model, fdr=0.2).score(texts)
    deciding = table["p_both"].dropna()
    assert table["odd"].sum() >= 10
    assert table["odd"][deciding.index].tolist() == (false_discovery_control(deciding) <= 0.2).tolist()
    assert not table["odd"].iloc[-2]
    assert not any(table["why"][~table["odd"]])
    assert len(Scorer(model, fdr=0.2).score([])) == 0
    with pytest.raises(InvalidValueError, match=r"^fdr .*\(0, 1\), got 1\."):
        Scorer(model, fdr=1)


# Known outliers


def test_new_documents_like_known_outliers_are_more_abnormal(adbench, tmp_path):
    odd = [*texts_about("law", 8, 5), "", "12 34"]
    odd_lines = "\n".join(json.dumps({"body": text}) for text in [*odd, odd[0].upper()])
    (tmp_path / "odd.jsonl").write_text(odd_lines)
    plain = adbench("fit", "normal.csv", "--text", "body", "-m", "plain")
    fitted = adbench("fit", "normal.csv", "--text", "body", "-m", "kept", "--outliers", "odd.jsonl")
    assert fitted.exit_code == 0, fitted.output
    assert re.search("; ensemble:clean, .* 8 outliers, ", fitted.stdout)
    assert "outlier" not in plain.stdout
    scored = [lines(adbench("score", kept, "new.jsonl", "--text", "body")) for kept in ("plain", "kept")]
    before, after = ([result["score"] for result in results] for results in scored)
    assert after[4] - before[4] > 0.1  # the judge
    assert [result["odd"] for result in scored[1]] == [False] * 4 + [True, True]
    description = (tmp_path / "kept" / "model.json").read_text()
    assert json.loads(description)["training"]["options"]["n_outliers"] == 8
    stored = b"".join(path.read_bytes() for path in (tmp_path / "kept").rglob("*") if path.is_file())
    assert not any(text.encode() in stored for text in odd[:8])


def test_known_outliers_are_the_same_from_python_and_the_command(adbench, tmp_path):
    odd = texts_about("law", 5, 5)
    (tmp_path / "odd.csv").write_text("\n".join(["id,body", *(f"N{n},{text}" for n, text in enumerate(odd))]))
    adbench("fit", "normal.csv", "-m", "kept", "--outliers", "odd.csv")  # identifiers may be in both files
    scored = lines(adbench("score", "kept", "new.jsonl", "--text", "body"))
    expected = Scorer(fit_model(SEA, outliers=odd)).score(NEW).score
    given = [math.nan if result["score"] is None else result["score"] for result in scored]
    assert given == pytest.approx(expected.tolist(), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("arguments", "code", "quoted"),
    [
        (["--outliers", "none.csv"], 1, ["no file none.csv"]),
        (
            ["--outliers", "odd.csv", "-d", "iforest", "--set", "encoder=svd"],
            2,
            ["Error: iforest(encoder=svd) ", " known outliers", "--detector", " ensemble"],
        ),
        (["--outliers", "both.csv"], 2, [" 1 known outlier, ", f"{SEA[7].upper()[:60]!r}"]),
        (["--outliers", "other.csv", "--text", "body"], 2, [" column ", "'body'", " text."]),
    ],
)
def test_wrong_outliers_are_one_line_and_no_model(adbench, tmp_path, arguments, code, quoted):
    (tmp_path / "odd.csv").write_text("body\nthe judge heard\n")
    (tmp_path / "both.csv").write_text(f"body\nthe judge heard\n{SEA[7].upper()}\n")
    (tmp_path / "other.csv").write_text("text\nthe judge heard\n")
    fitted = adbench("fit", "normal.csv", "-m", "kept", *arguments)
    assert_refused(fitted, code, *quoted)
    assert fitted.stderr.count("\n") == 1
    assert not (tmp_path / "kept").exists()


def test_lone_surrogates_are_learned_and_scored_and_noted(adbench, tmp_path):
    rows = [{"id": f"N{n}", "text": text} for n, text in enumerate(SEA[:30])]
    rows += [{"id": "\udfff", "text": "half \ud83d of a smile"}, {"id": "nul", "text": "nul \0 and void"}]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    fitted = adbench("fit", "own.jsonl", "--model", "kept")
    assert (fitted.exit_code, "value has lone surrogates" in fitted.stderr) == (0, True)
    for arguments in (["-o", "s.csv"], ["--page", "p.html"]):
        scored = adbench("score", "kept", "own.jsonl", *arguments)
        assert (scored.exit_code, "have lone surrogates" in scored.stderr) == (0, True)
    assert [row["p"] for row in pd.read_csv("s.csv").to_dict("records")] == [1.0] * 32  # all are known
    assert pd.read_csv("s.csv")["id"].tolist()[-2] == "\ufffd"


def written(path, texts):
    path.write_text("text\n" + "".join(f'"{text}"\n' for text in texts), encoding="utf-8")
    return path


def about_languages(result):
    assert result.exit_code == 0, result.output
    return [line for line in result.stderr.splitlines() if "language" in line]


def test_a_language_that_was_forgotten_is_noted_by_fit_and_by_score(adbench, tmp_path):
    german = written(tmp_path / "de.csv", GERMAN)
    (note,) = about_languages(adbench("fit", german, "-d", "llr", "-m", "forgotten", "-q"))
    assert all(each in note for each in ("Note: ", "'de'", "'en'", "--language de."))
    fitted = adbench("fit", german, "-d", "knn-words", "-m", "de", "--language", "de-AT", "-q")
    assert about_languages(fitted) == []
    assert about_languages(adbench("score", "de", german, "-q")) == []
    for options in ([], ["--page", "page.html", "-o", "scored.csv"], ["--fdr", 0.1]):
        (note,) = about_languages(adbench("score", "forgotten", german, "-q", *options))
        assert all(each in note for each in ("Note: ", "'de'", "'en'", "--language de."))
    english = written(tmp_path / "en.csv", [f"the boiler in cellar {n} is losing water" for n in range(9)])
    (note,) = about_languages(adbench("score", "de", english, "-q"))
    assert "'en'" in note
    assert about_languages(adbench("score", "forgotten", english, "-q")) == []


@pytest.mark.parametrize("n_german", [3, 6000])
def test_score_finds_the_language_of_most_documents_wherever_they_are(adbench, tmp_path, n_german):
    adbench("fit", "normal.csv", "-d", "llr", "-m", "kept")
    others = ["the boiler in the cellar of this house is losing water"] * (6003 - n_german)
    mixed = [*GERMAN[:3], *others, *GERMAN[:1] * (n_german - 3)]
    result = adbench("score", "kept", "-", "--format", "lines", "-q", stdin="\n".join(mixed))
    assert [("'de'" in note) for note in about_languages(result)] == [True] * (n_german > 3)


def test_fit_finds_the_language_of_a_file_and_of_a_pipe_and_score_takes_it_from_the_model(adbench, tmp_path):
    english = ["the boiler in the cellar is losing water", "the heating has been cold since yesterday"]
    german = written(tmp_path / "de.csv", [*GERMAN, *english])
    fit = ["-d", "llr", "--language", "auto", "-q", "-m"]
    (note,) = about_languages_of_file(adbench("fit", german, *fit, "found"))
    assert "de (93 %), en (7 %)" in note
    piped = adbench("fit", "-", "--format", "csv", *fit, "piped", stdin=german.read_text(encoding="utf-8"))
    assert about_languages_of_file(piped) == [note]
    adbench("fit", german, "-d", "llr", "--language", "de", "-q", "-m", "given")
    scored = [lines(adbench("score", model, german)) for model in ("found", "piped", "given")]
    assert scored[0] == scored[1] == scored[2]
    assert about_languages(adbench("score", "found", german, "-q")) == []


def about_languages_of_file(result):
    assert result.exit_code == 0, result.output
    return [line for line in result.stderr.splitlines() if "the documents are in" in line]


def test_score_and_run_take_no_language_but_a_tag(adbench):
    assert_refused(adbench("score", "kept", "new.jsonl", "--language", "auto"), 2, "--language")
    assert_refused(adbench("run", "-d", "llr", "-s", "files:normal.csv", "--language", "auto"), 2, "'auto'")


def test_fit_tells_documents_with_other_digits_from_duplicates(adbench, tmp_path):
    texts = [*SEA[:20], "the ship 12", "the ship 34", "the ship 12"]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    printed = adbench("fit", "a.txt", "--model", "kept").stdout
    assert printed.startswith("23 documents, 1 duplicate, 1 with the same words, 0 without words; ")
