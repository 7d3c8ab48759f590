"""Parameters of tests."""

from typing import Any

import pytest


def slow(*parameters: Any) -> list[Any]:
    """Return parameters whose tests are slow; a tuple has a value for each name."""
    return [
        pytest.param(*(each if isinstance(each, tuple) else [each]), marks=pytest.mark.slow)
        for each in parameters
    ]
