"""Round numbers without moving them across alpha."""

from collections.abc import Iterable


def rounded(value: float, digits: int, alpha: float) -> str:
    """Return a number with some significant digits, or more if rounding would move it across `alpha`."""
    while (float(text := f"{value:.{digits}g}") <= alpha) != (value <= alpha):
        digits += 1
    return text


def all_rounded(values: Iterable[float], digits: int, alpha: float) -> list[str]:
    """Round numbers like `rounded`; a missing number becomes an empty text."""
    # only numbers near alpha may need more digits
    near = 10.0 ** (1 - digits) * max(abs(alpha), 1e-300)
    form = f"{{:.{digits}g}}".format
    return [
        "" if value != value else rounded(value, digits, alpha) if abs(value - alpha) <= near else form(value)
        for value in values
    ]
