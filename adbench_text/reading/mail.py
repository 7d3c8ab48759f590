"""Mails, decoded by Python's ``email``: the text for people, without headers and attachments."""

import mailbox
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from adbench_text.reading.batch import MOST_ROWS, Batch, batch_of
from adbench_text.reading.options import Losses

#: What the name of a file with a mail ends with.
SUFFIXES = (".eml", ".emlx")
# what the first line of a mail has, and other texts do not
_BEGINNING = re.compile(
    rb"(Return-Path|Received|Delivered-To|Message-ID|MIME-Version|X-Original-To): ", re.IGNORECASE
)
_UNSEEN = ("script", "style", "head", "title")
_BLOCKS = ("p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "table", "blockquote", "pre")


def is_mail(name: str, start: bytes) -> bool:
    """Return whether a file is a mail, by its name, or its first line if the name says nothing."""
    suffix = Path(name).suffix.lower()
    return suffix in SUFFIXES or (not suffix[1:].isalpha() and bool(_BEGINNING.match(start)))


def row(data: bytes, place: str, losses: Losses) -> dict[str, Any]:
    """Return the columns ``subject`` and ``text`` of a mail; attachments are counted."""
    # the policy with all methods of EmailMessage; headers that are wrong are kept as they are
    mail: Any = message_from_bytes(data, policy=policy.default)
    body = mail.get_body(("plain", "html")) if isinstance(mail, EmailMessage) else None
    text = "" if body is None else _content(body)
    if body is not None and body.get_content_subtype() == "html":
        text = html_text(text)
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


def batches(file: Path, name: str, losses: Losses) -> Iterator[Batch]:
    """Yield the mails of an mbox file."""
    box = mailbox.mbox(file, create=False)
    rows: list[dict[str, Any]] = []
    begin = 1
    for key in box.keys():  # noqa: SIM118  # it has no iterator over keys
        rows.append(row(box.get_bytes(key), f"{name}, mail {begin + len(rows):,}", losses))
        if len(rows) == MOST_ROWS:
            yield batch_of(rows, range(begin, begin + len(rows)), name, "mail")
            begin, rows = begin + len(rows), []
    if rows:
        yield batch_of(rows, range(begin, begin + len(rows)), name, "mail")
