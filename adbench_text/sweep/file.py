"""Sweeps as TOML files: the same names as the options of ``adbench-text run``.

    dataset = ["20news", "agnews"]
    detector = ["llr", { name = "ocsvm", preset = "paper-grid" }]
    contamination = [0, 0.05]
    seed = [0, 1]

    [set]
    vectors = "glove-wiki-gigaword-300"
    ocsvm.nu = 0.2

    [engine]
    name = "local"
    jobs = "auto"

A detector is a name, or a table of ``name``, ``preset`` and ``set``: so one detector can run
with several settings. Its lists ``seed`` and ``dataset`` restrict it to some of the sweep's. A list with one
entry may be written without brackets. The name of a detector or dataset may be a pattern such as ``"pyod-*"``
or ``"all"``, and seeds a range such as ``"0-4"``. The columns ``text``, ``label`` and ``split`` are those of
datasets ``files:PATH``.
"""

import tomllib
from collections.abc import Collection, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.sweep.names import expand, parse_seeds
from adbench_text.sweep.sweep import DetectorChoice

_LISTS: dict[str, tuple[type, ...]] = {
    "detector": (str, dict),
    "dataset": (str,),
    "inlier": (str,),
    "contamination": (int, float),
    "seed": (int,),
    "text": (str,),
}
_SINGLES: dict[str, tuple[type, ...]] = {
    "preset": (str,),
    "limit": (int,),
    "test_outliers": (int, float),
    "protocol": (str,),
    "label": (str,),
    "split": (str,),
    "set": (dict,),
    "engine": (dict,),
}
_DETECTOR_KEYS: dict[str, tuple[type, ...]] = {"name": (str,), "preset": (str,), "set": (dict,)}
_RESTRICTIONS = ("seed", "dataset")
_MINIMUM: dict[str, int] = {"seed": 0, "limit": 1}
_TYPE_NAMES = {str: "text", dict: "a table", int: "a whole number", float: "a number"}


def names() -> list[str]:
    """Return the names of the built-in sweeps."""
    folder = files("adbench_text.reports").joinpath("sweeps")
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def find(name: str) -> Path:
    """Return the file of a built-in sweep, or the path that is given instead of a name."""
    if name in names():
        return Path(str(files("adbench_text.reports").joinpath("sweeps").joinpath(f"{name}.toml")))
    path = Path(name)
    if len(path.parts) == 1 and not path.suffix and not path.exists():
        raise UnknownNameError("sweep", name, names())
    return path


def read(path: Path) -> dict[str, Any]:
    """Return the values of a sweep file by key: lists where there may be several."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"Cannot read the sweep {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{path} is not valid TOML: {error}.") from error
    content = {
        key: value if isinstance(value, list) or key not in _LISTS else [value]
        for key, value in content.items()
    }
    if "seed" in content:
        content["seed"] = [seed for entry in content["seed"] for seed in _seeds(entry)]
    _check_keys(content, _LISTS | _SINGLES, path)
    for key in content.keys() & _LISTS.keys():
        for value in content[key]:
            _check(key, value, _LISTS[key], path)
        if not content[key]:
            raise InvalidValueError(f"{path}: {key} must have at least one entry, got an empty list.")
    for key in content.keys() & _SINGLES.keys():
        _check(key, content[key], _SINGLES[key], path)
    if "set" in content:
        content["set"] = _flat(content["set"])
    if "detector" in content:
        content["detector"] = [_choice(entry, path) for entry in content["detector"]]
    return content


def _seeds(entry: Any) -> list[Any]:
    """Return the seeds of a list or range as text; anything else as it is."""
    return (parse_seeds(entry) if isinstance(entry, str) else None) or [entry]


def _choice(entry: str | dict[str, Any], path: Path) -> DetectorChoice:
    table: dict[str, Any] = {"name": entry} if isinstance(entry, str) else entry
    _check_keys(table, [*_DETECTOR_KEYS, *_RESTRICTIONS], path)
    given = {key: table.get(key, []) for key in _RESTRICTIONS}
    only = {key: value if isinstance(value, list) else [value] for key, value in given.items()}
    only["seed"] = [seed for entry in only["seed"] for seed in _seeds(entry)]
    for key, values in ({key: [table[key]] for key in _DETECTOR_KEYS.keys() & table.keys()} | only).items():
        for value in values:
            _check(key, value, (_DETECTOR_KEYS | _LISTS)[key], path)
    if "name" not in table:
        raise InvalidValueError(f"{path}: a detector needs a name, got {entry!r}.")
    datasets = expand("dataset", only["dataset"])
    for name in datasets:
        if name not in registry.names("datasets") and not name.startswith(registry.OWN):
            raise UnknownNameError("dataset", name, registry.names("datasets"))
    settings = table.get("set", {})
    return DetectorChoice(table["name"], table.get("preset"), settings, tuple(only["seed"]), tuple(datasets))


def _check_keys(table: Mapping[str, Any], allowed: Collection[str], path: Path) -> None:
    for key in table:
        if key not in allowed:
            raise UnknownNameError(f"key of a sweep ({path})", key, allowed)


def _check(key: str, value: Any, types: tuple[type, ...], path: Path) -> None:
    has_right_type = isinstance(value, types) and not isinstance(value, bool)
    if not has_right_type:
        expected = " or ".join(_TYPE_NAMES[each] for each in types)
        raise InvalidValueError(f"{path}: {key} must be {expected}, got {value!r}.")
    if key in _MINIMUM and not _MINIMUM[key] <= value < 2**32:
        raise InvalidValueError(f"{path}: {key} must be from {_MINIMUM[key]} to 2**32 - 1, got {value}.")


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``{"ocsvm.nu": 0.2}`` for ``{"ocsvm": {"nu": 0.2}}``, as TOML parses ``ocsvm.nu = 0.2``."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        own = value.items() if isinstance(value, dict) else ()
        flat |= {f"{key}.{name}": setting for name, setting in own} or {key: value}
    return flat
