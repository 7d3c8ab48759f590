import gzip
import hashlib
import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from adbench_text import storage
from adbench_text.errors import DataError, UnknownNameError
from adbench_text.text import vectors

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
    "empty_lines_at_the_end.vec": HEADER + TEXT + b"\n\n",
    "empty_lines_at_the_end.txt": TEXT + b"\n\n",
    "text.gz": gzip.compress(HEADER + TEXT),
    "glove.txt.gz": gzip.compress(TEXT),
    "gzipped_in_two.gz": gzip.compress(HEADER + TEXT[:40]) + gzip.compress(TEXT[40:]),
    "gensim.bin": word2vec_binary(),
    "google.bin": word2vec_binary(after=b"\n"),
    "google.bin.gz": gzip.compress(word2vec_binary(after=b"\n")),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_vectors(write, name):
    path = write(FORMATS[name], name)
    for _ in range(2):  # from the file, and from the cache
        loaded = vectors.load(path)
        assert as_dict(loaded) == expected(WORDS)
        assert loaded.rows(["cata", "ca"]).tolist() == [-1, 4]
        assert loaded.matrix.dtype == np.float32
        assert not loaded.matrix.flags.writeable
        vectors._open.cache_clear()


@pytest.mark.parametrize("header", [b"", b"5 2\n"])
def test_the_first_vector_of_a_repeated_word_is_taken(write, header):
    loaded = vectors.load(write(header + b"x 9 9\na 1 2\nb 0 0\na 3 4\nb 5 6\n"))
    rows = loaded.rows(["a", "b"])
    assert loaded.matrix[rows].tolist() == [[1, 2], [0, 0]]
    assert rows.tolist() == [1, 2]


def test_the_first_vector_of_a_repeated_word_in_a_binary_file_is_taken(write):
    one, two = word2vec_binary({"a": [1, 1, 1]}), word2vec_binary({"a": [2, 2, 2]})
    loaded = vectors.load(write(b"2" + one[1:] + two[4:], "twice.bin"))
    assert as_dict(loaded) == {"a": [1, 1, 1]}


def test_words_with_spaces_are_left_out(write):
    # some of GloVe 840B's: "at name@domain.com", ". . ."
    content = b"first 0 0\nat name@domain.com 5 6\n. . . 7 8\nat 1 2\n"
    loaded = vectors.load(write(content))
    assert as_dict(loaded) == {"first": [0, 0], "at": [1, 2]}


def test_bytes_that_are_no_utf_8_and_odd_spaces_in_words_do_no_harm(write):
    odd = [b"caf\xe9", "a\u2028b".encode(), "\u00a0".encode(), b"\x1c\x85", b"", b"a\x0bb"]
    content = b"".join(word + b" 1 2\n" for word in odd) + b"cat 3 4\n"
    loaded = vectors.load(write(b"7 2\n" + content))
    assert loaded.rows(["cat", "caf", "café", "a", "b", "\ud800"]).tolist() == [6, -1, -1, -1, -1, -1]
    assert loaded.matrix[6].tolist() == [3, 4]


BROKEN = {
    "too few numbers": b"a 1 2\nb 3\nc 4 5\n",
    "too few numbers, header": b"3 2\na 1 2\nb 3\nc 4 5\n",
    "no number at all": b"a 1 2\nb\nc 4 5\n",
    "no number": b"a 1 2\nc x 5\n",
    "no number at the end": b"3 2\na 1 2\nb 0 0\nc 5 1.2.3\n",
    "another dimension": b"3 2\na 1 2\nb 1 2\nc 1 2 3\n",
    "a lower dimension than the header's": b"3 4\na 1 2 3\nb 1 2 3\nc 1 2 3\n",
    "cut within the last line": b"a 1 2\nb 3 4\nc 5",
    "cut at the last space": b"a 1 2\nb 3 4\nc 5 ",
    "cut at the last space, of another word": b"a 1 2\nb 3 4\nz 5 ",
    "two spaces hide that there is no number": b"a 1 2\nc  x\n",
    "NUL bytes": b"a 1 2\nb 1 2\n" + bytes(50),
    "binary": b"2 3\na " + bytes(range(60, 72)) + b"\nc " + bytes(range(60, 72)),
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_line_is_refused(write, what, zipped):
    content = BROKEN[what]
    path = write(gzip.compress(content), "my.vec.gz") if zipped else write(content)
    with pytest.raises(DataError, match=rf"^{re.escape(path)} .*again") as caught:
        vectors.load(path)
    assert "\n" not in str(caught.value)
    assert not (storage.cache_dir() / "word-vectors").exists()  # nothing half-read is remembered


@pytest.mark.parametrize("number", ["-inf", "1e39", "1e999", "binary"])
def test_numbers_that_are_not_finite_are_refused(write, number):
    if number == "binary":
        path = write(word2vec_binary({"a": [1, 2, 3], "c": [0, np.nan, 0]}), "my.bin")
    else:
        path = write(f"a 1 2\nc 1 {number}\n".encode())
    with pytest.raises(DataError, match=rf"^{re.escape(path)}: .*'c' .*finite"):
        vectors.load(path)


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
        b"x " * 20_000,
        bytes(10_000),
    ],
    ids=lambda content: repr(content[:20]),
)
@pytest.mark.parametrize("name", ["my.vec", "my.bin"])
def test_what_is_no_file_of_vectors_is_one_line(write, content, name):
    path = write(content, name)
    with pytest.raises(DataError, match=f"^{re.escape(path)} ") as caught:
        vectors.load(path)
    assert len(str(caught.value)) < 400 + len(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("name", ["word2vec.txt", "text.gz", "google.bin", "gensim.bin", "google.bin.gz"])
def test_a_truncated_file_is_refused_wherever_it_is_cut(write, name, share):
    content = FORMATS[name]
    path = write(content[: int(share * (len(content) - 3))], name)
    with pytest.raises(DataError, match=rf"^{re.escape(path)}.*(truncated|damaged)") as caught:
        vectors.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_bytes_never_end_in_another_error(write, name):
    rng = random.Random(0)
    for _ in range(100):
        damaged = bytearray(FORMATS[name])
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.choice([0, 10, 13, 32, 0x31, 0x39, 0xFF])
        path = Path(write(bytes(damaged), name))
        try:
            _, matrix = vectors._read(path)
        except DataError as error:
            assert str(error).startswith(str(path))  # noqa: PT017  # some damages cannot be noticed
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert np.isfinite(matrix).all()


def test_an_unknown_name_suggests_the_nearest(home):
    with pytest.raises(UnknownNameError, match=r"'glove-wiki-gigawrod-100'.*'glove-wiki-gigaword-100'"):
        vectors.load("glove-wiki-gigawrod-100")


@pytest.mark.parametrize("name", ["/nowhere/my.vec", "my.vec", "~/nowhere.bin", "long" * 1000 + ".vec"])
def test_a_missing_file_is_named(home, name):
    with pytest.raises(DataError, match=f" at .*{Path(name).name[-40:]}"):
        vectors.load(name)


def test_a_folder_is_no_file_of_vectors(home, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=f" at {re.escape(str(tmp_path))}"):
        vectors.load(str(tmp_path))
    (home / "vectors/glove-wiki-gigaword-50/glove-wiki-gigaword-50.gz").mkdir(parents=True)
    with pytest.raises(DataError, match="adbench-text fetch glove-wiki-gigaword-50"):
        vectors.load("glove-wiki-gigaword-50")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError):
        vectors.load("data")


def test_a_path_may_be_relative_or_below_the_users_home(write, tmp_path, monkeypatch):
    write(TEXT, "vectors_without_suffix")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("vectors_without_suffix", "./vectors_without_suffix", "~/vectors_without_suffix"):
        assert vectors.load(name).words == list(WORDS)


def test_every_download_is_that_of_gensims_downloader(home):
    import gensim.downloader

    for name in vectors.DOWNLOADS:
        remote = vectors.remote(name)
        assert remote.url == f"{gensim.downloader.DOWNLOAD_BASE_URL}/{name}/{name}.gz"
        assert storage.data_dir() / remote.path == home / "vectors" / name / f"{name}.gz"
        assert re.fullmatch("[0-9a-f]{32}", remote.md5)
    assert len({md5 for md5, _ in vectors.DOWNLOADS.values()}) == len(vectors.DOWNLOADS)


def test_fetch_downloads_and_verifies(home, server, monkeypatch):
    name, content = "glove-wiki-gigaword-50", gzip.compress(HEADER + TEXT)
    monkeypatch.setattr(vectors, "_RELEASES", server.url)
    server.answers[f"/{name}/{name}.gz"] = content
    with pytest.raises(DataError, match=name):  # this is not the published file
        vectors.fetch(name)
    assert not vectors.remote(name).is_here
    monkeypatch.setitem(vectors.DOWNLOADS, name, (hashlib.md5(content).hexdigest(), ""))
    (home / "vectors" / name).mkdir(parents=True, exist_ok=True)  # gensim would take it for the download
    assert vectors.fetch(name).read_bytes() == content
    assert vectors.load(name).words == list(WORDS)
    assert vectors.fetch(name).is_file()
    assert len(server.asked) == 2


# -- the cache


@pytest.fixture
def reads(monkeypatch) -> list[Path]:
    """The files that are read."""
    passes: list[Path] = []
    read = vectors._read
    monkeypatch.setattr(vectors, "_read", lambda path: passes.append(path) or read(path))
    return passes


def test_a_file_is_read_once_for_all_words_and_processes(write, reads):
    path = write(TEXT)
    loaded = vectors.load(path)
    assert vectors.load(path) is loaded
    vectors._open.cache_clear()  # as another process
    assert as_dict(vectors.load(path)) == expected(WORDS)
    assert len(reads) == 1


def test_a_file_that_changes_and_files_with_the_same_words_are_read_anew(write):
    one, two = write(b"cat 1 2\n", "one"), write(b"cat 3 4 5\n", "two")
    for _ in range(2):
        assert as_dict(vectors.load(one)) == {"cat": [1, 2]}
        assert as_dict(vectors.load(two)) == {"cat": [3, 4, 5]}
    write(b"cat 6 7\n", "one")
    assert as_dict(vectors.load(one)) == {"cat": [6, 7]}


def test_a_damaged_cache_is_read_anew(write, reads):
    path = write(TEXT)
    vectors.load(path)
    folder = storage.cache_dir() / "word-vectors"
    files = [*folder.rglob("*.npy"), *folder.rglob("*.json")]
    assert len(files) == 2
    for file in files:
        intact = file.read_bytes()
        for damage in (b"no cache", b"", intact[:-10]):
            file.unlink()  # it is mapped
            file.write_bytes(damage)
            vectors._open.cache_clear()
            assert as_dict(vectors.load(path)) == expected(WORDS)
    assert len(reads) == 1 + 2 * 3


@pytest.mark.parametrize("name", ["model.bin", "model.vec"])
def test_a_model_of_the_fasttext_program_is_refused(write, name):
    path = write(b"\xba\x16\x4f\x2f" + bytes(200), name)
    with pytest.raises(DataError, match=re.escape(path)):
        vectors.load(path)
