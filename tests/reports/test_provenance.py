from cells import failed, record

from adbench_text.reports.provenance import provenance

DAY = 86_400_000  # milliseconds
MADE_BY = {"version": "1.2", "commit": "c0ffee", "command": "adbench-text run -d llr", "machine": "2 x CPU"}


def test_the_block_names_when_how_and_where_the_results_were_made():
    records = [record(started=DAY, made_by=MADE_BY), failed(started=3 * DAY, made_by=MADE_BY, seed=1)]
    assert provenance(records, {records[0].corpus: "made-up"}, "a store") == [
        ("results", "1 cell, 1 failed"),
        ("date", "1970-01-02 to 1970-01-04"),
        *MADE_BY.items(),
        ("store", "a store"),
        ("seeds", "0, 1"),
        ("made-up", "edition published; 40 training / 20 test documents"),
    ]


def test_what_no_run_tells_is_left_out_and_many_commands_are_counted():
    many = [record(seed=seed, made_by={"command": f"run {seed}"}) for seed in range(5)]
    facts = dict(provenance(many, {}))
    assert facts["command"] == "run 4; run 3; run 2; 2 more"  # the newest first
    assert facts.keys() == {"results", "command", "seeds"}
