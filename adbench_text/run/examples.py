"""Choose test documents that illustrate a detector: its extreme scores and its worst mistakes."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.contract.scores import Scores, check_token_scores, original_words, plain_token_scores
from adbench_text.corpora.corpus import Corpus, cleaner_of
from adbench_text.corpora.split import Split
from adbench_text.errors import AdbenchTextError, DetectorError
from adbench_text.run.result import Example

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector

N_EACH = 3
_LONGEST = 4000  # characters; a page with longer texts would be unreadable


def choose(outlier: NDArray[np.bool_], scores: Scores, n: int = N_EACH) -> list[tuple[str, int]]:
    """Choose documents of a test set, at most `n` for each reason; return their reasons and places."""
    order = np.argsort(scores, kind="stable")
    candidates = {
        "missed outlier": order[outlier[order]],
        "inlier taken for an outlier": order[~outlier[order]][::-1],
        "most abnormal": order[::-1],
        "most normal": order,
    }
    chosen: dict[int, str] = {}
    for why, places in candidates.items():
        free = [int(place) for place in places if int(place) not in chosen]
        chosen |= dict.fromkeys(free[:n], why)
    return [(why, place) for place, why in chosen.items()]


def examples_of(detector: "TextDetector", corpus: Corpus, split: Split, scores: Scores) -> list[Example]:
    """Return test documents of a split, as written, with the score of each word.

    The list is empty if the detector has no scores of words.
    """
    places = [place for _, place in _chosen(corpus, split, scores)]
    if not places:
        return []
    texts = [split.test[place] for place in places]
    try:
        of_texts = [*map(plain_token_scores, detector.token_scores(texts))]
    except AdbenchTextError:  # for example because its score is not a sum over words
        return []
    for text, tokens in zip(texts, of_texts, strict=True):
        check_token_scores(tokens, text)
    if corpus.written_test is not None and not detector.reads_raw and corpus.is_cleaned:
        clean, written = cleaner_of(corpus), corpus.written_texts(split.places[places])
        of_texts = [
            original_words(text, clean.spans(text), tokens)
            for text, tokens in zip(written, of_texts, strict=True)
        ]
    return completed(of_texts, corpus, split, scores)


def completed(
    of_texts: Sequence[Iterable[Iterable[Any]]], corpus: Corpus, split: Split, scores: Scores
) -> list[Example]:
    """Return the examples of a split with these scores of words.

    Raise DetectorError or ValueError if the scores do not fit the examples. Only the scores of words come
    from the detector; the split has everything else.
    """
    chosen = _chosen(corpus, split, scores)
    if len(of_texts) != len(chosen):
        raise DetectorError(f"expected scores of words of {len(chosen)} documents, got {len(of_texts)}.")
    examples = []
    for (why, place), tokens in zip(chosen, map(plain_token_scores, of_texts), strict=True):
        document = int(split.places[place])
        (text,) = corpus.written_texts(split.places[[place]])
        check_token_scores(tokens, text)
        label = corpus.classes[corpus.test.labels[document]]
        outlier, score = bool(split.outlier[place]), float(scores[place])
        examples.append(
            Example(
                why=why,
                document=document,
                label=label,
                outlier=outlier,
                score=score,
                text=text,
                tokens=tokens,
            )
        )
    return examples


def _chosen(corpus: Corpus, split: Split, scores: Scores) -> list[tuple[str, int]]:
    """Choose the examples of a split; return their reasons, and their places among the test documents."""
    texts = corpus.written_texts(split.places)
    short = np.array([place for place, text in enumerate(texts) if len(text) <= _LONGEST], dtype=np.int64)
    return [(why, int(short[i])) for why, i in choose(split.outlier[short], scores[short])]


def to_json(examples: Sequence[Example]) -> str:
    """Return examples as JSON."""
    return json.dumps([{**vars(example), "tokens": list(example.tokens)} for example in examples])


def from_json(text: str) -> list[Example]:
    """Return the examples that `to_json` wrote; raise ValueError for any other text."""
    try:
        return [
            Example(
                why=str(fields["why"]),
                document=int(fields["document"]),
                label=str(fields["label"]),
                outlier=bool(fields["outlier"]),
                score=float(fields["score"]),
                text=str(fields["text"]),
                tokens=plain_token_scores(fields["tokens"]),
            )
            for fields in json.loads(text)
        ]
    except (AttributeError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not a list of examples: {error}") from error
