"""The mean of other detectors, each on the robust scale of its own training scores.

The score of a document is the mean over the members of

    (score - median) / (1.4826 * MAD)

where median and MAD (median absolute deviation) are those of the scores that the member gives its own
training documents: leave-one-out, if it has them. No label is used, and all members have equal weight.
A member whose MAD is 0 is divided by the standard deviation of these scores, and adds nothing if that is
0 as well. Averages of normalised scores are the usual ensemble of outlier detectors (Aggarwal and Sathe,
2015, "Theoretical foundations and algorithms for outlier ensembles").
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from adbench_text.checks import Range
from adbench_text.detectors._members import Composite, Members, RobustScale
from adbench_text.errors import DetectorError
from adbench_text.plugins.detector import Scores, TextDetector, TokenScore
from adbench_text.plugins.scores import State

# llr with its preset robust, and neighbours among the sentence vectors of the documents that look normal
_LLR_MINILM = {
    "members": "llr(background=mean, cap=3, em_rounds=5, coherence=2), "
    "refit(detector=pyod-knn(encoder=minilm, n_neighbors=20))"
}


class Mean(Composite):
    """The mean of the robust z-scores of other detectors; see the head of the module.

    The preset ``llr-minilm`` is the mean of `llr` with its preset ``robust`` and of the distance to the 20
    nearest sentence vectors of MiniLM; it needs the extra ``[encoders]``.

    Parameters
    ----------
    members : str, default "llr, knn-words"
        The detectors, separated by commas, with their settings in brackets:
        ``"llr, knn-words(k=5)"``. Their order does not change a score; the first one that scores words
        explains the documents. A detector that is named twice counts twice.
    contamination, random_state
        See `TextDetector`; the seed is that of all members.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = Mean(members="llr, knn-words(k=5)").fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "a court heard the witness"])
    >>> bool(far > near)
    True
    """

    named_by = "members"
    ranges: ClassVar[Mapping[str, Range]] = {"members": Members()}

    def __init__(self, *, members: str = "llr, knn-words", **shared: Any) -> None:
        super().__init__(**shared)
        self.members = members

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return ``llr-minilm``, the same for every dataset."""
        return {"llr-minilm": [_LLR_MINILM]}

    def _fit(self, texts: list[str]) -> None:
        self._members = self._build()
        for member in self._members:
            member.fit(texts)
        self._scales = [RobustScale.fit(member.decision_scores_) for member in self._members]
        self.ran_on_ = {name: value for member in self._members for name, value in member.ran_on_.items()}

    def _score(self, texts: list[str]) -> Scores:
        return self._mean([member.decision_function(texts) for member in self._members])

    def _score_training(self, texts: list[str]) -> Scores:
        return self._mean([member.decision_scores_ for member in self._members])

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the scores of words of the first member that has them, in its units."""
        checked = self._check_fitted(texts)
        return self._first_with_words(lambda member: member.token_scores(checked))

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the scores of words of training documents, of the first member that has them."""
        return self._first_with_words(lambda member: member.training_token_scores(places))

    def _first_with_words(
        self, ask: Callable[[TextDetector], list[list[TokenScore]]]
    ) -> list[list[TokenScore]]:
        for member in self._members:
            try:
                return ask(member)
            except DetectorError:
                continue
        raise DetectorError(f"no member of {self.members!r} has scores of words.")

    def _get_state(self) -> State:
        # the scores of the training documents are in the scales
        members = [self._state_of(member) for member in self._members]
        return {"members": members, "scales": [list(scale) for scale in self._scales]}

    def _set_state(self, state: State) -> None:
        pairs = zip(self._build(), state["members"], strict=True)
        self._members = [member.restore_fitted(of_member) for member, of_member in pairs]
        self._scales = [RobustScale(*scale) for scale in state["scales"]]

    def _mean(self, scores: list[Scores]) -> Scores:
        z = [scale.z(of_member) for scale, of_member in zip(self._scales, scores, strict=True)]
        # added in the order of their size: the order of the members does not change a bit
        mean: Scores = np.sort(z, axis=0).mean(axis=0)
        return mean
