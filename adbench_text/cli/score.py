"""``adbench-text score``: Score documents with a model."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from adbench_text.cli.options import SectionedCommand
from adbench_text.cli.own_text import (
    DOCUMENTS,
    ODD,
    STDIN,
    WORK,
    check_outputs,
    opened,
    page_documents,
    write_page,
)
from adbench_text.cli.progress import count, shown_documents
from adbench_text.cli.streams import is_read
from adbench_text.errors import AdbenchTextError, InvalidValueError, UnknownNameError
from adbench_text.escaping import no_formula, one_line, printable
from adbench_text.storage import atomic_path
from adbench_text.text.reading import Document, DocumentFile

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.calibration import Drift, Family
    from adbench_text.documents.models.evidence import Evidence
    from adbench_text.documents.models.model import Scorer
    from adbench_text.documents.page import PageDocument

_MOST = 4096  # documents that are scored together
_OF_FORM = ("p_form", "p_both", "why_form")  # not known by words alone
_BEGINNING = 60  # characters of a text that names a family
_DRIFT = 4  # exit code
_PATH = click.Path(path_type=Path)
_N_FAMILIES = 3  # of new near-copies that are named, the largest


_OPTIONS = [
    "Input",
    *DOCUMENTS,
    "Odd",
    *ODD,
    click.Option(
        ["--fdr"],
        type=float,
        metavar="SHARE",
        help="Largest share of false alarms among what is called odd, on average; instead of --alpha.",
    ),
    "Output",
    click.Option(
        ["--output", "-o"], type=_PATH, help="File to write, .csv or .jsonl.  [default: JSON lines, printed]"
    ),
    click.Option(["--page"], type=_PATH, help="Page to write, .html: the most odd documents."),
    click.Option(["--top"], default=20, type=click.IntRange(1), help="Documents of --page."),
    click.Option(
        ["--fail-on-drift"], is_flag=True, help=f"Exit with {_DRIFT} if FILE differs from MODEL's file."
    ),
    "Execution",
    *WORK,
]


@click.command("score", cls=SectionedCommand, listed=_OPTIONS)
@click.argument("model", type=_PATH)
@click.argument("file")
def command(model: Path, file: str, output: Path | None, page: Path | None, **options: Any) -> None:
    """Score the documents of FILE (- for standard input) with a MODEL that fit has saved.

    Prints one JSON object for each document, in their order: id, score (of its words), p (the share of normal
    documents that score at least as high), p_form and p_both (the same by form, and by words and form
    together), odd (whether p_both, or the p of --by, is at most --alpha), why and why_form (the words and the
    facts about its form that make it odd). A CSV file has the same columns. With --page the documents are
    written to --output only. --fdr decides on all documents of FILE together: they are written at the end.

    FILE is read with the --text, --id and --encoding of fit, where it has these columns.

    A document of the file of MODEL is not odd: its p is 1. The last line, on standard error, shows whether
    the others, copies counted once, differ from that file: how many of them are called odd, how many are
    expected, and whether their p-values are uniform, as for normal documents.
    """
    from adbench_text.documents.chunks import results_of
    from adbench_text.documents.models.folder import load_model
    from adbench_text.documents.models.model import Scorer

    for option, path, suffixes in (("--output", output, (".csv", ".jsonl")), ("--page", page, (".html",))):
        if path is not None and path.suffix not in suffixes:
            raise InvalidValueError(f"{option} is a file {' or '.join(suffixes)}, got {str(path)!r}.")
    check_outputs(file, *filter(None, (output, page)))
    fdr = options["fdr"]
    context = click.get_current_context()
    if fdr is not None and context.get_parameter_source("alpha") != ParameterSource.DEFAULT:
        raise click.UsageError("--alpha and --fdr both decide what is odd; give one of them.")
    fitted = load_model(model)
    judge = Scorer(fitted, options["alpha"], options["by"], fdr)
    # what is called odd by the p-values of all documents has a p of at most fdr, too
    scorer = judge if fdr is None else Scorer(fitted, fdr, options["by"])
    suffix = output.suffix if output is not None else "" if page is not None else ".jsonl"
    n_kept = options["top"] if page is not None else 0
    jobs = 1 if file == STDIN else options["jobs"]  # the first answer comes with the first document
    documents, used = _opened(file, options, fitted.training.options)
    for note in _differences(used, fitted.training.options):
        click.echo(f"Note: {printable(note)}", err=True)
    score = partial(_scored, scorer, n_kept > 0)
    tables = results_of(score, _batches(documents), options["address"] or jobs)
    if output is None and suffix and not options["fail_on_drift"]:
        tables = _while_read(tables)
    found = _written(tables, scorer, n_kept, output, suffix, fdr)
    for note in documents.late_notes:
        click.echo(f"Note: {note}", err=True)
    drift = judge.drift(found.evidence)
    families = [_of_family(each) for each in drift.families[:_N_FAMILIES]]
    last_line = _drift_line(found, drift, options["alpha"], fdr)
    least = 1 / (1 + len(fitted.calibrations[scorer.by]))
    for note in _nothing_odd(found, least, options["alpha"], fdr):
        click.echo(f"Note: {note}", err=True)
    if page is not None:
        learned = (
            f"{fitted.training.options.get('configuration', fitted.name)}, fitted on "
            f"{fitted.training.n_documents:,} documents; p is the share of normal documents that score at "
            "least as high."
        )
        sections = {"The most odd": _explained(scorer, found.most_odd, options["alpha"])}
        content = {"summary": [last_line, learned], "sections": sections, "notes": families}
        write_page(page, file, middle=scorer.centre, **content)
        click.echo(printable(f"Page: {page}."), err=True)
    for line in (*families, last_line):
        click.echo(line, err=True)
    if options["fail_on_drift"] and drift.is_found:
        context.exit(_DRIFT)


def _opened(
    file: str, options: Mapping[str, Any], fitted: Mapping[str, Any]
) -> tuple[DocumentFile, dict[str, Any]]:
    """Return the documents of FILE, read as those of the model where no option says otherwise, and how.

    Columns that FILE lacks are found as without a model; so are those of a pipe, which has them or not.
    """
    source = click.get_current_context().get_parameter_source
    kept = {
        name: fitted[name]
        for name in ("text", "id", "encoding")
        if fitted.get(name) and source(name) == ParameterSource.DEFAULT
    }
    is_pipe = file == STDIN or Path(file).is_fifo()
    columns = [name for name in ("text", "id") if name in kept and not is_pipe]
    encoding = kept.get("encoding", options["encoding"])
    for chosen in (columns, columns[:1], columns[1:]):
        reading = {**options, "encoding": encoding} | {name: kept[name] for name in chosen}
        with suppress(UnknownNameError):
            documents = opened(file, reading)
            break
    else:
        reading = {**options, "encoding": encoding}
        documents = opened(file, reading)
    used = {**reading, "text": documents.text_columns, "id": documents.id_column}
    if len(documents.columns) == len(fitted.get("text", ())) == 1:  # whatever its name, as of plain lines
        used["text"] = fitted["text"]
    return documents, used


def _differences(used: Mapping[str, Any], fitted: Mapping[str, Any]) -> Iterator[str]:
    """Yield in a line what of a file is read in another way than the file of the model."""
    names = [name for name in ("text", "id", "encoding") if fitted.get(name) and used[name] != fitted[name]]
    if names:
        here, there = (
            " ".join(f"--{name} {each}" for name in names for each in _listed(values[name]))
            for values in (used, fitted)
        )
        yield f"this file is read with {here or 'no column of identifiers'}, that of the model with {there}."


def _listed(value: str | list[str] | None) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []


class _Found(NamedTuple):
    """What is known of all documents."""

    n_documents: int
    n_odd: int  # by --fdr
    evidence: "Evidence"  # of drift
    most_odd: "pd.DataFrame"  # the first documents by their p, and then by their score, with their texts


def _nothing_odd(found: _Found, least: float, alpha: float, fdr: float | None) -> Iterator[str]:
    """Yield why nothing can be called odd, given the least p of a model."""
    why = f"no p of this model is below {least:.2g}. Fit on more documents"
    if fdr is None and least > alpha:
        yield f"--alpha {alpha:g} calls nothing odd: {why}; near-copies count once."
    if fdr is not None and not found.n_odd and least > fdr / found.n_documents:
        yield f"--fdr {fdr:g} calls nothing odd: {why}, or use --alpha."


def _scored(scorer: "Scorer", with_text: bool, batch: list[tuple[str, str]]) -> "pd.DataFrame":
    """Return a table of documents, given their identifiers and texts; a worker process may do it."""
    ids, texts = map(list, zip(*batch, strict=True))
    kept = texts if with_text else [text[:_BEGINNING] for text in texts]
    return scorer.score(texts).assign(id=ids, text=kept)


def _names(scorer: "Scorer") -> list[str]:
    """Return the names of the values of a document."""
    names = ["id", "score", "p", "p_form", "p_both", "odd", "why", "why_form"]
    return [name for name in names if scorer.by != "words" or name not in _OF_FORM]


def _lines(table: "pd.DataFrame", suffix: str) -> str:
    """Return a line for each document; none if there is no file."""
    if suffix == ".jsonl":
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        return "".join(f"{json.dumps(row)}\n" for row in rows)
    if not suffix:
        return ""
    why = {name: table[name].map(", ".join) for name in ("why", "why_form") if name in table}
    cells = table.assign(odd=table["odd"].astype(int), **why).map(no_formula)
    return cells.to_csv(index=False, header=False, lineterminator="\n")


def _while_read(tables: "Generator[pd.DataFrame]") -> "Generator[pd.DataFrame]":
    """Yield tables that are printed; end the command when nobody reads what it prints."""
    with closing(tables):
        for table in tables:
            yield table
            if not is_read():
                raise click.exceptions.Exit(0)


def _written(
    tables: "Generator[pd.DataFrame]",
    scorer: "Scorer",
    n_kept: int,
    output: Path | None,
    suffix: str,
    fdr: float | None,
) -> _Found:
    """Write the documents of tables, and return what is known of all; a file is there when it is complete.

    With a share of false alarms, all p-values together decide what is odd: nothing is written before.
    """
    import pandas as pd

    from adbench_text.calibration import largest_p
    from adbench_text.documents.models.evidence import Evidence

    by, n_documents, n_odd = [scorer.p_name, "score"], 0, 0
    evidence, waiting, most_odd = Evidence(), list[pd.DataFrame](), list[pd.DataFrame]()
    with ExitStack() as stack:
        write: Callable[[str], object] = partial(click.echo, nl=False)
        if output is not None:
            temporary = stack.enter_context(atomic_path(output))
            write = stack.enter_context(temporary.open("w", newline="", encoding="utf-8")).write
        if suffix == ".csv":
            write(",".join(_names(scorer)) + "\n")
        progress = stack.enter_context(shown_documents())
        for table in stack.enter_context(closing(tables)):
            n_documents += len(table)
            scorer.evidence(table, evidence)
            if n_kept or not most_odd:
                with_p = pd.concat([*most_odd, table]).dropna(subset=[scorer.p_name])
                ordered = with_p.sort_values(by, ascending=[True, False], key=lambda values: values.fillna(0))
                most_odd = [ordered.head(n_kept)]
            rows = table[_names(scorer)]
            if fdr is None:
                write(_lines(rows, suffix))
            else:
                waiting.append(rows)
            progress("scoring", n_documents, None)
        largest = largest_p(pd.concat(waiting)[scorer.p_name].to_numpy(), fdr) if fdr else 0.0
        for rows in waiting:
            odd = rows[scorer.p_name] <= largest
            n_odd += int(odd.sum())
            why = {
                name: [reasons if is_odd else [] for reasons, is_odd in zip(rows[name], odd, strict=True)]
                for name in rows.columns.intersection(["why", "why_form"])
            }
            write(_lines(rows.assign(odd=odd, **why), suffix))
    return _Found(n_documents, n_odd, evidence, most_odd[0])


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
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _explained(scorer: "Scorer", documents: "pd.DataFrame", alpha: float) -> "list[PageDocument]":
    """Return documents with the words and the facts that make them odd."""
    found = scorer.explain(documents["text"].tolist())
    why = [each.why_form + each.why if scorer.by == "form" else each.why + each.why_form for each in found]
    columns: dict[str, Any] = {"words": [each.words for each in found], "why": why}
    return page_documents(documents.assign(rank=range(1, len(documents) + 1), **columns), alpha)


def _of_family(family: "Family") -> str:
    """Return a family of near-copies in a line, named by its first document."""
    like = f"id {family.id:.60}: {family.text:.60}" if family.id else f"row {family.row}"
    return one_line(f"Near-copies: {family.n_documents:,} new documents like {like}")


def _drift_line(found: _Found, drift: "Drift", alpha: float, fdr: float | None) -> str:
    """Return in a line how many new texts are odd, and whether they differ from those of the model."""
    from adbench_text.calibration import LEAST_P

    n_expected = format(drift.n_expected, ",.0f" if drift.n_expected >= 10 else ".2g")
    new = f", {count(drift.n_new, 'new text')}" if drift.n_new < found.n_documents else ""
    odd = f"{drift.n_odd:,} called odd ({n_expected} expected at alpha {alpha:g}, p {drift.p_odd:.2g})"
    if fdr is not None:
        odd = (
            f"{found.n_odd:,} called odd (--fdr: on average at most {100 * fdr:.3g} % of them false alarms), "
            f"{drift.n_odd:,} with p of at most {alpha:g} ({n_expected} expected, p {drift.p_odd:.2g})"
        )
    odd = f"{count(found.n_documents, 'document')}{new}, {odd}"
    uniform = ""
    if drift.p is not None:
        look = "are not" if drift.p < LEAST_P else "look"
        uniform = f"; p-values {look} uniform (Kolmogorov-Smirnov {drift.distance:.2g}, p {drift.p:.2g})"
    if drift.p_family < LEAST_P:
        uniform += f"; {drift.n_family:,} are near-copies of each other (p {drift.p_family:.2g})"
    verdict = "this file differs" if drift.is_found else "no sign that this file differs"
    return f"{odd}{uniform}: {verdict} from the file of the model."
