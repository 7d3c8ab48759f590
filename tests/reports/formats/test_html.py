import json
import re
from collections import namedtuple
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from browsers import opened
from token_scores import scored

from adbench_text.pages import shades
from adbench_text.pages.shades import N_SHADES
from adbench_text.reports.contents import FORMATS
from adbench_text.reports.formats import html
from adbench_text.reports.report import NONE, Entry, Heatmap, Kind, Report, Table, figure
from adbench_text.run.result import Example

REPORTS = Path(html.__file__).parent
STYLES = REPORTS / "_page.css", Path(shades.__file__).with_name("_shades.css")
CSS = "".join(path.read_text(encoding="utf-8") for path in STYLES)
SVG = "data:image/svg+xml," + quote('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
NASTY = "</script><img src=x onerror=alert(1)>\"'&{{ 7 * 7 }}"
Picture = namedtuple("Picture", ["name", "title", "caption", "image", "is_first"], defaults=[False])
EMPTY_TAGS = {"meta", "link", "input", "img", "br", "wbr", "path"}


class Element:
    def __init__(self, tag: str, attributes: dict[str, str | None]):
        self.tag, self.attributes, self.parts = tag, attributes, []

    def __getitem__(self, name: str) -> str | None:
        return self.attributes[name]

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def all(self, tag: str, **wanted: str) -> "list[Element]":
        inner = [part for part in self.parts if isinstance(part, Element)]
        found = []
        for element in inner:
            is_wanted = all(element.attributes.get(name.strip("_")) == v for name, v in wanted.items())
            found += [element] if element.tag == tag and is_wanted else []
            found += element.all(tag, **wanted)
        return found

    def one(self, tag: str, **wanted: str) -> "Element":
        (found,) = self.all(tag, **wanted)
        return found


class Tree(HTMLParser):
    """Parses strictly: every tag that is opened is closed, in order."""

    def __init__(self, text: str):
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(text)
        self.close()
        assert self.open == [self.root]

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        element = Element(tag, dict(attrs))
        self.open[-1].parts.append(element)
        if tag not in EMPTY_TAGS:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].parts.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].parts.append(data)


def parsed(report: Report) -> Element:
    page = FORMATS["html"].render(report)
    page.encode("utf-8")
    return Tree(page).root


def typed(text: str, best: bool = False) -> Entry:
    """An entry of figures: a number with what follows it, or the reason why there is none."""
    kind = {"failed": Kind.FAILED, "missing": Kind.MISSING, "–": Kind.NONE}.get(text)
    if kind:
        return Entry(text, kind)
    number = re.match(r"[-+]?[\d,.]+", text)
    return Entry(text, Kind.FIGURE, float(number[0].replace(",", "")), best=best)


def table(title: str = "AUROC (%)") -> Table:
    figures = {
        ("made-up", "sea"): [typed("9.5 ± 0.1"), typed("95.0", best=True), typed("1,000")],
        ("made-up", "law"): [typed("failed"), typed("80.0"), typed("20")],
        ("20news", "sea"): [typed("10.1 (1 of 2)", best=True), typed("–"), typed("300")],
        ("20news", "law"): [typed("-1"), typed("missing"), typed("4")],
    }
    rows = [[*map(Entry, labels), *entries] for labels, entries in figures.items()]
    blocks = [("from scratch", 1), ("word vectors", 2)]
    return Table(title, ["dataset", "inlier", "llr", "ocsvm(nu=0.2)", "n"], rows, {0, 2}, blocks=blocks)


def table_with_means() -> Table:
    figures = {
        ("20news (2)", "sea"): ["-0.5†", "90.0 (88.1 to 92.3)", "20news (2)"],
        ("20news (2)", "law"): ["+5.4†", "95.0 (1 of 2)", "20news (1)"],
        ("20news (2)", "mean"): ["+9.9", "99.0 ± 0.1", "20news (4)"],
        ("20news (1)", "sea"): ["+1.2", "7.5", "20news (3)"],
        ("20news (1)", "mean"): ["-9.9", "1 of 10", "20news (0)"],
    }
    rows = [
        [Entry(dataset), Entry(name, is_summary=name == "mean"), *map(typed, texts[:2]), Entry(texts[2])]
        for (dataset, name), texts in figures.items()
    ]
    return Table("Means", ["dataset", "inlier", "ocsvm", "cvdd", "of"], rows, {0, 3})


def broad_table() -> Table:
    header = ["configuration", *(f"date:paper(rtd_weight={i}, score=pl_rmd)" for i in range(17))]
    rows = [[Entry(header[1]), *[Entry("95.0 ± 0.1 (1 of 2)")] * 17]]
    return Table("Broad", header, rows, n_labels=1)


def example(text: str, scores: list[float], **other) -> Example:
    facts = {"why": "most abnormal", "document": 7, "label": "sea", "outlier": True, "score": 0.5, **other}
    return Example(**facts, text=text, tokens=scored(text, scores))


def whole() -> Report:
    words = [
        example("calm  sea\nstorm", [0.0, 0.1, 0.9]),
        example("a b c", [0.0, 0.01, 0.4], why="most normal"),
    ]
    pictures = [
        Picture("levels", "By level", "It falls.", (SVG, 3.5)),
        Picture("time", "Seconds", "It grows.", (SVG, 7)),
    ]
    maps = [Heatmap("llr on made-up/law", words), Heatmap("cvdd on made-up/law", words[:1])]
    folded = replace(table("all"), is_folded=True)
    return Report([table(), table("AUPR"), folded], ["A note.", "Another."], pictures, maps)


def test_the_page_needs_nothing_but_itself():
    root = parsed(whole())
    (policy,) = [meta for meta in root.all("meta") if "http-equiv" in meta.attributes]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"].startswith(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    )
    page = FORMATS["html"].render(whole())
    addresses = re.findall(r"""(?:\b(?:src|href|action)=|url\()["']?([^"'\s>)]+)""", page)
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not re.search(r"@import|//(?!www\.w3\.org/2000/svg)[a-z]+\.", page)


def test_styles_and_script_are_small():
    assert len(CSS) + (REPORTS / "_page.js").stat().st_size < 25_000


def test_what_is_linked_is_there_and_no_id_is_there_twice():
    page = FORMATS["html"].render(whole())
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    named = re.findall(r' (?:href="#|for="|aria-labelledby="|aria-describedby=")([^"]+)"', page)
    assert set(named) <= set(ids)
    assert {"table-1", "table-2", "table-3", "picture-2", "heatmap-2", "notes"} <= set(named)


def leaders() -> Table:
    """Detectors, the best first."""
    rows = [
        [Entry("llr"), replace(figure(90.0), best=True), figure(100.0), Entry("words")],
        [Entry("cvdd"), figure(65.0), figure(20.0), Entry("words")],
        [Entry("date"), typed("failed"), NONE, Entry("pieces")],
    ]
    return Table("Leaders", ["detector", "mean", "made-up", "knows"], rows, n_labels=1, bars_from=50)


def test_the_result_comes_first_with_the_leaders_and_where_it_comes_from_last():
    report = replace(whole(), provenance=[("seeds", "0 to 4")], leaders={"0%": leaders()})
    report = replace(report, headline="Over all: llr.")
    report = replace(report, pictures=[*report.pictures, Picture("x", "First", "It is.", (SVG, 3.5), True)])
    root = parsed(report)
    sections = [part for part in root.one("main").parts if isinstance(part, Element)]
    assert [section["id"] for section in sections] == [
        *("result", "tables", "pictures", "heatmaps", "notes", "provenance")
    ]
    headline, board, beside = [part for part in sections[0].parts if isinstance(part, Element)]
    assert headline.text == "Over all: llr."
    assert board.one("caption").one("h3").text == "Leaders"
    assert [figure.one("h3").text for figure in beside.all("figure")] == ["First"]
    assert [figure.one("h3").text for figure in sections[2].all("figure")] == ["By level", "Seconds"]
    assert [part.text for part in sections[-1].all("dt") + sections[-1].all("dd")] == ["seeds", "0 to 4"]
    assert all(section["aria-labelledby"] == f"{section['id']}-title" for section in sections[1:])
    assert [link["href"] for link in root.one("nav").all("a") if "-" not in link["href"]] == [
        f"#{section['id']}" for section in sections
    ]


def test_a_switch_shows_the_leaders_of_one_level_and_is_there_only_for_several():
    boards = {"0%": leaders(), "10%": replace(leaders(), title="Leaders at 10%")}
    switch = parsed(replace(whole(), leaders=boards)).one("section", id="result").one("fieldset")
    assert switch.one("legend").text == "Outliers in the training data"
    assert [part.tag for part in switch.parts if isinstance(part, Element)][1:] == ["label", "div"] * 2
    choices = [label for label in switch.all("label") if label.all("input", type="radio", name="level")]
    assert [choice.text.strip() for choice in choices] == ["0%", "10%"]
    assert ["checked" in choice.one("input").attributes for choice in choices] == [True, False]
    assert [board.one("caption").one("h3").text for board in switch.all("div", class_="table")] == [
        *("Leaders", "Leaders at 10%")
    ]
    alone = parsed(replace(whole(), leaders={"0%": leaders()})).one("section", id="result")
    assert len(alone.all("table", class_="figures")) == 1
    assert not alone.all("fieldset") + alone.all("input", type="radio")


@pytest.mark.parametrize(("n_columns", "is_beside"), [(4, True), (5, True), (6, False)])
def test_the_first_pictures_stand_beside_leaders_of_few_columns(n_columns, is_beside):
    rows = [[Entry("llr"), *[figure(90.0)] * (n_columns - 2), Entry("words")]]
    board = Table("Leaders", ["detector", *"abcdef"[: n_columns - 1]], rows, n_labels=1, bars_from=50)
    first = Picture("x", "First", "It is.", (SVG, 3.5), True)
    result = parsed(replace(whole(), leaders={"0%": board}, pictures=[first])).one("section", id="result")
    assert (result.attributes.get("class") == "beside") == is_beside
    alone = parsed(replace(whole(), leaders={"0%": board})).one("section", id="result")
    assert "class" not in alone.attributes


def test_the_best_has_a_star_that_a_screen_reader_calls_best():
    assert r'strong::before { content: "\2605\a0"; content: "\2605\a0" / "best "; ' in CSS
    report = replace(whole(), leaders={"0%": leaders()})
    notes = [[item.text for item in part.all("li")] for part in parsed(report).all("div", class_="table")]
    assert notes == [["★: the best of ours in its column."], *[["★: the best of ours in its row."]] * 2]
    assert "★" not in FORMATS["html"].render(Report([table_with_means()], [])).partition("<body>")[2]


def test_a_folded_table_shows_its_title_and_the_number_of_its_rows():
    folded = replace(table("FPR"), is_folded=True)
    of_one = replace(folded, rows=folded.rows[:1], group_starts=set())
    section = parsed(Report([table(), folded, of_one], [])).one("section", id="tables")
    assert [(part.tag, part["id"]) for part in section.parts if isinstance(part, Element)][1:] == [
        *(("div", "table-1"), ("details", "table-2"), ("details", "table-3"))
    ]
    titles = [part.all("summary")[0].text for part in section.all("details", class_="table")]
    assert titles == ["FPR (4 rows)", "FPR (1 row)"]
    assert all("open" not in part.attributes for part in section.all("details", class_="table"))


def test_bars_and_colours_follow_the_figures():
    report = replace(whole(), leaders={"0%": leaders()})
    of_leaders, *others = parsed(report).all("tbody")
    shares = [[cell.attributes.get("style") for cell in row.all("td")] for row in of_leaders.all("tr")]
    assert shares == [
        ["--share:0.80", "--share:1.00", None],
        ["--share:0.30", "--share:0.00", None],
        [None, None, None],
    ]
    assert not any("style" in cell.attributes for body in others for cell in body.all("td"))


@pytest.mark.parametrize("part", ["pictures", "heatmaps", "notes"])
def test_what_is_empty_is_left_out(part):
    report = whole()
    kept = {name: [] if name == part else getattr(report, name) for name in ("pictures", "heatmaps", "notes")}
    root = parsed(Report([table_with_means()], **kept))  # nothing of it is bold
    assert not root.all("section", id=part)
    assert not root.all("a", href=f"#{part}")


def test_a_table_names_what_its_headers_are():
    first = parsed(whole()).all("table", class_="figures")[0]
    assert first.one("caption").one("h3").text == "AUROC (%)"
    above, heads = first.one("thead").all("tr")
    assert [(th.text, th["scope"], th["colspan"]) for th in above.all("th")] == [
        ("from scratch", "colgroup", "1"),
        ("word vectors", "colgroup", "2"),
    ]
    assert above.one("td")["colspan"] == "2"
    assert [int(group["span"]) for group in first.all("colgroup")] == [2, 1, 2]
    assert [th.text for th in heads.all("th", scope="col")] == [
        "dataset",
        "inlier",
        "llr",
        "ocsvm(nu=0.2)",
        "n",
    ]
    rows = first.one("tbody").all("tr")
    assert [[th.text for th in row.all("th", scope="row")] for row in rows] == [
        ["made-up", "sea"],
        ["made-up", "law"],
        ["20news", "sea"],
        ["20news", "law"],
    ]
    assert [td.text for td in rows[2].all("td")] == ["10.1 (1 of 2)", "–", "300"]
    assert [strong.text for strong in first.all("strong")] == ["95.0", "10.1 (1 of 2)"]
    assert [row.attributes.get("class") for row in rows] == [None, None, "group", None]


def test_the_rows_of_means_are_set_apart():
    rows = parsed(Report([table_with_means()], [])).one("tbody").all("tr")
    assert [row.attributes.get("class") for row in rows] == [None, None, "mean", "group", "mean"]


def test_a_wide_table_is_printed_across_the_paper():
    def printed(n: int) -> Element:
        row = [Entry("95.0 ± 0.1")] * n
        of_many = Table("t", [f"date paper score={i}" for i in range(n)], [row])
        return parsed(Report([of_many], [])).one("div", role="region")

    assert [printed(n)["class"] for n in (11, 12)] == ["region", "region broad"]
    assert "--columns:18" in printed(18).one("table")["style"]
    assert "@page across { size: landscape; }" in CSS
    assert re.search(r"\.region\.broad, [^}]+\{ page: across; \}", CSS)


def test_the_signs_of_sorting_are_no_part_of_a_name():
    signs = re.findall(r'content: ("\\[^"]+"); content: ("\\[^"]+") / "";', CSS)
    assert [first for first, _ in signs] == ['"\\2195"', '"\\25B2"', '"\\25BC"']
    assert all(first == second for first, second in signs)


@pytest.mark.parametrize(
    "entry",
    [
        replace(figure(9.5), spread=0.1),
        replace(figure(-0.5), is_unequal=True),
        replace(figure(95.0), n_expected=2),
        replace(figure(1.0), best=True),
    ],
    ids=lambda entry: entry.text,
)
def test_the_notes_of_a_table_are_under_it(entry):
    names = ["± 0.1", "†", "(paper)", "(1 of 2)", "(oracle)"]  # names alone are no marks
    plain = Table("plain", [*names, "b"], [[*map(Entry, names), Entry("1 of 2")]])
    in_entry = Table("entry", ["a", "b"], [[Entry("x"), entry]])
    in_header = Table("header", ["a", "b (oracle)"], [[Entry("x"), NONE]])
    in_entry = replace(in_entry, notes=["What the entry means."])
    of_best = ["★: the best of ours in its row."] if entry.best else []
    root = parsed(Report([plain, in_entry, in_header], ["A note."]))
    assert [caption.one("h3").text for caption in root.all("caption")] == ["plain", "entry", "header"]
    notes = [[item.text for item in part.all("li")] for part in root.all("div", class_="table")]
    assert notes == [[], [*of_best, "What the entry means."], []]


def test_six_notes_are_open():
    failures = [f"failed: date on 20news/{i}" for i in range(9)]
    report = Report([table()], ["±: a spread.", *failures])
    notes = parsed(report).one("section", id="notes")
    texts = [item.text for item in notes.all("li")]
    assert texts == ["±: a spread.", *failures]
    assert [len(part.all("li")) for part in notes.all("ul")] == [6, 4]
    assert notes.one("details").one("summary").text == "4 more notes"
    few = parsed(Report([table()], failures[:6])).one("section", id="notes")
    assert len(few.all("li")) == 6
    assert not few.all("details")


def test_the_contents_count_and_fold_what_there_is():
    contents = parsed(whole()).one("nav")
    assert [summary.text for summary in contents.all("summary")] == ["3 tables", "2 pictures", "2 heat maps"]
    assert all("open" not in part.attributes for part in contents.all("details"))
    assert [link.text for link in contents.all("details")[2].all("a")] == [
        "llr on made-up/law",
        "cvdd on made-up/law",
    ]
    assert parsed(Report([table()], [])).one("nav").one("summary").text == "1 table"


def test_blocks_may_leave_columns_over_and_a_table_may_have_no_labels():
    one = Table("", ["a", "b", "c"], [[Entry("1"), Entry("2"), Entry("3")]], set(), 0, [("x", 2)])
    first = parsed(Report([one], [])).one("table", class_="figures")
    above, _ = first.one("thead").all("tr")
    assert [part["colspan"] for part in above.parts if isinstance(part, Element)] == ["2", "1"]
    assert not first.all("th", scope="row")


def test_a_wide_table_scrolls_in_a_region_that_can_be_focused():
    for region in parsed(whole()).all("div", role="region"):
        assert region["tabindex"] == "0"
        assert region["aria-label"] in {"AUROC (%)", "AUPR", "all"}
        assert region.one("table")


def test_a_table_without_a_title_has_a_number():
    untitled = Table("", ["a", "b"], [[Entry("x"), Entry("1")]], n_labels=1)
    assert parsed(Report([untitled], [])).one("caption").one("h3").text == "Table 1"


def test_a_picture_is_drawn_in_the_page_and_described_in_words():
    first = parsed(whole()).all("figure")[0]
    heading, drawn, caption = [part for part in first.parts if isinstance(part, Element)]
    assert (heading.tag, heading.text) == ("h3", "By level")
    assert drawn.one("img")["src"] == SVG
    assert drawn.one("img")["alt"] == "By level"
    assert (caption.tag, caption.text) == ("figcaption", "It falls.")
    assert drawn["aria-labelledby"] == first["aria-labelledby"] == heading["id"]


def test_a_heat_map_keeps_the_text_and_gives_each_word_its_score():
    first = parsed(whole()).one("details", id="heatmap-1").all("article")[0]
    text = first.one("bdi", class_="text")
    assert text.text == "calm  sea\nstorm"
    assert [(span.text, span["title"]) for span in text.all("span")] == [
        ("calm", "0.000"),
        ("sea", "0.100"),
        ("storm", "0.900"),
    ]
    assert first.one("h4").text == "high score 1, class sea"
    assert [span.text for span in first.one("p", class_="facts").all("span")] == [
        "outlier",
        "score 0.500",
        "document 7",
    ]
    assert first.one("summary").text == "Scores of all words"
    words = [item.text for item in first.one("details").one("ol").all("li")]
    assert words == ["storm 0.900", "sea 0.100", "calm 0.000"]


def test_the_first_heat_map_is_open():
    maps = parsed(whole()).all("details", class_="heatmap")
    assert ["open" in each.attributes for each in maps] == [True, False]


def test_headings_claim_no_more_than_is_true_and_differ():
    headings = {
        "most abnormal": "high score",
        "missed outlier": "lowest-scored outlier",
        "inlier taken for an outlier": "highest-scored inlier",
        "most normal": "low score",
        "of another kind": "of another kind",
    }
    examples = [example("a", [0.1], why=why, label=label) for why in headings for label in ("sea", "law")]
    root = parsed(Report([table()], [], heatmaps=[Heatmap("h", examples)]))
    expected = [
        f"{shown} {n}, class {label}" for shown in headings.values() for n, label in ((1, "sea"), (2, "law"))
    ]
    assert [heading.text for heading in root.all("h4")] == expected


def test_long_heat_maps_after_the_first_of_each_detector_are_left_out():
    long = [example(" ".join(["word"] * 200), [0.1] * 200)] * 50
    kinds = [("a 1", True), ("b 1", True), ("a 2", False), ("b 2", False)]
    heatmaps = [Heatmap(title, long, is_first=is_first) for title, is_first in kinds]
    for shown, content in ((2, heatmaps), (4, [replace(each, examples=long[:0]) for each in heatmaps])):
        root = Tree(FORMATS["html"].render(Report([table()], [], heatmaps=content))).root
        assert len(root.all("details", class_="heatmap")) == shown


def test_heat_maps_that_would_make_the_page_big_are_left_out_and_counted():
    heatmaps = [Heatmap(f"map {i}", [example("a b c", [0.1, 0.2, 0.3])]) for i in range(1200)]
    page = FORMATS["html"].render(Report([table()], ["A note."], heatmaps=heatmaps))
    root = Tree(page).root
    shown = root.all("details", class_="heatmap")
    assert [each.one("h3").text for each in shown] == [f"map {i}" for i in range(30)]
    assert len(root.one("nav").all("details")[1].all("a")) == len(shown)
    notes = [item.text for item in root.one("section", id="notes").all("li")]
    assert re.match(f"{1200 - len(shown):,} of 1,200 .*--detector", notes[0])
    assert notes[1:] == ["A note."]


def test_a_document_without_words_is_shown():
    root = parsed(Report([table()], [], heatmaps=[Heatmap("", [example("", []), example(" \n", [])])]))
    assert [article.one("bdi", class_="text").text for article in root.all("article")] == ["", " \n"]
    assert not root.all("ol", class_="words")


def nasty_report() -> Report:
    text = f"{NASTY} \ud800\x00\x1b\x7f \u202eevil \u2067x"
    one = Table(
        NASTY, [NASTY] * 3, [[Entry(NASTY), Entry(text), Entry(NASTY, best=True)]], {0}, 1, [(NASTY, 2)]
    )
    heatmap = Heatmap(
        NASTY,
        [example(text, [i / 10 for i in range(len(text.split()))], why=NASTY, label=text)],
    )
    return Report(
        [one, Table(text, ["a"], [[Entry(text)]], is_folded=True)],
        [NASTY, text],
        [Picture(NASTY, NASTY, text, (SVG, 7))],
        [heatmap],
    )


def test_text_is_never_markup():
    page = FORMATS["html"].render(nasty_report())
    root = Tree(page).root
    assert [image["src"] for image in root.all("img")] == [SVG]
    assert len(root.all("script")) == page.count("</script>") == 1
    assert "49" not in root.one("main").text
    for region in root.all("div", role="region")[:1]:
        assert region["aria-label"] == NASTY
    assert root.one("section", id="notes").all("li")[0].text == NASTY
    assert root.one("article").one("h4").text.startswith(f"{NASTY} 1, class {NASTY}")
    attributes = {name for element in root.all("span") for name in element.attributes}
    assert attributes <= {"class", "title"}


def test_characters_that_a_page_cannot_hold_are_replaced(tmp_path):
    page = FORMATS["html"].render(nasty_report())
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert not re.search("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]", page)
    assert NASTY + " \ufffd\ufffd\ufffd\ufffd \u202eevil" in Tree(page).root.one("bdi", class_="text").text
    assert (page.count("\u202e"), page.count("\u2067")) == (1, 1)  # in the document, as it was written


def test_a_text_that_turns_the_direction_of_writing_does_not_turn_the_page():
    article = parsed(nasty_report()).one("article")
    turning = [part for part in article.all("bdi") if "\u202e" in part.text]
    assert [part["class"] for part in turning] == ["text"]  # as it was written; a label changes no direction


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lower, higher = sorted(map(luminance, (one, other)))
    return (higher + 0.05) / (lower + 0.05)


def mixed(colour: str, ground: str, percent: int) -> str:
    parts = [[int(each[i : i + 2], 16) for i in (1, 3, 5)] for each in (colour, ground)]
    shares = (percent / 100, 1 - percent / 100)
    return "#" + "".join(f"{round(a * shares[0] + b * shares[1]):02x}" for a, b in zip(*parts, strict=True))


@pytest.fixture(params=["light", "dark"])
def colours(request) -> dict[str, str]:
    found = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\);", CSS)
    return {name: light if request.param == "light" else dark for name, light, dark in found}


def test_text_can_be_read_on_every_background(colours):
    pairs = [(text, ground) for text in ("fg", "soft", "accent") for ground in ("bg", "panel")]
    for text, ground in pairs:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for share in re.findall(r"--deepest: (\d+)%", CSS):
        assert contrast(colours["fg"], mixed(colours["accent"], colours["bg"], int(share))) >= 4.5, share
    tints = re.findall(r"--(tint|best): color-mix\(in srgb, var\(--(\w+)\) (\d+)%, transparent\);", CSS)
    assert [name for name, *_ in tints] == ["tint", "best"]
    for name, of, share in tints:
        tinted = mixed(colours[of], colours["bg"], int(share))
        for text in ("fg", "soft"):
            assert contrast(colours[text], tinted) >= 4.5, (text, name)


def test_every_shade_differs_from_the_page_and_from_its_neighbours_and_can_be_read_on(colours):
    shares = [int(share) for share in re.findall(r"\.odd\d, \.typical\d \{ --share: (\d+)%; \}", CSS)]
    assert len(shares) == N_SHADES
    assert shares == sorted(set(shares))
    assert shares[-1] == 100
    for colour in ("odd", "typical"):
        shades = [mixed(colours[colour], colours["bg"], share) for share in shares]
        assert contrast(shades[0], colours["bg"]) >= 1.2
        assert min(contrast(colours["fg"], shade) for shade in shades) >= 4.5


HARNESS = """<!DOCTYPE html><title>harness</title><pre id="result"></pre><script>
const open = (width) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:700px;border:0`;
  frame.onload = () => setTimeout(() => resolve(frame.contentWindow), 300);
  frame.srcdoc = PAGE;
  document.body.append(frame);
});
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
const look = async () => {
  const page = await open(1280), doc = page.document, seen = {};
  const isOpen = (wanted) => doc.querySelector(wanted).open;
  seen.folded = [isOpen("#table-4"), isOpen("nav details")];
  doc.addEventListener("click", (event) => event.preventDefault(), { once: true });  // a frame would leave
  doc.querySelector('nav a[href="#table-4"]').click();
  page.location.hash = "#heatmap-2";
  await pause();
  seen.opened = ["#table-4", "#heatmap-2"].map(isOpen);
  doc.querySelector("#heatmap-2").open = false;
  const folded = () => [...doc.querySelectorAll("#heatmaps details")].filter((box) => !box.open).length;
  seen.printed = [folded()];
  for (const event of ["beforeprint", "afterprint"]) {
    page.dispatchEvent(new page.Event(event));
    seen.printed.push(folded(), isOpen("#heatmap-1"));
  }

  const passage = doc.querySelector("#heatmap-1 .text"), said = passage.nextElementSibling;
  const step = (key, more) => {
    passage.dispatchEvent(new page.KeyboardEvent("keydown", { key, ...more }));
    return [said.textContent, passage.querySelectorAll("[aria-current]").length];
  };
  seen.quiet = [passage.tabIndex, said.textContent, said.getAttribute("aria-live")];
  const keys = ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Tab"];
  seen.steps = keys.map((key) => step(key));
  seen.history = step("ArrowLeft", { altKey: true });
  passage.querySelector("span").click();
  seen.tapped = said.textContent;
  passage.click();
  seen.beside = said.textContent;

  const sorted = (place, i) => {
    const other = doc.querySelector(`#table-${place} table`), rows = other.tHead.rows;
    const head = rows[rows.length - 1].cells[i];
    head.querySelector("button").click();
    return [head.ariaSort, [...other.tBodies[0].rows].map((row) => row.cells[i].textContent)];
  };
  seen.means = [sorted(2, 2), sorted(2, 2), sorted(2, 3), sorted(2, 4), sorted(2, 0)];

  const table = doc.querySelector("#table-1 table");
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const rows = () => [...table.tBodies[0].rows];
  const column = (i) => rows().filter((row) => !row.hidden).map((row) => row.cells[i].textContent);
  const groups = () => rows().map((r) => r.classList.contains("group"));
  const press = (i) => { heads[i].querySelector("button").click(); return [heads[i].ariaSort, column(i)]; };
  seen.buttons = heads.map((head) => head.querySelectorAll("button[type=button]").length);
  seen.figures = [press(2), groups(), press(2), press(2), groups()];
  seen.thousands = press(4);
  seen.sorts = heads.map((head) => head.ariaSort);
  seen.names = press(0);
  press(0); press(0);
  const field = doc.querySelector("#table-1-filter");
  const filter = (text) => {
    field.value = text;
    field.dispatchEvent(new page.Event("input"));
    return [column(1), doc.querySelector("#table-1-count").textContent];
  };
  seen.filters = [filter("SEA made"), filter("law 20news"), filter("zzz"), filter("")];
  const ground = () => page.getComputedStyle(doc.body).backgroundColor;
  const toggle = doc.querySelector("#theme");
  const filtered = () => page.getComputedStyle(doc.querySelector("figure img")).filter;
  seen.themes = [0, 1, 2].map(() => { toggle.click(); return [toggle.textContent, ground(), filtered()]; });
  const deepest = [...doc.querySelectorAll("#heatmaps .text .odd9")];
  seen.shade = deepest.map((word) => page.getComputedStyle(word).backgroundColor);
  const paper = (await open(1031)).document;  // A4 across, without its margins
  for (const rule of paper.styleSheets[0].cssRules) {
    if (rule.media && rule.media.mediaText === "print") rule.media.mediaText = "all";
  }
  const right = paper.querySelector("#table-3 table").getBoundingClientRect().right;
  seen.paper = right - paper.documentElement.clientWidth;
  const narrow = await open(360);
  const drawn = (p) => [...p.document.querySelectorAll(".drawn")];
  const screens = [await open(1920), await open(1440), page, await open(768)];
  seen.hidden = screens.map((p) => drawn(p).map((box) => box.scrollWidth - box.clientWidth));
  seen.wide = [narrow, page].map((p) => drawn(p)[1].firstElementChild.getBoundingClientRect().width);
  seen.overflow = [page, narrow].map((p) => p.document.documentElement.scrollWidth - p.innerWidth);
  const look_of = (p, wanted) => p.getComputedStyle(p.document.querySelector(wanted));
  seen.contents = [page, narrow].map((p) => [look_of(p, "nav").position, look_of(p, "nav details").display]);
  seen.room = [...screens, narrow].map((p) => p.document.querySelector("main").offsetWidth / p.innerWidth);
  const regions = (p) => [...p.document.querySelectorAll("#tables .region")].filter((box) => box.clientWidth);
  const left = (p) => regions(p).map((box) => p.document.querySelector("main").offsetWidth - box.clientWidth);
  seen.regions = [...screens, narrow].map(left);
  const list = doc.querySelector("nav details");
  const fold = (wanted) => { list.open = true; wanted.click(); return list.open; };
  doc.addEventListener("click", (event) => event.preventDefault());
  seen.contents_open = [list.querySelector("ul"), list.querySelector("a"), doc.body].map(fold);
  seen.filtered = [...doc.querySelectorAll(".filter")].map((filter) => !filter.hidden);
  seen.stops = [page, narrow].map((p) => p.document.querySelector("#table-2 .region").tabIndex);
  const region = narrow.document.querySelector("#table-1 .region");
  seen.scrolls = region.scrollWidth > region.clientWidth;
  region.scrollLeft = 9999;
  const label = narrow.document.querySelector("#table-1 tbody th:nth-child(2)");
  seen.label = Math.round(label.getBoundingClientRect().left - region.getBoundingClientRect().left);
  document.getElementById("result").textContent = JSON.stringify(seen);
};
look();
</script>"""


WITHOUT_SCRIPTS = """<!DOCTYPE html><title>harness</title><pre id="result"></pre><script>
const frame = document.createElement("iframe");
frame.sandbox = "allow-same-origin";  // and no scripts
frame.style.cssText = "width:360px;height:700px";
frame.onload = () => {
  const doc = frame.contentDocument, seen = { theme: !doc.querySelector("#theme").hidden };
  const choices = [...doc.querySelectorAll("[type=radio]")];
  const shown = () => [...doc.querySelectorAll(".levels > .table")].map((board) => board.checkVisibility());
  seen.shown = [shown(), ...[1, 0].map((i) => { choices[i].click(); return shown(); })];
  seen.names = choices.map((choice) => choice.labels[0].textContent.trim());
  const rows = () => doc.querySelector("details.table tbody").checkVisibility();
  seen.rows = [rows(), (doc.querySelector("details.table > summary").click(), rows())];
  const best = doc.querySelector("strong");
  seen.star = frame.contentWindow.getComputedStyle(best, "::before").content;
  seen.overflow = doc.documentElement.scrollWidth - 360;
  document.getElementById("result").textContent = JSON.stringify(seen);
};
frame.srcdoc = PAGE;
document.body.append(frame);
</script>"""


def in_browser(browser: str, report: Report, folder: Path, harness: str = HARNESS) -> tuple[dict, str]:
    """Return what the harness saw of a page, and the browser's log."""
    page = json.dumps(FORMATS["html"].render(report)).replace("</", "<\\/")
    shown, log = opened(browser, harness.replace("PAGE", page), folder, "--window-size=1400,900")
    found = re.search(r'<pre id="result">(.+?)</pre>', shown)
    assert found, log
    return json.loads(unescape(found[1])), log


@pytest.fixture(scope="module")
def seen(browser, tmp_path_factory) -> dict:
    """What a browser shows of a whole report; nothing went wrong in it."""
    wide = table("A title of many words, so that it must be broken " + "x" * 80)
    report, folded = whole(), replace(table("wide"), is_folded=True)
    shown, log = in_browser(
        browser,
        Report(
            [wide, table_with_means(), broad_table(), replace(folded, rows=[*folded.rows, *folded.rows])],
            [*report.notes, "x" * 300],
            report.pictures,
            report.heatmaps,
        ),
        tmp_path_factory.mktemp("browser"),
    )
    assert "CONSOLE" not in log, log
    return shown


def test_without_scripts_the_levels_can_be_switched_and_tables_opened(browser, tmp_path):
    boards = {level: replace(leaders(), title=f"Leaders at {level}") for level in ("0%", "5%", "10%")}
    report = replace(whole(), leaders=boards)
    shown, _ = in_browser(browser, report, tmp_path, WITHOUT_SCRIPTS)
    assert not shown["theme"]
    assert shown["names"] == ["0%", "5%", "10%"]
    assert shown["shown"] == [[True, False, False], [False, True, False], [True, False, False]]
    assert shown["rows"] == [False, True]
    assert shown["star"].startswith('"★')
    assert shown["star"].endswith('/ "best "')
    assert shown["overflow"] <= 0


def test_figures_are_sorted_by_their_value_and_absent_ones_come_last(seen):
    assert seen["buttons"] == [1] * 5
    down, groups_down, up, back, groups_back = seen["figures"]
    assert down == ["descending", ["10.1 (1 of 2)", "9.5 ± 0.1", "-1", "failed"]]
    assert up == ["ascending", ["-1", "9.5 ± 0.1", "10.1 (1 of 2)", "failed"]]
    assert back == ["none", ["9.5 ± 0.1", "failed", "10.1 (1 of 2)", "-1"]]
    assert not any(groups_down)
    assert groups_back == [False, False, True, False]
    assert seen["thousands"] == ["descending", ["1,000", "300", "20", "4"]]
    assert seen["sorts"] == ["none", "none", "none", "none", "descending"]


def test_means_come_last_whichever_way_a_table_is_sorted(seen):
    down, up, *_ = seen["means"]
    assert down == ["descending", ["+5.4†", "+1.2", "-0.5†", "+9.9", "-9.9"]]
    assert up == ["ascending", ["-0.5†", "+1.2", "+5.4†", "-9.9", "+9.9"]]


def test_a_column_of_names_is_sorted_as_text_whatever_numbers_they_hold(seen):
    assert seen["names"] == ["ascending", ["20news", "20news", "made-up", "made-up"]]
    *_, figures, names, labels = seen["means"]
    assert figures == [
        "descending",
        ["95.0 (1 of 2)", "90.0 (88.1 to 92.3)", "7.5", "99.0 ± 0.1", "1 of 10"],
    ]
    assert names == ["ascending", [f"20news ({i})" for i in (1, 2, 3, 0, 4)]]
    assert labels == ["ascending", [f"20news ({i})" for i in (1, 2, 2, 1, 2)]]


def test_a_link_opens_what_it_leads_to(seen):
    assert seen["folded"] == [False, False]
    assert seen["opened"] == [True, True]


def test_the_contents_stay_in_view_and_are_one_line_where_there_is_little_room(seen):
    assert seen["contents"] == [["sticky", "block"], ["sticky", "none"]]


def test_a_table_has_the_whole_width_of_the_page(seen):
    assert min(seen["room"]) > 0.85
    assert not any(left for of_page in seen["regions"] for left in of_page)
    assert max(seen["overflow"]) <= 0


def test_a_list_of_contents_closes_behind_the_reader(seen):
    assert seen["contents_open"] == [True, False, False]


def test_only_a_table_of_many_rows_has_a_filter(seen):
    assert seen["filtered"] == [False, False, False, True]


def test_heat_maps_are_on_paper_as_they_are_on_the_screen(seen):
    before, printed, _, after, is_first_open = seen["printed"]
    assert before == after == printed > 0
    assert is_first_open


def test_a_tap_or_an_arrow_key_shows_the_score_of_a_word(seen):
    assert seen["quiet"] == [0, "", "polite"]
    steps = ["calm: 0.000", "sea: 0.100", "storm: 0.900", "storm: 0.900", "sea: 0.100", "sea: 0.100"]
    assert seen["steps"] == [[said, 1] for said in steps]
    assert seen["history"] == ["sea: 0.100", 1]  # Alt and an arrow is the browser's
    assert seen["tapped"] == seen["beside"] == "calm: 0.000"


def test_the_keyboard_stops_at_a_table_only_where_it_scrolls(seen):
    assert seen["stops"] == [-1, 0]


def test_rows_are_filtered_by_all_words_and_counted(seen):
    assert seen["filters"] == [
        [["sea"], "1 of 4 rows"],
        [["law"], "1 of 4 rows"],
        [[], "0 of 4 rows"],
        [["sea", "law", "sea", "law"], "4 of 4 rows"],
    ]


def test_eighteen_columns_come_out_on_paper(seen):
    assert seen["paper"] <= 0


def test_no_picture_is_cut_off_on_a_screen(seen):
    assert seen["hidden"] == [[0, 0]] * 4


def test_a_picture_scrolls_on_a_phone_before_its_words_are_too_small(seen):
    on_phone, on_screen = seen["wide"]
    assert 600 <= on_phone < 7 * 96 < on_screen


def test_the_theme_is_light_dark_or_the_systems(seen):
    (light, on_light, _), (dark, on_dark, _), (auto, *_) = seen["themes"]
    assert (light, dark, auto) == ("Theme: light", "Theme: dark", "Theme: auto")
    assert (on_light, on_dark) == ("rgb(255, 255, 255)", "rgb(21, 23, 27)")


def test_pictures_are_inverted_on_a_dark_page(seen):
    assert [drawn for *_, drawn in seen["themes"]][:2] == ["none", "invert(1) hue-rotate(180deg)"]


def test_the_deepest_words_are_painted(seen):
    assert seen["shade"]
    assert all(not colour.endswith("/ 0)") and colour != "rgba(0, 0, 0, 0)" for colour in seen["shade"])


def test_the_page_is_never_wider_than_the_window_and_the_label_stays_in_view(seen):
    assert max(seen["overflow"]) <= 0
    assert seen["scrolls"]
    assert 0 <= seen["label"] < 180
