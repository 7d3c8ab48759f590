"""Tables in LaTeX, to be put into a document, with booktabs; the best of a row in bold."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from adbench_text.escaping import one_line, printable
from adbench_text.reports.report import Entry, Report, Table

_LINE, _GAP = 85, 2  # characters that surely fit into a line of an article, and between columns
_PAGE_ROWS = 26
_SPECIAL = (
    {"\ufffd": "?"}
    | {character: f"\\{character}" for character in "{}$&#%_"}
    | {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "`": r"\textasciigrave{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedblright{}",
        **{character: f"{{{character}}}" for character in "[]*"},  # after a row's end they would be options
    }
)
_LIGATURE = re.compile("(?<=[-'])(?=[-'])")  # where LaTeX makes one character of two


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the tables to be put into a document, in UTF-8.

    A table that is wider than a line is cut between columns, and one that is longer than a page between rows.
    """
    facts = [*filter(None, [report.headline]), *(f"{name}: {value}" for name, value in report.provenance)]
    blocks = ["\n".join([r"% needs \usepackage{booktabs}", *(f"% {one_line(fact)}" for fact in facts)])]
    for table in report.tables:
        pieces = [(part, rows) for part in _wide_parts(table) for rows in _pages(part)]
        for number, (part, rows) in enumerate(pieces if table.header else []):
            notes = table.notes if number == len(pieces) - 1 else []
            blocks.append("\n".join(_table(part, rows, number > 0, notes)))
    if report.notes:
        items = [rf"\item {escape(note)}" for note in report.notes]
        blocks.append("\n".join([r"\begin{itemize}", *items, r"\end{itemize}"]))
    return "\n\n".join(blocks) + "\n"


def _wide_parts(table: Table) -> Iterator[Table]:
    columns = zip(table.header, *([entry.text for entry in row] for row in table.rows), strict=True)
    widths = [max(map(len, column)) + _GAP for column in columns]
    return map(table.with_columns, table.parts(widths, _LINE))


def _pages(table: Table) -> Iterator[range]:
    """Cut a table into pages, before a group where that is possible."""
    start = 0
    while len(table.rows) - start > _PAGE_ROWS:
        full = start + _PAGE_ROWS
        end = max((group for group in table.group_starts if start < group <= full), default=full)
        yield range(start, end)
        start = end
    yield range(start, len(table.rows))


def _table(table: Table, rows: range, is_later: bool, notes: Sequence[str]) -> Iterator[str]:
    """Yield the lines of some rows of a table, a `table` of their own; the later parts share its number."""
    yield from (r"\begin{table}[htbp]", r"\centering")
    if table.title and is_later:
        yield from (r"\addtocounter{table}{-1}", rf"\caption{{{escape(table.title)} (continued)}}")
    elif table.title:
        # the first words without numbers: the next report has other ones
        words = re.findall("[a-z]+", table.title.partition(",")[0].lower())
        yield from (rf"\caption{{{escape(table.title)}}}", rf"\label{{tab:{'-'.join(words)}}}")
    kinds = "l" * table.n_labels + "r" * (len(table.header) - table.n_labels)
    yield from (rf"\begin{{tabular}}{{{kinds}}}", r"\toprule")
    if table.blocks:
        titles = [rf"\multicolumn{{{n}}}{{c}}{{{escape(title)}}}" for title, n in table.blocks]
        yield _row([*[""] * table.n_labels, *titles])
        ends = accumulate((n for _, n in table.blocks), initial=table.n_labels)
        yield " ".join(rf"\cmidrule(lr){{{start + 1}-{end}}}" for start, end in pairwise(ends))
    yield from (_row([escape(head) for head in table.header]), r"\midrule")
    for row in rows:
        if row in table.group_starts and row > rows.start:
            yield r"\addlinespace"
        yield _row([_entry(entry) for entry in table.rows[row]])
    yield from (r"\bottomrule", r"\end{tabular}")
    if notes:
        yield from (r"\par\medskip", r"\begin{minipage}{\linewidth}\footnotesize")
        yield from (rf"{escape(note)}\par" for note in notes)
        yield r"\end{minipage}"
    yield r"\end{table}"


def _row(entries: Sequence[str]) -> str:
    return rf"{' & '.join(entries)} \\".lstrip()


def _entry(entry: Entry) -> str:
    return rf"\textbf{{{escape(entry.text)}}}" if entry.best else escape(entry.text)


def escape(text: str) -> str:
    """Return a text as LaTeX prints it: in one line, with its special characters escaped."""
    plain = _LIGATURE.sub("\0", printable(" ".join(text.split())))  # an empty line would end the row
    return "".join(_SPECIAL.get(character, character) for character in plain).replace("\0", "{}")
