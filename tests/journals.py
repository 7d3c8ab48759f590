"""Databases whose writer was killed."""

import subprocess
import sys
from pathlib import Path

_WRITER = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("CREATE TABLE big AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n"
                 " LIMIT 99999) SELECT x FROM n")
database.execute("PRAGMA cache_size = 1")
database.execute("BEGIN")
database.execute("UPDATE big SET x = 0")
os._exit(9)
"""


def kill_writer(path: Path) -> None:
    """Let a process die while it changes a table of its own: its journal stays beside the database."""
    subprocess.run([sys.executable, "-c", _WRITER, str(path)], check=False)
    assert path.with_name(f"{path.name}-journal").stat().st_size > 0
