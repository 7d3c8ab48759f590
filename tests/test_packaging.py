"""The wheel holds what the folders hold; the command starts quickly and light."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("adbench_text", "detectors", "datasets", "reports")
SOURCES = (".py", ".json", ".toml", ".html", ".css", ".js", ".typed")


def in_folders() -> set[str]:
    found = set()
    for folder in FOLDERS:
        prefix = "" if folder == "adbench_text" else "adbench_text/"
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SOURCES or path.name == "py.typed":
                found.add(prefix + path.relative_to(ROOT).as_posix())
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # setuptools is taken from this environment, so that nothing is downloaded
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in (*FOLDERS, "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        origin = ROOT / name
        if origin.is_dir():
            shutil.copytree(origin, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(origin, source / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return next(out.glob("*.whl"))


def test_the_wheel_holds_what_the_folders_hold(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == in_folders()


def test_the_wheel_works_where_it_is_unpacked(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        "import adbench_text, importlib; from adbench_text.plugins import registry;"
        "print(adbench_text.__file__); print(registry.names('datasets'));"
        "print(registry.detector('llr').__module__);"
        "print(registry.load('reports', 'csv').__file__);"
        "from adbench_text.reports.published import columns; print(len(columns('auroc')))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = ran.stdout.splitlines()
    assert lines[0].startswith(str(tmp_path))
    assert lines[1] == "['20news', 'agnews', 'pydocs']"
    assert lines[2] == "adbench_text.detectors.llr"
    assert lines[3].startswith(str(tmp_path))


def test_nothing_is_installed_under_a_bare_name(wheel):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"adbench_text"}


def modules_after(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_the_command_line_imports_nothing_heavy():
    heavy = {"numpy", "pandas", "sklearn", "torch", "mlflow", "pyod", "rich", "gensim"}
    assert not heavy & modules_after("import adbench_text.cli.main")


def test_torch_is_imported_by_nothing_but_a_detector_that_needs_it():
    code = (
        "from adbench_text.cli import main; from adbench_text.run import engine, evaluate, runner;"
        "from adbench_text.store import store; from adbench_text.plugins import registry, vector_detector;"
        "[registry.detector(n) for n in ('llr', 'ocsvm', 'iforest', 'pyod-ecod')];"
        "[registry.dataset(n) for n in registry.names('datasets')]"
    )
    assert "torch" not in modules_after(code)


def test_every_folder_but_the_core_is_a_namespace_without_init():
    for folder in FOLDERS[1:]:
        assert not (ROOT / folder / "__init__.py").exists()


def test_what_the_code_imports_is_declared():
    import ast
    import tomllib
    from importlib.metadata import packages_distributions

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {d.split(">")[0].lower() for d in project["dependencies"]}
    imported = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported.add(node.module.partition(".")[0])
    distributions = packages_distributions()
    third_party = imported - set(sys.stdlib_module_names) - {"adbench_text"}
    undeclared = {name for name in third_party if declared.isdisjoint(map(str.lower, distributions[name]))}
    assert not undeclared
