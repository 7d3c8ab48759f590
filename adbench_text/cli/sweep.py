"""The sweep that the options of ``run`` and the file ``--sweep`` describe."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.escaping import one_line
from adbench_text.plugins import registry
from adbench_text.text.hub import HUB

if TYPE_CHECKING:
    from adbench_text.plugins.configure import DetectorChoice
    from adbench_text.run.sweep import Sweep
    from adbench_text.run.sweep_file import SweepFile

_OF_FILES = ("text", "label", "split", "odd_words", "language")  # options on the user's own documents


def _print_note(text: str) -> None:
    click.echo(one_line(text), err=True)


def use_file(ctx: click.Context, param: click.Parameter, name: str | None) -> "SweepFile | None":
    """Read the file given by ``--sweep``; its values become defaults of the options with the same names."""
    from adbench_text.run.sweep_file import find, read

    if name is None:
        return None
    file, ctx.default_map = read(find(name)), {}
    params = {opt.removeprefix("--"): each for each in ctx.command.params for opt in each.opts}
    for key, values in file.options.items():
        if key not in params:
            raise UnknownNameError(f"key of a sweep ({file.path})", key, [*params, "only"])
        if not values:
            raise InvalidValueError(f"{file.path}: {key} must have at least one entry, got an empty list.")
        ctx.default_map[str(params[key].name)] = values if params[key].multiple else values[-1]
    return file


def sweep_named(name: str) -> "Sweep":
    """Return the sweep of a name or file, as ``run --sweep NAME`` would run it."""
    from adbench_text.cli.run import command

    return sweep_of(command.make_context("run", ["--sweep", name]).params)


def splits_of(options: Mapping[str, Any]) -> "Sweep":
    """Return the sweep without detectors that the options `SPLITS` describe."""
    from adbench_text.run.names import expand
    from adbench_text.run.sweep import Sweep

    if not options["datasets"]:
        raise click.UsageError("Give at least one --dataset; see 'adbench-text list datasets'.")
    of_files = {name: options[name] for name in _OF_FILES if options[name]}
    datasets = _with_own(expand("dataset", options["datasets"]), of_files)
    protocol = options["protocol"]
    return Sweep(
        [],
        datasets,
        expand("inlier class", options["inliers"], lambda: names_of_splits(datasets, protocol)),
        sorted(set(options["levels"])) or None,
        list(dict.fromkeys(options["seeds"])) or [0],
        options["limit"],
        options["test_outliers"],
        protocol,
        sorted(set(options["labelled"])) or [0],
        options["labelled_from"] or "",
        [*dict.fromkeys(kind for each in options["planted"] for kind in each.split(","))] or [""],
    )


def names_of_splits(datasets: Iterable[str], protocol: str | None) -> list[str]:
    """Return the names of the splits of datasets."""
    from adbench_text.corpora.split import protocol_of, splits

    sources = map(registry.dataset, datasets)
    return [name for source in sources for name in splits(source, protocol_of(source, protocol))]


def sweep_of(options: Mapping[str, Any]) -> "Sweep":
    """Return the sweep that options describe; ``--set`` goes before the detectors' own settings.

    Of the file's detectors, those that an option names keep their presets and settings.
    """
    from adbench_text.plugins.configure import setting
    from adbench_text.run.names import choices_of
    from adbench_text.run.sweep import choose

    choices = _choices_of_file(options["sweep"]) if options["sweep"] else []
    if options["detectors"]:
        known = list(dict.fromkeys(choice.name for choice in choices))
        named = choices_of(options["detectors"], _print_note, known)
        if options["preset"] and any(choice.preset for choice in named):
            raise click.UsageError("--preset is for all detectors: give it or -d NAME:PRESET, not both.")
        choices = _chosen(choices, named)
    if not choices:
        raise click.UsageError("Give at least one --detector; see 'adbench-text list detectors'.")
    splits, settings = splits_of(options), dict(map(setting, options["settings"]))
    settings |= {name: options[name] for name in ("device", "encoder", "vectors") if options[name]}
    return replace(splits, detectors=choose(choices, options["preset"], settings))


def _choices_of_file(file: "SweepFile") -> "list[DetectorChoice]":
    """Return the detectors of a sweep's file, with their settings, seeds and datasets."""
    from adbench_text.run.names import choices_of, expand, parse_seeds

    choices: list[DetectorChoice] = []
    for text in file.detectors:
        only = file.only.get(text, {})
        seeds = [seed for each in only.get("seed", ()) for seed in parse_seeds(each)]
        datasets = expand("dataset", only.get("dataset", ()))
        of_text = choices_of([text], _print_note)
        choices += [replace(each, seeds=tuple(seeds), datasets=tuple(datasets)) for each in of_text]
    return choices


def _chosen(
    of_sweep: "Sequence[DetectorChoice]", named: "Sequence[DetectorChoice]"
) -> "list[DetectorChoice]":
    """Return the detectors of a sweep that are named, and those that it lacks as they are given."""
    from adbench_text.plugins.configure import DEFAULT

    chosen: list[DetectorChoice] = []
    for each in named:
        found = [
            choice
            for choice in of_sweep
            if choice.name == each.name
            and each.preset in (None, choice.preset or DEFAULT)
            and (not each.settings or each.settings == choice.settings)
        ]
        if each.preset:  # llr:topics is not llr:topics(cap=3), if the sweep has both
            found = [choice for choice in found if choice.settings == each.settings] or found
        if of_sweep and not found:
            _print_note(f"{each.name} is not in the sweep with this preset and settings; it is run as well.")
        chosen += found or [each]
    return chosen


def _with_own(names: Sequence[str], given: Mapping[str, Any]) -> list[str]:
    """Return the names of datasets; ``files:tickets.csv`` and data sets of Hugging Face are made known."""
    own = [name for name in names if name.startswith((registry.OWN, HUB))]
    if given and not own:
        raise click.UsageError(
            f"--{next(iter(given))} is for your own documents: give these as --dataset {registry.OWN}PATH."
        )
    datasets = list(names)
    if own:
        from adbench_text.corpora.labelled import by_language

        files = {name: by_language(name.removeprefix(registry.OWN), _print_note, **given) for name in own}
        datasets = []
        for name in names:
            datasets += map(registry.add_dataset, files[name]) if name in files else [name]
    for name in datasets:
        if datasets.count(name) > 1:
            raise click.UsageError(f"Two datasets have the name {name!r}; rename one of the files.")
    return datasets
