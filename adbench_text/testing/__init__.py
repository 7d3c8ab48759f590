"""The contract tests for authors of detectors and datasets.

Examples
--------
In a test of your plug-in:

>>> from adbench_text.testing import check_detector
>>> check_detector("knn-words", {"k": 3})
"""

from collections.abc import Callable, Iterator, Mapping
from inspect import isclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adbench_text import storage
from adbench_text.isolation import environment_with
from adbench_text.plugins import registry
from adbench_text.testing.rules import ContractError, Outcome, check, raise_broken

__all__ = ["ContractError", "Outcome", "check_dataset", "check_detector", "outcomes_of"]


def check_detector(detector: str | Callable[..., Any], settings: Mapping[str, Any] | None = None) -> None:
    """Check that a detector keeps its contract; see `adbench_text.testing.detector_rules`.

    Give the name or the class of the detector. It learns and scores small texts about three topics, with its
    ``test_settings``, which `settings` override. Nothing is downloaded, and nothing is kept in the cache
    folder. If the detector breaks a rule, raise ContractError, with one line for each problem.
    """
    name = detector if isinstance(detector, str) else getattr(detector, "__name__", repr(detector))
    raise_broken(name, list(detector_outcomes(detector, settings)))


def check_dataset(dataset: Any) -> None:
    """Check that a dataset keeps its contract; see `adbench_text.testing.dataset_rules`.

    Give the dataset, its class or its name. It is read twice, and not from the cache. If it breaks a rule,
    raise ContractError, with one line for each problem.
    """
    raise_broken(dataset if isinstance(dataset, str) else dataset.name, list(dataset_outcomes(dataset)))


def outcomes_of(kind: str, name: str) -> Iterator[Outcome]:
    """Yield the outcome of each rule for a plug-in; `kind` is ``"detectors"`` or ``"datasets"``."""
    return detector_outcomes(name) if kind == "detectors" else dataset_outcomes(name)


def detector_outcomes(
    detector: str | Callable[..., Any], settings: Mapping[str, Any] | None = None
) -> Iterator[Outcome]:
    """Yield the outcome of each rule for a detector; see `check_detector`."""
    # these imports are slow
    from adbench_text.plugins.foreign import adapted
    from adbench_text.testing.detector_rules import ESSENTIAL, RULES
    from adbench_text.testing.subject import Subject
    from adbench_text.testing.topics import write_vectors

    kind = registry.detector(detector) if isinstance(detector, str) else adapted(detector)
    with TemporaryDirectory() as folder, environment_with({storage.CACHE: folder}):
        vectors = write_vectors(Path(folder) / "topics.vec")
        subject = Subject(kind, {**kind.test_settings, **(settings or {})}, vectors)
        yield from check(RULES, subject, kind.__module__, ESSENTIAL)


def dataset_outcomes(dataset: Any) -> Iterator[Outcome]:
    """Yield the outcome of each rule for a dataset; see `check_dataset`."""
    from adbench_text.testing.dataset_rules import ESSENTIAL, RULES, ReadDataset

    name = dataset if isinstance(dataset, str) else None
    loaded: Any = registry.dataset(name) if name else dataset() if isclass(dataset) else dataset
    yield from check(RULES, ReadDataset(loaded, name), type(loaded).__module__, ESSENTIAL)
