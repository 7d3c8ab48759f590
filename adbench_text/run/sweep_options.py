"""Make a sweep from the options of ``adbench-text run``, or from the keys in the file of a sweep."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adbench_text.corpora.class_files import ClassFiles
from adbench_text.corpora.split import protocol_of, splits
from adbench_text.corpora.split_key import AXES
from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.option import Option
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice, setting
from adbench_text.reading.hub import HUB
from adbench_text.reading.options import READ_OPTIONS, changed
from adbench_text.run.cell_options import OF_CELLS, OF_FILES, SHORTHANDS
from adbench_text.run.names import choices_of, expand, parse_seeds
from adbench_text.run.sweep import Sweep, choose
from adbench_text.run.sweep_file import SweepFile, find, read

Note = Callable[[str], object]


def sweep_named(name: str) -> Sweep:
    """Return the sweep with a name or in a file, as ``run --sweep NAME`` runs it.

    The commands check keys that change no cell.
    """
    file = read(find(name))
    defaults = {option.field: option.default for option in OF_CELLS}
    return sweep_of({**defaults, **file.values, "sweep": file}, note=lambda text: None)


def sweep_of(options: Mapping[str, Any], note: Note) -> Sweep:
    """Return the sweep that options describe; ``--set`` overrides the settings of detectors.

    `options` has the values of all `OF_CELLS` by field, and with ``sweep`` the file of the sweep, or None.
    A detector of the file that ``--detector`` names keeps the presets and settings of the file. An option of
    `SHORTHANDS` overrides ``--set``. `note` gets a message on detectors and datasets that are left out or
    added.
    """
    choices = _choices_of_file(options["sweep"], note) if options["sweep"] else []
    if options["detectors"]:
        known = list(dict.fromkeys(choice.name for choice in choices))
        named = choices_of(options["detectors"], note, known)
        if options["preset"] and any(choice.preset for choice in named):
            raise InvalidValueError("--preset is for all detectors: give it or -d NAME:PRESET, not both.")
        choices = _chosen(choices, named, note)
    if not choices:
        raise InvalidValueError("Give at least one --detector; see 'adbench-text list detectors'.")
    of_splits = splits_of(options, note)
    # `with_known_files` makes the user's files in a value known, such as ./mine.py:embed
    settings = dict(map(setting, map(registry.with_known_files, options["settings"])))
    short = _given(SHORTHANDS, options)
    settings |= {name: registry.with_known_files(value) for name, value in short.items()}
    return replace(of_splits, detectors=choose(choices, options["preset"], settings))


def splits_of(options: Mapping[str, Any], note: Note) -> Sweep:
    """Return the sweep, without detectors, that the options for splits describe; see `sweep_of`."""
    if not options["datasets"]:
        raise InvalidValueError("Give at least one --dataset; see 'adbench-text list datasets'.")
    datasets = _with_own(expand("dataset", options["datasets"], note=note), options)
    protocol = options["protocol"]
    known_from = _known_from(options, datasets)
    values = {**options, "known_from": known_from}
    axes = {name: list(dict.fromkeys(values[name])) for name in AXES if name != "protocol" and values[name]}
    return Sweep(
        detectors=[],
        datasets=datasets,
        inliers=expand("inlier class", options["inliers"], lambda: names_of_splits(datasets, protocol)),
        contamination=sorted(set(options["levels"])) or None,
        seeds=list(dict.fromkeys(options["seeds"])) or [0],
        limit=options["limit"],
        protocol=protocol,
        axes=axes,
    )


def names_of_splits(datasets: Iterable[str], protocol: str | None) -> list[str]:
    """Return the names of the splits of datasets."""
    sources = map(registry.dataset, datasets)
    return [name for source in sources for name in splits(source, protocol_of(source, protocol))]


def _known_from(options: Mapping[str, Any], datasets: Iterable[str]) -> list[str]:
    """Return the classes of known outliers; every class must be in some dataset."""
    if not options["known_from"]:
        return []
    if not any(options["known"]):
        raise InvalidValueError(
            f"--known-from {', '.join(options['known_from'])} needs a number: --known-outliers 10."
        )
    classes = [name for dataset in datasets for name in registry.dataset(dataset).classes]
    names = expand("class", options["known_from"], lambda: classes)
    for name in names:
        if name not in classes:
            raise UnknownNameError("class", name, classes)
    return names


def _choices_of_file(file: SweepFile, note: Note) -> list[DetectorChoice]:
    """Return the detectors in the file of a sweep, with their settings, seeds and datasets."""
    choices: list[DetectorChoice] = []
    for text in file.detectors:
        only = file.only.get(text, {})
        seeds = [seed for range_of_seeds in only.get("seed", ()) for seed in parse_seeds(range_of_seeds)]
        datasets = expand("dataset", only.get("dataset", ()))
        of_text = choices_of([text], note)
        choices += [replace(choice, seeds=tuple(seeds), datasets=tuple(datasets)) for choice in of_text]
    return choices


def _chosen(
    of_sweep: Sequence[DetectorChoice], named: Sequence[DetectorChoice], note: Note
) -> list[DetectorChoice]:
    """Return the named detectors, as the sweep has them; a detector that it lacks is taken as given.

    A name without a preset or without settings stands for all presets or settings of the detector.
    """
    chosen: list[DetectorChoice] = []
    for given in named:
        fitting = [
            choice
            for choice in of_sweep
            if choice.name == given.name
            and given.preset in (None, choice.chosen)
            and (not given.settings or given.settings == choice.settings)
        ]
        if given.preset:  # llr:topics is not llr:topics(cap=3), if the sweep has both
            fitting = [choice for choice in fitting if choice.settings == given.settings] or fitting
        if of_sweep and not fitting:
            note(f"{given.name} is not in the sweep with this preset and settings; it runs as you gave it.")
        chosen += fitting or [given]
    return chosen


def _given(declared: Iterable[Option], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the given options, by field."""
    return {option.field: options[option.field] for option in declared if options[option.field]}


def _with_own(names: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Return the names of datasets; make files and data sets of Hugging Face known as datasets.

    Raise InvalidValueError if options for such documents are given without them.
    """
    own = [name for name in names if name.startswith((registry.OWN, HUB))]
    reading = changed({option.field: options[option.field] for option in READ_OPTIONS})
    given = {**_given(OF_FILES, options), "reading": reading}
    for option in (*OF_FILES, *READ_OPTIONS):
        if option.field in given | reading and not own:
            raise InvalidValueError(
                f"--{option.name} is for your own documents: give these as --dataset {registry.OWN}PATH."
            )
    datasets = [
        registry.add_dataset(ClassFiles(name.removeprefix(registry.OWN), **given)) if name in own else name
        for name in names
    ]
    for name in datasets:
        if datasets.count(name) > 1:
            raise InvalidValueError(f"Two datasets have the name {name!r}; rename one of the files.")
    return datasets
