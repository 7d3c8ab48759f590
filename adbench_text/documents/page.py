"""The HTML page of own documents: lists of documents with their words coloured by scores."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from math import isnan
from typing import NamedTuple

import pandas as pd

from adbench_text.contract.scores import TokenScore
from adbench_text.documents import OF_GROUPS
from adbench_text.documents.rounding import rounded
from adbench_text.documents.scores_by_order import is_by_words
from adbench_text.escaping import no_formula, without_controls
from adbench_text.orders import P_OF_ORDER
from adbench_text.pages.shades import Scale, cut, page
from adbench_text.text.letters import in_lower_case

_DIGITS = {"p": 2, "p_form": 2, "p_both": 2, "score": 3, "misfit": 3}  # significant digits
_N_CHARACTERS = 1500  # characters of a document
_N_CHARACTERS_OF_NAME = 80
_N_CHARACTERS_OF_EXCERPT = 160
_SHARE_BEFORE = 0.15  # share of the excerpt before the first odd word
_MOST_BYTES = 900_000  # bytes of all documents of a page; a browser is slow with more
_OF_WORD, _OF_DOCUMENT = 55, 1200  # largest number of bytes of markup for a word or a document
_N_ROWS = 20  # rows of a table; the others are folded
_N_DOCUMENTS = 50  # documents of a list; the others are folded


class PageDocument(NamedTuple):
    """A document on the page."""

    rank: str
    id: str
    facts: Mapping[str, str]  #: in order: ``{"p": "0.0016", "score": "4.2"}``
    why: Sequence[str]  #: the words that make it odd
    text: str  #: as it was written
    words: Sequence[TokenScore]  #: in the order of the text; empty if the detector has no scores of words
    p: str = ""  #: the p that orders the list, which is also one of the facts; empty without an order
    is_odd: bool | None = None  #: odd documents come first in a list; None without an order


def page_documents(table: pd.DataFrame, alpha: float, p: str = "") -> list[PageDocument]:
    """Return the rows of a table of ranked documents, formatted for the terminal and for a page.

    `p` names the p-value that orders the documents and decides which ones are odd; it is empty without an
    order.
    """
    shown = []
    for row in table.to_dict("records"):
        known = {name: row[name] for name in _DIGITS if row.get(name) is not None and not isnan(row[name])}
        facts = {name: rounded(value, _DIGITS[name], alpha) for name, value in known.items()}
        facts |= {name: row[name] for name in ("by", *OF_GROUPS) if isinstance(row.get(name), str)}
        if row.get("n_copies"):
            facts["copies"] = f"{row['n_copies']:,}"
        if not pd.isna(nearest := row.get("nearest")):
            facts["nearest"] = str(nearest)
        if row.get("subject"):
            facts["subject"] = ", ".join(row["subject"])
        shown.append(
            PageDocument(
                rank=str(row["rank"]),
                id=row["id"],
                facts=facts,
                why=row["why"],
                text=row["text"],
                words=row["words"],
                p=facts.get(p, ""),
                is_odd=bool(row["odd"]) if p else None,
            )
        )
    return shown


def documents_of_list(listed: pd.DataFrame, order: str, alpha: float) -> list[PageDocument]:
    """Return the documents of a list for the page; `order` ranks them, and `listed` has the column ``id``.

    The reasons are words, or facts about form if form ranks the document.
    """
    by_words = is_by_words(listed, order)  # for each document: whether its words, not its form, rank it
    listed = listed.assign(why=listed["why"].where(by_words, listed["why_form"]))
    if order == "both":  # show the order with the smaller p
        listed["by"] = by_words.map({True: "words", False: "form"})
    return page_documents(listed, alpha, P_OF_ORDER[order])


class _Part(NamedTuple):
    """Part of a document, from `start` to `end`."""

    start: int
    end: int
    n_left_out: int  #: number of words after the end


class _OnPage(NamedTuple):
    """A document, and the parts of it that the page shows."""

    document: PageDocument
    excerpt: _Part
    shown: _Part
    is_first_usual: bool  # whether it is the first in its list that is not odd; a line separates it

    @classmethod
    def each(cls, documents: Sequence[PageDocument]) -> Iterator["_OnPage"]:
        """Yield the documents of a list."""
        is_usual = [document.is_odd is False for document in documents]
        first = is_usual.index(True) if any(is_usual) else None
        for number, document in enumerate(documents):
            yield cls.of(document, is_first_usual=number == first)

    @classmethod
    def of(cls, document: PageDocument, *, is_first_usual: bool) -> "_OnPage":
        """Return a document, and the parts around its odd words."""
        first = {_alike(word.token): word.start for word in reversed(document.words)}
        odd = [first[alike] for alike in map(_alike, document.why) if alike in first]
        excerpt, shown = (_part(document.text, odd, n) for n in (_N_CHARACTERS_OF_EXCERPT, _N_CHARACTERS))
        return cls(document, excerpt, shown, is_first_usual)

    @property
    def n_bytes(self) -> int:
        """An upper bound of its bytes on the page."""
        parts = self.excerpt, self.shown
        texts = [self.document.text[part.start : part.end] for part in parts]
        texts += [
            *self.document.facts.values(),
            *2 * (self.document.id[:_N_CHARACTERS_OF_NAME], *self.document.why),
        ]
        n_words = sum(
            word.start < part.end and word.end > part.start for part in parts for word in self.document.words
        )
        n_bytes = sum(len(escape(without_controls(text)).encode()) for text in texts)
        return n_bytes + _OF_WORD * n_words + _OF_DOCUMENT


def _alike(word: str) -> str:
    """Return a form that is equal for a word and its lower case in any language."""
    return in_lower_case(word, "en").replace("\u0131", "i")


def page_of_documents(
    title: str,
    made: Sequence[str],
    summary: Sequence[str],
    sections: Mapping[str, Sequence[PageDocument]],
    middle: float,
    notes: Sequence[str] = (),
    id_name: str = "id",
    marks: Mapping[str, str] | None = None,
    headline: str = "",
    *,
    shows_scale: bool = True,
) -> str:
    """Return a page with lists of documents, by heading. It says how many documents did not fit.

    `made` says how and when the page was made. The default headline is the title. A word with the score
    `middle` is neither odd nor typical. With `marks`, the earlier marks by identifier, the reader can mark
    documents as odd or fine. Without `shows_scale`, the page does not explain the colours.
    """
    lists = {
        heading: list(_fitting(documents, _MOST_BYTES / len(sections)))
        for heading, documents in sections.items()
    }
    every = [shown.document for of_list in lists.values() for shown in of_list]
    return page(
        "adbench_text.documents/_page.html",
        title=title,
        headline=headline,
        made=made,
        summary=summary,
        notes=notes,
        id_name=id_name,
        n_rows=_N_ROWS,
        n_documents=_N_DOCUMENTS,
        n_characters_of_name=_N_CHARACTERS_OF_NAME,
        lists=lists,
        scale=Scale.of([document.words for document in every], middle),
        n_left_out=sum(map(len, sections.values())) - len(every),
        has_words=any(document.words for document in every),
        shows_scale=shows_scale,
        script=None if marks is None else _script(marks, id_name, [document.id for document in every]),
    )


def notebook_of_documents(summary: str, sections: Mapping[str, Sequence[PageDocument]], middle: float) -> str:
    """Return the first documents of lists, by heading, as HTML for a notebook. All text is escaped."""
    lists = {heading: list(_OnPage.each(first)) for heading, first in sections.items()}
    words = [shown.document.words for first in lists.values() for shown in first]
    scale = Scale.of(words, middle)
    return page("adbench_text.documents/_notebook.html", summary=summary, lists=lists, scale=scale)


def _script(marks: Mapping[str, str], id_name: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the script of the page, its digest and its data. The digest forbids any other script."""
    code = files(__package__).joinpath("_marks.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(code.encode()).digest()).decode()
    of_page = json.dumps(
        {"earlier": {no_formula(name): mark for name, mark in marks.items()}, "name": id_name}
    )
    # the browser stores the marks of this page under this key
    key = sha256(json.dumps([*ids, of_page]).encode()).hexdigest()[:16]
    return {"code": code, "digest": f"sha256-{digest}", "key": key, "marks": of_page}


def _fitting(documents: Sequence[PageDocument], most_bytes: float) -> Iterator[_OnPage]:
    """Yield the first documents, as many as fit on a page and at least one."""
    n_bytes = 0
    for number, shown in enumerate(_OnPage.each(documents)):
        n_bytes += shown.n_bytes
        if number and n_bytes > most_bytes:
            return
        yield shown


def _part(text: str, odd: Sequence[int], n_characters: int) -> _Part:
    """Return the part of a text with the most odd words, or its beginning. `odd` has their positions."""
    start = 0
    if len(text) > n_characters:
        n_before = int(_SHARE_BEFORE * n_characters)
        n_after = n_characters - n_before
        # the odd word that is followed by the most odd words within the part
        first_odd = max(
            odd, key=lambda place: sum(place <= each < place + n_after for each in odd), default=0
        )
        before = text[:first_odd][-n_before:]
        if first_odd > n_before:
            before = before.partition(" ")[2]  # the first word may be cut
        start = first_odd - len(before)
    shown, n_left_out = cut(text[start:].lstrip(), n_characters)
    start = text.index(shown, start)
    return _Part(start, start + len(shown), n_left_out)
