from collections import Counter

import numpy as np
import pytest

from adbench_text.code_version import code_version
from adbench_text.contract.scores import FROM_SCRATCH, TOGETHER, WORDS
from adbench_text.detectors import ensemble as module
from adbench_text.documents.own_detector import own_detector
from adbench_text.errors import DetectorError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DetectorChoice, build, english_knowledge, split_list
from adbench_text.plugins.foreign import adapted
from adbench_text.testing.topics import texts_about
from adbench_text.text.languages import part_length
from adbench_text.text.words import words

Ensemble = registry.detector("ensemble")
TRAIN = texts_about("sea", 30, seed=0)
TEST = texts_about("sea", 5, seed=1) + texts_about("law", 5, seed=2)


class OtherPackage:
    """A detector of another package: how rare the words are in the training documents."""

    def fit(self, texts):
        self._counts = Counter(word for text in texts for word in words(text))

    def decision_function(self, texts):
        return np.array([np.mean([1 / (1 + self._counts[word]) for word in words(text)]) for text in texts])


def robust_z(scores, training_scores):
    median = np.median(training_scores)
    return (scores - median) / (1.4826 * np.median(np.abs(training_scores - median)))


def fit_alone(name, **settings):
    return registry.detector(name)(**settings).fit(TRAIN)


def test_it_is_the_mean_of_the_robust_z_scores_of_its_members():
    detector = Ensemble(members="llr(smoothing=10, cap=20), knn-words(k=5)").fit(TRAIN)
    members = fit_alone("llr", smoothing=10, cap=20), fit_alone("knn-words", k=5)
    z = [robust_z(member.decision_function(TEST), member.decision_scores_) for member in members]
    np.testing.assert_allclose(detector.decision_function(TEST), (z[0] + z[1]) / 2, rtol=1e-12)
    z = [robust_z(member.decision_scores_, member.decision_scores_) for member in members]
    np.testing.assert_allclose(detector.decision_scores_, (z[0] + z[1]) / 2, rtol=1e-12)


def test_its_reasons_name_the_members_by_which_a_document_is_odd():
    members = "ngrams, llr(smoothing=10, cap=20), knn-words(k=5), llr(smoothing=10, cap=20)"
    detector, alone = Ensemble(members=members).fit(TRAIN), {}
    for name, settings in (("ngrams", {}), ("llr", {"smoothing": 10, "cap": 20}), ("knn-words", {"k": 5})):
        alone[name] = fit_alone(name, **settings)

    def named(scores):
        """Return the members of a z of at least 1, by z and how often each is named."""
        z = {name: robust_z(scores(alone[name]), alone[name].decision_scores_) for name in alone}
        weighted = {name: z[name] * (1 + (name == "llr")) for name in alone}
        n_texts = len(z["llr"])
        ordered = [sorted(alone, key=lambda name, i=i: -weighted[name][i]) for i in range(n_texts)]
        odd = [[name for name in names if z[name][i] >= 1] for i, names in enumerate(ordered)]
        return [[f"{TOGETHER} ({', '.join(names)})"] if names else [] for names in odd]

    assert detector.reasons(TEST) == named(lambda member: member.decision_function(TEST))
    assert {*map(len, detector.reasons(TEST))} == {0, 1}
    places = [4, 0, 17, *range(20, 30)]
    assert detector.training_reasons(places) == named(lambda member: member.decision_scores_[places])


def test_the_order_of_the_members_does_not_matter():
    names = ["llr", "knn-words(k=5)", "pyod-knn(encoder=svd)"]
    first, *others = (
        Ensemble(members=",".join(order), random_state=0).fit(TRAIN).decision_function(TEST)
        for order in (names, names[::-1], [names[1], names[2], names[0]])
    )
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_it_has_the_regime_of_the_member_that_knows_most():
    assert Ensemble(members="knn-words").regime == FROM_SCRATCH
    assert Ensemble(members="knn-words, llr(background=uniform)").regime == FROM_SCRATCH
    assert Ensemble(members="knn-words, llr").regime == WORDS


def test_a_member_of_another_package_may_declare_no_knowledge(monkeypatch):
    monkeypatch.setattr(registry, "load", lambda *_: OtherPackage)
    detector = Ensemble(members="another").fit(TRAIN)
    assert detector.decision_function(TEST[:5]).max() < detector.decision_function(TEST[5:]).min()
    assert detector.regime is None
    assert adapted(OtherPackage)().regime is None


def test_its_resources_are_those_of_all_members():
    used = Ensemble(members="llr, knn-words").resources()
    llr, knn = (code_version(registry.detector(name)) for name in ("llr", "knn-words"))
    assert [used[f"member{place}.code"] for place in ("1", "2")] == [llr, knn]
    assert "member1.wordfreq" in used


def test_the_seed_is_that_of_all_members():
    members = Ensemble(members="ocsvm, llr", random_state=7).build_members()
    assert [member.random_state for member in members] == [7, 7]


def test_its_words_are_those_of_the_first_member_that_scores_words():
    detector = Ensemble(members="iforest(encoder=svd), llr(cap=20), knn-words").fit(TRAIN)
    llr = fit_alone("llr", cap=20)
    assert detector.token_scores(TEST) == llr.token_scores(TEST)
    assert detector.training_token_scores([3, 1]) == llr.training_token_scores([3, 1])


def test_it_has_no_words_without_a_member_that_scores_words():
    detector = Ensemble(members="iforest(encoder=svd), ocsvm(encoder=svd)").fit(TRAIN)
    with pytest.raises(DetectorError, match=r"'iforest.*words"):
        detector.token_scores(TEST)
    with pytest.raises(DetectorError, match=r"'iforest.*words"):
        detector.training_token_scores([0])


@pytest.mark.parametrize(("own", "preset"), [("clean", "topics"), ("robust", "robust")])
def test_the_llr_of_a_preset_has_a_preset_of_llr(own, preset):
    (settings,) = Ensemble.presets("any")[own]
    llr = DetectorChoice.parse(split_list(settings["members"])[0])
    assert (llr.name, [llr.settings]) == ("llr", registry.detector("llr").presets("any")[preset])


def test_an_encoder_is_that_of_all_members_on_vectors():
    detector = Ensemble(members="llr, knn-vectors(encoder=tfidf), pyod-knn", encoder="svd")
    llr, *others = detector.build_members()
    assert [member.encoder for member in others] == ["svd", "svd"]
    assert not hasattr(llr, "encoder")
    with pytest.raises(UnknownNameError, match=r"encoder .*'sdv'"):
        Ensemble(encoder="sdv").check_params()


def test_an_encoder_without_a_member_on_vectors_makes_one():
    *others, vectors = Ensemble(members="llr, knn-words(k=5)", encoder="svd").build_members()
    assert [type(member).__name__ for member in others] == ["LLR", "KNNWords"]
    assert (vectors.name, vectors.encoder, vectors.references) == ("knn-vectors", "svd", 1000)
    detector = Ensemble(members="llr, knn-words(k=5)", encoder="svd")
    assert {name.partition(".")[0] for name in detector.resources()} == {"member1", "member2", "member3"}


@pytest.mark.parametrize(
    ("language", "settings", "encoder"),
    [("en", {}, "wordllama"), ("de", {}, None), ("de", {"encoder": "svd"}, "svd")],
)
def test_other_languages_have_vectors_only_of_an_encoder_that_is_given(language, settings, encoder):
    own = own_detector("ensemble", settings=settings, language=language)
    encoders = [member.encoder for member in own.detector.build_members() if hasattr(member, "encoder")]
    assert encoders == ([encoder] if encoder else [])


@pytest.mark.parametrize(
    ("language", "clean", "robust"),
    [
        ("de", ["llr", "llr", "knn-words", "ngrams"], ["llr", "llr", "knn-words", "ngrams"]),
        ("ja", ["llr", "knn-words", "ngrams"], ["llr", "knn-words", "ngrams"]),  # no words of letters
        ("zh-TW", ["llr", "knn-words", "ngrams"], ["llr", "knn-words", "ngrams"]),
        ("sw", ["knn-words", "knn-words", "ngrams"], ["llr", "knn-words", "ngrams"]),  # no list of words
        ("th", ["knn-words", "knn-words", "ngrams"], ["llr", "knn-words", "ngrams"]),
    ],
)
def test_members_in_other_languages(language, clean, robust):
    for normal, names in ((True, clean), (False, robust)):
        members = own_detector("ensemble", language=language, normal=normal).detector.build_members()
        assert [registry.name_of(type(member)) for member in members] == names
        of_parts = [
            member.characters for member in members if registry.name_of(type(member)) in ("llr", "knn-words")
        ]
        assert {*of_parts} - {None} == {part_length(language)}
        assert (None in of_parts) == (language == "de")
        assert [member.em_rounds > 0 for member in members if registry.name_of(type(member)) == "llr"] == (
            [not normal, False] if language == "de" else [not normal] * names.count("llr")
        )


@pytest.mark.parametrize("name", ["ensemble:clean", "ensemble:robust", "llr:topics", "llr:robust"])
@pytest.mark.parametrize("language", ["de", "ja", "sw"])
def test_a_preset_that_is_named_is_the_one_of_the_language(name, language):
    detector, _, preset = name.partition(":")
    named = own_detector(name, language=language)
    offered = own_detector(detector, language=language, normal=preset in ("clean", "topics"))
    assert named.label == offered.label
    assert named.detector.resources() == offered.detector.resources()
    assert not english_knowledge(named.detector)
    assert named.detector.get_params() == offered.detector.get_params()


def test_a_preset_keeps_the_members_that_are_given_with_it():
    own = own_detector("ensemble:clean(members=llr)", language="de")
    assert (own.label, own.detector.members) == ("ensemble:clean(members=llr)", "llr")


def test_the_others_learn_what_the_first_member_keeps():
    odd = ["court judge verdict", "appeal court trial"]
    texts = [*TRAIN, *odd]
    robust = "llr(background=uniform, cap=null, em_rounds=3)"
    detector = Ensemble(members=f"{robust}, knn-words(k=5)").fit(texts)
    llr = registry.detector("llr")(background="uniform", cap=None, em_rounds=3).fit(texts)
    assert detector.kept_.tolist() == llr.kept_.tolist()
    assert not detector.kept_[-2:].any()
    kept = [text for text, is_kept in zip(texts, llr.kept_, strict=True) if is_kept]
    knn = registry.detector("knn-words")(k=5).fit(kept)
    of_training = np.empty(len(texts))
    of_training[llr.kept_] = knn.decision_scores_
    of_training[~llr.kept_] = knn.decision_function(
        [text for text, is_kept in zip(texts, llr.kept_, strict=True) if not is_kept]
    )
    z = robust_z(llr.decision_scores_, llr.decision_scores_), robust_z(of_training, of_training)
    np.testing.assert_allclose(detector.decision_scores_, (z[0] + z[1]) / 2, rtol=1e-12)
    z = (
        robust_z(llr.decision_function(TEST), llr.decision_scores_),
        robust_z(knn.decision_function(TEST), of_training),
    )
    np.testing.assert_allclose(detector.decision_function(TEST), (z[0] + z[1]) / 2, rtol=1e-12)


def test_it_leaves_documents_out_if_its_members_do():
    assert Ensemble(members="llr, knn-words").leaves_out_self
    assert not Ensemble(members="llr, ocsvm").leaves_out_self


def test_members_that_are_given_are_in_no_preset():
    own = own_detector("ensemble(members=llr, knn-words)")
    assert own.label == "ensemble(members=llr, knn-words)"
    assert own.detector.members == "llr, knn-words"


def test_known_outliers_go_to_the_members_and_have_no_part_in_their_scales():
    odd = texts_about("law", 4, seed=3)
    members = "llr, knn-words(k=5)"
    detector = Ensemble(members=members).fit([*odd, *TRAIN], [1] * 4 + [0] * 10 + [np.nan] * 20)
    alone = [
        registry.detector("llr")().fit([*TRAIN, *odd], [np.nan] * 30 + [1] * 4),
        registry.detector("knn-words")(k=5).fit(TRAIN),
    ]
    z = [robust_z(member.decision_function(TEST), member.decision_scores_[:30]) for member in alone]
    np.testing.assert_allclose(detector.decision_function(TEST), (z[0] + z[1]) / 2, rtol=1e-12)
    fine = [member._known_labels.is_fine.tolist() for member in detector._members]
    assert fine == [[True] * 10 + [False] * 20] * 2
    np.testing.assert_allclose(detector.decision_scores_[:4], detector.decision_function(odd))


def test_labels_follow_the_documents_that_the_first_member_keeps():
    odd = ["court judge verdict", "appeal court trial"]
    texts, y = [*TRAIN, *odd, "the marked one"], [0] * 15 + [np.nan] * 15 + [0, np.nan, 1]
    robust = "llr(background=uniform, cap=null, em_rounds=3)"
    detector = Ensemble(members=f"{robust}, knn-words(k=5)").fit(texts, y)
    assert not detector.kept_[-2:].any()
    assert len(detector.kept_) == 32
    knn = detector._members[1]
    assert knn._known_labels.odd == ["the marked one"]
    expected = [is_fine for is_fine, is_kept in zip(y[:32], detector.kept_, strict=True) if is_kept]
    assert knn._known_labels.is_fine.tolist() == [label == 0 for label in expected]
    assert len(detector.decision_scores_) == 33


def test_members_with_the_encoder_that_is_given_count_twice():
    given = Ensemble(members="llr, pyod-knn(n_neighbors=3)", encoder="svd", random_state=0).fit(TRAIN)
    members = ", ".join(["llr"] + 2 * ["pyod-knn(n_neighbors=3, encoder=svd)"])
    twice = Ensemble(members=members, random_state=0).fit(TRAIN)
    np.testing.assert_array_equal(given.decision_function(TEST), twice.decision_function(TEST))
    np.testing.assert_array_equal(given.decision_scores_, twice.decision_scores_)
    restored = Ensemble(members=given.members, encoder="svd", random_state=0).restore(given.learned())
    np.testing.assert_array_equal(restored.decision_function(TEST), given.decision_function(TEST))
    learned = {name: value for name, value in given.learned().items() if name != "_weights"}
    once = Ensemble(members="llr, pyod-knn(n_neighbors=3, encoder=svd)", random_state=0).fit(TRAIN)
    older = Ensemble(members=given.members, encoder="svd", random_state=0).restore(learned)
    np.testing.assert_array_equal(older.decision_function(TEST), once.decision_function(TEST))


def test_a_member_that_is_named_twice_is_fitted_once_and_counts_twice():
    twice = Ensemble(members="llr, knn-words(k=5), llr").fit(TRAIN)
    assert len(twice.build_members()) == 2
    once = Ensemble(members="llr, knn-words(k=5)").fit(TRAIN)
    z = [
        robust_z(member.decision_function(TEST), member.decision_scores_)
        for member in (fit_alone("llr"), fit_alone("knn-words", k=5))
    ]
    np.testing.assert_allclose(twice.decision_function(TEST), (2 * z[0] + z[1]) / 3, rtol=1e-12)
    np.testing.assert_allclose(once.decision_function(TEST), (z[0] + z[1]) / 2, rtol=1e-12)


def long_texts(topic, n, seed):
    """Return documents of 160 words."""
    sentences = iter(texts_about(topic, 20 * n, seed=seed))
    return [" ".join(" ".join(next(sentences) for _ in range(20)).split()[:160]) for _ in range(n)]


def test_words_of_neighbours_count_where_documents_are_long():
    members = "llr(smoothing=10, cap=20), knn-vectors(encoder=svd, k=5), ~knn-words(k=5)"
    train, test = long_texts("sea", 12, seed=0), long_texts("law", 3, seed=1)
    n = np.median([len(words(text)) for text in train])
    detector = Ensemble(members=members, random_state=0).fit(train)
    llr, vectors, neighbours = (
        build("llr", {"smoothing": 10, "cap": 20}, 0).fit(train),
        build("knn-vectors", {"encoder": "svd", "k": 5}, 0).fit(train),
        build("knn-words", {"k": 5}, 0).fit(train),
    )
    alike = min(1, ((1 - np.median(neighbours.decision_scores_)) / 0.15) ** 2)
    w = alike * (1 - 100 / n)
    assert 0 < w < 1
    z = [robust_z(each.decision_function(test), each.decision_scores_) for each in (llr, vectors, neighbours)]
    expected = (z[0] + (1 - w / 2) * z[1] + w * z[2]) / (2 + w / 2)
    np.testing.assert_allclose(detector.decision_function(test), expected, rtol=1e-9)
    restored = Ensemble(members=members, random_state=0).restore(detector.learned())
    np.testing.assert_array_equal(restored.decision_function(test), detector.decision_function(test))


def test_short_documents_need_no_neighbours_by_words():
    members = "llr, knn-vectors(encoder=svd), ~knn-words"
    detector = Ensemble(members=members, random_state=0).fit(TRAIN)
    without = Ensemble(members="llr, knn-vectors(encoder=svd)", random_state=0).fit(TRAIN)
    assert [type(member).__name__ for member in detector._members] == ["LLR", "KNNVectors"]
    np.testing.assert_array_equal(detector.decision_function(TEST), without.decision_function(TEST))
    assert detector.reasons(TEST) == without.reasons(TEST)
    assert detector.training_reasons([3]) == without.training_reasons([3])
    restored = Ensemble(members=members, random_state=0).restore(detector.learned())
    np.testing.assert_array_equal(restored.decision_function(TEST), detector.decision_function(TEST))


def test_letters_count_less_where_documents_have_many_subjects():
    members = "llr(background=uniform), ~knn-words(characters=5, k=5), ~ngrams"
    alike = ["the ship left the harbour today"] * 8 + TRAIN[:8]
    subjects = [f"{letter}{letter} {letter * 4}" for letter in "abcdefgh"]
    for texts, factor in ((alike, 1.0), (subjects, 0.2)):
        detector = Ensemble(members=members).fit(texts)
        assert detector._weights == [1.0, factor, factor]
        z = detector._z([each.decision_function(TEST) for each in detector._members])
        expected = (z[0] + factor * (z[1] + z[2])) / (1 + 2 * factor)
        np.testing.assert_allclose(detector.decision_function(TEST), expected, rtol=1e-12)
        restored = Ensemble(members=members).restore(detector.learned())
        np.testing.assert_array_equal(restored.decision_function(TEST), detector.decision_function(TEST))


def test_the_list_of_another_language_does_not_count():
    members = "llr(language=ru), ~knn-words(characters=5, k=5), ~ngrams"
    detector = Ensemble(members=members).fit(TRAIN)
    assert detector._weights == [0.0, 1.0, 1.0]
    letters = Ensemble(members="knn-words(characters=5, k=5), ngrams").fit(TRAIN)
    np.testing.assert_allclose(detector.decision_function(TEST), letters.decision_function(TEST), rtol=1e-12)
    assert not any("llr" in reason for reasons in detector.reasons(TEST) for reason in reasons)


@pytest.mark.parametrize(
    ("known", "expected"),
    [(0.6, [0.0, 0.0, 1.0, 1.0, 2.0]), (0.7, [1.0, 1.0, 1.0, 1.0, 2.0]), (0.9, [1.0, 1.0, 0.2, 0.2, 2.0])],
)
def test_letters_count_less_only_if_the_list_knows_the_words(monkeypatch, known, expected):
    texts = [f"{letter}{letter} {letter * 4}" for letter in "abcdefgh"]
    monkeypatch.setattr(module, "_share_of_common", lambda *_: known)
    words, parts = "llr(background=uniform)", "llr(background=uniform, characters=5)"
    members = f"{words}, {parts}, ~knn-words(characters=5, k=5), ~ngrams"
    assert Ensemble(members=members, encoder="svd").fit(texts)._weights == expected


@pytest.mark.parametrize(
    ("language", "weighed"), [("en", ["knn-words"]), ("de", ["knn-words", "ngrams"]), ("ja", []), ("sw", [])]
)
def test_presets_weigh_words_or_letters_by_the_documents(language, weighed):
    for normal in (True, False):
        members = split_list(own_detector("ensemble", language=language, normal=normal).detector.members)
        names = [each[1:].partition("(")[0] for each in members if each.startswith("~")]
        assert list(dict.fromkeys(names)) == weighed
