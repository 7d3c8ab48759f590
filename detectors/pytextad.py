"""Detectors of PyTextAD on document vectors, if ``pip install pytextad`` was run: pytextad-sik, ...

Members are the detectors of PyTextAD 0.4.0 under a permissive licence (BSD or MIT, see its
THIRD_PARTY_NOTICES.md) that score single vectors without downloads; docs/detectors.md lists the others, and
why they are left out. A new release may add detectors under other licences, so the members are named here and
not searched for.

``dte-categorical`` and ``dte-gaussian`` cannot be pickled after their fit.

References
----------
Y. Cao: PyTextAD: Text Anomaly Detection in Python. 2026.
"""

from typing import Any

#: Module and class of each.
_MEMBERS = {
    "aderh": "aderh:ADERH",
    "ddae": "ddae:DDAE",
    "drl": "drl:DRL",
    "dte-categorical": "dte:DTECategorical",
    "dte-gaussian": "dte:DTEGaussian",
    "dte-non-parametric": "dte:DTENonParametric",
    "rsrae": "rsrae:RSRAE",
    "sik": "sik:SIK",
    "tokencore": "tokencore:TokenCore",
}


def members() -> dict[str, str]:
    """Return the names of the detectors, whether or not the package is installed, without summaries."""
    return dict.fromkeys(_MEMBERS, "")


def member(name: str) -> Any:
    """Return the text detector around PyTextAD's detector of this name."""
    # not above: listing names imports no library
    from adbench_text.plugins.pyod_detector import PyODDetector

    return PyODDetector.named(f"pytextad.models.embedding.{_MEMBERS[name]}", __name__)
