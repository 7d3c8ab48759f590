"""README and the pages of docs/: every link leads somewhere, and every command is understood."""

import json
import re
import runpy
import shlex
import textwrap
from itertools import pairwise, takewhile
from pathlib import Path

import click
import pytest

import adbench_text
from adbench_text.cli.main import main
from adbench_text.reports.files import MEASURED
from adbench_text.run import sweep_file

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/gallery/*.ipynb"),
        *ROOT.glob("reports/results/*.md"),
    ]
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMES = {str(page.relative_to(ROOT)): page for page in PAGES}


def anchors(page: Path) -> set[str]:
    """The anchors that its headings have on the web."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_a_page_and_to_a_heading_of_it(name):
    page = NAMES[name]
    dead = []
    for link in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("name", NAMES)
def test_headings_leave_out_no_level(name):  # or else Sphinx warns
    text = re.sub(r"^```.*?^```", "", NAMES[name].read_text(), flags=re.MULTILINE | re.DOTALL)
    levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
    assert all(below - above <= 1 for above, below in pairwise(levels))


def commands(page: Path) -> list[str]:
    """The commands of a page that begin with adbench-text, also in a container, each on its own."""
    text = re.sub(r"\\\n\s*", " ", page.read_text())  # a command over several lines
    start = r"^    (?:\$ |docker run (?!.*--entrypoint).* )?"
    lines = re.findall(rf"{start}(adbench-text .*)$", text, re.MULTILINE)
    lines = [re.split(r"\s+#|\s[|>]\s", line)[0] for line in lines]
    return [part.strip() for line in lines for part in line.split(";")]


def code_of_page(page: str, before: str) -> str:
    """The indented code of a page after a line that ends like this."""
    _, _, after = (ROOT / "docs" / page).read_text().partition(f"{before}\n\n")
    lines = takewhile(lambda line: not line.strip() or line.startswith("    "), after.splitlines())
    return textwrap.dedent("\n".join(lines)) + "\n"


def with_names_that_exist(command: str) -> str:
    """A command with plug-ins of this package in the places of those that a reader writes."""
    return command.replace("rare-words", "ocsvm").replace("sea-law", "pydocs")


COMMANDS = sorted({command for page in PAGES for command in commands(page)})


def parse(words: list[str]) -> None:
    """Parse a command without running it."""
    with main.make_context("adbench-text", words) as context:
        name, found, rest = main.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        with found.make_context(name, rest, parent=context):
            pass


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_a_name_and_options_that_exist(command, home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(with_names_that_exist(command))[1:]
    for word in words:
        if word.endswith((".csv", ".jsonl")):
            Path(word).touch()
    parse(words)


def test_there_are_commands_and_a_wrong_one_is_noticed():
    assert len(COMMANDS) > 50
    with pytest.raises(click.UsageError):
        parse(["run", "--detektor", "llr"])


def test_the_pages_install_the_torch_of_the_constraints():
    pinned = set(re.findall(r"^torch==.+", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    named = {each for page in PAGES for each in re.findall(r"torch==[\d.]+\d", page.read_text())}
    assert named == pinned


@pytest.mark.parametrize(
    ("page", "start", "end", "known"),
    [
        ("benchmark.md", "list sweeps`", "You can write your own", sweep_file.names()),
        ("python.md", "sweeps are part of the package", "It also takes", MEASURED),
    ],
)
def test_the_sweeps_that_a_page_lists_are_those_of_the_code(page, start, end, known):
    _, _, after = (ROOT / "docs" / page).read_text().partition(start)
    listed = re.findall(r"`(\w+)`(?! trains)", after.partition(end)[0])
    assert sorted(listed) == sorted(known)


def test_the_site_shows_options_and_quotes_as_they_are_typed():
    assert runpy.run_path(str(ROOT / "docs" / "conf.py"))["smartquotes"] is False


def test_the_reference_has_a_page_for_every_public_name():
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs/reference.md").read_text(), re.MULTILINE)
    assert sorted([*listed, "__version__"]) == sorted(adbench_text.__all__)


def test_no_class_of_the_reference_sends_its_reader_to_a_module_that_has_no_page():
    """The configuration of Sphinx puts the head of a module in place of a first line that ends like this."""
    ending = re.compile(r"\A[^\n]* see the head of the module\.(?=\n|\Z)")
    documented = [getattr(adbench_text, name).__doc__ for name in adbench_text.__all__]
    assert any(map(ending.search, documented))
    assert not any("head of the module" in ending.sub("", text) for text in documented)


def test_the_tests_that_the_page_on_security_names_exist():
    text = " ".join((ROOT / "SECURITY.md").read_text().split())
    named = re.findall(r"`(tests/\S+\.py)`: ((?:`test_\w+`(?:, )?)+)", text)
    missing = [
        (file, name)
        for file, names in named
        for name in re.findall(r"\w+", names)
        if f"\ndef {name}(" not in (ROOT / file).read_text()
    ]
    assert len(named) == len(re.findall(r"`tests/", text)) > 10
    assert missing == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/gallery/*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_keeps_its_outputs_and_pictures(path):
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert all(cell["execution_count"] for cell in cells)
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert any("image/png" in output.get("data", {}) for output in outputs)
