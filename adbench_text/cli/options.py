"""Completes names on the command line, and lists the encoders in its help."""

import click
from click.shell_completion import CompletionItem

from adbench_text.errors import AdbenchTextError


class Name(click.ParamType[str]):
    """A name of a plug-in (or of an inlier class), completed by the shell; checked where it is used."""

    name = "name"

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the known names that begin with what is typed."""
        try:
            known = self._known(ctx)
        except AdbenchTextError:  # a dataset that is misspelt or broken: nothing to offer
            known = []
        return [CompletionItem(name) for name in dict.fromkeys(known) if name.startswith(incomplete)]

    def _known(self, ctx: click.Context) -> list[str]:
        from adbench_text.plugins import registry

        if self.kind == "inliers":
            datasets = ctx.params.get("datasets") or registry.names("datasets")
            return [name for dataset in datasets for name in registry.dataset(dataset).classes]
        if self.kind == "sweeps":
            from adbench_text.sweep import file as sweep_file

            return sweep_file.names()
        if self.kind in ("vectors", "fetchable"):
            from adbench_text.text import vectors, wordpiece

            if self.kind == "vectors":
                return [vectors.LOCAL, *vectors.DOWNLOADS]
            return [*registry.names("datasets"), *vectors.DOWNLOADS, wordpiece.FETCHED]
        return registry.names(self.kind)


class EncoderOption(click.Option):
    """An option whose help lists the encoders; read only when the help is printed."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help."""
        from adbench_text.text.encoders import METHODS

        encoders = ", ".join(f"{name} ({method.description})" for name, method in METHODS.items())
        self.help = f"Short for --set encoder=...: {encoders}."
        return super().get_help_record(ctx)
