"""How well the scores of words find odd words."""

from collections.abc import Iterator

from adbench_text.metrics import ALIKE, AS_PUBLISHED, WORD_METRICS
from adbench_text.reports.comparison import Comparison, Corpus
from adbench_text.reports.published import read
from adbench_text.reports.report import Entry, Table, figure

_FIGURES = "words.json"  # published figures in percent, and notes on the datasets
_FOR_WORDS = [f"{edition}{name}" for edition in (ALIKE, AS_PUBLISHED) for name in WORD_METRICS]
_FOR_DOCUMENTS = [f"{ALIKE}max_auroc", f"{ALIKE}max_ap", "auroc"]
#: The names of metrics in the file of published figures, which are for words as published.
_PUBLISHED_NAMES = {
    f"{AS_PUBLISHED}auroc": "auroc",
    f"{AS_PUBLISHED}ap": "ap",
    f"{ALIKE}max_auroc": "documents_auroc",
    f"{ALIKE}max_ap": "documents_ap",
}


def tables(comparison: Comparison) -> Iterator[Table]:
    """Yield a table of means over splits and seeds, a row for each detector, and the published figures below.

    Only corpora with marked words have rows.
    """
    titles = ["AUROC", "AP", "FPR95"]
    of_documents = ["AUROC, highest word", "AP, highest word", "AUROC, own score"]
    notes = read(_FIGURES)["notes"]
    corpora = [corpus for corpus in comparison.corpora if corpus.has_words]
    if corpora:
        yield comparison.table(
            "Words (%), cut alike and as published; documents by their highest word and by their own score",
            ["detector", *titles, *(f"{title}, as published" for title in titles), *of_documents],
            lambda corpus: [_rows(corpus)] if corpus.has_words else [],
            notes=[notes[corpus.dataset] for corpus in corpora if corpus.dataset in notes],
        )


def _rows(corpus: Corpus) -> list[list[Entry]]:
    """Return the rows of our detectors on a corpus, then the rows of published methods.

    A published method has no figure for some metrics.
    """
    metrics = [*_FOR_WORDS, *_FOR_DOCUMENTS]
    rows = [[Entry(detector.label), *entries] for detector, entries in corpus.measured(metrics)]
    for method in read(_FIGURES)["percent"].get(corpus.dataset, ()):
        figures = [method.get(_PUBLISHED_NAMES.get(metric, "")) for metric in metrics]
        rows.append([Entry(f"{method['method']} (published)"), *map(figure, figures)])
    return rows
