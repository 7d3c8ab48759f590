"""The command line: one file of this folder per command, imported when the command is needed.

These files import click and little else at their top. Slow imports are inside the functions.
"""

import os
import traceback
from collections import UserDict
from importlib import import_module
from typing import Any

import click

from adbench_text import __version__
from adbench_text.cli.sections import add_general_options, set_data_dir, set_offline
from adbench_text.errors import AdbenchTextError
from adbench_text.places import message_of

# each is a file of this folder with a click command named `command`
_COMMANDS = (
    "check",
    "doctor",
    "explain",
    "fetch",
    "fit",
    "info",
    "list",
    "merge",
    "new",
    "odd",
    "report",
    "run",
    "score",
    "ui",
)
# Number of times that a waiting thread of libgomp (the OpenMP of torch and scikit-learn) looks whether it may
# go on before it sleeps. By default it is 300,000. Beside a busy process on the same cores, threads then wait
# for threads that have no core, and DATE trains at 5 to 25 % of its speed. With 3,000 it trains at 60 %, and
# alone as fast as by default; tests/bench/test_bench_date.py measures it.
SPIN_COUNT = "3000"
_CONTEXT = {"auto_envvar_prefix": "ADBENCH_TEXT", "help_option_names": ["-h", "--help"], "show_default": True}


class LazyCommands(UserDict[str, click.Command]):
    """Commands by their names; a command's file is imported when the command is looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.data: dict[str, Any] = dict.fromkeys(_COMMANDS)

    def __getitem__(self, name: str) -> click.Command:
        if self.data[name] is None:
            self.data[name] = add_general_options(import_module(f"adbench_text.cli.{name}").command)
        command: click.Command = self.data[name]
        return command


def _options(command: click.Command) -> set[str]:
    return {name for param in command.params for name in [*param.opts, *param.secondary_opts]}


class Group(click.Group):
    """A group that turns errors of this package into one line and an exit code."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options before the command; name the commands that an option belongs to instead."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            owners = [owner for owner in self.commands if name in _options(self.commands[owner])]
            if not owners:
                raise
            belongs = f"It belongs to {', '.join(owners)}: give it after the name of the command."
            raise click.UsageError(f"No such option {name!r} before the command. {belongs}", ctx) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; exit with the code of the error, if there is one."""
        try:
            return super().invoke(ctx)
        except AdbenchTextError as error:
            if ctx.params["debug"]:
                traceback.print_exc()
            click.echo(f"Error: {message_of(error)}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt as error:  # click itself would exit with 1
            ctx.exit(getattr(error, "exit_code", 130))


@click.group(cls=Group, commands=LazyCommands(), context_settings=_CONTEXT)
@click.version_option(__version__, "-V", "--version", prog_name="adbench-text")
@click.option(
    "--data-dir",
    envvar="ADBENCH_TEXT_DATA",
    type=click.Path(file_okay=False),
    help="Folder of corpora and word vectors.  [default: the platform's user data folder]",
    show_default=False,
)
@click.option("--offline", is_flag=True, help="Never download anything.")
@click.option("--debug", is_flag=True, help="Print the traceback of each error.")
def main(data_dir: str | None, offline: bool, debug: bool) -> None:
    """Find out which detector finds the odd documents in a text corpus, and by how much.

    Begin with: adbench-text run --detector llr --dataset pydocs; adbench-text report

    For your own documents: adbench-text odd FILE

    The options below work after the name of a command as well.
    """
    # environment variables, so that worker processes see them too
    if "OMP_WAIT_POLICY" not in os.environ:  # the user's own choice, which decides the count
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)  # libgomp reads it when it is loaded, later
    set_data_dir(data_dir)
    set_offline(offline)
