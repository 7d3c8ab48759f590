import pytest
from cells import compare, failed, only_table, record

from adbench_text.plugins.scores import TokenScore
from adbench_text.reports.tables import oddest
from adbench_text.run.examples import to_json
from adbench_text.run.result import Example

CLASSES = ("c0", "c1")


def example(score: float, text: str, label: str = "c1") -> Example:
    """A document whose later words are more abnormal; a repeated word keeps its places."""
    tokens, begin = [], 0
    for number, word in enumerate(text.split()):
        tokens.append(TokenScore(word, begin, begin + len(word), float(number)))
        begin += len(word) + 1
    return Example("most abnormal", 0, label, True, score, text, tokens)


class Store:
    """Keeps the examples of some detectors: `texts` by detector and inlier class."""

    experiment, shown = "adbench-text", "a store"

    def __init__(self, texts: dict[tuple[str, str], list[Example] | str]) -> None:
        self.texts = texts

    def artifact(self, record, name):
        kept = self.texts.get((record.detector, record.inlier))
        return kept if name != "examples.json" or isinstance(kept, str | None) else to_json(kept)


def table_of(records, texts, metric="auroc"):
    table = only_table(oddest, compare(records, metric, store=Store(texts)))
    return [[entry.text for entry in row] for row in table.rows]


RECORDS = [
    record("words", "c0", 0.7),
    record("words", "c1", 0.9),
    record("blind", "c0", 0.99),
    record("blind", "c1", 0.99),
]
FOUND = [
    example(2, "a b c d e f g h"),
    example(1, "late"),
    example(3.14159, "twice odd twice"),
    example(0, "normal"),
]


def test_three_documents_of_the_best_detector_with_words_and_of_its_best_split():
    rows = table_of(RECORDS, {("words", "c1"): FOUND, ("words", "c0"): [example(9, "elsewhere")]})
    assert [row[1:] for row in rows] == [
        ["words", "c1", "c1", "twice, odd", "3.14"],
        ["words", "c1", "c1", "h, g, f, e, d, c", "2"],
        ["words", "c1", "c1", "late", "1"],
    ]


def test_a_split_without_examples_and_damaged_ones_are_passed_over():
    for nothing in ([], "damaged", None):
        rows = table_of(RECORDS, {("words", "c1"): nothing, ("words", "c0"): [example(9, "elsewhere")]})
        assert [row[2:5] for row in rows] == [["c0", "c1", "elsewhere"]]


def test_the_best_is_the_lowest_error_rate_where_lower_is_better():
    records = [
        record(name, inlier, 0.5, metrics={"fpr95": rate})
        for name, rate in (("rare", 0.1), ("frequent", 0.3))
        for inlier in CLASSES
    ]
    texts = {(name, "c0"): [example(1, name)] for name in ("frequent", "rare")}
    assert [row[4] for row in table_of(records, texts, "fpr95")] == ["rare"]


@pytest.mark.parametrize("more", [[failed("best", "c1")], []])
def test_only_detectors_with_all_splits_count(more):
    records = [*RECORDS, record("best", "c0", 1.0), *more]
    texts = {("best", "c0"): [example(1, "partly")], ("words", "c0"): [example(1, "complete")]}
    assert [row[4] for row in table_of(records, texts)] == ["complete"]


def test_without_scores_of_words_there_is_no_table():
    assert table_of(RECORDS, {}) == []
    assert list(oddest.tables(compare(RECORDS))) == []
