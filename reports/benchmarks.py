"""Figures that others published, for corpora made from their data and as means over splits."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import pandas as pd

from adbench_text.contract.protocols import ONE_VS_REST, RANK_ALL
from adbench_text.contract.scores import FROM_SCRATCH, PRE_TRAINED, WORDS
from adbench_text.corpora.split_key import ALL_OUTLIERS
from adbench_text.reports import published
from adbench_text.reports.report import UNEQUAL, Entry, figure

#: The outside knowledge of a published method, from less to more.
KNOWLEDGE = ("none", "word vectors", PRE_TRAINED, "commercial encoder", "labels")
NONE, WORD_VECTORS, ENCODER, COMMERCIAL, LABELS = KNOWLEDGE
_REGIMES = FROM_SCRATCH, WORDS, PRE_TRAINED  # our names of the first three

#: Published methods that are detectors of ours, too.
OURS = {"DATE": "date", "DATE, run again": "date", "CVDD": "cvdd"}

_FIGURES = "outside.json"  # as the sources print them: fractions, for Text-ADBench percent

#: How a corpus of ours relates to the published one; docs/reports.md explains the words.
EXACT, REDRAWN, REBUILT = "exact", "redrawn", "rebuilt"
_NLPAD, _MCA2, _TAD, _TEXTAD = "nlp_adbench", "mca2", "tad_bench", "text_adbench"
_BAO, _FIGURES_OF_BAO = "Bao et al.", "fast-detect.json"
_NAMES = {_NLPAD: "NLP-ADBench", _MCA2: "MCA2", _TAD: "TAD-Bench", _TEXTAD: "Text-ADBench"}
# For each corpus of ours: its relation to the published one, the protocol, and the columns of the figures.
_CORPORA: dict[str, tuple[str, str, dict[str, str]]] = {
    "sst-far": (EXACT, "redrawn", {published.WU: "sst-far"}),
    "rostd": (REDRAWN, ONE_VS_REST, {published.WU: "rostd"}),
    "nlpad-bbc": (EXACT, ONE_VS_REST, {_NLPAD: "BBC", _MCA2: "BBC"}),
    "nlpad-email": (REDRAWN, "redrawn", {_NLPAD: "Email"}),
    "nlpad-sms": (REDRAWN, "redrawn", {_NLPAD: "SMS"}),
    "tad-email": (EXACT, RANK_ALL, {_TAD: "email_spam"}),
    "tad-sms": (EXACT, RANK_ALL, {_TAD: "smsspam"}),
    "tad-covid": (EXACT, RANK_ALL, {_TAD: "covid_fake"}),
    "tad-liar2": (EXACT, RANK_ALL, {_TAD: "liar2"}),
    "tad-hate": (EXACT, RANK_ALL, {_TAD: "hate_speech"}),
    "tad-olid": (EXACT, RANK_ALL, {_TAD: "olid"}),
    "textad-20news": (REBUILT, ONE_VS_REST, {_TEXTAD: "20newsgroups"}),
    "textad-reuters": (REBUILT, ONE_VS_REST, {_TEXTAD: "reuters21578"}),
    "textad-sms": (REBUILT, ONE_VS_REST, {_TEXTAD: "sms_spam"}),
    "textad-sst2": (REBUILT, ONE_VS_REST, {_TEXTAD: "sst2"}),
    **{
        f"fast-detect:{genre}-{model}": (REDRAWN, "redrawn", {_BAO: f"{genre}_{column}"})
        for genre in ("xsum", "pubmed")
        for model, column in {"chatgpt": "gpt-3.5-turbo", "gpt-4": "gpt-4", "davinci": "davinci"}.items()
    },
}
# Our name of a metric: their name. Their AUPR, like ours, has the outliers as positives and uses the
# trapezoidal rule. If all scores are equal, it is (1 + share of outliers) / 2, which on 20 Newsgroups is
# higher than any real figure.
_METRICS = {"auroc": "auroc", "aupr_out": "aupr"}
_NOT_RUN = 50.0  # the AUROC that Text-ADBench prints for a run without a result
# By the beginning of the name of a method. The first kind that fits counts: GPT-2 from scratch knows nothing.
_KNOWN_BY = {
    NONE: ("DATE", "GPT-2 from scratch", "likelihood ratios"),
    WORD_VECTORS: ("CVDD", "OCSVM", "IForest", "GloVe"),
    ENCODER: (
        *("BERT", "MDF+IMLM", "GPT-2", "MLKD", "MiniLM", "Llama", "stella", "Qwen", "LLM2Vec"),
        *("Fast-DetectGPT", "DNA-GPT", "entropy", "likelihood", "log-rank", "rank", "LRR", "NPR"),
    ),
    COMMERCIAL: ("OpenAI", "O-", "MCA2", "NCMOD", "RCPMOD"),
    LABELS: ("FATE", "RoBERTa"),
}


@dataclass(frozen=True)
class Row:
    """A published figure in percent."""

    source: str
    method: str
    knowledge: str
    figure: float
    spread: float | None = None  #: over the seeds

    @property
    def label(self) -> str:
        """The method and its source."""
        return f"{self.method} ({self.source})"

    @property
    def entry(self) -> Entry:
        """The figure as an entry of a table."""
        return figure(self.figure, spread=self.spread)

    @property
    def compares_few_methods(self) -> bool:
        """Whether its source compares so few methods that a table has room for all."""
        return self.source in (published.PAPER, published.WU)


def relation(cells: pd.DataFrame) -> pd.Series:
    """Return how the corpus of each cell relates to a published one (`EXACT`); empty without one.

    It is also empty for a limited corpus, a smaller test set, another protocol, or another edition.
    """
    relations = cells["dataset"].map({name: relation for name, (relation, *_) in _CORPORA.items()})
    protocol = cells["dataset"].map({name: protocol for name, (_, protocol, _) in _CORPORA.items()})
    is_complete = (cells["test_outliers"] == ALL_OUTLIERS) & cells["limit"].isna()
    # a rebuilt corpus may come from a repacked archive, so it need not be the published edition
    is_theirs = cells["published"] | (relations == REBUILT)
    return relations.where(is_complete & (cells["protocol"] == protocol) & is_theirs, "")


@cache
def rows(dataset: str, metric: str) -> tuple[Row, ...]:
    """Return the published figures for our dataset and metric, in the order of the sources.

    A dataset that is not in `_CORPORA` has none.
    """
    if dataset not in _CORPORA:
        return ()
    _, _, columns = _CORPORA[dataset]
    readers = {_TEXTAD: _of_lists, published.WU: _of_wu, _BAO: _of_bao}
    return tuple(
        row
        for source, column in columns.items()
        for row in readers.get(source, _of_fractions)(source, column, metric)
    )


def of_method(name: str, mean: float, spread: float | None = None) -> Row:
    """Return the row for a method of `published.figures`."""
    method = published.method(name)
    return Row(published.source(name), method, _knowledge(method), mean, spread=spread)


def _of_wu(source: str, dataset: str, metric: str) -> list[Row]:
    """Return the means of a dataset by Wu et al., with their spread over the seeds."""
    rows_of_wu = published.rows_of_wu(dataset, metric)
    return [of_method(row["method"], row[metric], row[f"{metric}_sd"]) for row in rows_of_wu]


def _of_bao(source: str, column: str, metric: str) -> list[Row]:
    """Return the figures of Bao et al., who have only the AUROC, in percent."""
    of_methods = published.read(_FIGURES_OF_BAO)["figures"][column] if metric == "auroc" else {}
    return [Row(source, method, _knowledge(method), value) for method, value in of_methods.items()]


def _of_fractions(source: str, column: str, metric: str) -> list[Row]:
    """Return the figures of a source that prints fractions, one for each method.

    `column` is the name of the corpus in the source. Metrics have our names in the file of figures.
    """
    of_methods = published.read(_FIGURES)[source].get(metric, {})
    return [
        Row(_NAMES[source], method, _knowledge(method), round(100 * figures[column], 2))
        for method, figures in of_methods.items()
    ]


def _of_lists(source: str, task: str, metric: str) -> list[Row]:
    """Return the best figure of each method of Text-ADBench and group of embeddings.

    The name of the method says from how many runs it is the best.
    """
    of_task = published.read(_FIGURES)[source]["percent"][task]
    rows_of_methods = []
    for group, of_methods in of_task.get(_METRICS.get(metric, ""), {}).items():
        for method, figures in of_methods.items():
            areas = of_task["auroc"][group][method]
            of_runs = [value for value, area in zip(figures, areas, strict=True) if area != _NOT_RUN]
            if of_runs:
                number = f", best of {len(of_runs)}" if len(of_runs) > 1 else ""
                name = f"{group.partition(' (')[0]} + {method}{number}"
                rows_of_methods.append(Row(_NAMES[source], name, _knowledge(name), max(of_runs)))
    return rows_of_methods


def _knowledge(method: str) -> str:
    """Return the `KNOWLEDGE` of a published method, by the beginning of its name."""
    return next(known for known, starts in _KNOWN_BY.items() if method.startswith(starts))


def best_of_each(published_rows: Iterable[Row], higher_is_better: bool = True) -> dict[str, Row]:
    """Return the best figure for each kind of knowledge, from less to more, without marked oracles."""
    best_of = max if higher_is_better else min
    fair = [row for row in published_rows if UNEQUAL not in row.method]
    of_kinds = {kind: [row for row in fair if row.knowledge == kind] for kind in KNOWLEDGE}
    return {
        kind: best_of(of_kind, key=lambda row: row.figure) for kind, of_kind in of_kinds.items() if of_kind
    }


def knowledge_of(regime: str) -> str:
    """Return the `KNOWLEDGE` of a detector of ours; empty for any other regime."""
    return KNOWLEDGE[_REGIMES.index(regime)] if regime in _REGIMES else ""


def knows_no_more(regime: str, knowledge: str) -> bool:
    """Return whether a detector of ours knows at most as much as a published method."""
    return regime in _REGIMES[: KNOWLEDGE.index(knowledge) + 1]
