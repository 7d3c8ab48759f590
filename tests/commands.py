"""Runs commands of the command line in this process."""

import csv
import io

from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from adbench_text.cli.main import main


def adbench(*words: str) -> Result:
    """Run a command of words with spaces between them; only ``--debug`` shows a traceback."""
    split = [part for word in words for part in word.split(" ") if part]
    result = CliRunner().invoke(main, split)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "--debug" in split or "Traceback" not in result.output
    return result


def dry_run(*words: str) -> list[str]:
    """Return the cells that a dry run prints."""
    result = adbench("run --dry-run", *words)
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


def complete(words: str, incomplete: str) -> list[str]:
    """Return what a shell offers for the incomplete word."""
    completion = ShellComplete(main, {}, "adbench-text", "_ADBENCH_TEXT_COMPLETE")
    return [item.value for item in completion.get_completions(words.split(), incomplete)]


def assert_refused(result: Result, code: int, *quoted: str) -> None:
    """A command failed: it ends with an error of one line that quotes these, and printed no result."""
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    error = result.stderr.splitlines()[-1]  # usage or progress may be above
    assert error.startswith("Error: "), result.stderr
    for text in quoted:
        assert text in error, error


def cells(*words: str) -> list[dict[str, str]]:
    """Return the cells that a report prints as CSV."""
    result = adbench("report --format csv", *words)
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))
