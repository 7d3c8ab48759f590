"""``adbench-text score``: score documents with a model, as JSON lines or CSV; do they differ from its own?"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import SectionedCommand, adding
from adbench_text.cli.own_text import (
    DOCUMENTS,
    STDIN,
    WORK,
    alpha_option,
    by_option,
    check_outputs,
    drift_line,
    mapper_of,
    opened,
    sections_of,
)
from adbench_text.cli.progress import Rows
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.escaping import no_formula
from adbench_text.storage import atomic_path
from adbench_text.text.reading import Document

if TYPE_CHECKING:
    from adbench_text.models.model import ScoredDocument, Scorer

_MOST = 4096  # documents that are scored together
_SUFFIXES = (".csv", ".jsonl")
_OF_FORM = ("p_form", "p_both", "why_form")  # not known by words alone
_DRIFT = 4  # exit code


_SECTIONS = sections_of(Odd=("--alpha", "--by"), Output=("--output", "--json", "--fail-on-drift"))


@click.command("score", cls=SectionedCommand, sections=_SECTIONS)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="File to write, .csv or .jsonl.  [default: JSON lines on standard output]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the summary on standard output, as JSON; with --output."
)
@click.option("--fail-on-drift", is_flag=True, help=f"Exit with {_DRIFT} if FILE differs from that of MODEL.")
@adding(*DOCUMENTS, alpha_option(), by_option("both, if the model knows form"), *WORK)
def command(
    model: Path,
    file: str,
    output: Path | None,
    as_json: bool,
    fail_on_drift: bool,
    alpha: float,
    by: str | None,
    **options: Any,
) -> None:
    """Score the documents of FILE (- for standard input) with a MODEL that fit has saved.

    Prints one JSON object for each document, in their order: id, score (of its words), p (the share of normal
    documents that score at least as high), p_form and p_both (the same by form, and by words and form
    together), odd (whether p_both, or the p of --by, is at most --alpha), why and why_form (the words and the
    facts about its form that make it odd). A CSV file has the same columns.

    A document of the file of MODEL is not odd: its p is 1. The last line, on standard error, shows whether
    the others, copies counted once, differ from that file: how many of them are called odd, how many are
    expected, and whether their p-values are uniform, as those of normal documents are.
    """
    from adbench_text.models.folder import load_model
    from adbench_text.models.model import Scorer

    if as_json and output is None:
        raise click.UsageError("--json prints the summary where the documents are; give --output too.")
    if output is not None:
        if output.suffix not in _SUFFIXES:
            raise InvalidValueError(f"--output is a file .csv or .jsonl, got {str(output)!r}.")
        check_outputs(file, output)
    scorer = Scorer(load_model(model), alpha, by)
    lines = _Lines(scorer, as_csv=output is not None and output.suffix == ".csv")
    if file == STDIN:  # the first answer comes with the first document
        options["jobs"] = 1
    n_done = 0
    evidence: dict[int, float] = {}
    with (
        _written(output) as write,
        Rows() as progress,
        closing(mapper_of(options).map(lines, _batches(opened(file, options)))) as scored,
    ):
        if lines.as_csv:
            write(",".join(lines.names))
        for batch, of_batch in scored:
            if batch:
                write("\n".join(batch))
            n_done += len(batch)
            evidence |= of_batch
            progress("scoring", n_done, None)
    drift = scorer.drift(evidence)
    click.echo(drift_line(n_done, drift, alpha), err=True)
    if as_json:
        facts = {"n_documents": n_done, "by": scorer.by, "alpha": alpha} | drift._asdict()
        click.echo(json.dumps(facts | {"is_drift": drift.is_found}))
    if fail_on_drift and drift.is_found:
        click.get_current_context().exit(_DRIFT)


@contextmanager
def _written(output: Path | None) -> Iterator[Callable[[str], None]]:
    """Yield what writes lines: to a file that is there when it is complete, or to standard output."""
    if output is None:
        yield click.echo
        return
    with atomic_path(output) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        yield lambda lines: print(lines, file=stream)


@dataclass(frozen=True)
class _Lines:
    """Scores documents; a worker process may do it."""

    scorer: "Scorer"
    as_csv: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the values of a document."""
        names = ["id", "score", "p", "p_form", "p_both", "odd", "why", "why_form"]
        return [name for name in names if self.scorer.by != "words" or name not in _OF_FORM]

    def __call__(self, batch: list[tuple[str, str]]) -> tuple[list[str], dict[int, float]]:
        """Return a line for each document, given its identifier and its text; and the evidence of drift."""
        results = self.scorer.score([text for _, text in batch])
        lines = [self._line(name, result) for (name, _), result in zip(batch, results, strict=True)]
        return lines, self.scorer.evidence(results)

    def _line(self, name: str, result: "ScoredDocument") -> str:
        known = result._asdict() | {"id": name, "odd": result.is_odd}
        values = {name: known[name] for name in self.names}
        if not self.as_csv:
            return json.dumps(values)
        stream = StringIO()
        csv.writer(stream, lineterminator="").writerow(map(_cell, values.values()))
        return stream.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return no_formula(", ".join(value) if isinstance(value, list) else value)


def _batches(documents: Iterable[Document]) -> Iterator[list[tuple[str, str]]]:
    """Yield documents in batches that double: the first answer comes with the first document.

    An error in the file comes after the documents before it.
    """
    batch: list[tuple[str, str]] = []
    size = 1
    try:
        for document in documents:
            batch.append((document.id, document.text))
            if len(batch) == size:
                yield batch
                batch, size = [], min(2 * size, _MOST)
    except AdbenchTextError:
        yield batch
        raise
    yield batch
