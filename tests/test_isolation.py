import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from interpreters import printed

from adbench_text.isolation import preserved, seed_generators


def state() -> dict:
    return {"folder": Path.cwd(), "environment": dict(os.environ)}


def spoil() -> None:
    os.chdir("/")
    os.environ["TOY_EDITION"] = "another"
    os.environ["TOY_NEW"] = "1"


@pytest.mark.parametrize("is_error", [False, True])
def test_the_state_of_the_process_is_as_before(monkeypatch, is_error):
    @preserved()
    def change():
        spoil()
        spoilt.update(state())
        if is_error:
            sys.exit(1)

    monkeypatch.setenv("TOY_EDITION", "published")
    before, spoilt = state(), {}
    try:
        change()
    except SystemExit:
        assert is_error
    assert [name for name in before if before[name] == spoilt[name]] == []  # all of it was changed
    assert state() == before


def test_a_folder_that_was_deleted_is_no_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with preserved():
        os.chdir("folder")
        (tmp_path / "folder").rmdir()
    assert Path.cwd() == tmp_path
    with preserved():
        os.chdir("/")
        tmp_path.rmdir()
    assert Path.cwd() == Path("/")


def test_no_library_is_loaded_for_it():
    code = (
        "import sys; from adbench_text.isolation import preserved, seed_generators\n"
        "with preserved(): seed_generators(0)\n"
        "print({'numpy', 'sklearn', 'torch'} & set(sys.modules))"
    )
    assert printed(code) == "set()\n"


def test_the_same_seed_gives_the_same_numbers():
    def draw():
        seed_generators(7)
        return random.random(), np.random.random(), torch.rand(()).item()  # noqa: NPY002

    assert draw() == draw()
