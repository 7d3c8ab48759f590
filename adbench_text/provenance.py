"""What a result depends on besides its parameters: the code of the detector and the environment."""

import ast
import hashlib
import platform
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adbench_text import __version__

# What a detector imports of ours but what cannot change its scores.
_PLUMBING = {f"adbench_text{name}" for name in ("", ".errors", ".provenance", ".shared", ".storage")}
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyod", "gensim", "torch", "tokenizers", "mlflow", "wordfreq")


@cache
def code_version(detector: Any) -> str:
    """Digest the code of a detector or dataset: its module and what that imports, step by step.

    Modules of its own package and of this one, that is. Comments, docstrings and layout do not
    count; everything else does, so that a changed method is never mistaken for the one that made
    an earlier result. 16 hexadecimal digits.
    """
    module = detector.__module__
    tops = {"adbench_text", module.partition(".")[0]}
    state = hashlib.sha256(detector.__qualname__.encode())
    todo, done = [module], set(_PLUMBING)
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        tree = _parse(name)
        if tree is not None:
            state.update(f"{name}\n{ast.dump(_without_docstrings(tree))}".encode())
            todo += sorted((i for i in _imports(tree, name) if i.partition(".")[0] in tops), reverse=True)
    return state.hexdigest()[:16]


def _parse(module: str) -> ast.Module | None:
    try:
        spec = find_spec(module)
        return ast.parse(Path(str(spec.origin)).read_bytes()) if spec and spec.origin else None
    except (ImportError, AttributeError, OSError, SyntaxError, ValueError):
        return None  # not a module, or one without a source file


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            del node.body[0]
    return tree


def _imports(tree: ast.Module, module: str) -> set[str]:
    """Return all that a module imports, wherever in it; of ``from a import b`` both a and a.b."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # relative to the package: of a module its parent, of a package (whose __init__ this is) itself
            bases = {node.module or ""}
            if node.level:
                above = [module.rsplit(".", node.level)[0], module.rsplit(".", max(node.level - 1, 0))[0]]
                bases = {".".join(filter(None, (base, node.module))) for base in above}
            for base in bases:
                found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return found


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"


@cache
def environment() -> dict[str, str]:
    """Return versions and machine, for the record of every run."""
    record = {"adbench-text": __version__, "python": platform.python_version()}
    record |= {name: _version(name) for name in _LIBRARIES}
    record["platform"] = f"{platform.system()} {platform.machine()}, {_processor()}"
    return record


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


@cache
def git_commit() -> str | None:
    """Return the commit of the checkout this package runs from (with ``-dirty``), None elsewhere."""
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        return None
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()


def command_line() -> str:
    """Return the command that is running, as the user typed it."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
