"""Documents with groups, such as queues of tickets: each document is ranked within its group.

The detector of words learns from one group, and also receives the words of all groups. The detector of
form learns from the whole file.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from adbench_text.documents.chunks import Rows
from adbench_text.documents.survey import Families
from adbench_text.errors import InvalidValueError
from adbench_text.reading.batch import as_string

LEAST = 20  #: fewest different documents of a group that is ranked separately


@dataclass(frozen=True)
class Groups:
    """The group of each document. Groups with few different documents are ranked together, as one group."""

    names: list[str]  # groups that are ranked separately, sorted
    small: list[str]  # the other groups
    of_rows: NDArray[np.int64]  # number of the group; `len(names)` for all small groups
    labels: pd.Series  # as given, by row

    @classmethod
    def of(cls, labels: Any, families: Families) -> "Groups":
        """Return the groups of documents. Documents without a label are a group, too."""
        given = _checked(labels, len(families.of_rows))
        codes, labels = pd.factorize(given, sort=True)
        is_large = families.n_different(codes) >= LEAST
        names, small = labels[is_large].tolist(), labels[~is_large].tolist()
        number_of = np.where(is_large, np.cumsum(is_large) - 1, len(names))
        return cls(names, small, number_of[codes], given)

    @property
    def alike(self) -> list[list[str]]:
        """Labels that differ only in spaces or case."""
        labels = pd.Series(self.labels.unique(), dtype=object)
        same = labels.groupby(labels.map(lambda label: "".join(label.split()).casefold()))
        return [sorted(each) for _, each in same if len(each) > 1]

    def contradictions(self, representative: Rows) -> pd.DataFrame:
        """Return the families of copies and near-copies with several groups, the largest first.

        The columns are ``row``, the row of the representative; ``n``, the number of documents; and
        ``groups``, the labels, the most frequent first.
        """
        known = pd.DataFrame({"row": representative, "label": self.labels})[representative >= 0]
        of_families = known.groupby("row")["label"]
        several = of_families.size()[of_families.nunique() > 1].sort_values(ascending=False, kind="stable")
        labels = [[*of_families.get_group(row).value_counts().index] for row in several.index]
        return pd.DataFrame({"row": several.index, "n": several.to_numpy(), "groups": labels})


def _checked(labels: Any, n_documents: int) -> "pd.Series[str]":
    """Return labels as text, by position; a missing label is empty."""
    is_sequence = hasattr(labels, "__iter__") and not isinstance(labels, str | bytes | Mapping | Set)
    if not is_sequence or hasattr(labels, "columns"):
        raise InvalidValueError(
            "groups must be a sequence with a label for each document, got a "
            f"{type(labels).__name__}; give a list, or one column as in table['queue']."
        )
    given = pd.Series([*labels], dtype=object)  # whatever the index of a column
    if len(given) != n_documents:
        raise InvalidValueError(
            f"groups must have a label for each document: expected {n_documents:,}, got {len(given):,}."
        )
    for position, label in enumerate(given):
        if not isinstance(label, str) and hasattr(label, "__iter__"):
            raise InvalidValueError(
                f"A group must be a text, number or date, got {type(label).__name__} at position {position}: "
                f"{label!r:.60}"
            )
    # pandas makes 1 to 1.0 if a label is missing
    return given.where(given.notna(), None).map(lambda label: as_string(label) or "")
