import numpy as np
import pytest

from adbench_text.detectors import _neighbours
from adbench_text.errors import DataError, InvalidValueError, PluginError
from adbench_text.models import Model, Training
from adbench_text.models import load_model as load
from adbench_text.models import save_model as save
from adbench_text.plugins import registry
from adbench_text.plugins.scores import BANK
from adbench_text.sweep.cell import Cell
from adbench_text.sweep.construct import identified
from adbench_text.testing.topics import texts_about

Contrast = registry.detector("contrast")
# the vectors of a document have the directions of its words
VECTORS = "ship 1 0 0\ncrew 0.8 0.6 0\ncourt 0 1 0\nrain 0 0 1\n"
TRAIN = ["ship", "ship", "crew", "court"]


@pytest.fixture
def settings(tmp_path):
    vectors, bank = tmp_path / "words.vec", tmp_path / "bank.txt"
    vectors.write_text(VECTORS)
    bank.write_text("The CREW, 1999!\ncourt\n\nIt is 12.\nrain\n")
    return {"encoder": "mean", "vectors": str(vectors), "bank": str(bank), "random_state": 0}


@pytest.fixture
def make(settings):
    return lambda **changed: Contrast(**{**settings, **changed})


@pytest.mark.parametrize(
    ("changed", "near", "in_bank"),
    [
        ({}, np.mean([1, 1, 0.8, 0]), 0.5 * np.mean([0.8, 0, 0])),
        ({"neighbours": 3, "weight": 0}, np.mean([1, 1, 0.8]), 0),
        ({"neighbours": 1, "weight": 2}, 1, 2 * 0.8),
        ({"neighbours": 1, "weight": 2, "normalize": False}, 1, 2 * 0.8),
    ],
)
def test_it_is_the_distance_to_the_training_documents_and_the_nearness_to_the_bank(
    make, changed, near, in_bank
):
    detector = make(**changed).fit(TRAIN)
    scores = detector.decision_function(["ship", "ship ship", "unknown", ""])
    np.testing.assert_allclose(scores, [1 - near + in_bank] * 2 + [1, 1], atol=1e-6)


def test_a_training_document_leaves_itself_out(make):
    scores = make(weight=0).fit(TRAIN).decision_scores_
    ship, crew, court = np.mean([1, 0.8, 0]), np.mean([0.8, 0.8, 0.6]), np.mean([0, 0, 0.6])
    np.testing.assert_allclose(scores, [1 - ship, 1 - ship, 1 - crew, 1 - court], atol=1e-6)
    np.testing.assert_allclose(make(weight=0).fit(["ship"]).decision_scores_, [1])


def test_some_of_many_documents_are_searched_and_leave_themselves_out(monkeypatch, make):
    monkeypatch.setattr(_neighbours, "MOST_REFERENCES", 2)
    train = ["ship", "crew", "court", "rain"]
    detector = make(weight=0, neighbours=1).fit(train)
    first, second = detector._places
    similarity = np.array([[1, 0.8, 0, 0], [0.8, 1, 0.6, 0], [0, 0.6, 1, 0], [0, 0, 0, 1]])
    expected = 1 - similarity[:, [first, second]].max(axis=1)
    expected[[first, second]] = 1 - similarity[first, second]
    np.testing.assert_allclose(detector.decision_scores_, expected, atol=1e-6)
    other = make(weight=0, neighbours=1, random_state=1).fit(train)
    assert other._places.tolist() != [first, second]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bank.csv", "id,text\n1,crew\n2,court\n3,rain\n"),
        ("bank.jsonl", '{"text": "crew"}\n{"text": "court", "id": 2}\n{"text": "rain"}\n'),
    ],
)
def test_a_bank_may_have_columns(tmp_path, make, name, content):
    bank = tmp_path / name
    bank.write_text(content)
    scores = [make(**changed).fit(TRAIN).decision_function(["ship"]) for changed in ({}, {"bank": str(bank)})]
    assert scores[0] == scores[1]


def test_without_a_bank_it_names_what_to_give(make):
    detector = make(bank=None)
    detector.check_params()
    detector.prepare(TRAIN)
    for needs_it in (lambda: detector.fit(TRAIN), detector.resources):
        with pytest.raises(PluginError, match=r"contrast needs a bank .* --set bank=FILE, .*\.txt"):
            needs_it()


@pytest.mark.parametrize("bank", ["", "-", "bank", "bank.pdf", ["crew", "court"]])
def test_what_cannot_be_a_bank_is_refused(make, bank):
    with pytest.raises(InvalidValueError, match=r"bank must be None or the path of a file of texts .*got "):
        make(bank=bank).check_params()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bank.txt", b"", r"bank\.txt has no documents"),
        ("bank.txt", b"It is 12.\n\n", r"bank\.txt has no words; give a file of texts in English"),
        ("bank.txt", b"cr\xe9w\n", r"text in UTF-8.*is not in utf-8, after line 0"),
        ("bank.csv", b"id,body\n1,crew\n", r"with a column 'text'.*Known: body, id"),
        ("bank.txt", None, r"There is no file .*bank\.txt"),
    ],
)
def test_an_unreadable_bank_is_an_error_of_one_line(tmp_path, make, name, content, message):
    bank = tmp_path / "other" / name
    bank.parent.mkdir()
    if content is not None:
        bank.write_bytes(content)
    with pytest.raises(DataError, match=message) as raised:
        make(bank=str(bank)).fit(TRAIN)
    assert "\n" not in str(raised.value)


def test_the_cells_of_another_bank_are_others(tmp_path, settings, make):
    cell = Cell("contrast", "default", settings, "tiny", "sea", 0, 0)
    before = identified(make(), cell)
    assert before["regime"] == BANK == make(encoder="svd").regime
    (tmp_path / "bank.txt").write_text("rain\n")
    after = identified(make(), cell)
    assert {name for name in after if after[name] != before[name]} == {"resource.bank"}


def test_a_saved_detector_needs_no_bank(tmp_path, make):
    fitted = make().fit(TRAIN)
    scores = fitted.decision_function(["ship", "rain"])
    model = Model(
        fitted, "contrast", {"words": fitted.decision_scores_}, "leave-one-out", Training.of(TRAIN, "sea")
    )
    folder = save(model, tmp_path / "model")
    (tmp_path / "bank.txt").unlink()
    np.testing.assert_array_equal(load(folder).detector.decision_function(["ship", "rain"]), scores)


def test_it_leaves_out_a_document_only_if_the_encoder_learns_nothing(make):
    assert Contrast().leaves_out_self
    assert not make(encoder="svd").leaves_out_self


def test_it_can_be_a_member_of_a_mean(settings):
    listed = ", ".join(f"{name}={settings[name]}" for name in ("encoder", "vectors", "bank"))
    mean = registry.detector("mean")(members=f"knn-words, contrast({listed})", random_state=0)
    train = texts_about("sea", 12, seed=0)
    assert mean.regime == BANK
    assert "member2.bank" in mean.resources()
    assert np.isfinite(mean.fit(train).decision_function(["ship", "court"])).all()


def test_it_reads_english_only():
    with pytest.raises(InvalidValueError, match="contrast reads English only, and the language is 'de'"):
        Contrast.for_documents("de", {})
