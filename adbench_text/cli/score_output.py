"""Score documents in growing batches, and write them as they are scored."""

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

_MOST = 4096  # largest number of documents in a batch
#: The columns of the file of score, in order.
COLUMNS_OF_SCORE = ("id", "score", "p", "p_form", "p_both", "odd", "why", "why_form")
_OF_FORM = ("p_form", "p_both", "why_form")  # columns that are left out if documents are not scored by form


class FileScores(NamedTuple):
    """Counts and evidence of a file after all documents are written."""

    n_documents: int
    n_odd: int  # with --fdr, otherwise 0
    evidence: "DriftEvidence"
    most_odd: "pd.DataFrame"  # the most odd documents by p, then by score, with their texts


def score_batch(scorer: "Scorer", batch: list[Document], *, with_text: bool) -> "pd.DataFrame":
    """Return a table of scored documents. It may run in a worker process.

    Without `with_text`, only the beginning of each text is returned.
    """
    from adbench_text.documents.models.drift_evidence import BEGINNING

    ids, texts = map(list, zip(*batch, strict=True))
    returned = texts if with_text else [text[:BEGINNING] for text in texts]
    return scorer.score(texts).assign(id=ids, text=returned)


def batches(blocks: Iterable[list[Document]]) -> Iterator[list[Document]]:
    """Yield documents in batches that double in size, so that the first answer comes at once.

    A batch never waits for documents that are not read yet.
    """
    size = 1
    for documents in blocks:
        while documents:
            yield documents[:size]
            documents, size = documents[size:], min(2 * size, _MOST)


def while_read(tables: "Generator[pd.DataFrame]") -> "Generator[pd.DataFrame]":
    """Yield tables to print; exit when the reader of standard output is gone."""
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
    """Write the documents of tables; return counts and evidence. A file appears only when it is complete.

    There is at least one table; each comes from `score_batch`. `n_kept` is the number of most odd documents
    to return. With an empty `suffix` no document is written.

    With `fdr`, all p-values decide together which documents are odd, so everything is written at the end.
    The alpha of the scorer must then be at least `fdr`, because the scorer explains only documents up to
    its alpha.
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
            scorer.evidence(table, evidence)  # adds to `evidence`
            if n_kept or not most_odd:  # if none are kept, the first table gives the columns
                most_odd = [_most_odd([*most_odd, table], scorer.p_name, n_kept)]
            if fdr is None:
                write(score_lines(table[names], suffix))
            else:
                waiting.append(table[names])
            progress("scoring", n_documents, None)
        largest = largest_p(pd.concat(waiting)[scorer.p_name].to_numpy(), fdr) if fdr and waiting else 0.0
        for rows in _decided(waiting, scorer.p_name, largest):
            n_odd += int(rows["odd"].sum())
            write(score_lines(rows, suffix))
    [returned] = most_odd  # its column "odd" is by the alpha of the scorer
    if fdr is not None:
        returned = returned.assign(odd=returned[scorer.p_name] <= largest)
    return FileScores(n_documents, n_odd, evidence, returned)


@contextmanager
def _writing(output: Path | None) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes text to a file or to standard output."""
    if output is None:
        yield partial(click.echo, nl=False)
        return
    with atomic_path(output) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        yield stream.write


def _most_odd(tables: "Sequence[pd.DataFrame]", p_name: str, n: int) -> "pd.DataFrame":
    """Return the n most odd documents of tables."""
    import pandas as pd

    with_p = pd.concat(tables).dropna(subset=[p_name])
    by, ascending = [p_name, "score"], [True, False]
    return with_p.sort_values(by, ascending=ascending, key=lambda values: values.fillna(0)).head(n)


def _decided(tables: "Sequence[pd.DataFrame]", p_name: str, largest: float) -> "Iterator[pd.DataFrame]":
    """Yield tables with the column ``odd``, given the largest p of an odd document."""
    for rows in tables:
        odd = rows[p_name] <= largest
        why = {
            name: [reasons if is_odd else [] for reasons, is_odd in zip(rows[name], odd, strict=True)]
            for name in rows.columns.intersection(["why", "why_form"])
        }
        yield rows.assign(odd=odd, **why)
