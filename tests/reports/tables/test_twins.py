import pytest
from cells import compare, failed, stored, texts
from scipy import stats

from adbench_text.reports import drawings
from adbench_text.reports.tables import twins


def cells(detector, *figures, **columns):
    return [
        stored(detector, inlier, figure, **columns) for inlier, figure in zip("abc", figures, strict=True)
    ]


TRAINED = cells("pyod-vae", 0.9, 0.8, 0.7)
UNTRAINED = cells("pyod-vae", 0.8, 0.8, 0.5, configuration="epoch_num=0")
PLAIN = cells("pyod-kpca", 0.9, 0.9, 0.6, configuration="kernel=linear, n_components=32")


def row_of(rows):
    (table,) = twins.tables(compare(rows))
    (row,) = texts(table)
    return row


def test_a_network_is_beside_its_untrained_twin_and_the_plain_method():
    row = row_of([*TRAINED, *UNTRAINED, *PLAIN])
    assert row[:5] == ["pyod-vae", "reconstruction by PCA", "80.0", "70.0", "80.0"]
    half = stats.t.ppf(0.975, 2) * stats.sem([10, 0, 20])
    assert row[5] == f"+10.0 ({10 - half:+.1f} to {10 + half:+.1f})"
    assert row[6].startswith("+0.0 (")
    assert row[7] == "3"


def test_only_splits_that_all_of_them_have_count():
    row = row_of([*TRAINED, *UNTRAINED[:2], *PLAIN])
    assert (row[2], row[3], row[7]) == ("85.0", "80.0", "2 of 3")


def test_a_network_is_compared_whatever_source_the_others_are_of():
    theirs = [row | {"source": "twins"} for row in [*TRAINED, *UNTRAINED, *PLAIN]]
    figures = ["reconstruction by PCA", "80.0", "70.0", "80.0"]
    assert row_of(theirs)[:5] == ["pyod-vae (twins)", *figures]
    assert row_of([*TRAINED, *theirs])[:5] == ["pyod-vae", *figures]


def test_without_the_plain_method_the_difference_to_the_twin_stays():
    row = row_of([*TRAINED, *UNTRAINED])
    assert (row[4], row[6]) == ("–", "–")
    assert row[5].startswith("+10.0")


def test_a_twin_has_the_other_settings_of_its_network():
    other = cells("pyod-vae", 0.1, 0.1, 0.1, configuration="beta=2, epoch_num=0")
    assert list(twins.tables(compare([*TRAINED, *other]))) == []
    own = cells("pyod-vae", 0.6, 0.6, 0.6, configuration="beta=2")
    assert row_of([*TRAINED, *own, *other])[2:4] == ["60.0", "10.0"]


def test_a_preset_has_a_twin_too():
    trained = cells("date", 0.9, 0.8, 0.7, preset="fast")
    untrained = cells("date", 0.5, 0.5, 0.5, preset="fast(steps=0)")
    counts = cells("date", 0.9, 0.9, 0.9, preset="fast(prior=true, steps=0)")
    assert row_of([*trained, *untrained, *counts])[:5] == [
        "date:fast",
        "counts of word pieces",
        "80.0",
        "50.0",
        "90.0",
    ]


def test_a_network_may_be_trained_for_any_time():
    short = cells("pyod-vae", 0.6, 0.6, 0.6, configuration="epoch_num=3")
    (table,) = twins.tables(compare([*TRAINED, *short, *UNTRAINED]))
    assert [row[2] for row in texts(table)] == ["80.0", "60.0"]
    assert [row[3] for row in texts(table)] == ["70.0", "70.0"]


def test_one_epoch_is_training_but_for_lunar():
    def networks(detector, length):
        rows = [stored(detector, figure=0.9), stored(detector, figure=0.5, configuration=length)]
        return [row[0] for table in twins.tables(compare(rows)) for row in texts(table)]

    assert networks("pyod-lunar", "n_epochs=1") == ["pyod-lunar"]
    assert networks("mine", "n_epochs=1") == []
    assert networks("mine", "n_epochs=0") == ["mine"]


def test_a_single_split_has_no_interval():
    (table,) = twins.tables(compare([TRAINED[0], UNTRAINED[0]]))
    assert texts(table)[0][5] == "+10.0"


def test_only_seeds_that_all_of_them_have_count():
    later = cells("pyod-vae", 0.1, 0.1, 0.1, seed=1)
    assert row_of([*TRAINED, *later, *UNTRAINED])[2:4] == ["80.0", "70.0"]


def test_what_begins_with_the_closed_form_has_none_beneath():
    rows = [stored("date", figure=0.9, preset="prior"), stored("date", figure=0.8, preset="prior(steps=0)")]
    rows += [stored("date", figure=0.7, preset="fast(prior=true, steps=0)")]
    assert row_of(rows)[1:] == ["", "90.0", "80.0", "–", "+10.0", "–", "1"]


@pytest.mark.parametrize("setting", ["score=pl_rmd", "generator=small"])
def test_another_score_or_generator_has_no_closed_form_beneath(setting):
    names = f"fast({setting})", f"fast({setting}, steps=0)", f"fast(prior=true, {setting}, steps=0)"
    rows = [stored("date", figure=0.5, preset=name) for name in names]
    assert row_of(rows)[1] == ""


def test_the_closed_form_has_the_settings_of_its_network():
    names = "fast(hidden=32)", "fast(hidden=32, steps=0)", "fast(hidden=32, prior=true, steps=0)"
    rows = [stored("date", figure=0.5 + k / 10, preset=name) for k, name in enumerate(names)]
    rows += [stored("date", figure=0.9, preset="fast(prior=true, steps=0)")]
    assert row_of(rows)[2:5] == ["50.0", "60.0", "70.0"]


def test_a_failed_twin_hides_no_other_one():
    other = failed("pyod-vae", configuration="epochs=0")
    assert row_of([*TRAINED, *UNTRAINED, other])[2:4] == ["80.0", "70.0"]
    assert row_of([other, *TRAINED, *UNTRAINED])[2:4] == ["80.0", "70.0"]


def test_a_plain_method_that_was_not_run_is_named():
    (table,) = twins.tables(compare([*TRAINED, *UNTRAINED]))
    assert any("pyod-kpca(kernel=linear, n_components=32)" in note for note in table.notes)
    (table,) = twins.tables(compare([*TRAINED, *UNTRAINED, *PLAIN]))
    assert not any("pyod-kpca" in note for note in table.notes)


def test_each_level_has_a_table_and_the_lowest_a_figure():
    rows = [*TRAINED, *UNTRAINED]
    rows += [row | {"contamination": 0.1, "cell": row["cell"] + "10"} for row in rows]
    comparison = compare(rows)
    assert len(list(twins.tables(comparison))) == 2
    assert [drawing.name for drawing in drawings.networks(comparison)] == ["twins"]


def test_without_twins_there_is_neither():
    comparison = compare(TRAINED)
    assert [*twins.tables(comparison), *drawings.networks(comparison)] == []
