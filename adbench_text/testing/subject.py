"""Build and fit the detector to check, and the texts for it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from adbench_text.contract.detector import TextDetector
from adbench_text.contract.scores import Scores
from adbench_text.isolation import seed_generators
from adbench_text.testing.topics import TOPICS, texts_about

INLIERS, *OTHERS = TOPICS
N_TRAIN, N_TEST = 80, 20


def split_of(inlier: str) -> tuple[list[str], list[str]]:
    """Return training and test texts; the second half of the test texts is about the other topics."""
    others = [topic for topic in TOPICS if topic != inlier]
    outliers = [text for topic in others for text in texts_about(topic, N_TEST // len(others), seed=2)]
    return texts_about(inlier, N_TRAIN, seed=0), texts_about(inlier, N_TEST, seed=1) + outliers


TRAIN, TEST = split_of(INLIERS)
OUTLIER = np.arange(2 * N_TEST) >= N_TEST


class Subject:
    """A detector class to check, with settings, and with the path of word vectors if it needs them."""

    def __init__(self, kind: type[TextDetector], settings: Mapping[str, Any], vectors: str) -> None:
        self.kind = kind
        is_of_vectors = "vectors" in self.parameters
        self.settings = {"vectors": vectors, **settings} if is_of_vectors else dict(settings)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The hyper-parameters by name, with their defaults."""
        return self.kind.default_params()

    def make(self, **more: Any) -> TextDetector:
        """Return an unfitted and seeded detector; `more` overrides its settings."""
        seeded = {"random_state": 0} if "random_state" in self.parameters else {}
        return self.kind(**{**seeded, **self.settings, **more})

    def fit(self, detector: TextDetector, texts: Sequence[str] = TRAIN) -> TextDetector:
        """Fit a detector as the harness does: with seeded global generators, on a copy of the list."""
        seed_generators(0)
        return detector.fit(list(texts))

    @cached_property
    def fitted(self) -> TextDetector:
        """A detector that is fitted on the training texts; rules must not change it."""
        return self.fit(self.make())

    @cached_property
    def scores(self) -> Scores:
        """The scores of the test texts."""
        return self.fitted.decision_function(TEST)
