"""A type checker finds no error in the Python code of the pages, and finds wrong names and words."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from test_docs import PAGES, ROOT

pytest.importorskip("basedpyright", reason="basedpyright is in the extra test")

_INDENTED = re.compile(r"^(?:    .*\n(?:[ \t]*\n)*)+", re.MULTILINE)
_FENCED = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^(?:from [\w.]+ import |import \w|def \w+\(|class \w+)", re.MULTILINE)

# names that the reader of a page has
GIVEN = """\
import numpy as np
from numpy.typing import NDArray

texts: list[str]
training_texts: list[str]
normal_texts: list[str]
odd_texts: list[str]
new_texts: list[str]
y: list[float]
labels: NDArray[np.int64]
"""
# libraries that a reader of these pages has
NOT_NEEDED = ("openai", "adbench.run", "IPython.display", "pyspark.sql")
ANY_NAME = "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n"

WRONG = """\
odd_documents(texts, by="word")
odd_documents(texts, marks={3: "fin"})
odd_documents(texts, groups=3)
Scorer(model, by="forms")
Cleaner().transform(3)
CVDD(score="best")
CVDD(device="gpu")
DATE(vocabulary="bert")
DATE(generator="tiny")
DATE(score="log-odds")
DATE(precision="fp16")
OCSVM(kernel="poly")
OCSVM(encoder_device="gpu")
OCSVM(encoder_precision="fp16")
LLR(background="glove")
LLR(capp=3)
LLR(encoder="svd")
OCSVM(encodr="svd")
LLR().token_scors(texts)
LLR().predict_proba(texts, method="none")
LLR().threshold_.fit
Mine.protocol = "one-vs-all"
"""
IN_WRONG_CELL = "wrong 1"  # cells count from 0
RIGHT = """\
import numpy as np
import pandas as pd
from adbench_text import CVDD, DATE, LLR, OCSVM, Cleaner, Dataset, Scorer, fit_model, odd_documents

class Mine(Dataset):
    protocol = "rank-all"

column = pd.DataFrame({"text": texts})["text"]
model = fit_model(column, outliers=column)
odd_documents(column, by="both", marks=dict.fromkeys([1, 2], "odd"), groups=column)
odd_documents(lambda: iter(texts), LLR(contamination=0.05, random_state=0), by=None)
Scorer(model, by="form").score(column)
OCSVM(kernel="linear", encoder="svd", contamination=0.05).fit(column).predict(np.array(texts))
LLR().fit(Cleaner().transform(column)).decision_scores_.mean()
"""


def code_of(page: Path) -> list[str]:
    """The blocks of Python code of a page, in order."""
    text = page.read_text()
    blocks = [*map(textwrap.dedent, _INDENTED.findall(text)), *_FENCED.findall(text)]
    return [block for block in blocks if _PYTHON.search(block)]


def notebook_of(blocks: list[str]) -> str:
    """A notebook of blocks: the later ones know the names of the earlier ones."""
    cells = [
        {
            "cell_type": "code",
            "source": block.splitlines(keepends=True),
            "metadata": {},
            "outputs": [],
            "execution_count": 1,
        }
        for block in blocks
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def write_project(folder: Path) -> None:
    """Write the code of all pages, what surrounds it, and wrong code."""
    for page in PAGES:
        if page.suffix == ".ipynb":
            (folder / page.name).write_text(page.read_text())
        elif blocks := code_of(page):
            (folder / f"{page.stem}.ipynb").write_text(notebook_of(blocks))
    (folder / "__builtins__.pyi").write_text(GIVEN)
    for module in NOT_NEEDED:
        stub = folder / "typings" / module.replace(".", "/") / "__init__.pyi"
        stub.parent.mkdir(parents=True)
        stub.write_text(ANY_NAME)
    (folder / "wrong.ipynb").write_text(notebook_of([RIGHT, WRONG]))
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')


def install(site: Path) -> None:
    """Link the folders as a wheel has them."""
    (site / "adbench_text").mkdir(parents=True)
    plugins = (ROOT / name for name in ("detectors", "datasets", "reports"))
    for path in (*(ROOT / "adbench_text").iterdir(), *plugins):
        (site / "adbench_text" / path.name).symlink_to(path)


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, str]]:
    """The file, or the notebook and its cell, of each error; its line and its message."""
    folder, site = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("site")
    write_project(folder)
    install(site)
    options = ["--level", "error", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [sys.executable, "-m", "basedpyright", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(site)},
    )
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] > 10, done.stderr
    return [
        (f"{Path(each['file']).stem} {each.get('cell', '')}", each["range"]["start"]["line"], each["message"])
        for each in found["generalDiagnostics"]
    ]


@pytest.mark.slow
def test_the_code_of_the_pages_and_right_code_have_no_errors(errors):
    assert [error for error in errors if error[0] != IN_WRONG_CELL] == []


@pytest.mark.slow
def test_each_wrong_line_is_an_error(errors):
    found = {line for name, line, _ in errors if name == IN_WRONG_CELL}
    right = [line for number, line in enumerate(WRONG.splitlines()) if number not in found]
    assert right == []


def test_the_pages_have_code():
    with_code = {page.stem for page in PAGES if page.suffix == ".md" and code_of(page)}
    assert {"detectors", "mlflow", "own-text", "plug-ins", "python", "reports"} <= with_code
