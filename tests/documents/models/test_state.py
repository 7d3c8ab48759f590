"""Files of scikit-learn's objects: only listed classes are made, and nothing is called."""

import functools
import io
import json
import operator
import os
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import OneClassSVM

from adbench_text.documents.models.state import dump, load
from adbench_text.errors import DetectorError, ModelError

TRUSTED = frozenset({"sklearn.preprocessing._data.StandardScaler"})


def fitted() -> StandardScaler:
    return StandardScaler().fit(np.arange(6.0).reshape(3, 2))


def test_a_listed_class_is_read_back():
    loaded = load(dump({"x": fitted()}, "x", TRUSTED), "x", TRUSTED)
    np.testing.assert_array_equal(loaded["x"].mean_, fitted().mean_)


@pytest.mark.parametrize(
    "value",
    [
        OneClassSVM().fit(np.eye(3)),  # skops itself would trust it
        functools.partial(print, 1),
        os.system,
        operator.methodcaller("unlink"),
        fitted().fit,
        FunctionTransformer(np.save),
        [StandardScaler, FunctionTransformer],
        np.random.default_rng(0),
    ],
)
def test_everything_else_is_refused(value):
    with pytest.raises(DetectorError, match=r"^x .*saved"):
        dump({"x": value}, "x", TRUSTED)
    with pytest.raises(ModelError, match=r"^x contains .*trust"):
        load(skops.io.dumps({"x": value}), "x", TRUSTED)


def changed(**node: object) -> bytes:
    """A file of a scaler whose root is changed."""
    source = zipfile.ZipFile(io.BytesIO(dump({"x": fitted()}, "x", TRUSTED)))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            data = source.read(name)
            if name == "schema.json":
                data = json.dumps(json.loads(data) | node).encode()
            archive.writestr(name, data)
    return target.getvalue()


def test_a_state_may_have_the_words_of_the_format():
    state = {"a": {"__loader__": 1.0, "__class__": "b", "__module__": "c"}}
    assert load(dump(state, "x", TRUSTED), "x", TRUSTED) == state


def test_a_listed_class_is_not_called():
    call = {"__loader__": "ConstructorFromReduceNode", "content": {}}
    with pytest.raises(ModelError, match="by ConstructorFromReduceNode"):
        load(changed(**call), "x", TRUSTED)


@pytest.mark.parametrize(
    "loader", ["FunctionNode", "MethodNode", "OperatorFuncNode", "PartialNode", "made up"]
)
def test_other_ways_to_make_an_object_are_refused(loader):
    with pytest.raises(ModelError, match=f"by {loader}"):
        load(changed(__loader__=loader), "x", TRUSTED)


def nested(depth: int) -> dict[str, object]:
    tree: dict[str, object] = {}
    for _ in range(depth):
        tree = {"content": tree}
    return tree


def test_damaged_files_are_refused():
    compressed = io.BytesIO()
    with zipfile.ZipFile(compressed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 1_000_000)
    for data in (
        b"",
        b"no archive",
        compressed.getvalue(),
        changed(content=nested(300)),
        changed(__class__=3),
    ):
        with pytest.raises((AttributeError, KeyError, ModelError, TypeError, ValueError, zipfile.BadZipFile)):
            load(data, "x", TRUSTED)
