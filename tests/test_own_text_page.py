"""The session of docs/own-text.md, run as it is written, on posts of 20 Newsgroups."""

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

import numpy as np
import pytest

from adbench_text.datasets.newsgroups20 import Newsgroups20
from adbench_text.metrics import auroc

PAGE = Path(__file__).parents[1] / "docs" / "own-text.md"
BLOCK = [line.removeprefix("    ") for line in PAGE.read_text().splitlines() if line.startswith("    ")]
WORDS = " ".join(PAGE.read_text().split())


def command(start):
    """Return the command of the page that begins so."""
    found = [line.removeprefix("$ ") for line in BLOCK if line.removeprefix("$ ").startswith(start)]
    assert found, f"the page has no command that begins with {start!r}"
    return found[0]


def run(folder, line):
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )


def environment():
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path}


@pytest.fixture(scope="module")
def folder(data_dir, tmp_path_factory):
    """A folder with posts.csv, normal.csv, new.csv and labelled.csv."""
    folder = tmp_path_factory.mktemp("posts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
        (texts, groups), _ = Newsgroups20().posts()
    draw = np.random.default_rng(0)
    is_rec = np.array([group.startswith("rec.") for group in groups])
    rec, others = np.flatnonzero(is_rec), np.flatnonzero(~is_rec)
    mixed = draw.permutation(np.concatenate([rec, draw.permutation(others)[: len(rec) // 9]]))
    rows = [(f"P{row}", groups[row], texts[row]) for row in mixed]
    write(folder / "posts.csv", rows)
    rec_rows = [row for row in rows if row[1].startswith("rec.")]
    other_rows = [row for row in rows if not row[1].startswith("rec.")]
    write(folder / "normal.csv", rec_rows[:1500])
    write(folder / "new.csv", sorted([*rec_rows[1500:1900], *other_rows[:40]], key=rows.index))
    queues = ("rec.autos", "rec.motorcycles", "rec.sport.baseball")
    write(folder / "labelled.csv", [row for row in rec_rows if row[1] in queues], label="queue")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
        patch.setenv("ADBENCH_TEXT_CACHE", str(folder / "cache"))
        yield folder


def write(path, rows, label="group"):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("id", label, "body"), *rows])


def test_odd_prints_what_the_page_shows(folder):
    line = command("adbench-text odd --example")
    first = BLOCK.index("$ " + line) + 1
    shown = BLOCK[first : BLOCK.index("All documents: odd.csv. Page: odd.html.") + 1]
    width = max(map(len, shown))
    printed = run(folder, f"COLUMNS={width} {line}").stdout.splitlines()
    assert [without_seconds(each) for each in printed] == [without_seconds(each) for each in shown]
    with (folder / "odd.csv").open(newline="", encoding="utf-8") as stream:
        planted = [row for row in csv.DictReader(stream) if row["planted"]]
    by_words = {row["row"] for row in planted if row["odd"] == "1"}
    by_form = {row["row"] for row in planted if float(row["p_form"]) <= 0.01}
    assert (
        f"{len(by_words)} of the 18 documents called odd by words are such, {len(by_form)} by form" in WORDS
    )
    assert "all 20 by one of the two" in WORDS
    assert len(by_words | by_form) == len(planted) == 20


def test_the_posts_have_the_auroc_of_the_page(folder):
    run(folder, "adbench-text odd posts.csv --text body -q")
    with (folder / "odd.csv").open(newline="") as stream:
        scored = [row for row in csv.DictReader(stream) if row["score"]]
    is_odd = np.array([not row["group"].startswith("rec.") for row in scored])
    area = 100 * auroc(is_odd, np.array([float(row["score"]) for row in scored]))
    assert f"the AUROC of the scores is {area:.1f} %" in WORDS


def without_seconds(line):
    return re.sub(r"\d+\.\d s$", "", line).rstrip()


def test_a_model_scores_new_posts_and_shows_the_most_odd(folder):
    run(folder, command("adbench-text fit normal.csv"))
    run(folder, command("adbench-text score posts-model new.csv"))
    scored = [json.loads(line) for line in (folder / "scored.jsonl").read_text().splitlines()]
    shown = json.loads(command('{"id"'))
    same = next(document for document in scored if document["id"] == shown["id"])
    # topics start from k-means, which another processor rounds differently
    near = {name: pytest.approx(shown[name], rel=0.1) for name in ("score", "p", "p_form", "p_both")}
    assert same == shown | near
    assert same["id"] in (folder / "page.html").read_text()


def test_classes_are_a_dataset(folder):
    result = run(folder, command("adbench-text run -d llr -d knn-words -s files:labelled.csv"))
    assert "24 cells run" in result.stderr


@pytest.mark.slow
def test_mlflow_serves_the_model(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    register = command("adbench-text fit normal.csv --text body --model posts-model --log-model")
    serve = command("MLFLOW_TRACKING_URI")
    run(folder, register.replace("posts-model", "served-model"))
    with subprocess.Popen(
        ["bash", "-c", serve.replace("5055", port)],
        cwd=folder,
        env=environment() | {"MLFLOW_ALLOW_PICKLE_DESERIALIZATION": "false"},
        start_new_session=True,
    ) as server:
        try:
            ask = command("curl").replace("5055", port).replace('"..."', '"Preheat the oven, grease the pan"')
            answer = wait_for(folder, server, ask)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
    assert answer["predictions"][0]["odd"] is True


def wait_for(folder, server, ask):
    """Send a request until the server answers."""
    assert shlex.split(ask)[0] == "curl"
    for _ in range(120):
        assert server.poll() is None, "the server ended"
        done = subprocess.run(["bash", "-c", ask], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return json.loads(done.stdout)
        time.sleep(1)
    raise AssertionError("no answer within two minutes")
