"""Writes the options on docs/own-text-reference.md: `python tests/keep_options.py`.

They are the options in the help of `odd`, `grew`, `fit` and `score`. Each is listed once, and the options of
every command are left out.
"""

import re
from pathlib import Path

import click

from adbench_text.cli.main import main
from adbench_text.cli.options import GENERAL

PAGE = Path(__file__).parents[1] / "docs" / "own-text-reference.md"
SECTION = re.compile(r"(?<=^## Options\n\n).*?(?=^## )", re.MULTILINE | re.DOTALL)


def listed_options() -> str:
    """Return the options as Markdown, those of several commands first."""
    commands: dict[tuple[str, str], list[str]] = {}
    with main.make_context("adbench-text", [], resilient_parsing=True) as context:
        for name in ("odd", "grew", "fit", "score"):
            command = main.get_command(context, name)
            assert command is not None
            own = command.make_context(name, [], parent=context, resilient_parsing=True)
            for option in command.params:
                if isinstance(option, click.Option) and option not in GENERAL:
                    record = option.get_help_record(own)
                    assert record is not None
                    commands.setdefault(record, []).append(name)
    lists: dict[str, list[str]] = {}
    for (option, meaning), names in commands.items():
        line = f"- `{option}`: {re.sub(' {2,}', ' ', meaning)}\n"
        lists.setdefault(", ".join(f"`{name}`" for name in names), []).append(line)
    ordered = sorted(lists.items(), key=lambda item: -item[0].count(","))
    return "".join(f"{names}:\n\n{''.join(lines)}\n" for names, lines in ordered)


if __name__ == "__main__":
    PAGE.write_text(SECTION.sub(lambda _: listed_options(), PAGE.read_text()))
