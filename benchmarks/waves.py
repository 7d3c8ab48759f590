"""How many waves of near-copies `score` finds, and how many files without a wave differ by chance.

A model has 1,000 documents of a corpus, and a file has 1,000 or 200 others
(`numpy.random.default_rng(draw)`). With form letters, a tenth of both on average are copies of four letters
of 20 words; 5 to 30 % of the words are blanks, filled with other words. The share of a letter varies from
file to file (gamma, with a standard deviation of half the mean). A wave is a text of 20 words that the model
has not seen. In its copies a tenth or a quarter of the words are replaced. The copies are 2, 5 or 7 % of the
file.

It prints a row for each corpus: the percentage of files that differ, without and with a wave. In brackets is
the percentage of files in which the families alone differ:

    python benchmarks/waves.py --draws 100
    python benchmarks/waves.py --sets stackoverflow,20news

The script needs the real data in ADBENCH_TEXT_DATA; a draw takes some seconds on one core.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from marks import documents

from adbench_text.calibration import LEAST_P
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models.model import Scorer

N, SIZES = 1_000, (1_000, 200)
SETS = ("reuters", "agnews", "20news", "stackoverflow")  # the rule was chosen on the first two
BLANKS = (0.05, 0.1, 0.2, 0.3)  # one for each letter
SHARE_OF_LETTERS, SHAPE = 0.1, 4
N_WORDS = 20
WAVES = {"a tenth": 0.1, "a quarter": 0.25}
SHARES = (0.02, 0.05, 0.07)


class Drawn:
    """The documents of a draw, without repeated texts."""

    def __init__(self, name: str, draw: int) -> None:
        self._rng = np.random.default_rng(draw)
        texts, _ = documents(name)
        self._texts = iter(
            self._rng.permutation(np.unique([text for text in texts if text.strip()])).tolist()
        )
        self._words = np.array([word for text in texts[:500] for word in text.split()], dtype=object)

    def others(self, n: int) -> list[str]:
        return [next(self._texts) for _ in range(n)]

    def letter(self) -> list[str]:
        """Return `N_WORDS` words of the next texts."""
        words: list[str] = []
        while len(words) < N_WORDS:
            words += next(self._texts).split()
        return words[:N_WORDS]

    def copies(self, letter: list[str], blanks: float, n: int) -> Iterator[str]:
        """Yield copies, with other words in some places."""
        for _ in range(n):
            words = np.array(letter, dtype=object)
            places = self._rng.permutation(N_WORDS)[: round(blanks * N_WORDS)]
            words[places] = self._rng.choice(self._words, len(places))
            yield " ".join(words)

    def file(self, n: int, letters: list[list[str]]) -> list[str]:
        """Return a file without a wave."""
        mean = n * SHARE_OF_LETTERS / max(len(letters), 1)
        copies: list[str] = []
        for letter, blanks in zip(letters, BLANKS, strict=False):
            n_copies = self._rng.poisson(mean * self._rng.gamma(SHAPE, 1 / SHAPE))
            copies += self.copies(letter, blanks, n_copies)
        return [*copies, *self.others(max(n - len(copies), 0))]


def measured(name: str, draw: int, *, with_letters: bool) -> Iterator[tuple[tuple[int, str], bool, bool]]:
    """Yield for each file its size and wave, whether the file differs, and whether its families differ."""
    drawn = Drawn(name, draw)
    letters = [drawn.letter() for _ in BLANKS] if with_letters else []
    scorer = Scorer(fit_model(drawn.file(N, letters)))
    for size in SIZES:
        table = scorer.score(drawn.file(size, letters))
        waves = {"none": ([], 0.0)} | {
            f"{100 * share:.0f} %, {how}": (drawn.letter(), blanks)
            for how, blanks in WAVES.items()
            for share in SHARES
        }
        for title, (letter, blanks) in waves.items():
            evidence = scorer.evidence(table)
            if letter:
                n = round(float(title.partition(" ")[0]) / 100 * size)
                scorer.evidence(scorer.score(drawn.copies(letter, blanks, n)), evidence)
            drift = scorer.drift(evidence)
            yield (size, title), drift.is_found, drift.p_family < LEAST_P


def main() -> None:
    parser = argparse.ArgumentParser(description="How many waves are heard.")
    parser.add_argument("--sets", default=",".join(SETS), help="corpora, with commas")
    parser.add_argument("--draws", type=int, default=2, help="number of models per corpus")
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    options = parser.parse_args()
    titles = ["none", *(f"{100 * share:.0f} %, {how}" for how in WAVES for share in SHARES)]
    print(f"| corpus | form letters | documents | files | {' | '.join(titles)} |")
    print(f"| --- | --- | ---: |{' ---: |' * (len(titles) + 1)}", flush=True)
    draws = range(options.first, options.first + options.draws)
    for name in options.sets.split(","):
        for with_letters in (False, True):
            found = defaultdict[tuple[int, str], list[tuple[bool, bool]]](list)
            for draw in draws:
                for key, *differs in measured(name, draw, with_letters=with_letters):
                    found[key].append((differs[0], differs[1]))
            for size in SIZES:
                cells = [100 * np.mean(found[size, title], axis=0) for title in titles]
                row = [f"{each:.0f} ({by_families:.0f})" for each, by_families in cells]
                letters = "yes" if with_letters else "no"
                print(f"| {name} | {letters} | {size:,} | {len(draws)} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
