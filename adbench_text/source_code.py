"""The source of modules, parsed without importing them: their definitions, and the target of a name."""

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True, eq=False)
class Source:
    """The top level of a module.

    Attributes
    ----------
    definitions : dict of str to list of ast.stmt
        The statements that give each name its value.
    imports : dict of str to str
        The dotted name behind each imported name.
    others : list of ast.stmt
        The other statements that run when the module is imported.
    """

    name: str
    definitions: dict[str, list[ast.stmt]]
    imports: dict[str, str]
    others: list[ast.stmt]


class Definition(NamedTuple):
    """A definition in a module, with the attributes of it that are meant: ``Name.attribute``."""

    source: Source
    name: str
    attributes: list[str]


def read_source(module: str) -> Source | None:
    """Return the top level of a module, or None if it has no readable Python source."""
    tree = _parse(module)
    return _top_level_of(module, tree) if tree else None


@cache
def _top_level_of(module: str, tree: ast.Module) -> Source:
    source = Source(module, {}, {}, [])
    for statement in _top_level(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            source.imports.update(imported_names(statement, module))
        elif names := bound_names(statement):
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


def bound_names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines or assigns."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return []


def imported_names(statement: ast.Import | ast.ImportFrom, module: str) -> dict[str, str]:
    """Return the dotted name behind each name that an import binds."""
    if isinstance(statement, ast.Import):  # without "as" it binds the top package only
        aliases = [(alias.asname or alias.name.partition(".")[0], alias) for alias in statement.names]
        return {name: alias.name if alias.asname else name for name, alias in aliases}
    base = statement.module or ""
    if statement.level:  # relative to the package, which is the module itself if it is one
        path = _file(module)
        parts = module.split(".")
        n_up = statement.level - (path is not None and path.name == "__init__.py")
        base = ".".join(filter(None, [*parts[: len(parts) - n_up], base]))
    return {alias.asname or alias.name: f"{base}.{alias.name}" for alias in statement.names}


def resolve(dotted: str, tops: Set[str]) -> Definition | str | None:
    """Return where a dotted name leads: a definition in these packages, the name itself, or None.

    The name itself is returned if it belongs to another package.
    """
    if not is_within(dotted, tops):
        return dotted
    module, *rest = dotted.split(".")
    while rest and (spec := _spec(module)) and spec.submodule_search_locations is not None:
        if _spec(f"{module}.{rest[0]}") is None:
            break
        module, rest = f"{module}.{rest[0]}", rest[1:]
    source = read_source(module)
    if source is None or not rest:
        return None
    if rest[0] in source.definitions:
        return Definition(source, rest[0], rest[1:])
    if rest[0] in source.imports:
        origin = ".".join([source.imports[rest[0]], *rest[1:]])
        return resolve(origin, tops) if origin != dotted else None
    return None


def is_within(dotted: str, tops: Set[str]) -> bool:
    """Return whether a dotted name belongs to one of these packages."""
    return dotted.partition(".")[0] in tops
