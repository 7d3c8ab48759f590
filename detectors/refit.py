"""Another detector, fitted again without the training documents that look most abnormal.

The detector is fitted on all training documents. Those whose score lies more than `cutoff` robust standard
deviations (1.4826 times the median absolute deviation) above the median are set aside, but never more
than a share of `max_dropped`, and the detector is fitted on the rest. The scores are those that the
detector gives its own training documents: leave-one-out, if it has them. In further rounds a document
that was set aside is scored as an unseen one, and may return. No label is used.

This is trimming, as in the C-steps of least trimmed squares (Rousseeuw and Van Driessen, 2006), with a
cutoff and a cap in place of a fixed share. It helps only as far as the detector finds the outliers in its
own training documents, and costs rare but normal documents: docs/detectors.md has figures.
"""

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Number, Range, Whole
from adbench_text.detectors._members import Composite, Members, scores_of_training
from adbench_text.detectors._robust_scale import select
from adbench_text.errors import InvalidValueError
from adbench_text.plugins.detector import Observer, Scores, TextDetector, TokenScore
from adbench_text.plugins.scores import State

if TYPE_CHECKING:
    import pandas as pd

# no paper contains it
CITATION = (
    "adbench-text, see CITATION.cff; it builds on least trimmed squares (Rousseeuw and Van Driessen, 2006)"
)


class Refit(Composite):
    """A detector that is fitted again on the training documents that it finds normal.

    Parameters
    ----------
    detector : str, default "llr"
        The detector, with its settings in brackets: ``"ocsvm(encoder=svd, nu=0.2)"``.
    rounds : int, default 1
        Maximum number of times that it is fitted again; each costs one more training. It ends early when
        a round would fit the same documents.
    cutoff : float, default 1.5
        Robust standard deviations above the median at which a training document is set aside.
    max_dropped : float, default 0.2
        Largest share of the training documents that is set aside.
    contamination, random_state
        See `TextDetector`; the seed is that of the detector.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = Refit(detector="knn-words(k=5)").fit([*sea, "a court heard the witness"])
    >>> detector.kept_.sum()
    np.int64(30)
    """

    named_by = "detector"
    ranges: ClassVar[Mapping[str, Range]] = {
        "detector": Members(),
        "rounds": Whole(1),
        "cutoff": Number("[0, inf)"),
        "max_dropped": Number("[0, 0.5]"),
    }
    kept_: NDArray[np.bool_]

    def __init__(
        self,
        *,
        detector: str = "llr",
        rounds: int = 1,
        cutoff: float = 1.5,
        max_dropped: float = 0.2,
        **shared: Any,
    ) -> None:
        super().__init__(**shared)
        self.detector = detector
        self.rounds = rounds
        self.cutoff = cutoff
        self.max_dropped = max_dropped

    def build_members(self) -> list[TextDetector]:
        """Return the detector that is fitted, as a list."""
        members = super().build_members()
        if len(members) != 1:
            raise InvalidValueError(f"refit fits one detector, got {self.detector!r}; use mean for several.")
        return members

    def _fit(self, texts: list[str]) -> None:
        (self._detector,) = self.build_members()
        self.kept_ = np.ones(len(texts), dtype=np.bool_)
        watch = _Watch(self.observer) if self.observer else None
        self._detector.observer = watch
        self._detector.fit(texts)
        for _ in range(self.rounds):
            kept = select(self._score_training(texts), self.cutoff, self.max_dropped)
            if (kept == self.kept_).all():
                break
            self.kept_ = kept
            if watch:
                watch.begin_again()
            self._detector.fit(list(compress(texts, kept)))
        self._detector.observer = None  # it belongs to this training
        self.ran_on_ = dict(self._detector.ran_on_)

    def _score(self, texts: list[str]) -> Scores:
        return self._detector.decision_function(texts)

    def _score_training(self, texts: list[str]) -> Scores:
        return scores_of_training(self._detector, texts, self.kept_)

    def _get_state(self) -> State:
        return self._state_of(self._detector)

    def _set_state(self, state: State) -> None:
        (detector,) = self.build_members()
        self._detector = detector.restore_fitted(state)

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the scores of words, where the detector has them."""
        return self._detector.token_scores(self._check_fitted(texts))

    def tables(self) -> "Mapping[str, pd.DataFrame]":
        """Return the tables of the detector."""
        return self._detector.tables()


class _Watch:
    """Passes several trainings on to an observer as one: the steps of a later one are added."""

    def __init__(self, observer: Observer) -> None:
        self._observer, self.trace_every = observer, observer.trace_every
        self._before = self._last = 0

    def begin_again(self) -> None:
        """Add the steps of the next training to those until now."""
        self._before = self._last

    def begin(self) -> None:
        if not self._before:
            self._observer.begin()

    def losses(self, step: int, steps: int, losses: Mapping[str, float]) -> None:
        self._last = self._before + step
        self._observer.losses(self._last, self._before + steps, losses)

    def trace(self, step: int) -> None:
        self._observer.trace(self._before + step)
