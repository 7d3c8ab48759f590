"""Explain why a document is odd, by its words or by facts about it."""

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
_UNKNOWN = "en"  # for documents that are not cleaned; most languages have the same rules of case


class Explanation(NamedTuple):
    """Why a document is odd."""

    #: Scores of its words as written; empty if the detector has no scores of words.
    words: list[TokenScore]
    why: list[str]  #: odd words, or else facts from the detector, the strongest first
    why_form: list[str]  #: facts about its form, the strongest first

    def with_a_reason(self) -> Self:
        """Return the explanation of a document that is odd by its words: if none is odd, all together are."""
        return self._replace(why=[TOGETHER]) if self.words and not self.why else self


def shows_no_words(text: str, cleaned: str) -> bool:
    """Return whether a document is not empty but has no words after cleaning, such as ``"??"``."""
    return not cleaned.strip() and text.strip() != ""


def odd_words(words: Sequence[TokenScore], least: float, n: int, language: str = _UNKNOWN) -> list[str]:
    """Return at most `n` different words in lower case, with the highest scores above `least`."""
    strongest = sorted((word for word in words if word.score > least), key=lambda word: -word.score)
    by_fold: dict[str, str] = {}  # two spellings of a word count once
    for word in strongest:
        written = in_lower_case(word.token, language)
        by_fold.setdefault(folds_of(standard(language)).fold(written), written)
    return [*by_fold.values()][:n]


def asked(
    detector: "TextDetector", method: str, texts: Sequence[str], places: Sequence[int] | None = None
) -> list[list[Any]]:
    """Call ``token_scores`` or ``reasons`` of a detector; return plain values.

    With `places`, the method for training documents is called with these places; `texts` are their texts.
    Raise DetectorError if the detector has no such scores. Raise PluginError if it fails or returns something
    else.
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
    """Explain why documents are odd; `token_scores` and `reasons` receive the cleaned texts.

    The reasons are the words with scores above `least`, or that a document has no words, such as ``"??"``.
    Only for the other documents, `reasons` is called.
    """
    cleaned_texts = cleaner.cleaned_series(texts)
    try:
        scored = token_scores(cleaned_texts)
    except DetectorError:  # the detector has no scores of words
        scored = [[] for _ in texts]
    explanations = []
    for text, cleaned, tokens in zip(texts, cleaned_texts, scored, strict=True):
        words = original_words(text, cleaner.spans(text), tokens)
        why = odd_words(words, least, N_WHY, cleaner.language or _UNKNOWN)
        explanations.append(Explanation(words, [NO_WORDS] if shows_no_words(text, cleaned) else why, []))
    unexplained = [number for number, explanation in enumerate(explanations) if not explanation.why]
    if unexplained:
        for number, facts in zip(unexplained, reasons(cleaned_texts.iloc[unexplained]), strict=True):
            explanations[number] = explanations[number]._replace(why=list(facts[:N_WHY]))
    return explanations
