"""Tables in LaTeX, to be put into a document, with booktabs and siunitx; the best of a row in bold."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from string import ascii_letters

from adbench_text.escaping import one_line, printable
from adbench_text.reports.report import Entry, Kind, Report, Table

# Characters that surely fit into a line of an article; the gap between columns.
_LINE, _GAP = 85, 2
_PAGE_ROWS = 26

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

_SETUP = r"\sisetup{detect-weight=true, detect-inline-weight=math}"  # so that bold figures are bold
_RUN_TOGETHER = "-–—'‘’“”"  # LaTeX makes one character of several of these


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the tables to be put into a document, in ASCII; what LaTeX has no character for is a ``?``.

    A table that is wider than a line is cut between columns, and one that is longer than a page between rows.
    """
    comments = [r"% needs \usepackage{booktabs, siunitx}", *_comments(report)]
    return "\n\n".join(["\n".join(comments), *_blocks_of(report)]) + "\n"


def _blocks_of(report: Report) -> Iterator[str]:
    for table in report.tables:
        pieces = [(part, rows) for part in _wide_parts(table) for rows in _parts(part)]
        for number, (part, rows) in enumerate(pieces if table.header else []):
            notes = table.notes if number == len(pieces) - 1 else []
            yield _table(part, rows, is_later=number > 0, notes=notes)
    if report.notes:
        items = [rf"\item {_escape(note)}" for note in report.notes]
        yield "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"])


def _comments(report: Report) -> Iterator[str]:
    """Yield the result and where it comes from as comments of one line each."""
    for text in [*report.headlines, *(f"{name}: {value}" for name, value in report.provenance)]:
        yield f"% {one_line(text).encode('ascii', 'replace').decode()}"


def _wide_parts(table: Table) -> Iterator[Table]:
    """Cut a table that is wider than a line."""
    widths = [
        max(map(len, column)) + _GAP
        for column in zip(table.header, *([entry.text for entry in row] for row in table.rows), strict=True)
    ]
    return map(table.with_columns, table.parts(widths, _LINE))


def _parts(table: Table) -> Iterator[range]:
    """Cut a table into pages, before a group where that is possible."""
    start = 0
    while len(table.rows) - start > _PAGE_ROWS:
        full = start + _PAGE_ROWS
        end = max((group for group in table.group_starts if start < group <= full), default=full)
        yield range(start, end)
        start = end
    yield range(start, len(table.rows))


def _table(table: Table, rows: range, is_later: bool, notes: Sequence[str]) -> str:
    """Render some rows of a table as a `table` of their own; the later parts share its number."""
    lines = [r"\begin{table}[htbp]", r"\centering", _SETUP]
    if table.title:
        lines += [r"\addtocounter{table}{-1}"] if is_later else []
        lines.append(rf"\caption{{{_escape(table.title)}{' (continued)' if is_later else ''}}}")
        lines += [] if is_later else [rf"\label{{{_label(table.title)}}}"]
    lines += _tabular(table, rows)
    if notes:
        lines += [r"\par\medskip", r"\begin{minipage}{\linewidth}\footnotesize"]
        lines += [rf"{_escape(note)}\par" for note in notes]
        lines += [r"\end{minipage}"]
    return "\n".join([*lines, r"\end{table}"])


def _label(title: str) -> str:
    """Return the first words of a title without its numbers: the next report has other ones."""
    return f"tab:{'-'.join(re.findall('[a-z]+', title.partition(',')[0].lower()))}"


def _tabular(table: Table, rows: range) -> Iterator[str]:
    formats = [
        "" if column < table.n_labels else _number_format([table.rows[row][column] for row in rows])
        for column in range(len(table.header))
    ]
    words = ["l"] * table.n_labels + ["r"] * (len(formats) - table.n_labels)
    alignments = [f"S[{form}]" if form else word for form, word in zip(formats, words, strict=True)]
    yield rf"\begin{{tabular}}{{{''.join(alignments)}}}"
    yield r"\toprule"
    if table.blocks:
        yield from _blocks(table)
    heads = zip(table.header, formats, strict=True)
    yield _row([f"{{{_escape(name)}}}" if is_number else _escape(name) for name, is_number in heads])
    yield r"\midrule"
    for position in rows:
        if position in table.group_starts and position > rows.start:
            yield r"\addlinespace"
        entries = zip(table.rows[position], formats, strict=True)
        yield _row([_entry(entry, is_number=bool(form)) for entry, form in entries])
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _number_format(entries: Sequence[Entry]) -> str:
    """Return siunitx's options for a column of numbers, empty if a figure is no plain number.

    What follows a number, such as its spread, is a text for which room is left.
    """
    figures = [entry for entry in entries if entry.kind is Kind.FIGURE]
    numbers = [
        (round(entry.value, entry.decimals), entry.decimals)
        for entry in figures
        if entry.value is not None and entry.decimals is not None
    ]
    if not numbers or len(numbers) < len(figures):
        return ""
    whole = max(len(str(int(abs(number)))) for number, _ in numbers)
    decimals = max(of_number for _, of_number in numbers)
    sign = "-" if min(numbers)[0] < 0 else ""
    form = f"table-format={sign}{whole}.{decimals}" if decimals else f"table-format={sign}{whole}"
    after = max((_after(entry) for entry in figures), key=len)
    return f"{form}, table-space-text-post={after}" if after else form


def _after(entry: Entry) -> str:
    """Return the spread and the signs after a number."""
    text = entry.text.removeprefix(entry.words)
    return f"{{{'~' if text[0] == ' ' else ''}{_escape(text)}}}" if text else ""


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


def _entry(entry: Entry, is_number: bool) -> str:
    if is_number and entry.kind is Kind.FIGURE:
        number = f"{entry.words}{_after(entry)}"
        return rf"\bfseries {number}" if entry.best else number
    text = rf"\textbf{{{_escape(entry.text)}}}" if entry.best else _escape(entry.text)
    return f"{{{text}}}" if is_number else text


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
