"""Read mails with Python's ``email``: the text for readers, without headers and attachments."""

import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.parser import BytesHeaderParser
from email.policy import EmailPolicy
from html import unescape
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple

from adbench_text.reading.batch import MOST_ROWS, Batch, batch_of
from adbench_text.reading.options import Losses

#: Suffixes of files with one mail.
SUFFIXES = (".eml", ".emlx")
LARGEST = 200_000_000  # bytes of a mail; later bytes, such as attachments, are cut
_MAILDIR = ("cur", "new")  # folders of a maildir
_NO_TEXTS = ("text/calendar", "text/csv", "text/vcard", "text/x-vcard")  # left out, like attachments
_CHARSET = re.compile(rb"""charset\s*+=\s*+["']?([\w-]+)""", re.IGNORECASE)  # of a page, in a tag meta
_LOOKED_AT = 2048  # bytes of a page
_LATIN = ("iso-8859-1", "latin-1", "latin1")  # they stand for cp1252, as in a browser
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
# the headers before the text of a mail, and headers that other texts do not have
_HEADERS = re.compile(rb"(?:[!-9;-~]++:[^\n]*+\n?+(?:[ \t][^\n]*+\n?+)*+)++")
_BEGINNING = re.compile(
    rb"^(Return-Path|Received|Delivered-To|Message-ID|MIME-Version|X-Original-To): ",
    re.IGNORECASE | re.MULTILINE,
)
# the line before a mail in mbox ends with a date: From ann@sea.org Mon Jan  5 09:00:00 2026
_FROM = re.compile(rb"From \S(?>.*?\d\d:\d\d).*?\d{4}")
_FULL_FROM = re.compile(rb"From \S+ +[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d")  # also within a mail
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
        value = _with_letters(value)
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


def _with_letters(header: str) -> str:
    """Decode the bytes of a header that are not ASCII: they are UTF-8, or else cp1252."""
    if header.isascii():
        return header
    data = header.encode("utf-8", "surrogateescape")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def row(data: bytes, place: str, losses: Losses, encoding: str) -> dict[str, Any]:
    """Return the columns ``subject`` and ``text`` of a mail, and count its attachments.

    `encoding` is for a text that is neither in the encoding that the mail names, nor in UTF-8. Bytes that are
    not text are replaced and counted.
    """
    if place.lower().endswith(".emlx") and (of_apple := _OF_APPLE.match(data)):
        data = data[of_apple.end() :][: int(of_apple[1])]
    try:
        mail: Any = message_from_bytes(data, policy=_POLICY)
        n_attachments, texts = _read(mail, encoding)
    except RecursionError:  # hundreds of nested parts: read the raw text
        mail = BytesHeaderParser(policy=_POLICY).parsebytes(data)
        del mail["Content-Type"]
        n_attachments, texts = _read(mail, encoding)
    if n_attachments:
        losses.add("attachments", place, n_attachments)
    text = "\n".join(each.text for each in texts).replace("\r\n", "\n")
    if any(each.is_damaged for each in texts):
        losses.add("mail bytes", place)
    return {"subject": str(mail.get("subject") or ""), "text": text}


class _Found(NamedTuple):
    """A text of a mail."""

    text: str
    is_damaged: bool = False  # whether bytes were replaced


def _read(part: Any, encoding: str) -> tuple[int, list[_Found]]:
    """Return the number of attachments of a mail or of its part, and the texts that a reader sees."""
    kind = part.get_content_type()
    if kind == "message/rfc822" and part.is_multipart() and not _is_attached(part):  # forwarded in the text
        return _read(part.get_payload(0), encoding)
    if _is_attached(part) or kind.startswith("message/"):
        return 1, []
    if not part.is_multipart():
        is_without_parts = kind.startswith("multipart/")  # without a boundary, no part can be found
        return (0, [_content(part, encoding)]) if is_without_parts or _is_text(part) else (1, [])
    parts = [*part.iter_parts()]
    n_left_out = 0
    if kind == "multipart/alternative":
        # the plain text comes first; an invitation for a calendar is the same text, so it is not counted
        parts = sorted(filter(_is_text_or_attached, parts), key=_is_no_plain_text)
    elif kind in ("multipart/related", "multipart/signed"):  # the pictures of a page follow, or a signature
        start = part.get_param("start")
        parts.sort(key=lambda each: start is not None and each["Content-ID"] != start)
        parts = parts[:1] + [each for each in parts[1:] if _is_attached(each)]
    elif kind == "multipart/report":  # the mail that was not delivered follows
        parts, n_left_out = parts[:1], len(parts[1:])
    read = [_read(each, encoding) for each in parts]
    texts = [found for _, found in read if any(each.text.strip() for each in found)]
    shown = texts[:1] if kind == "multipart/alternative" else texts
    return n_left_out + sum(n for n, _ in read), [each for found in shown for each in found]


def _is_attached(part: Any) -> bool:
    return bool(part.get_content_disposition() == "attachment")


def _is_text(part: Any) -> bool:
    return part.get_content_maintype() == "text" and part.get_content_type() not in _NO_TEXTS


def _is_text_or_attached(part: Any) -> bool:
    return part.is_multipart() or _is_text(part) or _is_attached(part)


def _is_no_plain_text(part: Any) -> bool:
    return bool(part.get_content_type() != "text/plain")


def _content(part: Any, encoding: str) -> _Found:
    """Return the text of a part, see `row`."""
    data: bytes = part.get_payload(decode=True) or b""
    is_page = part.get_content_type() == "text/html"
    named = part.get_content_charset("")
    if is_page and not named and (found := _CHARSET.search(data[:_LOOKED_AT])):
        named = found[1].decode().lower()
    text = None
    for name in ("cp1252" if named in _LATIN else named, named, "utf-8", encoding):
        if text is None and name:
            with suppress(LookupError, ValueError):  # no such encoding, or wrong bytes
                text = data.decode(name)
    is_damaged = text is None
    text = data.decode(errors="replace") if text is None else text
    return _Found(html_text(text) if is_page else text, is_damaged)


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


def batches(stream: BinaryIO, name: str, losses: Losses, encoding: str) -> Iterator[Batch]:
    """Yield the mails of an mbox file; `encoding` is the one of `row`."""
    rows: list[dict[str, Any]] = []
    begin = 1
    for data in _mails(stream):
        rows.append(row(data, f"{name}, mail {begin + len(rows):,}", losses, encoding))
        if len(rows) == MOST_ROWS:
            yield batch_of(rows, range(begin, begin + len(rows)), name, "mail")
            begin, rows = begin + len(rows), []
    if rows:
        yield batch_of(rows, range(begin, begin + len(rows)), name, "mail")


def _mails(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of each mail, up to `LARGEST`."""
    mail: list[bytes] | None = None
    n_bytes, is_after_blank = 0, True
    while line := stream.readline(LARGEST):
        begins = _FROM.match(line) if is_after_blank else _FULL_FROM.match(line)
        is_after_blank = not line.strip()
        if begins:
            if mail is not None:
                yield _QUOTED_FROM.sub(rb"\1", b"".join(mail))
            mail, n_bytes = [], 0
        elif mail is not None and n_bytes < LARGEST:
            mail.append(line)
            n_bytes += len(line)
    if mail is not None:
        yield _QUOTED_FROM.sub(rb"\1", b"".join(mail))
