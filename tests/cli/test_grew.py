"""``adbench-text grew``: what a new file has more about than an old one."""

import csv
import json
import re
from datetime import date, timedelta

import numpy as np
import pytest
from click.testing import CliRunner
from commands import assert_refused
from made_up_words import WORDS

from adbench_text.cli.main import main

N_OLD, N_NEW, N_FIRES = 400, 150, 12
FIRES = range(N_NEW, N_NEW + N_FIRES)


def texts(n, seed, added=""):
    rng = np.random.default_rng(seed)
    return [" ".join([*rng.choice(WORDS[:200], 8, replace=False), added]) for _ in range(n)]


def write(path, rows, header=("key", "body", "from", "day")):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path.name


def read(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def grew(home, tmp_path, monkeypatch):
    """Return a function that runs the command in a folder with two files, the second with fires."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    first = date(2026, 3, 2)  # a Monday
    of_old = [first + timedelta(days=n % 28) for n in range(N_OLD)]
    of_new = [first + timedelta(days=28 + n % 7) for n in range(N_NEW + N_FIRES)]
    rows = [[f"A{n}", text, f"u{n}", of_old[n]] for n, text in enumerate(texts(N_OLD, 1))]
    documents = texts(N_NEW, 2) + texts(N_FIRES, 3, "Smoke, in the engine <room>!")
    new = [[f"B{n}", text, f"u{n}", of_new[n]] for n, text in enumerate(documents)]
    write(tmp_path / "old.csv", rows)
    write(tmp_path / "new.csv", new)
    write(tmp_path / "both.csv", [*rows, *new])
    return lambda *arguments: CliRunner().invoke(main, ["grew", *map(str, arguments)])


def test_the_groups_are_printed_and_the_table_and_the_page_have_their_documents(grew, tmp_path):
    result = grew("old.csv", "new.csv", "--text", "body", "--id", "key")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("1 subject grew (alpha 0.05;")
    assert lines[1].startswith("NEW has 162 different documents, OLD has 400;")
    (row,) = [line.split() for line in lines if line.startswith("     1 ")]
    assert row[1] == str(N_FIRES)
    assert {"smoke,", "engine,"} <= {*row}
    table = read(tmp_path / "grew.csv")
    assert [*table[0]] == ["row", "group", "words", "copy_of", "key", "body", "from", "day"]
    assert sorted(int(each["row"]) for each in table) == [*range(N_NEW + N_FIRES)]
    assert sorted(int(each["row"]) for each in table[:N_FIRES]) == [*FIRES]
    assert [each["group"] for each in table] == [*["1"] * N_FIRES, *[""] * N_NEW]
    assert all(each["key"] == f"B{each['row']}" for each in table)
    page = (tmp_path / "grew.html").read_text()
    assert "1. smoke, engine, room" in page or "1. engine, smoke, room" in page
    assert page.count("<article") == N_FIRES
    assert "&lt;" in page
    assert "<room>" not in page


def test_json_has_a_line_for_each_group(grew):
    result = grew("old.csv", "new.csv", "--text", "body", "--id", "key", "--json")
    (group,) = map(json.loads, result.stdout.splitlines())
    assert (group["group"], group["n"]) == (1, N_FIRES)
    assert 0 < group["p"] < 0.01
    assert sorted(group["ids"]) == sorted(f"B{n}" for n in FIRES)
    assert [each["id"] for each in group["typical"]] == group["ids"][:3]
    assert all("Smoke" in each["text"] for each in group["typical"])


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--fail-on-growth",), 4)])
def test_growth_fails_on_request_only(grew, options, code):
    assert grew("old.csv", "new.csv", "--text", "body", *options).exit_code == code


def test_a_quiet_command_prints_only_what_grew(grew):
    lines = grew("old.csv", "new.csv", "--text", "body", "-q").stdout.splitlines()
    (line,) = lines
    assert re.match(rf"Grew: 1\. .*(smoke|engine).*: {N_FIRES} documents, \S+ expected \(p \S+\)", line)
    assert grew("old.csv", "old.csv", "--text", "body", "-q").stdout == ""


def test_no_subject_has_grown(grew, tmp_path):
    result = grew("old.csv", "old.csv", "--text", "body", "--fail-on-growth", "-o", "no")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("No subject has grown ")
    assert {each["group"] for each in read(tmp_path / "no.csv")} == {""}
    assert "No subject has grown" in (tmp_path / "no.html").read_text()
    assert grew("old.csv", "old.csv", "--text", "body", "--json").stdout == ""


def test_the_last_period_of_a_file_is_compared_with_the_time_before(grew, tmp_path, monkeypatch):
    monkeypatch.setattr("adbench_text.reading.dates._ENOUGH", 100)
    result = grew("both.csv", "--by-time", "day", "--text", "body", "--id", "key")
    assert result.exit_code == 0, result.output
    assert "NEW is the last week, 2026-03-30 to 2026-04-05: 162 documents." in result.stdout
    assert "OLD is the 4 weeks before it: 400 documents." in result.stdout
    assert "dates 'day'" in result.stdout
    table = read(tmp_path / "grew.csv")
    assert sorted(int(each["row"]) for each in table) == [*range(N_OLD, N_OLD + N_NEW + N_FIRES)]
    assert {each["key"] for each in table[:N_FIRES]} == {f"B{n}" for n in FIRES}
    assert all(each["key"] == f"B{int(each['row']) - N_OLD}" for each in table)


def test_a_sender_counts_once(grew, tmp_path):
    rows = [[f"B{n}", text, f"u{n}", ""] for n, text in enumerate(texts(N_NEW, 2))]
    rows += [[f"C{n}", text, "bot", ""] for n, text in enumerate(texts(N_FIRES, 3, "smoke engine"))]
    write(tmp_path / "bot.csv", rows)
    options = "--text", "body", "--fail-on-growth"
    assert grew("old.csv", "bot.csv", *options).exit_code == 4
    assert grew("old.csv", "bot.csv", *options, "--sender", "from").exit_code == 0


def test_near_copies_are_named(grew, tmp_path):
    letter = "cheap tickets ferry island sailing summer harbour shop today offer ends soon hurry code"
    rows = [
        [n, text, "", ""] for n, text in enumerate([*texts(N_NEW, 2), *[f"{letter} {w}" for w in WORDS[:60]]])
    ]
    write(tmp_path / "wave.csv", rows)
    result = grew("old.csv", "wave.csv", "--text", "body", "--id", "key")
    assert "Near-copies: 60 documents of NEW and 0 of OLD like id 150: cheap tickets" in result.stderr
    assert [each["copy_of"] for each in read(tmp_path / "grew.csv")].count("150") == 59


def test_a_family_of_near_copies_that_grew_is_growth(grew, tmp_path):
    rows = [
        [n, text, "", ""] for n, text in enumerate([*texts(N_NEW, 2), *["Cannot log in, help please"] * 60])
    ]
    write(tmp_path / "wave.csv", rows)
    result = grew("old.csv", "wave.csv", "--text", "body", "--json", "--fail-on-growth", "--seed", "1")
    assert result.exit_code == 4
    (wave,) = map(json.loads, result.stdout.splitlines())
    assert wave == {"copies": 60, "copies_in_old": 0, "id": "150", "text": "Cannot log in, help please"}


def test_words_for_a_missing_sender_are_no_sender(grew, tmp_path):
    rows = [[f"B{n}", text, f"u{n}", ""] for n, text in enumerate(texts(N_NEW, 2))]
    rows += [[f"C{n}", text, "NULL", ""] for n, text in enumerate(texts(24, 3, "smoke engine"))]
    write(tmp_path / "null.csv", rows)
    options = "--text", "body", "--fail-on-growth", "--sender", "from"
    assert grew("old.csv", "null.csv", *options).exit_code == 4


def test_a_wrong_language_and_longer_documents_are_noted(grew, tmp_path):
    german = (
        "Der Dampfer verließ den Hafen am frühen Morgen, und die Mannschaft stand an Deck, weil es regnete"
    )
    rows = [[n, f"{german} {text}", "", ""] for n, text in enumerate(texts(N_NEW, 2))]
    write(tmp_path / "german.csv", rows)
    result = grew("old.csv", "german.csv", "--text", "body")
    assert "--language de" in result.stderr
    assert "documents of NEW are longer" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "quoted"),
    [
        (("old.csv",), 2, ["'NEW'", "--by-time"]),
        (("both.csv", "new.csv", "--by-time", "day"), 2, ["'new.csv'"]),
        (("both.csv", "--by-time", "when"), 2, ["'when'", "day"]),
        (("both.csv", "--by-time", "key"), 2, ["'A0'", "both.csv, line 2", "2026-11-29"]),
        (("both.csv", "--by-time", "day", "--sender", "who"), 2, ["'who'", "from"]),
        (("old.csv", "new.csv", "--sender", "who"), 2, ["'who'", "from"]),
        (("old.csv", "new.csv", "--alpha", "2"), 2, ["2.0"]),
        (("old.csv", "new.csv", "-o", "new"), 2, ["new.csv"]),
        (("old.csv", "new.csv", "-o", "."), 2, ["folder"]),
        (("old.csv", "new.csv", "--sender", ""), 2, ["--sender"]),
        (("both.csv", "--by-time", ""), 2, ["--by-time"]),
        (("-", "-"), 2, ["standard input"]),
        (("old.csv", "missing.csv"), 1, ["missing.csv"]),
    ],
)
def test_wrong_arguments_are_refused_and_nothing_is_written(grew, tmp_path, arguments, code, quoted):
    before = sorted(tmp_path.iterdir())
    assert_refused(grew(*arguments, "--text", "body"), code, *quoted)
    assert sorted(tmp_path.iterdir()) == before
