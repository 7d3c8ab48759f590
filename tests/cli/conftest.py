import shutil
from pathlib import Path

import pytest


@pytest.fixture
def store(empty_database: Path, here: Path) -> Path:
    """The default store exists, and is empty."""
    return Path(shutil.copy(empty_database, here / "mlflow.db"))
