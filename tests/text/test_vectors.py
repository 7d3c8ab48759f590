import gzip
import os
import random
import re
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

from adbench_text import storage
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.text import vector_files, vectors

#: Some of everything: ASCII, other alphabets, a word that begins like another, digits.
WORDS = {
    "cat": [0.1, -0.2, 0.3],
    "straße": [1, 2, 3],
    "東京": [1e-8, 0, -1],
    "catalogue": [4, 5, 6],
    "ca": [-7, 8.5, 9],
    "2001": [1e3, 0.5, -0.25],
}
TEXT = "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in WORDS.items()).encode()
HEADER = f"{len(WORDS)} 3\n".encode()


def word2vec_binary(words: dict[str, list[float]] = WORDS, after: bytes = b"") -> bytes:
    """Word2vec's binary format: gensim's, or, with a line end after each vector, Google's."""
    body = (
        word.encode() + b" " + np.array(vector, "<f4").tobytes() + after for word, vector in words.items()
    )
    return f"{len(words)} 3\n".encode() + b"".join(body)


@pytest.fixture
def write(home, tmp_path) -> Callable[..., str]:
    def write(content: bytes, name: str = "my.vec") -> str:
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return write


def as_dict(loaded: vectors.WordVectors) -> dict[str, list[float]]:
    return {word: vector.tolist() for word, vector in zip(loaded.words, loaded.matrix, strict=True)}


def expected(words: dict[str, list[float]]) -> dict[str, list[float]]:
    return {word: np.array(vector, np.float32).tolist() for word, vector in words.items()}


FORMATS = {
    "glove.txt": TEXT,
    "word2vec.txt": HEADER + TEXT,
    "fasttext.vec": HEADER + TEXT.replace(b"\n", b" \n"),  # fastText ends each line with a space
    "windows.vec": (HEADER + TEXT).replace(b"\n", b"\r\n"),
    "windows_glove.txt": TEXT.replace(b"\n", b"\r\n"),
    "bom.vec": b"\xef\xbb\xbf" + HEADER + TEXT,
    "bom_glove.txt": b"\xef\xbb\xbf" + TEXT,
    "header_with_spaces.vec": b" 6  3 \t\r\n" + TEXT,
    "no_last_line_end.vec": HEADER + TEXT.rstrip(),
    "empty_lines_at_the_end.vec": HEADER + TEXT + b"\n  \n\r\n",
    "empty_lines_at_the_end.txt": TEXT + b"\n\n",
    "two_spaces.txt": TEXT.replace(b" ", b"  "),
    "text.gz": gzip.compress(HEADER + TEXT),
    "glove.txt.gz": gzip.compress(TEXT),
    "gzipped_without_saying_so.txt": gzip.compress(TEXT),
    "gzipped_in_two.gz": gzip.compress(HEADER + TEXT[:40]) + gzip.compress(TEXT[40:]),
    "gensim.bin": word2vec_binary(),
    "google.bin": word2vec_binary(after=b"\n"),
    "google.bin.gz": gzip.compress(word2vec_binary(after=b"\n")),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_vectors(write, name):
    path = write(FORMATS[name], name)
    for _ in range(2):  # from the file, and from the cache
        loaded = vectors.load(path, ["cat"])
        assert as_dict(loaded) == expected(WORDS)
        assert loaded.ranks.tolist() == list(range(len(WORDS)))
        assert loaded.rows(["cata", "ca"]).tolist() == [-1, 4]
        assert loaded.matrix.dtype == np.float32
        assert not loaded.matrix.flags.writeable
        vectors._memory.clear()


@pytest.mark.parametrize("header", [b"", b"5 2\n"])
def test_the_first_vector_of_a_repeated_word_is_taken(write, header):
    loaded = vectors.load(write(header + b"x 9 9\na 1 2\nb 0 0\na 3 4\nb 5 6\n"), ["a", "b"])
    rows = loaded.rows(["a", "b"])
    assert loaded.matrix[rows].tolist() == [[1, 2], [0, 0]]
    assert loaded.ranks[rows].tolist() == [1, 2]


def test_the_first_vector_of_a_repeated_word_in_a_binary_file_is_taken(write):
    one, two = word2vec_binary({"a": [1, 1, 1]}), word2vec_binary({"a": [2, 2, 2]})
    loaded = vectors.load(write(b"2" + one[1:] + two[4:], "twice.bin"), ["a"])
    assert as_dict(loaded) == {"a": [1, 1, 1]}


def test_a_word_with_spaces_is_not_taken_for_its_first_part(write):
    # some of GloVe 840B's: "at name@domain.com", ". . ."
    content = b"first 0 0\nat name@domain.com 5 6\n. . . 7 8\nat 1 2\n"
    loaded = vectors.load(write(content), ["at", "first"])
    assert loaded.rows(["first", "at"]).tolist() == [0, 3]
    assert loaded.matrix[3].tolist() == [1, 2]


def test_bytes_that_are_no_utf_8_and_odd_spaces_in_words_do_no_harm(write):
    odd = [b"caf\xe9", "a\u2028b".encode(), "\u00a0".encode(), b"\x1c\x85", b"", b"a\x0bb"]
    content = b"".join(word + b" 1 2\n" for word in odd) + b"cat 3 4\n"
    loaded = vectors.load(write(b"7 2\n" + content), ["cat", "caf", "café", "a", "b"])
    assert loaded.rows(["cat", "caf", "café", "a", "b", "\ud800"]).tolist() == [6, -1, -1, -1, -1, -1]
    assert loaded.matrix[6].tolist() == [3, 4]


BROKEN = {
    "too few numbers": (b"a 1 2\nb 3\nc 4 5\n", 2),
    "too few numbers, header": (b"3 2\na 1 2\nb 3\nc 4 5\n", 3),
    "no number at all": (b"a 1 2\nb\nc 4 5\n", 2),
    "no number": (b"a 1 2\nc x 5\n", 2),
    "no number at the end": (b"3 2\na 1 2\nb 0 0\nc 5 1.2.3\n", 4),
    "another dimension": (b"a 1 2\nb 1 2\nc 1 2 3\n", 3),
    "a lower dimension than the header's": (b"3 4\na 1 2 3\nb 1 2 3\nc 1 2 3\n", 2),
    "cut within the last line": (b"a 1 2\nb 3 4\nc 5", 3),
    "cut at the last space": (b"a 1 2\nb 3 4\nc 5 ", 3),
    "cut at the last space, of another word": (b"a 1 2\nb 3 4\nz 5 ", 3),
    "two spaces hide that there is no number": (b"a 1 2\nc  x\n", 2),
    "NUL bytes": (b"a 1 2\nb 1 2\n" + bytes(50), 3),
    "binary": (b"2 3\na " + bytes(range(60, 72)) + b"\nc " + bytes(range(60, 72)), 2),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_line_is_named(write, what, zipped):
    content, line = BROKEN[what]
    path = write(gzip.compress(content) if zipped else content)
    with pytest.raises(DataError, match=rf"^{re.escape(path)} .*line {line}: .*Get it again") as caught:
        vectors.load(path, ["c", "a"])
    assert "\n" not in str(caught.value)
    assert not (storage.cache_dir() / "word-vectors").exists()  # nothing half-read is remembered


@pytest.mark.parametrize("number", ["nan", "-inf", "1e39", "1e999", "binary"])
def test_numbers_that_are_not_finite_are_refused(write, number):
    if number == "binary":
        path = write(word2vec_binary({"a": [1, 2, 3], "c": [0, np.nan, 0]}), "my.bin")
    else:
        path = write(f"a 1 2\nc 1 {number}\n".encode())
    with pytest.raises(DataError, match=rf"^{re.escape(path)}: the vector of 'c' .* not finite\.$"):
        vectors.load(path, ["a", "c"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b" ",
        b"\xef\xbb\xbf",
        b"word\n",
        b"6 0\n",
        b"6 " + b"9" * 5000 + b"\n",
        b"9" * 30 + b" 3\n",
        b"6 999999999999\n" + TEXT,
        b"-6 3\n" + TEXT,
        b"<html>\n",
        b"a,1,2,3\nb,1,2,3\n",
        b"PK\x03\x04\n",
        "6 3\n".encode("utf-16") + TEXT,
        b"x " * 200_000,
        bytes(10_000),
    ],
    ids=lambda content: repr(content[:20]),
)
@pytest.mark.parametrize("name", ["my.vec", "my.bin"])
def test_what_is_no_file_of_vectors_is_one_line(write, content, name):
    path = write(content, name)
    with pytest.raises(DataError, match=rf"^{re.escape(path)} cannot be read: ") as caught:
        vectors.load(path, ["cat"])
    assert len(str(caught.value)) < 400 + len(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("name", ["word2vec.txt", "text.gz", "google.bin", "gensim.bin", "google.bin.gz"])
def test_a_truncated_file_is_refused_wherever_it_is_cut(write, name, share):
    content = FORMATS[name]
    path = write(content[: int(share * (len(content) - 3))], name)
    with pytest.raises(DataError, match=rf"^{re.escape(path)}.*(truncated|damaged)") as caught:
        vectors.load(path, ["cat"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [HEADER + TEXT, TEXT], ids=["word2vec", "glove"])
def test_a_small_file_that_unpacks_to_an_endless_word_does_not_fill_the_memory(write, content):
    path = write(gzip.compress(content + 40_000_000 * b"x"), "my.gz")
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=rf"^{re.escape(path)}"):
            vectors.load(path, ["cat"])
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_bytes_never_end_in_another_error(write, name):
    rng = random.Random(0)
    for _ in range(100):
        damaged = bytearray(FORMATS[name])
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.choice([0, 10, 13, 32, 0x31, 0x39, 0xFF])
        path = Path(write(bytes(damaged), name))
        try:
            _, matrix = vector_files.read(path)
        except DataError as error:
            assert str(error).startswith(str(path))  # noqa: PT017  # some damages cannot be noticed
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert np.isfinite(matrix).all()


def test_an_unknown_name_suggests_the_nearest(home):
    with pytest.raises(UnknownNameError, match="Did you mean 'glove-wiki-gigaword-100'"):
        vectors.load("glove-wiki-gigawrod-100", ["cat"])


@pytest.mark.parametrize("name", ["/nowhere/my.vec", "my.vec", "~/nowhere.bin", "long" * 1000 + ".vec"])
def test_a_missing_file_is_named(home, name):
    with pytest.raises(
        DataError, match=r"^There is no file of word vectors at .*\.(vec|bin)\. Give another path"
    ):
        vectors.load(name, ["cat"])


def test_a_folder_is_no_file_of_vectors(home, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"^There is no file of word vectors at "):
        vectors.load(str(tmp_path), ["cat"])
    (home / "vectors/glove-wiki-gigaword-50/glove-wiki-gigaword-50.gz").mkdir(parents=True)
    with pytest.raises(DataError, match="run: adbench-text fetch"):
        vectors.load("glove-wiki-gigaword-50", ["cat"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError):
        vectors.load("data", ["cat"])


def test_a_path_may_be_relative_or_below_the_users_home(write, tmp_path, monkeypatch):
    write(TEXT, "vectors_without_suffix")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("vectors_without_suffix", "./vectors_without_suffix", "~/vectors_without_suffix"):
        assert vectors.load(name, ["cat"]).words == list(WORDS)


def test_every_download_is_that_of_gensims_downloader(home):
    import gensim.downloader

    assert vectors.DOWNLOADS.keys() == vectors._MD5.keys()
    for name in vectors.DOWNLOADS:
        remote = vectors.remote(name)
        assert remote.url == f"{gensim.downloader.DOWNLOAD_BASE_URL}/{name}/{name}.gz"
        assert storage.data_dir() / remote.path == home / "vectors" / name / f"{name}.gz"
        assert re.fullmatch("[0-9a-f]{32}", remote.md5)
    assert len(set(vectors._MD5.values())) == len(vectors.DOWNLOADS)


def test_fetch_downloads_and_verifies(home, server, monkeypatch):
    import hashlib

    name, content = "glove-wiki-gigaword-50", gzip.compress(HEADER + TEXT)
    monkeypatch.setattr(vectors, "_RELEASES", server.url)
    server.answers[f"/{name}/{name}.gz"] = content
    with pytest.raises(DataError, match="Could not download"):  # this is not the published file
        vectors.fetch(name)
    assert not vectors.remote(name).is_here
    monkeypatch.setitem(vectors._MD5, name, hashlib.md5(content).hexdigest())
    (home / "vectors" / name).mkdir(parents=True, exist_ok=True)  # gensim would take it for the download
    assert vectors.fetch(name).read_bytes() == content
    assert vectors.load(name, ["cat"]).words == list(WORDS)
    assert vectors.fetch(name).is_file()
    assert len(server.asked) == 2


# -- the cache


@pytest.fixture
def reads(monkeypatch) -> list[Path]:
    """The files that are read."""
    passes: list[Path] = []
    read = vector_files.read
    monkeypatch.setattr(vector_files, "read", lambda path: passes.append(path) or read(path))
    return passes


def test_a_file_is_read_once_for_all_words_and_processes(write, reads):
    path = write(TEXT)
    loaded = vectors.load(path, ["cat", "dog"])
    assert vectors.load(path, ["ca"]) is loaded
    vectors._memory.clear()  # as another process
    assert as_dict(vectors.load(path, ["東京"])) == expected(WORDS)
    assert len(reads) == 1


def test_a_file_that_changes_and_files_with_the_same_words_are_read_anew(write):
    one, two = write(b"cat 1 2\n", "one"), write(b"cat 3 4 5\n", "two")
    for _ in range(2):
        assert as_dict(vectors.load(one, ["cat"])) == {"cat": [1, 2]}
        assert as_dict(vectors.load(two, ["cat"])) == {"cat": [3, 4, 5]}
    write(b"cat 6 7\n", "one")
    assert as_dict(vectors.load(one, ["cat"])) == {"cat": [6, 7]}


def test_a_damaged_or_edited_cache_is_read_anew(write, reads):
    path = write(TEXT)
    vectors.load(path, [])
    (cache_file,) = (storage.cache_dir() / "word-vectors").rglob("matrix.npy")
    intact = cache_file.read_bytes()
    for damage in (b"no cache", intact[: len(intact) // 2], intact[:-40] + bytes(40)):
        cache_file.write_bytes(damage)
        vectors._memory.clear()
        assert as_dict(vectors.load(path, [])) == expected(WORDS)
    assert len(reads) == 4


# -- the fasttext program's binary model

TRAINING = [text.split() for text in ("the cat sat on the mat", "a cat and a dog", "the dog sat")] * 5


@pytest.fixture(scope="module", params=[(3, 6, 500), (2, 3, 40), (0, 0, 0)], ids=str)
def fasttext_model(request, tmp_path_factory) -> Path:
    min_n, max_n, bucket = request.param
    model = FastText(
        TRAINING, vector_size=5, min_count=1, epochs=1, min_n=min_n, max_n=max_n, bucket=bucket, workers=1
    )
    path = tmp_path_factory.mktemp("fasttext") / "model"  # its first bytes show what it is, not its name
    save_facebook_model(model, str(path))
    return path


def test_a_fasttext_model_is_read_as_gensim_reads_it(home, fasttext_model):
    reference = load_facebook_vectors(str(fasttext_model))
    unknown = ["cats", "doghouse", "katze", "日本", "x"]
    if not reference.bucket:
        unknown = []
    loaded = vectors.load(str(fasttext_model), [*reference.key_to_index, *unknown, "", "q"])
    assert set(reference.key_to_index) | set(unknown) <= set(loaded.words)
    for word, vector, rank in zip(loaded.words, loaded.matrix, loaded.ranks, strict=True):
        np.testing.assert_allclose(vector, reference[word], rtol=1e-5, atol=1e-7)
        assert rank == reference.key_to_index.get(word, len(reference.key_to_index))
    if not reference.bucket:
        assert not {"", "q"} & set(loaded.words)


def test_a_truncated_fasttext_model_is_refused_wherever_it_is_cut(home, fasttext_model, tmp_path):
    content = fasttext_model.read_bytes()
    input_end = len(content) - 17 - 4 * 5 * len({word for words in TRAINING for word in words})
    cuts = [4, 20, 60, 95, 110, 130, 200, input_end - 30, input_end - 1]  # the output matrix is not read
    for cut in cuts:
        path = tmp_path / f"{cut}.bin"
        path.write_bytes(content[:cut])
        with pytest.raises(DataError, match=rf"^{re.escape(str(path))} is damaged, truncated or no fastText"):
            vectors.load(str(path), ["cat"])


def test_a_damaged_fasttext_model_never_hangs_or_ends_in_another_error(home, fasttext_model, tmp_path):
    content = fasttext_model.read_bytes()
    path = tmp_path / "damaged.bin"
    rng = random.Random(0)
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(4):
            damaged[rng.randrange(4, 200)] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            vector_files.FastTextModel(path).vectors_of(["cat", "unknown"])
        except DataError as error:
            assert "\n" not in str(error)  # noqa: PT017  # some damages cannot be noticed


def test_models_of_other_kinds_are_refused(home, fasttext_model, tmp_path):
    content = fasttext_model.read_bytes()
    supervised = content[:72] + struct.pack("<i", 2) + content[76:]
    (tmp_path / "supervised.bin").write_bytes(supervised)
    (tmp_path / "zipped.bin.gz").write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match="only unsupervised, unquantized models"):
        vectors.load(str(tmp_path / "supervised.bin"), ["cat"])
    with pytest.raises(DataError, match="its first line is"):
        vectors.load(str(tmp_path / "zipped.bin.gz"), ["cat"])


# -- trained on the texts at hand

LOCAL_TEXTS = ["the cat sat on the mat", "a cat and a dog", "the dog sat"] * 5


def test_local_vectors_are_the_same_for_one_seed_and_others_for_another():
    trained = [vectors.trained(LOCAL_TEXTS, seed).vectors_of(["dog", "cat", "unknown"]) for seed in (0, 1, 0)]
    assert trained[0].words == ["cat", "dog", "unknown"]
    assert trained[0].matrix.shape == (3, 100)
    np.testing.assert_array_equal(trained[0].matrix, trained[2].matrix)
    assert (trained[0].matrix != trained[1].matrix).any(axis=1).all()
    other = vectors.trained(LOCAL_TEXTS[:-1], 0).vectors_of(["cat"])
    assert (other.matrix[0] != trained[0].matrix[0]).any()


LOCAL_ELSEWHERE = """
from adbench_text.text import vectors
print(vectors.trained({texts!r}, 0).vectors_of(["cat", "unknown"]).matrix.tobytes().hex())
"""


def test_local_vectors_do_not_depend_on_the_hash_seed():
    here = vectors.trained(LOCAL_TEXTS, 0).vectors_of(["cat", "unknown"]).matrix.tobytes().hex()
    there = subprocess.run(
        [sys.executable, "-c", LOCAL_ELSEWHERE.format(texts=LOCAL_TEXTS)],
        env=os.environ | {"PYTHONHASHSEED": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.strip() == here


@pytest.mark.parametrize("texts", [[], ["", " !"]])
def test_local_vectors_need_a_word(texts):
    with pytest.raises(InvalidValueError, match="at least one word"):
        vectors.trained(texts, 0).vectors_of(["cat"])
