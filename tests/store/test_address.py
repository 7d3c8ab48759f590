import re
import socket
import sqlite3
from contextlib import closing

import pytest
from journals import kill_writer

from adbench_text.errors import TrackingError
from adbench_text.escaping import without_password
from adbench_text.store.client import StoreClient, check_reachable, tracking_uri

pytestmark = pytest.mark.timeout(60)  # MLflow itself would try again for many minutes


@pytest.fixture
def deaf_port():
    """A port that accepts connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        yield listening.getsockname()[1]


def refused(uri: str) -> str:
    """Return why a store is refused: one line."""
    with pytest.raises(TrackingError) as caught:
        check_reachable(uri)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1
    return str(caught.value)


def test_the_address_is_the_one_given_else_mlflows_variable_else_a_file_here(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://there")
    assert tracking_uri("sqlite:///here.db") == "sqlite:///here.db"
    assert tracking_uri() == "http://there"
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert tracking_uri() == tracking_uri("") == "sqlite:///mlflow.db"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:s3cret@host:5432/db", "postgresql://***@host:5432/db"),
        (
            "run --tracking-uri https://token@host --seed 1",
            "run --tracking-uri https://***@host --seed 1",
        ),
        ("sqlite:///folder/a@b.db", "sqlite:///folder/a@b.db"),
        ("mlflow.db", "mlflow.db"),
        ("postgresql://me:s3@cret@host/db", "postgresql://***@host/db"),
        ("postgresql://me:s3/cret@host/db", "postgresql://***@host/db"),
        ("http://host:5000/a@b", "http://host:5000/a@b"),
        (
            "run --tracking-uri 'http://host/?user=me&password=s3cret' --seed 1",
            "run --tracking-uri 'http://host/?user=me&password=***' --seed 1",
        ),
        ("http://host?X-Amz-Signature=s3cret&api_key=s3cret#token=s3cret", None),
        (
            "postgresql://host/db?sslkey=s3cret&sslpassword=s3cret&scram_client_key=s3cret",
            None,
        ),
        ("mysql+pymysql://host/db?ssl_key=s3cret&ssl-key=s3cret;AccountKey=s3cret", None),
        ("mssql+pyodbc:///?odbc_connect=PWD%3Ds3cret", None),
        ("postgresql://host/db?sslmode=require&application_name=x", ...),
        ("http://host/#/experiments/1/runs?orderByKey=metrics.%60auroc%60", ...),
    ],
)
def test_users_passwords_and_secrets_of_a_query_are_hidden(text, shown):
    if shown is None:
        assert "s3cret" not in without_password(text)
        return
    shown = text if shown is ... else shown
    assert without_password(text) == shown


# SQLite


@pytest.mark.parametrize("name", ["new.db", "old.db", "empty.db", "with space and ü.db"])
def test_a_sqlite_store_may_be_new_or_a_database(name, tmp_path):
    with closing(sqlite3.connect(tmp_path / "old.db")) as database, database:
        database.executescript("CREATE TABLE experiments (x); CREATE TABLE runs (x)")
    (tmp_path / "empty.db").touch()
    before = sorted(tmp_path.iterdir())
    check_reachable(f"sqlite:///{tmp_path / name}")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("content", [b"hello", b"SQLite format 3\0" + bytes(range(256)) * 20])
def test_a_file_that_is_no_database_is_refused_and_left_alone(content, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    assert re.search(rf"{re.escape(str(path))} .*SQLite .*\(.+\)", refused(f"sqlite:///{path}"))
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "accounts.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE accounts (x)")
    before = path.read_bytes()
    line = refused(f"sqlite:///{path}")
    assert re.search(rf"{re.escape(str(path))} .*another program.*--tracking-uri", line)
    assert path.read_bytes() == before


def test_a_process_killed_while_it_wrote_locks_nobody_out(tmp_path):
    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript("CREATE TABLE experiments (x); CREATE TABLE runs (x)")
    kill_writer(path)
    check_reachable(f"sqlite:///{path}")
    assert list(tmp_path.iterdir()) == [path]
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT min(x), max(x) FROM big").fetchone() == (1, 99999)


def test_a_database_that_another_process_holds_is_one_line(tmp_path, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, timeout=0.1, **options))
    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript("CREATE TABLE x (x); BEGIN EXCLUSIVE")
        assert f"locked {path};" in refused(f"sqlite:///{path}")


def test_the_file_of_an_address_may_have_signs_in_its_path(tmp_path, monkeypatch):
    name = "it's a#b with space ü"
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    check_reachable("sqlite:///mlflow.db")
    check_reachable(f"sqlite:///{tmp_path / name / 'mlflow.db'}")
    assert StoreClient("sqlite:///mlflow.db").search_experiments()
    assert (tmp_path / name / "mlflow.db").is_file()


# Folders and nonsense


@pytest.mark.parametrize(
    ("uri", "quoted"),
    [
        ("sqlite:///FOLDER/absent/mlflow.db", ["FOLDER/absent/mlflow.db ", "no folder FOLDER/absent."]),
        ("sqlite:///FOLDER", ["FOLDER ", "SQLite"]),
        ("sqlite:///FOLDER/mlflow.db?timeout=9", ["FOLDER/mlflow.db?timeout=9 ", " ? ", " %"]),
        ("sqlite:///FOLDER/a%41b/mlflow.db", ["FOLDER/a%41b/mlflow.db ", " ? ", " %"]),
        *(
            (uri, [f"{uri!r} ", "not a store: ", "(sqlite:///path/to/", "http address"])
            for uri in (
                *("sqlite://mlflow.db", "sqlite:mlflow.db", "sqlite:", "file:///tmp/mlruns", "./mlruns"),
                *("/tmp/mlruns", "C:\\mlruns", "mlflow.db"),
            )
        ),
    ],
)
def test_an_address_that_is_no_store_is_refused_with_the_reason(uri, quoted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = str(tmp_path)
    line = refused(uri.replace("FOLDER", folder))
    assert [each for each in quoted if each.replace("FOLDER", folder) not in line] == []


@pytest.mark.parametrize(
    "uri",
    [
        *("http://[::1", "postgresql://me:s3cret@host:port/db", "http://"),
        *("sqlite:///x.db?password=s3cret", "folder?token=s3cret", "sqlite:/x?secret=s3cret"),
        "http://127.0.0.1:9/?token=s3cret",
    ],
)
def test_nonsense_is_one_line_without_a_password(uri):
    assert "s3cret" not in refused(uri)


@pytest.mark.parametrize("uri", ["databricks", "databricks://profile", "azureml://region/x"])
def test_addresses_of_other_kinds_are_left_to_mlflow(uri):
    check_reachable(uri)


# Servers


def test_a_server_that_answers(server):
    server.answers["/base/health"] = b"OK"
    check_reachable(f"{server.url}/base/")
    check_reachable(server.url)  # without that page it is a server all the same
    assert server.asked == ["/base/health", "/health"]


def test_a_server_in_trouble(server):
    server.answers["/health"] = lambda handler: handler.send_error(503)
    assert "(HTTP status 503)" in refused(server.url)


def test_a_server_that_is_not_there(silent_port):
    line = refused(f"http://me:s3cret@127.0.0.1:{silent_port}")
    assert f" http://***@127.0.0.1:{silent_port} (ConnectionError). " in line
    assert "--tracking-uri sqlite:///" in line


def test_a_server_that_never_answers(deaf_port, monkeypatch):
    monkeypatch.setattr("adbench_text.store.client.PATIENCE", 0.3)
    assert "(ReadTimeout)" in refused(f"http://127.0.0.1:{deaf_port}")


# Databases


@pytest.mark.parametrize("kind", ["postgresql", "postgresql+psycopg2", "mysql+pymysql"])
def test_a_database_needs_a_server(kind):
    message = refused(f"{kind}://me:s3cret@host:5432/mlflow")
    assert message.startswith(f"'{kind}://***@host:5432/mlflow' ")
    assert re.search("not a store: .* --backend-store-uri ", message)
