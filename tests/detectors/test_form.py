"""The facts of documents, the distances between them, and what a reader is shown."""

import random

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from adbench_text.contract.scores import FROM_SCRATCH, WORDS
from adbench_text.detectors import form
from adbench_text.detectors.form import facts
from adbench_text.detectors.form.precise import Precise
from adbench_text.documents.models.folder import load_model as load
from adbench_text.documents.models.folder import save_model as save
from adbench_text.documents.models.model import Model, TrainingFacts
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry

Form = registry.detector("form")

THINGS = "ship crew harbour storm captain island letter morning friend story window winter".split()
DONE = "left found wrote watched remembered crossed carried opened waited for spoke about".split()


def sentences(n, seed):
    """Documents of two or three plain sentences."""
    rng = random.Random(seed)
    one = lambda: f"The {rng.choice(THINGS)} {rng.choice(DONE)} the {rng.choice(THINGS)}"  # noqa: E731
    return [
        f"{one()}, and {one().lower()}. {one()}{rng.choice('..!')}"
        + (f" {one()}." if rng.random() < 0.5 else "")
        for _ in range(n)
    ]


TRAIN = sentences(150, seed=0)
GERMAN = "Der Rat der Stadt hat gestern beschlossen, dass die Schule im Winter neu gebaut wird."


def scrambled(text):
    return " ".join("".join(random.Random(1).sample(word, len(word))) for word in text.split())


PLANTED = {
    "upper case": str.upper,
    "scrambled": scrambled,
    "two words": lambda text: " ".join(text.split()[:2]),
    "four times": lambda text: " ".join([text] * 4),
    "numbers": lambda text: " ".join(str(len(word) ** 5) for word in text.split()),
    "HTML": lambda text: "".join(f"<p><b>{word}</b></p>" for word in text.split()),
    "German": lambda text: GERMAN,
    "program": lambda text: "for i in range(n):\n    x[i] += y[i] * 2\nreturn self._x",
    "spam": lambda text: "WINNER!! Claim your £1000 prize now at www.win.biz, code KL341, 12 hours only!!!",
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_planted_oddities_are_found_among_the_documents(plant):
    odd = [plant(text) for text in sentences(3, seed=1)]
    scores = Form(random_state=0).fit([*TRAIN, *odd]).decision_scores_
    assert roc_auc_score(np.arange(len(scores)) >= len(TRAIN), scores) > 0.97


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_planted_oddities_are_found_among_new_documents(plant):
    new = sentences(40, seed=2)
    scores = Form().fit(TRAIN).decision_function([*new, plant(new[0])])
    assert scores[-1] > scores[:-1].max()


def number_of(text, language="en"):
    [row] = facts.numbers([text], language)
    return dict(zip(facts.FACTS, row.tolist(), strict=True))


def test_numbers_of_each_kind():
    counted = number_of("Hi, Bob! See http://x.org\n(7 é's) <b>")
    del counted["unknown"], counted["surprise"]
    assert counted == {
        "characters": 37,
        "words": 10,
        "letters": 19,
        "different": 10,
        "longest": 4,
        "digits": 1,
        "upper": 3,
        "points": 3,
        "calls": 1,
        "marks": 3,
        "symbols": 4,
        "non_ascii": 1,
        "lines": 1,
        "links": 1,
    }
    assert number_of("see a@b.de or www.x.org, https://www.y.org")["links"] == 3
    assert number_of("the zzqxv and the qqvvx 99")["unknown"] == 2


def test_numbers_do_not_depend_on_the_block(monkeypatch):
    texts = ["", "\ud800", "one", *TRAIN[:10], "ship " * 50, "船が港に", ""]
    expected = facts.numbers(texts, "en")
    monkeypatch.setattr(facts, "_MOST_CHARACTERS", 30)
    np.testing.assert_array_equal(facts.numbers(texts, "en"), expected)


def mahalanobis(point, others, n):
    """The distance of a document from others, by inverting the scatter of the others."""
    centred = others - others.mean(axis=0)
    scatter = centred.T @ centred + form._RIDGE * n * np.eye(others.shape[1])
    away = point - others.mean(axis=0)
    return np.sqrt(len(others) * away @ np.linalg.inv(scatter) @ away)


def mean_distance(point, others, k):
    return np.sort(np.linalg.norm(others - point, axis=1))[:k].mean()


def standard_of_training(detector):
    surprise, _ = detector._spelling.surprise(TRAIN, leave_out=True)
    return detector._standard(facts.logarithms(detector._counted(TRAIN, form._highest(surprise))))


@pytest.mark.parametrize("k", [1, 20, 500])
def test_distances_of_training_documents_are_those_of_a_fit_without_them(monkeypatch, k):
    monkeypatch.setattr(form, "_NEIGHBOURS", k)
    detector = Form().fit(TRAIN)
    points, n = standard_of_training(detector), len(TRAIN)
    rows = np.arange(n)
    expected = [mahalanobis(points[row], points[rows != row], n) for row in rows]
    found, nearest = detector._left_out(points, np.arange(n))
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(
        nearest, [mean_distance(points[row], points[rows != row], k) for row in rows], atol=1e-6
    )


def test_references_that_are_a_sample_leave_out_the_document_itself(monkeypatch):
    monkeypatch.setattr(form, "_MOST_REFERENCES", 50)
    monkeypatch.setattr(form, "_NEIGHBOURS", 5)
    detector = Form(random_state=3).fit(TRAIN)
    points = standard_of_training(detector)
    drawn = np.random.default_rng(3).permutation(len(TRAIN))[:50]
    np.testing.assert_array_equal(detector._references, points[drawn])
    _, nearest = detector._left_out(points, drawn)
    expected = [mean_distance(point, points[drawn[drawn != row]], 5) for row, point in enumerate(points)]
    np.testing.assert_allclose(nearest, expected, atol=1e-6)


@pytest.mark.parametrize("values", [1, 2, 5, 1000])
@pytest.mark.parametrize("n", [1, 2, 3, 9, 50])
def test_a_distance_that_is_left_out_has_no_part_in_its_scale(n, values):
    distances = np.random.default_rng(n).integers(0, values, n) / 3
    others = [np.delete(distances, place) for place in range(n)] if n > 1 else [distances]
    expected = [
        form._Scale.fit(of).quantiles(one)[0] for of, one in zip(others, distances[:, None], strict=True)
    ]
    np.testing.assert_allclose(form._quantiles_left_out(distances), expected, atol=1e-12)


SHORT, LONG = (
    "the sea was calm and we had a good day on it".split(),
    "harbour captain storms letters morning".split(),
)


def reports(n, share, seed):
    """Documents of about 200 words, of which about this share is long; all other facts vary, too."""
    rng, found = np.random.default_rng(seed), list[str]()
    for of_text in rng.normal(share, 0.03, n):
        named, pause = np.clip(rng.normal([0.1, 0.1], 0.05), 0.02, 1)
        written = list[str]()
        for is_long, is_name, is_end in rng.random((200, 3)) < [of_text, named, pause]:
            word = str(rng.choice(LONG if is_long else SHORT))
            written.append((word.capitalize() if is_name else word) + (", " if is_end else " "))
        rare = rng.poisson(rng.lognormal([1.0, -1.0, -1.0, 1.0, -1.0]))
        for mark, times in zip(("1995 ", "! ", "% ", '" ', "é "), rare, strict=True):
            for place in rng.integers(0, 200, times):
                written[place] += mark
        found.append("".join(written).strip())
    return found


def test_words_that_are_a_little_longer_in_a_whole_document_are_seen_among_alike_documents():
    train, test = reports(100, 0.4, seed=0), reports(50, 0.4, seed=1) + reports(50, 0.55, seed=2)
    detector, is_odd = Form(random_state=0).fit(train), np.arange(100) >= 50
    assert detector._precise.times == 1
    assert roc_auc_score(is_odd, detector.decision_function(test)) > 0.85
    assert any("letters per word" in reason for reason in detector.reasons(test[-1:])[0])
    detector._precise = Precise.none()
    assert roc_auc_score(is_odd, detector.decision_function(test)) < 0.8


def test_precise_distances_of_training_documents_are_those_of_a_fit_without_them():
    counted = facts.numbers(reports(20, 0.4, seed=0), "en")
    logs = facts.logarithms(counted)
    precise = Precise.fit(counted, logs)
    expected = [
        precise._replace(mean=others.mean(axis=0), variance=others.var(axis=0)).distances(logs[[row]])[0]
        for row in range(20)
        for others in [np.delete(logs, row, axis=0)]
    ]
    np.testing.assert_allclose(precise.left_out(logs), expected)


@pytest.mark.parametrize(
    "texts",
    [
        sentences(100, seed=5),
        [f"2005-06-{n % 30:02} R02-M1-N{n % 7} RAS KERNEL INFO parity error corrected" for n in range(100)],
        ["the same words"] * 50,
        ["one"],
    ],
    ids=["short", "log", "copies", "one"],
)
def test_precise_facts_do_not_count_without_enough_that_tells_documents_apart(texts):
    detector = Form().fit(texts)
    assert detector._precise.times == 0
    with_none = Form().fit(texts)
    with_none._precise = Precise.none()
    new = [*sentences(3, seed=6), "", "0041"]
    np.testing.assert_array_equal(detector.decision_function(new), with_none.decision_function(new))


def test_a_detector_of_an_older_version_scores_without_precise_facts():
    fitted = Form().fit(TRAIN)
    learned = {name: value for name, value in fitted.learned().items() if "precise" not in name}
    fitted._precise = Precise.none()
    restored, new = Form().restore(learned), [*sentences(3, seed=6), "0041"]
    np.testing.assert_array_equal(restored.decision_function(new), fitted.decision_function(new))
    assert restored.reasons(new) == fitted.reasons(new)


def test_few_new_documents_score_higher_than_all_others():
    texts, shares = sentences(3000, seed=5), []
    for begin in range(0, 2400, 30):
        detector = Form().fit(texts[begin : begin + 5])
        shares.append(np.mean(detector.decision_function(texts[-300:]) > detector.decision_scores_.max()))
    assert np.mean(shares) < 1.25 / 6


def test_very_odd_documents_are_ranked_among_each_other():
    texts = [TRAIN[0] + " 7" * n for n in (50, 100, 200, 400, 800)]
    detector = Form().fit(TRAIN)
    scores = detector.decision_function(texts)
    assert (np.diff(scores) > 0).all()
    assert scores[0] > detector.decision_scores_.max()


def test_reasons_are_facts_that_a_reader_understands():
    detector = Form().fit(TRAIN)
    plain, digits, loud = detector.reasons([TRAIN[0], "0041 1234 555", TRAIN[0].upper()])
    assert len(plain) <= 4
    assert digits[0] == "85 % digits (others 0 %)"
    assert loud[0].endswith(" % upper-case letters (others 2 %)")
    with_digits = Form().fit([*TRAIN, "0041 1234 555"])
    assert with_digits.reasons(["0041 1234 555"])[0][0] == digits[0]


def test_a_fact_that_is_written_as_that_of_others_is_no_reason():
    assert facts.format_fact("digits", 0.4101, 0.0149) == "41 % digits (others 1 %)"
    assert facts.format_fact("digits", 0.0102, 0.0149) == ""
    assert facts.format_fact("characters", 1204.0, 60.0) == "1,204 characters (others 60)"
    assert facts.format_fact("letters", 1.04, 4.5) == "1.0 letters per word (others 4.5)"
    assert facts.format_fact("unknown", 0.0, 0.12) == "no unknown words (others 12 %)"
    assert facts.format_fact("lines", 0.0, 3.0) == "no line ends (others 3)"
    assert facts.format_fact("longest", 0.0, 7.0) == "longest word of 0 characters (others 7)"


def test_a_fact_of_one_is_singular():
    assert facts.format_fact("characters", 1.0, 26.0) == "1 character (others 26)"
    assert facts.format_fact("words", 1.0, 26.0) == "1 word (others 26)"
    assert facts.format_fact("words", 2.0, 1.0) == "2 words (others 1)"
    assert facts.format_fact("longest", 1.0, 7.0) == "longest word of 1 character (others 7)"
    assert facts.format_fact("lines", 1.0, 26.0) == "line ends: 1 (others 26)"


OTHERS = {
    "de": GERMAN.replace(",", "").split(),
    "hi": "आज हम स्कूल जाते हैं और किताब पढ़ते हैं कल घर पर खाना खाते हैं".split(),
    "zh": list("我们今天去学校看书明天回家吃饭然后睡觉天气很好"),
    "sw": "leo sisi tunaenda shule kusoma vitabu kesho nyumbani".split(),
}


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_work_with_and_without_case_or_a_list_of_words(language):
    rng = random.Random(0)
    texts = ["".join(rng.choices(OTHERS[language], k=12)) + "." for _ in range(60)]
    if language != "zh":
        texts = [" ".join(rng.choices(OTHERS[language], k=rng.randrange(8, 12))) + "." for _ in range(60)]
    _, settings = Form.for_documents(language, {})
    detector = Form(**settings).fit(texts[:50])
    scores = detector.decision_function([*texts[50:], "x = [1, 2]", texts[0] * 4])
    assert scores[-2:].min() > scores[:-2].max()
    has_case, has_list = language == "de", language != "sw"
    off = [name for name, column in facts.COLUMN.items() if not detector._unit[column]]
    assert off == ["upper"] * (not has_case) + ["unknown"] * (not has_list)
    assert detector.regime == (WORDS if has_list else FROM_SCRATCH)
    assert set(detector.resources()) == ({"wordfreq"} if has_list else set())


@pytest.mark.parametrize("language", ["german", "", 7, None])
def test_a_language_is_given_by_its_code(language):
    with pytest.raises(InvalidValueError, match=f"language .*got {language!r}"):
        Form(language=language).check_params()


def test_a_loaded_detector_has_the_same_scores_and_reasons_and_no_text(tmp_path):
    fitted = Form(random_state=0).fit(TRAIN)
    calibration = np.sort(fitted.decision_scores_)
    save(
        Model(fitted, "form", {"words": calibration}, "leave-one-out", TrainingFacts.of(TRAIN, "sea")),
        tmp_path / "m",
    )
    loaded = load(tmp_path / "m").detector
    new = [*sentences(5, seed=4), "0041 1234", GERMAN, ""]
    np.testing.assert_array_equal(loaded.decision_function(new), fitted.decision_function(new))
    assert loaded.reasons(new) == fitted.reasons(new)
    saved = b"".join(path.read_bytes() for path in (tmp_path / "m").rglob("*") if path.is_file())
    assert not [word for word in THINGS if word.encode() in saved]


def test_a_single_training_document_is_enough():
    assert np.isfinite(Form().fit(["one"]).decision_function(["two", "3 4 5"])).all()


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[32mINFO\x1b[0m The crew left.",
        "INFO \x1b]8;;https://example.org\x1b\\The crew\x1b]8;;\x1b\\ left.",
        "\x1b[1;31mINFO\x1b[m The \x1b(Bcrew left.\x1b[K",
    ],
)
def test_colours_of_a_terminal_have_no_form(text):
    plain = "INFO The crew left."
    assert facts.numbers([text], "en").tolist() == facts.numbers([plain], "en").tolist()
    detector = Form().fit([*TRAIN[:50], plain])
    assert detector.decision_function([text]) == detector.decision_function([plain])
    assert detector.reasons([text]) == detector.reasons([plain])
    of_words = detector.token_scores([text])[0]
    assert [text[word.start : word.end] for word in of_words] == ["INFO", "The", "crew", "left"]
    assert [word.score for word in of_words] == [word.score for word in detector.token_scores([plain])[0]]


@pytest.mark.parametrize(
    ("language", "written", "listed"),
    [
        ("tr", "ISITMA SARI IRMAK", "\u0131s\u0131tma sar\u0131 \u0131rmak"),
        ("ro", "\u015ecoal\u0103 \u015fi", "\u0219coal\u0103 \u0219i"),
        ("ar", "\u0643\u064e\u0644\u0650\u0645\u064e\u0629", "\u0643\u0644\u0645\u0629"),
        ("de", "Stra\u00dfe gro\u00df", "strasse gross"),
        ("fr", "e\u0301cole ide\u0301e", "\u00e9cole id\u00e9e"),
    ],
)
def test_words_are_known_in_the_letters_of_their_list(language, written, listed):
    names = [facts.COLUMN[name] for name in ("words", "unknown")]
    n_words = len(listed.split())
    for text in (written, listed):
        assert facts.numbers([text], language)[0, names].tolist() == [n_words, 0]
    detector = Form(language=language).fit([listed] * 3 + ["12 34"])
    surprises = [[word.score for word in words] for words in detector.token_scores([written, listed])]
    assert len(surprises[0]) == n_words
    assert surprises[0] == surprises[1]


def test_a_score_does_not_depend_on_the_other_documents():
    training = sentences(150, seed=0)
    detector = Form().fit(training)
    texts = [*training, *sentences(100, seed=1)]
    alone = [detector.decision_function([text])[0] for text in texts]
    np.testing.assert_allclose(detector.decision_function(texts), alone, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n", [5, 10, 12, 13, 20, 50, 100, 500])
def test_scores_among_equal_documents_are_no_rounding(n):
    equal, other = ["Ticket number 00001 was closed."] * n, "Ticket number 00001 was closed!"
    assert 1 < Form().fit([*equal, other]).decision_scores_[-1] < 100
    assert 1 < Form().fit([*equal, "Where is the blue paper?"] * 3).decision_function([other])[0] < 100
    two = Form().fit([equal[0], "Where is the blue paper?"] * n)
    assert 1 < two.decision_function([other])[0] < 100


def test_rounding_makes_no_document_of_a_template_odd():
    templates = ["the ship sails"] * 150 + ["a court heard 12 witnesses!"] * 150
    detector = Form().fit(templates)
    assert np.abs(detector.decision_scores_).max() < 0.1
    assert np.abs(detector.decision_function(templates)).max() < 0.1
