"""Mean ranks, and which detectors do not differ significantly."""

from collections.abc import Iterator

from adbench_text.reports import significance
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.figures.export import Drawing
from adbench_text.reports.figures.plots import critical_differences
from adbench_text.reports.ranking import Ranking

ORDER = 10


def drawings(comparison: Comparison, ranking: Ranking) -> Iterator[Drawing]:
    """Yield the critical-difference diagram of three or more detectors."""
    if not ranking.is_possible or len(ranking.columns) < 3:
        return
    groups = significance.cliques(ranking.mean_ranks, ranking.pairs)
    names = [column.label for column in ranking.columns]
    yield Drawing(
        "critical-differences",
        f"Mean ranks over {len(ranking.splits)} splits",
        "Rank 1 is best. A bar joins detectors of which no two differ significantly "
        "(Wilcoxon signed-rank test, Holm's correction, level 0.05).",
        critical_differences(names, ranking.mean_ranks.tolist(), groups, len(ranking.splits)),
    )
