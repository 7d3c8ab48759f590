"""The adapters of PyTextAD's detectors, around stand-ins: the package need not be installed."""

import sys

import numpy as np
import pytest
import torch
from sklearn.base import clone

from adbench_text import storage
from adbench_text.detectors import pytextad
from adbench_text.detectors.pytextad import wrapper
from adbench_text.errors import DataError, DetectorError, InvalidValueError, PluginError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about, write_vectors
from adbench_text.text import wordpiece

TRAIN = texts_about("sea", 30, seed=0)


class StandIn:
    """Keeps what it was given; scores are random numbers from torch's global generator."""

    def __init__(
        self, size=3, normalize=False, contamination=0.1, random_state=0, device=None, verbose=False
    ):
        self.size, self.normalize, self.contamination = size, normalize, contamination
        self.random_state, self.device, self.verbose = random_state, device or "cpu", verbose

    def fit(self, X):
        print("epoch 1")
        self.X = X
        self.decision_scores_ = np.arange(len(X), dtype=float)

    def decision_function(self, X):
        return torch.rand(len(X)).numpy()


class OfTexts(StandIn):
    def __init__(self, tokenizer="name", masks=None, cache_dir=None, **shared):
        super().__init__(**shared)
        self.tokenizer = tokenizer

    def fit(self, X):
        super().fit(X)
        self.decision_scores_ = np.array([np.nan, 1, 2, 9])

    def decision_function(self, X):
        return np.array([float(len(text)) or np.nan for text in X])


class OfMatrices(StandIn):
    def __init__(self, n_heads=3, **shared):
        super().__init__(**shared)
        self.n_heads = n_heads

    def decision_function(self, X):
        return np.array([float(len(matrix)) for matrix in X])


def adapted(adapter: str, wrapped: type) -> type:
    return type("Adapted", (getattr(wrapper, adapter),), {"wrapped": wrapped})


Vectors = adapted("PyTextADVectorDetector", StandIn)


def fitted(**params):
    return Vectors(encoder="svd", **params).fit(TRAIN)


# The names


def test_without_the_package_the_message_names_the_command(monkeypatch):
    for module in [name for name in sys.modules if name.startswith("pytextad.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pytextad", None)
    for name in ("date", "sik"):
        with pytest.raises(PluginError, match=f"pytextad-{name} needs .* run: pip install pytextad$"):
            registry.detector(f"pytextad-{name}")


def test_detectors_under_other_licences_are_no_members():
    names = set(pytextad.members())
    assert {"cvdd", "date", "sik", "dte-gaussian"} <= names
    assert not names & {"goad", "tccm", "dagmm", "drocc", "ganomaly", "icl", "mcm", "slad"}
    assert not names & {"normalizingflow", "normalizing-flow", "fate", "ddpm", "dte-inverse-gamma"}
    assert set(registry.names("detectors")) >= {f"pytextad-{name}" for name in names}


# Hyper-parameters


def test_its_own_parameters_are_passed_on_and_ours_are_not():
    detector = fitted(size=5, contamination=0.2, random_state=7, normalize=True)
    assert detector._detector.size == 5
    assert detector._detector.random_state == 7
    assert detector._detector.contamination == 0.1
    assert detector._detector.normalize is False
    assert detector._detector.verbose is False


def test_parameters_are_listed_and_cloned():
    detector = Vectors(size=5, encoder="svd")
    assert {"size": 5, "device": "auto", "encoder": "svd"}.items() <= detector.get_params().items()
    assert not {"verbose"} & detector.get_params().keys()
    assert clone(detector).get_params() == detector.get_params()
    assert detector.set_params(size=6).get_params()["size"] == 6


@pytest.mark.parametrize(
    ("params", "message"),
    [({"sise": 1}, "Did you mean 'size'"), ({"device": "gpu"}, "No device named 'gpu'")],
)
def test_a_wrong_parameter_is_refused(params, message):
    with pytest.raises(InvalidValueError, match=message):
        fitted(**params)


def test_the_device_is_passed_on_as_torch_names_it():
    detector = fitted(device="cpu")
    assert detector._detector.device == "cpu"
    assert detector.ran_on_["device"].startswith("cpu")


# Fit and scores


def test_random_scores_repeat_with_a_seed_and_not_without(capsys):
    first, again = (fitted(random_state=1) for _ in range(2))
    np.testing.assert_array_equal(first.decision_function(TRAIN), again.decision_function(TRAIN))
    np.testing.assert_array_equal(first.decision_function(TRAIN), first.decision_function(TRAIN))
    unseeded = fitted()
    assert (unseeded.decision_function(TRAIN) != unseeded.decision_function(TRAIN)).any()
    assert capsys.readouterr().out == ""


def test_training_scores_are_those_of_its_fit():
    np.testing.assert_array_equal(fitted().decision_scores_, np.arange(30))


def test_a_missing_package_is_reported():
    class Needy(StandIn):
        def fit(self, X):
            raise ImportError("no plots")

    with pytest.raises(DetectorError, match="Needy needs a package that is not installed: no plots"):
        adapted("PyTextADVectorDetector", Needy)(encoder="svd").fit(TRAIN)


@pytest.mark.parametrize(
    ("adapter", "regime"),
    [("PyTextADVectorDetector", "from scratch"), ("PyTextADBatchDetector", "unlabelled test batch")],
)
def test_the_regime_names_the_batch_or_the_knowledge_of_the_encoder(adapter, regime):
    assert adapted(adapter, StandIn)(encoder="svd").regime == regime


# DATE

Date = adapted("PyTextADDATE", OfTexts)


@pytest.fixture
def vocabulary(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "data_dir", lambda: tmp_path)
    path = tmp_path / wordpiece.BERT_FILE.path
    path.parent.mkdir()
    path.write_text("\n".join(wordpiece.SPECIAL))
    return path


def test_date_gets_our_file_of_the_vocabulary(vocabulary, monkeypatch):
    monkeypatch.setattr(wrapper, "version", lambda name: "0.4.0")
    detector = Date().fit(TRAIN[:4])
    assert detector._detector.tokenizer == str(vocabulary)
    assert detector.resources() == {
        "pytextad": "0.4.0",
        "vocabulary": storage.file_digest(vocabulary)[:16],
    }
    assert not {"tokenizer", "masks", "cache_dir"} & detector.get_params().keys()


def test_a_missing_vocabulary_is_an_error_that_names_the_command(vocabulary):
    vocabulary.unlink()
    with pytest.raises(DataError, match="Run: adbench-text fetch bert-base-uncased-vocab"):
        Date().prepare(TRAIN)


@pytest.mark.usefixtures("vocabulary")
def test_a_document_without_a_piece_gets_the_median_of_the_training_scores():
    detector = Date().fit(["", "a", "b\ud800", "c"])
    assert detector._detector.X[2] == "b\N{REPLACEMENT CHARACTER}"
    np.testing.assert_array_equal(detector.decision_function(["abc", "", "\ud800"]), [3, 2, 1])


# CVDD

Cvdd = adapted("PyTextADCVDD", OfMatrices)


@pytest.fixture
def path(tmp_path) -> str:
    return write_vectors(tmp_path / "topics.vec")


def test_cvdd_gets_the_vectors_of_known_words_in_order(path):
    train = ["ship crew ship", "crew sail", "ship sail crew", "unknown words", "sail anchor sail"]
    detector = Cvdd(vectors=path, min_count=3).fit(train)
    lengths = [matrix.shape for matrix in detector._detector.X]
    assert lengths == [(3, 8), (2, 8), (3, 8), (2, 8)]  # without the unknown; anchor occurs once
    first = detector._detector.X[0]
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_array_equal(
        detector.decision_function(["", "ship ship court", "anchor"]), [0.5, 2, 0.5]
    )
    everything = Cvdd(vectors=path, min_count=0).fit(train)
    assert everything.decision_function(["ship ship court"]).item() == 3


def test_cvdd_needs_documents_for_its_heads(path):
    with pytest.raises(InvalidValueError, match=r"n_heads=3 needs as many training texts .* got 2"):
        Cvdd(vectors=path, min_count=1).fit(["ship", "crew", "zzz"])


def test_cvdd_states_its_word_vectors(path, monkeypatch):
    monkeypatch.setattr(wrapper, "version", lambda name: "0.4.0")
    detector = Cvdd(vectors=path)
    detector.prepare(TRAIN)
    assert detector.resources().keys() == {"pytextad", "vectors"}
    assert detector.regime == "word frequencies or vectors"
    with pytest.raises(InvalidValueError, match="min_count must be a whole number"):
        Cvdd(min_count=-1).fit(TRAIN)
