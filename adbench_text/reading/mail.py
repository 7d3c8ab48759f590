"""Mails, decoded by Python's ``email``: the text for people, without headers and attachments."""

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import PurePath
from typing import Any, BinaryIO

from adbench_text.reading.batch import MOST_ROWS, Batch, batch_of
from adbench_text.reading.options import Losses

#: What the name of a file with a mail ends with.
SUFFIXES = (".eml", ".emlx")
LARGEST = 200_000_000  # bytes of a mail; what is after them, such as attachments, is cut off
_MAILDIR = ("cur", "new")  # folders of a maildir
# the lines before the text of a mail, and one that other texts do not have
_HEADERS = re.compile(rb"(?:[!-9;-~]+:[^\n]*\n?(?:[ \t][^\n]*\n?)*)+")
_BEGINNING = re.compile(
    rb"^(Return-Path|Received|Delivered-To|Message-ID|MIME-Version|X-Original-To): ",
    re.IGNORECASE | re.MULTILINE,
)
# the line before a mail in mbox ends with a date: From ann@sea.org Mon Jan  5 09:00:00 2026
_FROM = re.compile(rb"From \S.*\d\d:\d\d.*\d{4}.*")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_UNSEEN = ("script", "style", "title")
_BLOCKS = ("p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "table", "blockquote", "pre")


def is_mail(name: str, start: bytes) -> bool:
    """Return whether a file is a mail, by its name, or its first line if the name says nothing."""
    path = PurePath(name)
    if path.suffix.lower() in SUFFIXES or path.parent.name in _MAILDIR:
        return True
    head = re.split(rb"\r?\n\r?\n", start)[0]
    return not path.suffix[1:].isalpha() and bool(_HEADERS.fullmatch(head) and _BEGINNING.search(head))


def row(data: bytes, place: str, losses: Losses) -> dict[str, Any]:
    """Return the columns ``subject`` and ``text`` of a mail; attachments are counted."""
    # the policy with all methods of EmailMessage; headers that are wrong are kept as they are
    mail: Any = message_from_bytes(data, policy=policy.default)
    body, text = None, ""
    for kind in ("plain", "html"):  # some have an empty text beside the page
        part = mail.get_body((kind,)) if isinstance(mail, EmailMessage) and not text.strip() else None
        if part is not None:
            body, text = part, _content(part)
            text = html_text(text) if kind == "html" else text
    for part in mail.walk():
        if part is not body and not part.is_multipart() and part.get_content_disposition() == "attachment":
            losses.add("attachments", place)
    try:
        subject = str(mail.get("subject") or "")
    except (ValueError, LookupError, IndexError):  # of a header that is no mail's
        subject = ""
    return {"subject": subject, "text": text.replace("\r\n", "\n")}


def _content(part: Any) -> str:
    """Return the text of a part, in the encoding that it names, or else with U+FFFD."""
    try:
        return str(part.get_content())
    except (LookupError, ValueError):
        payload = part.get_payload(decode=True) or b""
        return str(payload.decode(errors="replace"))


class _Text(HTMLParser):
    """Collects the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._n_unseen = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._n_unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.found.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._n_unseen = max(self._n_unseen - (tag in _UNSEEN), 0)
        if tag in _BLOCKS:
            self.found.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._n_unseen:
            self.found.append(data)


def html_text(page: str) -> str:
    r"""Return what a reader sees of a page.

    >>> html_text("<style>p {color: red}</style><p>Dear&nbsp;all,<br>the ferry leaves at nine.</p>")
    'Dear\xa0all,\nthe ferry leaves at nine.'
    """
    parser = _Text()
    parser.feed(page)
    parser.close()
    return re.sub(r"\s*\n\s*", "\n", "".join(parser.found)).strip()


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
    """Yield the bytes of each mail, at most `LARGEST`."""
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
