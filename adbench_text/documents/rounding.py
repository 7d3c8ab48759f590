"""Round numbers without moving them across alpha. Importing this module does not import pandas."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def rounded(value: float, digits: int, alpha: float) -> str:
    """Return a number with some significant digits, or more if rounding would move it across `alpha`."""
    while (float(text := f"{value:.{digits}g}") <= alpha) != (value <= alpha):
        digits += 1
    return text


def all_rounded(values: "pd.Series[float]", digits: int, alpha: float) -> "pd.Series[str]":
    """Round numbers like `rounded`; missing numbers stay missing."""
    known = values.dropna()
    texts = known.map(f"{{:.{digits}g}}".format)
    # only numbers near alpha may need more digits
    near = known[(known - alpha).abs() <= 10.0 ** (1 - digits) * max(abs(alpha), 1e-300)]
    texts.update(near.map(lambda value: rounded(value, digits, alpha)))
    return texts.reindex(values.index)
