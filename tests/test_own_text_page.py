"""The sessions of docs/own-text.md and docs/every-night.md, run as they are written, one after the other."""

import csv
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from shutil import copy, copytree

import pytest
from test_docs import code_of_page

DOCS = Path(__file__).parents[1] / "docs"
WORDS = " ".join((DOCS / "own-text.md").read_text(encoding="utf-8").split())
PROGRESS = re.compile(
    "(reading|scoring|explaining|writing|finding (languages|what grew))"
)  # on a slow machine
SECONDS = re.compile(r"; \d+\.\d s$")
NUMBER = re.compile(r"\d+(?:\.\d+(?:e-\d+)?|e-\d+)")
SERVER = ("MLFLOW_TRACKING_URI", "curl")  # begin the commands that start one, or ask it
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # a dozen commands on a slow machine


def session(page):
    """Return the commands of a page that follow a $, and the lines that are shown below each."""
    found, shown = [], None
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("    $ "):
            shown = []
            found.append((line.removeprefix("    $ "), shown))
        elif line.startswith("    ") and shown is not None:
            shown.append(line.removeprefix("    "))
        else:
            shown = None
    return found


def run(folder, line, **variables):
    """Run a line in a shell; what it prints on both streams is in `stdout`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path} | variables
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environment, check=False, **streams)


def alike(printed, shown):
    """Whether a line is the one shown, but for rounding: processors differ in k-means, where topics start."""
    printed, shown = SECONDS.sub("", printed.rstrip()), SECONDS.sub("", shown)
    numbers = [[*map(float, NUMBER.findall(line))] for line in (printed, shown)]
    return NUMBER.split(printed) == NUMBER.split(shown) and numbers[0] == pytest.approx(numbers[1], rel=0.1)


def follow(folder, page):
    """Run the session of a page, and return the first command that prints something else than the page."""
    code = 0
    for command, shown in session(page):
        if command.startswith(SERVER) or "--log-model" in command:
            continue
        width = max((len(line) for line in shown if line.startswith(" ")), default=100)  # of a table
        done = run(folder, f"(exit {code}); {command}", COLUMNS=str(width))
        code = done.returncode
        printed = [line for line in done.stdout.splitlines() if not PROGRESS.match(line)]
        if len(printed) != len(shown) or not all(map(alike, printed, shown)):
            return command, printed
        if "--example" in command:
            copy(folder / "odd.csv", folder / "example.csv")
    return None


@pytest.fixture(scope="module")
def folder(data_dir, tmp_path_factory):
    """A folder in which the session of the first page was run."""
    folder = tmp_path_factory.mktemp("posts")
    for name in ("files.py", "months.py"):
        (folder / name).write_text(code_of_page("own-text.md", f"`{name}`:"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
        patch.setenv("ADBENCH_TEXT_CACHE", str(folder / "cache"))
        patch.setenv("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
        assert follow(folder, "own-text.md") is None
        yield folder


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_the_first_page_says_what_is_found(folder):
    rows = rows_of(folder / "example.csv")
    planted = [row for row in rows if row["planted"]]
    names = "p_both", "p", "p_form"
    n_odd, n_words, n_form = (sum(float(row[name]) <= 0.01 for row in planted) for name in names)
    assert f"Of the 18 documents called odd, {n_odd} are planted" in WORDS
    assert f"odd topics ({n_words} of 18 are planted)" in WORDS
    assert f"raw text ({n_form} of 18)" in WORDS
    assert [row["rank"] for row in planted if row["planted"] == "recipe"] == ["12", "18"]
    assert "two recipes rise from the twelfth and the eighteenth place" in WORDS


def test_the_model_finds_the_planted_documents(folder):
    planted = {row["id"] for row in rows_of(folder / "new.csv") if row["planted"]}
    scored = [json.loads(line) for line in (folder / "scored.jsonl").read_text().splitlines()]
    odd = {document["id"] for document in scored if document["odd"]}
    assert f"{len(odd)} are called odd, among them all {len(planted & odd)} planted ones" in WORDS
    assert len(planted & odd) == 20
    assert "D1660" in (folder / "page.html").read_text(encoding="utf-8")


@pytest.fixture
def nights(folder, tmp_path):
    """A copy of the folder."""
    return copytree(folder, tmp_path / "nights")


def test_the_nights_print_what_the_page_shows(nights):
    assert follow(nights, "every-night.md") is None


FILES = {
    "usual": (0, lambda rows: rows),
    "more-columns": (0, lambda rows: [{**row, "subject": "none of three words"} for row in rows]),
    "other-name": (0, lambda rows: [{"id": row["id"], "message": row["body"]} for row in rows]),
    "no-identifiers": (0, lambda rows: [{"body": row["body"]} for row in rows]),
    "two-texts": (2, lambda rows: [{"message": row["body"], "reply": row["body"]} for row in rows]),
    "header-alone": (1, lambda rows: []),
}


def test_the_nights_end_as_the_page_says(nights):
    """Usual nights are quiet; after an error the table of the night before is there."""
    usual = [row for row in rows_of(nights / "new.csv") if not row["planted"]]
    cron = next(
        line.removeprefix("    0 2 * * * ")
        for line in (DOCS / "every-night.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("    0 2 * * * ")
    )
    cron = cron.replace("/srv/posts", str(nights)).replace(".venv/bin", str(Path(sys.executable).parent))
    for name, (code, changed) in FILES.items():
        rows = changed(usual)
        with (nights / "new.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, [*(rows[0] if rows else usual[0])])
            writer.writeheader()
            writer.writerows(rows)
        (nights / "scored.jsonl").write_text("before")
        done = run("/", cron, PATH="/usr/bin:/bin")
        assert done.returncode == code, (name, done.stdout)
        assert bool(done.stdout) == (code > 0 or name == "other-name"), (name, done.stdout)
        assert ((nights / "scored.jsonl").read_text() == "before") == (code > 0), name
    for missing in ("new.csv", "posts-model/model.json"):
        (nights / missing).unlink()
        assert run("/", cron).returncode == 1, missing


def test_a_column_that_is_named_is_not_replaced_by_another(nights):
    assert run(nights, "sed -i 1s/body/message/ new.csv").returncode == 0
    assert run(nights, "adbench-text score posts-model new.csv --text body -q -o a.csv").returncode == 2
    assert not (nights / "a.csv").exists()


def test_mlflow_serves_the_model(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    (register, registered), (serve, _), (ask, shown) = session("own-text.md")[-3:]
    assert run(folder, register).stdout.splitlines() == registered
    assert serve.startswith(SERVER[0])
    environment = os.environ | {"MLFLOW_ALLOW_PICKLE_DESERIALIZATION": "false"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with subprocess.Popen(
        ["bash", "-c", serve.replace("5055", port)], cwd=folder, env=environment, start_new_session=True
    ) as server:
        try:
            answer = wait_for(folder, server, ask.replace("5055", port))
        finally:
            os.killpg(server.pid, signal.SIGTERM)
    assert alike(answer, *shown)


def wait_for(folder, server, ask):
    """Send a request until the server answers."""
    assert shlex.split(ask)[0] == "curl"
    for _ in range(120):
        assert server.poll() is None, "the server ended"
        done = run(folder, f"{ask} --silent")
        if done.returncode == 0:
            return done.stdout
        time.sleep(1)
    raise AssertionError("no answer within two minutes")
