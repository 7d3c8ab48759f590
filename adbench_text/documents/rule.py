"""The rule that decides which documents are listed."""

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class ListRule:
    """Which documents are listed: the order, the largest p, the least number, the most copies.

    With groups, words are ranked within a group and form within the file, so that no list joins both.
    """

    by: str | None  # the order of the only list; None for a list of each order
    alpha: float
    top: int
    max_copies: int | None  # None for any number
    has_groups: bool = False

    def is_joint(self, *, has_marks: bool) -> bool:
        """Return whether words and form may join. Then any document may be in a list."""
        return self.by in ("form", "both") or (self.by is None and (has_marks or not self.has_groups))

    def orders(self, *, has_form: bool, has_evidence: bool) -> list[str]:
        """Return the order of each list; the first one gives the ranks."""
        if self.by:
            return [self.by]
        if not has_form:
            return ["words"]
        if has_evidence:
            return ["both"]
        return ["words", "form"] if self.has_groups else ["both", "words", "form"]

    def n_odd(self, p: "pd.Series[float]") -> int:
        """Return how many documents are odd by their p."""
        return int((p <= self.alpha).sum())

    def n_listed(self, n_odd: int) -> int:
        """Return how many different documents are listed: all odd ones, `top` at least, never 0."""
        return max(n_odd, self.top, 1)

    def listed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the different documents of a ranked table that are odd or among the first."""
        is_different = table["rank"].notna() & table["copy_of"].isna()
        if self.max_copies is not None:
            is_different &= table["n_copies"] <= self.max_copies
        places = np.flatnonzero(is_different)
        return table.iloc[places[: self.n_listed(int(table["odd"].iloc[places].sum()))]]
