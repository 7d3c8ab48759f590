import hashlib
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Thread, Timer

import numpy as np
import pytest

from adbench_text import storage
from adbench_text.errors import DataError, NotDownloadedError
from adbench_text.storage import RemoteFile, atomic_path, check_files, content_of, file_digest

CONTENT = b"1,title,description\n" * 5000


def everything_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def remote(server) -> RemoteFile:
    server.answers["/file.csv"] = CONTENT
    return RemoteFile("corpus/file.csv", f"{server.url}/file.csv", hashlib.md5(CONTENT).hexdigest())


def test_the_folders_come_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(tmp_path / "a"))
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", "~/b")
    assert storage.data_dir() == tmp_path / "a"
    assert storage.cache_dir() == Path.home() / "b"
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("empty", [True, False])
def test_without_settings_the_platform_decides_where_files_are(monkeypatch, empty):
    for name in ("ADBENCH_TEXT_DATA", "ADBENCH_TEXT_CACHE"):
        monkeypatch.setenv(name, "") if empty else monkeypatch.delenv(name, raising=False)
    assert storage.data_dir() != storage.cache_dir()
    assert storage.data_dir().is_absolute()
    assert "adbench-text" in str(storage.data_dir())
    assert "adbench-text" in str(storage.cache_dir())


@pytest.mark.parametrize(("value", "offline"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_offline_is_any_value_but_0_or_nothing(monkeypatch, value, offline):
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", value)
    assert storage.is_offline() is offline


def test_is_file_is_false_where_nothing_can_be_seen(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    assert storage.is_file(tmp_path / "file")
    assert not storage.is_file(tmp_path)
    assert not storage.is_file(tmp_path / "missing")
    assert not storage.is_file(tmp_path / ("long" * 1000))

    def closed(self, **settings):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", closed)  # root sees everything
    assert not storage.is_file(tmp_path / "file")


def test_atomic_path_puts_the_file_in_its_place(tmp_path):
    path = tmp_path / "new" / "folder" / "file.npz"
    with atomic_path(path) as temporary:
        assert temporary.suffix == ".npz"  # numpy would append it
        assert temporary.parent == path.parent
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert everything_in(tmp_path) == [path]


WRITER = """
import sys, time
from pathlib import Path
from adbench_text.storage import atomic_path
with atomic_path(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print(temporary, flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs locks of files")
def test_what_a_killed_process_has_left_is_removed_and_what_another_one_writes_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_SECONDS_UNTIL_LOCKED", 0)
    path, others = tmp_path / "s.csv", [tmp_path / ".s-12345678.csv", tmp_path / ".other-adbench-text-x.csv"]
    for other in others:
        other.touch()
    command = [sys.executable, "-c", WRITER, str(path)]
    killed, living = (subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2))
    try:
        left, written = (Path(process.stdout.readline().strip()) for process in (killed, living))
        killed.kill()
        killed.wait()
        assert left.exists()
        with atomic_path(path) as temporary:
            temporary.write_text("new")
            assert not left.exists()
            assert written.read_text() == "half"
    finally:
        for process in (killed, living):
            process.kill()
            process.communicate()
    assert sorted(everything_in(tmp_path)) == sorted([*others, written, path])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_atomic_path_keeps_the_old_file_and_nothing_else_on_an_error(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")

    def write() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert everything_in(tmp_path) == [path]
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("place", "error"),
    [("file/below", None), ("folder", None), ("new", OSError(28, "No space left on device"))],
)
def test_a_place_that_cannot_be_written_is_one_line(tmp_path, place, error):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()

    refused = pytest.raises(DataError, match=rf"^Cannot write .*: {error.strerror if error else '.*'}\.$")
    with refused, atomic_path(tmp_path / place) as temporary:
        temporary.touch()
        if error:
            raise error
    assert everything_in(tmp_path) == [tmp_path / "file"]


def test_files_of_the_cache_have_the_usual_rights(tmp_path):
    mask = os.umask(0o027)
    try:
        with atomic_path(tmp_path / "file") as temporary:
            temporary.touch()
    finally:
        os.umask(mask)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_missing_file_is_downloaded_once_and_another_one_is_refused(home, server, remote):
    path = remote.fetch()
    assert path == home / "corpus" / "file.csv"
    assert path.read_bytes() == CONTENT
    assert everything_in(home) == [path]
    assert remote.read_bytes() == CONTENT
    path.write_text("my own")
    own = hashlib.md5(b"my own").hexdigest()
    quoted = rf"^{re.escape(str(path))} .*md5 .*{own}, .*{remote.md5}\. .*fetch"
    for read in (remote.fetch, remote.read_bytes):
        with pytest.raises(DataError, match=quoted):
            read()
    assert replace(remote, others=(own,)).read_bytes() == b"my own"
    assert server.asked == ["/file.csv"]


def test_bytes_are_verified_without_a_remembered_digest(home, remote, monkeypatch):
    remote.fetch().write_text("my own")
    monkeypatch.setattr(storage, "file_digest", lambda *_: remote.md5)
    with pytest.raises(DataError, match=rf"file\.csv .*md5 .*{hashlib.md5(b'my own').hexdigest()}, "):
        remote.read_bytes()


def hang_up(request) -> None:
    request.send_response(200)
    request.send_header("Content-Length", str(len(CONTENT)))
    request.end_headers()
    request.wfile.write(CONTENT[:1000])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(CONTENT[:-1], ".*"), (None, ".*404 .*"), (hang_up, ".*"), ("no server", "no connection to the server")],
    ids=["wrong checksum", "no such page", "hangs up", "no server"],
)
def test_a_failed_download_is_one_line_and_leaves_nothing(home, server, remote, answer, reason):
    server.answers["/file.csv"] = answer
    if answer == "no server":
        remote = replace(remote, url="http://127.0.0.1:1/b")
    place = re.escape(str(home / "corpus" / "file.csv"))
    quoted = rf" {re.escape(remote.url)}: {reason}\. .*\(md5 {remote.md5}\) .*{place}\.$"
    with pytest.raises(DataError, match=quoted) as caught:
        remote.fetch()
    assert "\n" not in str(caught.value)
    assert everything_in(home) == []


def test_the_beginning_of_a_digest_is_enough_to_know_a_file(home, server, remote):
    digest = hashlib.sha256(CONTENT).hexdigest()
    begun = replace(remote, md5="", sha256=digest[:16], others=(hashlib.sha256(b"my own").hexdigest(),))
    assert begun.fetch().read_bytes() == CONTENT
    begun.local.write_text("my own")
    assert begun.read_bytes() == b"my own"
    begun.local.write_text("another")
    with pytest.raises(DataError, match=rf"file\.csv is not the published file: .*, not {digest[:16]}\. "):
        begun.fetch()
    begun.local.unlink()
    server.answers["/file.csv"] = b"another"
    found = hashlib.sha256(b"another").hexdigest()
    quoted = rf"{re.escape(begun.url)}: its sha256 is {found}\. .*\(sha256 {digest[:16]}\) by hand"
    with pytest.raises(DataError, match=quoted):
        begun.fetch()
    assert everything_in(home) == []


@pytest.mark.parametrize("where", ["data directory is a file", "folder of that name", "no right to write"])
def test_a_data_directory_that_cannot_be_written_is_one_line(home, remote, monkeypatch, where):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    if where == "data directory is a file":
        home.write_text("a file")
    elif where == "folder of that name":
        (home / "corpus" / "file.csv").mkdir(parents=True)
    else:
        monkeypatch.setattr("pooch.core.temporary_file", refuse)  # root may write everywhere
    before = everything_in(home.parent)
    place = re.escape(str(home / "corpus" / "file.csv"))
    quoted = rf" {re.escape(remote.url)}: .*\(md5 {remote.md5}\) .*{place}\.$"
    with pytest.raises(DataError, match=quoted) as caught:
        remote.fetch()
    assert "\n" not in str(caught.value)
    assert everything_in(home.parent) == before


def test_offline_nothing_is_asked_for(home, server, remote, monkeypatch):
    monkeypatch.setenv(storage.OFFLINE, "")  # so that it is restored
    storage.forbid_downloads()
    with pytest.raises(NotDownloadedError, match=rf"file\.csv .*{re.escape(remote.url)} .*--offline\.$"):
        remote.fetch()
    assert server.asked == []
    assert not home.exists()


@pytest.fixture
def file(home, tmp_path) -> Path:
    path = tmp_path / "file"
    path.write_text("content")
    return path


def test_file_digest_reads_a_file_once(file, monkeypatch):
    assert file_digest(file, "md5") == hashlib.md5(b"content").hexdigest()
    assert file_digest(file) == hashlib.sha256(b"content").hexdigest()
    monkeypatch.setattr(hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert file_digest(Path(os.path.relpath(file))) == hashlib.sha256(b"content").hexdigest()


def test_file_digest_notices_a_changed_file(file):
    digest, time = file_digest(file), file.stat().st_mtime_ns
    file.write_text("CONTENT")  # of the same size
    os.utime(file, ns=(time + 1, time + 1))
    assert file_digest(file) == hashlib.sha256(b"CONTENT").hexdigest() != digest
    file.write_text("longer content")
    os.utime(file, ns=(time + 1, time + 1))  # at the same time
    assert file_digest(file) == hashlib.sha256(b"longer content").hexdigest()
    status = file.stat()
    with file.open("r+") as stream:  # in place, and with its time set back
        stream.write("L")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file_digest(file) == hashlib.sha256(b"Longer content").hexdigest()


@pytest.mark.parametrize("damage", [b"", b"abc", 64 * b"z", 63 * b"0", b"\xff\xfe"])
def test_a_damaged_memory_of_digests_is_made_again(file, damage):
    digest = file_digest(file)
    (memory,) = everything_in(storage.cache_dir())
    memory.write_bytes(damage)
    assert file_digest(file) == digest
    assert memory.read_text() == digest


@pytest.mark.parametrize("name", ["missing", "folder", "file/below"])
def test_file_digest_of_what_is_no_file_is_one_line(file, name):
    (file.parent / "folder").mkdir()
    with pytest.raises(DataError, match=r"^Cannot read .*: .+\.$"):
        file_digest(file.parent / name)
    assert everything_in(storage.cache_dir()) == []


# Files of the cache


@pytest.fixture
def array(home) -> Path:
    path = storage.cache_dir() / "kind" / "a.npy"
    storage.write_array(path, np.ones((2, 3), np.float32))
    return path


@pytest.mark.timeout(30)
def test_what_might_be_read_for_ever_is_refused(tmp_path):
    (tmp_path / "file").write_text("words")
    os.mkfifo(tmp_path / "pipe")
    assert content_of(tmp_path / "file") == b"words"
    for path, reason in (
        (tmp_path / "pipe", "writes"),
        (Path("/dev/zero"), "device"),
        (tmp_path, "directory"),
    ):
        with pytest.raises(OSError, match=reason):
            content_of(path)
    with pytest.raises(DataError, match=re.escape(str(tmp_path / "pipe"))):
        check_files(tmp_path)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("is_slow", [False, True])
def test_a_pipe_is_read_to_its_end(is_slow):
    reader, writer = os.pipe()  # as that of <(command)
    data = b"words" * 10_000

    def write():
        with os.fdopen(writer, "wb") as stream:
            stream.write(data)

    if is_slow:
        Timer(0.1, write).start()
    else:
        Thread(target=write).start()
    with os.fdopen(reader):
        assert content_of(Path(f"/dev/fd/{reader}")) == data


def test_an_array_is_read_as_it_was_written(array):
    loaded = storage.read_array(array)
    assert (loaded.dtype, loaded.shape) == (np.float32, (2, 3))
    assert np.array_equal(loaded, np.ones((2, 3)))


def test_a_damaged_file_of_the_cache_is_not_read(array):
    array.write_bytes(array.read_bytes()[:-1])
    assert storage.read_array(array) is None
    array.unlink()
    assert storage.read_array(array) is None


def test_an_array_of_pickled_objects_is_not_read(array):
    storage.write_cache(array, lambda path: np.save(path, np.array([print], dtype=object)))
    assert storage.read_cache(array, lambda path: path.exists())
    assert storage.read_array(array) is None
