"""Which folder may import from which."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from adbench_text.plugins import registry
from adbench_text.reports.contents import FORMATS

ROOT = Path(__file__).parents[1]
FLOORS = ("ground", "text", "reading", "contract", "pages", "plugins", "corpora", "run", "store", "cli")
ALLOWED = {floor: set(FLOORS[: i + 1]) for i, floor in enumerate(FLOORS)} | {
    "testing": {"ground", "text", "contract", "plugins", "corpora", "testing"},
    "detectors": {"ground", "text", "contract", "plugins", "detectors"},
    "datasets": {"ground", "text", "contract", "plugins", "datasets"},
    "documents": {"ground", "text", "reading", "contract", "pages", "plugins", "store", "documents"},
    "reports": {"ground", "contract", "pages", "plugins", "corpora", "run", "store", "reports"},
}
ALLOWED["cli"] |= {"documents", "reports", "testing"}
# Within reports: formats render a report, figures draw plain data.
WITHIN_REPORTS = {"formats": {"formats", "report", "wrapping"}, "figures": {"figures", "wrapping"}}
FORM = (
    "cli/document_tables",
    "cli/fit",
    "cli/odd_sentences",
    "cli/score_sentences",
    "documents/detector_pair",
    "documents/fitting",
    "documents/learning",
    "documents/lists",
    "documents/parts",
    "documents/ranking",
    "documents/rule",
    "documents/scores_by_order",
    "documents/scoring",
    "documents/models/model",
    "documents/page",
    "orders",
)
LIBRARIES = {
    "mlflow": ("adbench_text/store/", "adbench_text/documents/models/registered.py"),
    "torch": ("detectors/",),
}


def sources() -> list[str]:
    folders = ("adbench_text", "detectors", "datasets", "reports")
    return sorted(str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*.py"))


def module_of(path: str) -> str:
    """The name that a file is imported by."""
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return dotted if dotted.startswith("adbench_text") else f"adbench_text.{dotted}"


def floor_of(module: str) -> str:
    top = module.removeprefix("adbench_text").removeprefix(".").partition(".")[0]
    return top if top in ALLOWED else "ground"


@cache
def imports(path: str) -> set[str]:
    """What a file imports, in functions too: of ``from a import b`` the name a.b."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_each_folder_imports_only_from_those_before_it():
    breaches = set()
    for path in sources():
        floor = floor_of(path.removesuffix(".py").replace("/", "."))
        ours = {floor_of(module) for module in imports(path) if module.startswith("adbench_text")}
        breaches |= {f"{path} -> {other}" for other in ours - ALLOWED[floor]}
    assert breaches == set()


def test_no_module_is_in_a_circle_of_imports():
    """Imports in functions and for type checkers count, too."""
    paths = {module_of(path): path for path in sources()}
    named = {module: imports(path) for module, path in paths.items()}
    graph = {
        module: {name if name in paths else name.rpartition(".")[0] for name in names} & paths.keys()
        for module, names in named.items()
    }
    assert "adbench_text.run.sweep" in graph["adbench_text.run.sweep_options"]
    TopologicalSorter(graph).prepare()  # CycleError names the modules of a circle


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_is_imported_only_where_it_belongs(library):
    users = [p for p in sources() if any(module.partition(".")[0] == library for module in imports(p))]
    assert users
    assert [path for path in users if not path.startswith(LIBRARIES[library])] == []


@pytest.mark.parametrize("folder", WITHIN_REPORTS)
def test_formats_and_figures_know_nothing_else_of_reports(folder):
    paths = [path for path in sources() if path.startswith(f"reports/{folder}/")]
    modules = {m.split(".")[2] for p in paths for m in imports(p) if m.startswith("adbench_text.reports.")}
    assert modules == WITHIN_REPORTS[folder]


def test_the_harness_knows_no_plug_in_by_name():
    names = {*registry.plugins("detectors"), *registry.plugins("datasets"), *FORMATS}
    known = {
        f"{path}: {node.value}"
        for path in sources()
        if path.startswith("adbench_text/")
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    }
    # defaults of --format and --detector, suffixes of files, the package PyOD, an encoder of that name,
    # the variable of --format, the page that a report leads to; form is what documents are odd by besides
    # words, and the detector of it; dates of documents are counted
    assert known <= {
        *(f"adbench_text/{path}.py: form" for path in FORM),
        "adbench_text/cli/kept.py: csv",
        "adbench_text/cli/odd.py: csv",
        "adbench_text/cli/odd.py: html",
        "adbench_text/plugins/configure.py: ensemble",
        "adbench_text/reading/mail.py: html",
        "adbench_text/reading/source.py: csv",
        "adbench_text/cli/report.py: form",
        "adbench_text/cli/report.py: html",
        "adbench_text/cli/report.py: terminal",
        "adbench_text/plugins/pyod_detector.py: pyod",
        "adbench_text/reading/dates.py: date",
        "adbench_text/provenance.py: pyod",
        "adbench_text/text/encoders.py: mean",
    }
