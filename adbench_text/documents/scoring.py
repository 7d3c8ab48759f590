"""The third stage of a ranking: score all documents in their parts, by words and by form."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import joined, p_values_within
from adbench_text.contract.scores import TEST_BATCH
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import OnTexts, Rows, results_of
from adbench_text.documents.detector_pair import too_few
from adbench_text.documents.document_scores import DocumentScores, PartScores
from adbench_text.documents.learning import Learner, Sample
from adbench_text.documents.left_out import LeftOut, on_robust_scale
from adbench_text.documents.marks import ODD, marked_representatives, weight_of_form
from adbench_text.documents.parts import Part, Parts
from adbench_text.documents.ranks import in_order
from adbench_text.documents.rule import ListRule
from adbench_text.documents.scores_by_order import Array
from adbench_text.documents.source import TextSource
from adbench_text.errors import InvalidValueError


def score_documents(
    source: TextSource,
    parts: Parts,
    marks: Mapping[int, str],
    rule: ListRule,
    *,
    keep_marked: bool,
    jobs: int | str,
    progress: OnProgress,
) -> DocumentScores:
    """Learn from the sample of each part, and score all documents.

    This stage uses the marks. A detector does not learn from documents marked odd as normal ones. They are
    scored by the fitted detector, like documents outside the sample.
    """
    representative = parts.by_words.representative
    marked = marked_representatives(marks, representative)
    unranked = frozenset(() if keep_marked else marked.index)
    learner = Learner(parts.others, rule, unranked, frozenset(_crowded(representative, rule).tolist()))
    arrays = {order: np.full(len(parts), np.nan) for order in parts.orders}
    of_parts = list[PartScores]()
    samples = _Samples(
        source, parts, marked=marked, raw_marked=source.raw(marked.index), rule=rule, done=of_parts
    )
    rests = [parts.rests(part) for part in parts.parts]
    _check_batch(parts, rests)
    progress("learning", 0, None)
    small, n_done = [], 0  # parts whose documents are all in their samples
    for part, rests_of_part in zip(parts.parts, rests, strict=True):
        if not rests_of_part:
            small.append(part)
            continue
        sample = samples.of(part, scores_others=True)  # jobs share the documents of a large part
        learned = learner.learn(sample)
        _fill(arrays, learned.scores, learned.form)
        for orders, rows in rests_of_part:
            if learned.words is not None or "words" not in orders:
                _score_rest(source, sample.part, orders, rows, arrays, jobs, progress)
        scores = learned.scores
        if learned.words is not None:
            scores = pd.Series(arrays["words"][part.rows], part.rows).dropna()
        of_part = learner.part_scores(sample, learned, scores, source.raw)
        # the original part has no fitted detectors, and `arrays` has the scores
        of_parts.append(replace(of_part, part=part, words=scores[:0]))
    with closing(results_of(learner, map(samples.of, small), jobs)) as of_small:
        for part, scores_of_part in zip(small, of_small, strict=True):
            of_parts.append(replace(scores_of_part, part=part))
            _fill(arrays, scores_of_part.words, scores_of_part.form)
            n_done += len(part.rows)
            progress("scoring", n_done, None)
    if not any(scores.n_learned for scores in of_parts):
        raise too_few(parts.parts[-1].pair.words, parts.most_to_learn(marked.index[marked == ODD]))
    weight = weight_of_form([scores.evidence for scores in of_parts if scores.evidence])
    orders = rule.orders(
        has_form=any(scores.form for scores in of_parts),
        has_evidence=any(scores.evidence for scores in of_parts),
    )
    is_unranked = np.isin(representative, [*unranked])
    ranked = in_order(_table(parts, arrays, of_parts, weight, is_unranked, marked), orders[0], rule.alpha)
    return DocumentScores(ranked, orders, of_parts, marked, weight)


@dataclass(frozen=True)
class _Samples:
    """Reads the sample of a part when it is needed."""

    source: TextSource
    parts: Parts
    marked: "pd.Series[str]"
    raw_marked: "pd.Series[str]"
    rule: ListRule
    done: Sequence[PartScores]  # scores of earlier parts

    def of(self, part: Part, *, scores_others: bool = False) -> Sample:
        """Return the sample of a part, with unfitted detectors: the copy goes to a worker process."""
        words = form = pd.Series(dtype=object)
        marked = self.marked[:0]
        if "words" in part.orders:
            words = self.source.raw(self.parts.by_words.sample(part.rows))
            marked = self.marked[part.has(self.marked.index)]
        if "form" in part.orders:
            rows = self.parts.by_form.sample(part.rows)
            form = words if np.array_equal(rows, words.index) else self.source.raw(rows)
        is_joint = {*part.orders} == {"words", "form"} and self.rule.is_joint(has_marks=len(self.marked) > 0)
        own = replace(part, pair=part.pair.copy())
        return Sample(
            part=own,
            words=words,
            form=form,
            marked=marked,
            raw_marked=self.raw_marked[marked.index],
            scores_others=scores_others,
            is_joint=is_joint,
            has_enough=sum(scores.n_odd for scores in self.done) >= self.rule.n_listed(0),
        )


def _crowded(representative: Rows, rule: ListRule) -> Rows:
    """Return the documents with more copies than a list may have."""
    if rule.max_copies is None:
        return np.empty(0, dtype=np.int64)
    rows, n = np.unique(representative[representative >= 0], return_counts=True)
    return rows[n - 1 > rule.max_copies]


def _check_batch(parts: Parts, rests: Sequence[Sequence[tuple[Collection[str], Rows]]]) -> None:
    """Raise InvalidValueError if a transductive detector would not learn from all documents of its part.

    `rests` has for each part the documents outside its sample, with their orders.
    """
    for part, rests_of_part in zip(parts.parts, rests, strict=True):
        words = part.pair.words
        is_outside = any("words" in orders for orders, _ in rests_of_part)
        if is_outside and words.detector.regime == TEST_BATCH:
            of_words = [each for each in parts.parts if "words" in each.orders]
            n = max(parts.by_words.size_of_whole_sample(each.rows) for each in of_words)
            raise InvalidValueError(
                f"{words.label} scores documents by the batch that they come in, so it learns from all of "
                f"them: give sample={n} (--sample) or more, got {parts.by_words.n_sample}."
            )


def _fill(arrays: Mapping[str, Array], words: "pd.Series[float]", form: LeftOut | None) -> None:
    """Fill the scores of a part by words and by form into the arrays of all documents."""
    if len(words):
        arrays["words"][words.index] = words
    if form is not None:
        arrays["form"][form.scores.index] = form.scores


def _score_rest(
    source: TextSource,
    part: Part,
    orders: Collection[str],
    rows: Rows,
    arrays: Mapping[str, Array],
    jobs: int | str,
    progress: OnProgress,
) -> None:
    """Score the documents that the detectors of a part did not learn from; fill in their scores."""
    n_done, scorer = 0, part.pair.scorer(orders)
    with closing(results_of(OnTexts(scorer), source.chunks(rows), jobs)) as scored:
        for of_chunk in scored:
            done = rows[n_done : n_done + len(next(iter(of_chunk.values())))]
            for order, values in of_chunk.items():
                arrays[order][done] = values
            n_done += len(done)
            progress("scoring", n_done, len(rows))


def _table(
    parts: Parts,
    arrays: Mapping[str, Array],
    of_parts: Sequence[PartScores],
    form_weight: float,
    is_unranked: NDArray[np.bool_],
    marked: "pd.Series[str]",
) -> pd.DataFrame:
    """Return scores, p-values and marks of all documents, given the scores of representatives.

    Unranked documents have no p. They still count when words and form are joined: without them, the first of
    the other documents would look odd in any list.
    """
    rows, missing = np.arange(len(parts)), np.full(len(parts), np.nan)
    representative, form_representative = parts.by_words.representative, parts.by_form.representative
    # without form, a document without words has no score
    known = arrays["form"][form_representative] if "form" in arrays else arrays["words"][representative]
    is_known = (representative >= 0) & ~np.isnan(known)
    representative = np.where(is_known, representative, rows)
    form_representative = (
        np.where(is_known, form_representative, rows) if "form" in arrays else representative
    )
    score = arrays["words"].copy()
    p = {name: missing.copy() for name in ("all_words", "all_form", "p", "p_form", "p_both")}
    n_parts = sum(scores.n_learned > 0 for scores in of_parts)
    for scores in of_parts:
        own = scores.part.rows
        for order, name in (("words", "p"), ("form", "p_form")):
            if order in scores.part.orders:
                values, is_left_out = arrays[order][own], is_unranked[own]
                p[f"all_{order}"][own] = p[name][own] = p_values_within(values)
                if is_left_out.any():
                    p[name][own] = p_values_within(np.where(is_left_out, np.nan, values))
        if scores.n_learned and n_parts > 1:
            score[own] = on_robust_scale(score[own], np.asarray(scores.learned_from, dtype=np.float64))
    of_both = joined(p["all_words"][representative], p["all_form"][form_representative], form_weight)
    of_both[is_unranked] = np.nan
    for scores in of_parts:
        if "form" in scores.part.orders:
            own = scores.part.rows
            pairs = pd.DataFrame({"words": representative[own], "form": form_representative[own]})
            ranked = p_values_within(np.where(pairs.duplicated(), np.nan, of_both[own]))
            p["p_both"][own] = pd.Series(ranked).groupby([pairs["words"], pairs["form"]]).transform("first")
    return pd.DataFrame(
        {
            "row": rows,
            "score": score[representative],
            "p": p["p"][representative],
            "p_form": np.where(is_unranked, np.nan, p["p_form"][form_representative]),
            "p_both": p["p_both"],
            "representative": representative,
            "form_representative": form_representative,
            "mark": marked.reindex(parts.by_words.representative, fill_value="").tolist(),
            "is_near": parts.by_words.is_near,
        },
        copy=False,
    )
