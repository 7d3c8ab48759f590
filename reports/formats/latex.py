"""Tables in LaTeX for a document; the best of a row in bold.

A wide table is as wide as its columns are: its author scales it, or leaves columns out of the report. A long
one breaks between pages. Tables do not float: LaTeX gives up if there are too many floats without text
between them.
"""

import re
import unicodedata
from itertools import accumulate, pairwise
from textwrap import wrap

from pandas import DataFrame, MultiIndex

from adbench_text.escaping import one_line
from adbench_text.reports.report import Entry, Report, Table
from adbench_text.reports.wrapping import wrapped

_NOTE = 62  # characters of a note in a line
_PAGE = 30  # lines; a longer table breaks between pages
_HEAD, _ENTRY = 12, 18  # characters, above which heads and entries are wrapped

_LETTERS = re.compile("[a-z]+")
_LIGATURE = re.compile("(?<=[-',])(?=[-',])")  # LaTeX would merge these characters
# Characters outside ASCII that pdflatex prints without a package.
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
    "[": "{[}",  # after the end of a row it would begin an option; so would a star
    "*": "{*}",
    "−": "$-$",
    "★": r"$\star$",
}


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the tables for a document, in UTF-8.

    Characters that pdflatex cannot print become question marks.
    """
    facts = [*filter(None, [report.headline]), *(f"{name}: {value}" for name, value in report.provenance)]
    needs = r"% needs \usepackage{booktabs,float,longtable}"
    blocks = ["\n".join([needs, *(f"% {one_line(fact)}" for fact in facts)])]
    blocks += [_table(table) for table in report.tables if table.header]
    if report.notes:
        items = [rf"\item {escape(note)}" for note in report.notes]
        blocks.append("\n".join([r"\begin{itemize}\raggedright", *items, r"\end{itemize}"]))
    return "\n\n".join(blocks) + "\n"


def _table(table: Table) -> str:
    """Return a table as a LaTeX environment."""
    sides = "l" * table.n_labels + "r" * (len(table.header) - table.n_labels)
    heads = [
        _bold(_stacked(head, _HEAD, side), table.is_ours(head))
        for head, side in zip(table.header, sides, strict=True)
    ]
    titles = [""] * len(heads)
    ends = accumulate((n for _, n in table.blocks), initial=table.n_labels)
    # pandas has no lines between rows, so the first cell of a row begins with the line above it
    for (title, _), (start, end) in reversed([*zip(table.blocks, pairwise(ends), strict=True)]):
        n = end - start
        titles[start:end] = [_stacked(title, n * _HEAD, "c" if n > 1 else "r", "b")] * n
        heads[0] = rf"\cmidrule(lr){{{start + 1}-{end}}} {heads[0]}"
    rows = [
        [
            _bold(_stacked(entry.text, _ENTRY, side), _is_bold(table, entry))
            for entry, side in zip(row, sides, strict=True)
        ]
        for row in table.rows
    ]
    for start in table.group_starts - {0}:
        rows[start][0] = rf"\addlinespace {rows[start][0]}"
    frame = DataFrame(rows, columns=MultiIndex.from_arrays([titles, heads]) if table.blocks else heads)
    lines = [max(len(wrapped(entry.text, _ENTRY)) for entry in row) for row in table.rows]
    is_long = sum(lines) + sum(len(wrap(note, _NOTE)) for note in table.notes) > _PAGE
    # a label has no numbers and ends at a comma, so that it is the same in the next report
    words = _LETTERS.findall(table.title.partition(",")[0].lower())
    latex = frame.style.hide(axis="index").to_latex(
        column_format=sides,
        hrules=True,
        caption=escape(table.title) or None,
        label=f"tab:{'-'.join(words)}" if table.title else None,
        multicol_align="c",
        environment="longtable" if is_long else "table",
        position=None if is_long else "H",
        position_float=None if is_long else "centering",
    )
    if is_long and not table.title:  # longtable numbers a table without a caption, too
        latex = f"\\addtocounter{{table}}{{-1}}\n{latex}"
    below = "".join(f"\\par{{\\footnotesize\\raggedright {escape(note)}\\par}}\n" for note in table.notes)
    closing = "" if is_long else "\\end{table}\n"
    return f"{latex.removesuffix(closing)}{below}{closing}".rstrip("\n")


def _is_bold(table: Table, entry: Entry) -> bool:
    """Return whether an entry is the best, or names a marked detector."""
    return entry.best or table.is_ours(entry)


def _bold(text: str, is_bold: bool) -> str:
    """Return LaTeX for a text that is bold or not."""
    return rf"\textbf{{{text}}}" if is_bold else text


def _stacked(text: str, limit: int, side: str, aligned: str = "t") -> str:
    """Return a text of a table, in several lines if it is longer than the limit."""
    first, *others = map(escape, wrapped(text, limit))
    lines = r" \\ ".join([first, *others])
    begin = rf"\begin{{tabular}}[{aligned}]{{@{{}}{side}@{{}}}}"
    return rf"{begin}{lines}\end{{tabular}}" if others else first


def escape(text: str) -> str:
    """Return a text in one line, escaped for pdflatex."""
    plain = "".join(map(_printed, unicodedata.normalize("NFC", one_line(text))))
    return _LIGATURE.sub("{}", "".join(_COMMANDS.get(character, character) for character in plain))


def _printed(character: str) -> str:
    """Return a character if pdflatex prints it, otherwise its base without accents, or a question mark."""
    if character.isascii() or character in _PRINTED or character in _COMMANDS:
        return character
    base = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c))
    return base if base.isascii() else "?"
