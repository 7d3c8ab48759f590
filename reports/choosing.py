"""A table for choosing a detector: knowledge, costs and figures of the main ones."""

from collections.abc import Iterable, Iterator

from adbench_text.corpora.split_key import percent
from adbench_text.reports.report import NONE, Entry, Table, figure
from adbench_text.reports.standings import DOCUMENTS, LEVELS, Place, Standing, seconds

_CORPORA = "20news", "agnews", "reuters"
_NOTHING = "nothing besides the documents"
_WORDFREQ, _GLOVE = "word frequencies (CC BY-SA 4.0)", "GloVe (PDDL)"
_LLAMA = "token vectors of LLaMA 2 70B, no network at run time (MIT, as their package says)"
_ENSEMBLE = f"{_LLAMA}, {_WORDFREQ}, {_GLOVE}"
#: Name, advice when to use it, and outside knowledge with its licence.
_DETECTORS = [
    ("ensemble:robust", "first; some training documents may be odd", _ENSEMBLE),
    ("ensemble:clean", "first; all training documents are normal", _ENSEMBLE),
    (
        "ensemble:robust(encoder=minilm)",
        "when you have minutes",
        f"MiniLM (Apache 2.0), {_WORDFREQ}, {_GLOVE}",
    ),
    ("llr:robust", "without pre-trained vectors; some may be odd", f"{_WORDFREQ}, {_GLOVE}"),
    ("llr", "as the baseline, a closed formula; all are normal", _WORDFREQ),
    ("knn-words", "in any language", _NOTHING),
    ("ngrams", "when style and spelling matter, in any language", _NOTHING),
    ("date:fast", "when you compare with DATE, not for hours", "word pieces of BERT (Apache 2.0)"),
    ("ocsvm", "when you compare with a one-class SVM", _GLOVE),
    ("cvdd", "when you compare with CVDD", _GLOVE),
]


def table(places: Iterable[Place]) -> Table:
    """Return a row for each main detector; the figures are means over the splits of a corpus.

    The seconds are for fitting and scoring, per 10,000 training and test documents of all corpora.
    """
    of_datasets = {place.corpus.dataset: place for place in places}
    shown = [of_datasets[name] for name in _CORPORA]
    header = ["detector", "take it", "knows (licence)", f"seconds for {DOCUMENTS:,}"]
    header += [f"{place.corpus.label}, {percent(level)}" for place in shown for level in LEVELS]
    rows = [
        [Entry(name), Entry(when), Entry(knows), seconds(_clean(name, shown)), *_figures(name, shown)]
        for name, when, knows in _DETECTORS
    ]
    return Table("", header, rows, n_labels=3)


def _figures(name: str, places: Iterable[Place]) -> Iterator[Entry]:
    """Yield the figure of a detector on each corpus at each level; `NONE` if it has no standing there."""
    for place in places:
        for level in LEVELS:
            standing = place.standings.get((name, level))
            yield figure(standing.entry.value) if standing else NONE


def _clean(name: str, places: Iterable[Place]) -> list[Standing]:
    """Return the standings of a detector without outliers in the training data, if it has one on a corpus."""
    key = name, LEVELS[0]
    return [place.standings[key] for place in places if key in place.standings]
