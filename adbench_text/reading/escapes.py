"""Remove the escapes of other programs from texts: HTML entities, line breaks of databases, colours."""

import re
from collections.abc import Callable
from html import unescape
from html.entities import html5
from typing import TYPE_CHECKING

from adbench_text.reading.batch import Batch
from adbench_text.reading.options import Losses
from adbench_text.text.letters import without_escapes

if TYPE_CHECKING:
    import pyarrow as pa

_OBJECT = "\ufffc"  # stands for a picture or an attachment in a text
_ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});"
_ENTITIES = re.compile(_ENTITY)
_N_TIMES = 2  # entities may be escaped twice: &amp;nbsp;
# MySQL and PostgreSQL write every backslash of a text as two
_OF_DATABASES = r"""(?s)\A(?:[^\\]|\\[ntr0"'\\])*\z"""
_BREAK = r"\A(?:[^\\]|\\[^ntr])*\\[ntr]"
_NO_BREAK = (  # a path of Windows, or a formula
    r"(?i:(?:\A|[^a-z])[b-pr-z]:\\[^\\])|\\(?:theta|text[bir]|times|rho\b|right\b|neq\b|nabla|rangle)"
)
_ESCAPES = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": " "}


class Unescaped:
    r"""Replaces escapes in texts by their characters, and counts the changed texts.

    Backslashes are escapes of a database only if all backslashes of the table so far can be escapes. In
    ``C:\new`` it is a backslash.
    """

    def __init__(self, losses: Losses, is_table: bool) -> None:
        self._losses, self._may_be_database = losses, is_table

    def texts(self, texts: "pa.Array", batch: Batch) -> "pa.Array":
        """Return the texts of a batch without escapes; count the texts whose words may have changed."""
        import pyarrow.compute as pc

        data = _bytes(texts)  # searching bytes is ten times as fast as Arrow if nothing is found
        if b"\x1b" in data:
            texts = _changed(texts, pc.match_substring(texts, "\x1b"), without_escapes)
        if _OBJECT.encode() in data:
            has_object = pc.match_substring(texts, _OBJECT)
            texts = _changed(texts, has_object, lambda text: text.replace(_OBJECT, " "))
        if b"&" in data:
            has_entities = pc.match_substring_regex(texts, _ENTITY)
            texts = self._counted("entities", texts, has_entities, _entities, batch)
        if self._may_be_database and b"\\" in data:
            texts = self._of_database(texts, pc.match_substring(texts, "\\"), batch)
        return texts

    def _of_database(self, texts: "pa.Array", has_backslash: "pa.Array", batch: Batch) -> "pa.Array":
        """Return texts without the escapes of a database, or the same texts if a backslash is a character."""
        import pyarrow.compute as pc

        with_backslash = texts.filter(has_backslash)
        is_escaped = pc.match_substring_regex(with_backslash, _OF_DATABASES)
        is_other = pc.match_substring_regex(with_backslash, _NO_BREAK)
        self._may_be_database = pc.all(is_escaped).as_py() and not pc.any(is_other).as_py()
        if not self._may_be_database:
            return texts
        has_break = pc.match_substring_regex(texts, _BREAK)
        return self._counted("escapes", texts, has_break, _without_backslashes, batch)

    def _counted(
        self,
        kind: str,
        texts: "pa.Array",
        may_change: "pa.Array",
        change: Callable[[str], str],
        batch: Batch,
    ) -> "pa.Array":
        """Call `change` for the texts that may change; count those that do as a loss of this kind.

        `kind` is a kind of `Losses`.
        """
        import pyarrow.compute as pc

        before = texts
        texts = _changed(texts, may_change, change)
        if texts is not before:  # it is the same array if no text may change
            for index in pc.indices_nonzero(pc.not_equal(texts, before)).to_pylist():
                self._losses.add(kind, batch.place(index))
        return texts


def _bytes(texts: "pa.Array") -> bytes:
    """Return the UTF-8 of all texts of an array, whose offsets have 32 bits."""
    _, offsets, data = texts.buffers()
    if not data:
        return b""
    ends = memoryview(offsets).cast("i")
    start, end = ends[texts.offset], ends[texts.offset + len(texts)]
    return bytes(data.slice(start, end - start).to_pybytes())


def _changed(texts: "pa.Array", is_changed: "pa.Array", change: Callable[[str], str]) -> "pa.Array":
    """Return texts where a function has changed some."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.any(is_changed).as_py():
        return texts
    some = texts.filter(is_changed).to_pylist()
    return pc.replace_with_mask(
        texts, pc.fill_null(is_changed, False), pa.array([*map(change, some)], pa.string())
    )


def _entities(text: str) -> str:
    """Replace the HTML entities of a text by characters."""
    for _ in range(_N_TIMES):
        text = _ENTITIES.sub(_entity, text)
    return text


def _entity(match: re.Match[str]) -> str:
    """Return the character of an entity; an entity that HTML does not have stays."""
    entity = match[0]
    is_known = entity[1] == "#" or entity[1:] in html5
    return unescape(entity) if is_known else entity


def _without_backslashes(text: str) -> str:
    """Replace the escapes of a database in a text by characters."""
    return _ESCAPES.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), text)
