"""docs/finds.md: its tables are those of benchmarks/finds.py, and its excerpts are short and name nobody."""

import csv
import html
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "finds.md").read_text(encoding="utf-8")
ADDRESS = re.compile(r"\w@\w")
PHONE = re.compile(r"\d{3}[-. )]{0,2}\d{3}[-. ]?\d{4}")
USER = re.compile(r"://[^\s/|]*[^\s|]*~")  # a URL with the name of a user
OF_THE_CORPUS = "http://qwone.com/~jason/20Newsgroups/"


def excerpts():
    """Return the cells that have a text of a corpus, as a reader sees them."""
    found, place = [], None
    for line in PAGE.splitlines():
        cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
        if not line.startswith("| "):
            place = None
        elif place is None:
            place = cells.index("text") if "text" in cells else -1
        elif place >= 0 and cells[0] != "---":
            shown = re.sub(r"</?b>", "", cells[place])
            found.append(html.unescape(re.sub(r"\\(.)", r"\1", shown)))
    return found


def test_an_excerpt_has_at_most_200_characters():
    assert len(excerpts()) > 100
    assert [text for text in excerpts() if len(text) > 200] == []


def test_the_page_has_no_address_no_phone_number_and_no_url_of_a_user():
    shown = PAGE.replace(OF_THE_CORPUS, "")
    assert [*ADDRESS.findall(shown), *PHONE.findall(shown), *USER.findall(shown)] == []


@pytest.fixture
def finds(monkeypatch):
    """The names of benchmarks/finds.py."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return runpy.run_path(str(ROOT / "benchmarks" / "finds.py"))


@pytest.mark.parametrize(
    "text", ["write to a.b@c.example today", "call (818) 555-0123", "http://here.example/~me/all.html"]
)
def test_addresses_phone_numbers_and_urls_of_users_are_hidden(finds, text):
    shown = finds["hidden"](text)
    assert len(shown) == len(text)
    assert not re.search(r"[@~]|\d{3}", shown)


def test_a_text_is_shown_as_written(finds):
    assert finds["literal"]("a|b <i> &lt; $1 http://x") == r"a\|b \<i\> &amp;lt; \$1 http&#58;//x"


def test_fifty_documents_of_each_list_are_judged():
    with (ROOT / "docs" / "finds.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["list"] != "grew"]
    lists = {(row["corpus"], row["list"]) for row in rows}
    assert f"all {len(rows)} documents" in PAGE
    assert len(rows) == 50 * len(lists)
    assert {row["judgement"] for row in rows} == {"odd", "misfiled", "nothing"}
    assert not re.search(r"\d not read", PAGE)


def test_the_tables_of_the_notes_are_made_from_the_corpus(finds, data_dir):
    (notes,) = [corpus for corpus in finds["CORPORA"] if corpus.name == "mts-dialog"]
    assert finds["section"](notes).tables in PAGE, "run python benchmarks/finds.py"


@pytest.mark.slow
def test_the_page_says_how_much_of_20_newsgroups_is_a_picture(finds, data_dir):
    facts = finds["facts_of_picture"]()
    assert f"{facts['of_parts']} of its {facts['n_ax']} occurrences" in PAGE
    assert f"the corpus has {facts['n_parts']}. They are {facts['share']} of the text" in PAGE
    picture = finds["picture"]()
    assert picture[:2] == b"BM"
    assert int.from_bytes(picture[18:20], "little") == 960
