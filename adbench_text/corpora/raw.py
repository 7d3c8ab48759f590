"""Reads the raw documents of a dataset and checks them: a plug-in may raise or return anything."""

from dataclasses import replace
from typing import Any

import numpy as np

from adbench_text.errors import AdbenchTextError, DataError
from adbench_text.escaping import one_line
from adbench_text.places import FAILURES, described, message_of, place_of_error, place_of_method
from adbench_text.plugins import dataset as contract
from adbench_text.plugins.dataset import Dataset, Documents, Edition

PARTS = ("training", "test")


def edition_of(dataset: Dataset) -> Edition:
    """Return the edition of a dataset.

    Raises
    ------
    DataError
        If the dataset raises an error, or returns anything else.
    """
    try:
        edition = dataset.edition()
    except AdbenchTextError:
        raise
    except FAILURES as error:
        reason = described(error, type(dataset).__module__)
        raise DataError(f"{dataset.name} cannot find its edition: {reason}") from error
    if not isinstance(edition, Edition) or {type(edition.name), type(edition.digest)} != {str}:
        raise DataError(
            f"{dataset.name}: edition() must return an Edition(name, digest) of two strings, "
            f"got {edition!r:.80}{place_of_method(type(dataset), 'edition')}"
        )
    return replace(edition, name=one_line(edition.name))


def read(dataset: Dataset) -> tuple[Documents, Documents]:
    """Return the raw documents of the training and of the test part of a dataset.

    Raises
    ------
    DataError
        If the dataset raises an error, or returns anything else. The message names file and line.
    """
    module = type(dataset).__module__
    try:
        parts = dataset.read()
    except AdbenchTextError as error:
        if not place_of_error(error, contract.__name__):  # raised on purpose, by the dataset or a download
            raise
        reason = message_of(error).rstrip(".") + place_of_error(error, module)
        raise DataError(f"{dataset.name} cannot be read: {reason}") from error
    except FAILURES as error:
        raise DataError(f"{dataset.name} cannot be read: {described(error, module)}") from error
    if problem := _problem(parts, len(dataset.classes)):
        raise DataError(f"{dataset.name}: {problem}{place_of_method(type(dataset), 'read')}")
    train, test = parts
    return train, test


def _problem(parts: Any, n_classes: int) -> str:
    """Return what is wrong with the result of ``read``; an empty string if it is right."""
    if not isinstance(parts, tuple | list) or len(parts) != 2:
        got = f"a {type(parts).__name__} of {len(parts)}" if isinstance(parts, tuple | list) else _type(parts)
        return f"read() must return two Documents, the training and the test part, got {got}"
    for name, documents in zip(PARTS, parts, strict=True):
        if not isinstance(documents, Documents):
            return f"read() must return Documents(texts, labels) as the {name} part, got {_type(documents)}"
        if problem := _problem_of_texts(documents.texts) or _problem_of_labels(documents.labels, n_classes):
            return f"the {name} part has {problem}"
    return ""


def _problem_of_texts(texts: Any) -> str:
    if not isinstance(texts, list | tuple):
        return f"no list of texts, but {_type(texts)}: use list(texts)"
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            return f"a text that is no string: {_type(text)} at position {place}, {text!r:.40}"
    return ""


def _problem_of_labels(labels: Any, n_classes: int) -> str:
    if not isinstance(labels, np.ndarray):
        return f"no NumPy array of labels, but {_type(labels)}: use np.array(labels)"
    if labels.ndim != 1 or (len(labels) and labels.dtype.kind not in "iu"):
        return (
            f"labels of type {labels.dtype} and shape {labels.shape}: they must be whole numbers of shape "
            f"({len(labels)},), the indices of the classes"
        )
    if outside := sorted(set(labels.tolist()) - set(range(n_classes))):
        return f"the label {outside[0]}, but its {n_classes} classes have the indices 0 to {n_classes - 1}"
    return ""


def _type(value: Any) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
