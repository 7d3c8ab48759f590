"""Documents ranked among those of their group, and those that fit another group better."""

import numpy as np
import pandas as pd
import pytest
from german import GERMAN

from adbench_text.calibration import joined, p_values_within
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.other_words import OtherWords
from adbench_text.documents import no_progress
from adbench_text.documents import source as module
from adbench_text.documents.misfiled import find_misfiled
from adbench_text.documents.ranking import odd_documents
from adbench_text.documents.source import TextSource
from adbench_text.errors import InvalidValueError
from adbench_text.testing.topics import texts_about
from adbench_text.text.words import count_words

N = 40
SEA, COURT = texts_about("sea", N, 0), texts_about("law", N, 0)
TEXTS = [*SEA, *COURT, COURT[0] + " judge", SEA[0] + " storm"]
GROUPS = [*["sea"] * N, *["court"] * N, "sea", "court"]
MISFILED = [2 * N, 2 * N + 1]


def ranked(texts=TEXTS, groups=GROUPS, **options):
    options = {"detector": "llr", "by": "words", "keep_copies": True, **options}
    return odd_documents(texts, options.pop("detector"), groups=groups, **options)


def by_row(result):
    return result.table.sort_values("row").set_index("row")


def test_the_documents_of_another_group_are_the_first_of_theirs_with_their_words():
    result = ranked(alpha=0.03)
    table = by_row(result)
    assert sorted(result.table["row"][:2]) == MISFILED
    assert table["odd"][MISFILED].tolist() == [True, True]
    assert table["group"].tolist() == GROUPS
    assert table["fits"][MISFILED].tolist() == ["court", "sea"]
    assert (table["misfit"] > 0).tolist() == table["fits"].notna().tolist()
    assert sorted(table["misfit"].nlargest(2).index) == MISFILED
    assert {*table["why"][2 * N]} <= {*COURT[0].split()}


def test_p_is_a_share_of_the_group():
    table = by_row(ranked())
    for _, own in table.groupby("group"):
        shares = (own["score"].to_numpy()[:, None] <= own["score"].to_numpy()).mean(axis=1)
        assert own["p"].tolist() == pytest.approx(shares)


def test_scores_are_on_the_robust_scale_of_the_group():
    for _, own in by_row(ranked()).groupby("group"):
        assert own["score"].median() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("detector", ["ensemble", "knn-words", "pyod-ecod(encoder=svd)"])
def test_every_detector_ranks_in_groups(detector):
    table = by_row(ranked(detector=detector))
    assert table.groupby("group")["p"].min().tolist() == pytest.approx([1 / (N + 1)] * 2)


def test_a_detector_judges_against_the_words_of_all_groups():
    """A word of all groups says less than one that only the group has."""
    alone = odd_documents(SEA, "llr", by="words", keep_copies=True).table.set_index("row")["score"]
    others = OtherWords([*SEA, *COURT])
    language = np.array([1e-6, 1e-6])
    ship, nothing = others.mixed(np.array(["ship", "zzz"]), language)
    assert ship > 10 * nothing > 0
    in_group = by_row(ranked([*SEA, *COURT], ["sea"] * N + ["court"] * N))["score"][:N]
    assert not np.allclose(np.argsort(alone[in_group.index]), np.argsort(in_group))


def test_the_words_of_all_groups_are_mixed_with_those_of_the_language():
    others = OtherWords(["ship crew ship"])
    q = np.array([0.5, 0.25, 0.25])
    found = others.mixed(np.array(["ship", "crew", "court"]), q)
    assert found.tolist() == pytest.approx([(2 + 5e4) / 100_003, (1 + 2.5e4) / 100_003, 2.5e4 / 100_003])
    part = others.mixed(np.array([" ship", "zzzzz"]), np.array([1e-8, 1e-8]), 5)
    assert part.tolist() == pytest.approx([(2 + 1e-3) / 100_006, 1e-3 / 100_006], rel=1e-6)


def test_neither_the_order_of_documents_nor_the_number_of_jobs_nor_batches_change_anything(monkeypatch):
    expected = by_row(ranked())
    order = np.random.default_rng(0).permutation(len(TEXTS))
    shuffled = by_row(ranked([TEXTS[i] for i in order], [GROUPS[i] for i in order], jobs=2))
    columns = ["score", "p", "fits"]
    pd.testing.assert_frame_equal(
        shuffled[columns].set_axis(order).sort_index(), expected[columns], check_names=False
    )
    monkeypatch.setattr(module, "_AT_A_TIME", 1)
    pd.testing.assert_frame_equal(by_row(ranked(lambda: iter(TEXTS))), expected)


def test_small_groups_are_ranked_together_and_a_missing_group_is_one():
    few = texts_about("law", 12, 5)
    groups = [*["sea"] * N, *["a"] * 5, *["b"] * 4, None, float("nan"), ""]
    result = ranked([*SEA, *few], groups)
    assert (result.groups.groups.names, result.groups.groups.small) == (["sea"], ["", "a", "b"])
    table = by_row(result)
    assert table["p"][N:].min() == pytest.approx(1 / 12)
    assert table["group"][-3:].tolist() == ["", "", ""]
    assert table["fits"].isna().all()


def test_a_document_alone_has_no_p():
    result = ranked([*SEA, "the court heard a witness"], [*["sea"] * N, "court"])
    assert by_row(result)[["p", "rank"]].iloc[N].isna().all()
    assert by_row(result)["p"][:N].notna().all()


def test_by_form_documents_are_judged_by_the_whole_file():
    alone = odd_documents(TEXTS, "llr", keep_copies=True).table.sort_values("row")
    grouped = by_row(ranked(by=None))
    assert grouped["p_form"].tolist() == pytest.approx(alone["p_form"].tolist())
    assert list(ranked(by=None).lists) == ["words", "form"]


@pytest.mark.parametrize("by", ["form", "both"])
def test_a_list_by_form_has_no_groups(by):
    with pytest.raises(InvalidValueError, match=f"by='{by}'.*--group"):
        ranked(by=by)


def test_there_is_a_group_for_each_document():
    with pytest.raises(InvalidValueError, match=r"82.*81"):
        ranked(groups=GROUPS[:-1])


def test_equal_texts_in_several_groups_are_ranked_in_each_and_named():
    texts = [*SEA, *COURT, SEA[0], SEA[0]]
    result = ranked(texts, [*["sea"] * N, *["court"] * N, "court", "sea"], keep_copies=False)
    found = result.groups.contradictions.iloc[0]
    assert (found["row"], found["groups"]) == (0, ["sea", "court"])
    assert found["n"] >= 3
    assert result.n_duplicates == 1  # the copy in another group is ranked there
    table = by_row(result)
    assert (table["representative"][2 * N], table["fits"][2 * N]) == (2 * N, "sea")


def test_a_marked_document_leaves_the_ranks_of_its_group():
    table = by_row(ranked(marks={MISFILED[0]: "odd"}))
    assert (table["mark"][MISFILED[0]], table["p"].isna().sum()) == ("odd", 1)
    assert table.groupby("group")["p"].min().tolist() == pytest.approx([1 / (N + 1), 1 / N])
    assert MISFILED[0] not in ranked(marks={MISFILED[0]: "fine"}).groups.misfiled.listed["row"].tolist()


def evidence_by_hand(texts, groups, smoothing):
    """Return E of each document for each group, its own without it, and the lengths."""
    counts, words = count_words(texts)
    logs = np.log2(1 + counts.toarray())
    groups = np.array(groups)
    found = np.empty((len(texts), groups.max() + 1))
    for row in range(len(texts)):
        for group in range(groups.max() + 1):
            others = (groups == group) & (np.arange(len(texts)) != row)
            n = logs[others].sum(axis=0)
            share = np.log((n + smoothing) / (n.sum() + smoothing * len(words)))
            found[row, group] = logs[row] @ share
    return found, logs.sum(axis=1)


def test_evidence_is_that_of_naive_bayes_with_each_document_left_out():
    texts = ["ship crew ship", "ship storm", "crew storm sail", "court judge", "judge crew", "court witness"]
    own = np.array([0, 0, 0, 1, 1, 1])
    words, fits = find_misfiled(
        TextSource.of(texts), np.arange(6), own, np.ones(2, dtype=bool), Cleaner(None), 1, no_progress
    )
    expected, lengths = evidence_by_hand(texts, own, words.smoothing)
    difference = expected[np.arange(6), 1 - own] - expected[np.arange(6), own]
    assert fits.best.tolist() == (1 - own).tolist()
    assert fits.difference == pytest.approx(difference / (lengths + np.median(lengths) / 2))
    tokens = words.token_scores([texts[4]], np.array([1]), np.array([0]))[0]
    assert [token.token for token in tokens] == ["judge", "crew"]
    assert sum(token.score for token in tokens) == pytest.approx(difference[4])


def test_swapped_documents_are_the_first_of_the_list():
    result = ranked(top=3)
    listed = result.groups.misfiled.listed
    assert sorted(listed["row"][:2]) == MISFILED
    assert listed["misfit"].is_monotonic_decreasing
    assert "judge" in listed.set_index("row")["why"][2 * N]


def test_words_that_the_cleaning_removes_tell_groups_of_questions_apart():
    things = "harbour sailor captain storm bridge tower engine garden castle museum".split()
    places = "Rome Paris Vienna Lisbon Cairo Delhi Lima Oslo Quito".split()
    asked = [f"{thing} of {place}?" for thing in things for place in places]
    texts = [f"{['Who is the', 'Where is the'][row % 2]} {what}" for row, what in enumerate(asked)]
    groups = [["human", "location"][row % 2] for row in range(len(texts))]
    groups[10] = "location"
    misfiled = ranked(texts, groups).groups.misfiled
    assert misfiled.fits.dropna().to_dict() == {10: "human"}
    assert misfiled.listed["why"][0] == ["who"]
    assert "who" in [word.token.lower() for word in misfiled.listed["words"][0]]


def test_documents_without_words_by_the_cleaning_fit_a_group_by_those_they_have():
    greeting = [f"how are you {text}" for text in COURT]
    without = ["how are you", "who are you", "??", "how are you"]
    result = ranked([*SEA, *greeting, *without], [*["sea"] * N, *["greeting"] * N, *["sea"] * len(without)])
    last = by_row(result).tail(len(without))
    assert last["score"].isna().all()
    assert last["fits"].fillna("").tolist() == ["greeting", "greeting", "", "greeting"]
    assert last["misfit"].iloc[0] == last["misfit"].iloc[3]
    assert sorted(result.groups.misfiled.listed["row"]) == [2 * N, 2 * N + 1]


def test_words_that_the_cleaning_removes_are_left_out_where_they_mislead():
    asides, rng = "the and of to in that was for on with his they".split(), np.random.default_rng(0)
    texts = [f"{text.split()[0]} {' '.join(rng.permutation(asides)[:6].repeat(9))}" for text in TEXTS]
    own, all_rows = np.array([*[0] * N, *[1] * N, 0, 1]), np.arange(len(TEXTS))
    are_targets = np.ones(2, dtype=bool)
    words, _ = find_misfiled(TextSource.of(texts), all_rows, own, are_targets, Cleaner(), 1, no_progress)
    assert words.number_of.keys().isdisjoint(asides)


def test_about_as_many_fit_another_group_by_chance_as_there_are_other_groups():
    misfiled = ranked().groups.misfiled
    assert (misfiled.n_better, misfiled.n_compared) == (2, len(TEXTS))
    assert misfiled.n_by_chance == pytest.approx(len(TEXTS) / 2, rel=0.2)


def test_with_one_group_no_document_fits_another():
    result = ranked(SEA, ["sea"] * N)
    assert result.groups.misfiled.fits.isna().all()
    assert result.groups.misfiled.listed.empty


ENGLISH = [
    f"the {what} {does} again, and nobody comes to repair it before {day}"
    for what in ("boiler in the cellar", "heating of the corridor", "valve at the pump")
    for does in ("is losing water", "stays cold", "has made a noise")
    for day in ("Monday", "Tuesday", "Friday")
]


@pytest.mark.parametrize("by", ["words", "form", "both", None])
def test_each_document_is_ranked_among_those_of_its_language(by):
    odd_german = "Der Angeklagte wurde vom Richter zu einer Strafe verurteilt, sagte der Anwalt"
    texts = [*GERMAN, *ENGLISH, odd_german]
    options = {"detector": "llr", "by": by, "keep_copies": True}
    result = odd_documents(texts, language="auto", **options)
    alone = odd_documents([*GERMAN, odd_german], language="de", **options)
    table = by_row(result)
    assert (result.in_languages, result.groups, result.language) == (("de", "en"), None, "de")
    is_german = (table["language"] == "de").to_numpy()
    assert is_german.tolist() == [True] * len(GERMAN) + [False] * len(ENGLISH) + [True]
    for name in ("p", "p_form", "p_both"):
        expected = by_row(alone)[name].tolist()
        assert table[name][is_german].tolist() == pytest.approx(expected, nan_ok=True)
    last = len(texts) - 1
    assert ("richter" in table["why"][last]) == (by != "form")
    assert table["why_form"][last] == by_row(alone)["why_form"][len(GERMAN)]
    for order, listed in result.lists.items():
        assert listed["row"].iloc[0] == last, order
    marked = odd_documents(texts, language="auto", marks={last: "odd", 0: "fine"}, **{**options, "by": None})
    assert marked.in_languages == ("de", "en")
    assert by_row(marked)["rank"].isna().to_numpy().nonzero()[0].tolist() == [0, last]


NAMES = [
    f"{first}{last}" for first in "Anna Berta Clara Dora Emma".split() for last in "berg dorf feld".split()
]


@pytest.mark.parametrize(
    ("n_german", "n_english", "is_apart"),
    [(20, 180, True), (20, 181, False), (19, 100, False), (8, 192, False)],
)
def test_a_language_is_apart_from_a_tenth_on_and_else_odd_as_without_auto(n_german, n_english, is_apart):
    german = [f"{GERMAN[n % 27]} in das Haus am {NAMES[n // 27]}" for n in range(n_german)]
    english = [f"{ENGLISH[n % 27]} in the house of Mr {NAMES[n // 27]}" for n in range(n_english)]
    options = {"detector": "llr", "keep_copies": True, "alpha": 0.1}
    given, auto = (odd_documents([*german, *english], language=name, **options) for name in ("en", "auto"))
    assert auto.in_languages == (("de", "en") if is_apart else ())
    assert given.second_language == (("de", 0.1) if is_apart else None)
    if not is_apart:
        pd.testing.assert_frame_equal(auto.table.drop(columns="language"), given.table)
    marked = odd_documents([*german, *english], language="auto", marks={n_german: "fine"}, **options)
    assert (marked.in_languages, marked.second_language) == (auto.in_languages, None)


def test_groups_in_several_languages_are_ranked_in_each_with_its_detectors():
    texts = [*GERMAN, *GERMAN, *ENGLISH, *ENGLISH]
    texts = [f"{text} {NAMES[n % 15]}" for n, text in enumerate(texts)]
    groups = [*["a"] * 27, *["b"] * 27] * 2
    options = {"detector": "llr", "keep_copies": True}
    table = by_row(odd_documents(texts, language="auto", groups=groups, **options))
    for first, language in ((0, "de"), (54, "en")):
        own = slice(first, first + 54)
        alone = by_row(odd_documents(texts[own], groups=groups[own], language=language, **options))
        for name in ("score", "p", "p_form"):
            assert table[name].to_numpy()[own].tolist() == pytest.approx(alone[name].tolist()), name


def test_a_part_whose_documents_are_all_marked_odd_has_no_p_by_words():
    texts, groups = [*SEA, *COURT[:2]], [*["sea"] * N, "court", "court"]
    table = by_row(ranked(texts, groups, marks={N: "odd", N + 1: "odd"}, by=None))
    assert table["p"].notna().tolist() == [True] * N + [False] * 2
    german = [f"{text} {NAMES[n % 15]}" for n, text in enumerate(GERMAN)]
    marks = dict.fromkeys(range(len(german)), "odd")
    found = odd_documents([*german, *ENGLISH, *SEA], "llr", language="auto", marks=marks, keep_copies=True)
    assert found.in_languages == ("de", "en")
    assert by_row(found)["rank"].isna().to_numpy().nonzero()[0].tolist() == [*marks]


def test_form_letters_are_not_the_language_of_most_documents():
    letters = [f"{GERMAN[0]} am {n}. um {n % 12} Uhr" for n in range(200)]
    result = odd_documents([*letters, GERMAN[5], *ENGLISH], "llr", language="auto", by="words")
    assert (result.in_languages, result.language) == ((), "en")
    assert by_row(result)["p"].notna().all()


def test_a_language_of_one_form_letter_is_no_part():
    letters = [f"{GERMAN[0]} am {n}. um {n % 12} Uhr" for n in range(30)]
    english = [f"{ENGLISH[n % 27]} in the house of Mr {NAMES[n // 27]}" for n in range(180)]
    result = odd_documents([*letters, *english], "llr", language="auto", by="words")
    assert (result.in_languages, result.language) == ((), "en")


def test_families_of_near_copies_are_those_of_each_language():
    stop_words = "we have not been there but they will be here with you and this is what it was from all"
    things = ["boiler", "heating", "valve", "pump", "cellar", "corridor", "window", "roof", "garden", "fence"]
    long = (
        "the engineer repaired an old boiler below our office yesterday although nobody asked for such help"
    )
    english = [*SEA[:15], *COURT[:15]]
    english += [f"{start} {thing} {thing}s" for start in (stop_words, long) for thing in things]
    german = [f"{text} im {month}" for text in GERMAN for month in ("Januar", "August")]
    options = {"detector": "llr", "by": "words"}
    texts = [*german, *english]
    result = odd_documents(texts, language="auto", **options)
    assert result.in_languages == ("de", "en")
    alone = [
        odd_documents(each, language=name, **options) for name, each in (("de", german), ("en", english))
    ]
    expected = [
        [row + first, n_copies]
        for each, first in zip(alone, (0, len(german)), strict=True)
        for row, n_copies in each.families[["row", "n_copies"]].itertuples(index=False)
    ]
    assert sorted(result.families[["row", "n_copies"]].to_numpy().tolist()) == sorted(expected)
    assert result.n_near_copies == sum(each.n_near_copies for each in alone)
    assert odd_documents(texts, language="de", **options).n_near_copies != result.n_near_copies  # stop words


@pytest.mark.parametrize("marked", [0, 2 * N])
def test_a_mark_counts_for_the_copies_in_its_group(marked):
    texts = [*SEA, *COURT, SEA[0], SEA[0], SEA[0]]
    groups = [*["sea"] * N, *["court"] * N, "court", "court", "sea"]
    table = by_row(ranked(texts, groups, marks={marked: "odd"}, by=None))
    copies = [0, 2 * N + 2] if marked == 0 else [2 * N, 2 * N + 1]
    assert table.index[table["mark"] == "odd"].tolist() == copies
    assert table.index[table["p"].isna()].tolist() == copies
    assert table[["p_form", "p_both"]].loc[copies].isna().all(axis=None)


def test_by_both_a_text_in_several_groups_has_the_p_of_each_of_its_groups():
    texts, groups = [*SEA, *COURT, SEA[0]], [*["sea"] * N, *["court"] * N, "court"]
    table = by_row(ranked(texts, groups, by=None))
    assert table["p"][2 * N] == pytest.approx(1 / (N + 1))
    assert table["p"][2 * N] < table["p"][0]
    assert table["p_both"][2 * N] < table["p_both"][0]
    values = joined(table["p"].to_numpy(), table["p_form"].to_numpy())
    is_copy = table.duplicated(["representative", "form_representative"]).to_numpy()
    assert table["p_both"][2 * N] == pytest.approx((values[~is_copy] >= values[2 * N]).mean())


def test_no_document_fits_those_without_a_group_and_these_may_fit_one():
    texts = [*SEA, *COURT, *texts_about("law", N, 9), COURT[1] + " judge"]
    groups = [*["sea"] * N, *["court"] * N, *[None] * N, "sea"]
    found = ranked(texts, groups).groups.misfiled
    assert {*found.fits.dropna()} == {"court"}
    assert found.fits[3 * N] == "court"
    assert found.listed["fits"].notna().all()
    assert found.fits[2 * N : 3 * N].notna().any()


@pytest.mark.parametrize(
    "wrong",
    [
        "queue",
        dict(enumerate(GROUPS)),
        pd.DataFrame({"queue": GROUPS}),
        5,
        [["sea"]] * len(GROUPS),
        {f"group {n}" for n in range(len(GROUPS))},
        np.array([GROUPS, GROUPS]).T,
    ],
)
def test_groups_that_are_no_labels_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="group"):
        ranked(groups=wrong)


def test_labels_of_a_generator_are_groups():
    pd.testing.assert_frame_equal(by_row(ranked(groups=iter(GROUPS))), by_row(ranked()))


@pytest.mark.parametrize(
    "labelled",
    [
        lambda groups: pd.Series(groups, index=range(len(groups), 0, -1)),
        lambda groups: pd.Series(groups, index=[7] * len(groups), dtype="category"),
        np.array,
        tuple,
    ],
)
def test_the_index_and_the_type_of_the_groups_change_nothing(labelled):
    pd.testing.assert_frame_equal(by_row(ranked(groups=labelled(GROUPS))), by_row(ranked()))


def test_by_both_joins_the_p_of_the_group_with_that_of_form():
    table = by_row(ranked(by=None))
    expected = p_values_within(joined(table["p"].to_numpy(), table["p_form"].to_numpy()))
    assert table["p_both"].tolist() == pytest.approx(expected)
    assert by_row(ranked())["p_both"].isna().all()


def test_a_detector_of_form_keeps_documents_with_the_same_words():
    texts = [f"{text}{mark}" for text in SEA for mark in ("", "!!!")]
    groups = ["a", "b"] * N
    table = by_row(odd_documents([*texts, SEA[0] + " !"], "form", groups=[*groups, "a"]))
    assert table["copy_of"].isna().all()
    assert table.groupby("group")["p"].min().tolist() == pytest.approx([1 / (N + 1), 1 / N])
