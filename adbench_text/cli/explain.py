"""``adbench-text explain``: a page of documents with the words that make them odd for a model."""

from pathlib import Path
from typing import Any

import click

from adbench_text.cli.options import adding
from adbench_text.cli.own_text import DOCUMENTS, alpha_option, check_outputs, opened, write_page


@click.command("explain")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file")
@click.option(
    "--output", "-o", default="explained.html", type=click.Path(path_type=Path), help="Path of the page."
)
@click.option("--top", default=20, type=click.IntRange(1), help="Number of documents, the most odd first.")
@adding(*DOCUMENTS, alpha_option())
def command(model: Path, file: str, output: Path, top: int, alpha: float, **options: Any) -> None:
    """Write a page of the most odd documents of FILE, their words coloured by what MODEL makes of them."""
    from adbench_text.models.folder import load
    from adbench_text.models.model import Scorer
    from adbench_text.plugins.scores import N_WHY, odd_words
    from adbench_text.reports.formats._heatmap import PageDocument

    check_outputs(file, output)
    fitted = load(model)
    scorer = Scorer(fitted, alpha)
    documents = opened(file, options).all()
    scored = scorer.score([document.text for document in documents])
    with_words = [place for place, each in enumerate(scored) if each.score is not None]
    chosen = sorted(with_words, key=lambda place: scored[place].score or 0.0, reverse=True)[:top]
    words_of = scorer.words([documents[place].text for place in chosen])
    shown = []
    for place, words in zip(chosen, words_of, strict=True):
        document, result = documents[place], scored[place]
        facts = [("id", document.id), ("p", f"{result.p:.2g}"), ("score", f"{result.score:.3g}")]
        why = odd_words(words, scorer.centre, N_WHY) or result.why
        shown.append(PageDocument(facts, why, document.text, words))
    n_odd = sum(each.is_odd for each in scored)
    summary = [
        f"{len(documents):,} documents, {len(documents) - len(with_words):,} without words; "
        f"{fitted.training.options.get('configuration', fitted.name)}, fitted on "
        f"{fitted.training.n_documents:,} documents.",
        f"Odd at {100 * alpha:g} % false alarms: {n_odd:,}. p is the share of normal documents that score at "
        "least as high.",
    ]
    write_page(output, summary, shown, scorer.centre)
    click.echo(f"{summary[0]}\n{summary[1]}\nPage: {output}")
