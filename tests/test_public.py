"""The public face of the library, and other people's loops around our detectors."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

import adbench_text
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about

SEA = texts_about("sea", 30, 0)


@pytest.mark.parametrize("name", adbench_text.__all__)
def test_every_public_name_can_be_imported(name):
    value = getattr(adbench_text, name)
    assert getattr(value, "__name__", name) in (name, name.removesuffix("_model"))
    assert name in dir(adbench_text)


@pytest.mark.parametrize("plugin", [p for p in registry.plugins("detectors").values() if p.class_name])
def test_the_class_of_every_detector_of_ours_can_be_imported(plugin):
    assert getattr(adbench_text, plugin.class_name) is registry.detector(plugin.name)
    assert plugin.class_name in dir(adbench_text)


def test_other_names_are_errors():
    with pytest.raises(AttributeError, match="no attribute 'LRR'"):
        adbench_text.LRR  # noqa: B018


def test_a_detector_ends_a_pipeline():
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = Pipeline([("lower", lower), ("detector", adbench_text.KNNWords(k=3))])
    pipeline.fit([text.upper() for text in SEA])
    check_is_fitted(pipeline)
    scores = pipeline.decision_function([SEA[0].upper(), "JUDGE AND WITNESS"])
    assert scores[1] > scores[0]
    assert pipeline.set_params(detector__k=5).get_params()["detector__k"] == 5
    assert clone(pipeline).get_params()["detector__k"] == 5


def test_predictions_of_an_iterator():
    detector = adbench_text.KNNWords(contamination=np.float32(0.25)).fit(SEA)
    for call in (detector.predict, detector.predict_proba):
        expected = call(SEA[:5], return_confidence=True)
        for one, other in zip(call(iter(SEA[:5]), return_confidence=True), expected, strict=True):
            assert np.array_equal(one, other)


def test_scikit_learn_knows_whether_a_detector_is_fitted():
    detector = adbench_text.LLR(background="uniform")
    assert not detector.__sklearn_is_fitted__()
    assert detector.fit(SEA).__sklearn_is_fitted__()


def test_the_loop_of_adbench():
    model = adbench_text.ADBenchDetector(seed=0, model_name="llr", background="uniform")
    scores = model.fit(X_train=np.array(SEA), y_train=np.zeros(len(SEA))).predict_score(
        X=np.array(["law", SEA[0]])
    )
    assert scores[0] > scores[1]
