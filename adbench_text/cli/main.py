"""The command line. What is slow to import is imported by the command that needs it."""

import json
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from adbench_text import __version__
from adbench_text.cli.options import EncoderOption, Name
from adbench_text.errors import AdbenchTextError
from adbench_text.metrics import METRICS

_CONTEXT = {"auto_envvar_prefix": "ADBENCH_TEXT", "help_option_names": ["-h", "--help"], "show_default": True}


class Group(click.Group):
    """A group that turns our errors into one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except AdbenchTextError as error:
            click.echo(f"Error: {' '.join(str(error).split())}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:  # click itself would exit with 1
            ctx.exit(130)


@click.group(cls=Group, context_settings=_CONTEXT)
@click.version_option(__version__, "-V", "--version", prog_name="adbench-text")
@click.option(
    "--data-dir",
    envvar="ADBENCH_TEXT_DATA",
    type=click.Path(file_okay=False),
    help="Folder of corpora and word vectors.  [default: the platform's user data folder]",
    show_default=False,
)
@click.option("--offline", is_flag=True, help="Never download anything.")
def main(data_dir: str | None, offline: bool) -> None:
    """Find out which detector finds the odd documents in a text corpus, and by how much.

    Begin with: adbench-text run --detector llr --dataset pydocs; adbench-text report
    """
    # environment variables, so that worker processes see them too
    if data_dir:
        os.environ["ADBENCH_TEXT_DATA"] = data_dir
    if offline:
        os.environ["ADBENCH_TEXT_OFFLINE"] = "1"


def _tracking_options(command: Any) -> Any:
    uri = click.option(
        "--tracking-uri",
        envvar="MLFLOW_TRACKING_URI",
        default="sqlite:///mlflow.db",
        help="The MLflow store.",
    )
    experiment = click.option(
        "--experiment", default="adbench-text", help="What the names of the MLflow experiments begin with."
    )
    return uri(experiment(command))


@main.command()
@click.option("--detector", "-d", "detectors", multiple=True, type=Name("detectors"), help="Detector to run.")
@click.option("--dataset", "-s", "datasets", multiple=True, type=Name("datasets"), help="Dataset to run on.")
@click.option(
    "--inlier", "inliers", multiple=True, type=Name("inliers"), help="Inlier class.  [default: all]"
)
@click.option(
    "--contamination",
    "levels",
    multiple=True,
    type=float,
    help="Share of outliers in the training data, in [0, 0.5).  [default: 0, 0.05, 0.1, 0.15]",
)
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(0, 2**32 - 1), help="Seed.  [default: 0]")
@click.option("--preset", help="Named configuration of the detectors.  [default: default]")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Hyper-parameter, of one detector as DETECTOR.KEY=VALUE.",
)
@click.option("--encoder", cls=EncoderOption)
@click.option(
    "--vectors", type=Name("vectors"), help="Short for --set vectors=...: word vectors by name or path."
)
@click.option(
    "--device", help="Short for --set device=...: auto, cpu or cuda, where a detector has a choice."
)
@click.option(
    "--sweep",
    type=Name("sweeps"),
    help="main, ablations, contamination, or a TOML file that says all this; options go first.",
)
@click.option(
    "--limit", type=click.IntRange(1), help="At most so many documents per class, for a quick look."
)
@click.option("--jobs", "-j", default=1, type=click.IntRange(1), help="Processes to run on.")
@click.option("--rerun", is_flag=True, help="Run finished cells again.")
@click.option(
    "--trace",
    "trace_every",
    default=0,
    type=click.IntRange(0),
    metavar="STEPS",
    help="Log the test AUROC every so many steps of a training, as a diagnostic; finished cells need "
    "--rerun.  [default: off]",
    show_default=False,
)
@click.option(
    "--report/--no-report", default=True, help="Log tables, figures and one page of them to the sweep's run."
)
@click.option("--dry-run", is_flag=True, help="Print the cells and run nothing.")
@_tracking_options
def run(
    sweep: str | None,
    jobs: int,
    rerun: bool,
    report: bool,
    trace_every: int,
    dry_run: bool,
    tracking_uri: str,
    experiment: str,
    **options: Any,
) -> None:
    """Run detectors on every one-vs-rest split of datasets and log the results to MLflow.

    --detector, --dataset, --inlier, --contamination, --seed and --set may be given several times.
    A cell that is finished under the same definition (corpus, code of the detector,
    hyper-parameters, seed) is not run again.
    """
    from adbench_text.cli.progress import Watch, count

    expanded = _sweep(sweep, options)
    cells = expanded.expand()
    if dry_run:
        for cell in cells:
            click.echo(cell)
        click.echo(count(len(cells)), err=True)
        return
    from adbench_text.errors import DetectorError
    from adbench_text.run.runner import run_sweep
    from adbench_text.store.store import Store

    with Watch() as watch:
        try:
            store = Store(tracking_uri, experiment)
            results = run_sweep(expanded, cells, store, watch, jobs, rerun, trace_every, report)
        except KeyboardInterrupt:
            watch.say("Interrupted. Finished cells are kept; the same command goes on from there.")
            raise
        watch.end()
    failed = sum(result.status != "ok" for result in results)
    if failed:
        raise DetectorError(
            f"{failed} of {count(len(results))} failed; the reasons stand above and in MLflow."
        )


def _sweep(name: str | None, options: Mapping[str, Any]) -> Any:
    """Make a sweep of a file and the options given; an option replaces what the file says."""
    from adbench_text.corpora.split import LEVELS
    from adbench_text.sweep.file import find, read
    from adbench_text.sweep.sweep import Sweep, choose

    said = read(find(name)) if name else {}

    def ask(option: str, key: str, default: Any) -> Any:
        return options[option] or said.get(key, default)

    detectors, datasets = ask("detectors", "detector", []), ask("datasets", "dataset", [])
    for what, given in (("--detector", detectors), ("--dataset", datasets)):
        if not given:
            raise click.UsageError(f"Say at least one {what}; adbench-text list {what[2:]}s shows them.")
    settings = dict(_setting(text) for text in options["settings"])
    settings |= {name: options[name] for name in ("device", "encoder", "vectors") if options[name]}
    chosen = choose(detectors, said.get("preset"), said.get("set", {}))
    return Sweep(
        choose(chosen, options["preset"], settings, override=True),
        list(dict.fromkeys(datasets)),
        list(dict.fromkeys(ask("inliers", "inlier", []))),
        sorted({float(level) for level in ask("levels", "contamination", LEVELS)}),
        list(dict.fromkeys(ask("seeds", "seed", (0,)))),
        ask("limit", "limit", None),
    )


def _setting(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE; the value as JSON where it is JSON, else as text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"expected KEY=VALUE, got {text!r}.", param_hint="--set")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, {"True": True, "False": False, "None": None}.get(value, value)


@main.command()
@click.option("--dataset", "-s", "datasets", multiple=True, type=Name("datasets"), help="Only this dataset.")
@click.option(
    "--detector", "-d", "detectors", multiple=True, type=Name("detectors"), help="Only this detector."
)
@click.option("--sweep", type=Name("sweeps"), help="Only the cells of this sweep: a name or a TOML file.")
@click.option(
    "--metric",
    default="auroc",
    type=click.Choice(list(METRICS)),
    help="What the tables show.",
)
@click.option(
    "--table",
    "-t",
    "tables",
    multiple=True,
    metavar="NAME",
    help="main, published, levels, intervals, ranks, significance, ablations, cost, or all; may be given "
    "several times.  [default: main, published and levels; all for html and latex]",
)
@click.option(
    "--format",
    "form",
    default="terminal",
    type=Name("reports"),
    help="terminal, markdown, csv, latex or html.",
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="File to write to.")
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write the figures to, as SVG, PDF and PNG.",
)
@click.option("--cells", is_flag=True, help="One row per cell instead of the comparison.")
@_tracking_options
def report(
    datasets: Sequence[str],
    detectors: Sequence[str],
    sweep: str | None,
    metric: str,
    tables: Sequence[str],
    form: str,
    output: Path | None,
    figures: Path | None,
    cells: bool,
    tracking_uri: str,
    experiment: str,
) -> None:
    """Compare what the store holds, beside the published figures.

    As html it is one page with all tables, figures and heat maps of single documents:

    adbench-text report --format html --output report.html
    """
    from adbench_text.plugins import registry
    from adbench_text.reports.tables.names import chosen_tables
    from adbench_text.store.store import Store

    if cells and tables:
        raise click.UsageError("--cells shows single cells; it goes without --table.")
    renderer = registry.report(form)
    has_pictures = getattr(renderer, "HAS_PICTURES", False)
    names = chosen_tables(tables, everything=has_pictures or form == "latex")
    store = Store(tracking_uri, experiment, create=False)
    # what is slow to import comes after the errors that need none of it
    from adbench_text.reports.build import build, held_records, of_sweep
    from adbench_text.reports.tables.splits import cells_report

    records = held_records(store, datasets, detectors)
    of = _sweep(sweep, defaultdict(tuple)) if sweep is not None else None
    expected = of.expand() if of is not None else []
    if of is not None:
        records = of_sweep(records, str(sweep), of, store.shown)
    illustrations: Any = None
    if has_pictures or figures is not None:
        from adbench_text.reports.illustrations import Illustrations

        illustrations = Illustrations(records, metric, store, expected)
    if cells:
        built = cells_report(records)
    else:
        shown = illustrations if has_pictures else None
        built = build(records, metric, names, shown, only=bool(tables), cells=expected)
    width = shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None
    text = renderer.render(built, width)
    if not getattr(renderer, "HAS_NOTES", True):
        for note in built.notes:
            click.echo(note, err=True)
    if output is None:
        click.echo(text, nl=False)
    else:
        _write_text(output, text)
    if figures is not None:
        files = _write(lambda: illustrations.write(figures), figures)
        click.echo(f"{len(files)} files in {figures}", err=True)
        for note in illustrations.notes if not has_pictures else []:
            click.echo(note, err=True)


def _write_text(path: Path, text: str) -> None:
    """Write a file; if that fails, the one that was there before is still there."""
    from adbench_text.errors import DataError
    from adbench_text.storage import atomic_path

    if not path.parent.is_dir():
        raise DataError(f"Cannot write {path}: there is no folder {path.parent}.")
    if path.exists() and not path.is_file():  # a device or a pipe
        _write(lambda: path.write_text(text, encoding="utf-8"), path)
        return
    target = path.resolve() if path.is_symlink() else path
    with atomic_path(target, advice="") as temporary:
        temporary.write_text(text, encoding="utf-8")


def _write(write: Callable[[], Any], where: Path) -> Any:
    from adbench_text.errors import DataError

    try:
        return write()
    except OSError as error:
        raise DataError(f"Cannot write {where}: {error.strerror}.") from error


@main.command("list")
@click.argument("what", type=click.Choice(["detectors", "datasets", "vectors"]))
def list_(what: str) -> None:
    """List what can be named."""
    if what == "vectors":
        from adbench_text.text import vectors

        rows = [
            (name, summary + (", here" if vectors.is_here(name) else ""))
            for name, summary in vectors.DOWNLOADS.items()
        ]
        rows.append((vectors.LOCAL, "fastText, 100 dimensions, trained on the training texts of each split"))
    else:
        from adbench_text.plugins import registry

        rows = registry.listing(what)
    width = max(len(name) for name, _ in rows)
    for name, summary in rows:
        click.echo(f"{name:{width}}  {summary}")


@main.command()
@click.argument("names", nargs=-1, required=True, type=Name("fetchable"))
def fetch(names: Sequence[str]) -> None:
    """Get datasets, word vectors and vocabularies ahead of time."""
    from adbench_text.corpora import corpus
    from adbench_text.errors import UnknownNameError
    from adbench_text.plugins import registry
    from adbench_text.text import vectors, wordpiece

    datasets = registry.names("datasets")
    known = [*datasets, *vectors.DOWNLOADS, wordpiece.FETCHED]
    for name in names:
        if name not in known:
            raise UnknownNameError("dataset, word vectors or vocabulary", name, known)
    for name in names:
        if name in datasets:
            loaded = corpus.load(registry.dataset(name))
            click.echo(f"{name}: {loaded.edition}; {loaded.counts()}")
        else:
            file = wordpiece.BERT_FILE.fetch() if name == wordpiece.FETCHED else vectors.fetch(name)
            click.echo(f"{name}: {file}")


@main.command()
@click.option("--port", default=5000, type=click.IntRange(1, 65535), help="Port of the web page.")
@_tracking_options
def ui(port: int, tracking_uri: str, experiment: str) -> None:
    """Open MLflow's own pages on the store."""
    from adbench_text.store.address import without_password
    from adbench_text.store.store import Store

    Store(tracking_uri, experiment, create=False)
    if tracking_uri.startswith(("http://", "https://")):
        click.echo(f"The store is a server; open {without_password(tracking_uri)} in a browser.")
        return
    click.echo(f"Open http://127.0.0.1:{port} in a browser (Ctrl-C ends); experiments: {experiment}/...")
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", tracking_uri, "--port", str(port)]
    sys.stdout.flush()
    os.execv(sys.executable, command)  # so that what ends this command ends the server


if __name__ == "__main__":
    main()
