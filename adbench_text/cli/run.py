"""``adbench-text run``: run detectors on datasets."""

from collections.abc import Mapping
from typing import Any

import click

from adbench_text.cli.options import EncoderOption, Name, sweep_of, tracking_options


@click.command("run")
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
@tracking_options
def command(
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

    expanded = sweep_of(sweep, options)
    cells = expanded.expand()
    if dry_run:
        for cell in cells:
            click.echo(cell)
        click.echo(count(len(cells)), err=True)
        return
    from adbench_text.errors import DetectorError
    from adbench_text.run.runner import run_sweep
    from adbench_text.store.store import Store

    def log(corpora: Mapping[str, Any]) -> None:
        if report:
            from adbench_text.cli.sweep_report import log_reports  # slow to import

            log_reports(store, corpora, cells, watch)

    with Watch() as watch:
        try:
            store = Store(tracking_uri, experiment)
            results = run_sweep(expanded, cells, store, watch, jobs, rerun, trace_every, log)
        except KeyboardInterrupt:
            watch.message("Interrupted. Finished cells are kept; the same command goes on from there.")
            raise
        watch.end()
    failed = sum(result.status != "ok" for result in results)
    if failed:
        raise DetectorError(
            f"{failed} of {count(len(results))} failed; the reasons stand above and in MLflow."
        )
