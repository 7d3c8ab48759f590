"""The public face of the library, and other people's loops around our detectors."""

import pickle
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

import adbench_text
from adbench_text.checks import Choice
from adbench_text.contract.detector import SharedParams
from adbench_text.contract.vector_detector import VectorParams
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about

SEA = texts_about("sea", 30, 0)


@pytest.mark.parametrize("name", adbench_text.__all__)
def test_every_public_name_can_be_imported(name):
    value = getattr(adbench_text, name)
    assert getattr(value, "__name__", name) == name
    assert value.__doc__


def test_the_class_of_every_detector_of_ours_is_public():
    """Add one, or remove it, in adbench_text/__init__.pyi too."""
    plugins = registry.plugins("detectors").values()
    classes = {plugin.class_name: registry.detector(plugin.name) for plugin in plugins if plugin.class_name}
    public = {name: getattr(adbench_text, name) for name in adbench_text.__all__}
    of_plug_ins = {
        n: v for n, v in public.items() if getattr(v, "__module__", "").startswith("adbench_text.detectors.")
    }
    assert of_plug_ins == classes


OPEN = {"encoder", "language", "members", "vectors"}  # these take other names, too, such as a path


def detectors() -> list[type]:
    public = (getattr(adbench_text, name) for name in adbench_text.__all__)
    return [kind for kind in public if isinstance(kind, type) and issubclass(kind, adbench_text.TextDetector)]


def test_the_type_of_a_hyper_parameter_has_the_words_of_its_range():
    in_types, in_ranges = {}, {}
    for kind in detectors():
        types, ranges = get_type_hints(kind.__init__), kind.parameter_ranges()
        in_types |= {(kind, n): [*get_args(t)] for n, t in types.items() if get_origin(t) is Literal}
        in_ranges |= {
            (kind, n): ranges[n].choices for n in types.keys() - OPEN if isinstance(ranges.get(n), Choice)
        }
    assert in_types == in_ranges
    assert len(in_types) >= 9


@pytest.mark.parametrize(
    ("shared", "base"),
    [(SharedParams, adbench_text.TextDetector), (VectorParams, adbench_text.VectorDetector)],
)
def test_shared_hyper_parameters_have_the_types_of_their_base(shared, base):
    types = get_type_hints(adbench_text.TextDetector.__init__) | get_type_hints(base.__init__)
    names = adbench_text.TextDetector._get_param_names() + base._get_param_names()
    assert get_type_hints(shared) == {name: types[name] for name in names}


def test_other_names_are_errors_and_not_listed():
    with pytest.raises(AttributeError, match="no attribute 'LRR'"):
        adbench_text.LRR  # noqa: B018
    assert dir(adbench_text) == sorted(adbench_text.__all__)


@pytest.mark.parametrize(
    "make",
    [adbench_text.detector("llr:robust"), lambda **given: adbench_text.LLR.from_preset("robust", **given)],
)
def test_a_preset_makes_an_unfitted_detector(make):
    robust, (settings,) = make(topics=4), adbench_text.LLR.presets("")["robust"]
    assert type(robust) is adbench_text.LLR
    expected = adbench_text.LLR(**{**settings, "topics": 4})
    assert robust.get_params() == expected.get_params() != adbench_text.LLR(topics=4).get_params()
    assert clone(robust).get_params() == robust.get_params()
    assert not robust.__sklearn_is_fitted__()


def test_without_a_preset_a_name_is_that_of_a_class():
    assert adbench_text.detector("llr") is adbench_text.LLR
    assert adbench_text.LLR.from_preset("default").get_params() == adbench_text.LLR.default_params()


def test_a_preset_may_depend_on_the_dataset_and_foreign_detectors_have_one():
    lengths = [adbench_text.DATE.from_preset("paper", name).max_length for name in ("20news", "agnews")]
    assert lengths == [498, 128]
    assert adbench_text.detector("date:paper")(dataset="20news").max_length == 498
    foreign = adbench_text.detector("pyod-knn:default")(n_neighbors=3)
    assert foreign.get_params()["n_neighbors"] == 3


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("llr:robbust", "preset .*LLR .*'robbust'.*'robust'"),
        ("lrr:robust", "detector .*'lrr'.*'llr'"),
        (
            "ocsvm:paper-grid",
            r"preset 'paper-grid' .*OCSVM .* 16 .* OCSVM\(kernel='rbf', nu=0\.05, encoder='mean'\)\.",
        ),
    ],
)
def test_a_preset_that_makes_no_detector_is_an_error_in_one_line(name, quoted):
    with pytest.raises(InvalidValueError, match=quoted) as error:
        adbench_text.detector(name)
    assert "\n" not in str(error.value)


def test_a_detector_ends_a_pipeline():
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = Pipeline([("lower", lower), ("detector", adbench_text.KNNWords(k=3))])
    pipeline.fit([text.upper() for text in SEA])
    check_is_fitted(pipeline)
    scores = pipeline.decision_function([SEA[0].upper(), "JUDGE AND WITNESS"])
    assert scores[1] > scores[0]
    assert pipeline.set_params(detector__k=5).get_params()["detector__k"] == 5
    assert clone(pipeline).get_params()["detector__k"] == 5


def test_a_cleaner_begins_a_pipeline():
    loud = [f"THE {text.upper()}, 12!" for text in SEA]
    steps = [("clean", adbench_text.Cleaner()), ("detect", adbench_text.KNNWords(k=3))]
    pipeline = Pipeline(steps).fit(np.array(loud))
    check_is_fitted(pipeline)
    expected = adbench_text.KNNWords(k=3).fit(SEA).decision_function([SEA[0], "judge witness"])
    new = [loud[0], "the judge (and a witness)"]
    assert pipeline.decision_function(new) == pytest.approx(expected)
    assert pickle.loads(pickle.dumps(pipeline)).decision_function(new) == pytest.approx(expected)
    german = clone(pipeline.set_params(clean__language="de"))
    assert german["clean"].transform(["Der Sturm und die 3 Schiffe."]) == ["sturm schiffe"]
    assert repr(german["clean"]) == "Cleaner(language='de')"


@pytest.mark.parametrize(
    ("language", "texts", "quoted"),
    [
        ("en", "a text", "^texts .*bare string"),
        ("en", ["a text", 1], "^texts .*got int .*position 1"),
        ("German", ["ein Text"], "^language .*, got 'German'"),
    ],
)
def test_what_a_cleaner_cannot_clean(language, texts, quoted):
    with pytest.raises(InvalidValueError, match=quoted):
        adbench_text.Cleaner(language).fit_transform(texts)


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
