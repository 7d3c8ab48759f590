"""Help in sections, and the options that every command takes."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

_GENERAL = "General"


class SectionedCommand(click.Command):
    """A command whose help lists its options in sections.

    Parameters
    ----------
    sections : mapping of str to sequence of str
        Names of the options of each section, such as ``{"Input": ["--dataset"]}``. Options that none of
        them names are listed at the end.
    """

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in [*self.sections, _GENERAL]}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                rows[self.section_of(param)].append(record)
        width = max((len(record[0]) for own in rows.values() for record in own), default=0)
        for title, own in rows.items():
            if own:
                with formatter.section(title):  # of one width, so that the sections are aligned
                    aligned = [(f"{option:{min(width, 30)}}", text) for option, text in own]
                    formatter.write_dl(aligned)

    def section_of(self, option: click.Option) -> str:
        """Return the title of the section of an option."""
        for title, names in self.sections.items():
            if any(name in names for name in option.opts):
                return title
        return _GENERAL


def set_data_dir(path: str | None) -> None:
    """Use another data directory, also in worker processes."""
    from adbench_text import storage

    if path:
        os.environ[storage.DATA] = path


def set_offline(is_offline: bool) -> None:
    """Forbid downloads, also in worker processes."""
    from adbench_text import storage

    if is_offline:
        storage.forbid_downloads()
        os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"


def set_debugging(is_debugging: bool) -> None:
    """Make `adbench_text.cli.options.is_debugging` true."""
    if is_debugging:
        click.get_current_context().find_root().params["debug"] = True


def add_general_options(command: click.Command) -> click.Command:
    """Add the options of the group to a command, so that they work after its name too; return it."""
    options: list[tuple[str, dict[str, Any], Callable[[Any], None], str]] = [
        ("--data-dir", {"type": click.Path(file_okay=False)}, set_data_dir, "Folder of corpora and vectors."),
        ("--offline", {"is_flag": True}, set_offline, "Never download anything."),
        ("--debug", {"is_flag": True}, set_debugging, "Print the traceback of each error."),
    ]
    for name, settings, apply, text in options:
        option = click.Option(
            [name],
            **settings,
            help=text,
            expose_value=False,
            is_eager=True,
            allow_from_autoenv=False,
            callback=lambda ctx, param, value, apply=apply: apply(value),
        )
        command.params.append(option)
    return command
