"""One look at all documents: which are different, and a sample of them."""

import numpy as np
import pytest
from made_up_words import WORDS

from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents import chunks, no_progress
from adbench_text.documents.source import TextSource
from adbench_text.documents.survey import Families, Survey, Surveyor, _smallest
from adbench_text.documents.survey import surveyed as facts_of


def different(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(WORDS[i] for i in rng.permutation(len(WORDS))[:12]) for _ in range(n)]


def surveyed(texts, n_sample=20, seed=0, near=True, part=None, **options):
    surveyor = Surveyor([Cleaner()], seed, near)
    families = Families.of(facts_of(TextSource.of(texts), surveyor, None, 1, no_progress), **options)
    return Survey.by_words(families, np.zeros(len(texts), np.int64) if part is None else part, n_sample)


def sampled(found):
    return found.sample(np.arange(len(found))).tolist()


def sample_of(texts, *options, **more):
    return [texts[row] for row in sampled(surveyed(texts, *options, **more))]


def test_each_document_has_a_representative_documents_with_words_first():
    texts = ["12 34", "The storm", "", "a storm!", "the crew", " 12 34", "56", "Storm 2"]
    found = surveyed(texts)
    assert found.representative.tolist() == [0, 1, -1, 1, 4, 0, 6, 1]
    assert np.flatnonzero(found.facts.has_words).tolist() == [1, 3, 4, 7]
    assert sorted(sampled(found)[:2]) == [1, 4]
    assert sorted(sampled(found)[2:]) == [0, 6]
    assert not found.is_near.any()


def test_spaces_around_a_document_make_no_other_document():
    for texts in (["Ships leave", "Ships leave "], ["ships leave", " ships leave"]):
        assert surveyed(texts).is_duplicate.tolist() == [False, True]


def test_a_family_has_a_representative_in_each_part():
    base = " ".join(WORDS[:40])
    texts = [base, f"{base} {WORDS[50]}", base, "", f"{base} {WORDS[60]}", f"{base} {WORDS[50]}"]
    part = np.array([0, 1, 1, 1, 2, 1])
    found = surveyed(texts, part=part)
    assert found.representative[[0, 3, 4]].tolist() == [0, -1, 4]
    assert {*found.representative[[1, 2, 5]].tolist()} in ({1}, {2})
    assert found.is_near[[1, 2, 5]].sum() in (1, 2)
    assert found.is_duplicate.tolist() == [False, False, False, False, False, found.representative[5] == 1]
    (row,) = {*found.representative[[1, 2, 5]].tolist()}
    assert found.sample(np.array([1, 2, 3, 5])).tolist() == [row]


def test_a_sample_depends_on_the_seed_and_neither_on_the_order_nor_on_copies():
    texts = different(300)
    first = sample_of(texts)
    assert len(first) == 20
    assert sample_of(texts[::-1]) == sample_of(texts * 3) == first
    assert set(sample_of(texts, seed=1)) != set(first)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_copies_of_a_key_count_once_in_a_sample(n):
    keys = np.array([5] * 50 + [2] * 7 + [9, 4, 8, 4, 7], dtype=np.uint64)
    assert _smallest(keys, n).tolist() == [2, 4, 5, 7, 8, 9][:n]
    assert _smallest(keys[:0], n).tolist() == []


def test_a_sample_is_drawn_evenly(monkeypatch):
    monkeypatch.setattr(chunks, "_SIZE", 50)
    texts = different(1000)
    place_of = {text: place for place, text in enumerate(texts)}
    places = [place_of[text] for seed in range(40) for text in sample_of(texts, 50, seed, near=False)]
    assert len(places) == 2000
    # 200 +- 13 in each tenth of the file
    assert all(140 < n < 260 for n in np.histogram(places, bins=10, range=(0, 1000))[0])


@pytest.mark.parametrize("n_sample", [20, 1000])
def test_the_representative_of_a_family_is_in_the_sample_if_any_of_it_is(n_sample):
    base = " ".join(WORDS[:40])
    family = [f"{base} {word}" for word in WORDS[100:200]]
    texts = [*different(200), *family, family[0]]
    found = surveyed(texts, n_sample)
    assert found.is_near.sum() in (99, 100)  # the copy of the first may be one of a near-copy
    assert found.is_representative.sum() == 201
    (row,) = set(found.representative[200:].tolist())
    in_sample = {texts[each] for each in sampled(found)} & {*family}
    assert in_sample <= {texts[row]}
    assert (row in sampled(found)) == bool(in_sample)
    assert n_sample == 20 or in_sample == {texts[row]}
    kept = surveyed(texts, n_sample, near=False)
    assert (kept.is_representative.sum(), kept.is_near.sum()) == (300, 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_shortest_represents_a_family_if_asked_for(seed):
    base = " ".join(WORDS[:20])
    texts = [f"{base} {WORDS[30]} {WORDS[31]}", f"{base} {WORDS[40]}", *different(20), base, base]
    assert set(surveyed(texts, 100, seed, shortest=True).representative[[0, 1, -2, -1]].tolist()) == {22}
    less = " ".join(WORDS[100:115]), " ".join(WORDS[102:117])  # 13 of 17 shared: 0.76
    assert surveyed(less, 100, seed).is_near.sum() == 0
    assert surveyed(less, 100, seed, shared=0.6).is_near.sum() == 1


def test_the_rest_is_what_is_not_in_the_sample_in_order():
    texts = ["12", *different(100), "34 56"]
    found = surveyed(texts, 30)
    rows = np.arange(102)
    rest = found.rest(rows).tolist()
    assert sorted([*rest, *sampled(found)]) == list(range(102))
    assert rest == sorted(rest)
