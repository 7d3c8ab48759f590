import shutil

import pandas as pd
import pytest

from adbench_text.errors import InvalidValueError, ModelError, TrackingError
from adbench_text.models import Model, Training, save
from adbench_text.models.pyfunc import _load_pyfunc
from adbench_text.plugins import registry
from adbench_text.store.logged_model import log_model
from adbench_text.testing.topics import texts_about

TRAIN = texts_about("sea", 60, seed=0)
TABLE = pd.DataFrame({"text": [*texts_about("sea", 3, seed=1), *texts_about("law", 3, seed=2)]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    fitted = registry.detector("ocsvm")(encoder="svd", random_state=0).fit(TRAIN)
    model = Model(fitted, "ocsvm", fitted.decision_scores_, "leave-one-out", Training.of(TRAIN, "sea"))
    return save(model, tmp_path_factory.mktemp("models") / "model")


@pytest.fixture
def uri(empty_database, tmp_path):
    return f"sqlite:///{shutil.copy(empty_database, tmp_path / 'mlflow.db')}"


def test_a_registered_model_predicts_as_the_folder_does_without_pickle(
    folder, uri, tmp_path, monkeypatch, capfd
):
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    assert log_model(folder, "odd-ships", uri) == "models:/odd-ships/1"
    assert log_model(folder, "odd-ships", uri, alias="winner") == "models:/odd-ships@winner"
    assert mlflow.get_tracking_uri() == before
    assert capfd.readouterr().out == ""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    mlflow.set_tracking_uri(uri)
    try:
        loaded = mlflow.pyfunc.load_model("models:/odd-ships@winner")
        expected = _load_pyfunc(str(folder)).predict(TABLE)
        pd.testing.assert_frame_equal(loaded.predict(TABLE), expected)
        assert loaded.predict(TABLE, params={"alpha": 0.9})["odd"].sum() > expected["odd"].sum()
        files = {path.suffix for path in tmp_path.rglob("*") if path.is_file()}
        assert not files & {".pkl", ".pickle", ".joblib", ".py"}
    finally:
        mlflow.set_tracking_uri(before)


def test_what_is_no_model_or_no_name_is_refused(folder, uri, tmp_path):
    with pytest.raises(ModelError, match="There is no model at"):
        log_model(tmp_path, "odd-ships", uri)
    with pytest.raises(InvalidValueError, match="got 'a/b'"):
        log_model(folder, "a/b", uri)
    with pytest.raises(TrackingError, match="There is no folder"):
        log_model(folder, "odd-ships", f"sqlite:///{tmp_path}/missing/mlflow.db")
