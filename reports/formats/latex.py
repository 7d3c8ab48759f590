"""Tables in LaTeX, to be put into a document; the best of a row in bold.

Tables do not float: LaTeX gives up if there are too many floats without text between them.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from textwrap import wrap

from pandas import DataFrame, MultiIndex

from adbench_text.escaping import one_line
from adbench_text.reports.report import Entry, Report, Table
from adbench_text.reports.wrapping import wrapped

_LINE = 345.0  # points, of an article
_GAP = 12.0  # points, between two columns
_NOTE = 62  # characters of a note in a line
_PAGE = 30  # lines; a longer table breaks between pages
# Heads and entries with more characters are wrapped; two labels and a figure fit into a line. The later
# limits are for tables that are cut into fewer parts by them.
_LIMITS = (12, 18), (12, 12), (8, 12)
_WORD = 12  # characters of a title that stay in one line

# Points that characters need in Computer Modern of 10 points, rounded up; its bold type needs more.
_POINTS = {
    character: points
    for points, characters in {
        2.8: "!',.:;[]`il|‘’",
        3.4: " fj-",
        4.0: "I()trs_",
        4.5: "cez†‡",
        5.0: '$*/0123456789\\^ago{}~?"–“”★',
        5.6: "JSbdhknpquvxy",
        7.4: "BCEFLPRTZw",
        7.9: "ADGHKNOQUVXY&+=@<>±−",
        8.4: "#%m",
        10.3: "MW",
    }.items()
    for character in characters
}
_OTHER, _BOLD = 12.0, 1.18

_LETTERS = re.compile("[a-z]+")
_LIGATURE = re.compile("(?<=[-',])(?=[-',])")  # where LaTeX makes one character of two
# Characters that pdflatex prints without a package, besides those of ASCII.
_PRINTED = {chr(code) for code in range(0xA1, 0x180)} - set("«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ") | set("†‡–—…“”‘’€")
_COMMANDS = {character: f"\\{character}" for character in "{}$&#%_"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedblright{}",
    "[": "{[}",  # after the end of a row it would begin an option, and a star would be one
    "*": "{*}",
    "−": "$-$",
    "★": r"$\star$",
}


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the tables to be put into a document, in UTF-8.

    A table that is wider than a line is cut between columns. What pdflatex cannot print is a question mark.
    """
    facts = [*filter(None, [report.headline]), *(f"{name}: {value}" for name, value in report.provenance)]
    needs = r"% needs \usepackage{booktabs,float,longtable}"
    blocks = ["\n".join([needs, *(f"% {one_line(fact)}" for fact in facts)])]
    for table in report.tables:
        if not table.header:
            continue
        limits, parts = min(((each, _parts(table, each)) for each in _LIMITS), key=lambda cut: len(cut[1]))
        for number, part in enumerate(parts, 1):
            blocks.append(_table(part, limits, number > 1, table.notes if number == len(parts) else []))
    if report.notes:
        items = [rf"\item {escape(note)}" for note in report.notes]
        blocks.append("\n".join([r"\begin{itemize}\raggedright", *items, r"\end{itemize}"]))
    return "\n\n".join(blocks) + "\n"


def _parts(table: Table, limits: tuple[int, int]) -> list[Table]:
    """Cut a table between columns until each part fits into a line, with the titles of its blocks."""
    lengths, heads = _lengths(table, limits), replace(table, rows=[])

    def is_too_wide(columns: list[int]) -> bool:
        return _length(heads.with_columns(columns), [lengths[each] for each in columns]) > _LINE

    return [table.with_columns(columns) for columns in table.parts(is_too_wide)]


def _length(table: Table, lengths: Sequence[float]) -> float:
    """Return the length of a line of a table; the title of a block may be longer than its columns."""
    titles = [
        max(map(points_of, wrapped(title, _title_limit(length)))) - length
        for title, length in _blocks(table, lengths)
    ]
    return sum(lengths) + _GAP * len(lengths) + sum(extra for extra in titles if extra > 0)


def _lengths(table: Table, limits: tuple[int, int]) -> list[float]:
    """Return the points of each column, without the space beside it."""
    of_head, of_entry = limits
    lengths = [
        max(map(points_of, wrapped(head, of_head))) * (_BOLD if table.is_ours(head) else 1)
        for head in table.header
    ]
    for row in table.rows:
        of_row = [
            max(map(points_of, wrapped(entry.text, of_entry))) * (_BOLD if _is_bold(table, entry) else 1)
            for entry in row
        ]
        lengths = list(map(max, lengths, of_row))
    return lengths


def points_of(text: str) -> float:
    """Return the points that a text needs at most, accents above its letters."""
    characters = unicodedata.normalize("NFKD", text)
    return sum(_POINTS.get(each, _OTHER) for each in characters if not unicodedata.combining(each))


def _blocks(table: Table, lengths: Sequence[float]) -> list[tuple[str, float]]:
    """Return the title of each block and the points of its columns."""
    return [
        (title, sum(lengths[start:end]) + _GAP * (end - start - 1)) for title, start, end in _spans(table)
    ]


def _title_limit(length: float) -> int:
    """Return after how many characters a title over so many points is wrapped."""
    return max(_WORD, int(length / 5))


def _spans(table: Table) -> list[tuple[str, int, int]]:
    """Return the title of each block, its first column, and the one after its last."""
    ends = accumulate((n for _, n in table.blocks), initial=table.n_labels)
    return [(title, *span) for (title, _), span in zip(table.blocks, pairwise(ends), strict=True)]


def _table(table: Table, limits: tuple[int, int], is_later: bool, notes: Sequence[str]) -> str:
    """Return a part of a table as an environment; the later parts share the number of the first."""
    of_head, of_entry = limits
    sides = "l" * table.n_labels + "r" * (len(table.header) - table.n_labels)
    heads = [
        _bold(_stacked(head, of_head, side), table.is_ours(head))
        for head, side in zip(table.header, sides, strict=True)
    ]
    titles = [""] * len(heads)
    of_blocks = _blocks(table, _lengths(table, limits))
    for (title, start, end), (_, length) in reversed([*zip(_spans(table), of_blocks, strict=True)]):
        side = "c" if end - start > 1 else "r"
        titles[start:end] = [_stacked(title, _title_limit(length), side, "b")] * (end - start)
        heads[0] = rf"\cmidrule(lr){{{start + 1}-{end}}} {heads[0]}"
    rows = [
        [
            _bold(_stacked(entry.text, of_entry, side), _is_bold(table, entry))
            for entry, side in zip(row, sides, strict=True)
        ]
        for row in table.rows
    ]
    for start in table.group_starts - {0}:
        rows[start][0] = rf"\addlinespace {rows[start][0]}"
    frame = DataFrame(rows, columns=MultiIndex.from_arrays([titles, heads]) if table.blocks else heads)
    lines = [max(len(wrapped(entry.text, of_entry)) for entry in row) for row in table.rows]
    is_long = sum(lines) + sum(len(wrap(note, _NOTE)) for note in notes) > _PAGE
    # a label has no numbers and nothing after a comma: the next report has other ones
    words = _LETTERS.findall(table.title.partition(",")[0].lower())
    latex = frame.style.hide(axis="index").to_latex(
        column_format=sides,
        hrules=True,
        caption=escape(table.title + " (continued)" * is_later) or None,
        label=f"tab:{'-'.join(words)}" if table.title and not is_later else None,
        multicol_align="c",
        environment="longtable" if is_long else "table",
        position=None if is_long else "H",
        position_float=None if is_long else "centering",
    )
    if is_later if table.title else is_long:  # longtable numbers a table without a caption, too
        latex = f"\\addtocounter{{table}}{{-1}}\n{latex}"
    below = "".join(f"\\par{{\\footnotesize\\raggedright {escape(note)}\\par}}\n" for note in notes)
    closing = "" if is_long else "\\end{table}\n"
    return f"{latex.removesuffix(closing)}{below}{closing}".rstrip("\n")


def _is_bold(table: Table, entry: Entry) -> bool:
    return entry.best or table.is_ours(entry)


def _bold(text: str, is_bold: bool) -> str:
    return rf"\textbf{{{text}}}" if is_bold else text


def _stacked(text: str, limit: int, side: str, aligned: str = "t") -> str:
    """Return a text of a table; one that is longer than the limit in several lines."""
    first, *others = map(escape, wrapped(text, limit))
    lines = r" \\ ".join([first, *others])
    begin = rf"\begin{{tabular}}[{aligned}]{{@{{}}{side}@{{}}}}"
    return rf"{begin}{lines}\end{{tabular}}" if others else first


def escape(text: str) -> str:
    """Return a text as pdflatex prints it, in one line."""
    plain = "".join(map(_printed, unicodedata.normalize("NFC", one_line(text))))
    return _LIGATURE.sub("{}", "".join(_COMMANDS.get(character, character) for character in plain))


def _printed(character: str) -> str:
    """Return a character that pdflatex prints, else it without its accent, else a question mark."""
    if character.isascii() or character in _PRINTED or character in _COMMANDS:
        return character
    base = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c))
    return base if base.isascii() else "?"
