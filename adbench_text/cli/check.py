"""``adbench-text check``: Check that plug-ins keep their contract."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from adbench_text.cli.options import Name, is_debugging
from adbench_text.errors import PluginError
from adbench_text.escaping import printable
from adbench_text.plugins import registry

if TYPE_CHECKING:
    from adbench_text.testing import Outcome


@click.command("check")
@click.argument("names", nargs=-1, required=True, type=Name("checkable"))
def command(names: Sequence[str]) -> None:
    """Check that detectors and datasets keep their contract.

    NAMES are detectors and datasets of this package or of other installed packages; 'adbench-text list' shows
    them. ./mine.py:Mine is a detector in a file. Detectors are fitted on short texts about three topics;
    datasets are read twice.
    """
    from adbench_text.testing import ContractError, outcomes_of

    broken = []
    for name in dict.fromkeys(map(registry.with_known_files, names)):
        for kind in ("detectors", "datasets"):
            if registry.find(kind, name) is None:
                continue
            click.echo(f"{name} ({kind.removesuffix('s')})")
            try:
                is_kept = [_is_kept(outcome) for outcome in outcomes_of(kind, name)]
            except PluginError as error:  # the plug-in cannot be loaded
                broken.append(str(error))
                continue
            if all(is_kept):
                click.echo(f"{name} keeps all {len(is_kept)} rules.")
            else:
                n_broken = is_kept.count(False)
                broken.append(f"{name} breaks {n_broken} of the {len(is_kept)} rules that were checked.")
    if broken:
        if not is_debugging():
            broken.append(f"For tracebacks, run: adbench-text --debug check {' '.join(names)}")
        raise ContractError(". ".join(text.removesuffix(".") for text in broken))


def _is_kept(outcome: "Outcome") -> bool:
    """Print whether a rule is kept, and return it as a bool."""
    status, seconds = "failed" if outcome.problems else "ok", f"{outcome.seconds:.1f} s"
    notes = f" [{'; '.join(outcome.notes)}]" if outcome.notes else ""
    click.echo(f"  {status:6} {seconds:>7}  {outcome.rule}{notes}")
    for problem in outcome.problems:
        click.echo(printable(f"{'':18}{problem}"))
    if outcome.traceback and is_debugging():
        click.echo(printable(outcome.traceback), err=True)
    return not outcome.problems
