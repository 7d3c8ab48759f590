"""A ranking of documents in groups, and what is found about their groups."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import pandas as pd

from adbench_text.contract.other_words import OtherWords
from adbench_text.documents import OnProgress
from adbench_text.documents.detector_pair import DetectorPair
from adbench_text.documents.groups import GroupRanker, Groups, score_in_groups
from adbench_text.documents.misfiled import Misfiled, misfiled_documents
from adbench_text.documents.scoring import DocumentScores
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import Survey
from adbench_text.errors import InvalidValueError


@dataclass(frozen=True)
class InGroups:
    """What is found about the groups of documents.

    Attributes
    ----------
    groups : Groups
        The names of those that are ranked by themselves, and of the small ones.
    misfiled : Misfiled
        Documents that fit another group better than their own.
    contradictions : DataFrame
        Equal texts and near-copies in several groups, the largest families first: ``row``, ``n`` (documents)
        and ``groups`` (their labels, the most frequent first).
    """

    groups: Groups
    misfiled: Misfiled
    contradictions: pd.DataFrame

    def with_group(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return documents with the column ``group``."""
        return table.assign(group=self.groups.labels[table["row"]].to_numpy())

    def with_columns(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return documents with the columns ``group``, ``fits`` and ``misfit``."""
        found: dict[str, pd.Series[Any]] = {"fits": self.misfiled.fits, "misfit": self.misfiled.misfit}
        columns = {name: of_rows[table["row"]].to_numpy() for name, of_rows in found.items()}
        return self.with_group(table).assign(**columns)


def rank_in_groups(
    source: TextSource,
    found: Survey,
    pair: DetectorPair,
    labels: Iterable[Any],
    marks: Mapping[int, str],
    ranker: GroupRanker,
    *,
    jobs: int | str,
    progress: OnProgress,
) -> tuple[DocumentScores, InGroups]:
    """Score documents among those of their groups, and find those that fit another group."""
    rule = ranker.rule
    if rule.by not in (None, "words"):
        raise InvalidValueError(
            f"Documents have groups by their words; by form they are judged by the whole file. Leave out "
            f"by={rule.by!r} (--by) or the groups (--group)."
        )
    groups = Groups.of(labels, found)
    ranker = replace(ranker, others=OtherWords(found.cleaned.tolist()))
    scores = score_in_groups(source, found, pair, groups, marks, ranker, jobs=jobs, progress=progress)
    n_listed = max(ceil(rule.alpha * int(scores.table["p"].notna().sum())), rule.top, 1)
    misfiled = misfiled_documents(
        source, found.original, scores.table, groups, pair.cleaner, n_listed, jobs, progress
    )
    return scores, InGroups(groups, misfiled, groups.contradictions(found))
