"""``adbench-text score``: score documents with a model; which are most odd, do they differ from its own?"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
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
from adbench_text.cli.show import echo, table
from adbench_text.errors import InvalidValueError
from adbench_text.escaping import no_formula, printable
from adbench_text.orders import P_OF_ORDER
from adbench_text.storage import atomic_path
from adbench_text.text.reading import Document, DocumentFile

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
    as_json: bool,
    fail_on_drift: bool,
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
    from adbench_text.models.folder import load_model
    from adbench_text.models.model import Scorer

    _check(file, output, page, summary, as_json)
    fitted = load_model(model)
    scorer = Scorer(fitted, options["alpha"], options["by"])
    is_shown = summary or page is not None
    suffix = output.suffix if output is not None else "" if is_shown else ".jsonl"
    top = options["top"] if is_shown else 0
    scoring = _Scoring(scorer, suffix, top, with_words=summary and scorer.by != "form")
    if file == STDIN:  # the first answer comes with the first document
        options["jobs"] = 1
    found = _found(scoring, opened(file, options), output, jobs_of(options))
    drift = scorer.drift(found.evidence)
    last_line = _drift_line(found.n_documents, drift, options["alpha"])
    shown = _explained(scorer, found.most_odd)
    if page is not None:
        learned = (
            f"{fitted.training.options.get('configuration', fitted.name)}, fitted on "
            f"{fitted.training.n_documents:,} documents; p is the share of normal documents that score at "
            "least as high."
        )
        write_page(page, file, [last_line, learned], {"The most odd": shown}, scorer.centre)
        click.echo(printable(f"Page: {page}."), err=True)
    click.echo(last_line, err=True)
    if summary:
        _print_summary(found, shown, top, scoring.p)
    if as_json:
        facts = {"n_documents": found.n_documents, "by": scorer.by, "alpha": options["alpha"]}
        click.echo(json.dumps(facts | drift._asdict() | {"is_drift": drift.is_found}))
    if fail_on_drift and drift.is_found:
        click.get_current_context().exit(_DRIFT)


def _check(file: str, output: Path | None, page: Path | None, summary: bool, as_json: bool) -> None:
    """Raise an error if the options contradict each other, or would overwrite the documents."""
    if as_json and summary:
        raise click.UsageError("--json and --summary both print on standard output; give one of them.")
    if as_json and output is None and page is None:
        raise click.UsageError("--json prints its line where the documents are; give --output or --page too.")
    for option, path, suffixes in (("--output", output, _SUFFIXES), ("--page", page, (".html",))):
        if path is not None:
            if path.suffix not in suffixes:
                raise InvalidValueError(f"{option} is a file {' or '.join(suffixes)}, got {str(path)!r}.")
            check_outputs(file, path)


class _Found(NamedTuple):
    """What is known of the documents of a batch, or of all."""

    n_documents: int
    evidence: dict[int, float]  # of drift
    most_odd: "pd.DataFrame"  # the first documents, with their texts
    words: "pd.DataFrame"  # their weights, their numbers of documents, and the most odd one of each
    lines: str  # to write


@dataclass(frozen=True)
class _Scoring:
    """Scores batches of documents; a worker process may do it."""

    scorer: "Scorer"
    suffix: str  # of the file of the lines; empty if there are none
    top: int  # number of the most odd documents that are kept
    with_words: bool  # whether the words of odd documents are counted

    @property
    def p(self) -> str:
        """The name of the p by which documents are odd."""
        return P_OF_ORDER[self.scorer.by]

    @property
    def names(self) -> list[str]:
        """The names of the values of a document."""
        names = ["id", "score", "p", "p_form", "p_both", "odd", "why", "why_form"]
        return [name for name in names if self.scorer.by != "words" or name not in _OF_FORM]

    def __call__(self, batch: list[tuple[str, str]]) -> _Found:
        """Return what is known of documents, given their identifiers and texts."""
        import pandas as pd

        ids, texts = map(list, zip(*batch, strict=True))
        results = self.scorer.score(texts)
        table = pd.DataFrame(results, dtype=object).rename(columns={"is_odd": "odd"})
        table = table.assign(id=ids, text=texts)
        ordered = self.ordered([table.dropna(subset=[self.p])])
        most = _SHARE if self.with_words else -1
        words = self._words(ordered[ordered[self.p] <= most])
        evidence = self.scorer.evidence(results)
        return _Found(len(batch), evidence, ordered.head(self.top), words, self._lines(table))

    def _lines(self, table: "pd.DataFrame") -> str:
        """Return a line for each document."""
        if self.suffix == ".jsonl":
            return "".join(f"{json.dumps(row)}\n" for row in table[self.names].to_dict("records"))
        if not self.suffix:
            return ""
        why = {name: table[name].map(", ".join) for name in ("why", "why_form")}
        cells = table.assign(odd=table["odd"].astype(int), **why)[self.names].map(no_formula)
        return cells.to_csv(index=False, header=False, lineterminator="\n")

    def _words(self, documents: "pd.DataFrame") -> "pd.DataFrame":
        """Return the words that make documents odd; of each document the highest score of a word counts."""
        import pandas as pd

        scored = self.scorer.words(documents["text"].tolist())
        rows = [
            (word.token.lower(), word.score - self.scorer.centre, place)
            for place, words in enumerate(scored)
            for word in words
        ]
        words = pd.DataFrame(rows, columns=["word", "weight", "place"])
        words = words[words["weight"] > 0].groupby(["word", "place"], as_index=False).agg({"weight": "max"})
        own = documents[["id", "score", self.p]].reset_index(drop=True)
        return self.joined([words.assign(documents=1).join(own, on="place")])

    def joined(self, words: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
        """Return the words of several batches, each once."""
        how = {"weight": "sum", "documents": "sum", "id": "first", "score": "first", self.p: "first"}
        return self.ordered(words).groupby("word", as_index=False).agg(how)

    def ordered(self, documents: "Sequence[pd.DataFrame]") -> "pd.DataFrame":
        """Return the documents of several batches, the most odd first: by their p, then by their score."""
        import pandas as pd

        return pd.concat(documents).sort_values(
            [self.p, "score"], ascending=[True, False], key=lambda values: values.astype(float).fillna(0)
        )


def _found(scoring: _Scoring, documents: DocumentFile, output: Path | None, jobs: int | str) -> _Found:
    """Score documents, and write a line for each; a file is there when it is complete."""
    from adbench_text.documents.chunks import results_of

    batches: list[_Found] = []
    with ExitStack() as stack:
        write: Callable[[str], object] = partial(click.echo, nl=False)
        if output is not None:
            temporary = stack.enter_context(atomic_path(output))
            write = stack.enter_context(temporary.open("w", newline="", encoding="utf-8")).write
        if scoring.suffix == ".csv":
            write(",".join(scoring.names) + "\n")
        progress = stack.enter_context(Rows())
        for batch in stack.enter_context(closing(results_of(scoring, _batches(documents), jobs))):
            if batch.lines:
                write(batch.lines)
            batches.append(batch._replace(lines=""))
            progress("scoring", sum(each.n_documents for each in batches), None)
    return _Found(
        sum(batch.n_documents for batch in batches),
        {key: p for batch in batches for key, p in batch.evidence.items()},
        scoring.ordered([batch.most_odd for batch in batches]).head(scoring.top),
        scoring.joined([batch.words for batch in batches]),
        lines="",
    )


def _batches(documents: Iterable[Document]) -> Iterator[list[tuple[str, str]]]:
    """Yield documents in batches that double: the first answer comes with the first document."""
    remaining, size = ((each.id, each.text) for each in documents), 1
    while batch := list(islice(remaining, size)):
        yield batch
        size = min(2 * size, _MOST)


def _explained(scorer: "Scorer", documents: "pd.DataFrame") -> "list[PageDocument]":
    """Return documents with the words and the facts that make them odd."""
    from adbench_text.documents.page import PageDocument

    texts = documents["text"].tolist()
    shown = []
    rows: Iterator[Any] = documents.itertuples()
    explained = zip(rows, scorer.words(texts), *scorer.why(texts), strict=True)
    for rank, (each, words, why, why_form) in enumerate(explained, start=1):
        reasons = [*why_form, *why] if scorer.by == "form" else [*why, *why_form]
        shown.append(PageDocument(str(rank), each.id, numbers_of(each), reasons, each.text, words))
    return shown


def _print_summary(found: _Found, shown: "list[PageDocument]", top: int, p: str) -> None:
    """Print the words that weigh most, and the documents with the smallest p, by the name of that p."""
    if len(found.words):
        click.echo(f"Words that weigh most in the documents with p of at most {_SHARE:g}:")
        strongest = found.words.sort_values(["weight", "word"], ascending=[False, True]).head(top)
        rows = strongest[["word", "documents", "id"]].to_dict("split")["data"]
        echo(table(rows, header=("word", "documents", "example")))
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
