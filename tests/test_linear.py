"""Whatever is in a text, reading it takes linear time: quadratic time would exceed the limit of a test."""

import ast
import runpy
from pathlib import Path

import pytest

from adbench_text.cli.file_rows import FileRows
from adbench_text.errors import UnknownNameError
from adbench_text.reading.documents import DocumentFile

ROOT = Path(__file__).parents[1]
linear = runpy.run_path(str(ROOT / "benchmarks" / "linear.py"))

# quadratic code takes minutes for so many characters, linear code a tenth of a second
N_CHARACTERS = 400_000
pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("module", linear["modules"]())
def test_a_pattern_ends_whatever_it_reads(module):
    for name, pattern in linear["patterns"](module).items():
        attacks = linear["Attacks"](pattern)
        for used in linear["uses"](module, name):
            for attack in attacks.slowest(used):
                used(pattern, attacks.text(attack, N_CHARACTERS))


@pytest.mark.parametrize(("name", "kind"), [*linear["FILES"], ("cells.csv", "columns")])
def test_a_file_is_read_whatever_is_in_it(name, kind, tmp_path):
    content = {**linear["FILES"], **linear["OTHERS"]}[name, kind](3 * N_CHARACTERS // 4)
    linear["read"](linear["written"](tmp_path, name, content))


@pytest.mark.slow
def test_a_table_of_many_columns_is_made(tmp_path):
    names = ["text", *(f"c{number}" for number in range(40_000))]
    (tmp_path / "a.csv").write_text(f"{','.join(names)}\nship\n")
    file = DocumentFile(str(tmp_path / "a.csv"))
    assert list(FileRows(file, file.table()).columns(keep_all=True)) == names


@pytest.mark.parametrize("name", ["no_formula", "html_text", "without_password", "names_in"])
def test_a_text_is_read_whatever_is_in_it(name):
    for again in linear["AGAIN"]:
        linear["attacked"](linear["TEXTS"][name], again, N_CHARACTERS)()


def test_a_long_name_that_is_unknown_is_refused():
    known = ["b" * N_CHARACTERS, "a" * 90, "ab" * (N_CHARACTERS // 2)]
    assert "Did you mean" not in str(UnknownNameError("column", "ba" * (N_CHARACTERS // 2), known))
    assert f"Did you mean '{known[1]}'?" in str(UnknownNameError("column", "a" * 89, known))


def test_each_pattern_is_compiled_where_its_time_is_measured():
    """At the top of a module, or in a function that returns it."""
    for folder in linear["FOLDERS"]:
        for path in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(path.read_bytes())
            inner = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            returning = [each for each in inner if each.returns and "re.Pattern" in ast.unparse(each.returns)]
            within = {call for each in inner if each not in returning for call in calls_of_re(each)}
            assert not within - {"escape"}, path


def calls_of_re(tree: ast.AST) -> set[str]:
    """Return the functions of the module re that are called."""
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    attributes = [each for each in called if isinstance(each, ast.Attribute)]
    return {each.attr for each in attributes if isinstance(each.value, ast.Name) and each.value.id == "re"}
