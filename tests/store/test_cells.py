"""The table of cells as a CSV: what ``report --format csv`` writes is read back."""

import csv
import io
import json
import re

import pandas as pd
import pytest
from cells import cells_csv, failed, stored

from adbench_text.errors import DataError
from adbench_text.run.cell import Cell
from adbench_text.store.cells import COLUMNS, identities_of, keys_of, latest, of_cells, table_of
from adbench_text.store.cells_file import read_csv

NAMES = [
    *("=1+1", "@sum", "-x", "+x", "-3", "1e5"),
    *("NA", "nan", "null", "None", "yes", "", " sea "),
    *('"', 'a"b,c', "'", "'tis", "x\ny", "für", "a;b", "\U0001f600"),
]
SIMPLE = cells_csv([stored(), stored(seed=1)])
(ROW,) = csv.DictReader(io.StringIO(cells_csv([stored(started=1e9)])))


@pytest.fixture
def read(tmp_path):
    def read(content: str | bytes) -> pd.DataFrame:
        path = tmp_path / "cells.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_csv(path)

    return read


def test_a_table_is_read_back_as_it_was(read):
    rows = [
        stored(figure=1 / 3, started=1e9, word_auroc=0.125, auroc_seen=1.0, peak_memory_mb=123.5),
        stored("ocsvm", "b", 0.5, 1, 0.05, preset="grid", configuration="nu=0.2", n_configurations=16),
        stored(known=10, known_from="=b", test_outliers=0.05, protocol="leave-one-out", published=False),
        stored(seed=2, oracle=True, regime="pretrained", limit=50.0, run_id="0012", dataset_digest="1e5"),
        stored(seed=3, classes=json.dumps(NAMES), version="1.10", commit="0123456", command="run -d 'a b'"),
        failed(seed=4294967295, reason='KeyError: "=x", in\ny', started=1e9 + 60),
    ]
    rows = [{"started": 1e9} | row for row in rows]
    table, expected = read(cells_csv(rows)), table_of(rows)
    assert [*table.columns] == [*COLUMNS]
    pd.testing.assert_frame_equal(table, expected, rtol=1e-5)  # six digits are written


@pytest.mark.parametrize("column", ["inlier", "dataset", "known_from"])
def test_any_name_is_read_back(read, column):
    names = [name for name in NAMES if name or column == "inlier"]
    rows = [stored(**{column: name}, cell=f"c{number}") for number, name in enumerate(names)]
    table = read(cells_csv(rows)).set_index("cell")
    assert {name: table.loc[f"c{number}", column] for number, name in enumerate(names)} == {
        name: name for name in names
    }


def test_what_a_row_lacks_is_no_value_of_its_column():
    table = table_of([stored(known=10, test_outliers=0.05, published=True, protocol="rank-all"), {}])
    full, empty = table.itertuples()
    variants = [key.variant for key in keys_of(table)]
    assert variants == ["rank-all, 5% outliers in the test set, 10 known outliers", ""]
    assert empty.inlier == ""
    assert (full.published, empty.published, empty.oracle, empty.n_configurations) == (True, False, False, 1)


def test_what_is_read_and_written_again_is_the_same_file(read):
    text = cells_csv([stored(inlier=name, figure=0.123456789) for name in NAMES])
    assert cells_csv(read(text).to_dict("records")) == text


def test_an_older_file_lacks_columns_and_each_row_is_a_cell(read):
    lines = [
        *("detector,dataset,inlier,contamination,seed,status,auroc", "llr,tiny,sea,0,0,ok,0.5"),
        *("llr,tiny,law,0.05,1,failed,", "llr,tiny,sea,0,0,ok,0.5"),
    ]
    table = read("\n".join(lines))
    assert [*table.columns] == [*COLUMNS]
    assert [*map(str, table.dtypes)] == [*map(str, table_of([stored()]).dtypes)]
    assert len(latest(table)) == 3
    keys = keys_of(table)
    assert [str(key) for key in keys[:2]] == ["tiny/sea at 0%, seed 0", "tiny/law at 5%, seed 1"]
    assert keys[0].test_outliers == 1
    assert [*table["n_configurations"]] == [1, 1, 1]


def test_a_column_of_another_metric_is_kept(read):
    header, row = cells_csv([stored()]).splitlines()
    table = read(f"{header},first_100\n{row},0.25\n")
    assert [*table["first_100"]] == [0.25]


def test_the_rows_of_some_cells_are_found_whatever_their_code(read):
    table = read(cells_csv([stored(), stored(code_version="2"), stored(known=10), stored("ocsvm")]))
    keys = {key.known: key for key in keys_of(table)}
    found = of_cells(table, [Cell("llr", "default", {}, keys[10])])
    assert identities_of(found) == [("llr", "default", "", keys[10])]
    assert len(of_cells(table, [Cell("llr", "default", {}, keys[0])])) == len(table) - 2


@pytest.mark.parametrize(
    ("column", "text", "value"),
    [
        *(("oracle", text, True) for text in ("yes", "True", "1", "TRUE")),
        *(("oracle", text, False) for text in ("no", "False", "0", "")),
        *(("seed", text, 3) for text in ("3", "3.0", " 3")),
        *(("limit", "50", 50.0), ("known", "10.0", 10), ("contamination", ".05", 0.05)),
        ("preset", "", "default"),
        ("protocol", "", "one-vs-rest"),
        ("started", "2026-11-27T10:00:00+00:00", pd.Timestamp("2026-11-27 10:00", tz="UTC")),
        ("started", "2026-11-27 11:00:00+01:00", pd.Timestamp("2026-11-27 10:00", tz="UTC")),
    ],
)
def test_a_value_that_another_program_has_saved_is_the_same(read, column, text, value):
    assert read(changed(**{column: text}))[column].item() == value


@pytest.mark.parametrize(
    "content",
    [
        *("\ufeff" + SIMPLE, SIMPLE.replace("\n", "\r\n"), SIMPLE.replace("\n", "\n\n")),
        *(SIMPLE.replace("\n", ",,\n"), SIMPLE.replace(",", ", ", 5), SIMPLE + ",,,\n"),
    ],
    ids=["byte order mark", "CRLF", "blank lines", "empty columns", "blanks in the header", "empty row"],
)
def test_a_file_that_a_spreadsheet_has_saved_is_the_same(read, content):
    pd.testing.assert_frame_equal(read(content), read(SIMPLE))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_file_of_a_spreadsheet_with_decimal_commas_is_the_same(read, separator, encoding):
    rows = list(csv.reader(io.StringIO(cells_csv([stored(inlier="a, b", level=0.05), stored(seed=1)]))))
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    writer.writerows([re.sub(r"^(\d+)\.(\d+)$", r"\1,\2", field) for field in row] for row in rows)
    given = read(text.getvalue().encode(encoding))
    pd.testing.assert_frame_equal(given, table_of([stored(inlier="a, b", level=0.05), stored(seed=1)]))


def test_a_column_of_notes_is_left_out(read):
    header, row = cells_csv([stored()]).splitlines()
    assert "remark" not in read(f"{header},remark\n{row},to be run again\n")


def changed(**values: str) -> str:
    """A file of one cell with other values."""
    assert ROW.keys() >= values.keys()
    text = io.StringIO()
    writer = csv.DictWriter(text, [*ROW])
    writer.writeheader()
    writer.writerow(ROW | values)
    return text.getvalue()


def test_a_file_without_a_wrong_value_is_read(read):
    assert len(read(changed())) == 1


@pytest.mark.parametrize(
    "values",
    [
        *({"seed": text} for text in ("", "1.5", "x", "9" * 30)),
        *({"contamination": text} for text in ("", "nan", "7", "high")),
        *({"auroc": text} for text in ("7", "-1", "inf", "nan", "good")),
        *({"classes": text} for text in ("a", "[1", "5", "{}", "[1]", "[" * 100_000)),
        *({"started": text} for text in ("never", "1", "9999-01-01", "99999-01-01", "12/31/2026", "1e9")),
        *({"known": text} for text in ("some", "-1", "0.5", "inf")),
        {"test_outliers": "2"},
        *({"fit_seconds": text} for text in ("-3", "inf")),
        *({"n_train": text} for text in ("-5", "nan", "many")),
        *({"n_configurations": text} for text in ("9" * 30, "0", "2.5")),
        *({"limit": text} for text in ("0", "-1")),
        *({name: text} for name in ("oracle", "published") for text in ("maybe", "2", "x")),
        *({"status": text} for text in ("fine", "OK?", "nan")),
        *({"protocol": text} for text in ("none", "random")),
        {"protocol": "rank-all", "known": "10"},
        {"detector": ""},
        {"status": ""},
        {"cell": ""},
    ],
    ids=lambda values: str(values)[:40],
)
def test_a_value_that_no_cell_has_is_one_line(read, values, tmp_path):
    message = assert_one_line(read, changed(**values), tmp_path)
    assert "line 2" in message


@pytest.mark.parametrize(
    "content",
    [
        *("", "\n", "hello\n", SIMPLE[:50], SIMPLE[: len(SIMPLE) * 3 // 4]),
        *(SIMPLE.replace("llr", '"llr', 1), SIMPLE.rstrip() + ",1,2\n"),
        *(SIMPLE.replace(",", ":"), SIMPLE.replace("preset", "detector", 1), SIMPLE + "llr,tiny\n"),
        *(
            b"\x89PNG\r\n\x1a\n\0\0\xff",
            SIMPLE.encode("utf-32"),
            SIMPLE.replace("llr", "\xfc").encode("latin-1"),
        ),
    ],
    ids=range(13),
)
def test_a_damaged_file_is_one_line(read, content, tmp_path):
    assert_one_line(read, content, tmp_path)


def assert_one_line(read, content, folder) -> str:
    with pytest.raises(DataError) as caught:
        read(content)
    message = str(caught.value)
    assert message.count(str(folder / "cells.csv")) == 1
    assert "\n" not in message
    assert len(message) < 400
    assert caught.value.exit_code == 1
    return message


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    for path in (tmp_path, tmp_path / "absent.csv"):
        with pytest.raises(DataError) as caught:
            read_csv(path)
        assert str(caught.value).count(str(path)) == 1


def test_a_file_without_a_cell_is_refused(tmp_path):
    (tmp_path / "cells.csv").write_text(cells_csv([stored()]).splitlines()[0] + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"cells\.csv"):
        read_csv(tmp_path / "cells.csv")
