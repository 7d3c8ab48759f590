"""The measured results of reports/results: their tables come from the CSV files beside them."""

import re

import pytest
from measured import RESULTS, SWEEPS, records, tables

HOME = re.compile(r"/(home|root|tmp|work|Users)/")


@pytest.mark.parametrize("sweep", SWEEPS)
def test_the_tables_are_those_of_the_cells(sweep):
    assert (RESULTS / f"{sweep}-tables.md").read_text(encoding="utf-8") == tables(sweep), (
        "run python tests/measured.py"
    )


@pytest.mark.parametrize("sweep", SWEEPS)
def test_the_cells_state_their_origin_and_no_place_of_a_machine(sweep):
    assert not HOME.search((RESULTS / f"{sweep}.csv").read_text(encoding="utf-8"))
    for record in records(sweep):
        assert {"version", "commit", "command", "machine"} <= record.made_by.keys()
        assert record.edition
        assert record.started > 1_700_000_000_000
