"""Tests whether a detector of PyOD scores vectors by the batch that they come in."""

import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from inspect import signature
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.isolation import preserved, seed_generators

_N_TRAIN, _N_BATCH, _N_DIMENSIONS = 80, 30, 8
_N_COMPANY = 33  # odd: RGraph scores blocks of ten
_TOLERANCE = 1e-3  # of the standard deviation of the scores; networks compute in single precision


@cache
def scores_by_batch(kind: type[Any]) -> bool:
    """Return whether the score of a vector depends on the vectors that are scored together with it.

    PyOD does not declare it, and it changes with the release. So a detector with default settings scores a
    few random vectors, first alone and then in company.

    Parameters
    ----------
    kind : type
        Class of the detector.

    Returns
    -------
    bool
        False also if the detector cannot be tested: it lacks a package, fails, or its scores are random or
        not finite.
    """
    try:
        with preserved(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            return _company_counts(kind)
    except Exception:  # a detector may fail in any way; its run reports it
        return False


def _company_counts(kind: type[Any]) -> bool:
    rng = np.random.default_rng(0)
    train = rng.normal(size=(_N_TRAIN, _N_DIMENSIONS))
    batch = rng.normal(size=(_N_BATCH, _N_DIMENSIONS))
    company = rng.normal(size=(_N_COMPANY, _N_DIMENSIONS)) * np.linspace(0.25, 4, _N_COMPANY)[:, np.newaxis]
    seed_generators(0)
    settings = {"random_state": 0, "n_features": _N_DIMENSIONS}
    accepted = signature(kind).parameters
    detector = kind(**{name: value for name, value in settings.items() if name in accepted}).fit(train)

    def score(X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(detector.decision_function(X.copy()), dtype=np.float64)

    alone, again = score(batch), score(batch)
    together = score(np.concatenate([company, batch]))[_N_COMPANY:]
    if not np.isfinite([alone, again, together]).all():
        return False
    tolerance = _TOLERANCE * alone.std()
    is_random = np.abs(alone - again).max() > tolerance
    return bool(not is_random and np.abs(alone - together).max() > tolerance)
