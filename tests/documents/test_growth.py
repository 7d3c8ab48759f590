"""What grew between two files: groups, their p-values, near-copies and senders."""

import numpy as np
import pandas as pd
import pytest
from made_up_words import WORDS
from scipy.sparse import csr_array

from adbench_text import grown_groups
from adbench_text.documents import growth as module
from adbench_text.documents import no_progress
from adbench_text.documents.growth import growth
from adbench_text.documents.terms import read_terms, terms_of
from adbench_text.errors import InvalidValueError

FIRE = "smoke in the engine room near the pump".split()


def texts(n, seed, added=()):
    """Return texts of eight made-up words, each with the added words."""
    rng = np.random.default_rng(seed)
    return [" ".join([*rng.choice(WORDS[:200], 8, replace=False), *added]) for _ in range(n)]


OLD, NEW = texts(400, 1), texts(150, 2)
FIRES = texts(12, 3, FIRE)


def test_the_documents_of_a_new_subject_are_a_group_with_its_words():
    grown = grown_groups(OLD, NEW + FIRES)
    assert grown.columns.tolist() == ["group", "n", "expected", "p", "words", "rows"]
    (group,) = grown.itertuples()
    assert (group.group, group.n) == (1, 12)
    assert group.expected < 2
    assert group.p < 1e-3
    assert {*group.words[:5]} == {"smoke", "engine", "room", "near", "pump"}
    assert sorted(group.rows) == [*range(150, 162)]


def test_a_subject_that_every_file_has_is_no_group():
    assert grown_groups(OLD + texts(32, 4, FIRE), NEW + FIRES).empty


def test_a_subject_with_a_larger_share_than_before_is_a_group():
    (group,) = grown_groups(OLD + texts(8, 4, FIRE), NEW + texts(30, 3, FIRE)).itertuples()
    assert group.n == 30
    assert group.expected == pytest.approx(8 * 180 / 408, rel=0.01)


def test_similar_documents_are_a_group_although_no_word_is_new():
    topics = [
        [f"{topic}{a}{b}" for a in "aeiou" for b in "krtmns"] for topic in ("mod", "rech", "pak", "lum")
    ]

    def about(numbers, seed):
        rng = np.random.default_rng(seed)
        return [" ".join(rng.choice(topics[number], 3, replace=False)) for number in numbers]

    old = about([n % 4 for n in range(2000)], 1)
    new = about([*[n % 4 for n in range(400)], *[0] * 120], 2)
    group = growth(old, new).groups[0]
    assert group.n > 1.5 * group.expected > 50
    assert all(word.startswith("mod") for word in group.words)


def test_two_subjects_are_two_groups_the_stronger_one_first():
    frost = texts(25, 5, "ice on the rails".split())
    groups = growth(OLD, NEW + frost + FIRES).groups
    assert [
        {*group.words[:2]} <= {*words} for group, words in zip(groups, (("ice", "rails"), FIRE), strict=True)
    ]
    assert {*range(150, 175)} <= {*groups[0].rows}
    assert {*range(175, 187)} <= {*groups[1].rows}
    assert groups[0].p <= groups[1].p


@pytest.mark.parametrize("share", [0, 0.3], ids=["different", "with copies"])
def test_halves_of_one_file_have_a_group_in_one_of_twenty_files(share):
    n_found = 0
    for seed in range(40):
        documents = texts(300, seed)
        n = int(share * len(documents))
        documents[:n] = [f"{documents[n + place % 20]} copy" for place in range(n)]
        documents = np.random.default_rng(seed).permutation(documents).tolist()
        n_found += bool(growth(documents[:150], documents[150:], seed=seed).groups)
    assert n_found <= 6  # more than 6 of 40 have a chance of 1 % at a level of 5 %


def test_near_copies_count_once_in_both_files_and_are_a_wave():
    letter = "cheap tickets ferry island sailing summer harbour shop today offer ends soon hurry code"
    wave = [f"{letter} {word}" for word in WORDS[:60]]
    found = growth(OLD, NEW + wave, seed=1)
    assert found.groups == []
    assert found.n_new == 151
    assert found.waves.to_numpy().tolist() == [[150, 60, 0]]
    assert found.copy_of[150:].tolist() == [-1, *[150] * 59]
    assert growth(OLD + wave, NEW + wave[:20]).waves.empty  # a form letter


def test_copies_of_a_document_are_in_its_group():
    (group,) = growth(OLD, [*NEW, *FIRES, FIRES[0], FIRES[0]]).groups
    assert group.n == 12
    assert sorted(group.rows) == [*range(150, 164)]


def test_a_sender_counts_once_and_one_sender_is_no_group():
    of_old, of_new = ([f"user {n % 50}" for n in range(size)] for size in (400, 150))
    same, several = ["bot"] * 12, [f"user {n // 2}" for n in range(12)]
    assert growth(OLD, NEW + FIRES, senders=(of_old, of_new + same)).groups == []
    (group,) = growth(OLD, NEW + texts(24, 3, FIRE), senders=(of_old, [*of_new, *several, *several])).groups
    assert group.n == 6
    assert len(group.rows) == 24


@pytest.mark.parametrize(
    ("of_old", "of_new"),
    [
        (["bot"] * 1000 + [*range(1000)], [*range(1000, 1500)]),
        ([n // 4 for n in range(2000)], [*range(1000, 1500)]),
        ([n // 10 for n in range(2000)], [None] * 500),
        ([*range(2000)], [n // 10 for n in range(3000, 3500)]),
    ],
    ids=["a bot", "four each", "unknown in one file", "many in the new file"],
)
def test_senders_with_many_documents_in_one_file_make_no_group(of_old, of_new):
    n_found = 0
    for seed in range(5):
        documents = texts(2500, seed)
        n_found += bool(
            growth(documents[:2000], documents[2000:], senders=(of_old, of_new), seed=seed).groups
        )
    assert n_found <= 1  # by chance


def test_documents_in_both_files_count_in_both():
    of_old, of_both = texts(20, 7, FIRE), texts(20, 8, FIRE)
    found = growth(OLD + of_old[:10] + of_both, NEW + texts(60, 9, FIRE) + of_both)
    assert (found.n_old, found.n_new, found.n_both) == (430, 230, 20)
    (group,) = found.groups
    assert group.n == 80
    assert group.expected == pytest.approx(30 * 230 / 430)


def test_a_group_is_not_joined_with_all_documents():
    longer = [f"{one} {two}" for one, two in zip(texts(150, 10), texts(150, 11), strict=True)]
    assert all(group.n > 1.2 * group.expected for group in growth(OLD, longer).groups)


@pytest.mark.parametrize("unknown", [None, "", " "])
def test_documents_of_unknown_senders_count_each(unknown):
    senders = [None] * 400, [*[None] * 150, *[unknown] * 12]
    (group,) = growth(OLD, NEW + FIRES, senders=senders).groups
    assert group.n == 12


def test_numbers_and_names_of_months_and_days_name_no_group():
    dated = texts(30, 6, ["October", "oct", "Monday", "1987", "19.10.1987"])
    assert growth(OLD, NEW + dated).groups == []
    assert growth(OLD, NEW + texts(30, 6, ["Oktober", "Montag"]), language="de").groups == []


@pytest.mark.parametrize(
    ("language", "subject", "word"),
    [
        ("zh", "海港发生火灾", "火灾"),
        ("ar", "حريق في السفينة", "حريق"),
        ("ja", "港で火事がありました", "火事"),
    ],
)
def test_other_scripts_have_groups_too(language, subject, word):
    rng = np.random.default_rng(0)
    first = {"zh": "\u5000", "ar": "\u0628", "ja": "\u5000"}[language]
    letters = [chr(ord(first) + n) for n in range(20 if language == "ar" else 400)]
    made = [" ".join("".join(rng.choice(letters, 3)) for _ in range(6)) for _ in range(400)]
    new = [f"{text} {subject}" for text in made[300:320]]
    (group,) = growth(made[:300], made[320:] + new, language=language).groups
    assert group.n == 20
    assert word in group.words


def test_a_word_of_chinese_is_two_neighbours():
    assert [*terms_of("海港的船 ship 2")] == ["海港", "港的", "的船", "ship"]
    assert [*terms_of("ประเทศไทยมีเรือใหญ่จอดอยู่")][:2] == ["ประเ", "ระเท"]


def test_words_of_a_group_are_scored_where_they_stand():
    found = growth(OLD, NEW + FIRES)
    text = f"The SMOKE! {OLD[0]}"
    scored = found.token_scores(0, text, found.groups[0])
    assert [word.token for word in scored if word.score > 0] == ["SMOKE"]
    assert all(text[word.start : word.end] == word.token for word in scored)


def test_the_same_seed_gives_the_same_groups_in_several_processes(monkeypatch):
    monkeypatch.setattr("adbench_text.documents.chunks._SIZE", 100)
    monkeypatch.setattr("adbench_text.documents.chunks._PATIENCE", 0.0)
    one, two = (grown_groups(OLD, NEW + FIRES, jobs=jobs) for jobs in (1, 2))
    assert one["p"].tolist() == two["p"].tolist()
    assert [*map(list, one["rows"])] == [*map(list, two["rows"])]


@pytest.mark.parametrize(
    ("old", "new", "options", "quoted"),
    [
        (OLD[:19], NEW, {}, "old one has 19"),
        (OLD, ["..."] * 50, {}, "new one has 0"),
        (OLD, [NEW[0]] * 50, {}, "new one has 1"),
        (OLD, NEW, {"alpha": 1.5}, "alpha .*1.5"),
        (OLD, NEW, {"language": "xx-yy-zz"}, "'xx-yy-zz'"),
        (OLD, NEW, {"senders": (["a"], ["b"] * 150)}, "1 senders .* 400 old"),
        (OLD, "one text", {}, "'one text'|str"),
    ],
)
def test_wrong_values_are_quoted(old, new, options, quoted):
    with pytest.raises(InvalidValueError, match=quoted):
        grown_groups(old, new, **options)


def test_p_of_a_set_is_the_tail_of_the_binomial_distribution():
    from scipy.stats import binom

    n, size = np.array([3, 5, 20]), np.array([4, 9, 20])
    np.testing.assert_allclose(module._p_of_sets(n, size, 0.3), binom.sf(n - 1, size, 0.3))


def test_a_set_with_two_new_documents_is_no_group_and_not_the_smallest_by_chance():
    np.testing.assert_array_equal(module._p_of_sets(np.array([0, 2]), np.array([3, 3]), 0.01), 1.0)
    old, new = [f"w{n} x{n}" for n in range(99)], ["y one", "y two"]
    both = module._Both.of(read_terms(lambda: iter([*old, *new]), "en", 1, no_progress), len(old), None, 0)
    pairs = csr_array(np.ones((1, len(both.is_new)), np.float32))
    assert module._smallest_by_chance(pairs, both, 0).min() == 1  # two new documents cannot make a group


def test_a_number_is_the_same_sender_in_a_column_with_missing_values():
    old, new = pd.Series([1, 2]), pd.Series([1.0, np.nan])
    assert module._numbered((old, new), 2, 2).tolist() == [0, 1, 0, 7]
    assert module._numbered((["1", " 2"], [1, pd.NA]), 2, 2).tolist() == [0, 1, 0, 7]
