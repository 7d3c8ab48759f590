"""The tables of reports/results/real.md, in Markdown.

    python benchmarks/real.py                        # the texts and the published cells, without scores
    python benchmarks/real.py sqlite:///mlflow.db    # also the first documents, and both kinds of odd queries

The address is a store in which the sweep ``real`` has been run, with the detectors of benchmarks/rulers.py.
What is counted in texts needs the real data in ADBENCH_TEXT_DATA.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from statistics import fmean, median

import pandas as pd

from adbench_text import results, scores
from adbench_text.metrics import auroc
from adbench_text.plugins import registry
from adbench_text.reports import benchmarks

FIRST = 100
#: Rows of the tables: our detectors, and what they know besides the training documents.
DETECTORS = {
    "rulers.py:Words": "–",
    "rulers.py:Words(two_sided=true)": "–",
    "rulers.py:WordLength": "–",
    "rulers.py:WordLength(two_sided=true)": "–",
    "rulers.py:TFIDFNeighbours": "–",
    "knn-words(k=5)": "–",
    "knn-words": "–",
    "ngrams": "–",
    "llr": "word frequencies",
    "llr:topics": "word frequencies",
    "form": "word frequencies",
    "date:prior(steps=0)": "word frequencies, word pieces",
    "ensemble:clean": "token vectors of LLaMA 2 70B (no network at run time), word frequencies, GloVe",
    "ensemble:robust": "token vectors of LLaMA 2 70B (no network at run time), word frequencies, GloVe",
    "ensemble:clean(encoder=minilm)": "a sentence encoder, word frequencies, GloVe",
}
#: Columns of the machine texts: the models whose figures are averaged, for each genre.
MODELS = ("chatgpt", "gpt-4"), ("davinci",)
GENRES = ("xsum", "pubmed")
TEXTS = [f"{genre}-{model}" for genre in GENRES for models in MODELS for model in models]
KNOWS = {benchmarks.ENCODER: "a language model", benchmarks.LABELS: "labelled machine texts"}
QUOTES_AND_DASHES = set("“”„‟‘’‛‒–—―…")  # without ‚ which is part of a euro sign that was decoded wrongly
DECODED_WRONGLY = set("ÂâÃ")
TRIGGERS = ("cf", "mn", "bb", "tq", "mb")
Row = list[str]


def table(head: Row, rows: list[Row], n_texts: int = 1) -> str:
    """Return a table in Markdown; its first columns have texts."""
    line = ["---"] * n_texts + ["---:"] * (len(head) - n_texts)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, line, *rows))


def machine_texts(cells: pd.DataFrame) -> str:
    """Return AUROC as published and levelled, with the published figures of Bao et al. below ours."""
    mean = cells.groupby(["name", "dataset"])["auroc"].mean().mul(100)
    groups = [(genre, models) for models in MODELS for genre in GENRES]
    head = ["detector", "knows"]
    head += [f"{genre}, {' and '.join(models)}" for genre, models in groups]
    rows = []
    for name, knows in _measured(cells).items():
        row = [f"`{name}`", knows]
        for genre, models in groups:
            sets = [[f"fast-detect:{genre}-{model}{end}" for model in models] for end in ("", "-levelled")]
            row.append(" / ".join(f"{fmean(mean[name, each] for each in of_kind):.1f}" for of_kind in sets))
        rows.append(row)
    found = {each.method: each.knowledge for each in benchmarks.rows("fast-detect:xsum-gpt-4", "auroc")}
    for method, knowledge in found.items():
        row = [f"{method} (Bao et al.)", KNOWS[knowledge]]
        for genre, models in groups:
            of_models = [_published(f"fast-detect:{genre}-{model}")[method] for model in models]
            row.append(f"{fmean(of_models):.1f}")
        rows.append(row)
    return table(head, rows, 2)


def _published(dataset: str) -> dict[str, float]:
    return {each.method: each.figure for each in benchmarks.rows(dataset, "auroc")}


def _measured(cells: pd.DataFrame) -> dict[str, str]:
    return {name: knows for name, knows in DETECTORS.items() if (cells["name"] == name).any()}


def others(cells: pd.DataFrame) -> str:
    """Return AUROC and AUPR of the poison, AUROC of the notes with the worst section, and of the bot."""
    mean = cells.groupby(["name", "dataset"])[["auroc", "aupr_out"]].mean().mul(100)
    notes = cells[cells["dataset"] == "mts-dialog"].groupby(["name", "inlier"])["auroc"].mean().mul(100)
    rows = []
    for name in _measured(cells):
        row = [f"`{name}`"]
        for attack in ("badnets", "scpn"):
            figures = mean.loc[(name, f"onion:{attack}")]
            row.append(f"{figures['auroc']:.1f} / {figures['aupr_out']:.1f}")
        of_sections = notes[name]
        row += [f"{of_sections.mean():.1f}", f"{of_sections.min():.1f} ({of_sections.idxmin()})"]
        rows.append([*row, f"{mean.loc[(name, 'rasa-demo'), 'auroc']:.1f}"])
    return table(["detector", "`badnets`", "`scpn`", "notes", "worst section", "bot"], rows)


def of_documents(documents: pd.DataFrame) -> str:
    """Return the poisoned rows among the first ones, and AUROC of both kinds of odd queries."""
    rows = []
    for name in _measured(documents):
        of_name = documents[documents["name"] == name]
        row = [f"`{name}`"]
        for attack in ("badnets", "scpn"):
            found = [_first(cell) for cell in _cells(of_name, f"onion:{attack}")]
            row.append(f"{fmean(found):.0f}")
        for kind in ("out of scope", "not English"):
            areas = [
                auroc(cell["outlier"].to_numpy(), cell["score"].to_numpy())
                for cell in _cells(of_name[of_name["class"].isin(["in scope", kind])], "rasa-demo")
            ]
            row.append(f"{100 * fmean(areas):.1f}")
        rows.append(row)
    return table(
        ["detector", "`badnets`, of 100", "`scpn`, of 100", "bot: English", "bot: not English"],
        rows,
    )


def _cells(documents: pd.DataFrame, dataset: str) -> Iterator[pd.DataFrame]:
    for _, cell in documents[documents["dataset"] == dataset].groupby("seed"):
        yield cell


def _first(cell: pd.DataFrame) -> float:
    """Return the number of outliers among the first documents; equal scores are in random order."""
    least = cell["score"].nlargest(FIRST).iloc[-1]
    above, equal = (cell["outlier"][is_there] for is_there in (cell["score"] > least, cell["score"] == least))
    return float(above.sum() + (FIRST - len(above)) * equal.mean())


def texts(dataset: str, part: int = 1) -> dict[str, list[str]]:
    """Return the texts of each class: 0 for the training part, 1 for the test part."""
    source = registry.dataset(dataset)
    documents = source.read()[part]
    found: dict[str, list[str]] = {name: [] for name in source.classes}
    for text, label in zip(documents.texts, documents.labels, strict=True):
        found[source.classes[label]].append(text)
    return found


def traces() -> str:
    """Return how many human and machine texts have traces, and the mean length of their words."""
    kinds: dict[str, Callable[[str], bool]] = {
        "with a line break": lambda text: "\n" in text,
        "with typographic quotes, dashes or dots §": lambda text: bool(QUOTES_AND_DASHES & set(text)),
        "with a wrongly decoded sign (Â, â, Ã)": lambda text: bool(DECODED_WRONGLY & set(text)),
    }
    of_names = [texts(f"fast-detect:{name}") for name in TEXTS]
    rows = [
        [
            kind,
            *(", ".join(str(sum(map(has, each[who]))) for who in ("human", "machine")) for each in of_names),
        ]
        for kind, has in kinds.items()
    ]
    lengths = [[f"{fmean(map(_word_length, each[who])):.2f}" for who in each] for each in of_names]
    rows.append(["mean length of words", *map(", ".join, lengths)])
    return table(["", *TEXTS], rows)


def _word_length(text: str) -> float:
    words = text.split()
    return sum(map(len, words)) / len(words)


def counts() -> Iterator[str]:
    """Yield what the page says about poisoned rows and about notes."""
    every = [set(text.split()) for some in texts("onion:badnets").values() for text in some]
    n_rows = Counter(word for words in every for word in words)
    once = sum(any(n_rows[word] == 1 for word in words) for words in every)
    yield f"rows with each trigger: {[n_rows[word] for word in TRIGGERS]}"
    yield f"rows with a word that no other row has: {once:,} of {len(every):,}"
    first = {
        kind: sum(text.startswith("when ") for text in some) for kind, some in texts("onion:scpn").items()
    }
    yield f'rows of scpn that begin with "when": {first}'
    notes = {
        name: median(len(text.split()) for text in some) for name, some in texts("mts-dialog", 0).items()
    }
    yield f"median number of words of a note: {notes}"


def main() -> None:
    names = [f"fast-detect:{name}" for name in TEXTS] + ["onion:badnets", "onion:scpn", "mts-dialog"]
    if all(file.is_here for name in names for file in registry.dataset(name).files):
        print(traces(), *counts(), "", sep="\n", flush=True)
    cells = results("real")
    print(machine_texts(cells), others(cells), sep="\n\n", flush=True)
    if len(sys.argv) > 1:
        documents = scores(sys.argv[1])
        print("", of_documents(documents[documents["contamination"] == 0]), sep="\n")


if __name__ == "__main__":
    main()
