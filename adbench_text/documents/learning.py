"""Fit the detectors of a part on its sample, and keep the scores and explanations that lists need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from adbench_text.calibration import p_values_within
from adbench_text.contract.labels import NOTHING_KNOWN
from adbench_text.contract.other_words import OtherWords
from adbench_text.documents.detector_pair import LEAST_LEARNED
from adbench_text.documents.document_scores import Explained, PartScores
from adbench_text.documents.left_out import LeftOut
from adbench_text.documents.marks import ODD, MarkEvidence
from adbench_text.documents.parts import Part
from adbench_text.documents.rule import ListRule


@dataclass(frozen=True)
class Sample:
    """The raw documents that a part learns from, by row."""

    part: Part
    words: "pd.Series[str]"
    form: "pd.Series[str]"
    marked: "pd.Series[str]"  # the marks
    raw_marked: "pd.Series[str]"  # the marked documents
    scores_others: bool  # whether documents outside the sample are scored
    is_joint: bool  # whether a list may join words and form
    has_enough: bool  # whether earlier parts have enough odd documents to fill a list


class Learned(NamedTuple):
    """What the detectors of words and form learned; None for a detector that did not learn."""

    words: LeftOut | None
    form: LeftOut | None
    evidence: MarkEvidence | None
    scores: "pd.Series[float]"  # by words, including documents marked odd


@dataclass(frozen=True)
class Learner:
    """Learns from the sample of a part, and keeps what lists need. It may run in a worker process."""

    others: Sequence[OtherWords | None]  # for each language: its words, if its groups are parts
    rule: ListRule
    unranked: frozenset[int]  # rows of documents that get no p
    crowded: frozenset[int]  # rows of documents with too many copies to be listed

    def __call__(self, sample: Sample) -> PartScores:
        """Return the scores of a part whose documents are all in its sample."""
        learned = self.learn(sample)
        raw = pd.concat([sample.words, sample.raw_marked[~sample.raw_marked.index.isin(sample.words.index)]])
        return self.part_scores(sample, learned, learned.scores, raw.loc.__getitem__)

    def learn(self, sample: Sample) -> Learned:
        """Fit the detectors of a part, and score the documents that they learn from."""
        others = self.others[sample.part.language]
        part = sample.part
        form = part.pair.learn_form(sample.form) if "form" in part.orders else None
        cleaned = part.pair.cleaner.cleaned_series(sample.words)
        normal = cleaned[cleaned.map(str.strip) != ""]
        n_fine = len(normal.drop(sample.marked.index[sample.marked == ODD], errors="ignore"))
        if "words" not in part.orders or n_fine < LEAST_LEARNED:  # another part may have enough
            return Learned(None, form, None, pd.Series(dtype=np.float64))
        evidence, known = None, NOTHING_KNOWN
        if len(sample.marked):
            before = part.pair.copy().learn_words(normal, known, others, for_others=True)
            evidence = MarkEvidence(
                is_odd=sample.marked == ODD,
                raw=sample.raw_marked,
                cleaner=part.pair.cleaner,
                before=before,
                of_form=form,
            )
            normal = normal.drop(evidence.odd_rows, errors="ignore")
            known = evidence.known(normal)
        for_others = sample.scores_others or evidence is not None
        words = part.pair.learn_words(normal, known, others, for_others=for_others)
        scores = words.scores
        if evidence and len(evidence.odd):
            odd = pd.Series(part.pair.by_words(evidence.odd.tolist()), evidence.odd.index)
            scores = pd.concat([scores, odd])
        return Learned(words, form, evidence, scores)

    def part_scores(
        self,
        sample: Sample,
        learned: Learned,
        scores: "pd.Series[float]",
        raw: "Callable[[pd.Index[int]], pd.Series[str]]",
    ) -> PartScores:
        """Return the scores of a part, and what explains the documents that may be listed.

        If a list joins words and form, any document may be listed: then the detector is kept. Otherwise the
        documents that may be listed are explained now, and the detector is dropped. `scores` are the scores
        of all documents of the part by words; `raw` returns the texts of some rows.
        """
        words, evidence = learned.words, learned.evidence
        if words is None:
            return PartScores(
                part=sample.part,
                words=scores,
                learned_from=pd.Series(dtype=float),
                method="",
                centre=0.0,
                detail=None,
                form=learned.form,
                evidence=None,
            )
        of_words = PartScores(
            part=sample.part,
            words=scores,
            learned_from=words.scores,
            method=words.method,
            centre=words.centre,
            detail=words,
            form=learned.form,
            evidence=evidence,
        )
        if sample.is_joint:
            return of_words
        return replace(of_words, detail=self._explained(sample, words, evidence, scores, raw), evidence=None)

    def _explained(
        self,
        sample: Sample,
        words: LeftOut,
        evidence: MarkEvidence | None,
        scores: "pd.Series[float]",
        raw: "Callable[[pd.Index[int]], pd.Series[str]]",
    ) -> Explained:
        """Explain the documents of a part that may be listed; note which are like documents marked odd."""
        p = self._p(scores)
        n_odd = self.rule.n_odd(p)
        # if earlier parts fill a list, only odd documents of this part are added to it
        listed = p.head(n_odd if sample.has_enough else self.rule.n_listed(n_odd))
        texts = raw(listed.index)
        explained = words.explain(texts.tolist(), listed.index.to_series(), sample.part.pair.cleaner)
        is_like_odd = evidence.is_like(listed, texts) if evidence else pd.Series(False, listed.index)
        explanations = dict(zip(listed.index, explained, strict=True))
        return Explained(n_odd, explanations, frozenset(is_like_odd.index[is_like_odd]))

    def _p(self, scores: "pd.Series[float]") -> "pd.Series[float]":
        """Return the sorted p, by row, of the documents that may be in the list by words."""
        ranked = scores[~scores.index.isin(self.unranked)].sort_index()
        p = pd.Series(p_values_within(np.asarray(ranked, dtype=np.float64)), ranked.index)
        return p[~p.index.isin(self.crowded)].sort_values(kind="stable")  # ties in the order of rows
