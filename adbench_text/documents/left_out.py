"""Scores of documents that had no part in what their detector learned."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import check_whole
from adbench_text.errors import InvalidValueError

if TYPE_CHECKING:
    from adbench_text.plugins.detector import TextDetector
    from adbench_text.plugins.scores import TokenScore

N_FOLDS = 10  # with five, LOF on the encoder svd called 14 % of normal documents odd at 10 %, with ten 12.7 %


@dataclass(frozen=True)
class LeftOut:
    """Scores of documents by detectors that were fitted without them.

    Attributes
    ----------
    scores : float64 array of shape (n_texts,)
    method : str
        ``"leave-one-out"``, or ``"cross-fitted over 10 folds"``.
    """

    scores: NDArray[np.float64]
    method: str
    # of each document: the detector, and the document's place among its training documents, or its text
    _judges: "Sequence[tuple[TextDetector, int | str]]" = field(repr=False)

    def token_scores(self, places: Sequence[int]) -> "list[list[TokenScore]]":
        """Return the scores of the words of some of the documents.

        Raises
        ------
        DetectorError
            If the detector has none.
        """
        of_detector: dict[int, list[int]] = defaultdict(list)
        for place in places:
            of_detector[id(self._judges[place][0])].append(place)
        scored: dict[int, list[TokenScore]] = {}
        for own in of_detector.values():  # at once: a call may cost a pass over the training documents
            detector = self._judges[own[0]][0]
            documents: list[Any] = [self._judges[place][1] for place in own]
            score = detector.training_token_scores if isinstance(documents[0], int) else detector.token_scores
            scored |= zip(own, score(documents), strict=True)
        return [scored[place] for place in places]


def left_out(
    detector: "TextDetector", texts: Sequence[str], n_folds: int = N_FOLDS, seed: int = 0
) -> LeftOut:
    """Return scores of documents, each by a detector that was fitted without it.

    A detector whose ``decision_scores_`` leave each document out is fitted once, on all of them; any other
    is cloned, and fitted once without each fold.

    Parameters
    ----------
    detector : TextDetector
    texts : sequence of str
        At least two.
    n_folds : int
        At least 2.
    seed : int
        Of the folds.

    Raises
    ------
    InvalidValueError
        If there are fewer than two documents or folds.
    DetectorError
        If the detector returns unusable scores.
    """
    if len(texts) < 2:
        raise InvalidValueError(
            f"At least 2 documents are needed to score each by the others, got {len(texts)}."
        )
    check_whole("n_folds", n_folds, least=2)
    if detector.leaves_out_self:
        scores = detector.fit(texts).decision_scores_
        return LeftOut(scores, "leave-one-out", [(detector, place) for place in range(len(texts))])
    from sklearn.base import clone

    n_folds = min(n_folds, len(texts))
    fold_of = np.random.default_rng(seed).permutation(len(texts)) % n_folds
    scores = np.empty(len(texts))
    judges: list[tuple[TextDetector, int | str]] = [(detector, text) for text in texts]
    for fold in range(n_folds):
        others = [text for text, own in zip(texts, fold_of, strict=True) if own != fold]
        fitted = clone(detector).fit(others)
        places = np.flatnonzero(fold_of == fold).tolist()
        scores[places] = fitted.decision_function([texts[place] for place in places])
        for place in places:
            judges[place] = (fitted, texts[place])
    return LeftOut(scores, f"cross-fitted over {n_folds} folds", judges)
