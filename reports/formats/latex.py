"""Tables in LaTeX, to be put into a document; the best of a row in bold.

Tables do not float: LaTeX gives up if there are too many floats without text between them.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate, pairwise
from textwrap import wrap

from pandas import DataFrame, MultiIndex

from adbench_text.escaping import one_line
from adbench_text.reports.report import Entry, Report, Table

# Lengths are in characters. In type of 10 points, texts rarely need more than 5.5 points for one.
_LINE = int(345 / 5.5)  # of an article
_GAP = 2  # between two columns
_HEAD, _ENTRY = 12, 18  # longer ones are wrapped; two labels and a figure fit into a line
_PAGE = 30  # lines; a longer table breaks between pages

_NAME_PART = re.compile(r"(?<=\w[(:=/,])(?=\w)")
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
        parts = _parts(table) if table.header else []
        for number, part in enumerate(parts, 1):
            blocks.append(_table(part, number > 1, table.notes if number == len(parts) else []))
    if report.notes:
        items = [rf"\item {escape(note)}" for note in report.notes]
        blocks.append("\n".join([r"\begin{itemize}\raggedright", *items, r"\end{itemize}"]))
    return "\n\n".join(blocks) + "\n"


def _parts(table: Table) -> list[Table]:
    """Cut a table between columns until each part fits into a line, with the titles of its blocks."""
    parts = [table]
    for line in range(_LINE, 0, -1):
        parts = [table.with_columns(columns) for columns in table.parts(_lengths(table), line)]
        if all(_length(part) <= _LINE for part in parts):
            break
    return parts


def _length(table: Table) -> int:
    """Return the length of a line of a table; the title of a block may be longer than its columns."""
    lengths = _lengths(table)
    blocks = [(title, sum(lengths[start:end])) for title, start, end in _spans(table)]
    return sum(lengths) + sum(max(0, len(title) + _GAP - length) for title, length in blocks)


def _lengths(table: Table) -> list[int]:
    """Return the length of each column, with the space beside it."""
    lengths = [max(map(len, _wrapped(head, _HEAD))) for head in table.header]
    for row in table.rows:
        of_row = [max(map(len, _wrapped(entry.text, _ENTRY))) for entry in row]
        lengths = list(map(max, lengths, of_row))
    return [length + _GAP for length in lengths]


def _spans(table: Table) -> list[tuple[str, int, int]]:
    """Return the title of each block, its first column, and the one after its last."""
    ends = accumulate((n for _, n in table.blocks), initial=table.n_labels)
    return [(title, *span) for (title, _), span in zip(table.blocks, pairwise(ends), strict=True)]


def _table(table: Table, is_later: bool, notes: Sequence[str]) -> str:
    """Return a part of a table as an environment; the later parts share the number of the first."""
    sides = "l" * table.n_labels + "r" * (len(table.header) - table.n_labels)
    heads = [_stacked(head, _HEAD, side) for head, side in zip(table.header, sides, strict=True)]
    titles = [""] * len(heads)
    for title, start, end in reversed(_spans(table)):
        titles[start:end] = [escape(title)] * (end - start)
        heads[0] = rf"\cmidrule(lr){{{start + 1}-{end}}} {heads[0]}"
    rows = [[_entry(entry, side) for entry, side in zip(row, sides, strict=True)] for row in table.rows]
    for start in table.group_starts - {0}:
        rows[start][0] = rf"\addlinespace {rows[start][0]}"
    frame = DataFrame(rows, columns=MultiIndex.from_arrays([titles, heads]) if table.blocks else heads)
    lines = [max(len(_wrapped(entry.text, _ENTRY)) for entry in row) for row in table.rows]
    is_long = sum(lines) + sum(len(wrap(note, _LINE)) for note in notes) > _PAGE
    # a label has no numbers and nothing after a comma: the next report has other ones
    words = re.findall("[a-z]+", table.title.partition(",")[0].lower())
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


def _entry(entry: Entry, side: str) -> str:
    text = _stacked(entry.text, _ENTRY, side)
    return rf"\textbf{{{text}}}" if entry.best else text


def _stacked(text: str, length: int, side: str) -> str:
    """Return a text of a table; one that is longer than this in several lines."""
    first, *others = map(escape, _wrapped(text, length))
    lines = r" \\ ".join([first, *others])
    return rf"\begin{{tabular}}[t]{{@{{}}{side}@{{}}}}{lines}\end{{tabular}}" if others else first


def _wrapped(text: str, length: int) -> list[str]:
    """Cut a text into lines, between words or parts of a name if that is possible."""
    line = one_line(text)
    if len(line) <= length:
        return [line]
    # wrap knows no break without a space: a vertical tab is one
    lines = wrap(_NAME_PART.sub("\v", line), length, replace_whitespace=False)
    return [line.replace("\v", "") for line in lines]


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
