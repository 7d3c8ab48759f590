"""What makes a document odd: its words, or facts about it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.scores import (
    N_WHY,
    TOGETHER,
    TokenScore,
    check_token_scores,
    original_words,
    plain_reasons,
    plain_token_scores,
)
from adbench_text.errors import DetectorError
from adbench_text.failures import as_plugin_error
from adbench_text.text.folds import folds_of
from adbench_text.text.languages import standard
from adbench_text.text.letters import in_lower_case

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.contract.detector import TextDetector

NO_WORDS = "no words"  # a reason
_UNKNOWN = "en"  # of documents that are not cleaned: case is that of most languages


class Explanation(NamedTuple):
    """What makes a document odd."""

    #: Scores of its words as they were written; empty if the detector scores a document as a unit.
    words: list[TokenScore]
    why: list[str]  #: words, or else facts from the detector, the strongest first
    why_form: list[str]  #: facts about its form, the strongest first

    def of_odd(self) -> Self:
        """Return the same of a document that is odd by its words, with a reason also if no word is odd."""
        return self._replace(why=[TOGETHER]) if self.words and not self.why else self


def shows_no_words(text: str, cleaned: str) -> bool:
    """Return whether a document has no words once cleaned, and yet is not empty, such as ``"??"``."""
    return not cleaned.strip() and text.strip() != ""


def odd_words(words: Sequence[TokenScore], least: float, n: int, language: str = _UNKNOWN) -> list[str]:
    """Return the n different words with the highest scores above the least, in lower case."""
    strongest = sorted((word for word in words if word.score > least), key=lambda word: -word.score)
    found: dict[str, str] = {}  # a word that is spelled in two ways counts once
    for word in strongest:
        written = in_lower_case(word.token, language)
        found.setdefault(folds_of(standard(language)).fold(written), written)
    return [*found.values()][:n]


def asked(
    detector: "TextDetector", method: str, texts: Sequence[str], places: Sequence[int] | None = None
) -> list[list[Any]]:
    """Return what a detector says of documents: its ``token_scores`` or ``reasons``, as plain values.

    With `places`, it is asked about these training documents, whose texts are `texts`. Raise DetectorError if
    the detector has no such scores, PluginError if it fails or answers otherwise.
    """
    plain: Callable[[Any], list[Any]] = plain_reasons if method.endswith("reasons") else plain_token_scores
    kind = detector.implementation
    with as_plugin_error(f"{method} of {kind.__name__} failed", kind.__module__):
        ask = getattr(detector, method if places is None else f"training_{method}")
        answers = [*map(plain, ask(texts if places is None else places))]
        if len(answers) != len(texts):
            raise ValueError(f"expected {len(texts)} answers, got {len(answers)}")
        if plain is plain_token_scores:
            for tokens, text in zip(answers, texts, strict=True):
                check_token_scores(tokens, text)
    return answers


def explain(
    texts: "pd.Series[str]",
    cleaner: Cleaner,
    token_scores: "Callable[[pd.Series[str]], Sequence[Sequence[TokenScore]]]",
    reasons: "Callable[[pd.Series[str]], Sequence[Sequence[str]]]",
    least: float,
) -> list[Explanation]:
    """Return what makes documents odd; `token_scores` and `reasons` are asked about them once cleaned.

    Words with scores above the least make a document odd, or that it has none, such as ``"??"``. Only of the
    others the detector is asked for its reasons.
    """
    cleaned = texts.map(cleaner)
    try:
        scored = token_scores(cleaned)
    except DetectorError:  # it scores a document as a unit
        scored = [[] for _ in texts]
    explanations = []
    for text, left, tokens in zip(texts, cleaned, scored, strict=True):
        words = original_words(text, cleaner.spans(text), tokens)
        why = odd_words(words, least, N_WHY, cleaner.language or _UNKNOWN)
        explanations.append(Explanation(words, [NO_WORDS] if shows_no_words(text, left) else why, []))
    unexplained = [number for number, each in enumerate(explanations) if not each.why]
    if unexplained:
        for number, facts in zip(unexplained, reasons(cleaned.iloc[unexplained]), strict=True):
            explanations[number] = explanations[number]._replace(why=list(facts[:N_WHY]))
    return explanations
