"""A folder that is no model, or was changed, is refused with one clear line."""

import contextlib
import copy
import dataclasses
import functools
import hashlib
import json
import math
import operator
import os
import pickle
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import skops.io
from parameters import slow

from adbench_text.documents.fitting import fit_model
from adbench_text.documents.models import folder as folder_module
from adbench_text.documents.models import state
from adbench_text.documents.models.folder import FORMAT
from adbench_text.documents.models.folder import load_model as load
from adbench_text.documents.models.folder import save_model as save
from adbench_text.documents.models.model import Model, Scorer, TrainingFacts, keys
from adbench_text.errors import InvalidValueError, ModelError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about, write_vectors

TRAIN = texts_about("sea", 40, seed=0)


def model_of(name: str, **settings: object) -> Model:
    fitted = registry.detector(name)(**settings).fit(TRAIN)
    training = TrainingFacts.of(TRAIN, "sea", {"column": "text"})
    return Model(
        fitted, name, {"words": fitted.decision_scores_}, "leave-one-out", training, known=keys(TRAIN)
    )


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = model_of("ocsvm", encoder="svd", random_state=0)
    return save(model, tmp_path_factory.mktemp("models") / "model")


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy of a model with a part of scikit-learn, to be changed."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


def change(folder: Path, **values: object) -> None:
    """Change the description and its digest: what somebody does who wants to harm."""
    path = folder / "model.json"
    description = json.loads(path.read_text()) | values
    del description["sha256"]
    path.write_text(json.dumps(description | {"sha256": folder_module._digest(description)}))


def change_state(folder: Path, changed: Callable[[dict[str, Any]], object]) -> None:
    """Change what a model has learned, and all digests."""
    trusted = sorted(state._DATA | {"sklearn.svm._classes.OneClassSVM"})
    learned = skops.io.load(folder / "state.skops", trusted=trusted)
    changed(learned)
    data = skops.io.dumps(learned)
    (folder / "state.skops").write_bytes(data)
    change(folder, sha256_of_state=hashlib.sha256(data).hexdigest())


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.exit_code == 1
    return message


def test_a_folder_holds_what_its_documentation_says(saved):
    files = sorted(str(path.relative_to(saved)) for path in saved.rglob("*") if path.is_file())
    assert files == ["model.json", "state.skops"]
    description = json.loads((saved / "model.json").read_text())
    assert description["training"]["options"] == {"column": "text"}
    assert description["calibration"].keys() == {"by", "n"}
    assert load(saved).training == TrainingFacts.of(TRAIN, "sea", {"column": "text"})


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"3", b"{}"])
def test_a_damaged_or_foreign_description_is_refused(folder, tmp_path, data):
    (folder / "model.json").write_bytes(data)
    assert str(folder / "model.json") in refusal(folder)
    (folder / "model.json").write_text(json.dumps({"kind": "another", "format": FORMAT}))
    assert str(folder / "model.json") in refusal(folder)
    assert f"{tmp_path}: model.json" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["model.json", "state.skops"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert Path(name).name in refusal(folder)


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:-1] + b"?", lambda data: b""])
def test_a_damaged_file_is_named(folder, damage):
    path = folder / "state.skops"
    path.write_bytes(damage(path.read_bytes()))
    assert f"{path} is damaged" in refusal(folder)


@pytest.mark.parametrize(
    "values",
    [
        {"detectors": None},
        {"detectors": [{"name": "llr"}]},
        {"sha256_of_state": None},
        {"training": {"n": 1}},
        {"calibration": {}},
    ],
)
def test_a_description_without_its_parts_is_refused(folder, values):
    change(folder, **values)
    assert "is damaged" in refusal(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ["model.json", "state.skops"])
def test_a_pipe_or_socket_in_place_of_a_file_is_refused_at_once(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert name in refusal(folder)
    (folder / name).unlink()
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir((folder / name).parent):
        server.bind(Path(name).name)
        assert name in refusal(folder)


def test_what_another_version_or_installation_saved_is_refused(folder):
    (detector,) = json.loads((folder / "model.json").read_text())["detectors"]
    change(folder, detectors=[detector | {"name": "lrr"}])
    assert {"lrr", "adbench-text"} <= {*re.findall("'(.*?)'", refusal(folder))}
    change(folder, detectors=[detector | {"name": "deep-one", "package": "abyss"}])
    assert {"deep-one", "abyss"} <= {*re.findall("'(.*?)'", refusal(folder))}
    change(folder, detectors=[detector | {"settings": {"colour": "blue"}}])
    assert re.search("TypeError: .*'colour'", refusal(folder))
    save(model_of("llr"), folder, overwrite=True)
    assert load(folder).name == "llr"


@pytest.mark.parametrize(
    ("number", "advice"), [(FORMAT + 1, "update adbench-text"), (FORMAT - 1, "fit .*again")]
)
def test_another_format_is_refused_with_both_numbers(folder, number, advice):
    change(folder, format=number, saved_by="adbench-text 0.7.0")
    quoted = rf"model\.json .*format {number} .*'adbench-text 0\.7\.0'.* format {FORMAT}: {advice}"
    assert re.search(quoted, refusal(folder))
    save(model_of("llr"), folder, overwrite=True)
    assert load(folder).name == "llr"


@pytest.mark.parametrize("number", [None, True, str(FORMAT), float(FORMAT)])
def test_a_format_that_is_no_whole_number_is_refused(folder, number):
    change(folder, format=number)
    assert re.search(rf"model\.json .*damaged .*format .*{re.escape(repr(number))}", refusal(folder))


def test_what_another_version_saved_is_read(folder, monkeypatch):
    change(folder, saved_by="adbench-text 0.0.1")
    assert load(folder).name == "ocsvm"
    monkeypatch.setattr(folder_module, "__version__", "7.0.0")
    assert load(folder).name == "ocsvm"


def places_of(value: object, *place: str | int) -> Iterator[tuple[str | int, ...]]:
    """Yield where the values of a description are."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*place, key)
        yield from places_of(inner, *place, key)


def test_each_changed_value_of_the_description_is_refused(with_form):
    path = with_form / "model.json"
    description = json.loads(path.read_text())
    places = list(places_of(description))
    assert len(places) > 40
    for *way, last in places:
        for value in (None, True, 0, -1, 1.5, 10**30, "", "x", [], {}, [1], {"x": 1}):
            changed = copy.deepcopy(description)
            inner = functools.reduce(operator.getitem, way, changed)
            if repr(inner[last]) != repr(value):
                inner[last] = value
                path.write_text(json.dumps(changed))
                assert str(with_form) in refusal(with_form), (*way, last, value)
    path.write_text(json.dumps(description))  # with other spaces
    assert load(with_form).name == "ensemble"


WRONG = [None, True, 0, -1, 1.5, float("inf"), 10**30, "", "x", "\udfff", [], {}, ["x"], {"x": 1}]


@pytest.mark.parametrize("name", ["llr", *slow("knn-words", "ensemble")])
def test_a_wrong_value_with_the_right_digest_is_one_line_or_harms_nothing(home, tmp_path, name):
    folder = save(fit_model(TRAIN, name), tmp_path / name)
    description = json.loads((folder / "model.json").read_text())
    whole = Scorer(load(folder)).score(TRAIN[:2]).columns.tolist()
    refusals = []
    for part in ("training", "detectors"):
        for *way, last in places_of(description[part]):
            for value in WRONG:
                changed = copy.deepcopy(description[part])
                functools.reduce(operator.getitem, way, changed)[last] = value
                change(folder, **{part: changed})
                try:
                    model = load(folder)
                except ModelError as error:
                    refusals.append(str(error))
                else:
                    scorer = Scorer(model)
                    assert scorer.score(TRAIN[:2]).columns.tolist() == whole
                    assert math.isfinite(scorer.centre)
                    assert f"{model.training.n_documents:,}"
        change(folder, **{part: description[part]})
    assert len(refusals) > 100
    assert [refusal for refusal in refusals if "\n" in refusal] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("language", None), ("language", "x"), ("clean", "yes"), ("centre", "0"), ("centre", 1e400)],
)
def test_an_option_of_another_kind_is_named(folder, name, value):
    description = json.loads((folder / "model.json").read_text())["training"]
    change(folder, training=description | {"options": {name: value}})
    assert f"{name} is {value!r}" in refusal(folder)


@pytest.fixture
def with_form(home: Path, tmp_path: Path) -> Path:
    """A model that looks at form."""
    return save(fit_model(TRAIN), tmp_path / "with-form")


def test_the_form_of_a_model_is_read_back(with_form):
    model, new = fit_model(TRAIN), [TRAIN[0], "THE judge!!", "12 34 56", ""]
    assert Scorer(load(with_form)).score(new).equals(Scorer(model).score(new))
    save(load(with_form), with_form, overwrite=True)
    assert Scorer(load(with_form)).score(new).equals(Scorer(model).score(new))


def test_another_list_of_words_is_refused_for_form(with_form):
    words, form = json.loads((with_form / "model.json").read_text())["detectors"]
    change(with_form, detectors=[words, form | {"resources": {"wordfreq": "2.0"}}])
    assert re.search("form .*wordfreq 2.0", refusal(with_form))


def test_what_a_detector_does_not_trust_is_refused(folder):
    change_state(folder, lambda learned: learned["detectors"][0].update(_svm=os.system))
    assert "state.skops contains posix.system" in refusal(folder)


def test_a_changed_setting_in_the_state_is_ignored(folder):
    change_state(folder, lambda learned: learned["detectors"][0].update(nu=0.9, encoder="mean"))
    assert (
        load(folder).detector.get_params()
        == model_of("ocsvm", encoder="svd", random_state=0).detector.get_params()
    )


def test_wrong_sparse_indices_are_refused(tmp_path):
    def beyond(learned: dict[str, Any]) -> None:
        learned["detectors"][0]["_neighbours"].indices += 10_000

    folder = save(model_of("knn-words"), tmp_path / "words")
    change_state(folder, beyond)
    assert "(ValueError: " in refusal(folder)


def test_nothing_is_unpickled(saved, monkeypatch):
    def fail(*args: object, **kwargs: object) -> None:
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler", "_Unpickler"):
        monkeypatch.setattr(pickle, name, fail)
    monkeypatch.setattr("joblib.load", fail)
    monkeypatch.setattr("torch.load", fail)
    assert load(saved).name == "ocsvm"


def test_other_word_vectors_are_refused(tmp_path):
    vectors = tmp_path / "topics.vec"
    write_vectors(vectors)
    folder = save(model_of("ocsvm", vectors=str(vectors)), tmp_path / "model")
    assert load(folder).name == "ocsvm"
    write_vectors(vectors, scale=0.2)
    assert f"vectors '{vectors}'" in refusal(folder)
    vectors.unlink()
    assert f" at {vectors}" in refusal(folder)


def test_another_version_of_a_package_of_data_is_refused(folder, tmp_path):
    folder = save(model_of("llr"), tmp_path / "llr")
    (detector,) = json.loads((folder / "model.json").read_text())["detectors"]
    change(folder, detectors=[detector | {"resources": {"wordfreq": "2.0"}}])
    assert re.search("llr .*wordfreq 2.0", refusal(folder))


def test_an_existing_folder_is_kept(saved, tmp_path):
    model = load(saved)
    folder = save(model, tmp_path / "deep" / "model")
    with pytest.raises(ModelError, match=f"{re.escape(str(folder))} .*--overwrite"):
        save(model, folder)
    assert len(load(folder).calibration) == len(model.calibration)
    save(dataclasses.replace(model, calibrations={"words": model.calibration[1:]}), folder, overwrite=True)
    assert len(load(folder).calibration) == len(model.calibration) - 1
    (tmp_path / "notes.txt").write_text("mine")
    for other in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ModelError, match=re.escape(f"{other} exists")):
            save(model, other, overwrite=True)
    (tmp_path / "empty").mkdir()
    assert load(save(model, tmp_path / "empty")).name == "ocsvm"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "empty", "notes.txt"]


def test_a_detector_without_calibration_is_refused(tmp_path):
    detector = registry.detector("llr")(background="uniform").fit(TRAIN)
    with pytest.raises(InvalidValueError, match=r"got LLR; .*fit_model"):
        save(detector, tmp_path / "model")


def test_a_model_that_cannot_take_its_place_leaves_the_old_one(saved, tmp_path, monkeypatch):
    model, rename = load(saved), Path.rename
    folder = save(model, tmp_path / "model")

    def fail(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(39, "Directory not empty")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ModelError, match="Directory not empty"):
        save(model, folder, overwrite=True)
    assert len(load(folder).calibration) == len(model.calibration)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_interrupted_save_leaves_the_old_model(saved, tmp_path, monkeypatch):
    model = load(saved)
    folder = save(model, tmp_path / "model")

    def fail(self: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(ModelError, match="No space left on device"):
        save(model, folder, overwrite=True)
    monkeypatch.undo()
    assert load(folder).name == "ocsvm"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
