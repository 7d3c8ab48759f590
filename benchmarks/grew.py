"""How often `grew` finds a subject that grew, and how often it finds one where nothing has grown.

    python benchmarks/grew.py --seeds 0-9                  # planted subjects, three corpora
    python benchmarks/grew.py --halves 200                 # random halves of seven corpora
    python benchmarks/grew.py --score 50                   # `fit` on one half, `score` of the other half
    python benchmarks/grew.py --size                       # seconds and memory for 110,000 documents

The script prints CSV, and needs the real data in ADBENCH_TEXT_DATA.

Planted subjects: OLD has 4,000 documents of some classes, and NEW has 1,000. With ``new N``, N documents of
NEW are of another class. With ``times F``, one of the classes has F times its share. With ``one sender``, 20
documents of another class have the same sender. A subject is found if at least half of the new documents of a
group are of its class. Two simple methods are compared:

- ``k-means``: 50 clusters of the directions by LSA; binomial tails, multiplied by the number of clusters;
- ``frequency``: the word whose share of documents has risen most. It has no test, so it always names a word.
  It is right if at least half of the new documents with this word are of the class.

Random halves: up to 2,000 documents are divided at random. With a share of near-copies, documents become
copies of others with one word changed, in families of 2 to 41. For `score`, the script counts the files that
differ by each test of drift, and by any test.
"""

import argparse
import csv
import random
import resource
import sys
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from misfiled import CORPORA, Labelled
from scipy.stats import binom
from sklearn.cluster import KMeans

from adbench_text.calibration import LEAST_P
from adbench_text.documents import growth as module
from adbench_text.documents import no_progress
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.growth import growth
from adbench_text.documents.models.model import Scorer
from adbench_text.documents.terms import read_terms
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT_DETECTOR
from adbench_text.storage import data_dir

ALPHA = 0.05
N_OLD, N_NEW = 4000, 1000
N_BASE = {"stackoverflow": 15, "banking77": 38, "agnews": 3}  # classes of both files
PLANTED = [("new", 10), ("new", 20), ("new", 40), ("times", 2), ("times", 3), ("one sender", 20), ("none", 0)]
HALVES = ("sib-200:zho_Hans", "sms", "stackoverflow", "agnews", "20news", "sib-200:deu_Latn", "pydocs")
COPIES = 0.0, 0.1, 0.3
N_HALVES = 2000


@cache
def labelled(corpus: str) -> Labelled:
    """Return the documents of a corpus with their classes."""
    return CORPORA[corpus]()


def planted(corpus: str, kind: str, n: int, seed: int) -> dict[str, bool]:
    """Return which methods find a planted subject."""
    texts, labels = labelled(corpus)
    draw = np.random.default_rng(100 + seed)
    classes = draw.permutation(np.unique(labels))
    base, other = classes[: N_BASE[corpus]], classes[N_BASE[corpus]]
    pool = draw.permutation(np.flatnonzero(np.isin(labels, base)))
    n_old = min(N_OLD, int(0.75 * len(pool)))
    n_new = n_old // 4
    old, rest = pool[:n_old], pool[n_old:]
    subject = base[0] if kind == "times" else other
    added = draw.permutation(np.flatnonzero(labels == other))[:n] if kind != "times" else rest[:0]
    if kind == "times":
        n_added = round(n_new * float(np.mean(labels[pool] == subject)) * (n - 1))
        later = rest[n_new - n_added :]
        added = later[labels[later] == subject][:n_added]
    new = np.concatenate([rest[: n_new - len(added)], added])
    of_old, of_new = ([texts[row] for row in rows] for rows in (old, new))
    is_subject = labels[new] == subject
    senders = None
    if kind == "one sender":
        senders = [*range(len(old))], [*range(len(old), len(old) + n_new - n), *["one"] * n]
    found = growth(of_old, of_new, alpha=ALPHA, senders=senders, seed=seed)
    ours = any(is_subject[group.rows].mean() >= 0.5 for group in found.groups)
    scorer = Scorer(fit_model(of_old, "llr", language="en"), by="words")
    drift = scorer.drift(scorer.evidence(scorer.score(of_new)))
    return {
        "grew": ours,
        "any group": bool(found.groups),
        "score": drift.p_grown < LEAST_P,
        "other tests of score": drift._replace(grown=()).is_found,
        **simple(of_old, of_new, is_subject),
    }


def simple(old: list[str], new: list[str], is_subject: np.ndarray) -> dict[str, bool]:
    """Return which simple methods find the subject."""
    read = read_terms(lambda: iter([*old, *new]), "en", 1, no_progress)
    both = module._Both.of(read, len(old), None, 0)
    number = KMeans(50, n_init=3, random_state=0).fit_predict(both.directions)
    size, n_new = (np.bincount(number[rows], minlength=50) for rows in (slice(None), both.is_new))
    p = binom.sf(n_new - 1, size, both.n_new / len(number)) * 50
    row_of = np.flatnonzero(both.place_of >= 0)
    class_of = np.zeros(len(number), dtype=bool)
    class_of[both.place_of[row_of[row_of >= len(old)]]] = is_subject[row_of[row_of >= len(old)] - len(old)]
    by_clusters = any(class_of[(number == k) & both.is_new].mean() >= 0.5 for k in np.flatnonzero(p <= ALPHA))
    rise = both.has_term[both.is_new].mean(axis=0) - both.has_term[~both.is_new].mean(axis=0)
    with_word = both.has_term[:, [int(np.argmax(rise))]].toarray().ravel() > 0
    return {"k-means": by_clusters, "frequency": bool(class_of[with_word & both.is_new].mean() >= 0.5)}


@cache
def documents(corpus: str) -> tuple[list[str], str]:
    """Return the documents of a corpus, and their language."""
    if corpus == "sms":
        lines = (data_dir() / "sms" / "SMSSpamCollection").read_text("utf-8").splitlines()
        return [line.partition("\t")[2] for line in lines], "en"
    if corpus in CORPORA:
        return labelled(corpus).texts, "en"
    source = registry.dataset(corpus)
    return [text for part in source.read() for text in part.texts], source.language


def with_copies(texts: list[str], share: float, draw: random.Random) -> list[str]:
    """Replace a share of documents by near-copies of others."""
    n, copies = int(share * len(texts)), list[str]()
    texts = texts[n:]
    while len(copies) < n:
        words = draw.choice(texts).split()
        for _ in range(min(draw.choice([1, 1, 1, 2, 5, 20, 40]), n - len(copies))):
            copy = list(words)
            copy[draw.randrange(len(copy))] = f"copy{draw.randrange(10**6)}"
            copies.append(" ".join(copy))
    return texts + copies


def drawn(corpus: str, share: float, seed: int) -> tuple[list[str], str]:
    """Return documents of a corpus with near-copies, in random order, and their language."""
    texts, language = documents(corpus)
    draw = random.Random(seed)
    some = [text for text in texts if text.strip()]
    some = with_copies(draw.sample(some, min(len(some), N_HALVES)), share, draw)
    draw.shuffle(some)
    return some, language


def scored_halves(corpus: str, share: float, seed: int, detector: str = DEFAULT_DETECTOR) -> dict[str, bool]:
    """Return by which tests the second half differs, if the first half is the file of the model."""
    some, language = drawn(corpus, share, seed)
    middle = len(some) // 2
    scorer = Scorer(fit_model(some[:middle], detector, language=language))
    drift = scorer.drift(scorer.evidence(scorer.score(some[middle:])))
    p = {"odd": drift.p_odd, "uniform": drift.p, "families": drift.p_family, "words": drift.p_grown}
    found = {name: each is not None and each < LEAST_P for name, each in p.items()}
    return {**found, "together": drift.is_found}


def halves(corpus: str, share: float, seed: int) -> dict[str, bool]:
    """Return which kinds of sets have a group in random halves of a corpus."""
    some, language = drawn(corpus, share, seed)
    middle = len(some) // 2
    read = read_terms(lambda: iter(some), language, 1, no_progress)
    both = module._Both.of(read, middle, None, seed)
    rest = np.ones(len(both.is_new), dtype=bool)
    found = {}
    for name, sets in (("words", both.has_term.T), ("clusters", module._clusters(both, seed))):
        kind = module._Kind.of(sets, both, seed)
        p = kind.p(both.is_new, rest)
        found[name] = bool((2 * kind.adjusted(p)).min(initial=1.0) <= ALPHA)
    return {**found, "together": any(found.values())}


def size() -> dict[str, float]:
    """Return the seconds and the memory for 100,000 old and 10,000 new documents."""
    texts = [text for part in registry.dataset("agnews").read() for text in part.texts]
    texts = (texts * (110_000 // len(texts) + 1))[:110_000]
    draw = random.Random(0)
    texts = [" ".join(draw.sample(words, len(words) // 2)) for words in map(str.split, texts)]
    begin = time.perf_counter()
    found = growth(texts[:100_000], texts[100_000:])
    seconds, peak = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"documents": found.n_old + found.n_new, "seconds": round(seconds, 1), "megabytes": peak // 1000}


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table."""
    if options.size:
        yield size()
        return
    if n := options.halves or options.score:
        measured = halves if options.halves else scored_halves
        for corpus in options.corpora or HALVES:
            for share in COPIES:
                runs = [measured(corpus, share, seed) for seed in range(n)]
                counts = {name: sum(run[name] for run in runs) for name in runs[0]}
                yield {"corpus": corpus, "copies": share, "runs": len(runs), **counts}
        return
    first, last = map(int, options.seeds.split("-"))
    for corpus in options.corpora or N_BASE:
        for kind, n in PLANTED:
            runs = [planted(corpus, kind, n, seed) for seed in range(first, last + 1)]
            shares = {name: round(float(np.mean([run[name] for run in runs])), 2) for name in runs[0]}
            yield {"corpus": corpus, "planted": f"{kind} {n}", "runs": len(runs), **shares}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="0-2", metavar="FIRST-LAST")
    parser.add_argument("--halves", type=int, default=0, metavar="N")
    parser.add_argument("--score", type=int, default=0, metavar="N")
    parser.add_argument("--size", action="store_true")
    parser.add_argument("--corpora", type=lambda text: text.split(","), default=[])
    writer = None
    for row in rows(parser.parse_args()):
        if writer is None:
            writer = csv.DictWriter(sys.stdout, [*row], lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
