from collections import Counter
from math import log, sqrt

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score
from wordfreq import get_frequency_dict

from adbench_text.detectors.llr.background import frequencies, wordfreq
from adbench_text.detectors.llr.coherence import Directions, coherence
from adbench_text.detectors.llr.mixture import Counts, Mixture, set_aside
from adbench_text.documents.own_detector import own_detector
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.testing.topics import texts_about
from adbench_text.text import vectors
from adbench_text.text.words import parts_of

LLR = registry.detector("llr")
(ROBUST,) = LLR.presets("any")["robust"]
TRAIN = ["ship sails", "ship ship anchor"]


def test_the_score_by_hand():
    detector = LLR(background="uniform", smoothing=10, cap=None).fit(TRAIN)
    q = 1 / 400_000
    ship, law = (log((n + 10 * q) / (5 + 10) / q) for n in (3, 0))
    scores = detector.decision_function(["ship", "law ship law"])
    assert scores == pytest.approx([-ship / 6, -(ship + 2 * law) / 8])


def test_the_background_of_wordfreq_is_its_frequency():
    detector = LLR(smoothing=10, cap=None).fit(TRAIN)
    q = get_frequency_dict("en", wordlist="best")["ship"]
    expected = [
        -log((3 + 10 * q) / 15 / q) / 6,
        -log(10 / 15) / 6,
    ]  # an unknown word: once in a hundred million
    assert detector.decision_function(["ship", "zzqxv"]) == pytest.approx(expected)


def vectors_file(path):
    path.write_text("".join(f"{word} 0 1\n" for word in ("the", "law", "ship")))
    return str(path)


def zipf(rank):
    return 1 / (rank + 2.7) / sum(1 / (r + 2.7) for r in range(400_000))


def test_the_background_of_vectors_is_zipfs_law_over_their_order(tmp_path):
    path = vectors_file(tmp_path / "order.vec")
    detector = LLR(background="vectors", vectors=path, smoothing=10, cap=None).fit(TRAIN)
    q = zipf(2)
    unknown = zipf(400_000)
    assert detector.decision_function(["ship", "zzqxv"]) == pytest.approx(
        [-log((3 + 10 * q) / 15 / q) / 6, -log(10 * unknown / 15 / unknown) / 6]
    )


def test_the_background_mean_is_the_mean_of_both(tmp_path):
    path = vectors_file(tmp_path / "order.vec")
    detector = LLR(background="mean", vectors=path, smoothing=10, cap=None).fit(TRAIN)
    q = (zipf(2) + get_frequency_dict("en", wordlist="best")["ship"]) / 2
    assert detector.decision_function(["ship"]) == pytest.approx([-log((3 + 10 * q) / 15 / q) / 6])


def test_a_text_without_words_has_no_evidence():
    assert LLR().fit(TRAIN).decision_function(["", "!?"]).tolist() == [0, 0]


def test_token_scores_stand_where_the_words_do_and_add_up_to_the_score():
    detector = LLR().fit(TRAIN)
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


def test_another_language_has_another_background():
    german = LLR(language="de").fit(["schiff und anker"])
    english = LLR(language="en").fit(["schiff und anker"])
    assert german.decision_function(["und"])[0] > english.decision_function(["und"])[0]


# Training documents leave themselves out

SEA = texts_about("sea", 40, seed=0)
LAW = texts_about("law", 4, seed=1)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"cap": None},
        {"background": "uniform", "smoothing": 3},
        {"characters": 3},
        {"characters": 4, "background": "uniform"},
    ],
)
def test_the_score_of_a_training_document_is_that_of_a_fit_without_it(settings):
    texts = [*SEA[:8], "a word of its own: xylophone", ""]
    scores = LLR(**settings).fit(texts).decision_scores_
    for place, text in enumerate(texts):
        without = LLR(**settings).fit(texts[:place] + texts[place + 1 :])
        assert scores[place] == pytest.approx(without.decision_function([text])[0], abs=1e-12)


def test_evidence_for_the_training_documents_is_capped_and_evidence_against_is_not():
    detector = LLR(background="uniform", cap=2).fit(["ship"] * 100)
    (tokens,) = detector.token_scores(["ship law"])
    assert tokens[0].score == -2
    assert tokens[1].score == pytest.approx(-log(1e4 / (100 + 1e4)))


# Documents that are set aside


def by_hand(texts: list[str], n_rounds: int, least: float, most: float, *, a=1e4, weight=0.3, k=5, cap=4):
    """Hard EM as the page in reports/results describes it, document by document."""
    q, out = 1 / 400_000, [False] * len(texts)
    docs = [Counter(text.split()) for text in texts]
    total = sum(sum(doc.values()) for doc in docs)

    def evidence(doc, is_out):
        kept = sum((d for d, o in zip(docs, out, strict=True) if not o), Counter())
        aside = sum((d for d, o in zip(docs, out, strict=True) if o), Counter())
        b_smoothing = weight * max(total, a)
        (aside if is_out else kept).subtract(doc)
        p = {w: (kept[w] + a * q) / (sum(kept.values()) + a) for w in doc}
        b = {w: (aside[w] + b_smoothing * q) / (sum(aside.values()) + b_smoothing) for w in doc}
        return sum(n * min(log(p[w] / b[w]), cap) for w, n in doc.items())

    for _ in range(n_rounds):
        lengths = np.array([sum(doc.values()) for doc in docs])
        z = -np.array([evidence(doc, o) for doc, o in zip(docs, out, strict=True)]) / (lengths + k)
        share = max(np.mean(out), 0.01)
        chosen = (z > log((1 - share) / share) / (lengths + k)) & (z > np.quantile(z, 1 - most))
        out = list(chosen | (z > np.quantile(z, 1 - least)))
    return np.array(out), z


def test_the_documents_set_aside_are_those_of_em_by_hand():
    texts = [*SEA, *LAW]
    for n_rounds in (1, 2, 5):
        detector = LLR(background="uniform", em_rounds=n_rounds).fit(texts)
        out, _ = by_hand(texts, n_rounds, least=0.05, most=0.2)
        assert detector.kept_.tolist() == (~out).tolist()
    assert not detector.kept_[len(SEA) :].any()  # the contamination


def test_no_more_than_a_fifth_is_set_aside():
    matrix = np.zeros((100, 2))
    matrix[:60, 0], matrix[60:, 1] = 10, np.arange(40) + 1  # 40 documents of another word
    counts, aside = Counts(csr_array(matrix)), np.arange(100) >= 80
    mixture = Mixture.fit(counts, aside, np.full(2, 0.01), 1e3, np.inf)
    assert set_aside(counts, mixture, aside).sum() == 20
    assert LLR().fit(SEA).kept_ is None


@pytest.mark.parametrize("n_texts", [15, 50])
def test_words_of_a_small_corpus_do_not_speak_for_odd(n_texts):
    counts = Counts(csr_array(np.ones((n_texts, 4))))  # those set aside have the words of those that are kept
    aside = np.arange(n_texts) % 10 == 0
    mixture = Mixture.fit(counts, aside, np.full(4, 1 / 400_000), 1e4, np.inf)
    assert (mixture.evidence() >= -1e-9).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_small_corpus_of_few_words_is_not_scored_upside_down(seed):
    words = {
        "law": "judge court trial lawyer verdict jury plea bench",
        "sea": "ship sail tide anchor crew deck",
    }
    draw = np.random.default_rng(seed)
    train, law, sea = (
        [" ".join(draw.choice(words[topic].split(), 8)) for _ in range(n)]
        for topic, n in (("law", 28), ("law", 20), ("sea", 20))
    )
    detector = LLR(em_rounds=5).fit(train)
    assert roc_auc_score([0] * 20 + [1] * 20, detector.decision_function([*law, *sea])) > 0.7


def test_contaminated_training_data_hurt_the_robust_detector_less():
    texts = [*SEA, *LAW]
    test, outlier = texts_about("sea", 30, seed=5) + texts_about("law", 30, seed=6), np.arange(60) >= 30
    test = [" ".join(text.split()[:5]) for text in test]
    plain, robust = (
        roc_auc_score(outlier, LLR(background="uniform", em_rounds=n).fit(texts).decision_function(test))
        for n in (0, 5)
    )
    assert plain < 0.8 < robust


# Coherence


def test_coherence_is_the_length_of_the_sum_of_directions_without_the_words_themselves(tmp_path):
    path = tmp_path / "order.vec"
    path.write_text("the 1 0 1\nlaw 0 1 0\nship 0 1 0.2\nsail 0.1 -1 0\n")
    words = np.array(["the", "law", "ship", "sail", "xyzzy"], dtype=object)
    directions = Directions(str(path), words).of(str(path), words)
    norms = np.linalg.norm(directions, axis=1)
    assert norms == pytest.approx([1, 1, 1, 1, 0])
    counts = Counts(csr_array(np.array([[0, 2, 1, 0, 3], [0, 2, 0, 0, 0], [0, 0, 0, 0, 4], [0] * 5])))
    total = np.linalg.norm(2 * directions[1] + directions[2]) ** 2
    expected = [sqrt(max(total - 5, 0)), 0, 0, 0]  # one word alone has none
    assert coherence(counts, directions) == pytest.approx(expected, abs=1e-6)


def test_rounding_is_no_coherence():
    directions = np.random.default_rng(0).normal(size=(20, 50))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    counts = Counts(csr_array(np.diag(np.arange(1, 21))))  # one word each
    assert not coherence(counts, directions).any()


def test_the_weight_of_the_coherence_is_added_to_the_score(tmp_path):
    path = vectors_file(tmp_path / "order.vec")
    plain, coherent = (
        LLR(background="vectors", vectors=path, coherence=c)
        .fit(TRAIN)
        .decision_function(["law ship", "ship"])
        for c in (0, 3)
    )
    directions = Directions(path, np.array(["ship", "sails", "anchor"], dtype=object)).of(
        path, np.array(["law", "ship"], dtype=object)
    )
    extra = sqrt(max(np.linalg.norm(directions.sum(axis=0)) ** 2 - directions.any(axis=1).sum(), 0))
    assert coherent - plain == pytest.approx([3 * extra / 7, 0])


@pytest.mark.parametrize("settings", [{"background": "mean"}, {"coherence": 2}])
def test_documents_without_a_known_word_are_scored_and_fitted_on(tmp_path, settings):
    path = vectors_file(tmp_path / "order.vec")
    detector = LLR(vectors=path, **settings).fit(TRAIN)

    def forget() -> None:  # as another process, in which no word has been looked up
        vectors._open.cache_clear()

    known, unknown = detector.decision_function(["ship"]), detector.decision_function(["xqzj wvkk"])
    forget()
    assert detector.decision_function(["xqzj wvkk"]) == unknown > known
    forget()
    assert np.isfinite(LLR(vectors=path, **settings).fit(["xqzj wvkk", "wvkk"]).decision_scores_).all()


def test_word_vectors_of_another_language_are_used_if_they_are_given():
    assert LLR.for_documents("de", {"vectors": "cc.de.300.vec"}) == ("robust", {**ROBUST, "language": "de"})
    assert LLR.for_documents("quy", {"vectors": "xx.vec"}) == ("robust", {**ROBUST, "background": "vectors"})
    name, settings = LLR.for_documents("de", {})
    assert (name, settings["coherence"], settings["language"]) == ("robust, without word vectors", 0, "de")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("normal", [False, True])
def test_parts_of_words_have_no_coherence_unless_it_is_given(language, normal):
    own = own_detector("llr", settings={"characters": 5}, language=language, normal=normal)
    assert (own.detector.characters, own.detector.coherence) == (5, 0)
    with pytest.raises(InvalidValueError, match=r"coherence=2 .*coherence=0"):
        own_detector("llr", settings={"characters": 5, "coherence": 2}, language=language)
    with pytest.raises(InvalidValueError, match=r"coherence=2 .*coherence=0"):
        own_detector("llr:topics(characters=5)", language="en")
    assert own_detector("llr:topics(characters=null)", language="en").detector.coherence == 2


def test_the_presets_are_one_configuration_each():
    for name in ("topics", "robust"):
        (settings,) = LLR.presets("any")[name]
        assert LLR(**settings).regime == "word frequencies or vectors"


# Known outliers


def test_known_outliers_are_in_the_language_that_a_document_is_judged_against():
    odd = ["law law court", "court ship", "", "jury"]
    y = [np.nan] * 2 + [1.0] * 4
    detector = LLR(background="uniform", smoothing=10, cap=None).fit([*TRAIN, *odd], y)
    m, q = Counter(word for text in odd for word in set(text.split())), 1 / 400_000
    assert m == {"law": 1, "court": 2, "ship": 1, "jury": 1}

    def evidence(word, n):  # half of log(q'/q), with q' = (m + 3000 q) / (M + 3000), is taken from it
        changed = (m[word] + 3000 * q) / (5 + 3000)
        return log((n + 10 * q) / (5 + 10) / q) - 0.5 * log(changed / q)

    scores = detector.decision_function(["ship", "law ship law", "zzqxv"])
    ship, law, unknown = evidence("ship", 3), evidence("law", 0), evidence("zzqxv", 0)
    assert scores == pytest.approx([-ship / 6, -(ship + 2 * law) / 8, -unknown / 6])
    tokens = detector.token_scores(["Law, ship"])[0]
    assert [token.score for token in tokens] == pytest.approx([-law, -ship])
    anchor, left_out = log((10 * q) / (2 + 10) / q), log((1 + 10 * q) / (2 + 10) / q)
    expected = -(anchor + 2 * left_out - 0.5 * (log(3000 / 3005) + 2 * log((1 + 3000 * q) / 3005 / q))) / 8
    assert detector.decision_scores_[1] == pytest.approx(expected)
    assert detector.training_token_scores([1])[0][2].score == pytest.approx(
        -(anchor - 0.5 * log(3000 / 3005))
    )


# Parts of words


def test_parts_of_words_take_the_place_of_words():
    detector = LLR(background="uniform", characters=3, smoothing=10, cap=None).fit(["ship sails", "ship"])
    q, n_parts = 1 / 400_000, 4 + 5 + 4  # " sh", "shi", "hip", "ip "; " sa", "sai", "ail", "ils", "ls "
    twice, once, never = (log((n + 10 * q) / (n_parts + 10) / q) for n in (2, 1, 0))
    expected = -(3 * twice + never + never) / 10  # " sh", "shi", "hip", "ips", "ps "
    assert detector.decision_function(["ships"]) == pytest.approx([expected])
    (tokens,) = detector.token_scores(["Ships, sails"])
    assert [(token.token, token.score) for token in tokens] == [
        ("ships", pytest.approx(-(3 * twice + 2 * never) / 5)),
        ("sails", pytest.approx(-once)),
    ]


@pytest.mark.parametrize("characters", [3, 5])
def test_the_background_of_a_part_is_that_of_the_words_that_contain_it(characters):
    words, parts = wordfreq("sv"), Counter()
    for word, frequency in words.items():
        if frequency >= 1e-7:
            for part in parts_of(word, characters):
                parts[part] += frequency
    total = sum(parts.values())
    some = [*parts][::997]
    found = frequencies(
        "wordfreq", "sv", "", np.array([*some, "qqqqq"[:characters]], dtype=object), characters
    )
    assert found == pytest.approx([*(max(parts[part] / total, 1e-8) for part in some), 1e-8])


def test_the_background_mean_knows_the_parts_of_both_sources(tmp_path):
    path = vectors_file(tmp_path / "order.vec")
    background = np.array([" law ", "ship "], dtype=object)
    zipfs = frequencies("vectors", "en", path, background, 5)
    assert zipfs[1] / zipfs[0] == pytest.approx(zipf(2) / zipf(1))
    both, ordinary = (frequencies(name, "en", path, background, 5) for name in ("mean", "wordfreq"))
    assert (both > ordinary).all()  # vectors know three words, each of them more frequent


def test_known_outliers_have_parts_too():
    y = [np.nan, np.nan, 1.0]
    detector = LLR(background="uniform", characters=4).fit([*TRAIN, "lawyers"], y)
    plain = LLR(background="uniform", characters=4).fit(TRAIN)
    assert detector.decision_function(["lawyer"])[0] > plain.decision_function(["lawyer"])[0]


def test_parts_of_words_have_no_coherence():
    with pytest.raises(InvalidValueError, match=r"coherence=2.*4"):
        LLR(characters=4, coherence=2).fit(TRAIN)


@pytest.mark.parametrize("settings", [{}, {"em_rounds": 3}, {"topics": 4, "em_rounds": 3}])
def test_the_score_of_a_training_document_leaves_it_out_beside_known_outliers(settings):
    y = [np.nan] * len(SEA) + [1.0] * len(LAW)
    plain = LLR(background="uniform", **settings).fit(SEA)
    detector = LLR(background="uniform", **settings).fit([*SEA, *LAW], y)
    place = 7
    words_of = [token.token for token in detector.token_scores([SEA[place]])[0]]
    known = detector._outliers.evidence(np.array(words_of), np.full(len(words_of), 1 / 400_000))
    expected = plain.decision_scores_[place] + known.sum() / (len(words_of) + 5)
    assert detector.decision_scores_[place] == pytest.approx(expected)


def test_a_few_outliers_have_little_weight_and_many_have_half():
    def share(n_outliers):
        """Return the weight of outliers of sixty words in the language that a document is judged against."""
        odd = [" ".join(f"w{n}" for n in range(60))] * n_outliers
        detector = LLR(background="uniform").fit([*TRAIN, *odd], [np.nan] * 2 + [1.0] * n_outliers)
        known = detector._outliers.evidence(np.array(["zzqxv"]), np.array([1 / 400_000]))
        return 1 - np.exp(2 * known[0])

    assert [share(n) for n in (1, 50)] == pytest.approx([60 / 3060, 0.5])
