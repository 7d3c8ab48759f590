"""Find plug-ins by file name or entry point, and load only the one that somebody asks for.

A plug-in is a file or a folder in ``detectors/`` or ``datasets/`` whose name does not begin with an
underscore, or an entry point of another package in the group ``adbench_text.detectors`` or
``adbench_text.datasets``. The class may declare a ``name``; otherwise the plug-in has the name of the file. A
file may have several classes if each declares a name. The search parses the files, and imports nothing.

Instead of classes, a file may define a family: ``members() -> dict[str, str]`` returns the name and the
summary of each member, and ``member(name) -> type`` returns its class. A member is the plug-in
``family-member``, where ``family`` is the name of the file. The search imports such a file, so it must not
import a library.

A dataset may have variants, such as languages: ``sib-200:deu_Latn`` is a variant of the dataset ``sib-200``.
A variant is not a separate plug-in, so that 205 languages take one line in a list.

If two plug-ins have the same name, neither is loaded. Asking for this name is an error; other names work.
"""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adbench_text import metrics, own_file
from adbench_text.errors import InvalidValueError, PluginError, UnknownNameError
from adbench_text.failures import FAILURES, as_plugin_error, described, place_of_error
from adbench_text.isolation import preserved

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector

KINDS = ("detectors", "datasets")  # names of folders
_NEEDED = ("__call__", "fit", "decision_function")  # methods of a detector
_OURS = "adbench-text"

#: Prefix for a dataset of the user's own documents; the path of a file or folder follows.
OWN = "files:"
#: Prefix for a detector with the scores of another program, before the folder of the scores.
GIVEN = "scores:"


@dataclass(frozen=True)
class Plugin:
    """A plug-in that is not loaded yet."""

    kind: str
    name: str
    summary: str
    load: Callable[[], Any]
    module: str
    place: str  # the object to load and its package, for messages
    package: str = _OURS  # empty for a user's file
    problem: str = ""  # why it cannot be loaded: its file cannot be read, or others claim its name
    is_member: bool = False  # of a family
    class_name: str = ""  # the public class of one of our files

    @property
    def is_foreign(self) -> bool:
        """Whether it belongs to another package."""
        return self.package != _OURS


@cache
def plugins(kind: str) -> dict[str, Plugin]:
    """Find all plug-ins of a kind, such as ``"detectors"``, by name."""
    package = importlib.import_module(f"adbench_text.{kind}")
    candidates = [
        plugin
        for info in pkgutil.iter_modules(package.__path__)
        if not info.name.startswith("_")
        for plugin in _from_file(kind, info.name, Path(str(info.module_finder.path)), info.ispkg)  # type: ignore[union-attr]
    ]
    candidates += [_from_entry_point(kind, point) for point in entry_points(group=f"adbench_text.{kind}")]
    by_name: dict[str, Plugin] = {}
    for plugin in candidates:
        claimants = sorted(each.place for each in candidates if each.name == plugin.name)
        if len(claimants) > 1:
            problem = (
                f"Several {kind.removesuffix('s')}s claim the name {plugin.name!r}: {', '.join(claimants)}. "
                "Rename one of them, or uninstall its package."
            )
            plugin = replace(plugin, problem=problem)
        by_name.setdefault(plugin.name, plugin)
    return dict(sorted(by_name.items()))


def _from_file(kind: str, name: str, folder: Path, is_package: bool) -> list[Plugin]:
    """Parse one of our files, and return its plug-ins. One that cannot be used has a `problem`."""
    module = f"adbench_text.{kind}.{name}"
    path = folder / name / "__init__.py" if is_package else folder / f"{name}.py"
    load = partial(importlib.import_module, module)
    place = f"{module} (adbench-text)"
    file = Plugin(kind, name, summary="", load=load, module=module, place=place)
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        return [replace(file, problem=f"{module} cannot be read: {error}")]
    file = replace(file, summary=_first_line(tree))
    if any(isinstance(node, ast.FunctionDef) and node.name == "members" for node in tree.body):
        return _members(file)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    public = [node for node in classes if not node.name.startswith("_")]
    declared = list(map(_declared_name, public))
    if len(public) == 1:  # its own name, or the name of another class, which may be its base, or of the file
        declared = [declared[0] or next(filter(None, map(_declared_name, classes)), name)]
    if not all(declared) or not public:
        listed = ", ".join(node.name for node in public) or "none"
        problem = f"{module} must define one public class, or several that each have a name, found {listed}."
        return [replace(file, problem=problem)]
    return [
        replace(
            file,
            name=str(own_name),
            summary=file.summary if len(public) == 1 else _first_line(node),
            load=partial(pkgutil.resolve_name, f"{module}:{node.name}"),
            class_name=node.name,
        )
        for node, own_name in zip(public, declared, strict=True)
    ]


def _members(family: Plugin) -> list[Plugin]:
    """Return the members of a family; if its file cannot be loaded, return the family and the problem."""
    try:
        module = _load(family)
    except PluginError as error:
        return [replace(family, problem=str(error))]
    return [
        replace(
            family,
            name=f"{family.name}-{name}",
            summary=summary,
            load=partial(module.member, name),
            is_member=True,
        )
        for name, summary in module.members().items()
    ]


def _first_line(node: ast.Module | ast.ClassDef) -> str:
    """Return the first line of the docstring of a file or class, empty without one."""
    return (ast.get_docstring(node) or "").partition("\n")[0]


def _declared_name(node: ast.ClassDef) -> object:
    """Return the literal ``name`` that a class declares, or None."""
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Constant):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(target, ast.Name) and target.id == "name" for target in targets):
                return statement.value.value
    return None


def _from_entry_point(kind: str, point: EntryPoint) -> Plugin:
    """Return the plug-in of another package."""
    distribution = point.dist.name if point.dist else "unknown package"
    load: Callable[[], Any] = lambda: _foreign(kind, point.load, point.value)  # noqa: E731
    place = f"{point.value} ({distribution})"
    return Plugin(
        kind,
        point.name,
        summary=f"from {distribution}",
        load=load,
        module=point.module,
        place=place,
        package=distribution,
    )


def with_known_files(text: str) -> str:
    """Make the files in a text of the user known; return the text with names of objects for their paths.

    The text is a detector, a list of detectors, or a setting: ``./mine.py:Mine`` becomes ``mine.py:Mine``.
    """
    return text if text.startswith(GIVEN) else own_file.named(text)


def _from_own_file(kind: str, name: str, path: Path) -> Plugin:
    """Return the plug-in of a file of the user; `name` is ``mine.py:Mine``."""
    load = partial(_foreign, kind, partial(own_file.load, path, name.partition(":")[2]), name)
    return Plugin(kind, name, summary="in a file", load=load, module=path.stem, place=str(path), package="")


def find(kind: str, name: str) -> Plugin | None:
    """Return the plug-in with this name, or None.

    The name may also be a detector in a known file, or a variant of a dataset, which need not exist.
    """
    if kind == "detectors" and name in (paths := own_file.known()):
        return _from_own_file(kind, name, paths[name])
    by_name = plugins(kind)
    return by_name.get(name) or (by_name.get(name.partition(":")[0]) if kind == "datasets" else None)


def load_from_file(kind: str, text: str) -> tuple[str, Any]:
    """Return the name, such as ``mine.py:first_100``, and the object that a text of the user names."""
    if (written := own_file.WRITTEN.fullmatch(text)) is None:
        raise InvalidValueError(f"Expected ./FILE.py:NAME, got {text!r}.")
    plugin = _from_own_file(kind, *own_file.name_and_path(written))
    return plugin.name, _load(plugin)


def loaded_files() -> list[str]:
    """Return the names of the detectors in files that this process has loaded."""
    return [name for name in own_file.known() if name in _loaded_from_others]


def _foreign(kind: str, load: Callable[[], Any], value: str) -> Any:
    """Load an object from another package or a file, and check its kind; `value` names it in an error."""
    loaded = load()
    if kind == "datasets":
        from adbench_text.contract.dataset import Dataset

        dataset = loaded() if inspect.isclass(loaded) else loaded
        if not isinstance(dataset, Dataset):
            raise TypeError(f"{value} is not a subclass of adbench_text.contract.dataset.Dataset")
        return dataset
    if kind == "metrics":
        if not callable(loaded):
            raise TypeError(f"{value} is not a function")
        return loaded
    missing = [name for name in _NEEDED if not hasattr(loaded, name)]
    if missing and not inspect.isfunction(loaded):
        raise TypeError(f"{value} has no {', '.join(missing)}")
    return loaded


def module_of(kind: str, name: str) -> str:
    """Return the module that defines a plug-in or its family."""
    if name.startswith(GIVEN):
        return "adbench_text.plugins.exported"
    return _found(kind, name).module


def name_of(detector: type) -> str:
    """Return the name of the plug-in of a detector's class, or else the name of the class."""
    place = detector.__module__, detector.__name__
    own_names = (p.name for p in plugins("detectors").values() if (p.module, p.class_name) == place)
    return next(own_names, detector.__name__)


def names(kind: str) -> list[str]:
    """Return all names of a kind."""
    return list(plugins(kind))


def listing(kind: str) -> list[Plugin]:
    """Return every plug-in with its summary and its problem; load plug-ins of other packages as a check."""
    rows = []
    for plugin in plugins(kind).values():
        if plugin.is_foreign and not plugin.problem:
            try:
                first_line = (_load(plugin).__doc__ or "").strip().partition("\n")[0].strip()
                summary = f"{first_line} ({plugin.summary})" if first_line else plugin.summary
                plugin = replace(plugin, summary=summary)
            except PluginError as error:
                plugin = replace(plugin, problem=str(error))
        rows.append(plugin)
    return rows


def load(kind: str, name: str) -> Any:
    """Load the plug-in with this name: a detector class or a dataset.

    Raise UnknownNameError if no plug-in has this name, PluginError if it cannot be loaded.
    """
    plugin = _found(kind, name)
    if plugin.problem:
        raise PluginError(plugin.problem)
    return _load(plugin)


def _found(kind: str, name: str) -> Plugin:
    """Return the plug-in with this name; raise UnknownNameError if no plug-in has it."""
    plugin = find(kind, name)
    if plugin is None:
        raise UnknownNameError(kind.removesuffix("s"), name, plugins(kind))
    return plugin


_loaded_from_others: set[str] = set()


def has_loaded_others() -> bool:
    """Return whether this process has run the code of somebody else's plug-in."""
    return bool(_loaded_from_others)


def _load(plugin: Plugin) -> Any:
    """Load a plug-in; raise PluginError if this fails.

    The code of others is noted (see `has_loaded_others`), and cannot change the environment and the working
    directory of this process.
    """
    if not plugin.is_foreign:
        return _load_checked(plugin)
    metrics.library()  # a plug-in that patches the library of metrics is loaded after it
    _loaded_from_others.add(plugin.name)
    with preserved():
        return _load_checked(plugin)


def _load_checked(plugin: Plugin) -> Any:
    """Load a plug-in; turn every error into a PluginError that says what to do."""
    try:
        return plugin.load()
    except PluginError:
        raise
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        if not top or find_spec(top):  # the package exists, so the import is wrong
            place = place_of_error(error, plugin.module)
            raise PluginError(f"{plugin.name} cannot be loaded: {error}{place}") from error
        raise PluginError(
            f"{plugin.name} needs the package {error.name!r}, which is not installed; "
            f"run: pip install {(error.name or '').partition('.')[0]}"
        ) from error
    except FAILURES as error:
        reason = described(error, plugin.module)
        raise PluginError(
            f"The plug-in {plugin.name!r} ({plugin.summary}) cannot be loaded: {reason}"
        ) from error


def detector(name: str) -> "type[TextDetector]":
    """Return the detector class with this name; adapt it to our interface if it has another base."""
    if name.startswith(GIVEN):
        from adbench_text.plugins.exported import given_scores

        return given_scores(name.removeprefix(GIVEN))
    from adbench_text.plugins.foreign import adapted  # imported here, because PyOD is slow to import

    return adapted(load("detectors", name))


def language_of(dataset_name: str) -> str:
    """Return the language of a dataset; ``"en"`` for an unknown name."""
    from adbench_text.text.languages import standard

    with suppress(UnknownNameError):
        return standard(dataset(dataset_name).language)
    return "en"


_added: dict[str, Any] = {}


def add_dataset(dataset: Any) -> str:
    """Make a dataset, such as a user's file, known to this process; return its name."""
    _added[dataset.name] = dataset
    return str(dataset.name)


def variants(text: str) -> list[str]:
    """Return the names of all variants of the dataset that a text names before its colon.

    >>> variants("sib-200:*")[:2], variants("20news:*"), variants("all")
    (['sib-200:ace_Arab', 'sib-200:ace_Latn'], [], [])
    """
    name, colon, _ = text.partition(":")
    if not colon or name not in plugins("datasets"):
        return []
    return [f"{name}:{variant}" for variant in load("datasets", name).variants]


def dataset(name: str) -> Any:
    """Return the dataset with this name, or a variant of one; see `load`.

    Raise an error if it states wrong facts, such as classes that are not texts.
    """
    if name in _added:
        return _added[name]
    from adbench_text.contract.dataset import check_facts

    loaded = load("datasets", name)
    module, arguments = loaded.__module__, []
    if name not in plugins("datasets"):  # a variant
        base, _, variant = name.partition(":")
        if not loaded.variants:
            raise UnknownNameError("dataset", name, plugins("datasets"))
        if variant not in loaded.variants:
            raise UnknownNameError(f"variant of {base}", variant, loaded.variants)
        loaded, arguments = loaded if inspect.isclass(loaded) else type(loaded), [variant]
    with as_plugin_error(f"The dataset {name!r} cannot be used", module):
        usable: Any = loaded(*arguments) if inspect.isclass(loaded) else loaded
        for text in (usable.name, *usable.classes):
            if not isinstance(text, str) or not text.strip() or not text.isprintable():
                raise ValueError(f"its name and its classes must be printable texts, got {text!r:.80}")
        check_facts(usable)
    return usable
