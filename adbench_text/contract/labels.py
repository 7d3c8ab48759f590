"""Labels that a detector may know: some documents are known to be odd, others to be fine."""

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text.errors import InvalidValueError

ODD, FINE = 1.0, 0.0  # as in PyOD: 1 is an outlier

Mask = NDArray[np.bool_]


class KnownLabels(NamedTuple):
    """Known outliers, and training documents that are known to be normal."""

    odd: Sequence[str] = ()  #: outliers, besides the training documents
    is_fine: Mask | None = None  #: (n_train,), documents that are known to be normal; None without any

    def fit(self, detector: Any, texts: Sequence[str], kept: Mask | None = None) -> Any:
        """Fit a detector on the training documents that are kept, and on the labels if it takes them.

        Without `kept`, all are kept. Return what ``fit`` returns: the detector.
        """
        kept = np.ones(len(texts), dtype=np.bool_) if kept is None else kept
        learned = list(compress(texts, kept))
        if not getattr(detector, "takes_labels", False) or (not self.odd and self.is_fine is None):
            return detector.fit(learned)
        labels = np.full(len(learned) + len(self.odd), ODD)
        fine = np.zeros(len(texts), dtype=np.bool_) if self.is_fine is None else self.is_fine
        labels[: len(learned)] = np.where(fine[kept], FINE, np.nan)
        return detector.fit([*learned, *self.odd], labels)


NOTHING_KNOWN = KnownLabels()


def split_known(texts: Sequence[str], y: object) -> tuple[Mask, KnownLabels]:
    """Return which documents are known outliers, and the known labels for a fit on the others.

    Raise InvalidValueError if `y` has not 1, 0 or NaN for each document, or if all are known outliers.

    >>> split_known(["ship", "court", "crew"], [0, 1, float("nan")])
    (array([False,  True, False]), KnownLabels(odd=['court'], is_fine=array([ True, False])))
    """
    n = len(texts)
    try:
        given = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"y must hold 1, 0 or NaN for each text, got {y!r:.80}.") from error
    if given.shape != (n,):
        raise InvalidValueError(f"y must have a label for each of {n:,} texts, got shape {given.shape}.")
    wrong = given[~np.isnan(given) & (given != ODD) & (given != FINE)]
    if len(wrong):
        raise InvalidValueError(f"A label is 1 (odd), 0 (fine) or NaN (unknown), got {wrong[0]:g}.")
    odd = given == ODD
    if odd.all():
        raise InvalidValueError(f"All {n:,} texts are labelled odd; a detector also needs some that are not.")
    return odd, KnownLabels(list(compress(texts, odd)), (given == FINE)[~odd])
