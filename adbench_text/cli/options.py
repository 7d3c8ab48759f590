"""Options that several commands share, and help in sections."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from adbench_text.contract.protocols import PROTOCOLS
from adbench_text.errors import UnknownNameError
from adbench_text.escaping import printable
from adbench_text.reading.options import READ_OPTIONS, ReadOption, ReadOptions

# Kinds of names that are checked here, with the noun for messages; other names are checked by their users.
_NOUNS = {
    "checkable": "detector or dataset",
    "describable": "detector, dataset, word vectors or encoder",
    "fetchable": "dataset, word vectors or vocabulary",
    "metrics": "metric",
}
_OF_DATASETS = ("checkable", "describable", "fetchable")  # of these kinds, sib-200:deu_Latn is one
_WITH_PRESETS = ("describable",)  # of these kinds, llr:robust is one
_IN_FILES = ("checkable", "describable", "metrics")  # of these kinds, ./mine.py:Mine is one


class Name(click.ParamType[str]):
    """A name of a kind that the shell can complete, or `several` with commas."""

    name = "name"

    def __init__(self, kind: str, several: bool = False) -> None:
        self.kind, self.several = kind, several

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; raise UnknownNameError if it is not of its kind."""
        if self.kind in _NOUNS and not self.several:
            from adbench_text.cli.list import names_of
            from adbench_text.own_file import WRITTEN
            from adbench_text.plugins import registry

            is_in_file = self.kind in _IN_FILES and WRITTEN.fullmatch(value)
            before, colon, _ = value.rpartition(":")
            name = before if colon and self.kind in _WITH_PRESETS else value
            is_variant = self.kind in _OF_DATASETS and registry.find("datasets", value)
            if not (is_in_file or is_variant) and not {value, name} & {*(known := names_of(self.kind))}:
                raise UnknownNameError(_NOUNS[self.kind], name, known)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with the incomplete word, or with what follows its last comma."""
        from adbench_text.cli.list import names_of

        before, comma, last = incomplete.rpartition(",")
        names = (name for name in names_of(self.kind) if name.startswith(last))
        return [CompletionItem(f"{before}{comma}{name}") for name in names]


class SectionedCommand(click.Command):
    """A command whose help lists its options in sections; options of all commands come last.

    `listed` are its options, with a title before each section.
    """

    def __init__(
        self, name: str, params: list[click.Parameter], listed: Sequence[str | click.Option], **settings: Any
    ) -> None:
        own = [each for each in listed if isinstance(each, click.Option)]
        super().__init__(name, params=[*params, *own], **settings)
        self._listed = listed

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        others = [option for option in options if option not in self._listed]
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in [*self._listed, "General", *others]:
            if isinstance(each, str):
                rows = sections[each] = []
            elif record := each.get_help_record(ctx):
                rows.append(record)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


class Names(click.Option):
    """An option for names: given several times, as a list with commas, or as a pattern.

    Its last name is that of the parameter, and the kind of the names: ``"--dataset", "-s", "datasets"``.
    """

    def __init__(self, param_decls: Sequence[str], **settings: Any) -> None:
        kind = Name(param_decls[-1], several=True)
        super().__init__(param_decls, multiple=True, type=kind, metavar="NAMES", **settings)


def listed(kind: click.ParamType[Any]) -> Callable[..., list[Any]]:
    """Return a callback that reads values of a kind, each a number or a list such as ``0,0.05``."""
    return lambda ctx, param, values: [kind(part, param, ctx) for each in values for part in each.split(",")]


def seeds(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> list[int]:
    """Return the seeds that texts stand for: a number, a list such as ``0,2,5``, a range such as ``0-4``."""
    from adbench_text.run.names import parse_seeds

    return [seed for value in values for seed in parse_seeds(value)]


def _reading(option: ReadOption) -> click.Option:
    """Return the option of commands for a field of `ReadOptions`."""
    flag = f"--{option.name.replace('_', '-')}"
    settings: dict[str, Any] = {"default": getattr(ReadOptions(), option.field), "help": option.help}
    if option.is_negated:
        settings |= {"is_flag": True, "flag_value": False, "show_default": False}
    elif option.kind is bool:
        flag = f"{flag}/--no-{option.name}"
    elif option.kind is int:
        settings |= {"type": click.IntRange(0), "metavar": "N"}
    elif option.choices:
        settings["type"] = click.Choice(option.choices)
    return click.Option([flag, option.field], **settings)


#: Options that say how a file is read where a guess is wrong.
READING = [_reading(option) for option in READ_OPTIONS]

#: Options that choose splits of datasets.
SPLITS = [
    Names(
        ["--dataset", "-s", "datasets"],
        help="Names, patterns such as '20*', or all; or documents with labels: files:PATH, hf:NAME.",
    ),
    click.Option(
        ["--text"], multiple=True, metavar="COLUMN", help="For files: column of the text.  [default: guessed]"
    ),
    click.Option(
        ["--label"], metavar="COLUMN", help="For files: column of the classes.  [default: label or class]"
    ),
    click.Option(
        ["--split"], metavar="COLUMN", help="For files: column with train or test.  [default: 70 % train]"
    ),
    click.Option(
        ["--odd-words"],
        metavar="COLUMN",
        help="For files: column with the [start, end] pairs of the odd words.",
    ),
    click.Option(
        ["--language"],
        metavar="TAG",
        help="For files: their language, as de or pt-br.  [default: en]",
    ),
    *READING,
    click.Option(
        ["--protocol"], type=click.Choice(PROTOCOLS), help="How to split.  [default: that of the dataset]"
    ),
    Names(["--inlier", "inliers"], help="Inlier classes, or names of splits.  [default: each in turn]"),
    click.Option(
        ["--contamination", "levels"],
        multiple=True,
        metavar="SHARES",
        callback=listed(click.FLOAT),
        help="Shares of outliers in the training data, in [0, 0.5); with rank-all, in the test documents.  "
        "[default: of the dataset, for most 0,0.05,0.1,0.15]",
    ),
    click.Option(
        ["--test-outliers"],
        multiple=True,
        metavar="SHARES",
        callback=listed(click.FLOAT),
        help="Shares that the outliers of the test set are thinned to, in (0, 1]; 1 keeps all.  [default: 1]",
    ),
    click.Option(
        ["--known-outliers", "known"],
        multiple=True,
        metavar="NUMBERS",
        callback=listed(click.IntRange(0)),
        help="Numbers of known outliers, 0,1,3,10,50: documents of other classes that a detector may learn "
        "from.  [default: 0]",
    ),
    click.Option(
        ["--known-from"], multiple=True, metavar="CLASSES", help="Their class.  [default: all others]"
    ),
    click.Option(
        ["--seed", "seeds"],
        multiple=True,
        metavar="SEEDS",
        callback=seeds,
        help="Seeds: a number, a list 0,2,5 or a range 0-4.  [default: 0]",
    ),
    click.Option(
        ["--limit"], type=click.IntRange(1), help="Maximum number of documents per class, for a quick look."
    ),
]

_DEBUG, _QUIET = "adbench_text.debug", "adbench_text.quiet"


def is_debugging() -> bool:
    """Return whether ``--debug`` is given."""
    return bool(click.get_current_context().meta.get(_DEBUG))


def is_quiet() -> bool:
    """Return whether ``--quiet`` is given to a command for own documents."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def say(text: str, *, err: bool = False) -> None:
    """Print what is no error and no note, unless the command is quiet."""
    if not is_quiet():
        click.echo(printable(text), err=err)


def _be_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_QUIET] = value


#: ``--quiet`` of the commands for own documents; notes remain, since they say that something is amiss.
QUIET = click.Option(
    ["--quiet", "-q"],
    is_flag=True,
    expose_value=False,
    callback=_be_quiet,
    help="Print nothing but errors and notes.",
)


def _apply(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Put an option into effect; worker processes see the environment."""
    if value and isinstance(param.envvar, str):
        os.environ[param.envvar] = value
    elif value and param.name == "offline":
        os.environ.update(ADBENCH_TEXT_OFFLINE="1", MLFLOW_DISABLE_TELEMETRY="true")
    elif value:
        ctx.meta[_DEBUG] = True  # the contexts of the group and its commands share it


#: Help of ``--encoder``.
ENCODER = "As --set encoder=...: a name, a path, or a function in a file, ./mine.py:embed."


def _general(name: str, **settings: Any) -> click.Option:
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
