"""Sentences of score about a file: drift and new near-copies."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from adbench_text.escaping import count, one_line

if TYPE_CHECKING:
    from adbench_text.calibration import Drift, Family, GrownWords
    from adbench_text.cli.score_output import FileScores
    from adbench_text.documents.models.model import Model

_LEAST_COMPARED = 20  # documents whose length is compared
_OTHER_LENGTH = 3  # ratio of the median numbers of words
_NOTABLE_EMPTY, _MANY_MORE = 0.05, 3  # share of empty documents, and the ratio to the share in the model
_NOTHING = "calls nothing odd: no p of this model is below {:.2g}. Fit on more documents"


def nothing_odd(scores: "FileScores", least: float, alpha: float, fdr: float | None) -> Iterator[str]:
    """Yield a note if no document can be odd, given the least p of a model."""
    if fdr is None:
        yield from out_of_reach(f"--alpha {alpha:g}", least, alpha)
    elif not scores.n_odd and least > fdr / scores.n_documents:
        yield f"--fdr {fdr:g} {_NOTHING.format(least)}, or use --alpha."


def out_of_reach(named: str, least: float, alpha: float) -> Iterator[str]:
    """Yield a note if alpha is below the least p of a model. `named` names alpha in the note."""
    if least > alpha:
        yield f"{named} {_NOTHING.format(least)}; near-copies count once."


def other_language(detected: str, of_model: str) -> str:
    """Return a note that most documents are not in the language of the model."""
    return (
        f"most documents are in the language {detected!r}, and the model is for {of_model!r}. "
        f"Score them with a model of such documents: fit --language {detected}."
    )


def empty(scores: "FileScores", facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note if many more documents are empty than in the file of the model."""
    n, n_before = scores.evidence.n_empty, facts.get("n_empty", 0)
    share, before = n / max(scores.n_documents, 1), n_before / max(facts.get("n_documents", 0), 1)
    is_enough = scores.n_documents >= _LEAST_COMPARED or n == scores.n_documents > 0
    if is_enough and share > max(_NOTABLE_EMPTY, _MANY_MORE * before):
        yield (
            f"{n:,} of {count(scores.n_documents, 'document')} are empty; in the file of the model, "
            f"{n_before:,} of {facts.get('n_documents', 0):,} have no words."
        )


def other_length(texts: Sequence[str], of_model: float | None) -> Iterator[str]:
    """Yield a note if documents are much shorter or longer than the documents of the model.

    `of_model` is the median number of words of the model's documents; None for older models.
    """
    if len(texts) < _LEAST_COMPARED or not of_model:
        return
    here = median(len(text.split()) for text in texts)
    if not here or 1 / _OTHER_LENGTH < here / of_model < _OTHER_LENGTH:
        return
    which = "shorter" if here < of_model else "longer"
    yield (
        f"documents are much {which} than the documents of the model: {here:g} words (median), and "
        f"{of_model:g} there. For this alone they may be called odd; fit a model on documents of this length."
    )


def of_family(family: "Family") -> str:
    """Return a line about a family of near-copies, with its first document."""
    which = "new documents" if family.is_new else f"documents, {family.n_known:,} in the file of the model,"
    return one_line(f"Near-copies: {family.n_documents:,} {which} like {_named(family)}")


def of_grown(words: "GrownWords") -> str:
    """Return a line about words that are in more documents than expected, with a typical document."""
    documents = f"{count(words.n_documents, 'different document')} with {words.words[0]!r}"
    counts = f"{documents}, {_number(words.n_expected)} expected (p {words.p:.2g})"
    return one_line(f"Grew: {', '.join(words.words)}: {counts}, like {_named(words)}")


def _named(typical: "Family | GrownWords") -> str:
    """Return the identifier and the beginning of a typical document, or its row if it has no identifier."""
    return f"id {typical.id:.60}: {typical.text:.60}" if typical.id else f"row {typical.row}"


def _number(expected: float) -> str:
    """Return an expected number of documents as text."""
    return format(expected, ",.0f" if expected >= 10 else ".2g")


def verdict(drift: "Drift", alpha: float, fdr: float | None) -> str:
    """Return whether the new documents differ from the documents of the model, with the tests."""
    from adbench_text.calibration import LEAST_P

    n_expected = _number(drift.n_expected)
    of_alpha = f"{count(drift.n_odd, 'new text')} with p of at most {alpha:g}"
    odd = f"{drift.n_odd:,} odd" if fdr is None else of_alpha
    tests = [(drift.p_odd, f"{odd}, {n_expected} expected (p {drift.p_odd:.2g})")]
    if drift.p is not None:
        look = "are not uniform" if drift.p < LEAST_P else "may be uniform"
        sentence = f"p-values {look} (Kolmogorov-Smirnov {drift.distance:.2g}, p {drift.p:.2g})"
        tests.append((drift.p, sentence))
    if not drift.is_found:
        return f"No sign that this file differs: {'; '.join(sentence for _, sentence in tests)}."
    for family in drift.families[:1]:
        known = f"{family.n_known:,} in the file of the model"
        tests.append((family.p, f"{family.n_documents:,} near-copies, {known} (p {family.p:.2g})"))
    if drift.grown:
        subjects = f"{count(len(drift.grown), 'subject')} grew"
        tests.append((drift.p_grown, f"{subjects} (p {drift.p_grown:.2g})"))
    return f"This file differs: {'; '.join(sentence for p, sentence in tests if p < LEAST_P)}."


def counted(scores: "FileScores", drift: "Drift", alpha: float, fdr: float | None) -> str:
    """Return how many documents a file has, how many are new, and which are odd."""
    new = f", {count(drift.n_new, 'new text')}" if drift.n_new < scores.n_documents else ""
    odd = f"a p of at most {alpha:g} is odd"
    if fdr is not None:
        of_all = f"on average at most {100 * fdr:.3g} % of them false alarms"
        odd = f"{count(scores.n_odd, 'document')} called odd (--fdr: {of_all})"
    return f"{count(scores.n_documents, 'document')}{new}; {odd}."


def learned(model: "Model") -> str:
    """Return what the model was fitted on, and what p means."""
    return (
        f"{model.training.options.get('configuration', model.name)}, fitted on "
        f"{model.training.n_documents:,} documents; p is the share of normal documents that score at "
        "least as high."
    )
