"""``fit``, ``score`` and ``explain``: a model to keep."""

import io
import json
import sys

import pandas as pd
import pytest
from click.testing import CliRunner
from mlflow import MlflowClient

from adbench_text.cli import score
from adbench_text.cli.main import main
from adbench_text.documents.own_detector import own_detector
from adbench_text.documents.ranking import fit_model
from adbench_text.errors import InvalidValueError
from adbench_text.models.model import Scorer
from adbench_text.testing.topics import texts_about

SEA = texts_about("sea", 120, 0)
NEW = [*texts_about("sea", 3, 1), "", "The JUDGE heard <b>a witness</b>", "12 ..."]


@pytest.fixture
def adbench(home, tmp_path, monkeypatch):
    """Return a function that runs a command in a folder with normal.csv, new.jsonl and a model."""
    monkeypatch.chdir(tmp_path)
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
    first, second, third = fitted.stdout.splitlines()
    assert first.startswith(
        "120 documents, 0 duplicates, 0 empty; mean (topics, without word vectors), calib"
    )
    assert second.startswith("By words alone, scores above these are odd, by share of false alarms: 1 %: ")
    assert third == "Model: kept. Score documents: adbench-text score kept FILE"
    scored = adbench("score", "kept", "new.jsonl", "--text", "body", "--id", "key")
    assert scored.exit_code == 0, scored.output
    results = lines(scored)
    assert [result["id"] for result in results] == ["K0", "K1", "K2", "K3", "K4", "K5"]
    assert [result["odd"] for result in results] == [False] * 4 + [True, False]
    assert list(results[4]) == ["id", "score", "p", "p_form", "p_both", "odd", "why", "why_form"]
    assert set(results[4]["why"]) == {"judge", "heard", "witness"}
    assert results[4]["p"] == pytest.approx(1 / 121)
    empty = {"id": "K3", "score": None, "p": None, "odd": False, "why": []}
    assert results[3] == empty | {"p_form": None, "p_both": None, "why_form": []}
    assert results[4]["p_both"] == pytest.approx(1 / 121)
    assert results[4]["why_form"][0].endswith(" (others 0 %)")
    assert (results[5]["p"], results[5]["p_form"]) == (None, pytest.approx(1 / 121))
    by_words = lines(adbench("score", "kept", "new.jsonl", "--text", "body", "--id", "key", "--by", "words"))
    assert by_words[3] == empty
    assert [result["odd"] for result in by_words] == [False] * 4 + [True, False]
    assert [result["p"] for result in by_words] == [result["p"] for result in results]
    model = fit_model(SEA)
    # rounding: a document's words are added in the order in which its batch has them
    pairs = [
        (result["score"], each.score) for result, each in zip(results, Scorer(model).score(NEW), strict=True)
    ]
    assert (
        [score is None for score, _ in pairs]
        == [each is None for _, each in pairs]
        == [False] * 3 + [True, False, True]
    )
    scores, expected = zip(*(pair for pair in pairs if pair[0] is not None), strict=True)
    assert scores == pytest.approx(expected, rel=1e-12)
    page = adbench("explain", "kept", "new.jsonl", "--text", "body", "--top", "2")
    assert page.exit_code == 0, page.output
    assert (
        "6 documents, 2 without words; mean (topics, without word vectors), fitted on 120 doc" in page.output
    )
    markup = (tmp_path / "explained.html").read_text()
    assert "Odd by words and form at 1 % false alarms: 1. p is the share" in page.output
    assert markup.count("<article") == 2
    assert "<title>Odd documents in new.jsonl</title>" in markup
    assert "p_both <b>" in markup
    assert " (others 0 %)" in markup
    assert 'title="' in markup
    assert "<b>a witness" not in markup


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
    assert adbench("explain", "kept", "halves.csv", *columns, "--top", "1").exit_code == 0
    other = adbench("score", "kept", "halves.csv", "--text", "subject", "--by", "words")
    assert lines(other) != lines(of_halves)


def test_fit_notes_that_several_documents_share_the_highest_score(adbench, tmp_path):
    alone = ["preheat the oven", "beat the eggs", "boil the noodles"]  # none shares a word with another
    (tmp_path / "normal.txt").write_text("\n".join([*SEA, *alone]))
    fitted = adbench("fit", "normal.txt", "--model", "kept", "-d", "knn-words")
    note = (
        "Note: 3 of 123 normal documents share the highest score, 1. "
        "At 1 % only a higher score is odd; if the detector gives none, no words are odd."
    )
    assert note in fitted.stderr
    assert adbench("fit", "normal.csv", "--model", "other", "-d", "knn-words").stderr == ""
    (tmp_path / "alike.txt").write_text("\n".join(f"row {letter}" for letter in "bcdefghjklmnopqrstuvwxyz"))
    of_form = adbench("fit", "alike.txt", "--model", "of-form", "-d", "form")
    assert "if the detector gives none, no document is odd." in of_form.stderr


def test_what_was_scored_before_a_bad_line_is_printed(adbench, tmp_path):
    adbench("fit", "normal.csv", "--model", "kept")
    (tmp_path / "bad.jsonl").write_text(
        '{"body": "ship"}\n{"body": "sail"}\n{"body": "tide"}\noops\n{"body": "crew"}'
    )
    scored = adbench("score", "kept", "bad.jsonl", "--text", "body")
    assert scored.exit_code == 1
    assert [result["id"] for result in lines(scored)] == ["1", "2", "3"]
    assert scored.stderr.startswith("Error: bad.jsonl, line 4 is not JSON")


def test_the_first_answer_does_not_wait_for_a_second_document(adbench, tmp_path, monkeypatch):
    """A pipe that has sent one line, and no end yet."""
    adbench("fit", "normal.csv", "--model", "kept")
    printed = []

    class Pipe(io.RawIOBase):
        def __init__(self):
            self.sent = [b'{"body": "ship"}\n']

        def readable(self):
            return True

        def readline(self, size=-1):
            if self.sent:
                return self.sent.pop()
            assert printed, "asked for a second line before the first was answered"
            return b""

    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Pipe()}))
    monkeypatch.setattr(score.click, "echo", printed.append)
    score.command.main(["kept", "-", "--text", "body"], standalone_mode=False)
    assert json.loads(printed[0])["id"] == "1"


def test_a_model_is_not_overwritten_unasked(adbench):
    assert adbench("fit", "normal.csv", "--model", "kept").exit_code == 0
    again = adbench("fit", "normal.csv", "--model", "kept")
    assert (again.exit_code, again.stdout) == (1, "")
    assert "kept contains a model already" in again.stderr
    assert adbench("fit", "normal.csv", "--model", "kept", "--overwrite").exit_code == 0


def test_a_model_is_registered_in_mlflow(adbench):
    command = ["fit", "normal.csv", "--model", "kept", "--log-model", "tickets", "--alias", "winner"]
    result = adbench(*command)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "Registered: models:/tickets@winner"
    version = MlflowClient("sqlite:///mlflow.db").get_model_version_by_alias("tickets", "winner")
    assert (version.name, int(version.version)) == ("tickets", 1)
    refused = adbench("fit", "normal.csv", "--model", "other", "--alias", "winner")
    assert refused.exit_code == 2
    assert "give --log-model too" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "none", "new.jsonl"], "There is no model at none"),
        (["score", ".", "new.jsonl"], "There is no model at ."),
        (["explain", "kept", "."], "explained.html would be among the documents of the folder .; give an"),
        (["fit", "", "-m", "kept"], "The path of the documents is empty (''); give a file, a folder, or - ."),
        (["explain", "none", "new.jsonl"], "There is no model at none"),
        (["fit", "normal.csv", "-m", "normal.csv"], "normal.csv exists and is not a model"),
        (["fit", "normal.csv", "-m", "kept", "-d", "llr:batch"], "scores documents by the batch"),
    ],
)
def test_one_clear_line(adbench, tmp_path, arguments, message):
    result = adbench(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert not (tmp_path / "kept").exists()


def test_a_detector_that_cannot_be_saved_is_not_fitted(adbench, toy_path):
    result = adbench("fit", "normal.csv", "-m", "kept", "-d", "counting")
    assert result.exit_code == 3
    assert result.stderr.startswith("Error: counting cannot be saved: it defines no _get_state")
    assert "adbench-text odd -d counting" in result.stderr
    assert "fitting" not in result.stderr
    assert not own_detector("refit", None, {"detector": "counting"}).detector.can_be_saved
    assert own_detector("mean", None, {"members": "llr, pyod-knn"}).detector.can_be_saved


def test_the_rows_of_a_column_are_scored_in_their_order(home):
    scorer = Scorer(fit_model(SEA), alpha=0.1)
    shuffled = pd.Series(NEW, index=range(len(NEW) - 1, -1, -1))
    assert scorer.score(shuffled) == scorer.score(NEW) == scorer.score(iter(NEW))
    assert scorer.score([]) == []


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("ship sail", "got one bare string"),
        ([None], "got NoneType at position 0"),
        (pd.DataFrame({"text": ["ship"]}), r"got a DataFrame; give one column, as in table\['text'\]"),
        ({"text": "ship"}, "got a dict"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(home, texts, message):
    model = fit_model(SEA)
    for call in (Scorer(model).score, model.detector.decision_function, model.detector.fit, fit_model):
        with pytest.raises(InvalidValueError, match=message):
            call(texts)


def test_a_detector_of_whole_documents_gives_no_words(home):
    results = Scorer(fit_model(SEA, "iforest", settings={"encoder": "svd"}), alpha=0.1).score(NEW)
    assert [result.p is None for result in results] == [False, False, False, True, False, True]
    assert all(result.why == [] for result in results)


def test_documents_without_cleaning(home):
    texts = [f"{text} THE" for text in SEA]
    assert Scorer(fit_model(texts, clean=False)).words(["THE ship"])[0][0].token == "THE"
    assert Scorer(fit_model(texts)).words(["THE ship"])[0][0].token == "ship"
    with pytest.raises(InvalidValueError, match="At least 2 different documents"):
        fit_model(["", "..."])
    with pytest.raises(InvalidValueError, match="with words are needed for a model, got 1"):
        fit_model(["The ship sails", "ship sails!"])
