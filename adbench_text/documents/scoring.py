"""The third stage of a ranking: scores and p of all documents, part by part: by words, by form, by both."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.calibration import joined, p_values_within
from adbench_text.contract.labels import NOTHING_KNOWN
from adbench_text.contract.other_words import OtherWords
from adbench_text.contract.scores import TEST_BATCH
from adbench_text.documents import OnProgress
from adbench_text.documents.chunks import in_chunks, results_of
from adbench_text.documents.detector_pair import LEAST_LEARNED, too_few
from adbench_text.documents.explanation import Explanation
from adbench_text.documents.left_out import LeftOut, on_robust_scale
from adbench_text.documents.marks import ODD, MarkEvidence, marked_representatives, weight_of_form
from adbench_text.documents.parts import Part, Parts
from adbench_text.documents.rule import ListRule
from adbench_text.documents.scores_by_order import Array
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import Rows
from adbench_text.errors import InvalidValueError


class Explained(NamedTuple):
    """What makes documents odd that may be in the list by words; the detector itself is not kept."""

    n_odd: int
    explanations: Mapping[int, Explanation]  # by row
    like_marked: frozenset[int]  # rows of documents that are like those marked odd


@dataclass(frozen=True)
class PartScores:
    """What was learned in a part; documents are known by their rows."""

    part: Part
    words: "pd.Series[float]"  # scores of documents: of the sample, also of those marked odd
    learned_from: "pd.Series[float]"  # scores of the documents that were learned from
    method: str  # how a document is left out of what its detector learns, as of `LeftOut`
    centre: float  # score above which a word speaks for odd
    detail: LeftOut | Explained | None  # of words: what was learned, where any document may be listed
    form: LeftOut | None
    evidence: MarkEvidence | None  # what the marks tell, where they join words and form

    @property
    def n_learned(self) -> int:
        """Number of documents that were learned from by words."""
        return len(self.learned_from)

    @property
    def n_odd(self) -> int:
        """Number of documents that are odd by words and are explained already."""
        return self.detail.n_odd if isinstance(self.detail, Explained) else 0

    def explain(self, documents: pd.DataFrame, raw: "pd.Series[str]") -> list[Explanation]:
        """Return what makes documents of this part odd by their words."""
        places = documents["representative"]  # the same words, which have scores
        if isinstance(self.detail, LeftOut):
            return self.detail.explain(raw[documents["row"]].tolist(), places, self.part.pair.cleaner)
        assert self.detail is not None
        return [self.detail.explanations[row] for row in places]

    def is_like_marked(self, documents: pd.DataFrame) -> "pd.Series[bool]":
        """Return which documents of this part are like those marked odd."""
        if self.evidence is not None:
            by_row = documents.set_index("row")
            return self.evidence.is_like(by_row["p"], by_row["text"]).set_axis(documents.index)
        like = self.detail.like_marked if isinstance(self.detail, Explained) else ()
        return documents["row"].isin(like)


@dataclass(frozen=True)
class DocumentScores:
    """Scores and p of all documents, and what they were learned by.

    `table` has a row for each document, in the order of the input, with the columns ``row``, ``score``,
    ``p``, ``p_form``, ``p_both``, ``representative``, ``form_representative`` and ``mark`` of
    `OddDocuments.table`, and ``is_near``, whether its words are near those of its representative.
    """

    table: pd.DataFrame
    of_parts: Sequence[PartScores]
    marked: "pd.Series[str]"  # the marks by row, one for each family
    form_weight: float

    @property
    def of_words(self) -> list[PartScores]:
        """The parts that have learned of words."""
        return [scores for scores in self.of_parts if scores.n_learned]

    @property
    def has_form(self) -> bool:
        """Whether form is looked at."""
        return any(scores.form for scores in self.of_parts)

    @property
    def has_evidence(self) -> bool:
        """Whether marks join words and form."""
        return any(scores.evidence for scores in self.of_parts)

    @property
    def centre(self) -> float:
        """Score above which a word speaks for odd; 0 with several parts, whose scores are shifted to it."""
        of_words = self.of_words
        return of_words[0].centre if len(of_words) == 1 else 0.0

    def explain(self, documents: pd.DataFrame, raw: "pd.Series[str]") -> dict[int, Explanation]:
        """Return by row what makes documents odd by their words, each in its part."""
        found: dict[int, Explanation] = {}
        for scores in self.of_words:
            own, shift = documents[scores.part.has(documents["row"])], scores.centre - self.centre
            for row, each in zip(own["row"], scores.explain(own, raw), strict=True):
                words = (
                    [word._replace(score=word.score - shift) for word in each.words] if shift else each.words
                )
                found[row] = each._replace(words=words)
        return found

    def reasons(self, raw: "pd.Series[str]") -> dict[int, list[str]]:
        """Return by row the facts that make documents odd by their form, each in its part."""
        found: dict[int, list[str]] = {}
        for scores in self.of_parts:
            if scores.form is not None:
                own = raw[scores.part.has(raw.index)]
                found |= zip(own.index, scores.form.reasons(own), strict=True)
        return found

    def is_like_marked(self, documents: pd.DataFrame) -> "pd.Series[bool]":
        """Return which documents of a list are like those marked odd."""
        is_like = pd.Series(False, documents.index)
        for scores in self.of_words:
            own = documents[scores.part.has(documents["row"])]
            is_like[own.index] = scores.is_like_marked(own)
        return is_like


@dataclass(frozen=True)
class _Sample:
    """What a part learns from, as it was written; documents are known by their rows."""

    part: Part
    words: "pd.Series[str]"
    form: "pd.Series[str]"
    marked: "pd.Series[str]"  # the marks
    raw_marked: "pd.Series[str]"
    scores_others: bool  # whether documents outside the sample are scored
    is_joint: bool  # whether a list may join words and form
    has_enough: bool  # whether earlier parts have enough odd documents for a list


class _Learned(NamedTuple):
    words: LeftOut | None
    form: LeftOut | None
    evidence: MarkEvidence | None
    scores: "pd.Series[float]"  # by words, also of documents marked odd


def _learned(sample: _Sample, others: OtherWords | None) -> _Learned:
    """Fit the detectors of a part, and score what they learn from."""
    part = sample.part
    form = part.pair.learn_form(sample.form) if "form" in part.orders else None
    cleaned = sample.words.map(part.pair.cleaner)
    normal = cleaned[cleaned.map(str.strip) != ""]
    n_fine = len(normal.drop(sample.marked.index[sample.marked == ODD], errors="ignore"))
    if "words" not in part.orders or n_fine < LEAST_LEARNED:  # another part may have enough
        return _Learned(None, form, None, pd.Series(dtype=np.float64))
    evidence, known = None, NOTHING_KNOWN
    if len(sample.marked):
        before = part.pair.copy().learn_words(normal, known, others, for_others=True)
        evidence = MarkEvidence(sample.marked == ODD, sample.raw_marked, part.pair.cleaner, before, form)
        normal = normal.drop(evidence.odd_rows, errors="ignore")
        known = evidence.known(normal)
    for_others = sample.scores_others or evidence is not None
    words = part.pair.learn_words(normal, known, others, for_others=for_others)
    scores = words.scores
    if evidence and len(evidence.odd):
        odd = pd.Series(part.pair.by_words(evidence.odd.tolist()), evidence.odd.index)
        scores = pd.concat([scores, odd])
    return _Learned(words, form, evidence, scores)


@dataclass(frozen=True)
class _Keeper:
    """Keeps what is needed of a part. Called with a sample, it learns from it; a worker process may do it."""

    others: Sequence[OtherWords | None]  # the words of each language, where its groups are parts
    rule: ListRule
    unranked: frozenset[int]  # rows of documents that have no p
    crowded: frozenset[int]  # rows of documents with too many copies to be listed

    def __call__(self, sample: _Sample) -> PartScores:
        """Return the scores of a part whose documents are all in its sample."""
        learned = self.learned(sample)
        raw = pd.concat([sample.words, sample.raw_marked[~sample.raw_marked.index.isin(sample.words.index)]])
        return self.kept(sample, learned, learned.scores, raw.loc.__getitem__)

    def learned(self, sample: _Sample) -> _Learned:
        """Fit the detectors of a part."""
        return _learned(sample, self.others[sample.part.language])

    def kept(
        self,
        sample: _Sample,
        learned: _Learned,
        scores: "pd.Series[float]",
        raw: "Callable[[pd.Index[int]], pd.Series[str]]",
    ) -> PartScores:
        """Return what is kept of a part, given the scores by words of its documents; `raw` reads some."""
        words, evidence = learned.words, learned.evidence
        if words is None:
            return PartScores(sample.part, scores, pd.Series(dtype=float), "", 0.0, None, learned.form, None)
        of_words = sample.part, scores, words.scores, words.method, words.centre
        if sample.is_joint:
            return PartScores(*of_words, words, learned.form, evidence)
        p = self._p(scores)
        n_odd = self.rule.n_odd(p)
        listed = p.head(n_odd if sample.has_enough else self.rule.n_listed(n_odd))
        texts = raw(listed.index)
        explained = words.explain(texts.tolist(), listed.index.to_series(), sample.part.pair.cleaner)
        is_like = evidence.is_like(listed, texts) if evidence else pd.Series(False, listed.index)
        explanations = dict(zip(listed.index, explained, strict=True))
        detail = Explained(n_odd, explanations, frozenset(is_like.index[is_like]))
        return PartScores(*of_words, detail, learned.form, None)

    def _p(self, scores: "pd.Series[float]") -> "pd.Series[float]":
        """Return the p of the documents of a part that may be in the list by words, by their rows, sorted."""
        ranked = scores[~scores.index.isin(self.unranked)].sort_index()
        p = pd.Series(p_values_within(np.asarray(ranked, dtype=np.float64)), ranked.index)
        return p[~p.index.isin(self.crowded)].sort_values(kind="stable")  # scores have their order


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

    Marks enter here. Documents marked odd are not among the documents that a detector learns from as normal
    ones; they are scored by what it has learned, like the documents outside the sample.
    """
    representative = parts.by_words.representative
    marked = marked_representatives(marks, representative)
    unranked = frozenset(() if keep_marked else marked.index)
    keeper = _Keeper(parts.others, rule, unranked, frozenset(_crowded(representative, rule).tolist()))
    arrays = {order: np.full(len(parts), np.nan) for order in parts.orders}
    of_parts = list[PartScores]()
    samples = _Samples(source, parts, marked, source.raw(marked.index), rule, of_parts)
    rests = [parts.rests(part) for part in parts.parts]
    _check_batch(parts, rests)
    progress("learning", 0, None)
    small, n_done = [], 0
    for part, of_part in zip(parts.parts, rests, strict=True):
        if not of_part:
            small.append(part)
            continue
        sample = samples.of(part, scores_others=True)  # the documents of a large part are shared between jobs
        learned = keeper.learned(sample)
        _fill(arrays, learned.scores, learned.form)
        for orders, rows in of_part:
            if learned.words is not None or "words" not in orders:
                _score_rest(source, sample.part, orders, rows, arrays, jobs, progress)
        scores = learned.scores
        if learned.words is not None:
            scores = pd.Series(arrays["words"][part.rows], part.rows).dropna()
        # the part as it was, without fitted detectors
        of_parts.append(replace(keeper.kept(sample, learned, scores, source.raw), part=part))
    with closing(results_of(keeper, map(samples.of, small), jobs)) as kept:
        for part, scores_of_part in zip(small, kept, strict=True):
            of_parts.append(replace(scores_of_part, part=part))
            _fill(arrays, scores_of_part.words, scores_of_part.form)
            n_done += len(part.rows)
            progress("scoring", n_done, None)
    if not any(scores.n_learned for scores in of_parts):
        raise too_few(parts.parts[-1].pair.words, parts.most_to_learn(marked.index[marked == ODD]))
    weight = weight_of_form([scores.evidence for scores in of_parts if scores.evidence])
    table = _table(parts, arrays, of_parts, weight, np.isin(representative, [*unranked]))
    table["mark"] = marked.reindex(representative, fill_value="").tolist()
    return DocumentScores(table, of_parts, marked, weight)


@dataclass(frozen=True)
class _Samples:
    """The samples of parts, read when they are asked for."""

    source: TextSource
    parts: Parts
    marked: "pd.Series[str]"
    raw_marked: "pd.Series[str]"
    rule: ListRule
    done: Sequence[PartScores]  # what was learned in the parts before

    def of(self, part: Part, *, scores_others: bool = False) -> _Sample:
        """Return what a part learns from."""
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
        return _Sample(
            *(own, words, form, marked, self.raw_marked[marked.index]),
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


def _check_batch(parts: Parts, rests: Sequence[Sequence[object]]) -> None:
    """Raise InvalidValueError if documents are outside the sample of a detector that scores no others."""
    for part, rest in zip(parts.parts, rests, strict=True):
        words = part.pair.words
        if "words" in part.orders and words.detector.regime == TEST_BATCH and rest:
            n = max(int(parts.by_words.is_representative[each.rows].sum()) for each in parts.parts)
            raise InvalidValueError(
                f"{words.label} scores documents by the batch that they come in, so it learns from all of "
                f"them: give sample={n} (--sample) or more, got {parts.by_words.n_sample}."
            )


def _fill(arrays: Mapping[str, Array], words: "pd.Series[float]", form: LeftOut | None) -> None:
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
    """Fill in the scores of documents, in order, that the detectors of a part have not learned from."""
    n_done, scorer = 0, part.pair.scorer(orders)
    with closing(results_of(scorer, in_chunks(source.at(rows)), jobs)) as scored:
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
) -> pd.DataFrame:
    """Return the numbers of all documents in the order of the input, given the scores of representatives.

    Documents that are unranked have no p. Yet they count where words and form join: without them, the first
    of the others would look odd by any list.
    """
    rows, missing = np.arange(len(parts)), np.full(len(parts), np.nan)
    representative, form_representative = parts.by_words.representative, parts.by_form.representative
    # without form, nothing is known of documents without words
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
                values = arrays[order][own]
                p[f"all_{order}"][own] = p_values_within(values)
                p[name][own] = p_values_within(np.where(is_unranked[own], np.nan, values))
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
            "is_near": parts.by_words.is_near,
        }
    )
