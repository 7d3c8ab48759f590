"""Every version loads the models that earlier ones saved, and they score as they did; see keep.py."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from adbench_text.documents.models.folder import load_model
from adbench_text.documents.models.model import Scorer
from adbench_text.plugins import registry

KEPT = Path(__file__).parent / "kept"
MODELS = sorted(path.parent.relative_to(KEPT).as_posix() for path in KEPT.glob("*/*/model.json"))


def kept(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("model", MODELS)
def test_a_kept_model_scores_as_in_the_version_that_saved_it(model, monkeypatch):
    folder = KEPT / model
    monkeypatch.chdir(folder.parent)  # of the word vectors
    of_version = kept(folder.parent, "scores.json")
    expected = pd.DataFrame(of_version["scores"][folder.name], dtype=float)
    found = Scorer(load_model(folder)).score(of_version["documents"])[expected.columns]
    assert_frame_equal(found, expected, rtol=1e-5)


def test_each_detector_that_can_be_saved_is_kept():
    detectors = {kept(KEPT / model, "model.json")["detectors"][0]["name"] for model in MODELS}
    own = {
        plugin.name
        for plugin in registry.plugins("detectors").values()
        if not (plugin.is_member or plugin.is_foreign)
    }
    assert {name for name in own if registry.detector(name)().trusted_types is not None} <= detectors
    assert any(name.startswith("pyod-") for name in detectors)
