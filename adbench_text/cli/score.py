"""``adbench-text score``: score documents with a model; which are most odd, do they differ from its own?"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from adbench_text.cli.options import SectionedCommand, adding
from adbench_text.cli.own_text import (
    DOCUMENTS,
    STDIN,
    WORK,
    alpha_option,
    by_option,
    check_outputs,
    jobs_of,
    numbers_of,
    opened,
    print_documents,
    sections_of,
    write_page,
)
from adbench_text.cli.progress import Rows, count
from adbench_text.cli.show import link, show, table
from adbench_text.errors import AdbenchTextError, InvalidValueError
from adbench_text.escaping import no_formula
from adbench_text.storage import atomic_path
from adbench_text.text.reading import Document

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.calibration import Drift
    from adbench_text.documents.page import PageDocument
    from adbench_text.models.model import Scorer

_MOST = 4096  # documents that are scored together
_SUFFIXES = (".csv", ".jsonl")
_OF_FORM = ("p_form", "p_both", "why_form")  # not known by words alone
_DRIFT = 4  # exit code
_SHARE = 0.1  # of normal documents; the words of documents with at most this p are counted


_SECTIONS = sections_of(
    Odd=("--alpha", "--by"),
    Output=("--output", "--page", "--summary", "--top", "--json", "--fail-on-drift"),
)


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
    "--page",
    type=click.Path(path_type=Path),
    help="Page to write, .html: the most odd documents, their words coloured by what MODEL makes of them.",
)
@click.option(
    "--summary", is_flag=True, help="Print the words and documents that make FILE differ from that of MODEL."
)
@click.option(
    "--top",
    default=20,
    type=click.IntRange(1),
    help="Number of documents of --page and --summary, and of words, the most odd first.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the last line on standard output, as JSON; with --output or --page.",
)
@click.option("--fail-on-drift", is_flag=True, help=f"Exit with {_DRIFT} if FILE differs from that of MODEL.")
@adding(*DOCUMENTS, alpha_option(), by_option("both, if the model knows form"), *WORK)
def command(
    model: Path,
    file: str,
    output: Path | None,
    page: Path | None,
    summary: bool,
    top: int,
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
    facts about its form that make it odd). A CSV file has the same columns. With --page or --summary the
    documents are written to --output only.

    A document of the file of MODEL is not odd: its p is 1. The last line, on standard error, shows whether
    the others, copies counted once, differ from that file: how many of them are called odd, how many are
    expected, and whether their p-values are uniform, as those of normal documents are.
    """
    from adbench_text.documents.chunks import results_of
    from adbench_text.models.folder import load_model
    from adbench_text.models.model import Scorer

    is_shown = summary or page is not None
    if as_json and summary:
        raise click.UsageError("--json and --summary both print on standard output; give one of them.")
    if as_json and output is None and page is None:
        raise click.UsageError("--json prints its line where the documents are; give --output or --page too.")
    for option, path, suffixes in (("--output", output, _SUFFIXES), ("--page", page, (".html",))):
        if path is not None:
            if path.suffix not in suffixes:
                raise InvalidValueError(f"{option} is a file {' or '.join(suffixes)}, got {str(path)!r}.")
            check_outputs(file, path)
    fitted = load_model(model)
    scorer = Scorer(fitted, alpha, by)
    suffix = output.suffix if output is not None else "" if is_shown else ".jsonl"
    scoring = _Scoring(scorer, suffix, top if is_shown else 0, with_words=summary and scorer.by != "form")
    if file == STDIN:  # the first answer comes with the first document
        options["jobs"] = 1
    found = _Found()
    with (
        _written(output) as write,
        Rows() as progress,
        closing(results_of(scoring, enumerate(_batches(opened(file, options))), jobs_of(options))) as scored,
    ):
        if suffix == ".csv":
            write(",".join(scoring.names))
        for lines, of_batch in scored:
            if lines:
                write(lines)
            found.add(of_batch, top)
            progress("scoring", found.n_documents, None)
    drift = scorer.drift(found.evidence)
    last_line = _drift_line(found.n_documents, drift, alpha)
    shown = _explained(scorer, found.most_odd) if is_shown else []
    if page is not None:
        training = fitted.training
        head = [
            last_line,
            f"{training.options.get('configuration', fitted.name)}, fitted on {training.n_documents:,} "
            "documents; p is the share of normal documents that score at least as high.",
        ]
        write_page(page, file, head, {"The most odd": shown}, scorer.centre)
        click.echo(f"Page: {link(str(page), page, err=True)}.", err=True)
    click.echo(last_line, err=True)
    if summary:
        _print_summary(found, shown, top, scorer.p_name)
    if as_json:
        facts = {"n_documents": found.n_documents, "by": scorer.by, "alpha": alpha} | drift._asdict()
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


class _Document(NamedTuple):
    """One of the most odd documents."""

    order: tuple[float, ...]  # by its p, then its score, then its place
    id: str
    text: str
    scored: Mapping[Any, Any]


class _Word(NamedTuple):
    """A word of the more odd documents."""

    weight: float  # the sum of its scores above the centre, one for each document
    n_documents: int
    example: tuple[tuple[float, ...], str]  # the order and the identifier of the most odd one


@dataclass
class _Found:
    """What is known of the documents of a batch, or of all batches so far."""

    n_documents: int = 0
    evidence: dict[int, float] = field(default_factory=dict)
    most_odd: list[_Document] = field(default_factory=list)
    words: dict[str, _Word] = field(default_factory=dict)

    def add(self, batch: "_Found", top: int) -> None:
        """Add what is known of another batch; keep the `top` most odd documents."""
        self.n_documents += batch.n_documents
        self.evidence |= batch.evidence
        self.most_odd = sorted([*self.most_odd, *batch.most_odd])[:top]
        for name, word in batch.words.items():
            self.add_word(name, word)

    def add_word(self, name: str, new: _Word) -> None:
        """Add what is known of a word in other documents."""
        weight, n_documents, example = self.words.get(name, (0.0, 0, new.example))
        self.words[name] = _Word(
            weight + new.weight, n_documents + new.n_documents, min(example, new.example)
        )


@dataclass(frozen=True)
class _Scoring:
    """Scores batches of documents; a worker process may do it."""

    scorer: "Scorer"
    suffix: str  # of the file of the lines; empty if there are none
    top: int  # number of the most odd documents that are kept
    with_words: bool  # whether the words of odd documents are counted

    @property
    def names(self) -> list[str]:
        """The names of the values of a document."""
        names = ["id", "score", "p", "p_form", "p_both", "odd", "why", "why_form"]
        return [name for name in names if self.scorer.by != "words" or name not in _OF_FORM]

    def __call__(self, numbered: tuple[int, list[tuple[str, str]]]) -> tuple[str, _Found]:
        """Return the lines of documents, given their identifiers and texts; and what is known of them."""
        number, batch = numbered
        ids, texts = [name for name, _ in batch], [text for _, text in batch]
        table = self.scorer.score(texts)
        table.insert(0, "id", ids)
        found = _Found(len(batch), self.scorer.evidence(table))
        if self.top:
            order = zip(table[self.scorer.p_name], -table["score"].fillna(0), strict=True)
            rows = table.to_dict("records")
            ordered = sorted(
                _Document((*of, number, place), ids[place], texts[place], rows[place])
                for place, of in enumerate(order)
                if not isnan(of[0])
            )
            found.most_odd = ordered[: self.top]
            if self.with_words:
                self._add_words(found, [each for each in ordered if each.order[0] <= _SHARE])
        return self._lines(table[self.names]) if self.suffix else "", found

    def _add_words(self, found: _Found, documents: list[_Document]) -> None:
        """Add the words that make documents more odd."""
        explanations = self.scorer.explain([each.text for each in documents])
        for each, explanation in zip(documents, explanations, strict=True):
            highest: dict[str, float] = {}
            for word in explanation.words:
                name = word.token.lower()
                highest[name] = max(highest.get(name, 0.0), word.score - self.scorer.centre)
            for name, weight in highest.items():
                if weight > 0:
                    found.add_word(name, _Word(weight, 1, (each.order, each.id)))

    def _lines(self, table: "pd.DataFrame") -> str:
        """Return a line for each document."""
        if self.suffix != ".csv":
            records = table.astype(object).where(table.notna(), None).to_dict("records")
            return "\n".join(map(json.dumps, records))
        cells: dict[str, Any] = {"id": table["id"].map(no_formula), "odd": table["odd"].astype(int)}
        for name in {"why", "why_form"}.intersection(table):
            cells[name] = table[name].map(", ".join).map(no_formula)
        return table.assign(**cells).to_csv(header=False, index=False, lineterminator="\n").removesuffix("\n")


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


def _explained(scorer: "Scorer", documents: list[_Document]) -> "list[PageDocument]":
    """Return documents with the words and the facts that make them odd."""
    from adbench_text.documents.page import PageDocument

    explanations = scorer.explain([each.text for each in documents])
    shown = []
    for rank, (each, (words, why, why_form)) in enumerate(zip(documents, explanations, strict=True), start=1):
        reasons = [*why_form, *why] if scorer.by == "form" else [*why, *why_form]
        shown.append(PageDocument(str(rank), each.id, numbers_of(each.scored), reasons, each.text, words))
    return shown


def _print_summary(found: _Found, shown: "list[PageDocument]", top: int, p: str) -> None:
    """Print the words that weigh most, and the documents with the smallest p, by the name of that p."""
    if found.words:
        click.echo(f"Words that weigh most in the documents with p of at most {_SHARE:g}:")
        strongest = sorted(found.words.items(), key=lambda item: (-item[1].weight, item[0]))[:top]
        lines = [(name, word.n_documents, word.example[1]) for name, word in strongest]
        show(None, [table(lines, ("word", "documents", "example"))], as_json=False)
    else:
        click.echo("No words: the detector scores none, or none makes a document odd.")
    if shown:
        click.echo("Documents with the smallest p:")
        print_documents([each._replace(rank="") for each in shown], p)


def _drift_line(n_documents: int, drift: "Drift", alpha: float) -> str:
    """Return in a line how many new texts are odd, and whether they differ from those of the model."""
    from adbench_text.calibration import LEAST_P

    n_expected = format(drift.n_expected, ",.0f" if drift.n_expected >= 10 else ".2g")
    new = f", {count(drift.n_new, 'new text')}" if drift.n_new < n_documents else ""
    odd = (
        f"{count(n_documents, 'document')}{new}, {drift.n_odd:,} called odd ({n_expected} expected at alpha "
        f"{alpha:g}, p {drift.p_odd:.2g})"
    )
    uniform = ""
    if drift.p is not None:
        look = "are not" if drift.p < LEAST_P else "look"
        uniform = f"; p-values {look} uniform (Kolmogorov-Smirnov {drift.distance:.2g}, p {drift.p:.2g})"
    verdict = "this file differs" if drift.is_found else "no sign that this file differs"
    return f"{odd}{uniform}: {verdict} from the file of the model."
