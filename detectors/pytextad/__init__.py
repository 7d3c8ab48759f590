"""Detectors of PyTextAD, if ``pip install pytextad`` was run: pytextad-date, pytextad-cvdd, pytextad-sik, ...

Implementations by other people: ``date`` and ``cvdd`` score texts, the others score document vectors.
Members are the detectors of PyTextAD 0.4.0 under a permissive licence (BSD or MIT, see its
THIRD_PARTY_NOTICES.md) that score single texts without downloads; docs/detectors.md lists the others, and why
they are left out. A new release may add detectors under other licences, so the members are named here and
not searched for.

``dte-categorical`` and ``dte-gaussian`` cannot be pickled after their fit.
"""

import importlib
import sys
from contextlib import redirect_stdout
from typing import Any

#: Module and class of each.
_MEMBERS = {
    "aderh": ("embedding.aderh", "ADERH"),
    "cvdd": ("cvdd", "CVDD"),
    "date": ("date", "DATE"),
    "ddae": ("embedding.ddae", "DDAE"),
    "drl": ("embedding.drl", "DRL"),
    "dte-categorical": ("embedding.dte", "DTECategorical"),
    "dte-gaussian": ("embedding.dte", "DTEGaussian"),
    "dte-non-parametric": ("embedding.dte", "DTENonParametric"),
    "rsrae": ("embedding.rsrae", "RSRAE"),
    "sik": ("embedding.sik", "SIK"),
    "tokencore": ("embedding.tokencore", "TokenCore"),
}


def members() -> list[str]:
    """Return the names of the detectors, whether or not the package is installed."""
    return sorted(_MEMBERS)


def member(name: str) -> Any:
    """Return the text detector around PyTextAD's detector of this name."""
    module, class_name = _MEMBERS[name]
    with redirect_stdout(sys.stderr):
        wrapped = getattr(importlib.import_module(f"pytextad.models.{module}"), class_name)
    from adbench_text.detectors.pytextad import texts  # not above: listing names imports no library
    from adbench_text.plugins.pyod_detector import PyODDetector

    adapters = {"aderh": texts.PyTextADADERH, "cvdd": texts.PyTextADCVDD, "date": texts.PyTextADDATE}
    return adapters.get(name, PyODDetector).around(wrapped, __name__)
