"""``adbench-text odd``: from a file of texts to the odd ones."""

import csv
import errno
import json
import os
import re
import textwrap
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from commands import assert_refused
from german import GERMAN
from markupsafe import escape

from adbench_text.cli import file_rows
from adbench_text.cli.main import main
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.provenance import command_line
from adbench_text.testing.topics import texts_about

SEA = texts_about("sea", 150, 0)


@pytest.fixture
def odd(home, tmp_path, monkeypatch):
    """Return a function that runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("adbench_text.cli.progress._LINE_SECONDS", 1000)  # the same on a slow machine
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *arguments: CliRunner().invoke(main, ["odd", "--keep-copies", *map(str, arguments)])


def write(path, rows, header=("key", "queue", "body")):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def table(path):
    """Return the rows of a CSV file, by column."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def notes(result):
    return result.stderr.splitlines()


def has_note(result, *quoted):
    """Whether one note quotes all of these."""
    return any(note.startswith("Note: ") and all(text in note for text in quoted) for note in notes(result))


@pytest.mark.parametrize("row", [1, 149])
def test_two_documents_of_one_identifier_are_named_and_nothing_is_written(odd, tmp_path, row):
    rows = [(f"T{n}", "crew", text) for n, text in enumerate(SEA)]
    rows[row] = (f"T{row - 1}", "crew", "the crew")
    write(tmp_path / "tickets.csv", rows)
    result = odd("tickets.csv", "--text", "body", "--id", "key")
    assert_refused(result, 1, f" key 'T{row - 1}': rows {row - 1} and {row}. ", "--id ''")
    assert len(notes(result)) == 1
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["tickets.csv"]
    assert odd("tickets.csv", "--text", "body", "--id", "").exit_code == 0


@pytest.mark.parametrize(
    ("values", "is_named"),
    [
        ([f"T-{n}" for n in range(150)], True),
        ([str(7000 + n) for n in range(150)], True),
        ([f"{n}.5" for n in range(150)], False),
        ([f"2026-01-01T00:{n:03}" for n in range(150)], False),
        ([f"ticket {n}" for n in range(150)], False),
        (["T-1", *(f"T-{n}" for n in range(1, 150))], False),
        (["", *(f"T-{n}" for n in range(1, 150))], False),
    ],
)
def test_a_unique_column_is_suggested_as_identifier(odd, tmp_path, values, is_named):
    rows = [(value, "crew", text) for value, text in zip(values, SEA, strict=True)]
    write(tmp_path / "tickets.csv", rows)
    assert has_note(odd("tickets.csv", "--text", "body", "-d", "llr"), "--id key ") == is_named
    for identifier in ("", "queue"):
        assert not has_note(odd("tickets.csv", "--text", "body", "--id", identifier), "--id key ")


def test_a_session(odd, tmp_path):
    rows = [(f"T{n}", "crew", text) for n, text in enumerate(SEA)]
    rows += [
        ("X1", "cook", "Preheat the oven,\nbeat <b>the eggs</b>"),
        ("X2", "cook", ""),
        ("X3", "crew", SEA[3]),
    ]
    result = odd(write(tmp_path / "tickets.csv", rows), "--text", "body", "--id", "key", "--top", 2)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("153 documents, 1 duplicate, 1 without words; ensemble:robust, ")
    assert lines[1] == "Odd by both:"
    assert lines[2].split() == ["rank", "id", "p", "by", "why", "text"]
    assert re.match(r" +1 +X1 +0\.0066 +words +(preheat|oven|eggs|beat), .*Preheat the oven, beat", lines[3])
    assert re.fullmatch(r"Called odd by both: 1 of 151 .* 0\.01 \(--alpha; 0\.05 calls 7 odd\)\.", lines[-4])
    assert lines[-3].startswith("p is ")
    assert "mark" not in lines[-3]
    assert lines[-2] == "Read as comma, header, UTF-8; text 'body'; identifiers 'key'."
    all_lists = "It also has the lists by words and by form."
    assert lines[-1] == f"All documents: odd.csv. Page: odd.html. {all_lists}"
    rows = table(tmp_path / "odd.csv")
    ours = ["rank", "mark", "row", "score", "p", "p_form", "p_both", "odd", "why", "why_form"]
    ours += ["copy_of", "nearest", "subject"]
    assert list(rows[0]) == [*ours, "key", "queue", "body"]
    assert {rows[0][name] for name in ("p", "p_form", "p_both")} == {"0.006623"}
    assert [row["key"] for row in rows][:: len(rows) - 1] == ["X1", "X2"]
    assert len(rows) == 153
    assert {row["copy_of"] for row in rows if row["key"] == "X3"} == {"T3"}
    assert rows[0]["body"] == "Preheat the oven,\nbeat <b>the eggs</b>"
    page = (tmp_path / "odd.html").read_text()
    assert "<b>the" not in page
    assert re.search(r'<span class="odd\d" title="[\d.]+">oven</span>', page)
    assert re.findall("<h2 .*>(.*)</h2>", page) == ["Odd by both", "Odd by words", "Odd by form"]
    assert re.search(r"<title>.* tickets\.csv</title>", page)
    assert str(escape(command_line())) in page


def test_each_list_has_its_own_order_and_form_is_looked_at_only_if_asked_for(odd, tmp_path):
    shout = SEA[3].upper().replace(" ", "!! ")
    write(tmp_path / "a.csv", [[text] for text in [*SEA, "beat the eggs", shout, "12 34 56"]], ("text",))
    first, marks = {}, {}
    for by in ("words", "form", "both"):
        result = odd(tmp_path / "a.csv", "--by", by, "--top", 3, "--alpha", 0.02)
        assert "Odd by" not in result.stdout
        rows = table(tmp_path / "odd.csv")
        first[by] = rows[0]["text"]
        marks[by] = {
            name for name in ("why", "why_form", "p_form", "p_both") if any(row[name] for row in rows)
        }
        column = {"words": "p", "form": "p_form", "both": "p_both"}[by]
        on_page = re.search(r"<tr><td>1</td><td>.*?</td><td>(.*?)</td>", (tmp_path / "odd.html").read_text())
        assert float(on_page[1]) == pytest.approx(float(rows[0][column]), rel=0.05)
        for row in rows:
            assert row["odd"] == str(int(float(row[column]) <= 0.02)) if row[column] else not row["odd"]
    assert first["words"] == "beat the eggs"
    assert first["form"] == "12 34 56"  # no letters at all
    assert marks["words"] == {"why"}
    assert marks["form"] == {"why_form", "p_form", "p_both"}
    assert marks["both"] == {"why", "why_form", "p_form", "p_both"}
    assert first["both"] in ("beat the eggs", shout, "12 34 56")
    (without_words,) = (row for row in rows if row["text"] == "12 34 56")
    assert (without_words["score"], without_words["p"]) == ("", "")


@pytest.mark.parametrize(("n", "is_rough"), [(19, True), (20, False)])
def test_a_note_says_that_p_by_form_of_few_documents_is_rough(odd, tmp_path, n, is_rough):
    write(tmp_path / "a.csv", [[text] for text in [*texts_about("sea", n, 0, compounds=True), ""]], ("text",))
    quoted = " form ", f" {n} documents ", " 20 "
    assert has_note(odd(tmp_path / "a.csv"), *quoted) == is_rough
    assert has_note(odd(tmp_path / "a.csv", "-d", "form"), *quoted) == is_rough
    assert not has_note(odd(tmp_path / "a.csv", "--by", "words"), *quoted)


def test_several_columns_of_csv_on_standard_input(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"T{n}", *text.split(maxsplit=1)) for n, text in enumerate(SEA)]
    write(tmp_path / "a.csv", [*rows, ("X", "beat", "the eggs"), ("Y", "", "")])
    columns = ["--text", "queue", "--text", "body", "--id", "key"]
    command = ["odd", "-", *columns, "--top", "1"]
    data = (tmp_path / "a.csv").read_bytes().decode().encode("utf-16")
    result = CliRunner().invoke(main, command, input=data)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("152 documents")
    assert "1 without words" in result.stdout
    first = table(tmp_path / "odd.csv")[0]
    assert [first[name] for name in ("key", "queue", "body")] == ["X", "beat", "the eggs"]
    assert set(first["why"].split(", ")) == {"beat", "eggs"}
    wrong = CliRunner().invoke(main, [*command, "--text", "boddy"], input=data)
    assert_refused(wrong, 2, " column ", "'boddy'", "'body'")


def test_a_detector_of_raw_texts_has_one_list(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in [*SEA, "12 34 56"]], ("text",))
    result = odd(tmp_path / "a.csv", "-d", "form", "--top", 1)
    assert "Odd by" not in result.stdout
    assert re.search(r" 1 +150 +0\.0066 +\d+ % digits \(others 0 %\)", result.stdout)
    assert table(tmp_path / "odd.csv")[0]["why"].startswith("75 % digits (others 0 %)")
    refused = odd(tmp_path / "a.csv", "-d", "form", "--by", "both")
    assert_refused(refused, 2, "Error: form ", "'both'", "--by")


def test_a_duplicate_of_an_odd_document_is_odd_for_the_same_words(odd, tmp_path):
    eggs = "Preheat the oven, beat the eggs"
    write(tmp_path / "a.csv", [[text] for text in [*SEA, eggs, f"{eggs}!"]], ("text",))
    result = odd("a.csv", "--by", "words")
    assert "Called odd: 1 of 151 different documents and 1 copy of them, those" in result.stdout
    rows = [line.split()[:4] for line in result.stdout.splitlines() if "oven" in line]
    assert rows[0] == ["1", "150", "0.0066", "1"]  # one row for both, with the number of copies
    assert result.stdout.splitlines()[1].split() == ["rank", "row", "p", "copies", "why", "text"]
    assert "copies <b><bdi>1</bdi></b>" in (tmp_path / "odd.html").read_text()
    first, second, third = table(tmp_path / "odd.csv")[:3]
    assert (first["odd"], second["odd"], third["odd"]) == ("1", "1", "0")
    assert first["why"] == second["why"] != ""
    assert "oven" in first["why"]


def test_rows_count_from_0_so_that_the_table_joins_the_file_as_the_docs_show(odd, tmp_path):
    texts = [*SEA, "beat the eggs", "", "12 34"]
    write(tmp_path / "posts.csv", [[n, text] for n, text in enumerate(texts)], ("number", "body"))
    result = odd("posts.csv", "--text", "body", "--top", 1)
    assert re.search(r" 1 +150 +0\.0066 ", result.stdout)
    markup = (tmp_path / "odd.html").read_text()
    assert '<th scope="col">row</th>' in markup
    assert "<bdi>150</bdi>" in markup
    assert all(row["row"] == row["number"] for row in table(tmp_path / "odd.csv"))
    page = Path(__file__).parents[2] / "docs" / "own-text-reference.md"
    code = re.search(r"^ {4}import pandas as pd\n\n(    .*\n)+", page.read_text(), re.MULTILINE)
    names = {}
    exec(textwrap.dedent(code.group()), names)
    assert names["joined"].sort_values("rank")["body"].iloc[0] == "beat the eggs"
    assert names["joined"].loc[151, ["rank", "p"]].isna().all()


def test_a_large_file_has_its_rows_in_the_table(odd, tmp_path, monkeypatch):
    monkeypatch.setattr(file_rows, "MOST_WRITTEN", 100)
    rows = [(f"T{n}", text) for n, text in enumerate(SEA)]
    write(tmp_path / "a.csv", rows, ("key", "text"))
    for identifiers, columns in (([], []), (["--id", "key"], ["id"])):
        assert odd("a.csv", "--text", "text", *identifiers).exit_code == 0
        written = table(tmp_path / "odd.csv")
        assert list(written[0])[12:] == ["subject", *columns]
        assert sorted(int(row["row"]) for row in written) == list(range(150))
    assert all(row["id"] == f"T{row['row']}" for row in written)


def test_all_columns_of_json_lines_are_kept(odd, tmp_path):
    rows = [{"text": text} for text in SEA] + [{"text": "beat the eggs", "note": "breakfast"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert odd(tmp_path / "a.jsonl").exit_code == 0
    assert [row["note"] for row in table(tmp_path / "odd.csv") if row["note"]] == ["breakfast"]


def test_hostile_texts_reach_neither_terminal_nor_spreadsheet(odd, tmp_path):
    rows = [("=1+1", text) for text in SEA] + [("@evil", "\x1b[31mred\x1b[0m \u202eoven \x07eggs")]
    groups = ["no\u202erth", "so\x1b[31muth"] * len(rows)
    grouped = [(*row, groups[number], f"\u202e{number}") for number, row in enumerate(rows)]
    path = write(tmp_path / "a.csv", grouped, ("note", "text", "gro\x1bup", "id"))
    result = odd(path, "--top", 1, "--text", "text", "--group", "gro\x1bup")
    assert result.exit_code == 0, result.output
    assert not set("\x1b\x07\u202e") & set(result.output)
    assert not set("\x1b\x07") & set((tmp_path / "odd.csv").read_text())
    page = (tmp_path / "odd.html").read_text()
    assert "no\ufffdrth" in page
    assert "\x1b" not in page
    assert "no\u202erth" not in page
    (name, *_) = re.findall('data-id="(.*?)"', page)
    (tmp_path / "marks.csv").write_text(f"id,mark\n{unescape(name)},odd\n")
    result = odd(path, "--text", "text", "--marked", "marks.csv", "-o", "marked")
    assert "1 odd" in result.output
    assert {row["note"] for row in table(tmp_path / "odd.csv")} == {"'=1+1", "'@evil"}
    odd(write(tmp_path / "b.csv", rows, ("=2+2", "text")))
    assert list(table(tmp_path / "odd.csv")[0])[-2:] == ["'=2+2", "text"]
    assert "\x1b" not in (tmp_path / "odd.html").read_text()


def test_the_page_has_a_line_between_what_is_called_odd_and_what_is_not(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in SEA[:100]], ("text",))
    result = odd("a.csv", "-d", "llr", "--keep-copies", "--alpha", 0.03)
    assert result.exit_code == 0, result.output
    by_words, _line, by_form, *_ = re.split('class="usual"|id="list-2"', (tmp_path / "odd.html").read_text())
    assert [part.count('<a href="#document') for part in (by_words, by_form)] == [3, 3]
    assert sum(row["odd"] == "1" for row in table(tmp_path / "odd.csv")) == 3


def test_few_documents_and_another_language_are_noted(odd, tmp_path):
    german = ["Der Kessel verliert Wasser", "Heizung bleibt kalt", "Thermostat im Keller defekt"]
    result = odd(write(tmp_path / "a.csv", [[text] for text in german], ("text",)))
    assert result.exit_code == 0, result.output
    assert has_note(result, " 3 ", " both ", " 0.33, ", "--alpha")
    assert has_note(result, "'en'", "'de'", "--language de.")
    assert not has_note(odd(tmp_path / "a.csv", "--language", "de"), "--language")


def test_groups_that_are_too_small_for_alpha_are_noted_as_such(odd, tmp_path):
    write(tmp_path / "a.csv", [[text, str(number % 2)] for number, text in enumerate(SEA)], ("text", "half"))
    found = notes(odd("a.csv", "--group", "half", "-d", "llr", "--text", "text"))
    (note,) = (each for each in found if "--alpha" in each)
    assert " small groups " in note
    assert "150" not in note


def for_english(language, settings, *, normal=False):
    """Refuse other languages, as a detector does."""
    if language != "en":
        raise InvalidValueError(f"no words of {language!r}")
    return "default", {}


def test_a_second_language_is_noted_if_auto_would_rank_it_by_itself(odd, tmp_path, monkeypatch):
    german = [
        f"Die Heizung im Keller von Haus {name} verliert seit gestern Wasser"
        for name in "Anna Berta Clara Dora Emma Frieda Greta Hanna Ida Jana Karla Lena Maria Nora Olga Paula "
        "Rosa Sara Tina Ulla".split()
    ]
    rows = [[text, str(number % 2)] for number, text in enumerate([*SEA[:60], *german])]
    write(tmp_path / "a.csv", rows, ("text", "half"))
    options = ["--text", "text", "-d", "llr", "--keep-copies"]
    result = odd("a.csv", *options)
    assert result.exit_code == 0, result.output
    assert has_note(result, "25 % ", "'de'", "'en'", "--language auto ")
    (tmp_path / "marks.csv").write_text("row,mark\n3,odd\n4,fine\n")
    auto, group, marked = ["--language", "auto"], ["--group", "half"], ["--marked", "marks.csv"]
    for others in (["--by", "both"], ["--by", "form"], group, marked):
        result = odd("a.csv", *options, *others, "-o", "noted")
        assert result.exit_code == 0, result.output
        assert has_note(result, "25 % ", "'de'", "'en'", "--language auto ")
    for others in ([], ["--by", "words"], ["--by", "both"], ["--by", "form"], group, marked):
        result = odd("a.csv", *options, *auto, *others, "-o", "apart")
        assert has_note(result, "en (75 %), de (25 %); each is ranked ")
        assert ("(by form: of the language)" in result.output) == (others == group)
        assert not has_note(result, "--language")
    monkeypatch.setattr(registry.detector("llr"), "for_documents", for_english)
    result = odd("a.csv", *options)
    assert result.exit_code == 0, result.output
    assert not has_note(result, "--language auto ")


def test_no_rounding_moves_a_p_across_alpha(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in SEA[:99]], ("text",))
    result = odd("a.csv", "--by", "words", "--alpha", 0.0101, "--top", 2)
    assert re.search(r"^Called odd: 0 of 99 .* 0\.0101 \(--alpha;", result.stdout, re.MULTILINE)
    assert re.findall(r"^ +[12] +\d+ +(\S+)", result.stdout, re.MULTILINE) == ["0.010101", "0.02"]
    assert has_note(result, " 99 ", " 0.010101, ")  # 1/99; to four digits it is alpha
    assert [row["p"] for row in table(tmp_path / "odd.csv")[:2]] == ["0.010101", "0.0202"]
    assert ">0.010101<" in (tmp_path / "odd.html").read_text()


def test_a_quiet_command_writes_its_files_and_prints_nothing(odd, tmp_path):
    rows = [[text] for text in [*texts_about("sea", 120, 1), "beat the eggs"]]
    write(tmp_path / "a.csv", rows, ("text",))
    loud = odd(tmp_path / "a.csv")
    assert loud.stdout
    table = (tmp_path / "odd.csv").read_bytes()
    (tmp_path / "odd.csv").unlink()
    assert odd(tmp_path / "a.csv", "-q").output == ""
    assert (tmp_path / "odd.csv").read_bytes() == table
    assert notes(odd(tmp_path / "a.csv", "-q", "--language", "quy"))


def test_an_unknown_language_is_noted_and_a_name_is_an_error(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in [*SEA, "beat the eggs"]], ("text",))
    assert has_note(odd(tmp_path / "a.csv", "--language", "quy"), "wordfreq", "'quy'")
    (forgotten,) = notes(odd(tmp_path / "a.csv", "--language", "de"))  # nothing else is missing for German
    assert "--language en" in forgotten
    thai = odd(tmp_path / "a.csv", "--language", "th", "-d", "knn-words")
    assert has_note(thai, "'th'", " spaces ")
    for reads_parts in ([], ["-d", "knn-words(characters=4)"]):
        assert not has_note(odd(tmp_path / "a.csv", "--language", "th", *reads_parts), " spaces ")
    assert notes(odd(tmp_path / "a.csv", "--language", "de", "-d", "knn-words")) == [forgotten]
    assert has_note(odd(tmp_path / "a.csv", "--language", "de", "-d", "llr:default"), " llr ", "'de'")
    result = odd(tmp_path / "a.csv", "--language", "german")
    assert_refused(result, 2, "language ", "'de'", "got 'german'")
    assert_refused(odd(tmp_path / "a.csv", "--language", "cz"), 2, "got 'cz'", "'cs'?")


def test_auto_finds_the_language_of_each_document_and_reads_all_by_that_of_most(odd, tmp_path):
    texts = [
        *GERMAN,
        "the boiler in the cellar is losing water",
        "the heating has been cold since",
        "12:40",
        "ขอบคุณ",
    ]
    write(tmp_path / "a.csv", [[f"T{n}", text] for n, text in enumerate(texts)], ("id", "body"))
    result = odd("a.csv", "--language", "auto", "--by", "words", "-d", "llr")
    assert result.exit_code == 0, result.output
    assert has_note(result, " de (90 %), en (7 %);", " as de.")  # one Thai document means nothing
    assert not has_note(result, "--language")
    rows = {row["id"]: row for row in table(tmp_path / "odd.csv")}
    assert list(rows["T0"])[13:] == ["language", "id", "body"]
    assert [rows[f"T{n}"]["language"] for n in range(len(texts))] == [*["de"] * 27, "en", "en", "", "th"]
    found = (tmp_path / "odd.csv").read_bytes()
    assert "language" not in table_of(odd, tmp_path, "--language", "de", "--by", "words", "-d", "llr")[0]
    given = table(tmp_path / "odd.csv")
    assert [{**row, "language": ""} for row in given] == [
        {**row, "language": ""} for row in csv.DictReader(found.decode().splitlines())
    ]


def table_of(odd, folder, *options):
    assert odd("a.csv", *options).exit_code == 0
    return table(folder / "odd.csv")


def test_a_column_of_the_user_that_is_called_language_is_kept_beside_ours(odd, tmp_path):
    rows = [[text, f"L{n}", "mine"] for n, text in enumerate(GERMAN)]
    write(tmp_path / "a.csv", rows, ("body", "language", "input_language"))
    options = ["--text", "body", "-d", "llr"]
    for name, of_auto in (("language", False), ("input_input_language", True)):
        written = table_of(odd, tmp_path, *options, *(["--language", "auto"] if of_auto else []))
        assert {row["input_language"] for row in written} == {"mine"}
        assert {row[name] for row in written} == {f"L{n}" for n in range(27)}
        assert ({row["language"] for row in written} == {"de"}) == of_auto
    (tmp_path / "marks.csv").write_text("input_input_language,mark\nL3,odd\n")
    again = odd("a.csv", *options, "--language", "auto", "--id", "language", "--marked", "marks.csv")
    assert again.exit_code == 0, again.output
    assert [row["input_input_language"] for row in table(tmp_path / "odd.csv") if row["mark"]] == ["L3"]


def test_the_only_language_is_noted_and_none_is_read_as_english(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in GERMAN], ("text",))
    assert has_note(odd("a.csv", "--language", "auto", "-d", "llr"), " as de.")
    write(tmp_path / "a.csv", [[f"{n} qx{n} zz"] for n in range(30)], ("text",))
    result = odd("a.csv", "--language", "auto", "-d", "knn-words", "--no-clean")
    assert result.exit_code == 0, result.output
    assert has_note(result, " English")
    assert {row["language"] for row in table(tmp_path / "odd.csv")} == {""}


def test_documents_of_a_pipe_and_of_several_processes_have_languages_too(odd, tmp_path):
    texts = [*GERMAN, "the boiler in the cellar is losing water"]
    result = CliRunner().invoke(
        main, ["odd", "-", "--language", "auto", "-d", "llr", "--jobs", "2"], input="\n".join(texts)
    )
    assert result.exit_code == 0, result.output
    assert [row["row"] for row in table(tmp_path / "odd.csv") if row["language"] == "en"] == ["27"]


def test_vectors_learned_from_the_documents_are_not_chosen_for_a_language(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in SEA], ("text",))
    result = odd(tmp_path / "a.csv", "--language", "de", "-d", "ocsvm")
    assert_refused(result, 2, " English, ", "'de'", "--set vectors=", "--set encoder=")
    choice = ["--language", "de", "-d", "ocsvm", "--encoder", "svd", "--folds", 2]
    chosen = odd(tmp_path / "a.csv", *choice, "--by", "words")
    assert "ocsvm(encoder=svd), cross-fitted over 2 folds" in chosen.stdout
    assert not has_note(chosen, " English")


def test_that_no_document_can_be_odd_is_noted(odd, tmp_path):
    alone = ["preheat the oven", "beat the eggs", "boil the noodles"]  # none shares a word with another
    write(tmp_path / "a.csv", [[text] for text in [*SEA, *alone]], ("text",))
    by_words = ["a.csv", "-d", "knn-words", "--by", "words"]
    assert has_note(odd(*by_words), " 153 ", " 0.02, ", "--alpha")
    assert notes(odd(*by_words, "--alpha", 0.02)) == []


def test_near_copies_are_one_row_and_the_largest_families_are_named(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]
    different = [" ".join(words[n * 6 : n * 6 + 6]) for n in range(100)]
    prize = "claim your guaranteed cash prize by calling our free number today, press button now"
    family = [f"{prize} {words[-n]}" for n in range(1, 41)]
    write(tmp_path / "a.csv", [[text] for text in [*different, *family, different[0]]], ("text",))
    result = CliRunner().invoke(main, ["odd", "a.csv", "-d", "knn-words", "--by", "words"])
    assert result.exit_code == 0, result.output
    first, second = result.stdout.splitlines()[:2]
    assert first.startswith("141 documents, 1 duplicate, 39 near-copies, 0 without words; knn-words")
    assert re.match(r"Near-copies: 40 documents like row 1\d\d: claim your guaranteed cash prize by", second)
    assert "of 101 different documents" in result.stdout
    rows = table(tmp_path / "odd.csv")
    (speaker,) = {row["copy_of"] for row in rows if row["text"].startswith("claim")} - {""}
    assert sum(row["copy_of"] == speaker for row in rows) == 39
    assert {row["copy_of"] for row in rows if not row["text"].startswith("claim")} == {"", "0"}
    assert len({row["rank"] for row in rows if row["text"].startswith("claim")}) == 1
    result = CliRunner().invoke(main, ["odd", "a.csv", "-d", "knn-words", "--by", "words", "--keep-copies"])
    assert "of 140 different documents" in result.stdout
    assert "ear-cop" not in result.stdout


def test_documents_with_many_copies_are_left_out_of_the_lists(odd, tmp_path):
    letter = ["Preheat the oven, beat the eggs"] * 4
    write(tmp_path / "a.csv", [[text] for text in [*SEA, *letter, "boil the noodles"]], ("text",))
    options = ["--by", "words", "--alpha", 0.015]
    for arguments in ([], ["--max-copies", 3]):
        result = odd(tmp_path / "a.csv", *options, *arguments)
        assert "Called odd: 2 of 152 different documents and 3 copies" in result.stdout
        assert "oven" in result.stdout
    result = odd(tmp_path / "a.csv", *options, "--max-copies", 2)
    assert "Called odd: 2 of 152 different documents and 3 copies" in result.stdout
    lines = [line for line in result.stdout.splitlines() if re.match(" +[0-9]+ +", line)]
    assert len(lines) == 10
    assert lines[0].endswith("boil the noodles")
    assert "oven" not in result.stdout + (tmp_path / "odd.html").read_text()
    assert sum(row["odd"] == "1" for row in table(tmp_path / "odd.csv")) == 5
    write(tmp_path / "b.csv", [[text] for text in [*SEA, *SEA]], ("text",))
    nothing = odd(tmp_path / "b.csv", *options, "--max-copies", 0)
    assert nothing.exit_code == 0, nothing.output
    assert len(nothing.stdout.splitlines()) == 5


def test_the_first_documents_are_explained_in_the_table(odd, tmp_path):
    cooks = ["preheat the oven", "beat the eggs", "boil the noodles"]
    write(tmp_path / "a.csv", [[text] for text in [*SEA, *cooks]], ("text",))
    assert odd(tmp_path / "a.csv", "--top", 2, "--alpha", 0.001).exit_code == 0
    rows = table(tmp_path / "odd.csv")
    assert {row["text"] for row in rows[:3]} == set(cooks)
    assert {row["odd"] for row in rows} == {"0"}
    assert [bool(row["why"]) for row in rows] == [True, True, *[False] * (len(rows) - 2)]


def test_columns_of_the_file_keep_their_values_beside_ours_and_none_is_printed_unasked(odd, tmp_path):
    rows = [(n, text) for n, text in enumerate(SEA)]
    result = odd(write(tmp_path / "a.csv", rows, ("score", "text")), "-o", "mine", "--top", 0)
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 5
    assert {int(row["input_score"]) for row in table(tmp_path / "mine.csv")} == set(range(150))


@pytest.mark.parametrize(
    ("arguments", "code", "quoted"),
    [
        (["none.csv"], 1, ["no file none.csv"]),
        (["odd.csv"], 2, ["odd.csv would replace odd.csv "]),
        (["."], 2, ["odd.csv would replace . "]),
        ([""], 2, ["('')", " - "]),
        (["a.csv", "--output", "."], 2, ["'.' ", "--output"]),
        (["a.csv", "--output", ".."], 2, ["'..' ", "--output"]),
        (["a.csv", "-d", "llr", "--set", "cup=3"], 2, [" llr ", "'cup'", "'cap'"]),
    ],
)
def test_one_clear_line_and_no_file(odd, tmp_path, arguments, code, quoted):
    write(tmp_path / "a.csv", enumerate(SEA), ("id", "text"))
    before = sorted(tmp_path.iterdir())
    result = odd(*arguments)
    assert_refused(result, code, *quoted)
    assert result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_the_results_are_no_documents_of_the_folder(odd, tmp_path):
    folder = tmp_path / "tickets"
    folder.mkdir()
    for number, text in enumerate(SEA):
        (folder / f"{number}.txt").write_text(text)
    result = odd("tickets", "-o", "tickets/mine")
    assert_refused(result, 2, "tickets/mine.csv would replace tickets ")
    assert len(notes(result)) == 1
    for _ in range(2):
        assert odd("tickets").stdout.startswith("150 documents, ")
    assert len(list(folder.iterdir())) == 150


# Marks

LAW = texts_about("law", 9, 1)


@pytest.fixture
def posts(tmp_path):
    """A file of the sea with nine documents about law and some of form."""
    rows = [(f"T{n}", text) for n, text in enumerate([*SEA, *LAW, "12 34 56", "78 90 12"])]
    return write(tmp_path / "posts.csv", [*rows, ("=1+1", "the judge, once again")], ("key", "body"))


def mark(path, marks, name="key"):
    """Write marks into a table as a spreadsheet does; return it."""
    rows = table(path)
    for row in rows:
        row["mark"] = marks.get(row[name], row["mark"])
    with path.open("w", newline="", encoding="utf-8-sig") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def marks_of(path, name="key"):
    return {row[name]: row["mark"] for row in table(path) if row["mark"]}


COLUMNS = ["--text", "body", "--id", "key"]


def test_marking_goes_on_in_rounds(odd, posts, tmp_path):
    assert odd(posts, *COLUMNS).exit_code == 0
    assert marks_of(tmp_path / "odd.csv") == {}
    marks = {"T150": "odd", "T151": "ODD", "T3": "fine", "'=1+1": " odd"}
    mark(tmp_path / "odd.csv", marks)
    result = odd(posts, *COLUMNS, "--marked", "odd.csv")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("162 documents, 0 duplicates, 0 empty; ensemble:robust, ")
    assert re.fullmatch(r"Marks: 3 odd, 1 fine; form .* 0\.51 .*", lines[1])
    assert lines[2].split() == ["rank", "id", "p", "by", "why", "text"]  # one list
    assert re.fullmatch(r"Called odd: 1 of 158 .* 0\.01 \(--alpha; 0\.05 calls 7 odd\)\.", lines[-4])
    assert re.match("p is .* a mark ", lines[-3])
    assert lines[-1] == "All documents: odd.csv. Page: odd.html."
    first = {"T150": "odd", "T151": "odd", "T3": "fine", "'=1+1": "odd"}
    assert marks_of(tmp_path / "odd.csv") == first
    rows = table(tmp_path / "odd.csv")
    without_rank = {row["key"] for row in rows if (row["rank"], row["p"], row["odd"]) == ("", "", "")}
    assert without_rank == first.keys()
    assert len(rows) == 162
    assert re.search("Odd by", (tmp_path / "odd.html").read_text()) is None
    page = (tmp_path / "odd.html").read_text()
    assert lines[1] in page
    assert " --marked marks.csv" in page
    mark(tmp_path / "odd.csv", {rows[0]["key"]: "odd", rows[1]["key"]: "fine"})
    again = odd(posts, *COLUMNS, "--marked", "odd.csv")
    assert again.stdout.splitlines()[1].startswith("Marks: 4 odd, 2 fine")
    assert marks_of(tmp_path / "odd.csv") == first | {rows[0]["key"]: "odd", rows[1]["key"]: "fine"}
    taken_back = mark(tmp_path / "odd.csv", {"T3": "", "T150": "fine"})
    odd(posts, *COLUMNS, "--marked", taken_back)
    assert "T3" not in marks_of(tmp_path / "odd.csv")
    assert marks_of(tmp_path / "odd.csv")["T150"] == "fine"


def test_the_file_of_the_page_is_taken_too(odd, posts, tmp_path):
    (tmp_path / "marks.csv").write_bytes(b"id,mark\r\nT150,odd\r\n'=1+1,odd\r\n")
    result = odd(posts, *COLUMNS, "--marked", "marks.csv", "--top", 0)
    assert "Marks: 2 odd, 0 fine" in result.stdout
    assert marks_of(tmp_path / "odd.csv") == {"T150": "odd", "'=1+1": "odd"}
    rows = ["--text", "body", "--marked", "marks.csv", "--by", "words"]
    refused = odd(posts, *rows, "--id", "")
    assert_refused(refused, 1, "marks.csv ", " 'row'", " 'id', 'mark'")
    (tmp_path / "marks.csv").write_text("row,mark\n150,odd\n")
    before = (tmp_path / "odd.csv").read_bytes()
    refused = odd(posts, *rows)
    assert_refused(refused, 2, "Error: odd.csv ", " 1 mark (row 161) ", " marks.csv", "--output")
    assert len(notes(refused)) == 1
    assert (tmp_path / "odd.csv").read_bytes() == before
    (tmp_path / "odd.csv").unlink()
    result = odd(posts, *rows, "--id", "")
    assert "Marks: 1 odd, 0 fine.\n" in result.stdout  # of words alone, form does not count
    assert marks_of(tmp_path / "odd.csv", "row") == {"150": "odd"}


def test_marks_of_the_table_are_not_lost(odd, posts, tmp_path):
    assert odd(posts, *COLUMNS).exit_code == 0
    mark(tmp_path / "odd.csv", {"T150": "odd", "T3": "fine"})
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    refused = odd(posts, *COLUMNS)
    quoted = "Error: odd.csv ", " 2 marks (row 150, 3) ", "--marked odd.csv", "--output"
    assert_refused(refused, 2, *quoted)
    assert len(notes(refused)) == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert odd(posts, *COLUMNS, "-o", "other").exit_code == 0
    mark(tmp_path / "odd.csv", {"T150": "", "T3": ""})
    again = odd(posts, *COLUMNS, "--marked", "odd.csv")
    assert again.exit_code == 0
    assert has_note(again, " odd.csv ", " no marks")
    assert odd(posts, *COLUMNS).exit_code == 0


def test_marked_documents_may_be_ranked_too(odd, posts, tmp_path):
    (tmp_path / "marks.csv").write_text("row,mark\n150,odd\n3,fine\n")
    options = ["--text", "body", "--marked", "marks.csv"]
    result = odd(posts, *options, "--keep-marked")
    (meaning,) = [line for line in result.stdout.splitlines() if line.startswith("p is ")]
    assert "mark" not in meaning
    assert "of 162 different documents" in result.stdout
    assert all(row["rank"] for row in table(tmp_path / "odd.csv"))
    assert marks_of(tmp_path / "odd.csv", "row") == {"150": "odd", "3": "fine"}


def test_a_mark_of_a_document_counts_for_its_copies(home, odd, tmp_path):
    rows = [(f"T{n}", text) for n, text in enumerate([*SEA, *LAW, LAW[0].upper(), f"{LAW[0]}!"])]
    write(tmp_path / "a.csv", rows, ("key", "body"))
    (tmp_path / "marks.csv").write_text("id,mark\nT160,odd\n")
    result = odd("a.csv", *COLUMNS, "--marked", "marks.csv")
    assert result.stdout.startswith("161 documents, 0 duplicates, 2 with the same words, 0 empty; ")
    assert marks_of(tmp_path / "odd.csv") == dict.fromkeys(("T150", "T159", "T160"), "odd")
    for other in ("T159", "T160", "T150"):  # any of them is enough, so that the marks are not lost
        (tmp_path / "marks.csv").write_text(f"id,mark\n{other},odd\n")
        assert odd("a.csv", *COLUMNS, "--marked", "marks.csv").exit_code == 0
    assert "of 158 different documents" in result.stdout


def test_a_marked_family_is_no_negative_number_of_duplicates(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]
    different = [" ".join(words[n * 6 : n * 6 + 6]) for n in range(100)]
    prize = "claim your guaranteed cash prize by calling our free number today, press button now"
    texts = [*different, *(f"{prize} {words[-n]}" for n in range(1, 11)), different[0]]
    write(tmp_path / "a.csv", [[text] for text in texts], ("text",))
    (tmp_path / "marks.csv").write_text("row,mark\n105,odd\n")
    options = ["a.csv", "-d", "knn-words", "--by", "words", "--marked", "marks.csv"]
    result = CliRunner().invoke(main, ["odd", *options])
    assert result.stdout.startswith("111 documents, 1 duplicate, 9 near-copies, 0 without words; ")
    assert "of 100 different documents" in result.stdout


@pytest.mark.parametrize("marks", ["", "5,\n", "162,odd\n"])  # the last is an empty document
def test_without_marks_the_page_has_three_lists(odd, tmp_path, marks):
    write(tmp_path / "a.csv", [[text] for text in [*SEA, *LAW, "12 34", "!?", "?!", ""]], ("text",))
    (tmp_path / "marks.csv").write_text(f"row,mark\n{marks}")
    result = odd("a.csv", "--marked", "marks.csv")
    assert result.exit_code == 0, result.output
    assert ">Odd by form</h2>" in (tmp_path / "odd.html").read_text()
    assert "Marks:" not in result.stdout


@pytest.mark.parametrize("by", [None, "words", "form", "both"])
def test_the_numbers_of_documents_add_up(odd, tmp_path, by):
    wordless = ["12 34 56", "78-90!", "12 34 56", "", "\u00a0"]
    write(tmp_path / "a.csv", [[text] for text in [*SEA, *wordless]], ("text",))
    printed = odd("a.csv", *(["--by", by] if by else [])).stdout
    *numbers, why = re.match(
        r"(\d+) documents, (\d+) duplicates?, (\d+) (without words|empty);", printed
    ).groups()
    n, n_copies, n_empty = map(int, numbers)
    assert n - n_copies - n_empty == int(re.search(r"of (\d+) different", printed)[1])
    assert (n_empty, why) == ((5, "without words") if by == "words" else (2, "empty"))


def test_what_marks_change_about_form_is_printed(odd, tmp_path):
    digits = ["12 34 56", "78 90 12", "11 22 33"]
    write(tmp_path / "a.csv", [[text] for text in [*SEA, *digits]], ("text",))
    for given, change in ("odd", r"\."), ("fine", r"; form .* 0\.03\d? .*"):
        (tmp_path / "marks.csv").write_text(f"row,mark\n150,{given}\n151,{given}\n")
        (line,) = (
            line for line in odd("a.csv", "--marked", "marks.csv").stdout.splitlines() if "Marks: " in line
        )
        assert re.fullmatch(rf"Marks: \d odd, \d fine{change}", line)


def test_a_marked_document_without_words_is_still_empty(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in [*SEA, "12 34", "beat the eggs", ""]], ("text",))
    (tmp_path / "marks.csv").write_text("row,mark\n150,odd\n151,fine\n")
    assert odd("a.csv", "--marked", "marks.csv").stdout.startswith("153 documents, 0 duplicates, 2 empty; ")


def test_all_documents_may_be_marked_as_fine(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in SEA[:5]], ("text",))
    (tmp_path / "marks.csv").write_text("row,mark\n" + "".join(f"{n},fine\n" for n in range(5)))
    result = odd("a.csv", "--marked", "marks.csv")
    assert result.exit_code == 0, result.output
    assert "Marks: 0 odd, 5 fine" in result.stdout
    assert "Called odd: 0 of 0 different documents" in result.stdout
    assert (tmp_path / "odd.html").exists()


def test_a_detector_that_takes_no_labels_is_noted(odd, posts, tmp_path):
    (tmp_path / "marks.csv").write_text("row,mark\n150,odd\n3,fine\n")
    options = ["--text", "body", "--id", "", "--by", "words", "--marked", "marks.csv", "--folds", 2]
    result = odd(posts, "-d", "iforest", "--set", "encoder=svd", "--set", "n_estimators=10", *options)
    assert result.exit_code == 0, result.output
    (note,) = notes(result)
    assert note.startswith("Note: iforest(encoder=svd, n_estimators=10) ")
    assert "marked odd" in note
    assert notes(odd(posts, "-d", "knn-words", *options)) == []


@pytest.mark.parametrize(
    ("marks", "quoted"),
    [
        (None, ["marks.csv ", f": {os.strerror(errno.ENOENT)}"]),
        ("key,text\nT1,odd\n", ["marks.csv ", " 'key' or 'id' or 'row', ", " 'key', 'text'"]),
        ("key,mark\nT999,odd\n", ["marks.csv: ", " key 'T999' ", " odd"]),
        ("key,mark\n\x1b[31m,odd\n", ["marks.csv: ", r" key '\x1b[31m' "]),
    ],
)
def test_wrong_marks_are_one_line_and_no_file(odd, posts, tmp_path, marks, quoted):
    if marks is not None:
        (tmp_path / "marks.csv").write_text(marks)
    result = odd(posts, *COLUMNS, "--marked", "marks.csv")
    assert_refused(result, 1, *quoted)
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr
    assert not (tmp_path / "odd.csv").exists()


def test_a_column_mark_of_the_file_keeps_its_values(odd, tmp_path):
    rows = [(n, "school", text) for n, text in enumerate([*SEA, *LAW])]
    write(tmp_path / "a.csv", rows, ("id", "mark", "text"))
    odd("a.csv")
    mark(tmp_path / "odd.csv", {"150": "odd"}, "id")
    result = odd("a.csv", "--marked", "odd.csv")
    assert result.exit_code == 0, result.output
    assert {row["input_mark"] for row in table(tmp_path / "odd.csv")} == {"school"}
    assert marks_of(tmp_path / "odd.csv", "id") == {"150": "odd"}


def test_identifiers_with_a_name_of_ours_are_found_again(odd, tmp_path):
    rows = [(1000 + n, text) for n, text in enumerate([*SEA, *LAW])]
    write(tmp_path / "a.csv", rows, ("row", "text"))
    odd("a.csv", "--id", "row")
    mark(tmp_path / "odd.csv", {"1150": "odd"}, "input_row")
    assert odd("a.csv", "--id", "row", "--marked", "odd.csv").exit_code == 0
    assert marks_of(tmp_path / "odd.csv", "row") == {"150": "odd"}
    (tmp_path / "marks.csv").write_text("id,mark\n1151,odd\n")
    assert odd("a.csv", "--id", "row", "--marked", "marks.csv", "-o", "other").exit_code == 0
    assert marks_of(tmp_path / "other.csv", "row") == {"151": "odd"}


def test_marks_of_a_large_file_are_found_by_its_identifiers(odd, posts, tmp_path, monkeypatch):
    monkeypatch.setattr(file_rows, "MOST_WRITTEN", 100)
    odd(posts, *COLUMNS)
    mark(tmp_path / "odd.csv", {"T150": "odd"}, "id")
    assert odd(posts, *COLUMNS, "--marked", "odd.csv").exit_code == 0
    assert marks_of(tmp_path / "odd.csv", "id") == {"T150": "odd"}


@pytest.mark.parametrize("output", ["found", "found.csv", "found.html"])
def test_the_table_and_the_page_have_the_name_that_is_given(odd, tmp_path, output):
    write(tmp_path / "a.csv", [(n, "", text) for n, text in enumerate(texts_about("sea", 30, 0))])
    assert odd(tmp_path / "a.csv", "--output", output).exit_code == 0
    assert {path.name for path in tmp_path.glob("found*")} == {"found.csv", "found.html"}


def test_lone_surrogates_and_nul_are_ranked_and_noted_once(odd, tmp_path):
    rows = [{"id": f"N{n}", "text": text, "other": "é"} for n, text in enumerate(SEA[:30])]
    rows += [
        {"id": "\udfff", "text": "half \ud83d of a smile", "k\udc80": "\udc81"},
        {"id": "a\0b", "text": "nul\0"},
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = odd("own.jsonl", "--alpha", "0.1")
    assert result.exit_code == 0, result.output
    found = {row["id"]: row for row in table(tmp_path / "odd.csv")}
    assert (found["\ufffd"]["text"], found["\ufffd"]["k\ufffd"]) == ("half \ufffd of a smile", "\ufffd")
    assert found["a\ufffdb"]["text"] == "nul\ufffd"
    (note,) = [note for note in notes(result) if "surrogate" in note]
    assert note.startswith("Note: 3 values ")
    assert "half \ufffd" in (tmp_path / "odd.html").read_text(encoding="utf-8")


def test_no_two_columns_of_the_table_are_equal(odd, tmp_path):
    header = ["text", "p", "input_p", "row", "input_row", "=a", "'=a"]
    rows = [[text, "1", "2", f"K{n}", f"other {n}", "5", "6"] for n, text in enumerate(SEA[:30])]
    write(tmp_path / "own.csv", rows, header)
    assert odd("own.csv", "--id", "row").exit_code == 0
    with (tmp_path / "odd.csv").open(newline="") as stream:
        titles = next(csv.reader(stream))
    assert len(titles) == len(set(titles))
    (first, *_) = table(tmp_path / "odd.csv")
    assert [first[name] for name in ("input_p", "input_input_p", "'=a", "input_'=a")] == ["2", "1", "6", "5"]
    mark(tmp_path / "odd.csv", {"K7": "odd"}, "input_input_row")
    marked = odd("own.csv", "--id", "row", "--marked", "odd.csv")
    assert "Marks: 1 odd, 0 fine" in marked.stdout
    assert [row["input_input_row"] for row in table(tmp_path / "odd.csv") if row["mark"]] == ["K7"]


README = Path(__file__).parents[2] / "README.md"


@pytest.mark.usefixtures("odd")
def test_the_example_gives_the_lists_of_readme_to_the_letter_without_any_other_file(tmp_path, monkeypatch):
    shown = textwrap.dedent(re.search(r"^    Odd by both:\n(    .*\n)+", README.read_text(), re.MULTILINE)[0])
    (command,) = re.findall("^    adbench-text (odd --example.*)$", README.read_text(), re.MULTILINE)
    monkeypatch.setenv("COLUMNS", str(max(map(len, shown.splitlines()))))
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == 0, result.output
    assert notes(result) == []
    printed = [line.rstrip() for line in result.stdout.splitlines()]
    begin = printed.index("Odd by both:")
    assert printed[begin : begin + len(shown.splitlines())] == shown.splitlines()
    rows = table(tmp_path / "odd.csv")
    assert len(rows) == 2000
    assert sum(row["planted"] != "" for row in rows[:20]) >= 12
    assert "example.csv.gz" in (tmp_path / "odd.html").read_text(encoding="utf-8")


def test_either_a_file_or_the_example_is_given(odd, tmp_path):
    write(tmp_path / "a.csv", [[text] for text in SEA], ("text",))
    for arguments, quoted in ((["a.csv", "--example"], "'a.csv'"), (["", "--example"], "''"), ([], "'FILE'")):
        assert_refused(odd(*arguments), 2, quoted, "--example")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.csv"]


def test_other_options_hold_for_the_example(odd, tmp_path):
    result = odd("--example", "--language", "auto", "--by", "form", "-d", "llr", "-o", "mine", "-q")
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    written = table(tmp_path / "mine.csv")
    assert {row["language"] for row in written if row["planted"] == "German"} == {"de"}
    assert sum(row["language"] == "en" for row in written) > 1900
    assert_refused(odd("--example", "--text", "body"), 2, "'body'")


def test_documents_with_other_digits_are_told_from_duplicates(odd, tmp_path):
    rows = [[f"Payment of {n} EUR was booked"] for n in (1, 2, 3, 2)]
    write(tmp_path / "a.csv", [*rows, *([text] for text in SEA[:20])], ("text",))
    assert odd("a.csv").stdout.startswith(
        "24 documents, 1 duplicate, 2 with the same words, 0 without words; "
    )


@pytest.mark.parametrize(("by", "n_different"), [("words", 21), ("form", 23), ("both", 23)])
def test_documents_that_were_written_otherwise_are_different_by_form(odd, tmp_path, by, n_different):
    rows = [[f"Payment of {n} EUR was booked"] for n in (1, 2, 3, 2)]
    write(tmp_path / "a.csv", [*rows, *([text] for text in SEA[:20])], ("text",))
    assert f" of {n_different} different documents" in odd("a.csv", "--by", by).stdout


def test_each_document_is_ranked_among_those_of_its_group(odd, tmp_path):
    law = texts_about("law", 40, 0)
    rows = [(f"T{n}", "crew", text) for n, text in enumerate(SEA[:40])]
    rows += [(f"L{n}", "court" + " " * (n % 2), text) for n, text in enumerate(law)] + [
        ("X", "crew", law[0] + " judge")
    ]
    write(tmp_path / "tickets.csv", rows)
    result = odd("tickets.csv", "--text", "body", "--id", "key", "--group", "queue", "-d", "llr")
    assert result.exit_code == 0, result.output
    assert "groups 'queue'" in result.stdout
    by_words, misfiled = result.stdout.split("Filed elsewhere?:")
    assert re.search(r"\b1 +X +0\.024 +crew ", by_words)
    assert re.search(r"\b1 +X +crew +court +\d\.\d+ ", misfiled)
    assert (
        "1 of 81 different documents fit another group better by their words (random labels: about "
        in by_words
    )
    by_id = {row["key"]: row for row in table(tmp_path / "odd.csv")}
    assert (by_id["X"]["group"], by_id["X"]["fits"], by_id["X"]["queue"]) == ("crew", "court", "crew")
    assert {row["fits"] for row in by_id.values()} == {"court", ""}
    assert {row["group"] for row in by_id.values()} == {"court", "crew"}
    assert has_note(result, "'court' and 'court '")
    assert [name for name, row in by_id.items() if row["misfit"]] == ["X"]
    assert "Filed elsewhere?" in (tmp_path / "odd.html").read_text()


def test_a_column_of_groups_that_is_not_there_is_refused(odd, tmp_path):
    write(tmp_path / "tickets.csv", [("T", "crew", text) for text in SEA])
    assert_refused(odd("tickets.csv", "--text", "body", "--group", "quue"), 2, "quue", "queue")
    assert not (tmp_path / "odd.csv").exists()


def test_of_a_large_file_the_group_is_written(odd, tmp_path, monkeypatch):
    monkeypatch.setattr(file_rows, "MOST_WRITTEN", 10)
    monkeypatch.setattr("adbench_text.cli.odd.MOST_WRITTEN", 10)
    write(tmp_path / "tickets.csv", [(f"T{n}", "=crew", text) for n, text in enumerate(SEA[:40])])
    result = odd("tickets.csv", "--text", "body", "--id", "key", "--group", "queue", "-d", "llr")
    assert result.exit_code == 0, result.output
    assert {row["group"] for row in table(tmp_path / "odd.csv")} == {"'=crew"}
    assert [*table(tmp_path / "odd.csv")[0]][-4:] == ["group", "fits", "misfit", "id"]


def test_groups_that_hold_lists_or_have_no_name_are_refused(odd, tmp_path):
    rows = [{"body": text, "queue": ["crew"]} for text in SEA[:40]]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert_refused(odd("a.jsonl", "--text", "body", "--group", "queue"), 1, "'queue'")
    assert_refused(odd("a.jsonl", "--text", "body", "--group", ""), 2, "--group")
    assert not (tmp_path / "odd.csv").exists()


def test_what_is_strange_about_groups_is_noted(odd, tmp_path):
    names = ["crew", "Crew ", "sea"]
    write(tmp_path / "a.csv", [(n, names[n % 3], text) for n, text in enumerate(SEA)])
    result = odd("a.csv", "--text", "body", "--group", "queue", "-d", "llr")
    assert has_note(result, "'Crew '", "'crew'")
    write(tmp_path / "a.csv", [(n, "crew", text) for n, text in enumerate(SEA)])
    assert has_note(odd("a.csv", "--text", "body", "--group", "queue", "-d", "llr"), "--group")
    assert not has_note(odd("a.csv", "--text", "body", "-d", "llr"), "--group")


def test_a_language_of_few_documents_is_named_as_read_like_the_others(odd, tmp_path):
    english = [
        f"the {what} {does} again, and nobody repairs it before {day}"
        for what in ("boiler in the cellar", "heating of the corridor", "valve at the pump")
        for does in ("is losing water", "stays cold", "has made a noise")
        for day in ("Monday", "Tuesday", "Friday")
    ]
    french = [f"la chaudière de la cave est encore froide depuis {day} matin" for day in ("lundi", "mardi")]
    write(tmp_path / "a.csv", [(n, "", text) for n, text in enumerate([*GERMAN, *english, *french, *french])])
    result = odd("a.csv", "--text", "body", "--language", "auto", "--by", "words", "-d", "llr")
    assert has_note(result, " each is ranked among the documents of its language, but fr as ")
    assert has_note(result, " few documents are in fr, ", " 10 % ")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
@pytest.mark.parametrize("full", ["odd.csv", "odd.html"])
def test_table_and_page_are_both_written_or_none(odd, posts, monkeypatch, full, number):
    for name in ("odd.csv", "odd.html"):
        Path(name).write_text("the old one")
    open_path = Path.open

    def opened(path, mode="r", *arguments, **options):
        if "w" in mode and path.suffix == Path(full).suffix:
            raise OSError(number, os.strerror(number), str(path))
        return open_path(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", opened)
    assert_refused(odd(posts, "-d", "llr"), 1, os.strerror(number))
    assert [Path(name).read_text() for name in ("odd.csv", "odd.html")] == ["the old one"] * 2
    assert [path.name for path in Path().glob(".*")] == []
