"""Where the results of a report come from: when, by which code and commands, on which machine and data."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from adbench_text.reports import notes as notes_on
from adbench_text.reports.headline import ranges
from adbench_text.store.record import Record

_MOST = 3  # values of one kind are listed


def provenance(
    records: Sequence[Record], corpora: Mapping[str, str], store_name: str = ""
) -> list[tuple[str, str]]:
    """Return names and values, in order, the edition of each corpus last; what no record tells is left out.

    Parameters
    ----------
    records : sequence of Record
        Those that the figures come from.
    corpora : mapping of str to str
        Labels of the corpora by `Record.corpus`.
    store_name : str
    """
    days = sorted(f"{datetime.fromtimestamp(r.started / 1000, UTC):%Y-%m-%d}" for r in records if r.started)
    dates = " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""
    n_ok = sum(record.is_ok for record in records)
    n_failed = len(records) - n_ok
    facts = [
        (
            "results",
            f"{n_ok:,} cell{'' if n_ok == 1 else 's'}" + (f", {n_failed:,} failed" if n_failed else ""),
        ),
        ("date", dates),
        ("version", _listed("version", records)),
        ("commit", _listed("commit", records)),
        ("command", _listed("command", records)),
        ("machine", _listed("machine", records)),
        ("store", store_name),
        ("seeds", ranges([record.seed for record in records])),
        *notes_on.corpora(records, corpora).items(),
    ]
    return [(name, value) for name, value in facts if value]


def _listed(name: str, records: Iterable[Record]) -> str:
    values = list(dict.fromkeys(r.made_by[name] for r in reversed(list(records)) if name in r.made_by))
    rest = len(values) - _MOST
    return "; ".join(values[:_MOST]) + (f"; {rest} more" if rest > 0 else "")
