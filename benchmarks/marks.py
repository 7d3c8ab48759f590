"""The gain from marks: documents read until half of the odd ones are found, with and without marks.

A file has 1,000 documents, 5 % of them odd (fewer for a small class), drawn by
`numpy.random.default_rng(draw)`. If there are two kinds of odd documents, 25 come from other classes, and 22
are odd by form. A round marks the first ten documents of the list correctly, and ranks the others again,
until half of the odd ones are found. The first round uses the list by words. For comparison, the lists
without marks are read from the top. Copies count once.

Other files have 25 documents of other classes, and 12 in base64 and foreign scripts. Six of these 12 are
marked odd, and the first six normal documents by words are marked fine. The AUROC of the other documents
shows whether one kind hides the other.

It prints a line for each file, and a table of means. Files with a line in --kept are not measured again:

    python benchmarks/marks.py --draws 1 > lines.txt
    python benchmarks/marks.py --kept lines.txt
    python benchmarks/marks.py --sets rostd,agnews

The script needs the real data in ADBENCH_TEXT_DATA; all files take a quarter of an hour on one core.
"""

import argparse
import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from adbench_text import odd_documents
from adbench_text.corpora import corpus
from adbench_text.metrics import auroc
from adbench_text.orders import P_OF_ORDER
from adbench_text.plugins import registry
from adbench_text.storage import data_dir

N, N_ODD = 1_000, 50
N_TOPICAL, N_WRITTEN = 25, 22  # of two kinds
N_MARKS = 10  # per round
N_OF_FORM = 6  # marked texts in base64 and foreign scripts; a file has twice as many
DROWNING = [("pydocs", 2), ("20news", 1), ("agnews", 1)]


class File(NamedTuple):
    """Documents, and whether they are odd."""

    texts: list[str]
    is_odd: np.ndarray
    language: str = "en"


class Read(NamedTuple):
    """Numbers of documents read until half of the odd ones are found, for each list."""

    both: int
    words: int
    marks: int

    def __str__(self) -> str:
        return f"by both {self.both}, by words {self.words}, with marks {self.marks}"


@cache
def documents(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the raw documents of both parts of a corpus, and their classes."""
    if name == "stackoverflow":
        folder = data_dir() / name
        texts = (folder / "title_StackOverflow.txt").read_text(encoding="utf-8").splitlines()
        return np.array(texts, dtype=object), np.loadtxt(folder / "label_StackOverflow.txt", dtype=int)
    parts = corpus.read(registry.dataset(name))
    if name.startswith("hint3"):
        parts = parts[1:]  # queries: the others are examples of the intents
    texts = [text for part in parts for text in part.texts]
    return np.array(texts, dtype=object), np.concatenate([np.asarray(part.labels) for part in parts])


def drawn(name: str, inlier: int, draw: int, n_odd: int = N_ODD) -> File:
    """Return documents of a class, and odd ones of other classes, in random order."""
    rng = np.random.default_rng(draw)
    texts, labels = documents(name)
    normal, odd = (rng.permutation(np.flatnonzero(is_of)) for is_of in (labels == inlier, labels != inlier))
    normal = normal[: N - N_ODD]
    odd = odd[: round(n_odd * len(normal) / (N - N_ODD))]
    order = rng.permutation(len(normal) + len(odd))
    language = registry.dataset(name).language if name.startswith("sib-200") else "en"
    return File(texts[np.r_[normal, odd]][order].tolist(), order >= len(normal), language)


FOREIGN = (
    "Все люди рождаются свободными и равными в своём достоинстве и правах и должны поступать по-братски",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα",
    "كل البشر يولدون أحرارا ومتساوين في الكرامة والحقوق ووهبوا العقل والوجدان",
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である",
)


def in_base64(text: str) -> str:
    return base64.encodebytes(text.encode()).decode()


def foreign(text: str) -> str:
    return f"{FOREIGN[len(text) % len(FOREIGN)]} {len(text)}"


def as_html(text: str) -> str:
    return "".join(f"<p class='t{n}'>{word}</p><br/>" for n, word in enumerate(text.split()))


#: Ways to write a text in an odd form.
FORMS: tuple[Callable[[str], str], ...] = (
    str.upper,
    in_base64,
    foreign,
    lambda text: " ".join([text[:60]] * 12),
    as_html,
    lambda text: re.sub("[a-z]", lambda match: str(ord(match[0]) % 10), text),
    lambda text: text[:12] + "!" * 40,
)


def two_kinds(name: str, inlier: int, draw: int) -> File:
    """Return documents of a class, and odd ones: 25 of other classes, and 22 written in another way."""
    texts, is_odd, _ = drawn(name, inlier, draw, n_odd=N_TOPICAL)
    rng = np.random.default_rng(draw)
    written = rng.choice(np.flatnonzero(~is_odd), N_WRITTEN, replace=False)
    for n, row in enumerate(written):
        texts[row] = FORMS[n % len(FORMS)](texts[row])
        is_odd[row] = True
    return File(texts, is_odd)


def of_each_class(name: str, n_classes: int) -> list[tuple[str, int]]:
    return [(name, inlier) for inlier in range(n_classes)]


#: The classes of a set, and the number of draws; the rule was chosen on the sets before Stack Overflow.
SETS: dict[str, tuple[int, list[tuple[str, int]]]] = {
    "20 Newsgroups": (3, of_each_class("20news", 6)),
    "AG News": (3, of_each_class("agnews", 4)),
    "`nlpad-sms`": (3, [("nlpad-sms", 0)]),
    "Reuters: earn, acq": (3, of_each_class("reuters", 2)),
    "two kinds: 25 of other classes, 22 of odd form": (
        1,
        of_each_class("20news", 6) + of_each_class("agnews", 4),
    ),
    "Stack Overflow titles": (1, [("stackoverflow", tag) for tag in range(1, 21)]),
    "ROSTD": (3, [("rostd", 0)]),
    "BANKING77, 27 intents odd": (3, [("banking-near", 0)]),
    "`tad-email`": (2, [("tad-email", 0)]),
    "`tad-covid`": (2, [("tad-covid", 0)]),
    "`tad-sms`": (2, [("tad-sms", 0)]),
    "`tad-liar2`": (1, [("tad-liar2", 0)]),
    "`nlpad-bbc`": (3, [("nlpad-bbc", 0)]),
    "SIB-200, German": (1, of_each_class("sib-200:deu_Latn", 7)),
    "HINT3, queries to Curekart": (3, [("hint3-curekart", 0)]),
}


def files(title: str, n_draws: int | None) -> Iterator[tuple[str, Callable[[], File]]]:
    """Yield the name of each file of a set, and the function that draws it."""
    n_all, classes = SETS[title]
    draw_file = two_kinds if title.startswith("two kinds") else drawn
    for name, inlier in classes:
        for draw in range(min(n_draws or n_all, n_all)):
            yield f"{title}, {name} {inlier}, draw {draw}", partial(draw_file, name, inlier, draw)


def ranked(file: File, marks: Mapping[int, str] | None = None, **options: Any) -> pd.DataFrame:
    """Return the table of `odd` with default settings."""
    return odd_documents(file.texts, language=file.language, marks=marks, **options).table


def different(table: pd.DataFrame) -> pd.DataFrame:
    """Return the documents without copies."""
    return table[table["form_representative"] == table["row"]]


def read_down(rows: Sequence[int], is_odd: np.ndarray, n_wanted: int) -> int:
    """Return the number of documents read until enough odd ones are found, or the end of the list."""
    n_found = np.cumsum(is_odd[rows])
    return int(np.searchsorted(n_found, n_wanted)) + 1


def measured(file: File) -> Read:
    """Read a file by the lists without marks, and with marks."""
    table = different(ranked(file))
    n_wanted = -(-int(file.is_odd[table["row"]].sum()) // 2)
    by = {
        order: read_down(table.sort_values(p, kind="stable")["row"].tolist(), file.is_odd, n_wanted)
        for order, p in P_OF_ORDER.items()
    }
    marks: dict[int, str] = {}
    rows = table["row"].tolist()
    while (n_found := sum(mark == "odd" for mark in marks.values())) < n_wanted:
        n_read = len(marks) + read_down(rows, file.is_odd, n_wanted - n_found)
        marks |= {row: "odd" if file.is_odd[row] else "fine" for row in rows[:N_MARKS]}
        if n_read <= len(marks):
            break
        rows = [row for row in different(ranked(file, marks))["row"].tolist() if row not in marks]
    return Read(by["both"], by["words"], n_read)


def row_of_means(title: str, read: Sequence[Read]) -> str:
    """Return a row of the table: means, the ratio to the list by words, and the harm of marks."""
    means = " | ".join(f"{fmean(getattr(each, name) for each in read):.1f}" for name in Read._fields)
    ratio = geometric_mean(each.marks / each.words for each in read)
    worse = [each.marks - each.words for each in read if each.marks > each.words]
    return f"| {title} | {len(read)} | {means} | {ratio:.2f} | {len(worse)} | {max(worse, default=0)} |"


def of_odd_form(name: str, inlier: int, draw: int) -> tuple[File, list[int]]:
    """Return documents with 25 of other classes, and the rows of documents in base64 and foreign scripts."""
    texts, is_odd, _ = drawn(name, inlier, draw, n_odd=N_TOPICAL)
    rows = np.random.default_rng(draw).choice(np.flatnonzero(~is_odd), 2 * N_OF_FORM, replace=False).tolist()
    for n, row in enumerate(rows):
        texts[row] = (in_base64 if n % 2 else foreign)(texts[row])
        is_odd[row] = True
    return File(texts, is_odd), rows


def drowning(name: str, inlier: int, draw: int) -> str:
    """Return the AUROC of the documents without a mark, before and after marks that support form."""
    file, rows = of_odd_form(name, inlier, draw)
    before = different(ranked(file)).sort_values("p", kind="stable")
    fine = [row for row in before["row"].tolist() if not file.is_odd[row]][:N_OF_FORM]
    marks = dict.fromkeys(fine, "fine") | dict.fromkeys(rows[:N_OF_FORM], "odd")
    result = odd_documents(file.texts, marks=marks)
    after = different(result.table)
    after = after[after["mark"] == ""]
    before = before[before["row"].isin(after["row"])]

    def of(table: pd.DataFrame, order: str) -> str:
        score = -table[P_OF_ORDER[order]].fillna(1)
        return f"{100 * auroc(file.is_odd[table['row']], score.to_numpy()):.1f}"

    figures = of(before, "words"), of(before, "both"), of(after, "words"), of(after, "both")
    return f"| {name} {inlier}, draw {draw} | {' | '.join(figures)} | {result.form_weight:.2g} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="What marks gain.")
    parser.add_argument("--sets", default="", help="parts of the names of corpora, with commas")
    parser.add_argument("--draws", type=int, help="largest number of draws per class")
    parser.add_argument("--kept", type=Path, help="output of an earlier run")
    options = parser.parse_args()
    printed = options.kept.read_text(encoding="utf-8") if options.kept else ""
    line = r"^(.+): by both (\d+), by words (\d+), with marks (\d+)$"
    kept = {name: Read(*map(int, counts)) for name, *counts in re.findall(line, printed, re.MULTILINE)}
    wanted = options.sets.split(",")
    table = []
    for title in SETS:
        read = []
        for name, draw_file in files(title, options.draws):
            if any(part in name for part in wanted):
                read.append(kept[name] if name in kept else measured(draw_file()))
                print(f"{name}: {read[-1]}", flush=True)
        if read:
            table.append(row_of_means(title, read))
    print("\n| | files | both | words | with marks | ratio to words | worse than words | by at most |")
    print(f"| --- |{' ---: |' * 7}", *table, sep="\n")
    print("\n| | by words, before | by both | by words, marked | by both | weight of form |")
    print(f"| --- |{' ---: |' * 5}")
    for name, inlier in DROWNING:
        for draw in range(min(options.draws or 2, 2)):
            print(drowning(name, inlier, draw), flush=True)


if __name__ == "__main__":
    main()
