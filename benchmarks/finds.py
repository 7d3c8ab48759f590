"""Renew the tables of docs/finds.md: what is odd in corpora that everybody knows, by the defaults.

    python benchmarks/finds.py                          # all corpora; two minutes on one core
    python benchmarks/finds.py --picture gazebo.bmp     # the picture that 13 posts of 20 Newsgroups have

The script needs the real data in ADBENCH_TEXT_DATA. It writes what is between ``<!-- table: NAME -->`` and
``<!-- end -->``, and prints figures of the text around it.

A reader has judged the first documents of each list: docs/finds.csv has the judgements, and no
texts. A document is known by the digest of its text, so judgements stay if the ranks change. The page has
documents with a reading, and counts all judgements.

Columns of finds.csv:

- ``corpus``, ``list``: ``odd`` (the default list), ``grouped`` (by words, within groups), ``elsewhere``
  (documents that fit another group better) or ``grew``
- ``row``: row of the document; for ``grew``, number of the group
- ``sha256``: first 12 digits of the digest of the text; for ``grew``, of the words of the group
- ``judgement``: ``odd``, ``misfiled`` or ``nothing``, a false alarm
- ``reading``: what the document is; empty if the page does not show it
- ``excerpt``: the first and last character of the excerpt, to leave out names; ``-`` shows no words
"""

import argparse
import binascii
import csv
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from misfiled import lines

from adbench_text import odd_documents
from adbench_text.datasets import reuters
from adbench_text.datasets.newsgroups20 import Newsgroups20
from adbench_text.documents.growth import growth
from adbench_text.documents.misfiled import Misfiled
from adbench_text.documents.page import PageDocument, _alike, _part, documents_of_list
from adbench_text.documents.ranking import OddDocuments
from adbench_text.plugins import registry
from adbench_text.storage import data_dir

ROOT = Path(__file__).parents[1]
PAGE, JUDGEMENTS = ROOT / "docs" / "finds.md", ROOT / "docs" / "finds.csv"
N_READ = 50  # documents of each list
N_FOUND, N_FALSE = 10, 3  # documents of each list on the page
N_WORDS = 6  # of a group that grew
N_GREW = 12  # groups of 20 Newsgroups
ALPHA = 0.01
#: the licence allows excerpts, or states no terms for them
FREE, UNCLEAR = 160, 120  # characters of an excerpt
#: addresses, phone numbers, and URLs with the name of a user
PRIVATE = re.compile(r"\S*@\S*|\S*://\S*~\S*|\+?\(?\d{3,}\)?[-. ]?\d{3}[-. ]?\d{3,}")
GROUP = "group"  # head of a column; the page has the word of the corpus
HEADINGS = {"odd": "Odd", "grouped": "Odd in its group", "elsewhere": "Filed elsewhere?"}
TAGS = (
    "wordpress oracle svn apache excel matlab visual-studio cocoa osx bash spring hibernate scala sharepoint "
    "ajax qt drupal linq haskell magento"
).split()  # of the labels 1 to 20

Texts = list[str]
Labelled = tuple[Texts, Texts]  # texts, and the names of their classes


# -- the corpora


def both_parts(name: str) -> Labelled:
    """Return the documents of the training part and of the test part of a dataset."""
    dataset = registry.dataset(name)
    parts = dataset.read()
    texts = [text for part in parts for text in part.texts]
    return texts, [dataset.classes[label] for part in parts for label in part.labels]


@cache
def newsgroups() -> tuple[Labelled, Labelled]:
    """Return the posts of both parts of 20 Newsgroups, and their newsgroups."""
    train, test = Newsgroups20().posts()
    return train, test


def posts() -> Labelled:
    (train, of_train), (test, of_test) = newsgroups()
    return train + test, of_train + of_test


def titles() -> Labelled:
    found = lines("stackoverflow", "title_StackOverflow.txt", "label_StackOverflow.txt")
    labels = (data_dir() / "stackoverflow" / "label_StackOverflow.txt").read_text("utf-8").split()
    return found.texts, [TAGS[int(label) - 1] for label in labels]


def reviews() -> Labelled:
    """Return the sentences of SST-2 that are not poisoned."""
    path = data_dir() / "real" / "onion" / "clean-sst-2-train.tsv"
    rows = path.read_text("utf-8").removesuffix("\n").split("\n")[1:]
    pairs = [(text.strip(), label.strip()) for text, _, label in (row.rpartition("\t") for row in rows)]
    return [text for text, _ in pairs], ["positive" if label == "1" else "negative" for _, label in pairs]


def queries() -> Labelled:
    """Return the examples and the real queries of a bot, with their intents."""
    rows = list[dict[str, str]]()
    for part in ("train", "test"):
        path = data_dir() / "hint3" / part / f"curekart_{part}.csv"
        with path.open(encoding="utf-8", newline="") as stream:
            rows += csv.DictReader(stream)
    return [row["sentence"] for row in rows], [row["label"] for row in rows]


@cache
def articles() -> list[tuple[date, str]]:
    """Return the articles of Reuters-21578 with their dates."""
    found = list[tuple[date, str]]()
    for content in reuters._sgml_files(reuters.Reuters().files[0].fetch()):
        for article in content.split("</REUTERS>")[:-1]:
            day = re.search(r"<DATE>\s*(\d+-[A-Z]+-1987)", article)
            assert day, "an article of Reuters-21578 has no date"
            found.append((datetime.strptime(day[1].title(), "%d-%b-%Y").date(), reuters._text(article)))
    return found


class Corpus(NamedTuple):
    """A corpus of the page."""

    name: str
    title: str
    n_characters: int  #: of an excerpt
    read: Callable[[], Labelled]
    lists: tuple[str, ...]  #: lists that were read
    group: str = ""  #: a word for its classes


ALL = ("odd", "grouped", "elsewhere")
CORPORA = (
    Corpus("20news", "20 Newsgroups", UNCLEAR, posts, ALL, "newsgroup"),
    Corpus("agnews", "AG News", UNCLEAR, lambda: both_parts("agnews"), ALL, "section"),
    Corpus("stackoverflow", "Titles of Stack Overflow", FREE, titles, ALL, "tag"),
    Corpus("sst2-clean", "SST-2", FREE, reviews, ("odd", "elsewhere"), "label"),
    Corpus("hint3", "A shop's bot (HINT3)", FREE, queries, ("odd", "elsewhere"), "intent"),
    Corpus("badnets", "A poisoned file", FREE, lambda: both_parts("onion:badnets"), ("odd",)),
    Corpus("mts-dialog", "Doctors' notes", FREE, lambda: both_parts("mts-dialog"), ALL, "section"),
)


# -- judgements


class Judgement(NamedTuple):
    """What the reader says of a document."""

    judgement: str
    reading: str
    excerpt: str


@cache
def judgements() -> dict[tuple[str, str, str], Judgement]:
    """Return the judgements by corpus, list and digest."""
    with JUDGEMENTS.open(encoding="utf-8", newline="") as stream:
        return {
            (row["corpus"], row["list"], row["sha256"]): Judgement(
                row["judgement"], row["reading"], row["excerpt"]
            )
            for row in csv.DictReader(stream)
        }


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


# -- excerpts


def literal(text: str) -> str:
    """Return a text in one line of Markdown, as written, also on GitHub."""
    text = text.replace("&", "&amp;").replace("://", "&#58;//")  # no link
    return re.sub(r"([\\|*_`<>\[\]$~])", r"\\\1", text)


def hidden(text: str) -> str:
    """Return a text of the same length without addresses, phone numbers, and URLs with the name of a user."""
    return PRIVATE.sub(lambda found: "\0" * len(found[0]), text)


def excerpt(document: PageDocument, n_characters: int, place: str = "") -> str:
    """Return the part of a document around its odd words, which are in bold (on the site red)."""
    text = hidden(document.text)
    quoted = [found for fact in document.why for found in re.findall(r'^"([^"…]+)"', fact)]
    odd = {_alike(word) for word in (*document.why, *quoted)}
    words = [word for word in document.words if _alike(word.token) in odd]
    if place:
        start, end = map(int, place.split("-"))
    else:
        start, end, _ = _part(text, [word.start for word in words], n_characters)
    shown, position = "", start
    for word in words:
        if word.start >= position and word.end <= end:
            shown += f"{text[position : word.start]}\1{text[word.start : word.end]}\2"
            position = word.end
    shown = re.sub(r"\s+", " ", re.sub(r"\0+", "…", shown + text[position:end])).strip()
    shown = literal(shown).replace("\1", "<b>").replace("\2", "</b>")
    before, after = (bool(text[part].strip()) for part in (slice(0, start), slice(end, None)))
    return f"{'… ' if before else ''}{shown}{' …' if after else ''}"


# -- lists


class Listed(NamedTuple):
    """A list of a corpus: its documents, and their last cells."""

    documents: list[PageDocument]
    cells: list[list[str]]
    head: list[str]


def of_list(ranked: OddDocuments, order: str) -> Listed:
    """Return the first documents of a list."""
    listed = ranked.lists[order].head(N_READ)
    documents = documents_of_list(listed.assign(id=listed["row"].astype(str)), order, ALPHA)
    if ranked.groups:
        return Listed(documents, [[each.facts["group"], each.p] for each in documents], [GROUP, "p"])
    return Listed(documents, [[why(each), each.p] for each in documents], ["odd by", "p"])


def why(document: PageDocument) -> str:
    """Return why a document is odd: its words, or the strongest fact about its form."""
    if document.facts["by"] == "words":
        return "words"
    return literal(re.sub(r'^"(.{16})[^"]+"', r'"\1…"', document.why[0]))


def of_misfiled(found: Misfiled) -> Listed:
    """Return the first documents that fit another group better."""
    listed = found.listed.head(N_READ)
    documents = [
        PageDocument(str(rank), str(row.row), {}, row.why, row.text, row.words)
        for rank, row in enumerate(listed.itertuples(), 1)
    ]
    return Listed(documents, listed[["group", "fits"]].to_numpy().tolist(), [GROUP, "fits"])


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


class Read(NamedTuple):
    """What the page says of a list."""

    counts: Counter[str]
    text: str


def read(corpus: Corpus, name: str, listed: Listed) -> Read:
    """Count the judgements of a list, and make its tables."""
    known = [
        judgements().get((corpus.name, name, digest(document.text)), Judgement("not read", "", ""))
        for document in listed.documents
    ]
    counts = Counter(each.judgement for each in known)
    shown = {True: list[list[str]](), False: list[list[str]]()}
    for document, cells, judged in zip(listed.documents, listed.cells, known, strict=True):
        if judged.reading:
            text = excerpt(document, corpus.n_characters, judged.excerpt)
            shown[judged.judgement != "nothing"].append([document.rank, text, judged.reading, *cells])
    head = ["rank", "text", "what it is", *(corpus.group if each == GROUP else each for each in listed.head)]
    found, false = shown[True][:N_FOUND], shown[False][:N_FALSE]
    parts = [f"### {corpus.title}: {HEADINGS[name].lower()}", f"Of the first {N_READ}: {counted(counts)}."]
    if found:
        parts.append(table(head, found))
    if false:
        parts += ["The worst false alarms:", table(head, false)]
    return Read(counts, "\n\n".join(parts))


def counted(counts: Counter[str]) -> str:
    names = ("odd", "misfiled", "nothing", "not read")
    return ", ".join(f"{counts[name]} {name}" for name in names if counts[name])


class Section(NamedTuple):
    """The lists of a corpus."""

    tables: str
    n_documents: int
    seconds: float
    counts: dict[str, Counter[str]]
    lists: dict[str, Listed]


def section(corpus: Corpus) -> Section:
    """Rank the documents of a corpus, and make its tables."""
    texts, classes = corpus.read()
    begin = time.process_time()
    ranked = odd_documents(texts, top=N_READ)
    seconds = time.process_time() - begin
    lists = {"odd": of_list(ranked, "both")}
    if len(corpus.lists) > 1:
        grouped = odd_documents(texts, groups=classes, top=N_READ)
        assert grouped.groups
        lists["grouped"] = of_list(grouped, "words")
        lists["elsewhere"] = of_misfiled(grouped.groups.misfiled)
    found = {name: read(corpus, name, lists[name]) for name in corpus.lists}
    counts = {name: each.counts for name, each in found.items()}
    tables = "\n\n".join(each.text for each in found.values())
    return Section(tables, len(texts), seconds, counts, lists)


# -- what grew


class Grown(NamedTuple):
    """A group that grew."""

    where: str
    n: int
    n_new: int
    expected: float
    p: float
    words: list[str]

    def row(self, corpus: str, cells: list[str]) -> list[str]:
        """Return a row of a table."""
        judged = judgements().get(
            (corpus, "grew", digest(" ".join(self.words))), Judgement("", "not read", "")
        )
        words = "…" if judged.excerpt == "-" else literal(", ".join(self.words[:N_WORDS]))
        false = " (false alarm)" if judged.judgement == "nothing" else ""
        expected = f"{self.expected:.{1 if self.expected < 10 else 0}f}"
        return [*cells, f"{judged.reading}{false}", words, str(self.n), expected, f"{self.p:.1g}"]


HEAD_OF_GREW = ["what it is", "words", "n", "expected", "p"]


def grown(where: str, old: Texts, new: Texts) -> list[Grown]:
    """Return the groups that grew between two lists of texts."""
    groups = growth(old, new).groups
    return [Grown(where, each.n, len(new), each.expected, each.p, each.words) for each in groups]


def grown_newsgroups() -> list[Grown]:
    """Return what grew in each newsgroup from the training part to the test part, the least p first."""
    parts = newsgroups()
    found = list[Grown]()
    for name in sorted(set(parts[0][1])):
        old, new = ([text for text, of in zip(*part, strict=True) if of == name] for part in parts)
        found += grown(name, old, new)
    return sorted(found, key=lambda group: group.p)


def grown_in_reuters() -> list[Grown]:
    """Return what grew from 19 October 1987 on."""
    day = date(1987, 10, 19)
    old, new = ([text for when, text in articles() if (when >= day) == is_new] for is_new in (False, True))
    return grown("reuters", old, new)


# -- the picture of 20 Newsgroups

PART = re.compile(r"-+ Part (\d+) of 14 -+")
N_LINES = 952  # of a part


def parts_of_picture(texts: Texts) -> dict[int, str]:
    """Return the posts with parts of a picture, by number."""
    found = ((PART.search(text), text) for text in texts)
    return {int(match[1]): text[match.end() :] for match, text in found if match}


def picture() -> bytes:
    """Return the picture; parts that the corpus does not have are empty."""
    parts = parts_of_picture(posts()[0])
    data = b""
    for number in range(1, max(parts) + 1):
        encoded = [line[:61] for line in parts.get(number, "").splitlines() if re.match(r"M.{54}", line)]
        data += b"".join(binascii.a2b_uu(line.ljust(61)) for line in encoded) or bytes(45 * N_LINES)
    return data


def facts_of_picture() -> dict[str, str]:
    """Return what the page says about the picture."""
    texts, names = posts()
    parts = parts_of_picture(texts)
    count = Counter(word for text in texts for word in re.findall(r"[a-z0-9]{2,}", text.lower()))
    of_group = sum(
        len(text) for text, name in zip(texts, names, strict=True) if name.endswith("windows.misc")
    )
    in_parts = sum(len(re.findall(r"(?<![a-z0-9])ax(?![a-z0-9])", text.lower())) for text in parts.values())
    place = [word for word, _ in count.most_common(20)].index("ax") + 1
    return {
        "n_parts": str(len(parts)),
        "n_ax": f"{count['ax']:,}",
        "of_parts": f"{in_parts:,}",
        "place": str(place),
        "share": f"{sum(map(len, parts.values())) / of_group:.0%}".replace("%", " %"),
    }


# -- the page


def overview(sections: Mapping[Corpus, Section]) -> str:
    """Return the table of all lists."""
    rows = [
        [
            f"[{corpus.title}](#{anchor(corpus.title)})",
            f"{found.n_documents:,}",
            f"{found.seconds:.{1 if found.seconds < 10 else 0}f}",
            *(counted(found.counts[name]) if name in found.counts else "–" for name in HEADINGS),
        ]
        for corpus, found in sections.items()
    ]
    kinds = [f"{name}, first {N_READ}" for name in ("odd", "odd, `--group`", "Filed elsewhere?")]
    return table(["corpus", "documents", "seconds", *kinds], rows)


def anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def with_tables(page: str, tables: Mapping[str, str]) -> str:
    """Return a page with new tables between its marks."""
    marked = re.compile(r"(<!-- table: ([\w-]+) -->\n)(?:(?!<!-- ).)*+(?=<!-- end -->)", re.DOTALL)
    return marked.sub(lambda found: f"{found[1]}\n{tables[found[2]]}\n\n", page)


def all_tables() -> dict[str, str]:
    """Return the tables of the page, and print figures of its text."""
    sections = {corpus: section(corpus) for corpus in CORPORA}
    tables = {corpus.name: found.tables for corpus, found in sections.items()}
    of_newsgroups = grown_newsgroups()
    articles()
    begin = time.process_time()
    of_reuters = grown_in_reuters()
    print(f"Reuters: {time.process_time() - begin:.0f} s; {len(of_newsgroups)} groups of newsgroups grew")
    print(f"{of_newsgroups[0].where}: {of_newsgroups[0].n_new} posts in the test part")
    print(facts_of_picture())
    first = sections[CORPORA[0]].lists["odd"].documents[:20]
    print(
        f"parts of the picture: {sum(PART.search(each.text) is not None for each in first)} of the first 20"
    )
    print(f"{sum(each.total() for found in sections.values() for each in found.counts.values())} judged")
    first_groups = [group.row("20news", [group.where]) for group in of_newsgroups[:N_GREW]]
    tables["grew-20news"] = table(["newsgroup", *HEAD_OF_GREW], first_groups)
    tables["grew-reuters"] = table(HEAD_OF_GREW, [group.row("reuters", []) for group in of_reuters])
    tables["overview"] = overview(sections)
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--picture", type=Path, help="write the picture of 20 Newsgroups to this file")
    path = parser.parse_args().picture
    if path:
        path.write_bytes(picture())
    else:
        PAGE.write_text(with_tables(PAGE.read_text("utf-8"), all_tables()), encoding="utf-8")


if __name__ == "__main__":
    main()
