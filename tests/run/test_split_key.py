"""The name of a split, as a value, in columns, for people and of a folder."""

from dataclasses import fields, replace

import pytest

from adbench_text.corpora.split import check_key
from adbench_text.corpora.split_key import AXES, SplitKey
from adbench_text.errors import InvalidValueError

KEY = SplitKey("20news", "comp", 0.05, 3)
OTHERS = {
    "inlier": ["rec", "not-comp", "comp/rec", "../comp", "comp-0.05", "Comp", ""],
    "contamination": [0.0, 0.1, 0.005],
    "seed": [0, 30, 4294967295],
    "protocol": ["leave-one-out", "rank-all", "redrawn"],
    "test_outliers": [0.05, 0.5],
    "known": [10, 100],
    "known_from": ["rec", "re,c", "../rec"],
}
CHANGED = [{name: value} for name, values in OTHERS.items() for value in values]


def test_every_field_is_tried_here():
    assert {"dataset", *OTHERS} == {field.name for field in fields(SplitKey)}
    assert OTHERS.keys() > AXES.keys()


@pytest.mark.parametrize("changes", [{}, *CHANGED, {"known": 10, "known_from": "rec", "test_outliers": 0.25}])
def test_the_columns_of_a_key_give_it_back(changes):
    key = replace(KEY, **changes)
    columns = key.columns()
    assert SplitKey.of({**columns, "detector": "llr", "detector.known": "5"}) == key
    assert all(isinstance(value, str) for value in columns.values())
    assert columns.keys() == {"dataset", "inlier", "contamination", "seed", *(changes.keys() & AXES.keys())}


@pytest.mark.parametrize("name", ["contamination", "seed", "test_outliers", "known"])
def test_a_column_that_is_no_number_is_refused(name):
    with pytest.raises(ValueError, match="high"):
        SplitKey.of({**KEY.columns(), name: "high"})


def test_keys_that_differ_in_any_field_have_other_slugs_and_texts():
    keys = [KEY, *(replace(KEY, **changes) for changes in CHANGED)]
    for names in ({key.slug for key in keys}, set(map(str, keys)), {*keys}):
        assert len(names) == len(keys)
    assert not any("/" in key.slug or key.slug.startswith(".") or not key.slug for key in keys)


def test_the_slug_of_a_usual_split_is_short():
    assert SplitKey("20news", "comp").slug == "comp-0-seed0"
    assert replace(KEY, known=10).slug == "comp-0.05-seed3-known-10"
    assert replace(KEY, test_outliers=0.05).slug == "comp-0.05-seed3-test-outliers-0.05"


def test_people_read_of_an_axis_only_where_it_is_not_the_default():
    assert str(KEY) == "20news/comp at 5%, seed 3"
    assert KEY.level == "5%"
    assert KEY.variant == ""
    known = replace(KEY, protocol="leave-one-out", known=10, known_from="rec")
    assert known.variant == "leave-one-out, 10 known outliers, from rec"
    assert known.level == f"5%, {known.variant}"
    assert str(known) == f"{KEY}, {known.variant}"


def test_keys_are_ordered_by_dataset_class_level_and_seed():
    ordered = [
        SplitKey("agnews", "sci", 0.15, 9),
        SplitKey("agnews", "world", 0.0, 2),
        SplitKey("agnews", "world", 0.0, 10),
        SplitKey("agnews", "world", 0.05, 0),
        SplitKey("sst2", "neg", 0.0, 0),
    ]
    assert sorted({*ordered}) == ordered


def test_a_key_is_found_by_an_equal_one():
    assert {KEY: "here"}[SplitKey.of(KEY.columns())] == "here"


@pytest.mark.parametrize(
    ("axes", "value"),
    [({"contamination": 0.5}, "0.5"), ({"test_outliers": 0.0}, "0"), ({"known": -3}, "-3")],
)
def test_a_number_out_of_its_range_is_refused_with_its_value(axes, value):
    with pytest.raises(InvalidValueError, match=f"got {value}"):
        check_key(SplitKey("tiny", "sea", **axes))
