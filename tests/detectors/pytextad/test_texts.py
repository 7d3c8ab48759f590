"""The adapters of PyTextAD's detectors of texts, around stand-ins: the package need not be installed."""

import sys

import numpy as np
import pytest

from adbench_text import storage
from adbench_text.detectors import pytextad
from adbench_text.detectors.pytextad import texts
from adbench_text.errors import DataError, InvalidValueError, PluginError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about, write_vectors
from adbench_text.text import wordpiece

TRAIN = texts_about("sea", 30, seed=0)


class StandIn:
    """Keeps what it was given."""

    def __init__(self, contamination=0.1, random_state=0, device=None, verbose=False):
        self.contamination, self.random_state = contamination, random_state
        self.device, self.verbose = device or "cpu", verbose

    def fit(self, X):
        print("epoch 1")
        self.X = X


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
    return type("Adapted", (getattr(texts, adapter),), {"wrapped": wrapped})


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


# DATE

Date = adapted("PyTextADDATE", OfTexts)


@pytest.fixture
def vocabulary(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "data_dir", lambda: tmp_path)
    path = tmp_path / wordpiece.BERT_FILE.path
    path.parent.mkdir()
    path.write_text("\n".join(wordpiece.SPECIAL))
    return path


def test_date_gets_our_file_of_the_vocabulary(vocabulary, monkeypatch, capsys):
    monkeypatch.setattr(texts, "version", lambda name: "0.4.0")
    detector = Date(contamination=0.2, random_state=7).fit(TRAIN[:4])
    assert (detector._detector.random_state, detector._detector.contamination) == (7, 0.1)
    assert detector.ran_on_ == {"device": "cpu"}
    assert capsys.readouterr().out == ""
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
    monkeypatch.setattr(texts, "version", lambda name: "0.4.0")
    detector = Cvdd(vectors=path)
    detector.prepare(TRAIN)
    assert detector.resources().keys() == {"pytextad", "vectors"}
    assert detector.regime == "word frequencies or vectors"
    with pytest.raises(InvalidValueError, match="min_count must be a whole number"):
        Cvdd(min_count=-1).fit(TRAIN)
