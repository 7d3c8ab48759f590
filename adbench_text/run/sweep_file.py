"""Read sweeps from TOML files; the keys are the options of ``adbench-text run``.

    dataset = ["20news", "agnews"]
    detector = ["llr", "ocsvm:paper-grid", "pyod-knn(encoder=minilm)", "ensemble:clean"]
    contamination = [0, 0.05]
    seed = "0-2"
    jobs = "auto"

    [only]
    "ensemble:clean" = { seed = 0, dataset = "agnews" }

Write a value as on the command line, without quotes for the shell; a list gives an option several times. The
table ``only`` restricts detectors, written as in ``detector``, to some of the seeds or datasets.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from adbench_text.checks import check_choice
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.option import Option
from adbench_text.run.cell_options import OF_CELLS
from adbench_text.storage import content_of

Texts = list[str]


@dataclass(frozen=True)
class SweepFile:
    """The content of the file of a sweep."""

    path: Path
    detectors: Texts
    only: dict[str, dict[str, Texts]]  # seeds and datasets, by detector as written
    values: dict[str, Any]  # of the options in `OF_CELLS` except detectors, by field
    others: dict[str, str]  # of options that change no cell, by key; the command reads them

    @property
    def name(self) -> str:
        """The name of a built-in sweep, or the path of another file."""
        name = self.path.stem
        return name if name in names() and find(name) == self.path else str(self.path)


def names() -> list[str]:
    """Return the names of the built-in sweeps."""
    folder = files("adbench_text.reports").joinpath("sweeps")
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def find(name: str) -> Path:
    """Return the file of a built-in sweep; any other text is the path of a file."""
    if name in names():
        return Path(str(files("adbench_text.reports").joinpath("sweeps").joinpath(f"{name}.toml")))
    path = Path(name)
    if len(path.parts) == 1 and not path.suffix and not path.exists():
        raise UnknownNameError("sweep", name, names())
    return path


def read(path: Path) -> SweepFile:
    """Return the content of a file.

    Raise DataError if it cannot be read, and InvalidValueError if it is not TOML, or has unknown tables or
    wrong values.
    """
    try:
        content = tomllib.loads(content_of(path).decode())
    except OSError as error:
        raise DataError(f"Cannot read the sweep {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValueError(f"{path} is not valid TOML: {error}.") from error
    try:
        only = _table(content.pop("only", {}))
        detectors = _texts(content.pop("detector", []))
        restrictions = {name: _restriction(_table(table)) for name, table in only.items()}
        for name in only:
            check_choice("detector of the sweep", name, detectors)
        texts: dict[str, Texts] = {}
        for key, value in content.items():
            name = key.replace("_", "-")
            if name in texts:
                raise InvalidValueError(f"Expected one of {name!r} and {name.replace('-', '_')!r}, got both.")
            texts[name] = _texts(value)
        of_cells = [option for option in OF_CELLS if option.name in texts]
        values = {option.field: option.value(texts.pop(option.name)) for option in of_cells}
        others = {name: Option(name).value(given) for name, given in texts.items()}
    except InvalidValueError as error:
        raise InvalidValueError(f"{path}: {error}") from error
    return SweepFile(path, detectors, only=restrictions, values=values, others=others)


def _table(value: Any) -> dict[str, Any]:
    """Return a table of TOML; raise InvalidValueError for another value."""
    if not isinstance(value, dict):
        raise InvalidValueError(f"Expected a table, got {value!r}.")
    return value


def _restriction(table: Mapping[str, Any]) -> dict[str, Texts]:
    """Return the seeds and datasets of a detector in ``only``; raise InvalidValueError for another key."""
    for key in table:
        check_choice("key of the table 'only'", key, ("seed", "dataset"))
    return {key: _texts(value) for key, value in table.items()}


def _texts(value: Any) -> Texts:
    """Return a value, or a list of values, as text for the command line."""
    values = value if isinstance(value, list) else [value]
    if wrong := [each for each in values if not isinstance(each, str | int | float)]:
        raise InvalidValueError(f"Expected text or a number, got {wrong[0]!r}.")
    return [str(each) for each in values]
