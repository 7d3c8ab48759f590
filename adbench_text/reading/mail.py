"""Read mails with Python's ``email``: the text for readers, without headers and attachments."""

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.parser import BytesHeaderParser
from email.policy import EmailPolicy
from html import unescape
from pathlib import PurePath
from typing import Any, BinaryIO

from adbench_text.reading.batch import MOST_ROWS, Batch, batch_of
from adbench_text.reading.options import Losses

#: Suffixes of files with one mail.
SUFFIXES = (".eml", ".emlx")
LARGEST = 200_000_000  # bytes of a mail; later bytes, such as attachments, are cut
_MAILDIR = ("cur", "new")  # folders of a maildir
_TEXTS = ("text/plain", "text/html")
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
# the headers before the text of a mail, and headers that other texts do not have
_HEADERS = re.compile(rb"(?:[!-9;-~]++:[^\n]*+\n?+(?:[ \t][^\n]*+\n?+)*+)++")
_BEGINNING = re.compile(
    rb"^(Return-Path|Received|Delivered-To|Message-ID|MIME-Version|X-Original-To): ",
    re.IGNORECASE | re.MULTILINE,
)
# the line before a mail in mbox ends with a date: From ann@sea.org Mon Jan  5 09:00:00 2026
_FROM = re.compile(rb"From \S(?>.*?\d\d:\d\d).*?\d{4}")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_LONGEST_HEADER = 1000  # characters; parsing takes more than linear time; RFC 5322 allows 998 in a line
_LONGEST_SUBJECT = 100_000
_MOST_COMMENTS = 100  # comments in a header; the parser is recursive for nested comments
# the attributes of a tag, up to its end; a > in quotes does not end it
_ATTRIBUTES = r"""(?:=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)|[^>/]|/(?!>))*+"""
# The invisible parts of a page. As in a browser, a part that is not closed continues to the end of the page.
_MARKUP = re.compile(
    rf"""<!--(?:-?>|.*?(?:--\s*+!?>|\Z))
    |<(?P<unseen>script|style|title)(?=[\s/>]){_ATTRIBUTES}(?:/>|>(?:.*?(?=</(?P=unseen)[\s/>])|.*))?
    |</?(?P<tag>[a-z][^\s/>]*+){_ATTRIBUTES}/?>?
    |<[!?/][^>]*+>?""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
# The first line of an .emlx file of Apple Mail has the size of the mail; XML with flags follows the mail.
_OF_APPLE = re.compile(rb"([0-9]{1,12})[ \t]*\r?\n")
_MANY_DIGITS = re.compile("&#[0-9]{100,};?")  # not a character
_BLOCKS = ("p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "table", "blockquote", "pre")


def is_mail(name: str, start: bytes) -> bool:
    """Return whether a file is a mail, by its name, or by its headers if the name has no suffix."""
    path = PurePath(name)
    if path.suffix.lower() in SUFFIXES or path.parent.name in _MAILDIR:
        return True
    head = _BLANK_LINE.split(start, 1)[0]
    return not path.suffix[1:].isalpha() and bool(_HEADERS.fullmatch(head) and _BEGINNING.search(head))


class _Policy(EmailPolicy):
    """Parses the headers of a mail. A header that cannot be parsed is empty."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        """Return a parsed header; one that takes too long to parse is cut or empty."""
        if name.lower() == "subject":
            value = value[:_LONGEST_SUBJECT]
        else:
            value = value[:_LONGEST_HEADER] if value.count("(") <= _MOST_COMMENTS else ""
        try:
            return super().header_fetch_parse(name, value)
        except RecursionError:  # the parts of the mail are nested too deeply: `row` reads its raw text
            raise
        except Exception:  # the library raises many types of errors
            return super().header_fetch_parse(name, "")


_POLICY = _Policy()


def row(data: bytes, place: str, losses: Losses) -> dict[str, Any]:
    """Return the columns ``subject`` and ``text`` of a mail, and count its attachments."""
    if place.lower().endswith(".emlx") and (of_apple := _OF_APPLE.match(data)):
        data = data[of_apple.end() :][: int(of_apple[1])]
    try:
        mail: Any = message_from_bytes(data, policy=_POLICY)
        n_attachments, texts = _read(mail)
    except RecursionError:  # hundreds of nested parts: read the raw text
        mail = BytesHeaderParser(policy=_POLICY).parsebytes(data)
        del mail["Content-Type"]
        n_attachments, texts = _read(mail)
    for _ in range(n_attachments):
        losses.add("attachments", place)
    text = "\n".join(texts).replace("\r\n", "\n")
    return {"subject": str(mail.get("subject") or ""), "text": text}


def _read(part: Any) -> tuple[int, list[str]]:
    """Return the number of attachments of a mail or of its part, and the texts that a reader sees."""
    kind = part.get_content_type()
    if _is_attached(part) or kind.startswith("message/"):
        return 1, []
    if not part.is_multipart():
        if kind.startswith("multipart/"):  # without a boundary, no part can be found
            return 0, [str(part.get_payload())]
        if kind not in _TEXTS:
            return 1, []
        text = _content(part)
        return 0, [html_text(text) if kind == "text/html" else text]
    parts = [*part.iter_parts()]
    if kind == "multipart/alternative":
        # the plain text comes first; other forms, such as an invitation for a calendar, are no attachments
        parts = sorted(filter(_is_text_or_attached, parts), key=_is_no_plain_text)
    elif kind in ("multipart/related", "multipart/signed"):  # the pictures of a page follow, or a signature
        parts = parts[:1] + [each for each in parts[1:] if _is_attached(each)]
    read = [_read(each) for each in parts]
    texts = [found for _, found in read if "".join(found).strip()]
    shown = texts[:1] if kind == "multipart/alternative" else texts
    return sum(n for n, _ in read), [text for found in shown for text in found]


def _is_attached(part: Any) -> bool:
    return bool(part.get_content_disposition() == "attachment")


def _is_text_or_attached(part: Any) -> bool:
    return part.is_multipart() or part.get_content_type() in _TEXTS or _is_attached(part)


def _is_no_plain_text(part: Any) -> bool:
    return bool(part.get_content_type() != "text/plain")


def _content(part: Any) -> str:
    """Return the text of a part. If its encoding is wrong, it is read as UTF-8 with U+FFFD."""
    try:
        return str(part.get_content())
    except (LookupError, ValueError):
        payload = part.get_payload(decode=True) or b""
        return str(payload.decode(errors="replace"))


def html_text(page: str) -> str:
    r"""Return the visible text of an HTML page.

    >>> html_text("<style>p {color: red}</style><p>Dear&nbsp;all,<br>the ferry leaves at nine.</p>")
    'Dear\xa0all,\nthe ferry leaves at nine.'
    """
    parts, end = [], 0
    for markup in _MARKUP.finditer(page):
        parts.append(_unescaped(page[end : markup.start()]))
        if (markup["tag"] or "").lower() in _BLOCKS:
            parts.append("\n")
        end = markup.end()
    lines = "".join([*parts, _unescaped(page[end:])]).split("\n")
    return "\n".join(filter(None, map(str.strip, lines)))


def _unescaped(text: str) -> str:
    """Replace the entities of a page by characters."""
    return unescape(_MANY_DIGITS.sub("\ufffd", text))


def batches(stream: BinaryIO, name: str, losses: Losses) -> Iterator[Batch]:
    """Yield the mails of an mbox file."""
    rows: list[dict[str, Any]] = []
    begin = 1
    for data in _mails(stream):
        rows.append(row(data, f"{name}, mail {begin + len(rows):,}", losses))
        if len(rows) == MOST_ROWS:
            yield batch_of(rows, range(begin, begin + len(rows)), name, "mail")
            begin, rows = begin + len(rows), []
    if rows:
        yield batch_of(rows, range(begin, begin + len(rows)), name, "mail")


def _mails(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of each mail, up to `LARGEST`."""
    mail: list[bytes] | None = None
    n_bytes = 0
    while line := stream.readline(LARGEST):
        if line.startswith(b"From ") and _FROM.match(line):
            if mail is not None:
                yield _QUOTED_FROM.sub(rb"\1", b"".join(mail))
            mail, n_bytes = [], 0
        elif mail is not None and n_bytes < LARGEST:
            mail.append(line)
            n_bytes += len(line)
    if mail is not None:
        yield _QUOTED_FROM.sub(rb"\1", b"".join(mail))
