"""Labels of some training documents: known outliers, and documents known to be normal."""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import InvalidValueError

ODD, FINE = 1.0, 0.0  # as in PyOD: 1 is an outlier


class Labels(NamedTuple):
    """Labels of training documents.

    >>> labels = Labels.of(["ship", "court", "crew"], [0, 1, float("nan")])
    >>> labels.odd, labels.is_fine
    (['court'], array([ True, False]))
    """

    is_odd: NDArray[np.bool_]  # (n_train,)
    odd: list[str]  # the known outliers
    is_fine: NDArray[np.bool_]  # of the other documents: which are known to be normal

    @classmethod
    def of(cls, texts: Sequence[str], y: object = None) -> "Labels":
        """Return the labels of documents; `y` is None, or has 1, 0 or NaN for each.

        Raises
        ------
        InvalidValueError
            If `y` has another shape or another value, or all documents are known outliers.
        """
        n = len(texts)
        if y is None:
            return cls(np.zeros(n, np.bool_), [], np.zeros(n, np.bool_))
        try:
            given = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidValueError(f"y must hold 1, 0 or NaN for each text, got {y!r:.80}.") from error
        if given.shape != (n,):
            raise InvalidValueError(f"y must have a label for each of {n:,} texts, got shape {given.shape}.")
        wrong = given[~np.isnan(given) & (given != ODD) & (given != FINE)]
        if len(wrong):
            raise InvalidValueError(f"A label is 1 (odd), 0 (fine) or NaN (unknown), got {wrong[0]:g}.")
        is_odd = given == ODD
        if is_odd.all():
            raise InvalidValueError(
                f"All {n:,} texts are labelled odd; a detector also needs some that are not."
            )
        return cls(is_odd, list(compress(texts, is_odd)), (given == FINE)[~is_odd])

    def rest(self, texts: list[str]) -> list[str]:
        """Return the documents that are no known outliers."""
        return list(compress(texts, ~self.is_odd)) if self.odd else texts
