"""The version of code: of the harness, of the files of a plug-in, and of the libraries that it imports.

The code of a plug-in is a set of complete files, without their comments and docstrings:

- Our own plug-ins: the file or folder of the plug-in, and the files in ``detectors/`` and ``datasets/`` that
  it imports.
- Other plug-ins: the package of the plug-in, or its file if it is not in a package. It imports packages that
  are not an installed release, such as a module in the same folder, or an installation from a folder or a
  repository. Their files count, too.

A release (from an index or a wheel file) is identified by its version, the harness by `HARNESS_VERSION`.

Not detected: a package that is imported by a computed name, and data files that the code reads. A detector
returns the digests of its data files from `resources`.
"""

import ast
import hashlib
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, version
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any, NamedTuple

#: Version of the harness: cleaning, words, word vectors and encoders (`text`), splits and contamination
#: (`corpora.split`), metrics, and evaluation (`run.evaluate`). Raise it when a change there changes results.
#: Then all stored cells are outdated, and corpora are cleaned again.
#: `tests/test_harness_version.py` fails if you forget it.
HARNESS_VERSION = 5

_OURS = "adbench_text"
_PLUGINS = ("detectors", "datasets")
_INTERFACES = ("abc", "pyod.models.base", "sklearn.base")  # base classes that compute no score
_RELEASES = {"site-packages", "dist-packages"}  # folders that installers write to
_CODE = {".py", ".so", ".pyd"}  # suffixes; the last two are compiled


class Code(NamedTuple):
    """The files of a plug-in by module, and the top-level packages of others that it imports."""

    files: dict[str, Path]
    libraries: set[str]


Unit = tuple[str, Path | None]  # name and place of code, see `_unit`


def code_version(*plugin: Any) -> str:
    """Return the digest of the code of a plug-in, given its classes or the names of its modules."""
    code = code_of(*plugin)
    digest = hashlib.sha256()
    for module, path in sorted(code.files.items()):
        digest.update(f"{module}\n{_meaning(path, path.stat().st_mtime_ns)}\n".encode())
    classes = sorted({each.__qualname__ for each in plugin if isinstance(each, type)})
    package = _module(plugin[0]).partition(".")[0]
    # the release stands for the code of a package that is not read
    release = " ".join(_release(package)) if package in code.libraries else ""
    digest.update(f"{classes} {release}".encode())
    return digest.hexdigest()[:16]


def libraries(*plugin: Any, declared: Collection[str] = ()) -> str:
    """Return the libraries that a plug-in imports or declares: ``"numpy 2.4, scikit-learn 1.9"``."""
    return releases(*declared, *code_of(*plugin).libraries)


def releases(*packages: str) -> str:
    """Return the major and minor releases of the packages that are installed, sorted."""
    return ", ".join(sorted({f"{name} {minor(number)}" for name, number in map(_release, packages) if name}))


def minor(number: str) -> str:
    """Return the major and minor release of a version."""
    return ".".join(number.split(".")[:2])


def installed(distribution: str) -> str:
    """Return the version of a distribution; empty if it is not installed."""
    try:
        return version(distribution)
    except (PackageNotFoundError, ValueError):  # ValueError: the name is empty
        return ""


@cache
def code_of(*plugin: Any) -> Code:
    """Return the code of a plug-in; the head of the module says what belongs to it."""
    files, libraries, done = dict[str, Path](), set[str](), set[Unit]()
    todo = {module for kind in plugin for module in _roots(kind)}
    while todo:
        unit = _unit(todo.pop())
        if unit in done:
            continue
        done.add(unit)
        name, place = unit
        if place is None:
            libraries.add(name)
            continue
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.suffix in _CODE and file.is_file():
                parts = () if file == place else file.relative_to(place).with_suffix("").parts
                module = ".".join([name, *parts]).removesuffix(".__init__")
                files[module] = file
                todo.update(_imports(module, file))
    # `from helpers import tools` also imports the namespace `helpers`, which has no code
    read = {module.partition(".")[0] for module in files}
    return Code(files, libraries - read - {_OURS, *sys.stdlib_module_names})


def _module(kind: Any) -> str:
    return kind if isinstance(kind, str) else str(kind.__module__)


def _roots(kind: Any) -> Iterator[str]:
    """Yield the modules that define a class, its bases, and the classes that it wraps."""
    yield _module(kind)
    for base in getattr(kind, "__mro__", ())[1:]:
        if not base.__module__.startswith(_INTERFACES):
            yield base.__module__
    for value in vars(kind).values() if isinstance(kind, type) else ():
        if isinstance(value, type):
            yield value.__module__


def _unit(module: str) -> Unit:
    """Return the plug-in or package of a module, and its file or folder, which is read as a whole.

    The path is None for code that does not count: this package, releases, and modules without a file.
    """
    top, *inner = module.split(".")
    if top in sys.stdlib_module_names:
        return top, None
    if top == _OURS:
        if len(inner) < 2 or inner[0] not in _PLUGINS:
            return _OURS, None
        folder = Path(import_module(f"{_OURS}.{inner[0]}").__path__[0], inner[1])
        place = folder if folder.is_dir() else folder.with_name(f"{inner[1]}.py")
        return ".".join([_OURS, *inner[:2]]), place
    file = file_of(top)
    if file is None:
        unit = _unit_of_namespace(module)
    else:
        unit = top, file.parent if file.stem == "__init__" else file
    if unit is None or (_RELEASES.intersection(unit[1].parts) and _is_release(top)):
        return top, None
    return unit


def _unit_of_namespace(module: str) -> tuple[str, Path] | None:
    """Return the package or folder with a module of a namespace package; None if there is no such module.

    A namespace package has no file, and may have parts in several folders. Only names are looked up: no
    module is imported. Names after the module are ignored, because `_imports` yields names of functions, too.
    """
    top, *inner = module.split(".")
    if (file := file_of(module)) is not None:  # it is loaded, perhaps from a folder that is not on the path
        return (module if file.stem == "__init__" else module.rpartition(".")[0]), file.parent
    spec, names = None, [top]
    with suppress(ImportError, ValueError):  # ValueError: a loaded module without a spec
        spec = find_spec(top)
    for name in inner:
        if spec is None or spec.submodule_search_locations is None:
            return None
        spec = PathFinder.find_spec(name, [*spec.submodule_search_locations])
        if spec is not None and spec.origin and spec.has_location:
            is_package = spec.submodule_search_locations is not None
            return ".".join([*names, name] if is_package else names), Path(spec.origin).parent
        names.append(name)
    return None


def file_of(module: str) -> Path | None:
    """Return the file of a loaded or top-level module; None if it has no file."""
    if loaded := getattr(sys.modules.get(module), "__file__", None):
        return Path(loaded)
    with suppress(ImportError, ValueError):  # ValueError: a loaded module without a spec
        spec = None if "." in module else find_spec(module)
        return Path(spec.origin) if spec and spec.has_location and spec.origin else None
    return None


def _imports(module: str, path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, also inside functions.

    `from a import b` yields both ``a`` and ``a.b``, although `b` may be a function and not a module.
    """
    tree = _parsed(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            with suppress(ImportError):  # a relative import beyond the top-level package
                base = resolve_name("." * node.level + (node.module or ""), package)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            if isinstance(name, str) and name.strip("."):
                with suppress(ImportError):
                    yield resolve_name(name, package)


def _called(node: ast.Call) -> str:
    """Return the name of a called function, without its module; empty if it has no name."""
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


@cache
def _is_release(top: str) -> bool:
    """Return whether a package is a release: a folder or a repository changes without a new version."""
    if not (name := _release(top)[0]):
        return False
    found = distribution(name)
    origin = found.read_text("direct_url.json") or ""
    by_conda = (found.read_text("INSTALLER") or "").strip() == "conda"  # it records its build folder
    return by_conda or ("dir_info" not in origin and "vcs_info" not in origin)


@cache
def _release(top: str) -> tuple[str, str]:
    """Return the name and the version of the distribution that has a package; empty if not installed."""
    names = [{"sklearn": "scikit-learn"}.get(top, top)]
    if not installed(names[0]):
        names = packages_distributions().get(top, [])  # this reads all metadata, and takes a second
    return next(((name, installed(name).partition("+")[0]) for name in names), ("", ""))


def _parsed(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # a compiled module
        return None


@cache
def _meaning(path: Path, changed: int) -> str:
    """Return the source without comments, docstrings and layout; the digest for a file that is not Python."""
    tree = _parsed(path)
    if tree is None:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            has_docstring = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[has_docstring:] or [ast.Pass()]
    return ast.unparse(tree)
