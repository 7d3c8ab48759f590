"""Tables in LaTeX with booktabs, a document that compiles as it is; the best of a row in bold."""

import unicodedata
from collections.abc import Iterator
from string import ascii_letters

from adbench_text.escaping import printable
from adbench_text.reports.report import Entry, Report, Table

# What surely fits on a page of A4 across in a font of 10 pt; the gap between columns in characters.
_PAGE_CHARACTERS, _PAGE_ROWS, _GAP = 105, 26, 2

_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedblright{}",
    "`": r"\`{}",
    "[": "{[}",  # after a row's end or an item, these three would be taken for options
    "]": "{]}",
    "*": "{*}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "∞": r"$\infty$",
    "µ": r"$\mu$",
    "μ": r"$\mu$",
    "²": "$^2$",
    "³": "$^3$",
    "°": r"$^\circ$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
    "–": "--",
    "—": "---",
    "‘": "{}`",
    "’": "'",
    "“": "{}``",
    "”": "''",
    "…": r"\ldots{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
}
# The marks that LaTeX can put on any letter, one at a time.
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0323": "d",
    "\u0327": "c",
}
_DOTLESS = {"i": r"\i", "j": r"\j"}
HAS_ALL_TABLES = True
SUFFIX = "tex"

_SHRINK = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"  # never made larger
_RUN_TOGETHER = "-–—'‘’“”"  # LaTeX makes one character of several of these


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the report as a LaTeX document, in ASCII; what LaTeX has no character for is a ``?``.

    A table that is wider than a page is made smaller, and one that is longer is cut between rows.
    """
    tables = [table for table in report.tables if table.header]  # LaTeX has none without a column
    blocks = [_head(any(_is_wide(table) for table in tables))]
    blocks += [_table(table, rows) for table in tables for rows in _parts(table)]
    if report.notes:
        items = [rf"\item {_escape(note)}" for note in report.notes]
        blocks.append("\n".join([r"\begin{itemize}", *items, r"\end{itemize}"]))
    return "\n\n".join([*blocks, r"\end{document}"]) + "\n"


def _head(resizes: bool) -> str:
    lines = [
        r"\documentclass{article}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[a4paper, landscape, margin=2cm]{geometry}",
        r"\usepackage{booktabs}",
        r"\usepackage{float}",  # tables that float are kept back until LaTeX has too many of them
        r"\setlength{\belowcaptionskip}{6pt}",
        *([r"\usepackage{graphicx}"] if resizes else []),
        r"\begin{document}",
    ]
    return "\n".join(lines)


def _is_wide(table: Table) -> bool:
    columns = zip(table.header, *([entry.text for entry in row] for row in table.rows), strict=True)
    return sum(max(map(len, column)) + _GAP for column in columns) > _PAGE_CHARACTERS


def _parts(table: Table) -> Iterator[range]:
    """Cut a table into pages, before a group where that is possible."""
    start = 0
    while len(table.rows) - start > _PAGE_ROWS:
        full = start + _PAGE_ROWS
        end = max((group for group in table.group_starts if start < group <= full), default=full)
        yield range(start, end)
        start = end
    yield range(start, len(table.rows))


def _table(table: Table, rows: range) -> str:
    """Render some rows of a table as a `table` of their own; the later parts share its number."""
    lines = [r"\begin{table}[H]", r"\centering"]
    if table.title:
        is_later = rows.start > 0
        lines += [r"\addtocounter{table}{-1}"] if is_later else []
        lines.append(rf"\caption{{{_escape(table.title)}{' (continued)' if is_later else ''}}}")
    lines += [_SHRINK] if _is_wide(table) else []
    lines += _tabular(table, rows)
    lines += ["}"] if _is_wide(table) else []
    return "\n".join([*lines, r"\end{table}"])


def _tabular(table: Table, rows: range) -> Iterator[str]:
    alignment = "l" * table.n_labels + "r" * (len(table.header) - table.n_labels)
    yield rf"\begin{{tabular}}{{{alignment}}}"
    yield r"\toprule"
    if table.blocks:
        yield from _blocks(table)
    yield _row([_escape(name) for name in table.header])
    yield r"\midrule"
    for position in rows:
        if position in table.group_starts and position > rows.start:
            yield r"\addlinespace"
        yield _row([_entry(entry) for entry in table.rows[position]])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _blocks(table: Table) -> Iterator[str]:
    titles, rules = [""] * table.n_labels, []
    first = table.n_labels + 1
    for title, n_columns in table.blocks:
        titles.append(rf"\multicolumn{{{n_columns}}}{{c}}{{{_escape(title)}}}")
        rules += [rf"\cmidrule(lr){{{first}-{first + n_columns - 1}}}"] if title else []
        first += n_columns
    yield _row(titles)
    if rules:
        yield " ".join(rules)


def _row(entries: list[str]) -> str:
    return rf"{' & '.join(entries)} \\".lstrip()


def _entry(entry: Entry) -> str:
    return rf"\textbf{{{_escape(entry.text)}}}" if entry.best else _escape(entry.text)


def _escape(text: str) -> str:
    text = unicodedata.normalize("NFC", printable(" ".join(text.split())))  # an empty line would end the row
    return "".join(
        _character(character) + ("{}" if character in _RUN_TOGETHER and after in _RUN_TOGETHER else "")
        for character, after in zip(text, text[1:] + " ", strict=False)
    )


def _character(character: str) -> str:
    if character in _CHARACTERS:
        return _CHARACTERS[character]
    if " " <= character <= "~":
        return character
    decomposed = unicodedata.normalize("NFD", character)
    if len(decomposed) == 2 and decomposed[0] in ascii_letters and decomposed[1] in _ACCENTS:
        letter = _DOTLESS.get(decomposed[0], decomposed[0])
        return rf"\{_ACCENTS[decomposed[1]]}{{{letter}}}"
    return "?"
