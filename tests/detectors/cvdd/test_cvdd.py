import numpy as np
import pytest

from adbench_text.detectors.cvdd import CVDD
from adbench_text.errors import InvalidValueError
from adbench_text.metrics import auroc
from adbench_text.testing.topics import texts_about, write_vectors

TRAIN = texts_about("sea", 60, seed=0)
TEST = texts_about("sea", 20, seed=1) + texts_about("law", 20, seed=2)
OUTLIER = np.arange(40) >= 20


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return write_vectors(tmp_path_factory.mktemp("vectors") / "topics.vec", scale=0.6)


@pytest.fixture(scope="module")
def make(vectors):
    def make(**settings):
        return CVDD(**{"vectors": vectors, "attention_heads": 3, "epochs": 20, "random_state": 0, **settings})

    return make


@pytest.fixture(scope="module")
def fitted(make):
    return make(min_count=0).fit(TRAIN)


def test_a_text_without_a_known_word_is_half_way_from_every_context(fitted):
    np.testing.assert_array_equal(fitted.decision_function(["", "qwzx bvkj", "12 !?"]), [0.5, 0.5, 0.5])


def test_an_unknown_word_changes_no_score(fitted):
    plain, with_unknown = fitted.decision_function(["ship sail judge", "ship qwzx sail judge bvkj"])
    assert plain == pytest.approx(with_unknown, abs=1e-7)


def test_words_that_are_rare_in_the_training_texts_are_unknown(make):
    train = [*TRAIN, "judge ship", "judge sail"]
    known = make(min_count=2).fit(train)
    unknown = make(min_count=3).fit(train)
    assert known.decision_function(["judge"])[0] != 0.5
    assert unknown.decision_function(["judge"])[0] == 0.5
    assert make(min_count=3).fit([*train, "judge"]).decision_function(["judge"])[0] != 0.5


def test_no_word_of_the_test_texts_alone_is_known_but_with_min_count_zero(make):
    assert (make(min_count=1).fit(TRAIN).decision_function(TEST[20:]) == 0.5).all()
    scores = make(min_count=0).fit(TRAIN).decision_function(TEST)
    assert auroc(OUTLIER, scores) > 0.95


def test_without_an_epoch_the_network_is_as_it_was_drawn(make):
    drawn, hardly_trained = make(epochs=0), make(epochs=1, learning_rate=1e-12)
    scores = [each.fit(TRAIN).decision_function(TEST) for each in (drawn, hardly_trained)]
    np.testing.assert_allclose(*scores, atol=1e-6)
    trained = make(epochs=5).fit(TRAIN).decision_function(TEST)
    assert np.abs(trained - scores[0]).max() > 1e-3


def test_without_a_seed_each_fit_is_another(make):
    first, second = (make(random_state=None).fit(TRAIN).decision_function(TEST[:20]) for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("text", TEST[18:22])
def test_the_mean_of_the_token_scores_is_the_score(fitted, text):
    text = f"Ship, {text}... ship UNKNOWN"
    scores = fitted.token_scores([text])[0]
    assert [token.token for token in scores][:2] == ["ship", text.split()[1]]
    assert [text[token.start : token.end].lower() for token in scores] == [token.token for token in scores]
    mean = np.mean([token.score for token in scores])
    assert mean == pytest.approx(fitted.decision_function([text])[0], abs=1e-6)
    assert scores[-1].score == 0
    assert scores[0].score == scores[-2].score


def test_foreign_words_have_the_highest_token_scores(fitted):
    text = "ship sail judge tide court wave"
    scores = {token.token: token.score for token in fitted.token_scores([text])[0]}
    assert {word for word in scores if scores[word] > np.median(list(scores.values()))} >= {"judge", "court"}


def test_token_scores_of_texts_without_a_known_word(fitted):
    empty, unknown = fitted.token_scores(["", "qwzx bvkj"])
    assert empty == []
    assert [token.score for token in unknown] == [0.5, 0.5]


def test_context_best_takes_the_best_head_and_declares_that_it_looks(make, fitted):
    best = make(min_count=0, score="context_best").fit(TRAIN)
    assert best.is_oracle
    assert not fitted.is_oracle
    distances = fitted._distances(TEST)
    reached = auroc(OUTLIER, best.oracle_scores(TEST, OUTLIER))
    assert reached == max(auroc(OUTLIER, distances[:, head]) for head in range(3))
    with pytest.raises(InvalidValueError, match="'context_mean'"):
        best.decision_function(TEST)


def test_too_few_texts_for_the_heads_are_refused(make):
    with pytest.raises(InvalidValueError, match=r"attention_heads=3 .*got 2; .*min_count=1"):
        make(min_count=1).fit(["ship sail", "tide wave", "", "qwzx"])
    assert make(min_count=1, attention_heads=1).fit(["ship sail"]).decision_function(["ship"]) < 0.5
    with pytest.raises(InvalidValueError, match=r"got 0; .*min_count=3"):
        make().fit(["ship sail", "tide wave"])


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_equal_texts_are_trained_on(make):
    scores = make().fit(["ship sail"] * 10).decision_function(["ship sail", "sail"])
    assert np.isfinite(scores).all()
