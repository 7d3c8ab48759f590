"""How well misfiled documents are found: planted swaps, and a comparison with cross-validated probabilities.

The labels of 1, 3 or 10 % of the documents are replaced by another label, drawn uniformly by
`numpy.random.default_rng(seed)`. Three methods find them, only from texts and labels:

- `misfiled`: the difference of `adbench_text.documents.misfiled`;
- `tfidf`: the probabilities of a logistic regression on TF-IDF (sublinear, scikit-learn's other defaults), by
  cross-validation over five folds. The score of a document is the probability of its label
  ("self-confidence"), or this minus the highest other probability ("normalised margin"), as in cleanlab
  (Northcutt et al., JAIR 2021);
- `encoder`: the same on sentence vectors, with --encoder minilm.

It prints CSV: average precision, the precision of the first R documents of the list, where R is the number of
swaps, and the seconds:

    python benchmarks/misfiled.py --rates 0.01,0.03,0.1 --seeds 0,1,2
    python benchmarks/misfiled.py --judged

With --judged, it prints how well the scores separate the posts of 20 Newsgroups that five people judged
(cleanlab/label-errors). The script needs the real data in ADBENCH_TEXT_DATA.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents import no_progress
from adbench_text.documents.misfiled import find_misfiled
from adbench_text.documents.source import TextSource
from adbench_text.plugins import registry
from adbench_text.storage import data_dir

N_FOLDS = 5


class Labelled(NamedTuple):
    """Raw documents, and the numbers of their groups."""

    texts: list[str]
    groups: np.ndarray


def newsgroups() -> Labelled:
    """Return the test part of 20 Newsgroups, in its twenty groups."""
    from sklearn.datasets import fetch_20newsgroups

    found = fetch_20newsgroups(
        data_home=str(data_dir() / "20news"),
        subset="test",
        remove=("headers", "footers", "quotes"),
        download_if_missing=False,
    )
    return Labelled(found.data, np.asarray(found.target))


def lines(folder: str, texts: str, labels: str) -> Labelled:
    """Return the documents of a file, one per line."""
    read = [
        (data_dir() / folder / name).read_text("utf-8", "replace").splitlines() for name in (texts, labels)
    ]
    return Labelled(read[0], np.unique(read[1], return_inverse=True)[1])


def part(dataset: str, which: int) -> Labelled:
    """Return a part of a dataset: 0 for training documents, 1 for test documents."""
    documents = registry.dataset(dataset).read()[which]
    return Labelled(list(documents.texts), np.asarray(documents.labels))


CORPORA: dict[str, Callable[[], Labelled]] = {
    "20news": newsgroups,
    "agnews": lambda: part("agnews", 1),
    "reuters": lambda: part("reuters", 0),
    "stackoverflow": lambda: lines("stackoverflow", "title_StackOverflow.txt", "label_StackOverflow.txt"),
    "banking77": lambda: lines("banking77-oos/train", "seq.in", "label"),
}


def by_counts(texts: list[str], groups: np.ndarray) -> np.ndarray:
    """Return the differences of documents; a document without words has the least."""
    rows, is_target = np.arange(len(texts)), np.ones(int(groups.max()) + 1, dtype=bool)
    _, fits = find_misfiled(TextSource.of(texts), rows, groups, is_target, Cleaner(), 1, no_progress)
    return np.nan_to_num(fits.difference, nan=np.nanmin(fits.difference))


def by_probabilities(probabilities: np.ndarray, groups: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scores of documents by self-confidence and by normalised margin."""
    rows, others = np.arange(len(groups)), probabilities.copy()
    own = probabilities[rows, groups]
    others[rows, groups] = -1
    return {"self-confidence": -own, "normalised margin": others.max(axis=1) - own}


def cross_validated(vectors: Any, groups: np.ndarray) -> np.ndarray:
    """Return the probabilities of the groups; a document is not in the folds of its model."""
    model = LogisticRegression(max_iter=1000)
    steps = (TfidfVectorizer(sublinear_tf=True), model) if isinstance(vectors, list) else (model,)
    return cross_val_predict(make_pipeline(*steps), vectors, groups, cv=N_FOLDS, method="predict_proba")


def encoded(texts: list[str], encoder: str) -> np.ndarray:
    """Return the sentence vectors of documents."""
    from adbench_text.text import pretrained

    return pretrained.locate(encoder, None, "cpu", "fp32").look_up(tuple(texts))


def timed(score: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a function, and its seconds."""
    begin = time.perf_counter()
    result = score()
    return result, time.perf_counter() - begin


def methods(corpus: Labelled, vectors: np.ndarray | None) -> Iterator[tuple[str, np.ndarray, float]]:
    """Yield the name, the scores and the seconds of each method."""
    scores, seconds = timed(lambda: by_counts(*corpus))
    yield "misfiled", scores, seconds
    inputs = {"tfidf": corpus.texts} | ({} if vectors is None else {"encoder": vectors})
    for name, each in inputs.items():
        probabilities, seconds = timed(lambda each=each: cross_validated(each, corpus.groups))
        for way, of_way in by_probabilities(probabilities, corpus.groups).items():
            yield f"{name}, {way}", of_way, seconds


def swapped(groups: np.ndarray, rate: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return groups with some labels replaced, and whether a label was replaced."""
    rng, n_groups = np.random.default_rng(seed), int(groups.max()) + 1
    rows = rng.choice(len(groups), round(rate * len(groups)), replace=False)
    given, is_swapped = groups.copy(), np.zeros(len(groups), dtype=bool)
    given[rows] = (groups[rows] + rng.integers(1, n_groups, len(rows))) % n_groups
    is_swapped[rows] = True
    return given, is_swapped


def planted(names: list[str], rates: list[float], seeds: list[int], encoder: str) -> Iterator[str]:
    """Yield a line of CSV for each corpus, share, seed and method."""
    yield "corpus,documents,groups,swapped,seed,method,ap,precision_at_r,auroc,seconds"
    for name in names:
        corpus = CORPORA[name]()
        vectors, seconds_of_encoder = timed(
            lambda corpus=corpus: encoded(corpus.texts, encoder) if encoder else None
        )
        for rate in rates:
            for seed in seeds:
                given, is_swapped = swapped(corpus.groups, rate, seed)
                for method, scores, seconds in methods(Labelled(corpus.texts, given), vectors):
                    first = np.argsort(-scores, kind="stable")[: is_swapped.sum()]
                    seconds += seconds_of_encoder * method.startswith("encoder")
                    figures = [
                        100 * average_precision_score(is_swapped, scores),
                        100 * is_swapped[first].mean(),
                        100 * roc_auc_score(is_swapped, scores),
                    ]
                    sizes = f"{name},{len(given)},{given.max() + 1},{rate:g},{seed}"
                    yield f'{sizes},"{method}",{",".join(f"{each:.2f}" for each in figures)},{seconds:.1f}'


def judged(folder: Path) -> Iterator[str]:
    """Yield how well scores find the posts for which most judges agree with cleanlab's guess."""
    corpus = newsgroups()
    posts = json.loads((folder / "20news_mturk.json").read_text())
    rows = [post["id"] for post in posts]
    is_wrong = [post["mturk"]["guessed"] > 2 for post in posts]
    yield f"{len(posts)} posts, {sum(is_wrong)} with a majority for the guess"
    found = {name: scores for name, scores, _ in methods(corpus, None)}
    given = np.load(folder / "20news_test_set_pyx.npy")
    found |= {f"cleanlab's, {name}": own for name, own in by_probabilities(given, corpus.groups).items()}
    for name, scores in found.items():
        yield f"{name}: AUROC {100 * roc_auc_score(is_wrong, scores[rows]):.1f}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--rates", default="0.03")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--encoder", default="", help="such as minilm")
    parser.add_argument("--judged", action="store_true")
    given = parser.parse_args()
    if given.judged:
        shown = judged(data_dir() / "label-errors")
    else:
        rates, seeds = [*map(float, given.rates.split(","))], [*map(int, given.seeds.split(","))]
        shown = planted(given.corpora.split(","), rates, seeds, given.encoder)
    for line in shown:
        print(line, flush=True)


if __name__ == "__main__":
    main()
