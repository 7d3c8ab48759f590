"""``adbench-text report``: Compare stored results."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adbench_text.cli.options import TRACKING, Name, Names, SectionedCommand
from adbench_text.errors import InvalidValueError, NoResultsError, UnknownNameError
from adbench_text.escaping import count, printable
from adbench_text.metrics import MAIN, METRICS
from adbench_text.plugins import registry
from adbench_text.reports import contents
from adbench_text.storage import atomic_path, writing

if TYPE_CHECKING:
    import pandas as pd

    from adbench_text.run.cell import Cell
    from adbench_text.store.store import Store


_BASELINE_TABLE = "significance"


def _use_store(ctx: click.Context, param: click.Parameter, name: str | None) -> str | None:
    """Use the store that the file of a sweep names, as ``run --sweep`` does. Options override it."""
    if name is not None:
        from adbench_text.cli.run import read_sweep

        others = read_sweep(name).others
        stores = ("tracking-uri", "experiment")
        ctx.default_map = {key.replace("-", "_"): others[key] for key in stores if key in others}
    return name


_OPTIONS = [
    "Input",
    Names(["--dataset", "-s", "datasets"], help="Only these: names, or patterns such as '20*'."),
    Names(
        ["--detector", "-d", "detectors"],
        help="Only these: names as in tables, or patterns such as 'pyod-*'. llr selects every column of "
        "llr; llr() selects only the column with its default settings.",
    ),
    click.Option(
        ["--sweep"],
        type=Name("sweeps"),
        is_eager=True,
        callback=_use_store,
        help="Only the cells of a sweep: a name, or a TOML file, which may name its store.",
    ),
    click.Option(
        ["--with", "files"],
        multiple=True,
        metavar="FILE|SWEEP",
        help="Add cells of a file that report --format csv wrote, or of published results of this project "
        "(main). If the store lacks a detector, tables name this source after it.",
    ),
    *TRACKING,
    "Tables",
    click.Option(
        ["--metric"],
        default=MAIN.name,
        type=Name("metrics"),
        help=f"{', '.join(METRICS)}; or ./mine.py:first_100, a function of outliers and scores in a file.",
    ),
    Names(["--table", "-t", "tables"], help="Names, or all; see 'adbench-text list tables'."),
    click.Option(
        ["--baseline"],
        metavar="DETECTOR",
        help="Test only the pairs with this detector, such as llr:robust; adds the table significance.",
    ),
    click.Option(
        ["--ours"],
        multiple=True,
        metavar="DETECTOR[=NAME]",
        help="Mark a detector in tables and figures, and call it Ours or NAME: 'mine.py:Mine=CharKNN'.",
    ),
    "Output",
    click.Option(
        ["--format", "form"], default="terminal", type=click.Choice(list(contents.FORMATS)), help="Format."
    ),
    click.Option(
        ["--output", "-o"], type=click.Path(dir_okay=False, path_type=Path), help="File to write to."
    ),
    click.Option(
        ["--figures"],
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder to write the figures to, as SVG, PDF and PNG.",
    ),
    click.Option(["--quiet", "-q"], is_flag=True, help="Print the report and errors only, no notes."),
]


@click.command("report", cls=SectionedCommand, listed=_OPTIONS)
def command(form: str, output: Path | None, quiet: bool, **options: Any) -> None:
    """Compare stored results with each other and with published figures.

    The html format is one page with all tables, figures and heat maps of single documents:

    adbench-text report --format html --output report.html

    --with cells.csv adds the cells of a colleague, --with main the published results of this project.
    """
    from adbench_text.store.store import Store

    renderer = contents.FORMATS[form]
    tables = _known("table", options["tables"], list(contents.TABLES))
    if tables and not renderer.tables:
        raise click.UsageError(f"--format {form} prints single cells and cannot be combined with --table.")
    baseline, shown = options["baseline"], tables or [*renderer.tables]
    if baseline is not None:
        # without --table, significance is shown only with a baseline
        if not renderer.tables or (tables and _BASELINE_TABLE not in tables):
            raise click.UsageError(
                f"--baseline is for the table {_BASELINE_TABLE}, which is not among those shown."
            )
        baseline, shown = registry.with_known_files(baseline), list(dict.fromkeys([*shown, _BASELINE_TABLE]))
    metric = options["metric"]
    if metric not in METRICS:
        from adbench_text.reports.own_metric import own_metric

        metric = own_metric(metric)
    store = None  # the files of --with are enough
    try:
        store = Store(options["tracking_uri"], options["experiment"], create=False)
    except NoResultsError:
        if not options["files"]:
            raise
    # slow imports come after the fast checks
    from adbench_text.reports.build import Builder

    stored, expected, notes, not_joined = _stored(
        store,
        files=options["files"],
        datasets=options["datasets"],
        detectors=options["detectors"],
        sweep=options["sweep"],
    )
    if baseline is not None:
        not_joined = [*not_joined, baseline]
    ours = list(map(registry.with_known_files, options["ours"]))
    builder = Builder(
        stored,
        metric,
        store,
        cells=expected,
        notes=notes,
        baseline=baseline,
        not_joined=not_joined,
        ours=ours,
    )
    built = builder.report(shown, only=bool(tables), pictures=renderer.has_pictures)
    width = shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None
    text = renderer.render(built, width)
    n_results = len(builder.cells.counted if renderer.tables else builder.cells.every)
    messages = [f"Wrote {output}: {form}, {count(n_results, 'result')}"] if output else []
    if not renderer.tables:
        messages += [*built.every_note, *(f"{name}: {value}" for name, value in built.provenance)]
    if figures := options["figures"]:
        with writing(figures):
            n_files = len(builder.write_figures(figures))
        messages.append(f"{n_files} files in {figures}")
        messages += [note for note in builder.evidence.notes if note not in built.every_note]
    _write_report(text, output)
    for note in () if quiet else messages:
        click.echo(printable(note), err=True)


def _stored(
    store: "Store | None",
    files: Sequence[str],
    datasets: Sequence[str],
    detectors: Sequence[str],
    sweep: str | None,
) -> tuple["pd.DataFrame", list["Cell"], list[str], list[str]]:
    """Return the results, the cells of the sweep, notes, and columns to show separately.

    The user named these columns with their file: ``llr (main)``, not ``llr*``. Without a sweep, there are no
    cells. Empty `datasets` or `detectors` stand for all.
    """
    from adbench_text.reports.build import of_sweep, stored_cells
    from adbench_text.reports.files import joined, read_given

    places = " and ".join([*([store.redacted] if store else []), *files])
    place = f" with results in {places}"
    others = read_given(files)
    held = dict.fromkeys(store.datasets() if store else ())
    held |= dict.fromkeys(name for table in others for name in table["dataset"])
    if datasets and held:
        datasets = _known("dataset", datasets, list(held), place)
    own, notes, not_joined = [], list[str](), list[str]()
    if store is not None and (not datasets or {*datasets} & {*store.datasets()}):
        try:
            cells, notes = stored_cells(store, datasets)
            own = [cells]
        except NoResultsError:
            if not files:
                raise
    stored, doubled = joined(own, others)
    notes += doubled
    if datasets:
        stored = stored[stored["dataset"].isin(datasets)]
    if stored.empty:
        raise NoResultsError(f"There are no results of {', '.join(datasets)} in {places}.")
    if detectors:
        names = _names_of_columns(stored)
        typed = list(map(registry.with_known_files, detectors))
        detectors = _known("detector", typed, _unique(names), place)
        stored = stored[names.isin(detectors).any(axis=1)]
        not_joined = [name for name in detectors if f" ({name.rpartition(' (')[2]}" in " ".join(typed)]
    stored = stored.reset_index(drop=True)
    if sweep is None:
        return stored, [], notes, not_joined
    from adbench_text.run.sweep_options import sweep_named

    described = sweep_named(sweep)
    try:
        expected = described.expand()
    except InvalidValueError as error:  # run may have used options that the file lacks, such as --label
        raise InvalidValueError(f"The sweep {sweep} alone cannot be read: {error}") from error
    chosen = {*stored["name"]}
    expected = [
        cell
        for cell in expected
        if (not datasets or cell.split.dataset in datasets)
        and (not detectors or cell.detector in detectors or cell.choice in chosen)
    ]
    return of_sweep(stored, sweep, expected, described.limit, places), expected, notes, not_joined


def _names_of_columns(stored: "pd.DataFrame") -> "pd.DataFrame":
    """Return for each cell the names that can select its column."""
    from adbench_text.reports.cells import name_with_source

    exact = stored["name"].where(stored["name"] != stored["detector"], stored["name"] + "()")
    return stored[["detector"]].assign(exact=exact, with_source=name_with_source(stored))


def _unique(names: "pd.DataFrame") -> list[str]:
    """Return the different names in all columns, sorted."""
    return sorted({str(name) for column in names for name in names[column]})


def _printed(text: str) -> str:
    """Return the name of a detector as tables print it. Its settings may be typed in any order."""
    from adbench_text.plugins.configure import DEFAULT, DetectorChoice, format_name, text_of_settings
    from adbench_text.reports.report import ORACLE

    name = text.replace(f" {ORACLE}", "")
    try:
        choice = DetectorChoice.parse(name)
    except InvalidValueError:
        return name
    return format_name(choice.name, choice.preset or DEFAULT, text_of_settings(choice.settings))


def _known(kind: str, texts: Sequence[str], known: Sequence[str], place: str = "") -> list[str]:
    """Return the names that texts stand for; raise UnknownNameError if one is unknown."""
    from adbench_text.run.names import expand

    listed = [name for name in known if not name.endswith("()")]  # llr() exists only if llr does
    names = expand(kind, texts, lambda: listed, place)
    if kind == "dataset":
        from adbench_text.corpora.class_files import name_of

        names = list(map(name_of, names))
    elif kind == "detector":
        names = [name if name in known else _printed(name) for name in names]
    for name in names:
        if name not in known:
            raise UnknownNameError(f"{kind}{place}", name, listed)
    return names


def _write_report(text: str, path: Path | None) -> None:
    """Write the report to a file, or print it. If writing fails, an older file is kept."""
    if path is None:
        click.echo(text, nl=False)
    elif path.exists() and not path.is_file():  # a device or a pipe
        with writing(path):
            path.write_text(text, encoding="utf-8")
    else:
        with atomic_path(path.resolve() if path.is_symlink() else path) as temporary:
            temporary.write_text(text, encoding="utf-8")
