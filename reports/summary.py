"""The sentences that a report begins with, and where its results come from."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from adbench_text.reports import benchmarks
from adbench_text.reports.cells import Column
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.tables.leaderboard import shared
from adbench_text.store.record import Record
from adbench_text.sweep.cell import ONE_VS_REST, percent

_MOST = 3  # values of one kind are listed


def headlines(comparison: Comparison) -> list[str]:
    """Return a sentence for all corpora that have a common mean, and one for each.

    It names the best complete detector, how much better it is than the next, and than the published.
    """
    plain = [corpus for corpus in comparison.corpora if not corpus.is_apart]
    return [*_over_all(comparison), *(_headline(comparison, corpus) for corpus in plain)]


def _over_all(comparison: Comparison) -> Iterator[str]:
    corpora = shared(comparison)
    ranked = [item for item in comparison.best_first(*corpora) if not item[0].is_apart] if corpora else []
    if len(ranked) > 1:
        (best, value), (next_best, next_value), *_ = ranked
        labels = [corpus.label for corpus in corpora]
        few = f"{', '.join(labels[:-1])} and {labels[-1]}"
        names = few if len(labels) <= _MOST else f"{len(labels)} datasets"
        yield (
            f"Over {names}: {best.label} is best, with a mean {comparison.metric.title} of {value:.1f}%"
            f"{_at(corpora[0])}, {_against(value, next_value)} {next_best.label}."
        )


def _headline(comparison: Comparison, corpus: Corpus) -> str:
    metric, level = comparison.metric.title, percent(corpus.lowest)
    if corpus.lowest not in corpus.levels:
        return (
            f"{corpus.label}: not run at {level} of outliers in the training data; "
            f"the table 'levels' has {', '.join(map(percent, corpus.levels))}."
        )
    run = [name for name in corpus.inliers if any(entry.is_complete for entry in corpus.entries(name))]
    inliers = [None] if comparison.best_first(corpus) else run

    def ranked_at(level: float) -> list[tuple[Column, float]]:
        ranked = comparison.best_first(corpus, inliers=inliers, level=level)
        # those that use the test batch count only if there are no others
        return [(column, value) for column, value in ranked if not column.is_apart] or ranked

    ranked, highest = ranked_at(corpus.lowest), corpus.levels[-1]
    if not ranked:
        return f"{corpus.label}: no detector has a complete {metric} yet."
    (best, value), others = ranked[0], ranked[1:]
    sentence = f"{corpus.label}: {best.label} {'is best' if others else 'is the only complete detector'}"
    if corpus.has_one_split:
        sentence += f", with {metric} {value:.1f}%"
    else:
        n_splits = len(corpus.inliers)
        over = f"{n_splits} split{'s' if n_splits > 1 else ''}"
        over = f"{len(run)} of {over}" if inliers == run else over
        sentence += f", with a mean {metric} of {value:.1f}% over {over}"
    sentence += _at(corpus)
    if others:
        sentence += f", {_against(value, others[0][1])} {others[0][0].label}"
    theirs = [row for row in corpus.published_rows if row.is_of_few and inliers != run]
    best_of = benchmarks.best_of_each(theirs, comparison.metric.higher_is_better)
    for kind, row in best_of.items():
        knowing = f" (knowledge: {kind})" if len(best_of) > 1 else ""
        sentence += f"; {_against(value, row.figure)} the best published figure{knowing}, {row.label}"
        sentence += ", which is of another edition" if corpus.is_other_edition else ""
    if highest > corpus.lowest and len(at_highest := ranked_at(highest)) > 1:
        (best, value), *_ = at_highest
        sentence += f"; at {percent(highest)} {best.label} is best, with {value:.1f}%"
    return f"{sentence}."


def _at(corpus: Corpus) -> str:
    level = f" at {percent(corpus.lowest)} of outliers"
    return f"{level} in the training data" if not corpus.is_ranked else level if corpus.lowest else ""


def _against(ours: float, theirs: float) -> str:
    """Return "1.2 points above", or "as high as" where the printed figures are equal."""
    points = round(ours, 1) - round(theirs, 1)
    if abs(points) < 0.05:
        return "as high as"
    return f"{abs(points):.1f} points {'above' if points > 0 else 'below'}"


def provenance(comparison: Comparison, store_name: str = "") -> list[tuple[str, str]]:
    """Return names and values, in order, the edition of each corpus last; what no record has is left out."""
    records = comparison.cells.records
    days = sorted(f"{datetime.fromtimestamp(r.started / 1000, UTC):%Y-%m-%d}" for r in records if r.started)
    n_ok = sum(record.is_ok for record in records)
    failed = f", {len(records) - n_ok:,} failed" if n_ok < len(records) else ""
    facts = [
        ("results", f"{n_ok:,} cell{'' if n_ok == 1 else 's'}{failed}"),
        ("date", " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""),
        *((name, _listed(name, records)) for name in ("version", "commit", "command", "machine")),
        ("store", store_name),
        ("seeds", ", ".join(map(str, sorted({record.seed for record in records})))),
    ]
    for corpus in comparison.corpora:
        first = corpus.records[0]
        protocol = "" if first.protocol == ONE_VS_REST else f"protocol {first.protocol}"
        edition = "; ".join(filter(None, (f"edition {first.edition}", first.documents, protocol)))
        facts.append((corpus.label, edition))
    return [(name, value) for name, value in facts if value]


def _listed(name: str, records: Sequence[Record]) -> str:
    values = list(dict.fromkeys(r.made_by[name] for r in reversed(records) if name in r.made_by))
    rest = len(values) - _MOST
    return "; ".join(values[:_MOST]) + (f"; {rest} more" if rest > 0 else "")
