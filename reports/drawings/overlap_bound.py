"""The chance that mask patterns look alike."""

from collections.abc import Iterator

from adbench_text.reports import published
from adbench_text.reports.comparison import Comparison
from adbench_text.reports.figures.export import Drawing
from adbench_text.reports.figures.plots import overlap_bound
from adbench_text.reports.ranking import Ranking

ORDER = 80

_DETECTOR = "date"  # whose paper derives the bound


def drawings(comparison: Comparison, ranking: Ranking) -> Iterator[Drawing]:
    """Yield the bound, where DATE is among the detectors."""
    if not any(column.detector == _DETECTOR for column in comparison.columns):
        return
    S, M = 128, 19  # 15 % of 128 positions, to which the paper's figures fit
    bounds = {n: [(p, published.overlap_bound(n, S, M, p)) for p in range(4, M + 1)] for n in (10, 50, 100)}
    yield Drawing(
        "overlap-bound",
        "How unlikely it is that mask patterns look alike",
        f"Upper bound of the chance that two of N random patterns, each masking {M} of {S} positions, share "
        "at least p of them (Manolache et al., NAACL 2021, Appendix A).",
        overlap_bound(bounds),
    )
