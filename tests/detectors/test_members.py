from importlib.metadata import version

import pytest

from adbench_text.code_version import code_version, libraries
from adbench_text.errors import InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.testing.topics import write_vectors
from adbench_text.text import vectors

Ensemble = registry.detector("ensemble")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("lrr", UnknownNameError, "detector .*'lrr'.*'llr'"),
        ("llr(smothing=5)", UnknownNameError, "llr .*'smothing'.*'smoothing'"),
        ("llr(smoothing=0)", InvalidValueError, "smoothing .*got 0"),
        ("llr(random_state=1)", UnknownNameError, "llr .*'random_state'"),
        ("cvdd(score=context_best)", InvalidValueError, "context_best"),
        ("", InvalidValueError, "detectors .*'llr, .*got ''"),
        (None, InvalidValueError, "detectors .*got None"),
        ("llr,", InvalidValueError, "detector .*got ''"),
        ("ocsvm:paper-grid", InvalidValueError, "ocsvm:paper-grid .*16"),
        ("ensemble", InvalidValueError, "ensemble .*got 'ensemble'"),
        ("ensemble(members=llr)", InvalidValueError, "ensemble .*got 'ensemble\\(members=llr\\)'"),
    ],
)
def test_a_wrong_member_is_refused(text, error, message):
    with pytest.raises(error, match=message):
        Ensemble(members=text).check_params()


def test_the_code_and_the_resources_of_members_are_resources(tmp_path):
    path = write_vectors(tmp_path / "topics.vec")
    used = Ensemble(members=f"pyod-knn(vectors={path})").resources()
    kind = registry.detector("pyod-knn")
    assert used == {
        "member1.code": code_version(kind),
        "member1.libraries": libraries(kind, declared=kind.computes_with),
        "member1.library": f"pyod {version('pyod')}",
        "member1.vectors": vectors.digest(path),
    }


def test_vectors_of_members_are_read_in_prepare(tmp_path, monkeypatch):
    path = write_vectors(tmp_path / "topics.vec")
    monkeypatch.setenv("ADBENCH_TEXT_CACHE", str(tmp_path / "cache"))
    asked = []
    monkeypatch.setattr(vectors, "load", asked.append)
    Ensemble(members=f"ocsvm(vectors={path})").prepare(["ship sail", "court"])
    assert asked == [path]
