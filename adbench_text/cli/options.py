"""Options that several commands share, and help in sections."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from adbench_text.errors import UnknownNameError
from adbench_text.escaping import printable
from adbench_text.option import Option

# Kinds of names that are checked here, with the noun for messages. Other names are checked later.
_NOUNS = {
    "checkable": "detector or dataset",
    "describable": "detector, dataset, word vectors or encoder",
    "fetchable": "dataset, word vectors or vocabulary",
    "metrics": "metric",
}
_OF_DATASETS = ("checkable", "describable", "fetchable")  # may be a variant, as sib-200:deu_Latn
_WITH_PRESETS = ("describable",)  # may have a preset, as llr:robust
_IN_FILES = ("checkable", "describable", "metrics")  # may be in a file, as ./mine.py:Mine


class Name(click.ParamType[str]):
    """A name of a kind, or `several` separated by commas. The shell can complete it."""

    def __init__(self, kind: str, several: bool = False) -> None:
        self.kind, self.several = kind, several
        self.name = "names" if several else "name"  # click prints it in capitals

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; raise UnknownNameError if its kind has no such name."""
        if self.kind in _NOUNS and not self.several:
            from adbench_text.cli.list import names_of
            from adbench_text.own_file import WRITTEN
            from adbench_text.plugins import registry
            from adbench_text.plugins.configure import is_preset_of_default

            is_in_file = self.kind in _IN_FILES and WRITTEN.fullmatch(value)
            before, colon, _ = value.rpartition(":")
            name = before if colon and self.kind in _WITH_PRESETS else value
            is_variant = self.kind in _OF_DATASETS and registry.find("datasets", value)
            if is_in_file or is_variant or (self.kind in _WITH_PRESETS and is_preset_of_default(name)):
                return value
            if not {value, name} & {*(known := names_of(self.kind))}:
                raise UnknownNameError(_NOUNS[self.kind], name, known)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with the incomplete word, or with its part after the last comma."""
        from adbench_text.cli.list import names_of

        before, comma, last = incomplete.rpartition(",")
        names = (name for name in names_of(self.kind) if name.startswith(last))
        return [CompletionItem(f"{before}{comma}{name}") for name in names]


class SectionedCommand(click.Command):
    """A command whose help has sections. The options that all commands have come last.

    `listed` are its options, with a title before each section.
    """

    def __init__(
        self, name: str, params: list[click.Parameter], listed: Sequence[str | click.Option], **settings: Any
    ) -> None:
        own = [each for each in listed if isinstance(each, click.Option)]
        super().__init__(name, params=[*params, *own], **settings)
        self._listed = listed

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; if one is a store, the error says how to report from it."""
        given = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            from adbench_text.storage import database_advice

            if advice := next(filter(None, map(database_advice, map(Path, given))), ""):
                raise click.UsageError(f"{error.message.rstrip('.')}. {advice}.", ctx) from error
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        others = [option for option in options if option not in self._listed]
        sections: dict[str, list[tuple[str, str]]] = {}
        for title_or_option in [*self._listed, "General", *others]:
            if isinstance(title_or_option, str):
                rows = sections[title_or_option] = []
            elif record := title_or_option.get_help_record(ctx):
                rows.append(record)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


class Names(click.Option):
    """An option for names. It may be repeated, or take a list with commas, or a pattern.

    Its last name is the name of the parameter and the kind of names: ``"--dataset", "-s", "datasets"``.
    """

    def __init__(self, param_decls: Sequence[str], **settings: Any) -> None:
        kind = Name(param_decls[-1], several=True)
        super().__init__(param_decls, multiple=True, type=kind, **settings)


def click_option(option: Option, **settings: Any) -> click.Option:
    """Return the option of click for a declared option; `settings` are passed to `click.Option`."""
    flag, kind = f"--{option.name}", _type(option)
    if option.is_list:
        settings["callback"] = lambda ctx, param, values: [
            kind(part, param, ctx) for value in values for part in option.separate(value)
        ]
    elif option.is_negated:
        settings |= {"is_flag": True, "flag_value": False, "show_default": False}
    elif option.kind is bool:
        flag = f"{flag}/--no-{option.name}"
    else:
        settings["type"] = kind
    return click.Option(
        [flag, *([option.short] if option.short else []), option.field],
        default=option.default,
        multiple=option.is_several,
        metavar=option.metavar,
        help=option.help,
        **settings,
    )


def _type(option: Option) -> click.ParamType[Any]:
    """Return the type of click for the values of a declared option."""
    if option.names:
        return Name(option.names, option.is_several)
    if option.choices:
        return click.Choice(option.choices)
    if option.kind is int:
        return click.IntRange(option.least)
    return click.FLOAT if option.kind is float else click.STRING


_DEBUG, _QUIET = "adbench_text.debug", "adbench_text.quiet"


def is_debugging() -> bool:
    """Return whether ``--debug`` is given."""
    return bool(click.get_current_context().meta.get(_DEBUG))


def is_quiet() -> bool:
    """Return whether ``--quiet`` is given to a command for own documents."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def say(text: str, *, err: bool = False) -> None:
    """Print a text unless the command is quiet. Errors and notes are printed elsewhere."""
    if not is_quiet():
        click.echo(printable(text), err=err)


def _be_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Store ``--quiet`` in the context, where `is_quiet` finds it."""
    ctx.meta[_QUIET] = value


#: ``--quiet`` of the commands for own documents. It keeps notes, because they report problems.
QUIET = click.Option(
    ["--quiet", "-q"],
    is_flag=True,
    expose_value=False,
    callback=_be_quiet,
    help="Print nothing but errors and notes.",
)


def _apply(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Apply an option. It sets environment variables, so that worker processes see it."""
    if value and isinstance(param.envvar, str):
        os.environ[param.envvar] = value
    elif value and param.name == "offline":
        os.environ.update(ADBENCH_TEXT_OFFLINE="1", MLFLOW_DISABLE_TELEMETRY="true")
    elif value:
        ctx.meta[_DEBUG] = True  # the contexts of the group and its commands share `meta`


def _general(name: str, **settings: Any) -> click.Option:
    """Return an option that takes effect when it is read, and is no argument of the command."""
    return click.Option([name], callback=_apply, expose_value=False, is_eager=True, **settings)


#: Options of the group and of every command.
GENERAL = [
    _general(
        "--data-dir",
        envvar="ADBENCH_TEXT_DATA",
        type=click.Path(file_okay=False),
        help="Folder of corpora and word vectors.  [default: the platform's user data folder]",
        show_default=False,
    ),
    _general("--offline", is_flag=True, help="Never download anything."),
    _general("--debug", is_flag=True, help="Print the traceback of each error."),
]


TRACKING_URI = click.Option(
    ["--tracking-uri"],
    envvar="MLFLOW_TRACKING_URI",
    default="sqlite:///mlflow.db",
    help="Address of the MLflow store.",
)

#: Options that choose the results of a store.
TRACKING = [
    TRACKING_URI,
    click.Option(
        ["--experiment"], default="adbench-text", help="Prefix of the names of the MLflow experiments."
    ),
]
