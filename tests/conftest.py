import gc
import os
import pickle
import shutil
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from servers import Server, serving
from sqlalchemy import Engine, event

import adbench_text.documents.models.folder  # noqa: F401 - notes the packages of vectors, before a test takes them away
from adbench_text import own_file
from adbench_text.code_version import code_of
from adbench_text.contract.dataset import Documents
from adbench_text.corpora import corpus
from adbench_text.corpora.corpus import Corpus
from adbench_text.datasets.pydocs import PyDocs
from adbench_text.plugins import registry
from adbench_text.storage import RemoteFile
from adbench_text.store.store import Store
from adbench_text.text import own_encoder, vectors
from adbench_text.text.pretrained import caching as keeping

# Before anything imports MLflow: no telemetry from tests, and no waiting for servers.
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it; what a command prints to a pipe is not wrapped
os.environ["DO_NOT_TRACK"] = "true"
os.environ["ADBENCH_TEXT_RUN_REPORT"] = "false"  # seconds for each run; one test asks for it

# A full garbage collection takes half a second, and they were an eighth of all time: there are none until all
# tests are collected, and few later.
gc.disable()

# A shell lets a command that it starts in the background ignore Ctrl-C, which tests send to themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Plug-ins that happen to be installed are not under test, not even their names; those that a test puts on the
# path are.
_PATH = frozenset(sys.path)
registry.entry_points = lambda group: [
    point
    for package in distributions(path=[folder for folder in dict.fromkeys(sys.path) if folder not in _PATH])
    for point in package.entry_points.select(group=group)
]


@event.listens_for(Engine, "connect")
def _do_not_wait_for_the_disk(connection: Any, _: object) -> None:
    """SQLite leaves what this process writes to the cache of the disk: nobody pulls the plug of a test."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


REAL_DATA = Path(
    os.environ.get("ADBENCH_TEXT_DATA") or Path(__file__).parents[2] / "shared" / "data"
).resolve()


# The folders, or files, of datasets that have another name.
FOLDERS = {
    "nlpad-email": "tad-bench",
    "nlpad-sms": "sms",
    "textad-20news": "20news",
    "textad-reuters": "reuters",
    "textad-sms": "sms",
    "textad-sst2": "sst2",
    "banking-near": "banking77-oos",
    "banking-far": "banking77-oos",
    "words-sms": "tokencore",
    "words-review": "tokencore",
    "words-grammar": "tokencore",
    "hint3-curekart": "hint3",
    "hint3-powerplay11": "hint3/test/powerplay11_test.csv",  # which may be missing beside the others
    "hint3-sofmattress": "hint3",
    "fast-detect": "real/fast-detect",
    "onion": "real/onion",
    "mts-dialog": "real/mts-dialog",
    "rasa-demo": "real/rasa-demo",
    "planted-letters-20news": "20news",
    "planted-de-20news": "20news",
    "planted-letters-agnews": "agnews",
    "planted-de-agnews": "agnews",
}


def skip_without(name: str) -> None:
    """Skip a test of a dataset without a folder of real data."""
    other = "tad-bench" if name.startswith("tad-") else name.replace(":", "/")
    folder = FOLDERS.get(name.partition(":")[0], other)
    if not name.endswith("pydocs") and not (REAL_DATA / folder).exists():
        pytest.skip(f"no {folder} in {REAL_DATA}: set ADBENCH_TEXT_DATA to a folder that holds it")


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that read real data, and the slow ones that open a browser."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if {"data_dir", "real_corpus", "real_dataset"}.intersection(fixtures):
            item.add_marker("data")
        if "browser" in fixtures:
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """Leave what has been imported out of the garbage collections."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session")
def browser() -> str:
    """The program of a browser; tests that need it are skipped without it."""
    found = filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    return next(found, None) or pytest.skip("no chromium here")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data; tests that need it are skipped without it."""
    if not (REAL_DATA / "20news").is_dir():
        pytest.skip("no real data here: set ADBENCH_TEXT_DATA to a folder that holds it")
    return REAL_DATA


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A temporary folder that all processes of one pytest command share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "common"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def empty_database(common: Path) -> Path:
    """The file of an empty store. It takes seconds to make: tests work on copies."""
    path = common / "empty.db"
    with FileLock(common / "empty.lock"):
        if not path.exists():
            Store(f"sqlite:///{path}").datasets()
    return path


@pytest.fixture(scope="session")
def read_pydocs(common: Path) -> Callable[[], tuple[Documents, Documents]]:
    """Return a function that reads pydocs once; other test processes read a copy."""

    @lru_cache
    def read() -> tuple[Documents, Documents]:
        copy = common / "pydocs.pickle"
        with FileLock(common / "pydocs.lock"):
            if not copy.exists():
                copy.write_bytes(pickle.dumps(PyDocs().read()))
        return pickle.loads(copy.read_bytes())

    return read


@pytest.fixture
def quick_pydocs(read_pydocs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dataset pydocs returns the documents that were read for all tests."""
    parts = read_pydocs()
    monkeypatch.setattr(PyDocs, "read", lambda self: parts)


@pytest.fixture(scope="session")
def real_corpus(common: Path, read_pydocs) -> Callable[[str], Corpus]:
    """Return a function that loads a corpus from the real data once; its cache is temporary.

    A corpus without a folder there skips the test; any error of the dataset fails it.
    """

    @lru_cache
    def load(name: str) -> Corpus:
        skip_without(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ADBENCH_TEXT_DATA", str(REAL_DATA))
            patch.setenv("ADBENCH_TEXT_CACHE", str(common / "cache"))
            patch.setenv("ADBENCH_TEXT_OFFLINE", "1")
            if name.endswith("pydocs"):
                parts = read_pydocs()
                patch.setattr(PyDocs, "read", lambda self: parts)
            return corpus.load(registry.dataset(name))

    return load


@pytest.fixture
def real_dataset(common: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Return a function that gives a dataset which reads the real data; without them the test is skipped."""
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(REAL_DATA))
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", str(common / "cache"))
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", "1")

    def load(name: str) -> Any:
        skip_without(name)
        return registry.dataset(name)

    return load


@pytest.fixture(scope="module")
def toy_path() -> Iterator[Path]:
    """The plug-ins of tests/toy are installed."""
    path = Path(__file__).parent / "toy"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path)
        registry.plugins.cache_clear()
        yield path
    registry.plugins.cache_clear()


@pytest.fixture(autouse=True)
def no_glove_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """GloVe's vectors are not installed as a package, whatever this environment has."""
    monkeypatch.setattr(vectors, "WHEEL", replace(vectors.WHEEL, folder="no_such_package"))


@pytest.fixture
def caching() -> Iterator[None]:
    """Vectors of documents are kept in the cache directory, as in a sweep."""
    with keeping():
        yield


@pytest.fixture
def any_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the data directory are taken for the published ones, whatever they are."""
    monkeypatch.setattr(RemoteFile, "_check", lambda *_: None)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data directory, and an empty cache directory beside it; downloads are allowed."""
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ADBENCH_TEXT_OFFLINE", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    vectors._open.cache_clear()
    return tmp_path / "data"


@pytest.fixture
def here(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run commands in, with the default store; see `home`."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", "")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return folder


@pytest.fixture
def own_files() -> Iterator[Callable[[], None]]:
    """What a test imports from files of code is forgotten before and after it, and when it calls this."""
    path, modules = list(sys.path), set(sys.modules)

    def forget() -> None:
        sys.path[:] = path
        for name in {"mine", "beside", "other", "server", "openai", "rulers"} - modules:
            sys.modules.pop(name, None)
        own_file._paths.clear()
        own_encoder._identity_by.cache_clear()
        own_encoder._identities.clear()
        own_encoder._lengths.clear()
        own_encoder._function.cache_clear()
        code_of.cache_clear()

    forget()
    yield forget
    forget()


class Clock:
    """A clock that goes on only when a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def go_on(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which this process measures durations."""
    clock = Clock()
    monkeypatch.setattr("time.perf_counter", lambda: clock.now)
    monkeypatch.setattr("time.monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def hears_hangup() -> Iterator[None]:
    """Processes that the test starts hear SIGHUP; under nohup they would ignore it, as pytest does."""
    previous = signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, previous)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that refuses connections, and that no other program gets meanwhile."""
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def server() -> Iterator[Server]:
    """A web server on this machine without any answers yet."""
    with serving(Server()) as running:
        yield running
