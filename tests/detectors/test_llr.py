from math import log

import numpy as np
import pytest
from wordfreq import get_frequency_dict

from adbench_text.errors import DataError
from adbench_text.plugins import registry

LLR = registry.detector("llr")
TRAIN = ["ship sails", "ship ship anchor"]


def test_the_score_by_hand():
    detector = LLR(background="uniform", smoothing=10, shrinkage=2, cap=None).fit(TRAIN)
    q = 1 / 400_000
    ship, law = (log((n + 10 * q) / (5 + 10) / q) for n in (3, 0))
    scores = detector.decision_function(["ship", "law ship law"])
    assert scores == pytest.approx([-ship / 3, -(ship + 2 * law) / 5])


def test_the_background_of_wordfreq_is_its_frequency():
    detector = LLR(smoothing=10, shrinkage=0, cap=None).fit(TRAIN)
    q = get_frequency_dict("en", wordlist="best")["ship"]
    assert detector.decision_function(["ship"]) == pytest.approx([-log((3 + 10 * q) / 15 / q)])


def test_a_word_that_wordfreq_does_not_know_has_a_frequency_of_one_in_a_hundred_million():
    detector = LLR(smoothing=10, shrinkage=0, cap=None).fit(TRAIN)
    assert detector.decision_function(["zzqxv"]) == pytest.approx([-log(10 / 15)])


def vectors_file(path):
    path.write_text("".join(f"{word} 0 1\n" for word in ("the", "law", "ship")))
    return str(path)


def zipf(rank):
    return 1 / (rank + 2.7) / sum(1 / (r + 2.7) for r in range(400_000))


def test_the_background_of_vectors_is_zipfs_law_over_their_order(tmp_path):
    path = vectors_file(tmp_path / "order.vec")
    detector = LLR(background="vectors", vectors=path, smoothing=10, shrinkage=0, cap=None).fit(TRAIN)
    q = zipf(2)
    unknown = zipf(400_000)
    assert detector.decision_function(["ship", "zzqxv"]) == pytest.approx(
        [-log((3 + 10 * q) / 15 / q), -log(10 * unknown / 15 / unknown)]
    )


def test_the_background_mean_is_the_mean_of_both(tmp_path):
    path = vectors_file(tmp_path / "order.vec")
    detector = LLR(background="mean", vectors=path, smoothing=10, shrinkage=0, cap=None).fit(TRAIN)
    q = (zipf(2) + get_frequency_dict("en", wordlist="best")["ship"]) / 2
    assert detector.decision_function(["ship"]) == pytest.approx([-log((3 + 10 * q) / 15 / q)])


def test_a_text_without_words_has_no_evidence():
    for shrinkage in (0, 5):
        assert LLR(shrinkage=shrinkage).fit(TRAIN).decision_function(["", "!?"]).tolist() == [0, 0]


def test_shrinkage_pulls_short_texts_to_zero():
    detector = LLR().fit(TRAIN)
    one, many = np.abs(detector.decision_function(["ship", "ship " * 100]))
    assert one < many


def test_token_scores_stand_where_the_words_do_and_add_up_to_the_score():
    detector = LLR(shrinkage=5).fit(TRAIN)
    text = "The SHIP, Ship's law!"
    (tokens,) = detector.token_scores([text])
    assert [text[t.start : t.end] for t in tokens] == ["The", "SHIP", "Ship", "s", "law"]
    assert [t.token for t in tokens] == ["the", "ship", "ship", "s", "law"]
    total = sum(t.score for t in tokens) / (len(tokens) + 5)
    assert detector.decision_function([text]) == pytest.approx([total])
    assert detector.token_scores([""]) == [[]]


def test_resources_name_what_the_scores_depend_on(tmp_path):
    path = vectors_file(tmp_path / "order.vec")
    assert set(LLR().resources()) == {"wordfreq"}
    assert set(LLR(background="uniform").resources()) == set()
    first = LLR(background="mean", vectors=path).resources()
    assert set(first) == {"wordfreq", "vectors"}
    (tmp_path / "order.vec").write_text("ship 0 1\nthe 0 1\n")
    assert LLR(background="mean", vectors=path).resources() != first


def test_a_missing_file_of_vectors_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(tmp_path))
    with pytest.raises(DataError, match="adbench-text fetch glove-wiki-gigaword-50"):
        LLR(background="vectors").prepare(TRAIN)


def test_another_language_has_another_background():
    german = LLR(language="de").fit(["schiff und anker"])
    english = LLR(language="en").fit(["schiff und anker"])
    assert german.decision_function(["und"])[0] > english.decision_function(["und"])[0]
