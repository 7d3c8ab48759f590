import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from sweep_processes import CELLS, N_CELLS, PLUGINS, free_port, printed, query, start, wait_for


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> list:
    """The cells of a sweep that nothing disturbs, with their figures."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert start(folder).wait() == 0
    cells = sorted(query(folder, CELLS))
    assert len(cells) == N_CELLS
    return cells


class Cluster:
    """A scheduler, and workers that a test adds."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, []
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.options = [f"--address={self.address}"]
        self.scheduler = self._start("scheduler", "--host", self.address)
        wait_for(folder, "Scheduler at")

    def _start(self, kind: str, *options: str, **variables: str) -> subprocess.Popen:
        path = os.pathsep.join([variables.pop("PYTHONPATH", ""), str(PLUGINS)]).strip(os.pathsep)
        with (self.folder / "log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + kind, "--no-dashboard", *options],
                cwd=self.folder,
                env=os.environ | {"PYTHONPATH": path, "TOY_SECONDS": "0.05"} | variables,
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    def add_worker(self, *options: str, **variables: str) -> subprocess.Popen:
        n_before = printed(self.folder).count("Registered to")
        process = self._start(
            "worker",
            self.address,
            "--nthreads=1",
            "--local-directory",
            str(self.folder),
            *options,
            **variables,
        )
        while printed(self.folder).count("Registered to") == n_before:
            time.sleep(0.1)
        return process

    def close(self) -> None:
        for process in self.processes:
            children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
            for each in (*children, process):
                each.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.close()
