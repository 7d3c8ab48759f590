"""``adbench-text run``: Run detectors on datasets."""

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from adbench_text.cli.options import (
    GENERAL,
    TRACKING,
    TRACKING_URI,
    Name,
    SectionedCommand,
    click_option,
    is_debugging,
)
from adbench_text.cli.progress import ProgressDisplay
from adbench_text.errors import DetectorError, InvalidValueError, UnknownNameError
from adbench_text.escaping import count, one_line, without_password
from adbench_text.failures import described
from adbench_text.run.cell_options import OF_CELLS, OF_DETECTORS, OF_SPLITS

if TYPE_CHECKING:
    from adbench_text.corpora.corpus import Corpus
    from adbench_text.run.cell import Cell
    from adbench_text.run.result import Result
    from adbench_text.run.sweep_file import SweepFile
    from adbench_text.store.store import Store


class _Jobs(click.IntRange):
    """A number of processes, or ``auto`` for one per core."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number of processes."""
        from joblib import cpu_count

        return cpu_count() if value == "auto" else super().convert(value, param, ctx)


def _print_note(text: str) -> None:
    """Print a note in one line on standard error."""
    click.echo(one_line(text), err=True)


def read_sweep(name: str) -> "SweepFile":
    """Return the file of a sweep; raise UnknownNameError if a key is not an option of ``run``."""
    from adbench_text.run.sweep_file import find, read

    file = read(find(name))
    for key in file.others:
        if key not in _KEYS:
            raise UnknownNameError(f"key of a sweep ({file.path})", key, [*_KEYS, "only"])
    return file


def _use_file(ctx: click.Context, param: click.Parameter, name: str | None) -> "SweepFile | None":
    """Read the file of ``--sweep``; its content becomes the defaults of the options with the same names.

    Options that change cells have values already. The others are text, which is converted here.
    """
    if name is None:
        return None
    file = read_sweep(name)
    ctx.default_map = {**file.values}
    for key, text in file.others.items():
        option = _KEYS[key]
        try:
            value = (click.BOOL if option.is_flag else option.type).convert(text, option, ctx)
        except click.BadParameter as error:
            raise InvalidValueError(f"{file.path}: {key}: {error.message}") from error
        sets_a_number = option.is_flag and not option.is_bool_flag  # as --quiet and --verbose do
        if not sets_a_number:
            ctx.default_map[str(option.name)] = value
        elif value:
            ctx.default_map[str(option.name)] = option.flag_value
    return file


_POSITIVE = click.FloatRange(0, min_open=True)


_OPTIONS = [
    "Input",
    click.Option(
        ["--sweep"],
        type=Name("sweeps"),
        is_eager=True,
        callback=_use_file,
        help="One of 'adbench-text list sweeps', or a TOML file; other options override it.",
    ),
    *map(click_option, OF_SPLITS),
    "Detectors",
    *map(click_option, OF_DETECTORS),
    "Execution",
    click.Option(
        ["--jobs", "-j"],
        type=_Jobs(0),
        default=1,
        help="Worker processes; auto for one per core. 0 runs everything in this process, for a debugger. "
        "Then a detector can change the results of other detectors.",
    ),
    click.Option(["--gpu-jobs"], type=click.IntRange(1), default=1, help="Number of cells that share a GPU."),
    click.Option(
        ["--address"],
        help="Address of a Dask scheduler, tcp://10.0.0.1:8786, to run cells on its cluster.",
    ),
    click.Option(["--rerun"], is_flag=True, help="Run cells again that have ended."),
    click.Option(["--retry"], type=click.Choice(["failed"]), help="Run cells again that have failed."),
    click.Option(["--dry-run"], is_flag=True, help="Print the cells, and run nothing."),
    "Limits",
    click.Option(
        ["--cell-timeout"], type=_POSITIVE, metavar="SECONDS", help="A cell that takes longer fails."
    ),
    click.Option(["--cell-memory"], type=_POSITIVE, metavar="MB", help="A cell that uses more memory fails."),
    "Output",
    *TRACKING,
    click.Option(
        ["--report/--no-report"], default=True, help="Log a page with all tables to the run of the sweep."
    ),
    click.Option(["--quiet", "-q", "verbosity"], flag_value=-1, help="Print results and errors only."),
    click.Option(["--verbose", "-v", "verbosity"], flag_value=1, help="Print all measurements."),
]
# The keys that the file of a sweep may have, except `only`.
_KEYS = {
    name.removeprefix("--"): option
    for option in [*_OPTIONS, *GENERAL]
    if isinstance(option, click.Option) and option.name != "sweep"
    for name in option.opts
    if name.startswith("--")
}


@click.command("run", cls=SectionedCommand, listed=_OPTIONS)
def command(dry_run: bool, verbosity: int | None, **options: Any) -> None:
    """Run detectors on every split of datasets and log the results to MLflow.

    --detector, --dataset, --inlier, --contamination, --seed and --set may be given several times; all except
    --set also take lists with commas. A finished cell runs again only if its definition has changed: the
    corpus, the code of the detector, its hyper-parameters or the seed.
    """
    if dry_run:
        from adbench_text.run.sweep_options import sweep_of

        cells = sweep_of(options, _print_note).expand()
        click.echo("".join(f"{one_line(str(cell))}\n" for cell in cells), nl=False)
        click.echo(count(len(cells)), err=True)
        return
    with ProgressDisplay(verbosity or 0, is_debugging()) as progress:
        results = _run(options, progress)
    failed = sum(result.status != "ok" for result in results)
    if failed:
        raise DetectorError(f"{failed} of {count(len(results))} failed; the reasons are listed above.")


def _run(options: Mapping[str, Any], progress: ProgressDisplay) -> "Sequence[Result]":
    """Run the unfinished cells of a sweep; log them and the report to the store."""
    from adbench_text.processes import Limits
    from adbench_text.run.engine import Dask, Local
    from adbench_text.run.sweep_options import sweep_of

    address, gpu_jobs = options["address"], options["gpu_jobs"]
    engine = Dask(address, gpu_jobs) if address else Local(options["jobs"], gpu_jobs)
    limits = Limits(options["cell_timeout"], options["cell_memory"])
    # check the server first: this takes seconds, and reading the user's documents may take minutes
    engine.check(limits)
    sweep = sweep_of(options, _print_note)
    cells = sweep.expand()
    # slow imports come after the fast checks
    from adbench_text.run.runner import run_sweep
    from adbench_text.store.store import Store

    def log(corpora: "Mapping[str, Corpus]", possible: "Sequence[Cell]") -> None:
        """Log the reports on the cells that can run, unless the user wants none."""
        if options["report"]:
            _log_reports(store, corpora, possible, progress)

    try:
        store = Store(options["tracking_uri"], options["experiment"])
        results = run_sweep(
            sweep,
            cells,
            store,
            progress,
            engine,
            rerun=options["rerun"],
            retry_failed=options["retry"] is not None,
            limits=limits,
            report=log,
        )
    except KeyboardInterrupt:
        message = "Interrupted. Finished cells are kept; run the same command again to continue."
        progress.message(message, "error")
        raise
    progress.end()
    if not results or any(result.status == "ok" for result in results):
        progress.message(_next_commands(options))
    else:
        progress.message(
            "Next: correct what the reasons name, and run the same command again with --retry failed; "
            "--debug prints tracebacks."
        )
    return results


def _next_commands(options: Mapping[str, Any]) -> str:
    """Return a line with the commands that show the results of a sweep, in the same store."""
    source_of = click.get_current_context().get_parameter_source
    # options of the command override the file; then the report of the file lacks these cells
    is_overridden = any(source_of(option.field) is ParameterSource.COMMANDLINE for option in OF_CELLS)
    is_of_file = options.get("sweep") and not is_overridden
    of_sweep = f" --sweep {quote(options['sweep'].name)}" if is_of_file else ""
    of_store = {
        option: f" {option.opts[0]} {quote(without_password(options[option.name]))}"
        for option in TRACKING
        # the next command has the same defaults and environment
        if source_of(str(option.name)) not in (ParameterSource.DEFAULT, ParameterSource.ENVIRONMENT)
    }
    report = f"adbench-text report{of_sweep}{''.join(of_store.values())}"
    return f"Next: {report}; adbench-text ui{of_store.get(TRACKING_URI, '')}"


def _log_reports(
    store: "Store", corpora: "Mapping[str, Corpus]", cells: "Sequence[Cell]", progress: ProgressDisplay
) -> None:
    """Log a page about the cells of each dataset to the parent run of the dataset.

    A failure is only reported, because the user can make the report again.
    """
    from adbench_text.reports import contents
    from adbench_text.reports.build import Builder
    from adbench_text.store.cells import of_cells

    for dataset, corpus in sorted(corpora.items()):
        of_dataset = [cell for cell in cells if cell.split.dataset == dataset]
        stored = of_cells(store.cells([dataset]), of_dataset)
        stored = stored[stored["dataset_digest"] == corpus.digest]
        if not (stored["status"] == "ok").any():
            continue
        progress.message(f"writing the report on {dataset}")
        try:
            built = Builder(stored, store=store, cells=of_dataset).report([*contents.TABLES], pictures=True)
            store.log_page(dataset, contents.PAGE.render(built))
        except Exception as error:  # the results are stored already
            problem = f"No report on {dataset}: {described(error)}; make it by adbench-text report."
            progress.message(problem, "error")
