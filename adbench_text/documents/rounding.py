"""Numbers as they are shown: rounding moves none across alpha. The command line reads it without pandas."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def rounded(value: float, digits: int, alpha: float) -> str:
    """Return a number with significant digits, and with more if these would move it across `alpha`."""
    while (float(text := f"{value:.{digits}g}") <= alpha) != (value <= alpha):
        digits += 1
    return text


def all_rounded(values: "pd.Series[float]", digits: int, alpha: float) -> "pd.Series[str]":
    """Return numbers as `rounded` does; those that are missing stay so."""
    known = values.dropna()
    texts = known.map(f"{{:.{digits}g}}".format)
    # only those beside alpha may need more digits
    beside = known[(known - alpha).abs() <= 10.0 ** (1 - digits) * max(abs(alpha), 1e-300)]
    texts.update(beside.map(lambda value: rounded(value, digits, alpha)))
    return texts.reindex(values.index)
