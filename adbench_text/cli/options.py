"""Options that several commands share, help in sections, and the sweep that options describe."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.names import ENGINES, PROTOCOLS, Name, names_of_splits, seeds, shares
from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.escaping import one_line
from adbench_text.plugins import registry

if TYPE_CHECKING:
    from adbench_text.plugins.configure import DetectorChoice
    from adbench_text.run.engine import Engine
    from adbench_text.sweep.sweep import Sweep


_COLUMNS = ("text", "label", "split")  # options on the columns of the user's own documents
_OF_ENGINES = ("jobs", "gpu_jobs", "address")  # options that are settings of engines


class SectionedCommand(click.Command):
    """A command whose help lists its options in `sections`, names by title; other options come last."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        title_of = {name: title for title, names in self.sections.items() for name in names}
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in [*self.sections, "General"]}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                rows[next((title_of[name] for name in param.opts if name in title_of), "General")].append(
                    record
                )
        width = min(30, max(len(option) for own in rows.values() for option, _ in own))
        for title, own in ((title, own) for title, own in rows.items() if own):
            with formatter.section(title):  # all of one width, so that the sections are aligned
                formatter.write_dl([(f"{option:{width}}", text) for option, text in own])


class LazyHelp(click.Option):
    """An option whose help is the result of `text`: it lists what would be slow to import."""

    def __init__(self, *args: Any, text: Callable[[], str], **options: Any) -> None:
        super().__init__(*args, **options)
        self._text = text

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        self.help = self._text()
        return super().get_help_record(ctx)


def names_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option for names: given several times, as a list with commas, or as a pattern.

    Its last name is that of the parameter, and the kind of the names: ``"--dataset", "-s", "datasets"``.
    """
    kind = Name(names[-1], several=True)
    return click.option(*names, multiple=True, type=kind, metavar="NAMES", **settings)


_SPLITS = (
    names_option(
        "--dataset",
        "-s",
        "datasets",
        help="Datasets: names with commas between them, a pattern such as '20*', or all; or files:PATH for "
        "labelled documents of your own.",
    ),
    click.option(
        "--text",
        multiple=True,
        metavar="COLUMN",
        help="For files: column of the text; several are joined in this order.  [default: guessed]",
    ),
    click.option(
        "--label", metavar="COLUMN", help="For files: column of the classes.  [default: label or class]"
    ),
    click.option(
        "--split",
        metavar="COLUMN",
        help="For files: column with train or test.  [default: 70 % of the different texts of each class]",
    ),
    click.option(
        "--protocol",
        type=click.Choice(PROTOCOLS),
        help="What is normal: one class in turn, or all but one; or rank the test documents without others "
        "for training; or draw both parts with each seed.  [default: that of the dataset]",
    ),
    names_option("--inlier", "inliers", help="Inlier classes, or names of splits.  [default: each in turn]"),
    click.option(
        "--contamination",
        "levels",
        multiple=True,
        metavar="SHARES",
        callback=shares,
        help="Shares of outliers in the training data, in [0, 0.5); if unlabelled, in the test documents.  "
        "[default: of the dataset, for most 0,0.05,0.1,0.15]",
    ),
    click.option(
        "--test-outliers",
        type=float,
        metavar="SHARE",
        help="Thin the outliers of the test set to this share of it, in (0, 1).  [default: keep all]",
    ),
    click.option(
        "--seed",
        "seeds",
        multiple=True,
        metavar="SEEDS",
        callback=seeds,
        help="Seeds: a number, a list 0,2,5 or a range 0-4.  [default: 0]",
    ),
    click.option(
        "--limit", type=click.IntRange(1), help="Maximum number of documents per class, for a quick look."
    ),
)


def choosing_splits(command: Any) -> Any:
    """Add the options that choose splits of datasets to a command."""
    for decorate in reversed(_SPLITS):
        command = decorate(command)
    return command


def adding(*options: click.Option) -> Callable[[Any], Any]:
    """Return a decorator that adds options to a command; several commands may share them."""

    def decorate(command: Any) -> Any:
        command.__click_params__ = [*getattr(command, "__click_params__", ()), *reversed(options)]
        return command

    return decorate


_DEBUG = "adbench_text.debug"


def is_debugging() -> bool:
    """Return whether ``--debug`` is given."""
    return bool(click.get_current_context().meta.get(_DEBUG))


def _apply(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Put a general option into effect; worker processes see the environment."""
    if value and param.name == "data_dir":
        os.environ["ADBENCH_TEXT_DATA"] = value
    elif value and param.name == "offline":
        os.environ.update(ADBENCH_TEXT_OFFLINE="1", MLFLOW_DISABLE_TELEMETRY="true")
    elif value:
        ctx.meta[_DEBUG] = True  # the contexts of the group and its commands share it


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


class _Address(click.types.StringParamType):
    """The address of a store; an environment variable holds one, which may contain spaces."""

    envvar_list_splitter = "\n"


def tracking_uri_option(several: bool = False) -> click.Option:
    """Return the option ``--tracking-uri``; `several` allows many addresses."""
    default = "sqlite:///mlflow.db"
    return click.Option(
        ["--tracking-uri"],
        type=_Address(),
        multiple=several,
        envvar="MLFLOW_TRACKING_URI",
        default=[default] if several else default,
        help="Address of the MLflow store." + (" May be given several times." if several else ""),
    )


EXPERIMENT = click.Option(
    ["--experiment"], default="adbench-text", help="Prefix of the names of the MLflow experiments."
)
#: Options that choose the results of a store.
TRACKING = [tracking_uri_option(), EXPERIMENT]


def _print_note(text: str) -> None:
    click.echo(one_line(text), err=True)


def sweep_option(**settings: Any) -> Callable[[Any], Any]:
    """Return the option ``--sweep`` of the command ``run``: the file's keys are defaults of its options."""
    return click.option("--sweep", type=Name("sweeps"), is_eager=True, callback=_use_file, **settings)


def _use_file(ctx: click.Context, param: click.Parameter, name: str | None) -> str | None:
    from adbench_text.sweep.file import find, read

    if name:
        file = read(find(name))
        params = {opt.removeprefix("--"): each for each in ctx.command.params for opt in each.opts}
        ctx.default_map = {}
        for key, values in file.options.items():
            if key not in params:
                raise UnknownNameError(f"key of a sweep ({file.path})", key, [*params, "only"])
            if not values:
                raise InvalidValueError(
                    f"{file.path}: {key} must have at least one entry, got an empty list."
                )
            ctx.default_map[str(params[key].name)] = values if params[key].multiple else values[-1]
    return name


def sweep_named(name: str) -> "Sweep":
    """Return the sweep of a name or file, as ``run --sweep NAME`` would run it."""
    from adbench_text.cli.run import command

    return sweep_of(command.make_context("run", ["--sweep", name]).params)


def splits_of(options: Mapping[str, Any]) -> "Sweep":
    """Return the sweep without detectors that the options of `choosing_splits` describe."""
    of_detectors = {"sweep": None, "preset": None, "detectors": (), "settings": ()}
    return sweep_of(of_detectors | dict(options), needed=("dataset",))


def sweep_of(
    options: Mapping[str, Any],
    message: Callable[[str], object] = _print_note,
    needed: Sequence[str] = ("detector", "dataset"),
) -> "Sweep":
    """Return the sweep that options describe; ``--set`` goes before the settings of the file ``--sweep``.

    Of the file's detectors, those that an option names keep their presets and settings.
    `message` receives a line about detectors that are left out.
    """
    from adbench_text.plugins.configure import setting
    from adbench_text.sweep.names import choices_of, expand
    from adbench_text.sweep.sweep import Sweep, choose

    choices = _choices_of_file(options["sweep"], message) if options["sweep"] else []
    if options["detectors"]:
        known = list(dict.fromkeys(choice.name for choice in choices))
        named = choices_of(options["detectors"], message, known)
        if options["preset"] and any(choice.preset for choice in named):
            raise click.UsageError("--preset is for all detectors: give it or -d NAME:PRESET, not both.")
        choices = _chosen(choices, named, message)
    for kind, given in (("detector", choices), ("dataset", options["datasets"])):
        if kind in needed and not given:
            raise click.UsageError(f"Give at least one --{kind}; see 'adbench-text list {kind}s'.")
    datasets = _with_own(expand("dataset", options["datasets"]), {key: options[key] for key in _COLUMNS})
    settings = dict(map(setting, options["settings"]))
    settings |= {name: options[name] for name in ("device", "encoder", "vectors") if options.get(name)}
    protocol = options["protocol"]
    return Sweep(
        choose(choices, options["preset"], settings, override=True),
        datasets,
        expand("inlier class", options["inliers"], lambda: names_of_splits(datasets, protocol)),
        sorted(set(options["levels"])) or None,
        list(dict.fromkeys(options["seeds"])) or [0],
        options["limit"],
        options["test_outliers"],
        protocol,
    )


def _choices_of_file(name: str, message: Callable[[str], object]) -> "list[DetectorChoice]":
    """Return the detectors of a sweep's file, with their settings, seeds and datasets."""
    from dataclasses import replace

    from adbench_text.sweep.file import find, read
    from adbench_text.sweep.names import choices_of, expand, parse_seeds
    from adbench_text.sweep.sweep import choose

    file, choices = read(find(name)), []
    for text in file.detectors:
        only = file.only.get(text, {})
        seeds = [seed for each in only.get("seed", ()) for seed in parse_seeds(each)]
        datasets = expand("dataset", only.get("dataset", ()))
        of_text = choices_of([text], message)
        choices += [replace(each, seeds=tuple(seeds), datasets=tuple(datasets)) for each in of_text]
    return choose(choices, None, file.settings)  # all of them: a setting may belong to one that is not chosen


def _chosen(
    of_sweep: "Sequence[DetectorChoice]",
    named: "Sequence[DetectorChoice]",
    message: Callable[[str], object],
) -> "list[DetectorChoice]":
    """Return the detectors of a sweep that are named, and those that it lacks as they are given."""
    from adbench_text.plugins.configure import DEFAULT, text_of_settings

    chosen: list[DetectorChoice] = []
    for each in named:
        found = [
            choice
            for choice in of_sweep
            if choice.name == each.name
            and each.preset in (None, choice.preset or DEFAULT)
            and (not each.settings or each.settings == choice.settings)
        ]
        if of_sweep and not found:
            given = each.preset or ("" if each.settings else DEFAULT), text_of_settings(each.settings)
            message(f"{' '.join(filter(None, (each.name, *given)))} is not in the sweep; it is run as well.")
        chosen += found or [each]
    return chosen


def _with_own(names: Sequence[str], columns: Mapping[str, Any]) -> list[str]:
    """Return the names of datasets; labelled documents of the user, ``files:tickets.csv``, are read."""
    if not any(name.startswith(registry.OWN) for name in names):
        for option, given in columns.items():
            if given:
                column = given if isinstance(given, str) else given[0]
                raise click.UsageError(
                    f"--{option} {column} names a column of your own documents: "
                    f"give these as --dataset {registry.OWN}PATH."
                )
        return list(names)
    from adbench_text.corpora.labelled import LabelledFiles

    datasets = []
    for name in names:
        if name.startswith(registry.OWN):
            name = registry.add_dataset(LabelledFiles(name.removeprefix(registry.OWN), **columns))
        if name in datasets:
            raise click.UsageError(f"Two datasets have the name {name!r}; rename one of the files.")
        datasets.append(name)
    return datasets


def engine_of(options: Mapping[str, Any]) -> "Engine":
    """Return the engine that options describe."""
    from adbench_text.run import engine

    name = options["engine"] or "local"
    settings = {key: options[key] for key in _OF_ENGINES if options[key] is not None}
    if settings.get("jobs") == "auto":
        from joblib import cpu_count

        settings["jobs"] = int(cpu_count())
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    kind: type[Engine] = {"local": engine.Local, "dask": engine.Dask}[name]
    accepted = inspect.signature(kind).parameters
    for key in settings:
        if key not in accepted:
            raise UnknownNameError(f"setting of the engine {name}", key, accepted)
    return kind(**settings)
