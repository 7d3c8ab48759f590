"""``adbench-text new``: write a package with a new plug-in."""

import keyword
import re
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

_LONGEST = 40  # characters of a name


@click.command("new")
@click.argument("kind", type=click.Choice(["detector", "dataset"]))
@click.argument("name")
def command(kind: str, name: str) -> None:
    """Write a package of two small files with a detector or dataset named NAME that works.

    The package is the folder NAME in the current folder. Then change it step by step.
    """
    from adbench_text.cli import templates

    name = checked_name(kind, name)
    module = name.replace("-", "_")
    values = {
        "kind": kind,
        "name": name,
        "module": module,
        "title": _title(name),
    }
    files = {"pyproject.toml": templates.PYPROJECT, f"{module}.py": templates.CODE[kind]}
    _write(Path(name), {file: Template(text).substitute(values) for file, text in files.items()})
    click.echo(f"Wrote {' and '.join(f'{name}/{file}' for file in files)}. The next commands:\n")
    click.echo(Template(templates.NEXT[kind]).substitute(values))


def checked_name(kind: str, name: str) -> str:
    """Return a name in lower case with hyphens, or raise InvalidValueError if it cannot be used.

    Examples
    --------
    >>> checked_name("detector", "Unseen_Words")
    'unseen-words'
    """
    from adbench_text.cli import templates
    from adbench_text.errors import InvalidValueError
    from adbench_text.plugins import registry

    tidy = re.sub(r"[-_. ]+", "-", name.strip().lower())
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", tidy) or len(tidy) > _LONGEST:
        raise InvalidValueError(
            f"A name must be letters, digits and hyphens, begin with a letter and have at most {_LONGEST} "
            f"characters, got {name!r}."
        )
    families = [f"{plugin.name}-" for plugin in registry.plugins(f"{kind}s").values() if plugin.is_family]
    if tidy in registry.names(f"{kind}s") or tidy.startswith(tuple(families)):
        raise InvalidValueError(f"There is a {kind} named {tidy!r} already; use another name.")
    module, title = tidy.replace("-", "_"), _title(tidy)
    spec = find_spec(module)
    if keyword.iskeyword(title) or re.search(rf"import .*\b{title}\b", templates.CODE[kind]):
        raise InvalidValueError(f"The class of the {kind} cannot be named {title!r}; use another name.")
    if keyword.iskeyword(module) or (spec is not None and spec.origin):  # a folder alone has no origin
        raise InvalidValueError(f"{module!r} is the name of a Python module already; use another name.")
    return tidy


def _title(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def _write(folder: Path, files: dict[str, str]) -> None:
    from adbench_text.errors import DataError

    try:
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except FileExistsError as error:
        raise DataError(f"{folder} exists already: nothing is overwritten. Use another name.") from error
    except OSError as error:
        raise DataError(f"Cannot write {folder}: {error.strerror or error}.") from error
