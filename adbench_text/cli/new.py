"""``adbench-text new``: Write a package with a new detector or dataset."""

import keyword
import re
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from adbench_text.errors import DataError, InvalidValueError
from adbench_text.plugins import registry
from adbench_text.storage import writing

_TEMPLATES = Path(__file__).with_name("templates")
_NAME = re.compile(r"(?=.{1,40}$)[a-z][a-z0-9]*(-[a-z0-9]+)*")
_OPTIONS = {"detector": "--detector {} --dataset pydocs", "dataset": "--detector llr --dataset {}"}


@click.command("new")
@click.argument("kind", type=click.Choice(list(_OPTIONS)))
@click.argument("name")
def command(kind: str, name: str) -> None:
    """Write a package of two small files with a detector or dataset named NAME that works.

    The package is the folder NAME in the current folder. Then change it step by step.
    """
    given, name = name, re.sub(r"[-_. ]+", "-", name.strip().lower())
    if not _NAME.fullmatch(name):
        raise InvalidValueError(
            "A name must be letters, digits and hyphens, begin with a letter and have at most 40 "
            f"characters, got {given!r}."
        )
    module, title = name.replace("-", "_"), "".join(map(str.capitalize, name.split("-")))
    _check(kind, name, module, title)
    folder = Path(name)
    if folder.exists():
        raise DataError(f"{folder} exists already: nothing is overwritten. Use another name.")
    with writing(folder):
        folder.mkdir()
        for template in (_TEMPLATES / kind).iterdir():
            text = Template(template.read_text(encoding="utf-8"))
            file = folder / template.stem.replace("module", module)
            file.write_text(text.substitute(name=name, module=module, title=title), encoding="utf-8")
    click.echo(f"Wrote {name}/pyproject.toml and {name}/{module}.py. The next commands:\n")
    click.echo(f"    pip install --editable ./{name}\n    adbench-text check {name}")
    click.echo(f"    adbench-text run {_OPTIONS[kind].format(name)} --limit 200")


def _check(kind: str, name: str, module: str, title: str) -> None:
    """Raise InvalidValueError if there is a plug-in, module or class of this name, or cannot be one."""
    code = (_TEMPLATES / kind / "module.py.txt").read_text(encoding="utf-8")
    if name in registry.names(f"{kind}s"):
        raise InvalidValueError(f"There is a {kind} named {name!r} already; use another name.")
    spec = find_spec(module)
    if keyword.iskeyword(title) or re.search(rf"import .*\b{title}\b", code):
        raise InvalidValueError(f"The class of the {kind} cannot be named {title!r}; use another name.")
    if keyword.iskeyword(module) or (spec is not None and spec.origin):  # a folder alone has no origin
        raise InvalidValueError(f"{module!r} is the name of a Python module already; use another name.")
