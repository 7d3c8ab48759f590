"""Tables in markdown; the best of a row in bold."""

from collections.abc import Sequence

from adbench_text.escaping import markdown
from adbench_text.reports.report import OURS, Entry, Report, Table


def render(report: Report, width: int | None = None) -> str:  # the width of a terminal does not matter
    """Return the report as markdown."""
    blocks = [markdown(report.headline)] if report.headline else []
    blocks += [block for table in report.tables for block in (_table(table), _list(table.notes)) if block]
    blocks += [_list(report.notes)] if report.notes else []
    if report.provenance:
        blocks.append(_list([f"{name}: {value}" for name, value in report.provenance]))
    return "\n\n".join(blocks) + "\n"


def _list(notes: Sequence[str]) -> str:
    """Return notes as a list in markdown."""
    return "\n".join(f"- {markdown(note)}" for note in notes)


def _table(table: Table) -> str:
    """Return a table in markdown, with its title above it."""
    rule = ["---" if position < table.n_labels else "---:" for position in range(len(table.header))]
    rows = [
        [_marked(name, table.is_ours(name)) for name in table.header],
        rule,
        *([_entry(table, entry) for entry in row] for row in table.rows),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"**{markdown(table.title)}**", "", *lines] if table.title else lines)


def _entry(table: Table, entry: Entry) -> str:
    """Return an entry in markdown: the best in bold, a marked detector with its sign, a link."""
    text = f"**{markdown(entry.text)}**" if entry.best else _marked(entry.text, table.is_ours(entry))
    return f"[{text}]({entry.link})" if entry.link else text


def _marked(text: str, is_ours: bool) -> str:
    """Return a text in markdown; a marked detector has a sign and is bold."""
    return f"{OURS} **{markdown(text)}**" if is_ours else markdown(text)
