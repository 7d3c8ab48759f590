import os
import random
import subprocess
import sys
import warnings
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import sklearn
import torch

from adbench_text.isolation import preserved, seed_generators

PLUGINS = Path(__file__).parent / "toy"


@pytest.fixture
def spoil_process(monkeypatch):
    monkeypatch.syspath_prepend(PLUGINS)
    from toy_plugins import spoil_process

    return spoil_process


def state() -> dict:
    """All that `spoil_process` changes."""
    return {
        "random": random.getstate(),
        "numpy": np.random.get_state()[1].tolist(),  # noqa: NPY002
        "torch": torch.get_rng_state().tolist(),
        "filters": list(warnings.filters),
        "showwarning": warnings.showwarning,
        "errors": np.geterr(),
        "sklearn": sklearn.get_config(),
        "type": torch.get_default_dtype(),
        "device": torch.empty(0).device,
        "gradients": torch.is_grad_enabled(),
        "threads": torch.get_num_threads(),
        "folder": Path.cwd(),
        "environment": dict(os.environ),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
    }


def test_the_global_state_is_as_before(spoil_process, monkeypatch):
    monkeypatch.setenv("TOY_EDITION", "published")
    before = state()
    with preserved():
        spoil_process()
        spoilt = state()
    assert [name for name in before if before[name] == spoilt[name]] == []  # all of it was changed
    assert state() == before
    print("standard output is open", file=sys.stdout)


def test_the_global_state_is_as_before_also_after_an_error(spoil_process):
    @preserved()
    def fail():
        spoil_process()
        sys.exit(1)

    before = state()
    with pytest.raises(SystemExit):
        fail()
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


def test_what_is_printed_in_between_goes_where_it_would(monkeypatch):
    monkeypatch.setattr(sys, "stdout", StringIO())
    with preserved():
        print("a line")
    assert sys.stdout.getvalue() == "a line\n"


def test_a_warning_is_not_shown_again_for_it():
    def warn():
        warnings.warn("once is enough", stacklevel=1)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            with preserved():
                warn()
    assert len(caught) == 1


def test_torch_is_put_right_though_it_is_loaded_in_between():
    code = (
        "import sys; from adbench_text.isolation import preserved\n"
        "with preserved():\n"
        "    import torch; torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False)\n"
        "print(torch.get_default_dtype(), torch.is_grad_enabled())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "torch.float32 True\n"


def test_no_library_is_loaded_for_it():
    code = (
        "import sys; from adbench_text.isolation import preserved, seed_generators\n"
        "with preserved(): seed_generators(0)\n"
        "print({'numpy', 'sklearn', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_same_seed_gives_the_same_numbers():
    def draw():
        seed_generators(7)
        return random.random(), np.random.random(), torch.rand(()).item()  # noqa: NPY002

    with preserved():
        assert draw() == draw()
