"""The definition of a cell: everything that determines its result."""

import hashlib
import json
import re
from collections.abc import Mapping
from posixpath import normpath
from typing import TYPE_CHECKING

from adbench_text import own_file
from adbench_text.code_version import HARNESS_VERSION, code_version, libraries
from adbench_text.corpora.corpus import Corpus
from adbench_text.escaping import encodable, utf8
from adbench_text.failures import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.plugins.configure import build, text_of_value
from adbench_text.plugins.declared import Declared, declared
from adbench_text.run.cell import Cell

if TYPE_CHECKING:
    from adbench_text.contract.detector import TextDetector

_NOT_IN_NAMES = re.compile(r"[^\w\-. :/]", re.ASCII)  # MLflow accepts these, and most characters
_RAW = "resource.raw_documents"
_LONGEST_NAME, _LONGEST_VALUE = 200, 5900


def build_detector(cell: Cell) -> "TextDetector":
    """Return the cell's detector, unfitted; check its hyper-parameters."""
    own_file.make_known(cell.in_files)
    return build(cell.detector, cell.settings, cell.split.seed)


def definition(cell: Cell, corpus: Corpus, identity: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return everything that determines the result of a cell; equal definitions have equal results.

    `identity` comes from `identified`; without it, the detector is built and identified here.
    """
    record = cell.columns() | {"dataset_digest": corpus.digest}
    if identity is None:
        identity = identified(declared(build_detector(cell), cell.detector), cell)
    record |= identity
    if _RAW in record:
        record[_RAW] = corpus.raw.digest
    return {accepted_name(name): _accepted_value(value) for name, value in record.items()}


def identified(known: Declared, cell: Cell) -> dict[str, str]:
    """Return the part of a `definition` that all cells of a configuration share."""
    code = registry.module_of("detectors", cell.detector), *known.kinds
    with as_plugin_error(f"{cell.detector} cannot be identified", known.kinds[-1].__module__):
        params = [(name, text_of_value(value)) for name, value in sorted(known.params.items())]
    record = {
        "code_version": code_version(*code),
        "harness_version": str(HARNESS_VERSION),
        "libraries": libraries(*code, declared=known.computes_with),
    }
    if known.regime is not None:
        record["regime"] = known.regime
    if known.is_oracle:
        record["oracle"] = "true"
    if known.reads_raw:
        record[_RAW] = ""  # `definition` knows the corpus
    record |= {f"resource.{name}": value for name, value in sorted(known.resources.items())}
    return record | {f"detector.{name}": value for name, value in params if name != "random_state"}


def accepted_name(name: str) -> str:
    """Return a name that MLflow accepts for a param, tag or metric.

    MLflow takes a name for a path in its folder, so it refuses ``a//b``, ``/a`` and ``../a``. A changed name
    ends with a digest of the original name, so that different names stay different.
    """
    safe = _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME]
    if normpath(safe) != safe or safe.startswith(("/", "..")) or safe == ".":
        safe = safe.replace("/", "_").replace("..", "__").strip(".") or "_"
    return name if safe == name else f"{safe} {_digest(name)}"


def _accepted_value(value: str) -> str:
    """Return a value that MLflow stores unchanged; different values stay different."""
    safe = encodable(value)
    if len(safe) > _LONGEST_VALUE:
        return f"{safe[:_LONGEST_VALUE]} ... {_digest(value)}"
    return safe if safe == value else f"{safe} {_digest(value)}"


def _digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(utf8(text)).hexdigest()[:8]


def cell_id(definition: Mapping[str, str]) -> str:
    """Return the digest of a definition, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:16]
