"""The page of odd documents."""

import re

from adbench_text.plugins.scores import TokenScore
from adbench_text.reports import odd_page
from adbench_text.reports.odd_page import PageDocument, render


def words(text, *scores):
    matches = re.finditer(r"\S+", text)
    return [TokenScore(m.group(), m.start(), m.end(), s) for m, s in zip(matches, scores, strict=True)]


def page(text, *scores, centre=0.0):
    return render(
        "Title", ["Summary."], [PageDocument([("id", "<7>")], "why", text, words(text, *scores), centre)]
    )


def test_words_have_the_colour_of_their_side_of_the_centre():
    markup = page("oven ship and\n", 4.0, -4.0, 0.1)
    assert (
        '<span class="odd9" title="4.00">oven</span> <span class="typical9" title="-4.00">ship</span>'
        in markup
    )
    assert '<span title="0.10">and</span></bdi>' in markup
    assert 'class="odd9" title="0.20">oven' in page("oven ship", 0.2, -4.0)  # each side has its own scale
    assert '<span class="typical9" title="0.10">ship</span>' in page("oven ship", 0.9, 0.1, centre=0.5)


def test_texts_are_escaped_and_cleaned_of_control_characters():
    markup = page("<script>alert(1)</script> \x00\ud800", 1.0, 1.0)
    assert "<script>" not in markup
    assert "id <b><bdi>&lt;7&gt;</bdi></b>" in markup
    assert "\x00" not in markup
    markup.encode("utf-8")


def test_on_a_narrow_screen_the_shades_of_the_legend_shrink_and_not_its_words():
    markup = page("oven ship", 4.0, -4.0)
    assert ".scale i { flex: 0 1 1.3rem;" in markup
    assert ".scale span { flex: none;" in markup


def test_without_scores_of_words_the_page_says_so():
    markup = render("Title", [], [PageDocument([], "", "some text", [], 0.0)])
    assert "scores a document as a unit" in markup
    assert 'class="odd' not in markup.partition("</style>")[2]


def test_long_documents_and_long_pages_are_cut(monkeypatch):
    long = "word " * 1000
    assert "2,000 more characters are not shown" in page(long.strip(), *[1.0] * 1000)
    monkeypatch.setattr(odd_page, "_MOST_CHARACTERS", 100)
    documents = [PageDocument([], "", "x" * 60, [], 0.0)] * 3
    markup = render("Title", [], documents)
    assert markup.count("<article>") == 1
    assert "2 more documents do not fit" in markup
