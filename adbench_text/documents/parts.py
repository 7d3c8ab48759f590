"""The parts of a ranking: each document is ranked within its part.

Without groups and languages, one part has all documents. With groups, words are ranked within the group, and
form within the whole file. With several languages, both are ranked within the language. With both, groups are
parts of a language.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.other_words import OtherWords
from adbench_text.documents.chunks import Rows
from adbench_text.documents.detector_pair import DetectorPair
from adbench_text.documents.found_languages import InLanguages
from adbench_text.documents.groups import LEAST, Groups
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import Families, Survey


@dataclass(frozen=True)
class Part:
    """Documents that are ranked against each other, and their detectors."""

    rows: Rows  # sorted
    pair: DetectorPair
    orders: Collection[str]  # "words", "form" or both
    language: int  # the number of the language

    def has(self, rows: Any) -> NDArray[np.bool_]:
        """Return for each row whether it is in this part."""
        return np.isin(np.asarray(rows, dtype=np.int64), self.rows)


@dataclass(frozen=True)
class Parts:
    """All parts of a ranking, and the documents that are scored in them."""

    parts: Sequence[Part]
    in_languages: Survey  # by words, with whole languages as parts
    by_words: Survey
    by_form: Survey
    others: Sequence[OtherWords | None]  # for each language: its words, if its groups are parts

    @classmethod
    def of(
        cls,
        source: TextSource,
        read: InLanguages,
        families: Families,
        groups: Groups | None,
        n_sample: int,
    ) -> "Parts":
        """Return the parts: languages, and groups within them if there are any."""
        pair_of = read.pair_of
        in_languages = Survey.by_words(families, pair_of, n_sample)
        by_form = in_languages.by_form()
        rows_of = _rows_of(pair_of, len(read.pairs))
        if groups is None:
            return cls(
                parts=[Part(rows_of[n], pair, pair.orders, n) for n, pair in enumerate(read.pairs)],
                in_languages=in_languages,
                by_words=in_languages,
                by_form=by_form,
                others=[None] * len(read.pairs),
            )
        number = _numbers(pair_of, groups, families)
        by_words = Survey.by_words(families, number, n_sample)
        parts, others = list[Part](), list[OtherWords]()
        for language, (rows, pair) in enumerate(zip(rows_of, read.pairs, strict=True)):
            if pair.form is not None:
                parts.append(Part(rows, pair, ("form",), language))
            cleaned = pair.cleaner.cleaned([*source.at(in_languages.sample(rows))])
            others.append(OtherWords([words for words in cleaned if words.strip()]))
            _, of_parts = np.unique(number[rows], return_inverse=True)
            for places in _rows_of(of_parts, int(of_parts.max(initial=-1)) + 1):
                parts.append(Part(rows[places], pair.of_words(), ("words",), language))
        return cls(parts, in_languages=in_languages, by_words=by_words, by_form=by_form, others=others)

    def __len__(self) -> int:
        return len(self.by_words)

    @property
    def orders(self) -> list[str]:
        """The orders that documents are scored by: words, form or both."""
        return [order for order in ("words", "form") if any(order in part.orders for part in self.parts)]

    def with_words(self) -> Rows:
        """Return the documents with words in the sample of all documents."""
        rows = self.in_languages.sample(np.arange(len(self)))
        sample: Rows = rows[self.in_languages.facts.has_words[rows]]
        return sample

    def most_to_learn(self, odd: Any) -> int:
        """Return how many documents the largest part can learn from by words, without rows in `odd`."""
        samples = [self.by_words.sample(part.rows) for part in self.parts if "words" in part.orders]
        known = self.by_words.facts.has_words
        return max(int((known[rows] & ~np.isin(rows, odd)).sum()) for rows in samples)

    def rests(self, part: Part) -> list[tuple[Collection[str], Rows]]:
        """Return the rows of a part that are scored but not in its samples, with their orders."""
        if self.by_form is self.by_words:  # a document is read once for both orders
            rests = [(part.orders, self.by_words.rest(part.rows))]
        else:
            surveys = {"words": self.by_words, "form": self.by_form}
            rests = [((order,), surveys[order].rest(part.rows)) for order in part.orders]
        return [(orders, rows) for orders, rows in rests if len(rows)]


def _rows_of(number: Rows, n: int) -> list[Rows]:
    """Return for each number from 0 to n - 1 its rows, sorted."""
    rows = np.argsort(number, kind="stable")
    return np.split(rows, np.searchsorted(number[rows], np.arange(1, n)))


def _numbers(pair_of: Rows, groups: Groups, families: Families) -> Rows:
    """Return for each document the number of its group in its language, where small groups are one group."""
    n_labels = len(groups.names) + 1
    number = pair_of * n_labels + groups.of_rows
    small = pair_of * n_labels + len(groups.names)
    return np.where(families.n_different(number)[number] < LEAST, small, number)
