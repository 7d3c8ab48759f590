"""The page of own documents."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape

import pytest
from browsers import opened
from token_scores import scored

from adbench_text.documents import page as of_documents
from adbench_text.documents.page import PageDocument, page_of_documents


def document(text="", scores=(), why=(), id="7", facts=None, p="", is_odd=None):
    return PageDocument("1", id, facts or {}, why, text, scored(text, scores) if scores else [], p, is_odd)


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


def columns(markup):
    """Return the headers and the first row of each table of a page, as texts."""
    return [
        [re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", of_table, re.S) for tag in ("th", "td")]
        for of_table in re.findall("<table.*?</tr>.*?</tr>", markup, re.S)
    ]


def lines(markup):
    """Return the documents before each line that ends those called odd, in tables and below them."""
    return [
        markup[: found.start()].count('<a href="#document') + markup[: found.start()].count("<article")
        for found in re.finditer('class="usual"', markup)
    ]


@pytest.mark.parametrize(("n_odd", "n"), [(0, 3), (2, 3), (2, 30), (25, 30)])
def test_a_line_is_between_what_is_called_odd_and_what_is_not(n_odd, n):
    """Also where the others are folded."""
    documents = [document("a", p="0.01", is_odd=number < n_odd) for number in range(n)]
    assert lines(page(*documents)) == [n_odd, n + n_odd]
    assert lines(page(*documents[:n_odd], *documents[:n_odd])) == []
    assert lines(page(*[document("b")] * n)) == []


def test_a_table_has_the_p_of_its_order():
    markup = page(**{"Odd by form": [document("a", p="0.0016")], "Filed elsewhere?": [document("b")]})
    (headers, row), (others, other) = columns(markup)
    assert headers == ["rank", "id", "p", "why", "text"]
    assert row[2] == "0.0016"
    assert others == ["rank", "id", "why", "text"]
    assert len(other) == 4


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


def test_fifty_documents_of_a_list_are_shown_and_the_others_are_folded():
    lists = {name: [document("text", id=f"{name}{n}") for n in range(1, 54)] for name in "XY"}
    markup = page(**lists)
    folded = re.findall("<details><summary>3 more documents</summary>.*?</details>", markup, re.S)
    assert [re.findall(r'<article id="document-(\d-\d+)"', part) for part in folded] == [
        ["1-51", "1-52", "1-53"],
        ["2-51", "2-52", "2-53"],
    ]
    assert markup.count("<article") == 2 * 53
    assert "more documents</summary>" not in page(*lists["X"][:50])


def test_a_long_document_is_shown_around_its_odd_words():
    text = "word " * 400 + "storm " + "word " * 400
    markup = page(document(text, [0.1] * 801, ["storm"]))
    shown = re.sub("<[^>]*>", "", markup.partition('dir="auto">')[2].partition("</div>")[0])
    assert re.fullmatch("… (word )+storm (word )+…", shown)
    assert 1400 < len(shown) < 1510
    assert "145 more words" in markup


def test_own_documents_are_escaped_and_cleaned_of_control_characters():
    script = "<script>alert(1)</script>"
    markup = page(document(f"{script} \x00\ud800", [1.0, 1.0], [script], id=script, facts={script: script}))
    markup += page_of_documents(script, [script], [script], {script: []}, 0.0, [script])
    assert "<script>" not in markup
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi></h3>" in markup.replace(" <a", "</h3><a")
    assert "\x00" not in markup
    markup.encode("utf-8")


def test_without_scores_of_words_no_word_is_marked():
    marked, plain = (page(document("some text", scores)) for scores in ([9.0, 9.0], []))
    assert 'class="odd' in marked.partition("</style>")[2]
    assert 'class="odd' not in plain.partition("</style>")[2]


def test_long_own_documents_and_long_pages_are_cut(monkeypatch):
    markup = page(document(" ".join(["word"] * 1000), [1.0] * 1000))
    assert "700 more words" in markup
    monkeypatch.setattr(of_documents, "_MOST_BYTES", 3000)
    documents = [document("x" * 600)] * 3
    markup = page(a=documents, b=documents[:1])
    assert markup.count("<article") == 2  # of each list at least one
    assert "2 more documents" in markup


def test_a_document_that_begins_with_much_space_is_shown():
    assert "word" in page(document("\n" * 9000 + "word", [1.0], ["word"]))


@pytest.mark.slow
def test_a_page_of_very_many_documents_is_below_a_megabyte():
    facts = dict.fromkeys(("p", "p_form", "p_both", "score", "copies"), "0.0012")
    texts = ["wor", "word " * 200, "<&> \x00\n" * 2000, "\U0001f600 " * 3000, "'" * 90_000, '"' * 40]
    for text in texts:
        documents = [document(text, [1.0] * len(text.split()), ["<" * 40] * 4, text * 9, facts)] * 1500
        n_bytes = len(page(a=documents, b=documents).encode())
        assert 200_000 < n_bytes < 1_000_000, text[:9]


# Marks

POLICY = re.compile('<meta http-equiv="Content-Security-Policy" content="(.*?)">')


def page_to_mark(ids, earlier=None, id_name="id", **sections):
    documents = [document(f"text of {number}", id=own) for number, own in enumerate(ids)]
    marks = earlier or {}
    return page_of_documents(
        "T", ["now"], ["Summary."], sections or {"The most odd": documents}, 0.0, (), id_name, marks
    )


def test_a_page_with_marks_runs_its_own_script_alone():
    markup = page_to_mark(["A", "B"])
    (code,) = re.findall("<script>(.*?)</script>", markup, re.S)
    digest = b64encode(sha256(code.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in POLICY.search(markup)[1]
    assert "unsafe" not in POLICY.search(markup)[1].replace("style-src 'unsafe-inline'", "")
    assert not re.search(r"\son\w+=", markup.replace(code, ""))
    assert "save marks" in markup
    assert "--marked marks.csv" in markup


def test_a_page_without_marks_has_no_script():
    markup = page(document("some text"))
    assert "script" not in markup
    assert "<button" not in markup
    assert "data-id" not in markup


def test_what_a_page_with_marks_takes_from_the_documents_is_escaped():
    hostile = "\"></div><script>alert(1)</script>'{{ 7 * 7 }}"
    markup = page_to_mark([hostile], {hostile: "odd"}, hostile)
    assert markup.count("<script>") == 1
    (marks,) = re.findall('data-marks="(.*?)">', markup, re.S)
    assert json.loads(unescape(marks)) == {"earlier": {hostile: "odd"}, "name": hostile}


def test_marks_of_other_pages_are_kept_apart():
    def key(markup):
        return re.search('data-key="(.*?)"', markup)[1]

    first = key(page_to_mark(["A", "B"]))
    assert first == key(page_to_mark(["A", "B"]))
    others = [
        page_to_mark(["A", "C"]),
        page_to_mark(["A", "B"], {"X": "odd"}),
        page_to_mark(["A", "B"], {}, "row"),
    ]
    assert len({first, *map(key, others)}) == 4


DRIVER = """<script>
Element.prototype.scrollIntoView = () => {};
const seen = {}, saved = [];
const url = URL.createObjectURL;
URL.createObjectURL = (blob) => { saved.push(blob); return url(blob); };
HTMLAnchorElement.prototype.click = function () { seen.file = this.download; };  // a browser waits for it
const key = (name, more) =>
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, ...more }));
const own = [...document.querySelectorAll("article")];
const at = () => own.indexOf(document.activeElement);
const marked = () => own.map((each) => {
  const pressed = each.querySelector("[aria-pressed=true]");
  return pressed ? pressed.dataset.mark : "";
});
const out = () => document.querySelector("output").textContent;
const look = async () => {
  STEPS
  seen.csv = await Promise.all(saved.map((blob) => blob.text()));
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify(seen);
  document.body.append(result);
};
look();
</script></body>"""


def in_browser(browser, markup, steps, folder):
    """Return what a browser saw of a page while steps were taken in it; nothing went wrong."""
    markup = POLICY.sub("", markup).replace("</body>", DRIVER.replace("STEPS", steps))
    shown, log = opened(browser, markup, folder)
    assert "CONSOLE" not in log, log
    return json.loads(unescape(re.search(r'<pre id="result">(.+?)</pre>', shown)[1]))


@pytest.fixture(scope="module")
def marking(browser, tmp_path_factory):
    """What happens to a page of four documents, one with a name as of a formula, and an earlier mark."""
    markup = page_to_mark(["A", "=1+1", 'C "c", d', "D"], {"X": "odd", "D": "fine"})
    steps = """
    seen.shown = [document.querySelector("#marks").hidden, out(), marked()];
    key("o");
    seen.nowhere = [at(), marked()];
    key("ArrowRight"); key("ArrowLeft");
    seen.first = at();
    key("o");
    seen.odd = [at(), marked(), out()];
    key("f"); key("ArrowLeft"); key("f");
    seen.taken_back = [at(), marked(), out()];
    key("o", { ctrlKey: true });
    seen.control = marked();
    own[2].querySelector("[data-mark=odd]").click();
    own[3].querySelector("[data-mark=odd]").click();
    seen.clicked = [marked(), out()];
    seen.rows = [...document.querySelectorAll("tbody tr")].map((row) => row.dataset.marked);
    document.querySelector("#marks button").click();
    seen.kept = JSON.parse(localStorage.getItem(`marks ${document.querySelector("#marks").dataset.key}`));
    """
    return in_browser(browser, markup, steps, tmp_path_factory.mktemp("browser"))


def test_keys_mark_a_document_and_go_to_the_next_one(marking):
    assert marking["shown"] == [False, "1 odd, 1 fine", ["", "", "", ""]]
    assert marking["nowhere"] == [-1, [""] * 4]
    assert marking["first"] == 0
    assert marking["odd"] == [1, ["odd", "", "", ""], "2 odd, 1 fine"]


def test_the_same_mark_again_takes_it_back(marking):
    assert marking["taken_back"] == [1, ["odd", "", "", ""], "2 odd, 1 fine"]
    assert marking["control"] == ["odd", "", "", ""]


def test_buttons_mark_too_and_rows_show_it(marking):
    assert marking["clicked"] == [["odd", "", "odd", "odd"], "4 odd, 0 fine"]
    assert marking["rows"] == ["odd", "", "odd", "odd"]


def test_earlier_marks_are_saved_too(marking):
    (csv,) = marking["csv"]
    assert csv == 'id,mark\r\nX,odd\r\nD,odd\r\nA,odd\r\n"C ""c"", d",odd\r\n'
    assert marking["file"] == "marks.csv"
    assert marking["kept"] == {"A": "odd", 'C "c", d': "odd", "D": "odd"}


def test_a_document_of_two_lists_has_one_mark_and_its_name_is_no_formula(browser, tmp_path):
    both = [document("text", id="=1+1"), document("other", id="2")]
    markup = page_to_mark([], {}, "row", **{"Odd by words": both, "Odd by form": both[::-1]})
    steps = """
    own[0].querySelector("[data-mark=odd]").click();
    seen.marked = marked();
    document.querySelector("#marks button").click();
    """
    seen = in_browser(browser, markup, steps, tmp_path)
    assert seen["marked"] == ["odd", "", "", "odd"]
    assert seen["csv"] == ["row,mark\r\n'=1+1,odd\r\n"]


def test_the_bar_of_marks_covers_nothing_that_has_the_focus(browser, tmp_path):
    steps = """
    const bar = document.querySelector("#marks");
    for (const folded of document.querySelectorAll("main > details")) folded.open = true;
    const links = [...document.querySelectorAll("main > table a, .marks button")];
    const edges = (link) => {
      link.focus();
      return [link.getBoundingClientRect().bottom, bar.getBoundingClientRect().top];
    };
    seen.edges = links.map(edges);
    """
    seen = in_browser(browser, page_to_mark([str(number) for number in range(60)]), steps, tmp_path)
    assert len(seen["edges"]) == 20 + 2 * 60
    assert all(bottom <= top for bottom, top in seen["edges"])


MANY = [str(number) for number in range(60)]


def test_keys_and_links_unfold_the_document_that_they_lead_to(browser, tmp_path):
    steps = """
    const folded = () => own[55].closest("details");
    const isShown = () => own[55].checkVisibility();
    seen.folded = isShown();
    own[49].focus(); key("ArrowRight");
    seen.key = [at(), isShown()];
    folded().open = false;
    document.addEventListener("click", (event) => event.preventDefault());
    const click = new MouseEvent("click", { bubbles: true });
    document.querySelector('[href="#document-1-56"]').dispatchEvent(click);
    seen.link = isShown();
    """
    seen = in_browser(browser, page_to_mark(MANY), steps, tmp_path)
    assert seen == {"folded": False, "key": [50, True], "link": True, "csv": []}


PAPER = """
for (const rule of document.styleSheets[0].cssRules) {
  if (rule.media && rule.media.mediaText === "print") rule.media.mediaText = "all";
}
"""


def test_what_is_folded_is_printed_too_and_links_unfold_it_without_a_script_of_the_page(browser, tmp_path):
    steps = """
    const shown = () => own.filter((each) => each.checkVisibility({ contentVisibilityAuto: true })).length;
    const before = shown();
    location.hash = "#document-1-60";
    await new Promise((resolve) => setTimeout(resolve, 200));
    const linked = shown();
    own[59].closest("details").open = false;
    PAPER
    Object.assign(seen, { before, linked, paper: shown() });
    """
    markup = page(*[document("text", id=own) for own in MANY])
    seen = in_browser(browser, markup, steps.replace("PAPER", PAPER), tmp_path)
    assert (seen["before"], seen["linked"], seen["paper"]) == (50, 60, 60)


def test_marks_are_there_again_when_the_page_is_opened_again(browser, tmp_path):
    markup = page_to_mark(["A", "B"])
    key = re.search('data-key="(.*?)"', markup)[1]
    kept = f"""<script>localStorage.setItem("marks {key}", '{{"B":"fine"}}')</script>"""
    seen = in_browser(
        browser, markup.replace("</head>", f"{kept}</head>"), "seen.marked = marked();", tmp_path
    )
    assert seen["marked"] == ["", "fine"]


def test_the_policy_of_the_page_lets_its_script_run_and_no_other(browser, tmp_path):
    other = "<script>document.title = 'changed'</script>"
    shown, log = opened(browser, page_to_mark(["A"]).replace("</body>", f"{other}</body>"), tmp_path)
    assert re.search('<p class="marks"><button', shown)  # shown by the script
    assert "0 odd, 0 fine" in shown
    assert "<title>T</title>" in shown
    assert log.count("CONSOLE") == 1
    assert "Content Security Policy" in log


def test_the_text_around_a_word_is_found_in_any_case():
    text = f"{'word ' * 400}ISITMA {'word ' * 400}"
    markup = page(document(text, [0.0] * 400 + [4.0] + [0.0] * 400, ["\u0131s\u0131tma"]))
    assert "ISITMA" in markup
