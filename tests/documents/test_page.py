"""The page of own documents."""

import re

from adbench_text.documents import page as of_documents
from adbench_text.documents.page import PageDocument, page_of_documents
from adbench_text.plugins.scores import TokenScore


def words(text, scores):
    matches = re.finditer(r"\S+", text)
    return [TokenScore(m.group(), m.start(), m.end(), s) for m, s in zip(matches, scores, strict=True)]


def document(text="", scores=(), why=(), id="7", facts=None):
    return PageDocument("1", id, facts or {}, why, text, words(text, scores) if scores else [])


def page(*documents, **sections):
    return page_of_documents("T", ["now"], ["Summary."], sections or {"Odd": documents}, 0.0)


def test_words_of_own_documents_have_their_colour_and_score():
    markup = page(document("\noven ship and\n", [4.0, -4.0, 0.1], ["oven", "storm"]))
    assert (
        '<div class="text" dir="auto"><span class="odd9" title="4.00">oven</span> '
        '<span class="typical9" title="-4.00">ship</span> <span title="0.10">and</span>\n</div>'
    ) in markup
    assert "because of <b>oven, storm</b>" in markup


def test_a_table_of_all_documents_leads_to_each():
    few = [document("\n  first line\nsecond", id=f"X{n}") for n in (1, 2)]
    markup = page(**{"Odd by words": few, "Odd by form": few[:1]})
    assert (
        '<tr><td>1</td><td><a href="#document-1-2"><bdi>X2</bdi></a></td><td></td>'
        "<td><bdi>first line\nsecond</bdi></td></tr>"
    ) in markup
    assert set(re.findall('href="#(.+?)"', markup)) == set(re.findall('id="(.+?)"', markup)) - {"top"}
    assert markup.index("Odd by form") < markup.index("<article")


def excerpt(text, why):
    """Return the text that the table of a page shows of a document, without its colours."""
    cell = page(document(text, [0.5] * len(text.split()), why)).partition("</a></td>")[2]
    return re.sub("<[^>]*>", "", re.findall("<td>(.*?)</td>", cell, re.S)[1])


def test_the_table_shows_the_text_around_the_odd_words():
    body = "Hello, I have been waiting for weeks: my storm insurance refused to pay for the mast."
    text = "question\n" + body + " word" * 100 + " insurance"
    assert excerpt(text, ["storm", "refused"]).startswith("… waiting for weeks: my storm insurance refused")
    assert excerpt(text, ["insurance", "refused"]).startswith("… for weeks: my storm insurance refused")
    assert excerpt(text, ["hello,"]).startswith("question\nHello, I have been")
    assert excerpt(text, ["9 % digits"]).startswith("question\nHello, I have been")
    assert excerpt(text, ["storm"]).endswith("word …")
    assert excerpt("one two", ["two"]) == "one two"
    assert len(excerpt("storm" + "x" * 500, ["storm" + "x" * 500])) == 162


def test_a_table_has_twenty_rows_and_the_others_are_folded():
    documents = [document("text", id=f"X{n}") for n in range(1, 24)]
    markup = page(*documents)
    folded = re.search("<details><summary>3 more</summary>.*?</details>", markup, re.S).group()
    assert re.findall(r"<bdi>X(\d+)</bdi>", folded) == ["21", "22", "23"]
    assert '<a href="#document-1-21"><bdi>X21</bdi>' in folded
    assert "more</summary>" not in page(*documents[:20])


def test_a_long_document_is_shown_around_its_odd_words():
    text = "word " * 400 + "storm " + "word " * 400
    markup = page(document(text, [0.1] * 801, ["storm"]))
    shown = re.sub("<[^>]*>", "", markup.partition('dir="auto">')[2].partition("</div>")[0])
    assert re.fullmatch("… (word )+storm (word )+…", shown)
    assert 1400 < len(shown) < 1510
    assert "145 more words are not shown." in markup


def test_own_documents_are_escaped_and_cleaned_of_control_characters():
    script = "<script>alert(1)</script>"
    markup = page(document(f"{script} \x00\ud800", [1.0, 1.0], [script], id=script, facts={script: script}))
    markup += page_of_documents(script, [script], [script], {script: []}, 0.0, [script])
    assert "<script>" not in markup
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi></h3>" in markup.replace(" <a", "</h3><a")
    assert "\x00" not in markup
    markup.encode("utf-8")


def test_without_scores_of_words_the_page_says_so():
    markup = page(document("some text"))
    assert "a document is scored as a unit" in markup
    assert 'class="odd' not in markup.partition("</style>")[2]


def test_long_own_documents_and_long_pages_are_cut(monkeypatch):
    markup = page(document(" ".join(["word"] * 1000), [1.0] * 1000))
    assert "700 more words are not shown." in markup
    monkeypatch.setattr(of_documents, "_MOST_BYTES", 3000)
    documents = [document("x" * 600)] * 3
    markup = page(a=documents, b=documents[:1])
    assert markup.count("<article") == 2  # of each list at least one
    assert "2 more documents do not fit" in markup


def test_a_document_that_begins_with_much_space_is_shown():
    assert "word" in page(document("\n" * 9000 + "word", [1.0], ["word"]))


def test_a_page_of_very_many_documents_is_below_a_megabyte():
    facts = dict.fromkeys(("p", "p_form", "p_both", "score", "copies"), "0.0012")
    texts = ["wor", "word " * 200, "<&> \x00\n" * 2000, "\U0001f600 " * 3000, "'" * 90_000, '"' * 40]
    for text in texts:
        documents = [document(text, [1.0] * len(text.split()), ["<" * 40] * 4, text * 9, facts)] * 1500
        n_bytes = len(page(a=documents, b=documents).encode())
        assert 200_000 < n_bytes < 1_000_000, text[:9]
