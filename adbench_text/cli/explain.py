"""``adbench-text explain``: a page of documents with the words that make them odd for a model."""

from pathlib import Path
from typing import Any

import click

from adbench_text.cli.options import adding
from adbench_text.cli.own_text import (
    DOCUMENTS,
    alpha_option,
    by_option,
    check_outputs,
    numbers_of,
    opened,
    write_page,
)


@click.command("explain")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@click.option(
    "--output", "-o", default="explained.html", type=click.Path(path_type=Path), help="Path of the page."
)
@click.option("--top", default=20, type=click.IntRange(1), help="Number of documents, the most odd first.")
@adding(*DOCUMENTS, alpha_option(), by_option("both, if the model knows form"))
def command(
    model: Path, file: str, output: Path, top: int, alpha: float, by: str | None, **options: Any
) -> None:
    """Write a page of the most odd documents of FILE, their words coloured by what MODEL makes of them."""
    from adbench_text.models.folder import load
    from adbench_text.models.model import Scorer
    from adbench_text.reports.formats._heatmap import PageDocument

    check_outputs(file, output)
    fitted = load(model)
    scorer = Scorer(fitted, alpha, by)
    documents = opened(file, options).all()
    scored = scorer.score([document.text for document in documents])
    p_of = {place: p for place, each in enumerate(scored) if (p := scorer.p_of(each)) is not None}
    chosen = sorted(p_of, key=lambda place: (p_of[place], -(scored[place].score or 0.0)))[:top]
    texts = [documents[place].text for place in chosen]
    shown = []
    for place, words, *why in zip(chosen, scorer.words(texts), *scorer.why(texts), strict=True):
        facts = {"id": documents[place].id} | numbers_of(scored[place])
        shown.append(PageDocument(list(facts.items()), [*why[0], *why[1]], documents[place].text, words))
    by_what = {"words": " by words", "form": " by form", "both": " by words and form"}[scorer.by]
    by_what = by_what if fitted.form else ""
    n_odd = sum(each.is_odd for each in scored)
    n_empty = sum(each.score is None for each in scored)
    summary = [
        f"{len(documents):,} documents, {n_empty:,} without words; "
        f"{fitted.training.options.get('configuration', fitted.name)}, fitted on "
        f"{fitted.training.n_documents:,} documents.",
        f"Odd{by_what} at {100 * alpha:g} % false alarms: {n_odd:,}. p is the share of normal documents that "
        "score at least as high.",
    ]
    write_page(output, summary, {"": shown}, scorer.centre)
    click.echo(f"{summary[0]}\n{summary[1]}\nPage: {output}")
