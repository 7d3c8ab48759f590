"""Detectors that are made of other detectors: how their members are given, built and put on one scale.

Members are given as one text: names, separated by commas, each with settings in brackets if it needs
some: ``llr, knn-words(k=5), ocsvm(encoder=svd, nu=0.2)``. A value that is not JSON is text. Brackets may
be nested: ``refit(detector=knn-words(k=5)), llr``.
"""

import json
from collections.abc import Sequence
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Range, check_choice
from adbench_text.code_version import code_version, libraries
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.plugins.detector import Scores, TextDetector
from adbench_text.plugins.scores import REGIMES, State


class Members(Range):
    """Detectors with their settings in brackets; see the head of the module."""

    text = "detectors as in 'llr, knn-words(k=5)'"

    def check(self, name: str, value: Any) -> None:
        """Raise InvalidValueError if a value is not a list of members."""
        parse_members(value)


class Composite(TextDetector):
    """Base of detectors that are made of other detectors.

    The hyper-parameter `named_by` names its members. They get the seed of the detector.
    """

    named_by: ClassVar[str]

    @property
    def _given(self) -> Any:
        return getattr(self, self.named_by)

    def build_members(self) -> list[TextDetector]:
        """Return the members, unfitted and with checked hyper-parameters."""
        return [self._built(name, settings) for name, settings in parse_members(self._given)]

    def _built(self, name: str, settings: dict[str, Any]) -> TextDetector:
        kind = registry.detector(name)
        if issubclass(kind, type(self)):
            raise InvalidValueError(f"{name} cannot be a member of itself, got {self._given!r}.")
        accepted = kind.default_params()
        for setting in settings:
            check_choice(f"parameter of {name}", setting, accepted.keys() - {"random_state"})
        if "random_state" in accepted:
            settings = {**settings, "random_state": self.random_state}
        member = kind(**settings)
        member.check_params()
        if member.is_oracle:
            raise InvalidValueError(
                f"{name} in {self._given!r} cannot be a member: its scores are chosen by the test labels, "
                "so it cannot score its training documents."
            )
        if member.reads_raw:
            raise InvalidValueError(
                f"{name} in {self._given!r} cannot be a member: it reads documents as they were written, and "
                "the others read cleaned ones. Run it by itself."
            )
        return member

    @staticmethod
    def _state_of(member: TextDetector) -> State:
        """Return the state of a fitted member without the scores of its training documents."""
        return {**member.fitted_state(compute_scores=False), "training_scores": None}

    def check_params(self) -> None:
        """Raise InvalidValueError if a hyper-parameter is out of range, those of the members included."""
        super().check_params()
        self.build_members()

    @property
    def can_be_saved(self) -> bool:
        """Whether it and all members can be saved."""
        return super().can_be_saved and all(member.can_be_saved for member in self.build_members())

    def prepare(self, texts: Sequence[str]) -> None:
        """Look up the resources of all members."""
        for member in self.build_members():
            member.prepare(texts)

    def resources(self) -> dict[str, str]:
        """Return the digest of the code of each member, its libraries and its resources."""
        used: dict[str, str] = {}
        names = [name for name, _ in parse_members(self._given)]
        for position, (name, member) in enumerate(zip(names, self.build_members(), strict=True), start=1):
            code = registry.module_of("detectors", name), type(member), member.implementation
            of_member = {"code": code_version(*code), "libraries": libraries(*code), **member.resources()}
            used |= {f"member{position}.{name}": value for name, value in of_member.items()}
        return used

    def needed_resources(self) -> dict[str, str]:
        """Return the resources that saved members must find unchanged."""
        return {
            f"member{position}.{name}": value
            for position, member in enumerate(self.build_members(), start=1)
            for name, value in member.needed_resources().items()
        }

    @property
    def trusted_types(self) -> frozenset[str]:
        """The classes that the members trust."""
        return frozenset().union(*(member.trusted_types for member in self.build_members()))

    @property
    def regime(self) -> str | None:
        """Knowledge of the member that knows most; None if one does not declare it."""
        regimes = [member.regime for member in self.build_members()]
        return None if None in regimes else max(regimes, key=REGIMES.index)


def parse_members(text: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return name and settings of each member, as in ``[("llr", {}), ("ocsvm", {"nu": 0.2})]``."""
    expected = f"expected {Members.text}, got {text!r}."
    if not isinstance(text, str):
        raise InvalidValueError(expected)
    members = []
    for part in _split(text):
        name, bracket, inner = part.partition("(")
        settings: dict[str, Any] = {}
        if not name or (bracket and not inner.endswith(")")):
            raise InvalidValueError(expected)
        for setting in _split(inner[:-1]) if bracket else []:
            key, equals, value = setting.partition("=")
            if not equals or not key.strip():
                raise InvalidValueError(expected)
            settings[key.strip()] = _read(value.strip())
        members.append((name.strip(), settings))
    return members


def _split(text: str) -> list[str]:
    """Split at the commas that are not in brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def scores_of_training(detector: TextDetector, texts: Sequence[str], kept: NDArray[np.bool_]) -> Scores:
    """Return the scores of training documents by a detector that was fitted on those that were kept."""
    scores = np.empty(len(texts))
    scores[kept] = detector.decision_scores_
    if not kept.all():
        scores[~kept] = detector.decision_function(list(compress(texts, ~kept)))
    return scores
