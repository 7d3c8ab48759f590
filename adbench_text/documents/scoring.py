"""The third stage of a ranking: scores and p of all documents, by words, by form and by both."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import joined, p_values_within
from adbench_text.contract.labels import NOTHING_KNOWN
from adbench_text.contract.other_words import OtherWords
from adbench_text.contract.scores import TEST_BATCH
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.detector_pair import DetectorPair
from adbench_text.documents.left_out import GroupedWords, LeftOut, PartedForm, PartedWords
from adbench_text.documents.marks import ODD, MarkEvidence, marked_originals
from adbench_text.documents.scores_by_order import Array
from adbench_text.documents.source import TextSource, check_all_read
from adbench_text.documents.survey import Survey
from adbench_text.errors import InvalidValueError


@dataclass(frozen=True)
class DocumentScores:
    """Scores and p of all documents, and what they were learned by.

    `table` has a row for each document, in the order of the input, with the columns ``row``, ``score``,
    ``p``, ``p_form``, ``p_both``, ``words_of``, ``form_of`` and ``mark`` of `OddDocuments.table`, and
    ``is_near``, whether its words are near those of another document, which are scored for it.
    """

    table: pd.DataFrame
    words: LeftOut | GroupedWords | PartedWords
    form: LeftOut | PartedForm | None
    marked: "pd.Series[str]"  # the marks by row, one for each family
    evidence: MarkEvidence | None  # what the marks tell; None without marks
    form_weight: float


def score_documents(
    source: TextSource,
    found: Survey,
    pair: DetectorPair,
    marks: Mapping[int, str],
    *,
    keep_marked: bool,
    jobs: int | str,
    progress: OnProgress,
    others: OtherWords | None = None,
) -> DocumentScores:
    """Learn from the sample, and score all documents.

    Marks enter here. Those marked odd are not among the documents that the detector learns from as normal
    ones, and are scored by what it has learned, as those outside the sample are. `others` are the words of
    other groups, if the documents are those of one group.
    """
    check_sample(found, pair)
    marked = marked_originals(marks, found.original)
    progress("learning", 0, None)
    form = pair.learn_form(found)
    evidence, normal, known = None, found.cleaned, NOTHING_KNOWN._replace(others=others)
    if len(marked):
        raw = source.raw(marked.index)
        before = pair.copy().learn_words(normal, known, for_others=True)
        evidence = MarkEvidence(marked == ODD, raw, pair.cleaner, before, form)
        normal = normal.drop(evidence.odd_rows, errors="ignore")
        known = evidence.known(normal)._replace(others=others)
    own_forms = form is not None and found.has_own_forms
    rest = found.rest(with_words=form is None or own_forms)
    words = pair.learn_words(normal, known, for_others=len(rest) > 0 or evidence is not None)
    scores = {"words": _by_row(words, found)} | ({"form": _by_row(form, found)} if form else {})
    _score_rest(source, replace(pair, form=None) if own_forms else pair, rest, scores, jobs, progress)
    if own_forms:
        _score_rest(source, pair.by_form, found.rest_of_form(), scores, jobs, progress)
    if evidence and len(evidence.odd):
        scores["words"][evidence.odd.index] = pair.by_words(evidence.odd.tolist())
    form_weight = evidence.form_weight() if evidence else 1.0
    is_unranked = np.isin(found.original, () if keep_marked else marked.index)
    table = score_table(found, scores, form_weight, is_unranked)
    table["mark"] = marked.reindex(found.original, fill_value="").tolist()
    return DocumentScores(table, words, form, marked, evidence, form_weight)


def score_forms(
    source: TextSource, found: Survey, pair: DetectorPair, jobs: int | str, progress: OnProgress
) -> tuple[LeftOut | None, Array]:
    """Learn form from the sample, and score all documents by it; NaN for all if form is not looked at."""
    form = pair.learn_form(found)
    if form is None:
        return None, np.full(len(found.original), np.nan)
    scores = _by_row(form, found)
    rest = found.rest_of_form() if found.has_own_forms else found.rest(with_words=False)
    _score_rest(source, pair.by_form, rest, {"form": scores}, jobs, progress)
    return form, scores


def check_sample(found: Survey, pair: DetectorPair) -> None:
    """Raise InvalidValueError if documents are outside the sample of a detector that scores no others."""
    is_batch = pair.words.detector.regime == TEST_BATCH
    if is_batch and len(found.rest(with_words=pair.form is None or found.has_own_forms)):
        raise InvalidValueError(
            f"{pair.words.label} scores documents by the batch that they come in, so it learns from all of "
            f"them: give sample={found.is_original.sum()} (--sample) or more, got {len(found.sample)}."
        )


def _by_row(learned: LeftOut, found: Survey) -> Array:
    """Return the scores of the sample at their rows, and NaN at others."""
    return learned.scores.reindex(range(len(found.original))).to_numpy(copy=True)


def _score_rest(
    source: TextSource,
    score: Callable[[list[str]], dict[str, Array]],
    rows: NDArray[np.int64],
    scores: Mapping[str, Array],
    jobs: int | str,
    progress: OnProgress,
) -> None:
    """Fill in the scores of rows, in order, that the detectors have not learned from."""
    n_done = 0
    with closing(results_of(score, in_chunks(source.at(rows)), jobs)) as scored:
        for of_chunk in scored:
            done = rows[n_done : n_done + len(next(iter(of_chunk.values())))]
            for order, values in of_chunk.items():
                scores[order][done] = values
            n_done += len(done)
            progress("scoring", n_done, len(rows))
    check_all_read(n_done, len(rows))


def score_table(
    found: Survey, scores: Mapping[str, Array], form_weight: float, is_unranked: NDArray[np.bool_]
) -> pd.DataFrame:
    """Return the numbers of all documents in the order of the input, given the scores of originals.

    Documents that are unranked have no p. Yet they count where words and form join: without them, the first
    of the others would look odd by any list.
    """
    by_words, rows = scores["words"], np.arange(len(found.original))
    by_form = scores.get("form", np.full(len(rows), np.nan))
    # without form, nothing is known of documents without words
    is_known = ~np.isnan(by_form if "form" in scores else by_words)
    original = np.where((found.original >= 0) & is_known[found.original], found.original, rows)
    form_of = np.where(original == found.original, found.of_form, original) if "form" in scores else original
    p, p_form = p_values_within(by_words)[original], p_values_within(by_form)
    scores_of = {
        "p": (by_words, original),
        "p_form": (by_form, form_of),
        "p_both": (joined(p, p_form, form_weight), form_of),
    }
    ranked = {
        name: p_values_within(np.where(is_unranked, np.nan, values))[place]
        for name, (values, place) in scores_of.items()
    }
    return pd.DataFrame(
        {
            "row": rows,
            "score": by_words[original],
            **ranked,
            "words_of": original,
            "form_of": form_of,
            "is_near": found.is_near,
        }
    )
