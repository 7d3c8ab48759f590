import os
from pathlib import Path

import pytest

# Before anything imports MLflow: no telemetry from tests, and no waiting for servers.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["DO_NOT_TRACK"] = "true"

REAL_DATA = Path(
    os.environ.get("ADBENCH_TEXT_DATA") or Path(__file__).parents[2] / "shared" / "data"
).resolve()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data; tests that need it are skipped where there is none."""
    if not (REAL_DATA / "20news").is_dir():
        pytest.skip("no real data here: set ADBENCH_TEXT_DATA to a folder that holds it")
    return REAL_DATA
