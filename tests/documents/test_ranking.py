"""Documents ranked against each other, and the words that make them odd."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from tickets import tickets

from adbench_text import LLR, KNNWords
from adbench_text.calibration import p_values_within
from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.scores import TOGETHER, TokenScore, centre, original_words
from adbench_text.documents import detector_pair
from adbench_text.documents.explanation import explain, odd_words
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.left_out import left_out
from adbench_text.documents.models.folder import load_model, save_model
from adbench_text.documents.models.model import Scorer
from adbench_text.documents.ranking import odd_documents
from adbench_text.documents.ranks import in_order
from adbench_text.documents.rule import ListRule
from adbench_text.errors import DetectorError, InvalidValueError, UnknownNameError
from adbench_text.plugins import registry
from adbench_text.reading import documents as reading
from adbench_text.testing.topics import texts_about

SEA = [f"{text.capitalize()}!" for text in texts_about("sea", 60, 0)]
FLEET = [f"{text.capitalize()}!" for text in texts_about("sea", 60, 0, compounds=True)]  # no near-copies
ODD = "The JUDGE (of 2 courts) heard   a witness."
FOREST = {"encoder": "svd", "n_estimators": 10}


def ranked(texts, **options):
    settings = {"background": "uniform", "coherence": 0, "capped": 0, "cap": None}
    options = {"keep_copies": True, **options}  # the texts about the sea are alike
    return odd_documents(texts, options.pop("detector", "llr"), settings=settings, **options)


def first(table):
    """Return the first of some documents."""
    return next(table.itertuples())


def of_row(table, row):
    """Return the document of a row."""
    return first(table[table.row == row])


def odd_rows(table):
    return table.row[table.odd].tolist()


def test_the_odd_one_is_first_with_its_words():
    result = ranked([*SEA, ODD, "", " ... 12"], alpha=0.02, by="words")
    own = first(result.table)
    assert (own.row, own.rank, own.odd, own.copy_of) == (60, 1, True, pd.NA)
    assert own.p == pytest.approx(1 / 61)
    assert odd_rows(result.table) == [60]
    assert result.table.row[result.table.p.isna()].tolist() == [61, 62]
    assert result.table["rank"].count() == 61
    assert set(own.why) == {"judge", "courts", "heard", "witness"}
    listed = first(result.lists["words"])
    assert (listed.text, listed.why) == (ODD, own.why)
    assert [ODD[word.start : word.end] for word in listed.words] == ["JUDGE", "courts", "heard", "witness"]


def test_a_document_without_an_odd_word_says_by_which_member_it_is_odd():
    settings = {"members": "llr(background=uniform, coherence=0), knn-words(k=5)"}
    usual, mixed = tickets()
    options = {"keep_copies": True, "by": "words", "alpha": 0.02}
    result = odd_documents([*usual, *mixed], "ensemble", settings=settings, **options)
    listed = result.lists["words"].head(2)
    assert (set(listed["text"]), listed["odd"].all()) == (set(mixed), True)
    assert max(word.score for words in listed["words"] for word in words) <= result.centre
    assert listed["why"].tolist() == [[f"{TOGETHER} (knn-words)"]] * 2
    assert result.table["why"][:2].tolist() == listed["why"].tolist()
    scored = Scorer(fit_model(usual, "ensemble", settings=settings), 0.2, "words").score(mixed)
    assert (scored["odd"].all(), scored["why"].tolist()) == (True, listed["why"].tolist())


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("by", ["words", "both"])
def test_each_document_that_is_odd_by_its_words_has_a_reason(by, clean):
    """Also if the detector names none, and no word is odd."""
    usual, mixed = tickets()
    usual[0] = "heron reeds frost perch marsh"
    listed = ranked(usual, alpha=0.3, by=by, clean=clean).lists[by]
    by_words = listed[listed["odd"] & (listed["p"] <= listed["p_form"].fillna(1))]
    assert {*by_words["why"].iloc[0]} <= {*usual[0].split()}
    assert all(by_words["why"])
    assert [TOGETHER] in by_words["why"].tolist()
    settings = {"background": "uniform", "coherence": 0, "capped": 0, "cap": None}
    model = fit_model(usual, "llr", settings=settings, clean=clean)
    scored = Scorer(model, alpha=0.95, by="words").score(mixed)
    assert (scored["odd"].all(), [*scored["why"]]) == (True, [[TOGETHER]] * 2)


def test_a_detector_is_asked_for_its_reasons_only_where_no_word_is_odd():
    asked = []

    def reasons(texts):
        asked.extend(texts.index)
        return [["far from all"] for _ in texts]

    def token_scores(texts):
        scores = {"judge": 9.0, "tide": 0.0}
        return [[TokenScore(text, 0, len(text), scores[text])] if text else [] for text in texts]

    texts = pd.Series(["judge", "tide", "??", "tide"], [7, 3, 5, 1])
    found = explain(texts, Cleaner("en"), token_scores, reasons, least=1.0)
    assert [each.why for each in found] == [["judge"], ["far from all"], ["no words"], ["far from all"]]
    assert asked == [3, 1]


def test_the_odd_documents_are_explained_and_the_first_ones():
    result = ranked([*SEA, ODD, ODD], alpha=0.02, top=3, by="words")
    listed = result.lists["words"]
    assert listed.row.tolist() == result.table.row[result.table.copy_of.isna()].tolist()[:3]
    assert (result.table.why.map(len) > 0).tolist() == [
        True,
        True,
        *(listed.why.map(len) > 0)[1:],
        *[False] * 58,
    ]
    assert len(ranked([*SEA, ODD], alpha=0.2, top=0).lists["words"]) == 12
    assert ranked([*SEA, ODD, ODD], alpha=0.02, max_copies=0).lists["words"].row.tolist()[0] != 60


def test_word_vectors_that_are_given_are_used_for_any_language(home, tmp_path):
    path = tmp_path / "de.vec"
    path.write_text("schiff 1 0\nanker 1 0.1\nsturm 1 0.2\ngericht 0 1\n")
    texts = ["Schiff Anker", "Anker Sturm", "Sturm Schiff", "Gericht"]
    result = odd_documents(texts, "ocsvm", settings={"vectors": str(path)}, language="de", n_folds=4)
    assert result.detector == f"ocsvm(vectors={path})"
    assert first(result.table).row == 3


def test_an_error_of_another_library_is_one_line():
    settings = {"encoder": "svd", "n_neighbors": 20}
    with pytest.raises(DetectorError, match=r"^pyod-knn\(.*\) .*ValueError: Expected n_neigh"):
        odd_documents(SEA[:10], "pyod-knn", settings=settings)
    with pytest.raises(DetectorError, match="ValueError: Expected n_neigh"):
        fit_model(SEA[:10], "pyod-knn", settings=settings)


class Unknown:
    """A detector of a user: the share of unknown words."""

    def __init__(self, weight):
        self.weight = weight

    def fit(self, texts):
        self.known = {word for text in texts for word in text.split()}

    def decision_function(self, texts):
        return [self.weight * np.mean([word not in self.known for word in text.split()]) for text in texts]


@pytest.mark.parametrize(
    ("detector", "name"),
    [
        (KNNWords(k=3), "knn-words"),
        (KNNWords, "knn-words"),
        (Unknown(2), "Unknown"),
        (make_pipeline(TfidfVectorizer(), LocalOutlierFactor(novelty=True)), "Pipeline"),
        (make_pipeline(Cleaner(), KNNWords(k=3)), "Pipeline"),
    ],
)
def test_a_detector_may_be_an_object_or_a_class(detector, name):
    before = str(vars(detector))
    result = odd_documents([*SEA, ODD], detector, keep_copies=True, alpha=0.02)
    assert (result.detector, first(result.table).row) == (name, 60)
    model = fit_model(SEA, detector)
    normal, odd = Scorer(model).score([SEA[0], ODD]).itertuples()
    assert model.name == name
    assert odd.score > normal.score
    assert str(vars(detector)) == before


def test_the_settings_of_a_detector_that_is_an_object_are_kept(tmp_path):
    model = fit_model(SEA, KNNWords(k=3))
    by_name = fit_model(SEA, "knn-words", settings={"k": 3})
    assert np.array_equal(model.calibration, by_name.calibration)
    assert load_model(save_model(model, tmp_path / "model")).detector.k == 3


def test_the_seed_is_that_of_an_object_without_one():
    own = LLR(background="uniform", coherence=0)
    assert fit_model(SEA, own, seed=3).detector.random_state == 3
    assert fit_model(SEA, own.set_params(random_state=7), seed=3).detector.random_state == 7
    forest = make_pipeline(TfidfVectorizer(), IsolationForest(random_state=None))
    assert fit_model(SEA, forest).detector.get_params()["isolationforest__random_state"] is None


@pytest.mark.parametrize(
    ("detector", "options", "message"),
    [
        (3, {}, r"fit .*decision_function, .* 3\.$"),
        (KNNWords(), {"preset": "default"}, "knn-words .*settings"),
        (KNNWords(), {"settings": {"k": 3}}, "knn-words .*settings"),
    ],
)
def test_what_is_no_detector(detector, options, message):
    for call in (fit_model, odd_documents):
        with pytest.raises(InvalidValueError, match=message):
            call(SEA, detector, **options)


def test_copies_share_rank_and_score_and_do_not_support_each_other():
    table = ranked([*SEA, ODD, ODD.lower(), ODD], by="words").table
    assert table.copy_of.count() == 2
    copies = table[:3]
    assert (copies.row.tolist(), copies["rank"].tolist()) == ([60, 61, 62], [1, 1, 1])
    assert copies.copy_of.tolist() == [pd.NA, 60, 60]
    assert copies.n_copies.tolist() == [2, 0, 0]
    assert set(copies.p) == {1 / 61}
    assert set(copies.score) == {first(ranked([*SEA, ODD]).table).score}


@pytest.mark.parametrize(
    ("detector", "settings"),
    [("llr", {"topics": 4}), ("knn-words", {"references": 100}), ("iforest", FOREST)],
)
def test_the_order_of_the_documents_changes_no_p(detector, settings):
    texts = [*texts_about("sea", 120, 0), *texts_about("law", 120, 1), *texts_about("sky", 120, 2), "12", "3"]
    order = np.random.default_rng(0).permutation(len(texts))
    shuffled = [texts[place] for place in order]
    numbers = ["row", "score", "p", "p_form", "p_both", "odd"]
    for by in ("words", "both"):
        options = {"settings": settings, "by": by, "keep_copies": True, "n_folds": 2}
        table, other = (odd_documents(each, detector, **options).table for each in (texts, shuffled))
        other = other.assign(row=order[other.row])
        assert (
            other[numbers]
            .sort_values("row")
            .reset_index(drop=True)
            .equals(table[numbers].sort_values("row").reset_index(drop=True))
        )


@pytest.mark.parametrize(
    ("detector", "settings"),
    [("llr", {"background": "uniform", "coherence": 0}), ("knn-words", {}), ("iforest", FOREST)],
)
def test_a_model_is_the_same_with_and_without_copies(detector, settings):
    once, thrice = (fit_model(texts, detector, settings=settings) for texts in (FLEET, FLEET * 3))
    assert thrice.calibration.tolist() == once.calibration.tolist()
    assert Scorer(thrice).score([ODD]).equals(Scorer(once).score([ODD]))
    assert (thrice.training.n_documents, thrice.training.options["n_copies"]) == (60, 120)


@pytest.mark.parametrize(
    ("detector", "settings", "has_words"),
    [("knn-words", {"k": 20}, True), ("pyod-knn", {"encoder": "svd", "n_neighbors": 20}, False)],
)
def test_other_detectors_find_them_too(detector, settings, has_words):
    law = texts_about("law", 5, 0)  # so that those without one of them know its words
    result = odd_documents([*SEA, *law], detector, settings=settings)
    assert set(result.table.row[:5]) == {60, 61, 62, 63, 64}
    listed = first(result.lists["words"])
    assert (bool(listed.words), bool(listed.why)) == (has_words, has_words)
    assert set(listed.why) <= {word for text in law for word in text.split()}


def test_a_language_without_word_vectors():
    german = [
        "Der Kessel verliert Wasser",
        "Die Heizung im Keller bleibt kalt",
        "Das Thermostat ist defekt",
    ] * 5
    german = [f"{text} {word}" for text, word in zip(german, texts_about("law", 15, 0), strict=True)]
    result = odd_documents(german, language="de")
    assert result.detector.startswith("ensemble:robust, without ")
    assert odd_documents(german, language="quy").detector == result.detector


def test_a_setting_of_the_user_wins_and_is_named(home):
    settings = "(background=uniform, cap=null, capped=0, coherence=0)"
    assert ranked(SEA).detector.startswith(f"llr:robust{settings}, without ")
    with pytest.raises(UnknownNameError, match=r"llr .*'cup'"):
        odd_documents(SEA, "llr", settings={"cup": 3})
    with pytest.raises(UnknownNameError, match=r"ensemble .*'strong'"):
        odd_documents(SEA, preset="strong")
    with pytest.raises(InvalidValueError, match=r"ocsvm:paper-grid .*16"):
        odd_documents(SEA, "ocsvm", preset="paper-grid")


def test_a_model_sets_no_document_aside_and_a_ranking_does(home, monkeypatch):
    fitted, fit = [], LLR.fit
    monkeypatch.setattr(LLR, "fit", lambda self, *texts: fitted.append(self) or fit(self, *texts))
    assert fit_model(SEA).detector.kept_ is None
    ranked([*SEA, ODD])
    assert not fitted[-1].kept_.all()


@pytest.mark.parametrize("texts", [[ODD], [ODD, ODD.lower()], [ODD, "", "..."]])
def test_a_single_document_cannot_be_ranked(texts):
    with pytest.raises(InvalidValueError, match=r"2 .*got 1"):
        odd_documents(texts)


def test_word_pieces_give_their_word_the_highest_score():
    scored = [TokenScore("an", 0, 2, 1.0), TokenScore("chor", 2, 6, 3.0), TokenScore("sail", 7, 11, -1.0)]
    text = "The Anchor, 2 sail"
    words = original_words(text, Cleaner().spans(text), scored)
    assert words == [TokenScore("Anchor", 4, 10, 3.0), TokenScore("sail", 14, 18, -1.0)]


def test_a_word_is_odd_above_zero_or_above_the_median():
    def words(*scores):
        return [TokenScore(f"W{i}", 0, 1, score) for i, score in enumerate(scores)]

    assert centre([words(-1.0), words(2.0)]) == 0
    assert centre([words(0.1, 0.2), words(0.9)]) == pytest.approx(0.2)
    assert centre([]) == 0
    assert odd_words(words(-1.0, 2.0, 3.0, 1.0), 0, 2) == ["w2", "w1"]
    assert odd_words(words(-1.0, 2.0, 3.0, 1.0), 2, 2) == ["w2"]


def test_a_preset_may_come_with_the_name_of_the_detector():
    texts = texts_about("sea", 20, 0)
    assert (
        ranked(texts, detector="llr:robust").detector
        == "llr:robust(background=uniform, cap=null, capped=0, coherence=0)"
    )
    with pytest.raises(UnknownNameError, match=r"llr .*'robusst'"):
        odd_documents(texts, "llr:robusst")


def test_form_gives_an_order_and_a_p_of_its_own():
    result = ranked([*SEA, ODD, SEA[3].upper(), "12 34 56", "!? !? !?", "", "12 34 56"], alpha=0.03)
    table, by_form = result.table, result.lists["form"]
    assert table.row[table["rank"].isna()].tolist() == [64]
    assert (odd_rows(result.lists["words"]), first(result.lists["words"]).p) == ([60], pytest.approx(1 / 61))
    assert (table.p_form.count(), (table.p_form.notna() & table.copy_of.isna()).sum()) == (65, 63)
    assert set(by_form.row[:3]) == {60, 62, 63}
    assert by_form["rank"].tolist() == list(range(1, 11))
    assert (by_form.odd == (by_form.p_form <= 0.03)).all()
    digits = of_row(by_form, 62)
    assert (np.isnan(digits.score), np.isnan(digits.p), digits.n_copies) == (True, True, 1)
    assert digits.why_form[0].startswith("75 % digits")
    assert (digits.words, digits.why) == ([], [])
    assert of_row(table, 62).why_form == digits.why_form
    of_words = ["copy_of", "n_copies"]  # copies in the table have the same words
    again = in_order(in_order(table, "form", 0.03), "both", 0.03)
    assert table.drop(columns=of_words).equals(again.drop(columns=of_words))


def test_listed_documents_are_the_first_of_all_ranked_ones():
    table = ranked([*SEA, ODD, SEA[3].upper(), "12 34 56", "!? !? !?", "", "12 34 56"], alpha=0.03).table
    for by in ("words", "form", "both"):
        for rule in (ListRule(by, 0.03, 5, None), ListRule(by, 0.03, 70, 0)):
            listed = in_order(table, by, 0.03, rule)
            assert listed.equals(rule.listed(in_order(table, by, 0.03)))
            assert len(listed) in (5, 60, 61, 63)


def test_without_the_detector_form_there_are_words_only(monkeypatch):
    plugins = registry.plugins
    without = lambda kind: {name: each for name, each in plugins(kind).items() if name != "form"}  # noqa: E731
    monkeypatch.setattr(registry, "plugins", without)
    result = ranked([*SEA, ODD])
    assert list(result.lists) == ["words"]
    assert (first(result.table).row, result.table.p_form.count()) == (60, 0)
    assert fit_model(SEA, "llr", settings={"background": "uniform", "coherence": 0}).form is None
    with pytest.raises(UnknownNameError, match=r"detector .*'form'"):
        ranked([*SEA, ODD], by="form")


def test_both_is_the_rank_of_the_joined_p_values():
    both = ranked([*SEA, ODD, "12 34 56"], by="both")
    scores = 1 / both.table.p.fillna(1.0) + 0.5 / both.table.p_form
    assert scores.is_monotonic_decreasing
    assert both.table.p_both[:2].tolist() == [1 / 62, 2 / 62]
    listed = both.lists["both"]
    assert of_row(listed, 60).why == first(ranked([*SEA, ODD]).table).why
    assert (of_row(listed, 61).words, of_row(listed, 61).why) == ([], [])
    assert of_row(listed, 61).why_form[0].startswith("75 % digits")


def test_form_is_not_looked_at_unless_asked_for(monkeypatch):
    monkeypatch.setattr(registry.detector("form"), "_fit", None)
    result = ranked([*SEA, ODD], by="words")
    assert (list(result.lists), result.table[["p_form", "p_both"]].count().sum()) == (["words"], 0)
    with pytest.raises(UnknownNameError, match="'size'"):
        ranked(SEA, by="size")


def test_a_detector_of_raw_texts_ranks_them_as_they_were_written():
    result = odd_documents([*SEA, "Ship, ship!", "SHIP SHIP", "12 34 56"], "form")
    assert (list(result.lists), result.table.p.count(), result.table.copy_of.count()) == (["words"], 63, 0)
    assert first(result.table).row == 62
    assert first(result.table).why[0].startswith("75 % digits")
    with pytest.raises(InvalidValueError, match=r"'form'.*--by"):
        odd_documents(SEA, "form", by="form")


@pytest.mark.parametrize(("n_words", "order"), [(8, "words"), (9, "both")])
def test_a_model_of_short_queries_calls_documents_odd_by_words(n_words, order):
    queries = [" ".join((text.split() * n_words)[:n_words]) for text in FLEET]
    model = fit_model(queries, "llr", settings={"background": "uniform", "coherence": 0})
    assert Scorer(model).by == order
    assert Scorer(model, by="form").by == "form"  # who asks for an order gets it


def test_a_query_without_words_is_as_odd_as_it_is_rare():
    ordinary = [*FLEET[:30], *(f"{n} ..." for n in range(20))]  # two of five have no words
    few, many = (
        fit_model(texts, "llr", settings={"background": "uniform", "coherence": 0})
        for texts in (FLEET, ordinary)
    )
    rare, common = (Scorer(model, 0.05).score(["??", "", "Hy"]) for model in (few, many))
    assert rare["p"].tolist()[0] == 1 / (1 + len(FLEET))
    assert common["p"].tolist()[0] == 21 / 51
    assert np.isnan(rare["p"][1])
    assert rare["odd"].tolist()[:2] == [True, False]
    assert not common["odd"][0]
    assert Scorer(many, 0.05).score(["3 ..."])["p"].tolist() == [1]  # the model knows it


def test_a_model_calls_documents_odd_by_both_unless_asked_for_one():
    model = fit_model([*FLEET, "12 ..."], "llr", settings={"background": "uniform", "coherence": 0})
    assert {by: len(scores) for by, scores in model.calibrations.items()} == {
        "words": 60,
        "form": 61,
        "both": 61,
    }
    texts = [FLEET[0], ODD, "98 765 432 10", " "]
    by_words, by_form, both = (Scorer(model, 0.04, by) for by in ("words", "form", None))
    assert by_words.score(texts).odd.tolist() == [False, True, True, False]
    assert by_words.score(texts).p_form.isna().all()
    table = both.score(texts)
    result = [*table.itertuples()]
    assert (table.odd == (table.p_both <= 0.04)).all()
    assert result[1].odd
    assert set(result[1].why) == {"judge", "courts", "heard", "witness"}
    assert result[1].why_form != []
    assert (result[2].p, result[2].p_form) == (pytest.approx(2 / 62), pytest.approx(2 / 62))
    assert both.score(texts).why[2] == (["no words"] if result[2].odd else [])
    assert by_words.score(texts).why[2] == ["no words"]
    assert by_form.score(texts).odd[2]
    assert by_form.score(texts).why_form[2][0].startswith("77 % digits")
    assert (result[3].odd, result[3].why, result[3].why_form) == (False, [], [])
    assert table.loc[3, ["score", "p", "p_form", "p_both"]].isna().all()


def test_a_model_of_form_alone_looks_at_no_words():
    model = fit_model(FLEET, "form")
    assert model.form is None
    result = first(Scorer(model, 0.02).score(["12 34 56"]))
    assert (result.odd, np.isnan(result.p_form)) == (True, True)
    assert result.why[0].startswith("75 % digits")
    with pytest.raises(InvalidValueError, match=r"'both'.*--by"):
        Scorer(model, by="both")


def cooking(n, seed=0):
    """Documents that share few words."""
    rng = np.random.default_rng(seed)
    words = [f"{a}{b}{c}u" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]
    return [" ".join(words[i] for i in rng.zipf(1.3, 15) % len(words)) for _ in range(n)]


@pytest.mark.parametrize("detector", ["llr", "ensemble", "knn-words", "form"])
def test_documents_outside_the_sample_are_scored_by_what_was_learned_from_it(detector, monkeypatch):
    texts, learned = [*cooking(300), ODD], []
    noted = lambda *given: learned.append(left_out(*given)) or learned[-1]  # noqa: E731
    monkeypatch.setattr(detector_pair, "left_out", noted)
    by = None if detector == "form" else "words"
    result = odd_documents(texts, detector, sample=100, alpha=0.05, by=by)
    assert result.n_learned < 101
    of_words = learned[-1]  # after that of form
    cleaner = Cleaner(None if detector == "form" else "en")
    cleaned = {text: cleaner(text) for text in texts}
    different = result.table[result.table.copy_of.isna()].sort_values("row")
    own = dict(zip(of_words._texts, of_words.scores, strict=True))
    rest = different[[cleaned[texts[row]] not in own for row in different.row]]
    assert len(rest) > 150
    expected = of_words.detector.decision_function([cleaned[texts[row]] for row in rest.row])
    np.testing.assert_array_equal(rest.score, expected)
    in_sample = different[~different.row.isin(rest.row)]
    assert in_sample.score.tolist() == [own[cleaned[texts[row]]] for row in in_sample.row]
    assert different.p.tolist() == p_values_within(different.score.to_numpy()).tolist()
    if detector in ("llr", "ensemble"):  # a form may be odd without a single fact that is
        assert all(result.table.why[result.table.odd])


@pytest.mark.parametrize("detector", ["llr", "ensemble", "pyod-knn"])
def test_documents_of_a_file_are_ranked_as_those_in_memory(detector):
    texts = ["", *cooking(200), "12 34 56 78 90", ODD, ODD]
    settings = {"encoder": "svd", "n_neighbors": 5} if detector == "pyod-knn" else {}
    for by in (None, "form", "both"):
        in_memory, of_file = (
            odd_documents(each, detector, settings=settings, sample=150, by=by)
            for each in (texts, lambda: iter(texts))
        )
        assert in_memory.table.equals(of_file.table)
        for order, listed in in_memory.lists.items():
            assert listed.equals(of_file.lists[order])
        assert set(in_memory.table.row[in_memory.table.p.isna()]) == {0, 201}


def test_the_documents_of_a_family_share_the_score_of_one(home):
    spam = (
        "claim your guaranteed cash prize today by calling our free number {} before midnight or send the "
        "word winner to the lottery office, terms and conditions apply, operator charges may vary"
    )
    texts = [*cooking(100), *(spam.format(name) for name in ("anna", "berta", "carla", "dora"))]
    result = odd_documents(texts, "knn-words", by="words")
    table = result.table
    assert (result.n_near_copies, table.copy_of.count(), table.copy_of.isna().sum()) == (3, 3, 101)
    family = first(result.families)
    assert (len(result.families), family.n_copies, family.text) == (1, 3, texts[family.row])
    original, copies = of_row(table, family.row), table[table.copy_of == family.row]
    assert original.copy_of is pd.NA
    assert len(copies[["rank", "score", "p"]].drop_duplicates()) == 1
    assert first(copies)[2:4] == original[2:4]
    assert {family.row, *copies.row} == {100, 101, 102, 103}
    kept = odd_documents(texts, "knn-words", by="words", keep_copies=True)
    assert (kept.n_near_copies, kept.table.copy_of.count(), len(kept.families)) == (0, 0, 0)


def test_families_are_in_the_order_of_all_their_copies():
    """Also of those that are equal, which are no near-copies."""
    letter = (
        "the {} with the broken heating wrote once more to ask why nobody from our office came down to that "
        "cellar although three engineers were called last monday, and wants half the rent of january returned"
    )
    other = "claim your guaranteed cash prize by calling our free number {} today before the midnight lottery"
    near = [letter.format(name) for name in ("tenant", "neighbour", "lodger", "guest")]
    equal = [other.format("tonight"), *5 * [other.format("quickly")]]
    families = odd_documents([*cooking(100), *near, *equal], "knn-words", by="words").families
    assert families["n_copies"].tolist() == [5, 3]


def test_what_a_function_yields_is_read_once(monkeypatch):
    texts = [*cooking(200), ODD, "lone \ud800 surrogate"]
    monkeypatch.setattr(reading, "MOST_ROWS", 50)
    reads = iter([texts])
    options = {"sample": 50, "settings": {"coherence": 0}}
    found = odd_documents(lambda: iter(next(reads)), "llr", **options)
    pd.testing.assert_frame_equal(found.table, odd_documents(texts, "llr", **options).table)


def test_scores_of_a_batch_need_all_documents():
    with pytest.raises(InvalidValueError, match=r"pyod-ecod.* sample=\d+ \(--sample\) .*, got 50\."):
        odd_documents(cooking(100), "pyod-ecod", sample=50, settings={"encoder": "svd"})


@pytest.mark.parametrize("keep_copies", [False, True])
def test_the_size_that_is_advised_is_enough(keep_copies):
    texts = cooking(40)
    texts += [f"{text} and more" for text in texts[:9]] + [f"{text} ." for text in texts[:20]]  # near-copies
    options = {"settings": {"encoder": "svd"}, "keep_copies": keep_copies}
    with pytest.raises(InvalidValueError, match=r"sample=\d+ ") as error:
        odd_documents(texts, "pyod-ecod", sample=5, **options)
    advised = int(re.search(r"sample=(\d+)", str(error.value))[1])
    assert odd_documents(texts, "pyod-ecod", sample=advised, **options).n_learned
    with pytest.raises(InvalidValueError, match=f"sample={advised} "):
        odd_documents(texts, "pyod-ecod", sample=advised - 1, **options)


def test_a_model_learns_from_a_sample():
    texts = [*cooking(300), "12 34"]
    model = fit_model(texts, "llr", settings={"coherence": 0}, sample=100)
    assert len(model.calibration) == model.training.n_documents < 101
    assert model.training.options["n_documents"] == 301
    assert fit_model(texts, "llr", settings={"coherence": 0}).training.n_documents == 300


def test_a_detector_has_one_preset():
    with pytest.raises(InvalidValueError, match=r"'llr:robust' .*preset"):
        odd_documents(SEA, "llr:robust", preset="topics")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("alpha", [0, 1, -0.1, "x"]),
        ("sample", [1, 0, "x"]),
        ("jobs", [0, -1, 1.5, None]),  # a text is an address
    ],
)
def test_a_number_out_of_its_range_is_refused(name, values):
    for value in values:
        for call in (odd_documents, fit_model) if name == "jobs" else (odd_documents,):
            with pytest.raises(InvalidValueError, match=f"{name} .*{value!r}"):
                call(SEA, **{name: value})


BROKEN = ["half \ud83d of a smile", "caf\udce9 au lait", "nul \0 byte"]


@pytest.mark.parametrize("as_function", [False, True])
def test_lone_surrogates_in_python_are_replaced(as_function):
    texts = [*SEA, *BROKEN]
    given = (lambda: iter(texts)) if as_function else texts
    result = ranked(given, marks={len(SEA): "odd", 0: "fine"}, by="both")
    assert len(result.table) == len(texts)
    assert "caf\ufffd au lait" in result.lists["both"]["text"].tolist()
    model = fit_model(given, "llr")
    assert Scorer(model).score(BROKEN)["p"].tolist() == [1.0] * 3
    assert Scorer(model).score(["half \ufffd of a smile"])["p_form"].tolist() == [1.0]  # the same text


def test_auto_is_the_language_of_most_documents():
    german = [
        f"die Heizung im Keller Nummer {n} verliert seit gestern Wasser" for n in ("eins", "zwei", "drei")
    ]
    texts = [*german, "the heating in the cellar is cold", "12:40 17.5"]
    found = odd_documents(texts, "llr", language="auto", keep_copies=True)
    assert (found.language, found.languages, found.other_language) == ("de", {"de": 0.75}, None)
    of_row = found.table.set_index("row")["language"]
    assert [of_row[row] for row in range(4)] == ["de", "de", "de", "en"]
    assert of_row.isna().tolist() == [row == 4 for row in of_row.index]
    given = odd_documents(texts, "llr", language="de", keep_copies=True)
    pd.testing.assert_frame_equal(given.table, found.table.drop(columns="language"))
    assert (given.language, given.languages) == ("de", {})
    assert odd_documents(iter_again(texts), "llr", language="auto", keep_copies=True).language == "de"


def iter_again(texts):
    return lambda: iter(texts)


PAYMENTS = [f"Payment of {20 + n}.50 EUR to account 38{n:04} was booked" for n in range(30)]
LARGE = "Payment of 98000000000000.00 EUR to account 0 was booked"


def test_texts_that_differ_in_digits_are_no_duplicates():
    texts = [*PAYMENTS, LARGE, *cooking(30), PAYMENTS[3], f" {PAYMENTS[4]}"]
    result = odd_documents(texts)
    assert (result.n_duplicates, result.n_same_words) == (2, 30)
    table = result.table
    assert table[table.row < 31].copy_of.dropna().tolist() == [0] * 30
    assert len(set(table[table.row < 31].p_form)) == 1  # one is ranked for all


@pytest.mark.parametrize("by", [None, "form", "both"])
@pytest.mark.parametrize("sample", [100, 20])
def test_kept_copies_have_a_form_of_their_own_if_they_differ_as_written(by, sample):
    texts = [*PAYMENTS, LARGE, *cooking(30), PAYMENTS[3], f" {PAYMENTS[4]}"]
    result = odd_documents(texts, by=by, keep_copies=True, sample=sample)
    assert (result.n_duplicates, result.n_same_words) == (2, 30)
    table = result.table.set_index("row")
    p, p_both = table.p_form, table.p_both
    payments = [*range(30)]
    assert len(set(table.p[[*payments, 30]])) == 1
    if sample == 100:
        assert p[30] < p[payments].min()
        assert p_both[30] < p_both[payments].min()
    for copy, original in ((61, 3), (62, 4)):
        assert (p[copy], p_both[copy]) == (p[original], p_both[original])
        assert table.form_representative[copy] == original
    order = by or "form"
    listed = odd_documents(texts, by=by, keep_copies=True, sample=sample, top=100).lists[order]
    assert sorted(listed.row) == [*range(61)]
    if by is None:
        words = odd_documents(texts, keep_copies=True, sample=sample, top=100).lists["words"]
        assert sorted(words.row) == [0, *range(31, 61)]
    assert table.copy_of.dropna().tolist() == [0] * 32  # marks count for all of them
    reasons = odd_documents(texts, by=by, keep_copies=True, sample=sample, top=100).table
    assert all(of_row(reasons, 30).why_form) or sample < 100


def test_kept_copies_by_their_words_alone_are_ranked_as_without_form():
    texts = [*PAYMENTS, LARGE, *cooking(30)]
    alone, beside = (odd_documents(texts, by=by, keep_copies=True).lists["words"] for by in ("words", None))
    assert alone[["row", "rank", "score", "p"]].equals(beside[["row", "rank", "score", "p"]])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "at least one document"),
        (["a b c", None], "NoneType at position 1"),
        (["a b c", b"d"], "bytes at position 1"),
        ("a b c", "one bare string"),
        ({"a b c": 1}, "got a dict"),
    ],
)
def test_a_function_and_a_list_of_wrong_texts_are_refused_alike(texts, message):
    for given in (texts, lambda: texts):
        with pytest.raises(InvalidValueError, match=message):
            odd_documents(given, "llr")
