"""The sentences that a report begins with: the best detector of each dataset, and by how much."""

from collections.abc import Sequence
from statistics import mean

from adbench_text.reports.columns import Column
from adbench_text.reports.comparison import Comparison
from adbench_text.sweep.cell import percent


def headlines(comparison: Comparison) -> list[str]:
    """Return a sentence for each corpus: its best complete detector, over the next and over the published."""
    return [_headline(comparison, digest, label) for digest, label in comparison.corpora.items()]


def _headline(comparison: Comparison, digest: str, label: str) -> str:
    metric, level = comparison.metric.title, percent(comparison.lowest)
    levels = comparison.levels_of(digest)
    if comparison.lowest not in levels:
        listed = ", ".join(map(percent, levels))
        return (
            f"{label}: not run at {level} of outliers in the training data; the table 'levels' has {listed}."
        )
    ranked = _complete(comparison, digest)
    if not ranked:
        return f"{label}: no detector has a complete {metric} yet."
    (best, value), others = ranked[0], ranked[1:]
    n_splits = len(comparison.inliers(digest))
    sentence = f"{label}: {best.label} "
    sentence += "is best" if others else "is the only complete detector"
    sentence += f", with a mean {metric} of {value:.1f}% over {n_splits} split{'s' if n_splits > 1 else ''}"
    sentence += f" at {level} of outliers in the training data"
    if others:
        sentence += f", {_against(value, others[0][1])} {others[0][0].label}"
    published = _published(comparison, digest)
    if published:
        name, theirs = published
        sentence += f"; {_against(value, theirs)} the best published figure, {name}"
        sentence += ", which is of another edition" if digest in comparison.other_editions else ""
    return f"{sentence}."


def _complete(comparison: Comparison, digest: str) -> list[tuple[Column, float]]:
    """Return the fair columns with a figure of all splits, the best first.

    Columns that use the test batch are among them only if there are no others.
    """
    fair = [column for column in comparison.columns if not column.is_oracle]
    figures = {c: comparison.mean(c, digest, comparison.lowest).complete_value for c in fair}
    present = [(column, value) for column, value in figures.items() if value is not None]
    inductive = [(column, value) for column, value in present if not column.uses_test_batch]
    sign = -1 if comparison.metric.higher_is_better else 1
    return sorted(inductive or present, key=lambda item: sign * item[1])


def _published(comparison: Comparison, digest: str) -> tuple[str, float] | None:
    if comparison.lowest > 0:
        return None
    means = {}
    for label in comparison.published:
        figures = comparison.figures_of_paper(label, digest)
        inliers = comparison.inliers(digest)
        if inliers and all(figures.get(inlier) is not None for inlier in inliers):
            means[label] = mean(figures[inlier] for inlier in inliers)
    if not means:
        return None
    best = comparison.metric.best(means.values())
    return next((label, value) for label, value in means.items() if value == best)


def _against(ours: float, theirs: float) -> str:
    """Return "1.2 points above", or "as high as" where the printed figures are equal."""
    points = round(ours, 1) - round(theirs, 1)
    if abs(points) < 0.05:
        return "as high as"
    return f"{abs(points):.1f} points {'above' if points > 0 else 'below'}"


def ranges(numbers: Sequence[int]) -> str:
    """Return numbers in few words: ``"0 to 4, 7"``.

    Examples
    --------
    >>> from adbench_text.reports.headline import ranges
    >>> ranges([4, 0, 1, 2, 7])
    '0 to 2, 4, 7'
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    return ", ".join(parts)
