"""The language of a document and of a file: right on real texts, and none where a text shows too little."""

import csv

import pytest

from adbench_text.datasets.newsgroups20 import Newsgroups20
from adbench_text.text.language_finder import LanguageCounts, language_of, languages_of
from adbench_text.text.languages import standard

GERMAN = ["Die Heizung im Keller", "verliert seit gestern Wasser und der Druck fällt"]
CHINESE = ["我们今天在北京的公司开会", "他说这个问题很重要"]
ENGLISH = "the heating in the cellar is losing water"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", ENGLISH),
        ("de", GERMAN[1]),
        ("fr", "Le chauffage de la cave perd de l'eau depuis hier"),
        ("ru", "Отопление в подвале не работает со вчерашнего дня"),
        ("sh", "Кућа је велика и налази се на брду изнад реке"),
        ("sh", "Kuća je velika i nalazi se na brdu iznad rijeke"),
        ("el", "Το σπίτι είναι μεγάλο και βρίσκεται στο λόφο"),
        ("he", "הבית גדול ונמצא על הגבעה מעל הנהר"),
        ("hi", "घर बड़ा है और नदी के ऊपर पहाड़ी पर है"),
        ("zh", CHINESE[0]),
        ("ja", "今日は東京の会社で会議があります"),
        ("ja", "東京タワー"),
        ("ko", "오늘 서울에서 회의가 있습니다"),
        ("fil", "Ang bahay ay malaki at nasa ibabaw ng burol malapit sa ilog"),
    ],
)
def test_a_text_has_its_language_by_the_name_that_it_has_here(language, text):
    assert language_of(text) == language == standard(language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("th", "ขอบคุณ"),
        ("th", "ขอบคุณ OK 555"),
        ("lo", "ຂອບໃຈ"),
        ("km", "អរគុណ"),
        ("my", "ကျေးဇူး"),
        ("ka", "გამარჯობა"),
        ("hy", "բարեւ"),
        ("bo", "བཀྲ་ཤིས་བདེ་ལེགས"),
        ("sat", "ᱡᱚᱦᱟᱨ ᱠᱟᱱᱟ"),
        ("dv", "ދިވެހި"),
        ("ta", "நன்றி"),
    ],
)
def test_the_script_of_one_language_decides_by_one_word(language, text):
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    ["", " \n", "!?", "12:40 17.5", "0x7f3a9c41", "ok", "ᚠᚢᚦᚨᚱᚲ", "ᐃᓄᒃᑎᑐᑦ", "\ud800", "\U0010ffff"],
)
def test_a_text_that_shows_too_little_has_none(text):
    assert language_of(text) is None


def test_a_word_in_another_script_does_not_decide():
    assert language_of(f"{ENGLISH}, says the sign (ขอบคุณ, 東京)") == "en"
    assert language_of("我们今天在北京的公司开会,他说这个の问题很重要") == "zh"


@pytest.mark.parametrize(
    ("texts", "language", "other"),
    [
        (GERMAN, "en", "de"),
        (GERMAN, "de", None),
        (GERMAN, "de-AT", None),
        (CHINESE, "en", "zh"),
        (["ขอบคุณ", "สวัสดี"], "en", "th"),
        ([ENGLISH], "en", None),
        ([ENGLISH], "de", "en"),
        ([], "en", None),
        (["", "!"], "en", None),
        (GERMAN, "quy", None),  # the finder does not tell it from others
        (GERMAN, "yue", None),
        ([*GERMAN, *["0x7f 17"] * 2], "en", None),  # half of the documents
        ([*GERMAN, "0x7f 17"], "en", "de"),
    ],
)
def test_another_language_is_that_of_most_documents(texts, language, other):
    assert LanguageCounts.of_some(texts).other_than(language) == other


@pytest.mark.parametrize(
    ("counts", "language", "second"),
    [
        ({"en": 80, "de": 20}, "en", ("de", 0.2)),
        ({"en": 81, "de": 19}, "en", None),  # too few documents
        ({"en": 180, "de": 20}, "en", ("de", 0.1)),
        ({"en": 181, "de": 20}, "en", None),  # too small a share
        ({"en": 80, "de": 20}, "de-AT", ("en", 0.8)),
        ({"en": 60, "de": 20, "fr": 20}, "en", ("fr", 0.2)),
        ({"en": 80, "de": 20}, "quy", None),  # the finder does not tell it from others
        ({}, "en", None),
    ],
)
def test_a_second_language_has_many_documents(counts, language, second):
    assert LanguageCounts(counts, sum(counts.values())).beside(language) == second


def test_the_language_of_a_large_file_is_that_of_the_start_of_some_documents():
    beginnings = [ENGLISH if n % 10 == 0 else f"{GERMAN[1]} {' ' * 1000} {ENGLISH * 9}" for n in range(2000)]
    assert LanguageCounts.of_some(beginnings).other_than("en") == "de"


@pytest.mark.parametrize("n", [398, 400])
def test_texts_that_alternate_are_in_two_languages(n):
    texts = [ENGLISH, GERMAN[1]] * (n // 2)
    for order in (texts, texts[::-1]):
        shares = LanguageCounts.of_some(order).named()
        assert shares.keys() == {"en", "de"}
        assert min(shares.values()) > 0.4


def test_spaces_before_a_text_hide_no_language():
    assert language_of(" " * 600 + GERMAN[1]) == "de"


def test_a_language_is_named_if_it_means_something():
    counts = LanguageCounts.of(["en"] * 290 + ["de"] * 6 + ["fr"] * 2 + ["la"] + ["it"] + [None] * 100)
    assert counts.main == "en"
    assert counts.named() == {"en": 290 / 300, "de": 0.02}
    assert LanguageCounts.of(["en", "en", "en", "la"]).named() == {"en": 0.75}  # a single document
    assert LanguageCounts.of(["en", None]).named() == {"en": 1.0}
    assert LanguageCounts.of([None]).named() == {}
    assert LanguageCounts.of([None]).main is None


def sib(folder, code, n=200):
    with (folder / "sib-200" / code / "test.tsv").open(newline="", encoding="utf-8") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [row["text"] for row in rows][:n]


REAL = "deu_Latn fra_Latn por_Latn ron_Latn pol_Latn rus_Cyrl tur_Latn vie_Latn hun_Latn fin_Latn heb_Hebr "
REAL += "hin_Deva jpn_Jpan kor_Hang tha_Thai zho_Hans ind_Latn pes_Arab arb_Arab "
REAL += "amh_Ethi kat_Geor srp_Cyrl zho_Hant"


@pytest.mark.parametrize("code", REAL.split())
def test_a_forgotten_language_is_named_on_real_texts_also_short_ones(code, data_dir):
    texts, language = sib(data_dir, code), standard(code.partition("_")[0])
    counts = LanguageCounts.of_some(texts)
    assert (counts.other_than("en"), counts.other_than(language)) == (language, None)
    short = LanguageCounts.of_some([" ".join(text.split()[:5]) for text in texts])
    assert (short.other_than("en"), short.other_than(language)) == (language, None)
    assert counts.beside(language) is None
    found = languages_of(texts)
    assert found.count(language) >= 0.9 * len(found)


@pytest.mark.parametrize("code", ["bem_Latn", "luo_Latn", "mri_Latn", "twi_Latn", "arb_Latn"])
def test_a_language_that_the_finder_does_not_know_is_called_nothing(code, data_dir):
    assert LanguageCounts.of_some(sib(data_dir, code)).other_than("en") is None


def english(folder, name):
    if name == "20news":
        (texts, _), _ = Newsgroups20().posts()
        return texts[:2000]
    path = {
        "sms": "sms/SMSSpamCollection",
        "agnews": "agnews/test.csv",
        "titles": "stackoverflow/title_StackOverflow.txt",
    }
    lines = (folder / path.get(name, f"logs/{name}_2k.log")).read_text().splitlines()
    return [line.partition("\t")[2] for line in lines] if name == "sms" else lines


@pytest.mark.parametrize("name", ["sms", "20news", "agnews", "titles", "BGL", "HDFS", "OpenSSH"])
def test_english_texts_and_logs_are_in_no_other_language(name, data_dir, monkeypatch):
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
    texts = english(data_dir, name)
    assert len(texts) >= 2000
    assert LanguageCounts.of_some(texts).other_than("en") is None
    assert LanguageCounts.of_some(texts).beside("en") is None
    assert list(LanguageCounts.of(languages_of(texts)).named()) == ["en"]
