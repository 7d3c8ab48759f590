"""The normal form of a definition: the part of its source that can change a score."""

import ast
import copy
from collections.abc import Set
from functools import cache
from typing import Any

from adbench_text.source_code import Source, bound_names, imported_names, resolve

# Members of a detector that cannot change a score, see `adbench_text.plugins.detector.TextDetector`.
_DESCRIPTIVE = frozenset(
    "check_params description fitted_state _from_state _get_state _get_state_of_vectors needed_resources"
    " prepare presets regime resources restore_fitted _set_state _set_state_of_vectors tables test_settings"
    " token_scores trusted_types".split()
)


@cache
def normal_form(source: Source, name: str, tops: frozenset[str]) -> tuple[set[str], list[str]]:
    """Return the normal forms of the statements that define a name, and the dotted names they refer to."""
    normalizer = _Normalizer(source, tops)
    statements = [each for each in (*source.definitions[name], *source.others) if not _is_fact(each)]
    return {ast.dump(normalizer.visit(copy.deepcopy(each))) for each in statements}, sorted(
        normalizer.references
    )


def _is_fact(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and ast.unparse(statement.annotation).startswith("Fact[")


class _Normalizer(ast.NodeTransformer):
    """Strips a statement of everything that cannot change a score, and collects its references."""

    def __init__(self, source: Source, tops: Set[str]) -> None:
        self.source, self.tops = source, tops
        self.references: set[str] = set()
        self._local: dict[str, str] = {}  # imports inside functions

    def visit(self, node: ast.AST) -> Any:
        """Collect the imports of a function before its names are visited."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    self._local.update(imported_names(inner, self.source.name))
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
        """Replace a name by the name of the definition it leads to, whichever module that is in."""
        origin = self._local.get(name) or self.source.imports.get(name)
        if origin is None and name not in self.source.definitions:
            return node
        dotted = ".".join([origin or f"{self.source.name}.{name}", *attributes])
        self.references.add(dotted)
        target = resolve(dotted, self.tops)
        if target is None:
            return ast.Name(dotted.rpartition(".")[2])
        if isinstance(target, str):
            return ast.Name(target)
        return ast.Name(".".join([target.name, *target.attributes]))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._without_docstring(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [inner for inner in node.body if _DESCRIPTIVE.isdisjoint(bound_names(inner))]
        return self._without_docstring(node)

    def _without_docstring(self, node: Any) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)  # the field counts, its type does not
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise()  # the message cannot change a score

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
