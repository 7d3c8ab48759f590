"""How odd documents are shown in a notebook and in a terminal."""

import re

import pytest

from adbench_text.documents.fitting import fit_model
from adbench_text.documents.ranking import OddDocuments, odd_documents
from adbench_text.testing.topics import texts_about

SCRIPT = "<script>alert(1)</script> oven <img src=x onerror=alert(1)> {{ 7 * 7 }} \x1b eggs"


@pytest.fixture(scope="module")
def ranked() -> OddDocuments:
    return odd_documents([*texts_about("sea", 40, 0), SCRIPT], "knn-words", alpha=0.1, keep_copies=True)


def test_a_terminal_shows_one_line(ranked):
    assert repr(ranked) == str(ranked)
    assert "\n" not in repr(ranked)
    assert len(repr(ranked)) < 200
    assert all(part in repr(ranked) for part in ("41", "knn-words", "words", "form", " 40,"))


def test_a_terminal_shows_a_model_in_one_line():
    model = fit_model(texts_about("sea", 40, 0), "knn-words")
    shown = repr(model)
    assert "\n" not in shown
    assert len(shown) < 100
    assert all(part in shown for part in (f"{model.training.n_documents}", "knn-words"))


def test_a_notebook_shows_the_first_ten_documents_of_each_list_with_their_words_coloured(ranked):
    markup = ranked._repr_html_()
    assert markup.count("<table>") == len(ranked.lists) == 3
    tables = [re.findall("<tr><td>.*?</tr>", part, re.S) for part in markup.split("<table>")[1:]]
    for rows, listed in zip(tables, ranked.lists.values(), strict=True):
        shown = [int(re.findall("<td>(.*?)</td>", row)[1]) for row in rows]
        assert shown == listed["row"].head(10).tolist()
    first = next(row for row in tables[1] if "<td>40</td>" in row)
    assert re.search(r'<span style="background: rgb\(240 98 90 / \d+%\)" title="[\d.]+">oven</span>', first)


def test_a_notebook_has_a_line_between_what_is_called_odd_and_what_is_not(ranked):
    n_odd = {order: (listed["odd"].head(10)).sum() for order, listed in ranked.lists.items()}
    assert all(0 < n < 10 for n in n_odd.values())
    for part, n in zip(ranked._repr_html_().split("<table>")[1:], n_odd.values(), strict=True):
        above, _below = part.split('<th colspan="5"')
        assert above.count("<tr><td>") == n


def test_a_notebook_runs_nothing_of_a_document(ranked):
    markup = ranked._repr_html_()
    assert "&lt;" in markup
    assert "{{ 7 * 7 }}" in re.sub("<[^>]*>", "", markup)
    harmless = {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "bdi", "span"}
    assert set(re.findall(r"<(\w+)", markup)) <= harmless
    assert "\x1b" not in markup


def test_the_value_of_odd_documents_stays_what_it_was(ranked):
    assert ranked.table["row"].iloc[0] in ranked.lists["words"]["row"].tolist()
    with pytest.raises(AttributeError):
        ranked.alpha = 0.2
