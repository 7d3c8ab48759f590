import pytest
from cells import failed, record

from adbench_text.errors import DataError
from adbench_text.reports.saved import read_cells, save, save_pages

MADE_BY = {"version": "1.2", "commit": "c0ffee", "command": "adbench-text run", "machine": "2 x CPU"}
CELLS = [
    record(
        "ocsvm", "a", 0.75, configuration="nu=0.2 kernel=linear", level=0.05, seed=3, regime="word vectors"
    ),
    record("cvdd", "b", 0.5, oracle="true", test_outliers="0.1", protocol="1", libraries="numpy 2"),
    failed("llr", "a", made_by=MADE_BY, started=1_700_000_000_000, is_published=False, edition="half of it"),
]


def test_cells_are_read_as_they_were_saved(tmp_path):
    files = save(CELLS, tmp_path / "new" / "mine")
    for saved, cell in zip(read_cells(files[0]), CELLS, strict=True):
        assert saved.definition == cell.definition
        assert saved.metrics == cell.metrics
        for name in ("status", "edition", "is_published", "started", "made_by"):
            assert getattr(saved, name) == getattr(cell, name)


def test_a_page_depends_on_its_cells_alone(tmp_path):
    cells = [record(name, inlier, level=level) for name in "xy" for inlier in "ab" for level in (0, 0.1)]
    first, page, *figures = save(cells, tmp_path / "mine")
    assert page == tmp_path / "mine-tables.md"
    assert figures[0].parent == tmp_path / "figures"
    assert {path.suffix for path in figures} == {".svg"}
    again = save_pages(first, tmp_path / "again")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in (page, *figures)]


def test_another_file_holds_no_cells(tmp_path):
    (tmp_path / "mine.csv").write_text("detector,auroc\nllr,0.9\n")
    with pytest.raises(DataError, match=r"mine\.csv holds no cells of a report"):
        read_cells(tmp_path / "mine.csv")
