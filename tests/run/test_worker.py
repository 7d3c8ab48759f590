import pickle
from pathlib import Path

import numpy as np
import pytest

from adbench_text.corpora import corpus
from adbench_text.plugins import registry
from adbench_text.run.worker import _pickled

MAPS = Path("/proc/self/maps")
pytestmark = pytest.mark.skipif(not MAPS.exists(), reason="needs Linux, which lists mapped files")


def files_mapped(path: Path) -> int:
    return MAPS.read_text().count(str(path))


@pytest.fixture
def tiny(toy_path, home):
    return corpus.load(registry.dataset("tiny"))


@pytest.fixture
def cache(tiny):
    return Path(tiny.train.texts._data.filename)


def contents(loaded: corpus.Corpus) -> list[object]:
    return [part for d in (loaded.train, loaded.test) for part in (list(d.texts), d.labels.tolist())]


def test_a_corpus_reaches_a_process_of_this_machine_as_the_place_in_its_file(tiny, cache):
    pickled = _pickled(tiny)
    first = tiny.train.texts[0].encode()
    assert first not in pickled
    assert first in pickle.dumps(tiny)  # another machine has no such file
    before = files_mapped(cache)
    received = pickle.loads(pickled)
    assert files_mapped(cache) > before
    assert contents(received) == contents(tiny)
    assert received.digest == tiny.digest


@pytest.mark.parametrize("change", ["deleted", "edited", "shorter"])
def test_a_corpus_whose_file_is_another_one_now_is_sent_itself(tiny, cache, change):
    content = cache.read_bytes()
    cache.unlink()
    if change == "edited":
        place = content.index(tiny.train.texts[0].encode())
        cache.write_bytes(content[:place] + b"?" + content[place + 1 :])
    elif change == "shorter":
        cache.write_bytes(content[:100])
    received = pickle.loads(_pickled(tiny))
    assert contents(received) == contents(tiny)
    assert received.digest == tiny.digest


def test_a_part_of_a_mapped_array_stays_this_part(tiny):
    part = tiny.train.texts._data[2:5]
    assert isinstance(part, np.memmap)
    np.testing.assert_array_equal(pickle.loads(_pickled(part)), part)
