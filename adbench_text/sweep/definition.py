"""The definition of a cell: everything that determines its result."""

import hashlib
import json
from collections.abc import Mapping

from adbench_text.code_version import code_version, libraries, protocol_version, thinning_version
from adbench_text.corpora.corpus import Corpus
from adbench_text.isolation import preserved
from adbench_text.sweep.cell import TEST_OUTLIERS, Cell, text_of_share, text_of_value
from adbench_text.sweep.construct import build_detector


@preserved()
def definition(cell: Cell, corpus: Corpus) -> dict[str, str]:
    """Return everything that determines the result of a cell, as text for MLflow's params.

    Two cells with equal definitions have equal results; see `cell_id`.
    """
    detector = build_detector(cell)
    kind = detector.implementation
    record = {
        "detector": cell.detector,
        "preset": cell.preset,
        "configuration": cell.configuration,
        "dataset": cell.dataset,
        "inlier": cell.inlier,
        "contamination": f"{cell.contamination:g}",
        "seed": str(cell.seed),
        "dataset_digest": corpus.digest,
        "code_version": code_version(kind),
        "protocol": protocol_version(),
        "libraries": libraries(kind),
    }
    if cell.test_outliers is not None:
        record |= {TEST_OUTLIERS: text_of_share(cell.test_outliers), "thinning": thinning_version()}
    if detector.regime is not None:
        record["regime"] = detector.regime
    if detector.is_oracle:
        record["oracle"] = "true"
    record |= {f"resource.{name}": value for name, value in sorted(detector.resources().items())}
    values = sorted(detector.get_params().items())
    return record | {f"detector.{name}": text_of_value(v) for name, v in values if name != "random_state"}


def cell_id(definition: Mapping[str, str]) -> str:
    """Return the digest of a definition, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:16]
