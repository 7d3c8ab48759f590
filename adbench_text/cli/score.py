"""``adbench-text score``: Score documents with a model."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from adbench_text.cli import score_sentences as sentences
from adbench_text.cli.document_tables import explained_documents, write_page
from adbench_text.cli.options import SectionedCommand, is_quiet, say
from adbench_text.cli.own_text import (
    DOCUMENTS,
    WORK,
    check_outputs,
    how_read,
    odd_options,
    print_notes,
)
from adbench_text.cli.score_input import differences, keeping_some, opened_as_fitted
from adbench_text.cli.score_output import FileScores, batches, score_batch, while_read, write_scores
from adbench_text.errors import InvalidValueError

_DRIFT = 4  # exit code if FILE differs
_PATH = click.Path(path_type=Path)
_N_FAMILIES = 3  # largest families of new near-copies to name
_N_GROWN = 3  # subjects that grew to name

_OPTIONS = [
    "Input",
    *DOCUMENTS,
    click.Option(
        ["--encoder"],
        default="",
        help="Encoder of MODEL, if it is in a file: ./mine.py:embed, as for fit.",
    ),
    "Odd",
    *odd_options("Judge by words, form, or both; short queries are judged by words.  [default: both]"),
    click.Option(
        ["--fdr"],
        type=float,
        metavar="SHARE",
        help="Largest expected share of false alarms among odd documents; replaces --alpha.",
    ),
    "Output",
    click.Option(
        ["--output", "-o"], type=_PATH, help="File to write, .csv or .jsonl.  [default: print JSON lines]"
    ),
    click.Option(["--page"], type=_PATH, help="Page to write, .html: the most odd documents."),
    click.Option(["--top"], default=20, type=click.IntRange(1), help="Documents of --page."),
    click.Option(
        ["--fail-on-drift"],
        is_flag=True,
        help=f"Exit with {_DRIFT} if FILE differs from the file that MODEL was fitted on.",
    ),
    "Execution",
    *WORK,
]


@click.command("score", cls=SectionedCommand, listed=_OPTIONS)
@click.argument("model", type=_PATH)
@click.argument("file")
def command(model: Path, file: str, output: Path | None, page: Path | None, **options: Any) -> None:
    """Score the documents of FILE (- for standard input) with a MODEL that fit has saved.

    Print one JSON object for each document, in the order of FILE, with its id and its score by words. p is
    the share of normal documents that score at least as high. p_form is the same share by form, and p_both
    by words and form together. odd says whether p_both, or the p of --by, is at most --alpha. why and
    why_form have the words and the facts about form that make the document odd. A CSV file has the same
    columns. With --page, documents are written only to --output. With --fdr, documents are written at the
    end, because --fdr needs the p of all documents.

    FILE is read like the file of fit, with the same --encoding. --text and --id are the same if FILE has
    these columns. --skip-lines is the same if FILE has the same format.

    A document that MODEL was fitted on is never odd: its p is 1. A line at the end, on standard error, says
    whether FILE differs from the file that MODEL was fitted on. The comparison uses only new documents, and
    copies count once. It asks four questions. Are more documents odd than expected? Are the p-values uniform,
    like the p-values of normal documents? Do near-copies have a larger share? Are words in more documents
    than expected? The words that grew follow this line, with a typical document. With --quiet, this line is
    printed only if FILE differs, and new near-copies are named only if their number is unlikely by chance.
    """
    from adbench_text.documents.chunks import results_of
    from adbench_text.documents.models.folder import load_model
    from adbench_text.documents.models.model import Scorer
    from adbench_text.text.language_finder import N_LOOKED_AT

    _check_paths(file, output, page)
    alpha, by, fdr = options["alpha"], options["by"], options["fdr"]
    context = click.get_current_context()
    if fdr is not None and context.get_parameter_source("alpha") != ParameterSource.DEFAULT:
        raise click.UsageError("--alpha and --fdr both say when a document is odd; give one of them.")
    fitted = load_model(model, options["encoder"])
    facts = fitted.training.options  # about the file that the model was fitted on, and how it was read
    file_scorer = Scorer(fitted, alpha, by, fdr)  # says whether the file differs
    # Benjamini-Hochberg never accepts p > fdr, so this scorer explains every document that may be odd
    document_scorer = file_scorer if fdr is None else Scorer(fitted, fdr, by)
    documents, used = opened_as_fitted(file, options, facts)
    print_notes(differences(used, facts))
    suffix = _suffix_of(output, page)
    n_on_page = options["top"] if page is not None else 0
    jobs = 1 if documents.is_pipe else options["jobs"]  # a pipe gets each answer at once
    score = partial(score_batch, document_scorer, with_text=n_on_page > 0)
    # nothing is read before `write_scores` asks for tables; then `sample` gets some of the texts
    sample: list[str] = []
    read = keeping_some(documents.batches(), sample, N_LOOKED_AT)
    tables = results_of(score, batches(read), options["address"] or jobs)
    prints_documents = output is None and suffix != ""
    if prints_documents and not options["fail_on_drift"]:  # the exit code needs all documents
        tables = while_read(tables)
    scores = write_scores(tables, document_scorer, n_on_page, output, suffix, fdr)
    drift = file_scorer.drift(scores.evidence)
    verdict = sentences.verdict(drift, alpha, fdr)
    counted = sentences.counted(scores, drift, alpha, fdr)
    nothing_odd = sentences.nothing_odd(scores, document_scorer.least_p, alpha, fdr)
    print_notes([*documents.late_notes, *_notes_on_texts(scores, sample, facts), *nothing_odd])
    grown = [*map(sentences.of_grown, drift.grown[:_N_GROWN])]
    if page is not None:
        write_page(
            page,
            file,
            headline=verdict,
            summary=[counted, sentences.learned(fitted), how_read(documents)],
            sections={"The most odd": explained_documents(document_scorer, scores.most_odd, alpha)},
            middle=document_scorer.centre,
            notes=[*map(sentences.of_family, drift.families[:_N_FAMILIES]), *grown],
        )
        say(f"Page: {page}.", err=True)
    prints_verdict = drift.is_found or not is_quiet()
    families = [family for family in drift.families if prints_verdict or family.is_notable][:_N_FAMILIES]
    conclusion = [f"{verdict} {counted}"] if prints_verdict else []
    for line in [*map(sentences.of_family, families), *conclusion, *grown]:
        click.echo(line, err=True)
    if options["fail_on_drift"] and drift.is_found:
        context.exit(_DRIFT)


def _suffix_of(output: Path | None, page: Path | None) -> str:
    """Return the suffix of the format to write documents in; empty if only the page is written.

    Without an output and a page, documents are printed as JSON lines.
    """
    if output is not None:
        return output.suffix
    return ".jsonl" if page is None else ""


def _notes_on_texts(scores: FileScores, sample: Sequence[str], facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes if the documents are not like the documents that the model was fitted on.

    They may be in another language, empty more often, or much shorter or longer. `sample` has some of the
    documents. `facts` has the facts that the model keeps about the file that it was fitted on.
    """
    from adbench_text.text.language_finder import LanguageCounts

    language = facts.get("language", "en")
    if other := LanguageCounts.of_some(sample).other_than(language):
        yield sentences.other_language(other, language)
    yield from sentences.empty(scores, facts)
    yield from sentences.other_length(sample, facts.get("median_words"))


def _check_paths(file: str, output: Path | None, page: Path | None) -> None:
    """Raise InvalidValueError if an output has a wrong suffix, or would replace FILE."""
    for option, path, suffixes in (("--output", output, (".csv", ".jsonl")), ("--page", page, (".html",))):
        if path is not None and path.suffix not in suffixes:
            raise InvalidValueError(f"{option} is a file {' or '.join(suffixes)}, got {str(path)!r}.")
    check_outputs(file, *filter(None, (output, page)))
