"""Values that stand for a missing one, and classes and groups that are written in several ways."""

import io
import json
import re

import pandas as pd
import pytest

from adbench_text.reading.documents import DocumentFile
from adbench_text.reading.values import MISSING, of_categories


def test_what_pandas_takes_for_missing_is_missing():
    written = pd.DataFrame({"value": sorted(MISSING)}).to_csv(index=False)
    read = pd.read_csv(io.StringIO(written))["value"]
    assert [value for value in sorted(MISSING) if read[sorted(MISSING).index(value)] == value] == ["\\N"]


WRITTEN = ["the ship", "NULL", r"\N", "None of the crew", "<NA>", "nan", "the \\\\N sea", "none"]
KEPT = ["the ship", "", "", "None of the crew", "", "", "the \\\\N sea", "none"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet"])
def test_a_text_that_is_a_word_for_a_missing_value_is_missing_and_counted(tmp_path, name):
    frame, path = pd.DataFrame({"id": WRITTEN, "text": WRITTEN}), tmp_path / name
    if name == "a.jsonl":
        path.write_text("\n".join(map(json.dumps, frame.to_dict("records"))))
    elif name == "a.parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if name == "a.tsv" else ",")
    file = DocumentFile(str(path))
    table = file.table()
    assert (list(table.texts()), table.ids) == (KEPT, WRITTEN)
    (note,) = file.late_notes
    assert note.startswith("4 texts ")
    assert all(each in note for each in ("<NA>, NULL, \\N, nan", name))


def test_lines_and_files_are_texts_whatever_they_say(tmp_path):
    (tmp_path / "a.txt").write_text("the ship\nNULL\nNone\n")
    assert list(DocumentFile(str(tmp_path / "a.txt")).table().texts()) == ["the ship", "NULL", "None"]
    (tmp_path / "b").write_text("None")
    (tmp_path / "a.txt").unlink()
    assert list(DocumentFile(str(tmp_path)).table().texts()) == ["None"]


@pytest.mark.parametrize(
    ("values", "expected", "quoted"),
    [
        (["1", "1.0", "2", "2.00"], ["1", "1", "2", "2"], "'1' and '1.0', '2' and '2.00'"),
        (["1,0", "1", "0", "0.0"], ["1", "1", "0", "0"], "'0' and '0.0', '1' and '1,0'"),
        (["0.5", "0,5"], ["0.5", "0.5"], "'0.5'"),
        (["true", "True", "TRUE", "True"], ["true"] * 4, "'true' and 'True' and 'TRUE'"),
        (["2024-03-01", "2024-03-01 00:00:00", "2024-03-01T00:00:00Z"], ["2024-03-01"] * 3, "'2024-03-01' "),
        (["spam", " spam", "spam "], ["spam"] * 3, "'spam '"),
        (["caf\u00e9", "cafe\u0301"], ["caf\u00e9"] * 2, "mean the same"),
        (
            ["a", "NULL", r"\N", "", None, " "],
            ["a", None, None, None, None, None],
            "2 values of 'queue' .*NULL, ",
        ),
    ],
)
def test_values_that_mean_the_same_are_one_and_those_of_nothing_are_missing(values, expected, quoted):
    found, (note,) = of_categories(values, "queue")
    assert found == expected
    assert "'queue'" in note
    assert re.search(quoted, note)


@pytest.mark.parametrize(
    "values",
    [
        ["007", "7", "07"],
        ["1.000", "1", "1,000"],
        ["1.1", "1.10", "1.2"],
        ["2024-03-01", "2024-03-01 09:00:00"],
        ["yes", "1", "true"],
        ["1.0", "2.0"],
        ["none", "Null", "None of these"],
    ],
)
def test_values_that_may_differ_stay_as_they_are(values):
    assert of_categories(values, "queue") == (values, [])


def test_values_that_differ_in_case_stay_apart_and_are_noted():
    found, (note,) = of_categories(["Spam", "spam", "ham"], "queue")
    assert found == ["Spam", "spam", "ham"]
    assert "'Spam' and 'spam'" in note
