"""One look at all documents: which are different, and a sample of them."""

import numpy as np
import pytest
from made_up_words import WORDS

from adbench_text.contract.cleaner import Cleaner
from adbench_text.documents import chunks, no_progress
from adbench_text.documents.survey import Surveyor, survey


def different(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(WORDS[i] for i in rng.permutation(len(WORDS))[:12]) for _ in range(n)]


def surveyed(texts, n_sample=20, seed=0, near=True, **options):
    return survey(texts, Surveyor(Cleaner(), seed, near), n_sample, 1, no_progress, **options)


def sample_of(texts, *options, **more):
    return surveyed(texts, *options, **more).sample.raw.tolist()


def test_each_document_has_an_original_those_with_words_first():
    texts = ["12 34", "The storm", "", "a storm!", "the crew", " 12 34", "56", "Storm 2"]
    found = surveyed(texts)
    assert found.original.tolist() == [0, 1, -1, 1, 4, 0, 6, 1]
    assert np.flatnonzero(found.has_words).tolist() == [1, 3, 4, 7]
    assert sorted(found.sample.index[:2]) == [1, 4]
    assert sorted(found.sample.index[2:]) == [0, 6]
    assert found.sample.raw.tolist() == [texts[row] for row in found.sample.index]
    assert found.cleaned.sort_index().to_dict() == {1: "storm", 4: "crew"}
    assert not found.is_near.any()


def test_a_sample_depends_on_the_seed_and_neither_on_the_order_nor_on_copies():
    texts = different(300)
    first = sample_of(texts)
    assert len(first) == 20
    assert sample_of(texts[::-1]) == sample_of(texts * 3) == first
    assert set(sample_of(texts, seed=1)) != set(first)


def test_a_sample_is_drawn_evenly(monkeypatch):
    monkeypatch.setattr(chunks, "_SIZE", 50)
    texts = different(1000)
    place_of = {text: place for place, text in enumerate(texts)}
    places = [place_of[text] for seed in range(40) for text in sample_of(texts, 50, seed, near=False)]
    assert len(places) == 2000
    # 200 +- 13 in each tenth of the file
    assert all(140 < n < 260 for n in np.histogram(places, bins=10, range=(0, 1000))[0])


@pytest.mark.parametrize("n_sample", [20, 1000])
def test_what_speaks_for_a_family_is_in_the_sample_if_any_of_it_is(n_sample):
    base = " ".join(WORDS[:40])
    family = [f"{base} {word}" for word in WORDS[100:200]]
    texts = [*different(200), *family, family[0]]
    found = surveyed(texts, n_sample)
    assert found.is_near.sum() in (99, 100)  # the copy of the first may be one of a near-copy
    assert found.is_original.sum() == 201
    (row,) = set(found.original[200:].tolist())
    speaker = texts[row]
    in_sample = set(found.sample.raw) & set(family)
    assert in_sample <= {speaker}
    assert (row in found.sample.index) == bool(in_sample)
    assert n_sample == 20 or in_sample == {speaker}
    kept = surveyed(texts, n_sample, near=False)
    assert (kept.is_original.sum(), kept.is_near.sum()) == (300, 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_shortest_speaks_for_a_family_if_asked_for(seed):
    base = " ".join(WORDS[:20])
    texts = [f"{base} {WORDS[30]} {WORDS[31]}", f"{base} {WORDS[40]}", *different(20), base, base]
    assert set(surveyed(texts, 100, seed, shortest=True).original[[0, 1, -2, -1]].tolist()) == {22}
    less = " ".join(WORDS[100:115]), " ".join(WORDS[102:117])  # 13 of 17 shared: 0.76
    assert surveyed(less, 100, seed).is_near.sum() == 0
    assert surveyed(less, 100, seed, shared=0.6).is_near.sum() == 1


def test_the_rest_is_what_is_not_in_the_sample_in_order():
    texts = ["12", *different(100), "34 56"]
    found = surveyed(texts, 30)
    rest = found.rest(with_words=False).tolist()
    assert sorted([*rest, *found.sample.index]) == list(range(102))
    assert rest == sorted(rest)
    assert set(rest) - set(found.rest(with_words=True).tolist()) == {0, 101} - {*found.sample.index}
