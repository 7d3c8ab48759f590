import shutil

import pytest

from adbench_text.store.store import Store


@pytest.fixture
def new_store(empty_database, tmp_path):
    """Return a function that makes an empty store in a folder of its own."""

    def make(name: str = ".") -> Store:
        (tmp_path / name).mkdir(exist_ok=True)
        return Store(f"sqlite:///{shutil.copy(empty_database, tmp_path / name / 'mlflow.db')}")

    return make


@pytest.fixture
def store(new_store) -> Store:
    return new_store()
