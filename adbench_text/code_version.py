"""Digests of code: what can change the scores of a detector, and the protocol that measures all of them.

A digest is over the definitions (functions, classes, constants) that a detector reaches, step by step,
in its own package and in this one. Only what can change a score counts. Comments, docstrings, layout,
annotations, messages, the names of modules and the place of a definition do not.
"""

import ast
import copy
import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, TypeVar

T = TypeVar("T")
#: Annotates a constant that is no part of a method: ``DOWNLOADS: Fact[dict[str, str]] = ...``.
Fact = Annotated[T, "decides no score"]

# Modules that cannot change a score. That they are used counts, what they do does not.
_PLUMBING = {
    *("adbench_text.checks", "adbench_text.code_version", "adbench_text.errors", "adbench_text.isolation"),
    *("adbench_text.memo", "adbench_text.plugins.registry", "adbench_text.provenance"),
    *("adbench_text.run.memory", "adbench_text.storage"),
}
# Parts of a detector that no score depends on, see `adbench_text.plugins.detector.TextDetector`.
_ABOUT = frozenset(
    "check_params description prepare presets regime resources tables test_settings token_scores".split()
)
# What detectors inherit without computing with it.
_INTERFACES = ("abc", "pyod.models.base", "sklearn.base")
# Cleaning, splits, contamination, and how a cell is measured.
_PROTOCOL = (
    "adbench_text.text.cleaning.clean",
    "adbench_text.plugins.dataset.Documents",
    "adbench_text.corpora.split.one_vs_rest",
    "adbench_text.corpora.split.contaminate",
    "adbench_text.run.evaluate.measure",
)


@cache
def code_version(kind: Any) -> str:
    """Digest the code that decides the scores of a detector, or what a dataset reads.

    Parameters
    ----------
    kind : type
        Class of the detector or dataset.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    reached = _reach(_roots(kind), _tops(kind))
    return _digest([str(kind.__qualname__), *sorted(reached.definitions)])


@cache
def libraries(kind: Any) -> str:
    """Name the libraries that a detector computes with: ``"numpy 2.4, scikit-learn 1.9"``.

    Their versions are those of the major and minor release.
    """
    names = set(_reach(_roots(kind), _tops(kind)).libraries)
    interfaces = {base for each in kind.__mro__ if _is_interface(each.__module__) for base in each.__mro__}
    wrapped = {value for value in vars(kind).values() if isinstance(value, type)}
    for foreign in {*kind.__mro__, *wrapped} - interfaces:
        if not _is_of(foreign.__module__, _tops(kind)):
            source = _source(foreign.__module__)
            names |= {foreign.__module__, *(source.imports.values() if source else ())}
    tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - _tops(kind)
    return ", ".join(sorted({_release(top) for top in tops if top}))


@cache
def protocol_version() -> str:
    """Digest the protocol: cleaning, splits, contamination, metrics and evaluation; 16 hexadecimal digits."""
    return _digest(sorted(_reach(_PROTOCOL, {"adbench_text"}).definitions))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _tops(kind: Any) -> set[str]:
    """Return the packages whose code counts; of all others the version does."""
    return {"adbench_text", kind.__module__.partition(".")[0]}


def _is_of(module: str, tops: Set[str]) -> bool:
    return module.partition(".")[0] in tops


def _is_interface(dotted: str) -> bool:
    return any(dotted == name or dotted.startswith(f"{name}.") for name in _INTERFACES)


def _roots(kind: Any) -> list[str]:
    """Return the definitions of a class and of the classes it inherits from."""
    roots = []
    for base in kind.__mro__:
        if _is_of(base.__module__, _tops(kind)):
            source = _source(base.__module__)
            names = [base.__qualname__]
            if source and base.__qualname__ not in source.definitions:  # made on the fly: by any of them
                names = list(source.definitions)
            roots += [f"{base.__module__}.{name}" for name in names]
    return roots


def _release(top: str) -> str:
    distribution = {"sklearn": "scikit-learn"}.get(top, top)
    try:
        number = version(distribution)
    except PackageNotFoundError:
        distribution = next(iter(packages_distributions().get(top, [])), "")
        if not distribution:
            return top
        number = version(distribution)
    return f"{distribution} {'.'.join(number.partition('+')[0].split('.')[:2])}"


@dataclass
class _Reached:
    definitions: set[str] = field(default_factory=set)  # normal forms
    libraries: set[str] = field(default_factory=set)  # dotted names


def _reach(roots: Iterable[str], tops: Set[str]) -> _Reached:
    """Follow the references of definitions, from these dotted names on."""
    reached = _Reached()
    todo, done = list(roots), set()
    while todo:
        target = _resolve(todo.pop(), tops)
        if target is None:
            continue
        if isinstance(target, str):
            reached.libraries |= set() if _is_interface(target) else {target}
            continue
        source, name, _ = target
        if source.name in _PLUMBING or (source.name, name) in done:
            continue
        done |= {(source.name, name)}
        definitions, references = _normal_form(source, name, frozenset(tops))
        reached.definitions |= definitions
        todo += references
    return reached


@cache
def _normal_form(source: "_Source", name: str, tops: frozenset[str]) -> tuple[set[str], list[str]]:
    """Return the normal form of the statements that define a name, and what they refer to."""
    normal = _Normal(source, tops)
    statements = [each for each in (*source.definitions[name], *source.others) if not _is_fact(each)]
    return {ast.dump(normal.visit(copy.deepcopy(each))) for each in statements}, sorted(normal.references)


def _is_fact(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and ast.unparse(statement.annotation).startswith("Fact[")


@dataclass(frozen=True, eq=False)
class _Source:
    """The top level of a module.

    Attributes
    ----------
    definitions : dict of str to list of ast.stmt
        The statements that give each name its value.
    imports : dict of str to str
        The dotted name behind each imported name.
    others : list of ast.stmt
        What else runs when the module is imported.
    """

    name: str
    definitions: dict[str, list[ast.stmt]]
    imports: dict[str, str]
    others: list[ast.stmt]


def _source(module: str) -> _Source | None:
    tree = _parse(module)
    return _top_level_of(module, tree) if tree else None


@cache
def _top_level_of(module: str, tree: ast.Module) -> _Source:
    source = _Source(module, {}, {}, [])
    for statement in _top_level(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            source.imports.update(_imported(statement, module))
        elif names := _bound(statement):
            for name in names:
                source.definitions.setdefault(name, []).append(statement)
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            source.others.append(statement)
    return source


def _parse(module: str) -> ast.Module | None:
    path = _file(module)
    if path is None:
        return None
    try:
        return _parsed(path, path.stat().st_mtime_ns)
    except (OSError, SyntaxError, ValueError):
        return None


@cache
def _parsed(path: Path, changed: int) -> ast.Module:
    return ast.parse(path.read_bytes())


@cache
def _spec(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)  # imports the packages above the module, not the module
    except (ImportError, AttributeError, ValueError):
        return None


def _file(module: str) -> Path | None:
    spec = _spec(module)
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _top_level(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those under ``if`` and ``try`` too."""
    for statement in body:
        if isinstance(statement, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(statement.test):
                yield ast.Expr(statement.test)
                yield from _top_level(statement.body)
            yield from _top_level(statement.orelse)
        elif isinstance(statement, ast.Try):
            handlers = [inner for handler in statement.handlers for inner in handler.body]
            yield from _top_level([*statement.body, *handlers, *statement.orelse, *statement.finalbody])
        else:
            yield statement


def _bound(statement: ast.stmt) -> list[str]:
    """Return the names that a statement gives a value to."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return []


def _imported(statement: ast.Import | ast.ImportFrom, module: str) -> dict[str, str]:
    """Return the dotted name behind each name that an import binds."""
    if isinstance(statement, ast.Import):  # without "as" it binds the package alone
        bound = [(alias.asname or alias.name.partition(".")[0], alias) for alias in statement.names]
        return {name: alias.name if alias.asname else name for name, alias in bound}
    base = statement.module or ""
    if statement.level:  # relative to the package, which is the module itself if it is one
        path = _file(module)
        parts = module.split(".")
        n_up = statement.level - (path is not None and path.name == "__init__.py")
        base = ".".join(filter(None, [*parts[: len(parts) - n_up], base]))
    return {alias.asname or alias.name: f"{base}.{alias.name}" for alias in statement.names}


def _resolve(dotted: str, tops: Set[str]) -> tuple[_Source, str, list[str]] | str | None:
    """Return source, name and attributes of a definition of ours, the dotted name of a library, or None."""
    if not _is_of(dotted, tops):
        return dotted
    module, *rest = dotted.split(".")
    while rest and (spec := _spec(module)) and spec.submodule_search_locations is not None:
        if _spec(f"{module}.{rest[0]}") is None:
            break
        module, rest = f"{module}.{rest[0]}", rest[1:]
    source = _source(module)
    if source is None or not rest:
        return None
    if rest[0] in source.definitions:
        return source, rest[0], rest[1:]
    if rest[0] in source.imports:
        behind = ".".join([source.imports[rest[0]], *rest[1:]])
        return _resolve(behind, tops) if behind != dotted else None
    return None


class _Normal(ast.NodeTransformer):
    """Brings a statement into a form in which only what decides scores is left; notes its references."""

    def __init__(self, source: _Source, tops: Set[str]) -> None:
        self.source, self.tops = source, tops
        self.references: set[str] = set()
        self._local: dict[str, str] = {}  # what functions import

    def visit(self, node: ast.AST) -> Any:
        """Note the imports of functions before their names are met."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    self._local.update(_imported(inner, self.source.name))
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._named(node, node.id, [])

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        attributes, base = [node.attr], node.value
        while isinstance(base, ast.Attribute):
            attributes, base = [base.attr, *attributes], base.value
        if isinstance(base, ast.Name):
            return self._named(node, base.id, attributes)
        return self.generic_visit(node)

    def _named(self, node: ast.AST, name: str, attributes: list[str]) -> ast.AST:
        """Replace a name by that of the definition behind it, wherever that is."""
        behind = self._local.get(name) or self.source.imports.get(name)
        if behind is None and name not in self.source.definitions:
            return node
        dotted = ".".join([behind or f"{self.source.name}.{name}", *attributes])
        self.references.add(dotted)
        target = _resolve(dotted, self.tops)
        if target is None:
            return ast.Name(dotted.rpartition(".")[2])
        if isinstance(target, str):
            return ast.Name(target)
        return ast.Name(".".join([target[1], *target[2]]))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._without_docstring(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [inner for inner in node.body if _ABOUT.isdisjoint(_bound(inner))]
        return self._without_docstring(node)

    def _without_docstring(self, node: Any) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)  # that there is a field counts
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise()  # what it says changes no score

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.msg = None
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return None
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in ("print", "warnings.warn"):
            return None
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None
