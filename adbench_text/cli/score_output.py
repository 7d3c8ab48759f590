"""The documents of score: scored in batches that grow, and written as they come."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from adbench_text.cli.document_tables import score_lines
from adbench_text.cli.progress import shown_documents
from adbench_text.cli.streams import is_read
from adbench_text.reading.documents import Document
from adbench_text.storage import atomic_path

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.documents.models.drift_evidence import DriftEvidence
    from adbench_text.documents.models.model import Scorer

_MOST = 4096  # documents that are scored together
#: Of the file of score, in order; without form some are left out.
COLUMNS_OF_SCORE = ("id", "score", "p", "p_form", "p_both", "odd", "why", "why_form")
_OF_FORM = ("p_form", "p_both", "why_form")  # not known by words alone
_BEGINNING = 60  # characters of a text that names a family


class FileScores(NamedTuple):
    """What is known of all documents of a file once they are written."""

    n_documents: int
    n_odd: int  # by --fdr
    evidence: "DriftEvidence"  # of drift
    most_odd: "pd.DataFrame"  # the first documents by their p, and then by their score, with their texts


def score_batch(scorer: "Scorer", with_text: bool, batch: list[Document]) -> "pd.DataFrame":
    """Return a table of documents; a worker process may do it."""
    ids, texts = map(list, zip(*batch, strict=True))
    kept = texts if with_text else [text[:_BEGINNING] for text in texts]
    return scorer.score(texts).assign(id=ids, text=kept)


def batches(read: Iterable[list[Document]]) -> Iterator[list[Document]]:
    """Yield documents that are read together, in batches that double: the first answer comes at once."""
    size = 1
    for documents in read:
        while documents:
            yield documents[:size]
            documents, size = documents[size:], min(2 * size, _MOST)


def while_read(tables: "Generator[pd.DataFrame]") -> "Generator[pd.DataFrame]":
    """Yield tables that are printed; end the command when nobody reads what it prints."""
    with closing(tables):
        for table in tables:
            yield table
            if not is_read():
                raise click.exceptions.Exit(0)


def write_scores(
    tables: "Generator[pd.DataFrame]",
    scorer: "Scorer",
    n_kept: int,
    output: Path | None,
    suffix: str,
    fdr: float | None,
) -> FileScores:
    """Write the documents of tables, and return what is known of all; a file is there when it is complete.

    With a share of false alarms, all p-values together decide what is odd: nothing is written before.
    """
    import pandas as pd

    from adbench_text.calibration import largest_p
    from adbench_text.documents.models.drift_evidence import DriftEvidence

    n_documents, n_odd, evidence = 0, 0, DriftEvidence()
    waiting: list[pd.DataFrame] = []
    most_odd: list[pd.DataFrame] = []
    names = [name for name in COLUMNS_OF_SCORE if scorer.looks_at_form or name not in _OF_FORM]
    with _writing(output) as write, shown_documents() as progress, closing(tables):
        if suffix == ".csv":
            write(",".join(names) + "\n")
        for table in tables:
            n_documents += len(table)
            scorer.evidence(table, evidence)
            if n_kept or not most_odd:
                most_odd = [_first([*most_odd, table], scorer.p_name, n_kept)]
            if fdr is None:
                write(score_lines(table[names], suffix))
            else:
                waiting.append(table[names])
            progress("scoring", n_documents, None)
        largest = largest_p(pd.concat(waiting)[scorer.p_name].to_numpy(), fdr) if fdr and waiting else 0.0
        for rows in _decided(waiting, scorer.p_name, largest):
            n_odd += int(rows["odd"].sum())
            write(score_lines(rows, suffix))
    [first] = most_odd
    first = first if fdr is None else first.assign(odd=first[scorer.p_name] <= largest)
    return FileScores(n_documents, n_odd, evidence, first)


@contextmanager
def _writing(output: Path | None) -> Iterator[Callable[[str], object]]:
    """Yield what writes lines: to a file, or on standard output."""
    if output is None:
        yield partial(click.echo, nl=False)
        return
    with atomic_path(output) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        yield stream.write


def _first(tables: "Sequence[pd.DataFrame]", p_name: str, n: int) -> "pd.DataFrame":
    """Return the n most odd documents of tables."""
    import pandas as pd

    with_p = pd.concat(tables).dropna(subset=[p_name])
    by, ascending = [p_name, "score"], [True, False]
    return with_p.sort_values(by, ascending=ascending, key=lambda values: values.fillna(0)).head(n)


def _decided(tables: "Sequence[pd.DataFrame]", p_name: str, largest: float) -> "Iterator[pd.DataFrame]":
    """Yield tables with what is odd, given the largest p of what is."""
    for rows in tables:
        odd = rows[p_name] <= largest
        why = {
            name: [reasons if is_odd else [] for reasons, is_odd in zip(rows[name], odd, strict=True)]
            for name in rows.columns.intersection(["why", "why_form"])
        }
        yield rows.assign(odd=odd, **why)
