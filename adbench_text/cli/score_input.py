"""Read FILE of score in the same way as the file of the model, unless an option says otherwise."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import click
from click.core import ParameterSource

from adbench_text.cli.own_text import DIALECT, opened
from adbench_text.escaping import count
from adbench_text.reading.documents import Document, DocumentFile
from adbench_text.reading.source import kind_of_name

_COLUMNS = ("text", "id")
_COMPARED = (*_COLUMNS, "encoding", "skip_lines")


def opened_as_fitted(
    file: str, options: Mapping[str, Any], facts: Mapping[str, Any]
) -> tuple[DocumentFile, dict[str, Any]]:
    """Return the documents of FILE, read as the file of the model, and the options used.

    `facts` has the options that `fit` read its file with: text, id, format and the options of `DIALECT`.
    Options of the user override them. If FILE lacks a column of the model, its columns are detected.
    """
    origin_of = click.get_current_context().get_parameter_source
    not_given = [name for name in (*_COLUMNS, *DIALECT) if origin_of(name) == ParameterSource.DEFAULT]
    of_model = {name: facts[name] for name in not_given if facts.get(name) not in (None, "", [])}
    format_of_file = options["kind"] or kind_of_name(Path(file).name)  # --format is `kind`
    if format_of_file != facts.get("format"):
        of_model.pop("skip_lines", None)  # in another format, the first lines are documents
        of_model.pop("sheet", None)
    options = {**options, **{name: of_model[name] for name in DIALECT if name in of_model}}
    documents = opened(file, options, likely=tuple(of_model.get("text", ())), likely_id=of_model.get("id"))
    used = {**options, "text": documents.text_columns, "id": documents.id_column}
    if len(documents.columns) == len(facts.get("text", ())) == 1:
        # a single column may have any name, so `differences` does not report it
        used["text"] = facts["text"]
    return documents, used


def differences(used: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note if a file is read with other columns, encoding or --skip-lines than the file of the model.

    An option is compared only if the model has a value of it: an older model, or a file without identifiers,
    has none.

    Yield another note if the same number of lines is skipped, because they may be documents in this file.
    """
    names = [name for name in _COMPARED if facts.get(name) and used[name] != facts[name]]
    if names:
        here, there = _as_options(used, names), _as_options(facts, names)
        if here:
            yield f"this file is read with {here}, and the file of the model was read with {there}."
        else:
            yield f"the file of the model was read with {there}, and this file is not."
    n_lines = facts.get("skip_lines")
    if n_lines and used["skip_lines"] == n_lines:
        yield (
            f"left out the first {count(n_lines, 'line')}, as in the file of the model; --skip-lines 0 keeps "
            "them."
        )


def _as_options(values: Mapping[str, Any], names: Iterable[str]) -> str:
    """Write options as on the command line, such as ``--text body``; leave out an option without a value."""
    written = list[str]()
    for name in names:
        given = values[name] if isinstance(values[name], list) else [values[name]]
        written += [f"--{name.replace('_', '-')} {value}" for value in given if value]
    return " ".join(written)


def keeping_some(batches: Iterable[list[Document]], sample: list[str], n: int) -> Iterator[list[Document]]:
    """Yield batches of documents, and keep a uniform random sample of n texts in `sample`.

    The sample is complete after the last batch. This is reservoir sampling.
    """
    draw, numbers = Random(0), itertools.count()
    for documents in batches:
        # the numbers come last, so that the end of a batch takes none
        for document, number in zip(documents, numbers, strict=False):
            if number < n:
                sample.append(document.text)
            elif (place := draw.randint(0, number)) < n:
                sample[place] = document.text
        yield documents
