from importlib.metadata import version

import pytest

from adbench_text.code_version import code_version, libraries
from adbench_text.detectors._members import parse_members
from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.testing.topics import write_vectors
from adbench_text.text import vectors

Mean = registry.detector("mean")


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("llr", [("llr", {})]),
        (" llr ,knn-words( k = 5 )", [("llr", {}), ("knn-words", {"k": 5})]),
        (
            "ocsvm(encoder=svd, nu=0.2,normalize=false)",
            [("ocsvm", {"encoder": "svd", "nu": 0.2, "normalize": False})],
        ),
        (
            "other(detector=ocsvm(nu=0.2, kernel=linear))",
            [("other", {"detector": "ocsvm(nu=0.2, kernel=linear)"})],
        ),
        ("pyod-vae(encoder_neuron_list=[8, 4])", [("pyod-vae", {"encoder_neuron_list": [8, 4]})]),
    ],
)
def test_members_are_names_with_settings_in_brackets(text, members):
    assert parse_members(text) == members


@pytest.mark.parametrize(
    "text",
    ["", "llr,", "llr,,date", "llr(", "llr(a=1", "llr)a=1(", "(k=5)", "llr(5)", "llr()", "llr(=5)", None, 5],
)
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidValueError, match="expected detectors as in"):
        parse_members(text)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("lrr", UnknownNameError, "No detector named 'lrr'. Did you mean 'llr'"),
        (
            "llr(smothing=5)",
            UnknownNameError,
            "No parameter of llr named 'smothing'. Did you mean 'smoothing'",
        ),
        ("llr(smoothing=0)", InvalidValueError, "smoothing must be positive, got 0"),
        ("llr(random_state=1)", UnknownNameError, "No parameter of llr named 'random_state'"),
        ("cvdd(score=context_best)", InvalidValueError, "its scores are chosen by the test labels"),
        ("mean", InvalidValueError, "mean cannot be a member of itself, got 'mean'"),
        ("mean(members=llr)", InvalidValueError, "mean cannot be a member of itself"),
    ],
)
def test_a_wrong_member_is_refused(text, error, message):
    with pytest.raises(error, match=message):
        Mean(members=text).check_params()


def test_the_code_and_the_resources_of_members_are_resources(tmp_path):
    path = write_vectors(tmp_path / "topics.vec")
    used = Mean(members=f"pyod-knn(vectors={path})").resources()
    kind = registry.detector("pyod-knn")
    assert used == {
        "member1.code": code_version(kind),
        "member1.libraries": libraries(kind),
        "member1.pyod": version("pyod"),
        "member1.vectors": vectors.digest(path),
    }


def test_vectors_of_members_are_read_in_prepare(tmp_path, monkeypatch):
    path = write_vectors(tmp_path / "topics.vec")
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", str(tmp_path / "cache"))
    asked = []
    monkeypatch.setattr(vectors, "load", asked.append)
    Mean(members=f"ocsvm(vectors={path})").prepare(["ship sail", "court"])
    assert asked == [path]
