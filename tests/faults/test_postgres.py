"""Sweeps by real processes whose MLflow server keeps its runs in PostgreSQL."""

from contextlib import closing

import pytest
from sweep_processes import CELLS, free_port, postgres, printed, server, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """The address of an empty database."""
    pytest.importorskip("psycopg2", reason="there is no psycopg2")
    with postgres(tmp_path_factory.mktemp("postgres"), free_port()) as address:
        if address is None:
            pytest.skip("there is no PostgreSQL (Debian: apt install postgresql)")
        yield address


@pytest.fixture(scope="module")
def stored(tmp_path_factory, database):
    """The folder and the address of a server that four clients have logged a sweep to, at once."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    address = f"--tracking-uri=http://127.0.0.1:{port}"
    with server(folder, port, database):
        racing = [start(folder, address) for _ in range(4)]
        assert [process.wait() for process in racing] == [0] * 4, printed(folder)
        yield folder, address


def rows(database, query=CELLS) -> list:
    import psycopg2

    plain = database.replace("+psycopg2", "")
    with closing(psycopg2.connect(plain)) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return sorted(cursor.fetchall())


def report(folder, *options) -> str:
    (folder / "log").unlink()
    process = start(folder, *options, command=["report", "--format=csv"])
    assert process.wait() == 0, printed(folder)
    return "\n".join(line for line in printed(folder).splitlines() if not line.startswith("store: "))


def test_four_clients_at_once_run_every_cell_and_write_each_summary_once(stored, database, undisturbed):
    assert sorted(set(rows(database))) == undisturbed
    assert rows(database, "SELECT name FROM runs WHERE status = 'RUNNING'") == []
    summaries = "SELECT value FROM tags WHERE key = 'adbench_text.summary'"
    assert len(rows(database, summaries)) == len(set(rows(database, summaries))) == 4


def test_clients_with_journals_of_their_own_count_once_in_a_report(stored, database):
    folder, address = stored
    n_rows, n_before = len(rows(database)), len(set(rows(database)))
    clients = [  # as on two machines
        start(folder, address, "--seed=5", ADBENCH_TEXT_CACHE=str(folder / f"cache of {name}"))
        for name in ("one", "other")
    ]
    assert [process.wait() for process in clients] == [0, 0], printed(folder)
    assert n_rows + 12 <= len(rows(database)) <= n_rows + 24
    cells = report(folder, address).splitlines()
    assert sum(line.startswith("counting,") for line in cells) == n_before + 12
