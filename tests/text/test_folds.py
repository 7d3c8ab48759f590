"""Words that a language spells in two ways are one word, and lead back to what was written."""

import unicodedata

import numpy as np
import pytest
from parameters import slow
from wordfreq import get_frequency_dict, top_n_list

from adbench_text.contract.cleaner import Cleaner
from adbench_text.contract.scores import TokenScore
from adbench_text.detectors.form import Form
from adbench_text.detectors.form.facts import COLUMN, numbers
from adbench_text.detectors.llr.background import frequencies, wordfreq
from adbench_text.documents.explanation import odd_words
from adbench_text.documents.ranking import odd_documents
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import presets
from adbench_text.text.cleaning import word_spans
from adbench_text.text.folds import folds_of
from adbench_text.text.languages import folded, frequent_words, languages, prepared, word_shares
from adbench_text.text.vectors import WordVectors

# by language, words in both spellings
ALIKE = [
    ("el", "κήπος ντομάτα παϊδάκια", "ΚΗΠΟΣ ΝΤΟΜΑΤΑ ΠΑΙΔΑΚΙΑ"),
    ("el", "κήπος ΰβος Ώρα", "κηπος υβος ωρα"),
    ("el", "τὸν ἄνθρωπον εἶδον", "τον άνθρωπον είδον"),  # polytonic
    ("ru", "ёлка зелёный за\u0301мок", "елка зеленый замок"),
    ("ru", "ЁЛКА", "елка"),
    ("uk", "м'ята здоров'я ґанок", "м\u2019ята здоров\u02bcя ганок"),
    ("uk", "м`ята", "м\u2018ята"),
    ("bg", "градината ѝ сама\u0301", "градината и сама"),
    ("mk", "градина ѐ ѝ", "градина е и"),
    ("sr", "đumbir Ђурђа", "djumbir djurdja"),
    ("hr", "vrȃt anđeo", "vrat andjeo"),
    ("vi", "hòa khỏe thúy tòa hủy lòe", "hoà khoẻ thuý toà huỷ loè"),
    ("vi", "HÒA", "HOÀ"),
    ("de", "Häuser Öl Straße Tür", "HAEUSER OEL STRASSE TUER"),
    ("de", "Stra\u1e9ee", "strasse"),
    ("da", "gård blåbær æble idé", "gaard blaabaer aeble ide"),
    ("nb", "gård blåbær øy", "GAARD BLÄBAER ÖY".replace("BLÄ", "BLAA")),
    ("sv", "smörgås räka", "smörgaas ræka"),
    ("fi", "šakki džonkki", "shakki dzhonkki"),
    ("nl", "coördinatie één scène", "coordinatie een scene"),
    ("nl", "ĳsberg", "ijsberg"),
    ("fr", "école œuvre ÇA paraître élève", "ECOLE OEUVRE CA PARAITRE ELEVE"),
    ("es", "jardín pingüino ACCIÓN", "jardin pinguino accion"),
    ("pt", "freqüente coração avó", "FREQUENTE CORACAO AVO"),
    ("it", "perché città", "perchè citta'"),
    ("ca", "jardí qüestió co\u0140lega", "jardi questio col·lega"),
    ("ro", "pâine ŞCOALĂ", "pîine școală"),
    ("hu", "kõris fûz", "kőris fűz"),
    ("lt", "gė̃lė sõdas", "gėlė sodas"),
    ("sl", "véter sládek", "veter sladek"),
    ("id", "apél", "apel"),
    ("ms", "sélé", "sele"),
    ("fil", "hardín batà", "hardin bata"),
    ("ar", "أرض إناء آلة حديقة مبنى زهـــرة", "ارض اناء اله حديقه مبني زهرة"),
    ("fa", "كتاب علي خانۀ آب", "کتاب علی خانه اب"),
    ("fa", "می\u200cروم کتاب\u200cها", "می روم کتاب ها"),
    ("ur", "كتاب علي شهر جرأت", "کتاب علی شہر جرات"),
    ("he", "ײד שָׁלוֹם", "ייד שלום"),
    ("hi", "हिन्दी पञ्च अङ्क झण्डा चम्पा", "हिंदी पंच अंक झंडा चंपा"),
    ("hi", "ज़मीन बड़ा चाँद", "जमीन बडा चांद"),
    ("hi", "गयी चाहिये अर्थात् क्\u200dषमा", "गई चाहिए अर्थात क्षमा"),
    ("hi", "\u0905\u093eम", "आम"),
    ("bn", "বাড়ী রঙ অহঙ্কার প্রধানতঃ চাঁদ হঠাৎ", "বাড়ি রং অহংকার প্রধানত চাদ হঠাত্\u200d"),
    ("ta", "ஔடதம் கௌரி ஶ்ரீ", "ஒளடதம் கெளரி ஸ்ரீ"),
    ("ja", "サーバー ユーザー コンピューター", "サーバ ユーザー コンピュータ"),
    ("ja", "ｻｰﾊﾞｰ", "サーバ"),
    ("zh", "機器", "机器"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "one", "other"), ALIKE)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_both_spellings_of_a_word_are_one_word(language, one, other, form):
    cleaner = Cleaner(language, all_words=True)
    assert cleaner(unicodedata.normalize(form, one)) == cleaner(other) != ""
    assert cleaner.spans(other)[-1].original_end == len(other.rstrip("'\u200d"))


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "naïve coöp", "naive coop"),
        ("de", "Häuser", "hauser"),
        ("es", "año", "ano"),
        ("da", "gård", "gard"),
        ("fi", "sää", "saa"),
        ("pl", "łąka", "laka"),
        ("cs", "být", "byt"),
        ("tr", "hâlâ", "hala"),
        ("vi", "quý", "quy"),
        ("vi", "hoàn", "hòn"),
        ("vi", "kỹ", "kĩ"),
        ("ru", "мой", "мои"),
        ("uk", "її", "іі"),
        ("mk", "ќерка", "керка"),
        ("sh", "kuća", "kuca"),
        ("ro", "fată", "fata"),
        ("lt", "gėlė", "gele"),
        ("ja", "コピー", "コピ"),
        ("hi", "हिन्दी", "हिदी"),
        ("ur", "ہے", "ہی"),
        ("quy", "ñan é", "nan e"),
    ],
)
def test_words_that_readers_tell_apart_stay_different(language, one, other):
    cleaner = Cleaner(language, all_words=True)
    assert cleaner(one) != cleaner(other)


def test_a_tone_has_one_place_in_an_open_syllable_alone():
    assert Cleaner("vi", all_words=True)("hoàn quý quỳnh toán hoà") == "hoàn quý quỳnh toán hòa"


@pytest.mark.parametrize("language", languages())
def test_words_of_ascii_stay_as_they_are_in_every_language(language):
    text = "Haeuser gaard oeuvre hoa naive quy djumbir shakki xoxo"

    assert Cleaner(language, all_words=True)(text) == text.lower()


def test_english_has_the_words_of_its_list():
    assert not folds_of("en")
    assert word_shares("en") == get_frequency_dict("en", "best")
    assert frequent_words("en") == frozenset(top_n_list("en", 150))
    text = "Café naïve Straße ΰ ёлка сad hoà \u0915\u093c m\u2019a ي ー"
    assert Cleaner(all_words=True)(text) == "café naïve strasse ΰ ёлка сad hoà \u0915\u093c m a ي ー"


# -- the way back


@pytest.mark.parametrize(("language", "one", "other"), ALIKE)
def test_each_word_leads_to_what_was_written(language, one, other):
    cleaner = Cleaner(language, all_words=True)
    for text in (one, unicodedata.normalize("NFD", one), other):
        cleaned, spans = cleaner(text), cleaner.spans(text)
        assert [cleaned[span.start : span.end] for span in spans] == cleaned.split()
        for span in spans:
            written = text[span.original_start : span.original_end]
            assert cleaner(written) == cleaned[span.start : span.end]


MARKS = [*"aeouyn \u0301\u0300\u0308\u0303\u0323\u3099\u0345\u200b\u200c\u200d\u00ad\uff9f\uff21'9-"]
CONTEXTS = [
    *"qoauyeòàỳ",
    *"कखन्ीयेमङञटतहअाैॅ़ँई",
    *"কগঙ্ঃঅাতৎী়য",
    *"サーバコ",
    *"உௗஊஔௌெள",
    *"мґ\u2019\u02bc",
    *"ηΉΐῷς",
]


@pytest.mark.parametrize("language", [each for each in languages() if folds_of(each)])
def test_any_text_has_the_same_words_with_and_without_places(language):
    rng = np.random.default_rng(0)
    cleaner = Cleaner(language, all_words=True)
    letters = [*MARKS * 2, *CONTEXTS, *map(chr, folds_of(language).letters)]
    for drawn in rng.integers(len(letters), size=(300, 12)):
        text = "".join(letters[number] for number in drawn)
        cleaned, spans = cleaner(text), cleaner.spans(text)
        assert [cleaned[span.start : span.end] for span in spans] == cleaned.split(), ascii(text)
        assert all(0 <= span.original_start < span.original_end <= len(text) for span in spans), ascii(text)
        assert [span.original_start for span in spans] == sorted(span.original_start for span in spans)
        assert cleaner(cleaned) == cleaned, ascii(text)


# -- lists of words


@pytest.mark.parametrize("language", ["el", "ru", "vi", "de", "hi", "ja", "uk", "ar"])
@pytest.mark.parametrize("wordlist", ["small", *slow("best")])
def test_the_shares_of_both_spellings_add_up(language, wordlist):
    listed, shares = get_frequency_dict(language, wordlist), word_shares(language, wordlist)
    assert sum(shares.values()) == pytest.approx(sum(listed.values()), rel=1e-3)
    assert len(shares) < len(listed)


def test_a_word_has_the_share_of_both_spellings():
    listed = get_frequency_dict("vi", "best")
    assert wordfreq("vi")["hòa"] == pytest.approx(listed["hòa"] + listed["hoà"])
    assert "hoà" not in wordfreq("vi")
    found = frequencies("wordfreq", "vi", "", np.array(["hòa"], dtype=object), None)
    assert found == pytest.approx([listed["hòa"] + listed["hoà"]])


# a second each, for a list of hundreds of thousands of words
LONG = ("ar", "bn", "ca", "fi", "he", "it", "ja", "mk", "nb", "nl", "pt", "sv", "uk")


@pytest.mark.parametrize("language", [*sorted({*languages()} - {*LONG}), *slow(*LONG)])
def test_frequent_words_are_the_first_of_the_list_in_one_spelling(language):
    first = top_n_list(language, 150)
    assert len(frequent_words(language)) == 150
    assert {*" ".join(folded(first[:75], language)).split()} <= frequent_words(language)
    assert folds_of(language) or frequent_words(language) == frozenset(first)


def test_words_apart_at_a_joiner_are_counted_each():
    listed = get_frequency_dict("fa", "best")
    joined = sum(share for word, share in listed.items() if "شود" in word.split("\u200c"))
    assert joined > listed["شود"]
    assert wordfreq("fa")["شود"] == pytest.approx(joined)
    assert not any("\u200c" in word for word in wordfreq("fa"))


@pytest.mark.parametrize("language", languages())
def test_words_of_the_list_are_words_of_documents(language):
    words = [word for word in [*word_shares(language, "small")][:3000] if word.isalpha()]
    if language not in ("ja", "zh"):  # of which each character is a word
        found = [Cleaner(language, all_words=True)(word) for word in words]
        assert np.mean([one == other for one, other in zip(found, words, strict=True)]) > 0.999
    assert folded(words, language) == words


@pytest.mark.parametrize(
    ("language", "one", "other"), [pair for pair in ALIKE if pair[0] not in ("ca", "nl")]
)
def test_words_of_one_spelling_are_as_known_as_of_the_other(language, one, other):
    known = COLUMN["unknown"]
    assert numbers([one], language)[0, known] == numbers([other], language)[0, known]
    assert prepared(one, language).split()[0] == prepared(other, language).split()[0]


def test_form_scores_words_with_an_apostrophe_or_a_joiner_where_they_were_written():
    uk = ["Зелена м'ята росте в саду.", "Свіжа м\u2019ята і здоров\u02bcя."] * 6
    words = [score.token for score in Form(language="uk").fit(uk).token_scores(["м'ята ґанок м\u2019ята"])[0]]
    assert words == ["м'ята", "ґанок", "м\u2019ята"]
    fa = ["کتاب\u200cها در باغ", "درخت و باغ و کتاب"] * 6
    assert [score.token for score in Form(language="fa").fit(fa).token_scores(["کتاب\u200cها"])[0]] == [
        "کتاب\u200cها"
    ]


def test_vectors_of_a_language_are_found_by_either_spelling():
    vectors = WordVectors(["κήπος", "κηπος", "νερό"], np.eye(3, dtype=np.float32))
    assert vectors.rows(["κηποσ", "νερο", "νερό"], "el").tolist() == [0, 2, -1]
    assert vectors.rows(["κηπος", "νερο", "νερό"]).tolist() == [1, -1, 2]


# -- documents of a user


@pytest.mark.parametrize("language", ["el", "de", "fr", "ru", "vi", "da", "es"])
def test_a_text_in_the_other_spelling_is_a_copy(language):
    rng = np.random.default_rng(0)
    words = [word for word in get_frequency_dict(language, "small") if word.isalpha()][200:600]
    texts = [" ".join(words[number] for number in rng.permutation(len(words))[:12]) for _ in range(40)]
    other = [prepared(text, language).upper() for text in texts[:4]]
    found = odd_documents([*texts, *other], language=language, by="words").table
    assert found["copy_of"].notna().sum() == len(other)


@pytest.mark.parametrize(
    ("language", "text", "why"),
    [
        ("ja", "サーバー エレベーター", ["サーバー", "エレベーター"]),
        ("ru", "пчёлы пчелы мёд", ["пчёлы", "мёд"]),
        ("de", "Schildkröte Schildkroete Apfel", ["schildkröte", "apfel"]),
    ],
)
def test_reasons_are_words_as_they_were_written_each_in_one_spelling(language, text, why):
    words = [TokenScore(text[start:end], start, end, 1.0) for _, start, end in word_spans(text, language)]
    assert odd_words(words, 0.0, 4, language) == why


def test_words_of_vectors_are_found_in_the_case_and_script_of_documents():
    words = ["Paris", "Haus", "Müller", "學", "Kitap", "IŞIK"]
    loaded = WordVectors(words, np.zeros((len(words), 2), np.float32))
    found = {
        (language, word): int(loaded.rows([Cleaner(language)(word)], language)[0])
        for language, word in [
            ("pl", "Paris"),
            ("de", "MÜLLER"),
            ("zh", "學"),
            ("tr", "Işık"),
            ("es", "Haus"),
        ]
    }
    assert [*found.values()] == [0, 2, 3, 5, 1]
    assert loaded.rows(["Paris", "paris"]).tolist() == [0, -1]  # English vectors keep their spelling


TOPICS = ["άνεμος λιμάνι πλοίο ναύτης", "δίκη δικαστής νόμος μάρτυρας"]  # sea, law


@pytest.mark.parametrize("name", ["ocsvm", "iforest", "knn-vectors", "pyod-knn", "cvdd"])
def test_detectors_find_the_vectors_of_words_that_cleaning_folds(name, tmp_path, monkeypatch):
    draw = np.random.default_rng(0)
    lines = [
        f"{word} {' '.join(map(str, np.eye(2)[topic] + draw.normal(0, 0.1, 2)))}"
        for topic, words in enumerate(TOPICS)
        for word in words.split()
    ]
    (tmp_path / "el.vec").write_text("\n".join(lines) + "\n")
    settings = {"vectors": str(tmp_path / "el.vec")}
    preset, of_language = registry.detector(name).for_documents("el", settings)
    assert (preset, of_language) == ("default", {"language": "el"})
    grids = presets(registry.detector(name), "sib-200:ell_Grek")
    assert grids["default"] == [{"language": "el"}]
    assert {each["language"] for grid in grids.values() for each in grid} == {"el"}
    own = {"epochs": 5} if name == "cvdd" else {}
    clean, words = Cleaner("el"), TOPICS[0].split()
    train = [clean(" ".join(draw.choice(words, 3, replace=False))) for _ in range(40)]
    detector = registry.detector(name)(**settings, **of_language, **own, random_state=0).fit(train)
    near, far = detector.decision_function([train[0], clean(TOPICS[1])])
    assert far > near


@pytest.mark.parametrize("name", ["ocsvm", "cvdd"])
def test_english_vectors_are_refused_for_another_language(name):
    with pytest.raises(InvalidValueError, match=r"English.*'el'.*vectors=FILE"):
        registry.detector(name).for_documents("el", {})
