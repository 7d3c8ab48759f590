"""The definition of a cell: everything that determines its result."""

import hashlib
import json
import re
from collections.abc import Mapping

from adbench_text.code_version import PROTOCOL, code_version, libraries
from adbench_text.corpora.corpus import Corpus
from adbench_text.escaping import encodable, utf8
from adbench_text.isolation import preserved
from adbench_text.places import as_plugin_error
from adbench_text.plugins import registry
from adbench_text.sweep.cell import TEST_OUTLIERS, Cell, text_of_share, text_of_value
from adbench_text.sweep.construct import build_detector

_NOT_IN_NAMES = re.compile(r"[^\w\-. :/]", re.ASCII)  # MLflow accepts these, and most characters
_LONGEST_NAME, _LONGEST_VALUE = 200, 5900


@preserved()
def definition(cell: Cell, corpus: Corpus) -> dict[str, str]:
    """Return everything that determines the result of a cell, as text for MLflow's params.

    Two cells with equal definitions have equal results; see `cell_id`.

    Raises
    ------
    PluginError
        If a method of the detector raises an error.
    """
    detector = build_detector(cell)
    kind = detector.implementation
    with as_plugin_error(f"{cell.detector} cannot be identified", kind.__module__):
        regime, is_oracle = detector.regime, detector.is_oracle
        resources = sorted((str(name), str(value)) for name, value in detector.resources().items())
        code = registry.module_of("detectors", cell.detector), type(detector), kind
        values = [(name, text_of_value(value)) for name, value in sorted(detector.get_params().items())]
    record = {
        "detector": cell.detector,
        "preset": cell.preset,
        "configuration": cell.configuration,
        "dataset": cell.dataset,
        "inlier": cell.inlier,
        "contamination": f"{cell.contamination:g}",
        "seed": str(cell.seed),
        "dataset_digest": corpus.digest,
        "code_version": code_version(*code),
        "protocol": str(PROTOCOL),
        "libraries": libraries(*code),
    }
    if cell.test_outliers is not None:
        record[TEST_OUTLIERS] = text_of_share(cell.test_outliers)
    if regime is not None:
        record["regime"] = regime
    if is_oracle:
        record["oracle"] = "true"
    record |= {f"resource.{name}": value for name, value in resources}
    record |= {f"detector.{name}": value for name, value in values if name != "random_state"}
    return {_accepted_name(name): _accepted_value(value) for name, value in record.items()}


def _accepted_name(name: str) -> str:
    """Return a name that MLflow accepts for a param; different names stay different."""
    safe = _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME]
    return name if safe == name else f"{safe} {_digest(name)}"


def _accepted_value(value: str) -> str:
    """Return a value that MLflow stores as it is; different values stay different."""
    safe = encodable(value)
    if len(safe) > _LONGEST_VALUE:
        return f"{safe[:_LONGEST_VALUE]} ... {_digest(value)}"
    return safe if safe == value else f"{safe} {_digest(value)}"


def _digest(text: str) -> str:
    return hashlib.sha256(utf8(text)).hexdigest()[:8]


def cell_id(definition: Mapping[str, str]) -> str:
    """Return the digest of a definition, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:16]
