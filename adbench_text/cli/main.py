"""The command line. Each command is a file in this folder, which is imported only when needed.

At the top, these files import click and little else. Slow imports are inside functions.
"""

import errno
import os
import traceback
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from adbench_text import __version__, interrupts
from adbench_text.cli import streams
from adbench_text.cli.options import GENERAL, is_debugging
from adbench_text.errors import AdbenchTextError
from adbench_text.failures import message_of

#: Sections of the help and their commands. The file of a command defines `command`.
_SECTIONS = {
    "Compare detectors": ("run", "report", "ui"),
    "Your own documents": ("odd", "grew", "fit", "score"),
    "Look things up": ("list", "info", "fetch", "doctor"),
    "Extend it": ("check", "export"),
}
_COMMANDS = [name for names in _SECTIONS.values() for name in names]
# How often a waiting thread of libgomp (the OpenMP of torch and scikit-learn) spins before it sleeps. The
# default is 300,000. If another process uses the same cores, threads then spin while others have no core, and
# DATE trains at 5 to 25 % of its speed. With 3,000 it trains at 60 %, and without another process as fast as
# by default. benchmarks/date.py measures this.
SPIN_COUNT = "3000"
_NO_ROOM = errno.ENOSPC, errno.EDQUOT, errno.EFBIG  # on a disk, for a user, in a file (ulimit -f)
_CONTEXT = {"auto_envvar_prefix": "ADBENCH_TEXT", "help_option_names": ["-h", "--help"], "show_default": True}


@cache
def _command(name: str) -> click.Command:
    """Import a command once, and add the options that all commands have."""
    command: click.Command = import_module(f"adbench_text.cli.{name}").command
    command.params += GENERAL
    return command


def _summary(name: str) -> str:
    """Return the summary of a command from the first line of its file, without importing it."""
    file = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return file.partition(": ")[2].partition('"""')[0]


class Group(click.Group):
    """A group that imports only the command that runs, and prints errors of this package as one line."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that the arguments name."""
        streams.prepare()
        return super().main(*args, **kwargs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, or None."""
        return _command(cmd_name) if cmd_name in _COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names; the error suggests a similar name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if near := get_close_matches(args[0], _COMMANDS, n=1):
                raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return _COMMANDS

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands and their summaries in sections."""
        width = max(map(len, _COMMANDS))
        for title, names in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", _summary(name)) for name in names])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; after an error, exit with its code."""
        try:
            with interrupts.raised():
                return super().invoke(ctx)
        except AdbenchTextError as error:
            if is_debugging():
                traceback.print_exc()
            click.echo(f"Error: {message_of(error)}", err=True)
            ctx.exit(error.exit_code)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            click.echo(f"Error: Cannot write {error.filename or 'more'}: {error.strerror}.", err=True)
            ctx.exit(1)
        except KeyboardInterrupt as error:  # click itself would exit with 1
            ctx.exit(getattr(error, "exit_code", 130))


@click.group(cls=Group, params=[*GENERAL], context_settings=_CONTEXT)
@click.version_option(__version__, "-V", "--version", prog_name="adbench-text")
def main() -> None:
    """Find out which detector finds the odd documents in a text corpus, and how well.

    Begin with: adbench-text run --detector llr --dataset pydocs; adbench-text report

    For your own documents: adbench-text odd FILE

    The options below work after the name of a command as well.
    """
    if "OMP_WAIT_POLICY" not in os.environ:  # if the user sets it, libgomp derives the count from it
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)  # libgomp is loaded later and reads it then
