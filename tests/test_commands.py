"""Every command of README, docs/ and the measured results is executed, those that train with --dry-run.

They need the real data: the store that they report on has some of its cells.
"""

import csv
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_docs import COMMANDS, code_of_page, with_names_that_exist

from adbench_text.cli.main import main
from adbench_text.errors import PluginError
from adbench_text.text import pretrained

pytestmark = pytest.mark.slow

WORDS = {"sea": "harbour anchor storm sail wave vessel", "law": "court judge verdict appeal statute clause"}
#: In place of the client of a server.
OPENAI = """
from types import SimpleNamespace as Of
from adbench_text.text.encoders import Encoding, fit_encoder

def create(model, input):
    vectors = fit_encoder(Encoding("wordllama", "", False, 1, 0), ["ship"])(input)
    return Of(data=[Of(embedding=vector.tolist()) for vector in vectors])

def OpenAI(**settings):
    return Of(embeddings=Of(create=create))
"""
NOT_HERE = {"ui": "serves until it is stopped", "fetch": "downloads"}


def invoke(command: str, *more: str) -> str:
    result = CliRunner().invoke(main, [*shlex.split(command)[1:], *more], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, data_dir: Path, common: Path) -> Path:
    """A folder with documents, a model and a store, as the commands expect them."""
    folder = tmp_path_factory.mktemp("prepared")
    texts = [
        (kind, f"{word} {other} number {i}")
        for kind, words in WORDS.items()
        for word in words.split()
        for i, other in enumerate(words.split())
    ]
    names = "posts normal new first labelled intents messages last-month this-month"
    for name in names.split():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("queue", "body"), *texts])
    (folder / "mine.py").write_text(
        code_of_page("plug-ins.md", "such as `mine.py`:")
        + code_of_page("reports.md", "so nothing is run again:")
    )
    (folder / "server.py").write_text(code_of_page("detectors.md", "with `pip install openai`:"))
    (folder / "openai.py").write_text(OPENAI)
    (folder / "found.csv").write_text("queue,body\nodd,preheat the oven and beat the eggs\n")
    (folder / "marks.csv").write_text("row,mark\n3,odd\n5,fine\n")
    marked = [
        {"text": text, "label": "normal" if kind == texts[0][0] else "odd", "words": []}
        for kind, text in texts
    ]
    (folder / "marked.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in marked))
    chats = [{"messages": [{"role": "assistant", "content": text}]} for _, text in texts]
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in chats))
    (folder / "benchmarks").mkdir()
    shutil.copy(Path(__file__).parents[1] / "benchmarks" / "rulers.py", folder / "benchmarks")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
        patch.setenv("ADBENCH_TEXT_CACHE", str(common / "cache"))
        patch.setenv("ADBENCH_TEXT_OFFLINE", "1")
        invoke("adbench-text fit normal.csv --text body --model posts-model")
        shutil.copytree("posts-model", "intents-model")
        for detector in ("llr", "iforest"):
            cells = f"--sweep main -d {detector} -s agnews --inlier sci --seed 0 --jobs 0 --no-report"
            invoke(f"adbench-text run {cells}")
        invoke("adbench-text report --format csv --output theirs.csv")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("quick_pydocs", "own_files")
def test_a_command_works(command, prepared, data_dir, common, tmp_path, monkeypatch):
    name = shlex.split(command)[1]
    if name in NOT_HERE:
        pytest.skip(f"it {NOT_HERE[name]}")
    if "hf:" in command:
        pytest.skip("it needs the Hugging Face Hub, or a copy")
    if "minilm" in command and name != "run":
        try:
            pretrained.locate("minilm", None, "cpu", "fp32")
        except PluginError:
            pytest.skip("MiniLM is not installed")
    command = with_names_that_exist(command)
    folder = shutil.copytree(prepared, tmp_path / "here")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("ADBENCH_TEXT_OFFLINE", "1")
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", str(common / "cache"))
    if name == "fit":
        for model in ("posts-model", "intents-model"):
            shutil.rmtree(model)
    if name == "score" and "--encoder" in command:
        invoke("adbench-text fit normal.csv --text body --encoder ./server.py:embed --model server-model")
    if name == "report" and "--ours" in command:
        invoke("adbench-text run -d ./mine.py:Mine -s agnews --inlier sci --contamination 0 --no-report")
    if theirs := re.search(r"scores:([\w-]+)", command):
        of_misc = "-s 20news --inlier misc --contamination 0"
        invoke(f"adbench-text export {of_misc} --to {theirs[1]}")
        (split,) = Path(theirs[1]).rglob("test.jsonl")
        rows = [f"{json.loads(line)['id']},{len(line)}" for line in split.read_text().splitlines()]
        split.with_name("scores.csv").write_text("\n".join(["id,score", *rows]))
        if name == "report":
            invoke(f"adbench-text run -d {theirs[0]} {of_misc}")
    printed = invoke(command, *(["--dry-run"] if name == "run" else []))
    assert printed or "-q" in shlex.split(command)
