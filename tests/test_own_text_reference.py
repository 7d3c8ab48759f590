"""What docs/own-text-reference.md lists is what the code has."""

import re

from keep_options import PAGE, SECTION, listed_options

from adbench_text.cli.file_rows import COLUMNS_OF_ODD, LANGUAGE
from adbench_text.cli.score_output import COLUMNS_OF_SCORE
from adbench_text.documents import OF_GROUPS
from adbench_text.reading.source import FORMAT_OF_SUFFIX

TEXT = PAGE.read_text(encoding="utf-8")


def rows_below(heading):
    """Return the first cells of the table below a heading, without its header."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (.+?) \|", section, re.MULTILINE)[2:]


def test_the_options_are_those_of_the_help():
    assert SECTION.findall(TEXT) == [listed_options()]  # else: python tests/keep_options.py


def test_the_columns_are_those_of_odd():
    assert rows_below("Columns of the table") == [
        f"`{name}`" for name in (*COLUMNS_OF_ODD, *OF_GROUPS, LANGUAGE)
    ]


def test_the_columns_are_those_of_score():
    (listed,) = re.findall(r"^`score` writes (.+?), a document", TEXT, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", listed)) == COLUMNS_OF_SCORE


def test_the_suffixes_are_those_that_are_read():
    listed = re.findall(r"`\.(\w+)`", " ".join(rows_below("Which files are read")))
    assert sorted(listed) == sorted(FORMAT_OF_SUFFIX)
