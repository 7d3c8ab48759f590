"""Folders of mails, and mbox files."""

import gzip
import mailbox
from email.message import EmailMessage

import pytest

from adbench_text.reading.documents import DocumentFile
from adbench_text.reading.mail import html_text

TEXT = "Dear all,\nthe bücket is full, the ferry leaves at nine.\n"
HTML = (
    "<html><head><style>p {color: red}</style></head><body><p>the b&uuml;cket</p><p>is full</p></body></html>"
)


def mail(text=TEXT, subject="ferries", **options):
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Ann <ann@sea.org>", "crew@sea.org"
    message.set_content(text, **options)
    return message


def html_alone():
    return mail(HTML, subtype="html")


def with_attachment():
    message = mail()
    message.add_attachment(b"\x89PNG" * 500, maintype="image", subtype="png", filename="a.png")
    return message


def both():
    message = mail()
    message.add_alternative(HTML, subtype="html")
    return message


MAILS = {
    "plain": (mail(), TEXT),
    "base64": (mail(cte="base64"), TEXT),
    "quoted-printable": (mail(cte="quoted-printable"), TEXT),
    "latin-1": (mail(charset="latin-1"), TEXT),
    "windows": (mail("a “quoted” word\n", charset="cp1252"), "a “quoted” word\n"),
    "html": (html_alone(), "the bücket\nis full"),
    "both": (both(), TEXT),
    "attachment": (with_attachment(), TEXT),
}


@pytest.mark.parametrize("kind", MAILS)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_mail_is_decoded(tmp_path, kind, end):
    message, text = MAILS[kind]
    (tmp_path / "1.eml").write_bytes(message.as_bytes().replace(b"\n", end))
    file = DocumentFile(str(tmp_path))
    table = file.table()
    assert [each.strip() for each in table.texts()] == [text.strip()]
    assert table.values("subject") == ["ferries"]
    assert table.ids == ["1.eml"]
    assert "1 of them mails" in file.description
    assert [note[:12] for note in file.late_notes] == ["1 attachment"] * (kind == "attachment")


def test_mails_and_other_files_may_be_in_one_folder(tmp_path):
    (tmp_path / "a.txt").write_text("a note")
    (tmp_path / "b.eml").write_bytes(mail(subject="=?utf-8?q?F=C3=A4hren?=").as_bytes())
    (tmp_path / "c").write_bytes(
        b"Received: from here\n" + mail("the crew\n").as_bytes()
    )  # as a server keeps it
    (tmp_path / "d").write_text("Subject: words that a person wrote\n")
    table = DocumentFile(str(tmp_path)).table()
    assert list(table.texts()) == ["a note", TEXT, "the crew\n", "Subject: words that a person wrote\n"]
    assert table.values("subject") == [None, "Fähren", "ferries", None]


def test_a_broken_mail_is_read_as_far_as_it_goes(tmp_path):
    header = b"Subject: \xff\xfe\nContent-Type: text/plain; charset=nothing"
    (tmp_path / "a.eml").write_bytes(header + b"\n\ncaf\xe9 and tea\n")
    (tmp_path / "b.eml").write_bytes(b"")
    (tmp_path / "c.eml").write_bytes(b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\nthe crew\n")
    table = DocumentFile(str(tmp_path)).table()
    assert list(table.texts()) == ["caf\ufffd and tea\n", "", "the crew"]


NESTED = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(1000))


@pytest.mark.parametrize(
    ("head", "body", "text"),
    [
        (f"Content-Type: text/plain; {'(' * 900}", "the crew", "the crew"),
        (f"Content-Disposition: {'(' * 5000}", "the crew", "the crew"),
        (NESTED.removesuffix("\n"), "the crew", NESTED.partition("\n\n")[2] + "\nthe crew"),
        ("Content-Type: text/html", "<![x the crew", ""),
        ("Content-Type: text/html", f"the &#{'9' * 5000}; crew", "the \ufffd crew"),
        ("Content-Type: text/html", "the crew <a <a href='", "the crew"),
    ],
    ids=["comments", "more comments", "parts within parts", "a declaration", "digits", "tags"],
)
def test_a_mail_that_pythons_parser_fails_at_is_read(tmp_path, head, body, text):
    (tmp_path / "a.eml").write_text(f"Subject: ferries\n{head}\n\n{body}")
    table = DocumentFile(str(tmp_path)).table()
    assert (*table.texts(), *table.values("subject")) == (text, "ferries")


def part(kind, content="", *more):
    return f"--b\nContent-Type: {kind}\n{''.join(f'{line}' + chr(10) for line in more)}\n{content}\n"


ATTACHED = "Content-Disposition: attachment; filename=a.pdf"
INNER = (
    'multipart/alternative; boundary="c"\n\n--c\nContent-Type: text/plain\n\nplain\n'
    "--c\nContent-Type: {}\n\n{}\n--c--"
)


@pytest.mark.parametrize(
    ("kind", "parts", "text", "n_attachments"),
    [
        ("mixed", [part("text/plain", "one"), part("image/png"), part("text/plain", "two")], "one\ntwo", 1),
        ("mixed", [part("text/html", "<p>one</p>"), part("text/plain", "the list")], "one\nthe list", 0),
        ("mixed", [part("text/plain", "one"), part("application/pdf", "%PDF")], "one", 1),
        ("mixed", [part("text/plain", "one"), part("text/plain", "two", ATTACHED)], "one", 1),
        ("mixed", [part("text/plain", "one"), part("message/rfc822", "Subject: x\n\ntwo")], "one\ntwo", 0),
        ("mixed", [part("text/plain", "one"), part("message/rfc822", "X: x\n\ntwo", ATTACHED)], "one", 1),
        (
            "digest",
            [part("message/rfc822", f"Subject: x\n\n{word}") for word in ("one", "two")],
            "one\ntwo",
            0,
        ),
        ("report", [part("text/plain", "one"), part("message/rfc822", "Subject: x\n\ntwo")], "one", 1),
        ("mixed", [part("text/enriched", "one")], "one", 0),
        ("mixed", [part("text/plain", "one"), part("multipart/related", "two")], "one\ntwo", 0),
        ("related", [part("text/html", "<p>one"), part("image/png"), part("text/x", "", ATTACHED)], "one", 1),
        (
            'related; start="<root>"',
            [part("image/png"), part("text/html", "<p>one", "Content-ID: <root>")],
            "one",
            0,
        ),
        ("signed", [part("text/plain", "one"), part("application/pgp-signature", "x")], "one", 0),
        ("mixed", [part(INNER.format("text/html", "<p>page"))], "plain", 0),
        ("alternative", [part("text/html", "<p>page"), part("text/calendar", "x")], "page", 0),
        ("alternative", [part("text/plain", " "), part("text/html", "<p>page")], "page", 0),
    ],
)
def test_a_mail_has_the_texts_that_a_reader_sees(tmp_path, kind, parts, text, n_attachments):
    head = f'Subject: ferries\nMIME-Version: 1.0\nContent-Type: multipart/{kind}; boundary="b"\n\n'
    (tmp_path / "a.eml").write_text(f"{head}{''.join(parts)}--b--\n")
    file = DocumentFile(str(tmp_path))
    assert [each.strip() for each in file.table().texts()] == [text]
    counted = [note for note in file.late_notes if "attachment" in note]
    assert [note.split()[0] for note in counted] == [str(n_attachments)] * (n_attachments > 0)


@pytest.mark.parametrize("kind", ["mixed", "related", "alternative"])
def test_a_mail_whose_parts_have_no_boundary_is_read_as_written(tmp_path, kind):
    (tmp_path / "a.eml").write_text(f"Subject: ferries\nContent-Type: multipart/{kind}\n\nthe crëw\n")
    assert list(DocumentFile(str(tmp_path)).table().texts()) == ["the crëw\n"]


@pytest.mark.parametrize(
    ("head", "body", "options", "text", "n_damaged"),
    [
        ("", "Grüße".encode(), {}, "Grüße", 0),
        ("Content-Type: text/plain; charset=us-ascii", "Grüße".encode(), {}, "Grüße", 0),
        ("Content-Type: text/plain; charset=utf-8", b"caf\xe9", {}, "caf\ufffd", 1),
        ("Content-Type: text/plain; charset=utf-8", b"caf\xe9", {"encoding": "cp1252"}, "café", 0),
        ("", b"caf\xe9", {"encoding": "latin-1"}, "café", 0),
        ("", b"caf\xe9", {}, "caf\ufffd", 1),
        ("Content-Type: text/plain; charset=iso-8859-1", b"It\x92s", {}, "It\u2019s", 0),
        ("Content-Type: text/plain; charset=iso-8859-1", b"It\x81s", {}, "It\x81s", 0),
        ("Content-Type: text/plain; charset=foo-bar", "café".encode(), {}, "café", 0),
        ("Content-Type: text/html", "<meta charset='windows-1251'>мир".encode("cp1251"), {}, "мир", 0),
        ("Content-Type: text/html", "<meta charset='utf-8'>мир".encode(), {}, "мир", 0),
    ],
)
def test_a_text_is_in_the_encoding_that_it_names_or_else_in_utf_8(
    tmp_path, head, body, options, text, n_damaged
):
    (tmp_path / "a.eml").write_bytes(
        b"Subject: Gr\xfc\xdfe\n" + head.encode() + b"\n\n" * bool(head) + b"\n" * (not head) + body
    )
    file = DocumentFile(str(tmp_path), "text", **options)
    table = file.table()
    assert (*table.texts(), *table.values("subject")) == (text, "Grüße")
    assert [note.split()[0] for note in file.late_notes if "bytes" in note] == ["1"] * n_damaged


def test_a_line_that_begins_with_from_begins_a_mail_only_after_a_blank_line(tmp_path):
    lines = ["From ann@sea.org Mon Jan  5 09:00:00 2026", "Subject: one", "", "The hours changed."]
    lines += ["From Monday at 10:00 onwards, tickets of 2026 are late.", "The end."]
    lines += ["From bob@sea.org Tue Jan  6 09:00:00 2026", "Subject: two", "", "The crew.", ""]
    lines += ["From - 09:00:00 2026", "Subject: three", "", "A storm.", ""]
    (tmp_path / "a.mbox").write_text("\n".join(lines))
    table = DocumentFile(str(tmp_path / "a.mbox"), "text").table()
    assert list(table.values("subject")) == ["one", "two", "three"]
    assert [text.count("\n") for text in table.texts()] == [3, 2, 1]


def test_an_mbox_file_has_a_row_for_each_mail(tmp_path):
    box = mailbox.mbox(tmp_path / "sent.mbox")
    for message, _ in MAILS.values():
        box.add(message)
    box.close()
    file = DocumentFile(str(tmp_path / "sent.mbox"))
    table = file.table()
    assert [each.strip() for each in table.texts()] == [text.strip() for _, text in MAILS.values()]
    assert table.place(2) == "sent.mbox, mail 3"
    assert file.late_notes[0].startswith("1 attachment")


def test_a_page_is_what_a_reader_sees():
    assert html_text(HTML) == "the bücket\nis full"
    assert html_text("one<br>two &lt;three&gt;<script>x = 1</script>") == "one\ntwo <three>"
    assert html_text("no tag at all") == "no tag at all"
    assert html_text("a < b <3 <p class='>'>c<!-- > -->d</P >e") == "a < b <3\ncd\ne"
    assert html_text('<!DOCTYPE html><title>T</title><img alt="a>b"/>c<SCRIPT>x</SCRIPT >d') == "cd"


def test_a_page_beside_an_empty_text_is_read(tmp_path):
    message = mail("\n")
    message.add_alternative("<html><head><title>T</title><body><p>the crew</p>", subtype="html")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    assert list(DocumentFile(str(tmp_path)).table().texts()) == ["the crew"]


def test_a_maildir_is_read(tmp_path):
    (tmp_path / "cur").mkdir()
    (tmp_path / "cur" / "1700000000.M0P1.host:2,S").write_bytes(
        b"From: a@b.c\n" + mail(cte="base64").as_bytes()
    )
    (tmp_path / "17").write_bytes(b"Date: today\nSubject: x\n y\nMIME-Version: 1.0\n\nthe crew\n")
    assert list(DocumentFile(str(tmp_path)).table().texts()) == ["the crew\n", TEXT]


@pytest.mark.parametrize("name", ["cur/1700000000.M0P1.host:2,S", "new/17", "a.eml", "B.EML"])
def test_a_name_tells_that_a_file_with_any_headers_is_a_mail(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("Subject: ferries\nX-Crew: two\n\nthe crew\n")
    table = DocumentFile(str(tmp_path)).table()
    assert (*table.texts(), *table.values("subject")) == ("the crew\n", "ferries")


def test_a_mail_of_apple_has_its_size_above_and_flags_below(tmp_path):
    data = mail().as_bytes()
    (tmp_path / "1.emlx").write_bytes(
        b"%d      \n%s<?xml version='1.0'?><plist><dict/></plist>\n" % (len(data), data)
    )
    table = DocumentFile(str(tmp_path)).table()
    assert (*table.texts(), *table.values("subject")) == (TEXT, "ferries")


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_of_a_mail_is_no_new_one(tmp_path, packed):
    box = mailbox.mbox(tmp_path / "a.mbox")
    box.add(mail("Dear all,\n\nFrom our garden, with love\n"))
    box.close()
    data = (tmp_path / "a.mbox").read_bytes().replace(b">From our", b"From our")
    path = tmp_path / ("a.mbox.gz" if packed else "a.mbox")
    path.write_bytes(gzip.compress(data) if packed else data)
    expected = ["Dear all,\n\nFrom our garden, with love\n\n"]
    assert [text.rstrip() for text in DocumentFile(str(path)).table().texts()] == [expected[0].rstrip()]
