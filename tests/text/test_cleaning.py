import string
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from nltk.tokenize import NLTKWordTokenizer

from adbench_text.contract.cleaner import Cleaner
from adbench_text.plugins import registry
from adbench_text.text.cleaning import STOP_WORDS, clean
from adbench_text.text.letters import in_lower_case


def clean_by_the_papers_code(text: str) -> str:
    """CVDD's clean_text, step by step, with NLTK's own tokenizer (no sentence ends are left to find)."""
    text = text.lower()
    text = text.translate(str.maketrans(string.punctuation, " " * len(string.punctuation)))
    text = text.translate(str.maketrans("", "", string.digits)).strip()
    tokens = [token for token in NLTKWordTokenizer().tokenize(text) if token not in STOP_WORDS]
    return " ".join(word for word in " ".join(tokens).split() if len(word) >= 3)


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("The Cars, 4 of them!", "cars"),
        ("I cannot gimme a gonna gotta lemme wanna", "gim gon got lem wan"),
        ("cannotation canna wannabe gimmes", "cannotation canna wannabe gimmes"),
        ("don't isn't they'll", ""),
        ("e-mail: foo_bar@x.org", "mail foo bar org"),
        ("3rd 2nd h2o b2b", ""),
        ("", ""),
        ("   \t\n 12 -- ", ""),
        ("“quoted” «guillemets» it’s", "quoted guillemets"),
        ("ÄRGER straße Ünder 東京都庁", "ärger straße ünder 東京都庁"),
    ],
)
def test_clean(raw, cleaned):
    assert clean(raw) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "I cannot—gonna wanna— see; gotta… lemme! gimme, wanna",
        "CANNOT Gonna 'tis 'twas d'ye more'n can not",
        "cannot1 1cannot cannot2go wan na gim me cannotcannot",
        "··cannot·· «wanna» wanna\tgonna\nlemme",
        "I'll we've O'Neil's rock 'n' roll -- ... ;;; $5.00 a&b",
        "naïve café — cannot “gonna” ‘lemme’ „gotta“",
    ],
)
def test_clean_is_what_the_papers_code_does_with_nltk(text):
    assert clean(text) == clean_by_the_papers_code(text)


def test_clean_agrees_with_nltk_on_random_text():
    rng = np.random.default_rng(0)
    pieces = "can not gon na wan gim me cannot gonna wanna the car x 9".split()
    glue = [" ", "", "'", "-", "…", "—", "“", "”", "\n", "  ", "é", "«", "_", "."]
    for _ in range(2000):
        text = "".join(rng.choice(pieces) + rng.choice(glue) for _ in range(8))
        assert clean(text) == clean_by_the_papers_code(text), repr(text)


def test_clean_changes_nothing_the_second_time():
    text = "I CANNOT gonna see İstanbul's 3 “cars”, lemme tell you about the wanna-be."
    assert clean(clean(text)) == clean(text)


def test_stop_words_are_the_179_word_edition():
    assert len(STOP_WORDS) == 179
    assert {"wouldn't", "ma", "now"} <= STOP_WORDS


def test_stop_words_equal_the_published_list(data_dir: Path):
    assert frozenset((data_dir / "vocab/nltk-english-stopwords-179.txt").read_text().split()) == STOP_WORDS


# -- own documents, and the way back to the original

TEXTS = [
    "The 2 ships can't leave: a storm is coming!",
    "I cannot gimme; h2o foo_bar4baz THEMSELVES hem elves",
    "«cannot»—wanna· ·gonna, naïve ÄRGER straße 東京都庁",
    "İstanbul'da ΟΔΟΣ \t\n x",
    "जहाज बंदरगाह ।",
    "",
    " 12 -- ",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("language", ["en", "pl", "quy"])
def test_spans_are_those_of_the_words_of_the_cleaned_document(text, language):
    cleaner = Cleaner(language)
    cleaned = cleaner(text)
    spans = cleaner.spans(text)
    words = [cleaned[span.start : span.end] for span in spans]
    assert words == cleaned.split()
    for word, span in zip(words, spans, strict=True):
        original = unicodedata.normalize("NFKC", text[span.original_start : span.original_end]).casefold()
        original = original.replace("\u0307", "")  # of a capital I with a dot
        assert "".join(letter for letter in original if not letter.isdigit()) == word


# ASCII letters, letters and marks of many scripts, what nobody sees, symbols, digits, controls
RANDOM = [
    *"aBIi'- .3_\t\x00\x1b[m",
    *"\u00e9\u00df\u0130\u0131\u03a3\u03c2\ufb01\uff21\u0345\u0149\u00aa\u00bd\u2460\u2167\u210c",
    *"\u0301\u0307\u093e\u094d\u0902\u064e\u0640\u05b7\u309a\u3099\u20e3\ufe0f",
    *"\u0915\u0628\u05d0\u6771\u3042\u30ab\uff76\uff9f\u1112\u1161\u11ab\u3131\u0e01\u0e33\u1780\ufdfa\u0448\u044c",
    *"\u00ad\u200b\u200c\u200d\u2060\ufeff\u202e\u3164\U000e0041",
    *"\u2026\u00b4\u20ac\u2122\U0001f600\U0001f3fb\ue000\ud800\u0378\u2028\x85",
]


@pytest.mark.parametrize("language", ["en", "de", "tr", "az", "ro", "sr", "ar", "he", "zh", "hi", "quy"])
def test_spans_have_the_words_of_any_text(language):
    rng = np.random.default_rng(0)
    cleaner = Cleaner(language)
    for drawn in rng.integers(len(RANDOM), size=(1000, 12)):
        text = "".join(RANDOM[number] for number in drawn)
        cleaned, spans = cleaner(text), cleaner.spans(text)
        assert [cleaned[span.start : span.end] for span in spans] == cleaned.split(), ascii(text)
        assert all(0 <= span.original_start < span.original_end <= len(text) for span in spans), ascii(text)
        assert [span.original_start for span in spans] == sorted(span.original_start for span in spans)
        assert cleaner(cleaned) == cleaned, ascii(text)


@pytest.mark.parametrize("language", ["en", "de", "tr", "zh", "ar"])
def test_many_documents_are_cleaned_like_each_one(language):
    rng = np.random.default_rng(1)
    texts = [
        "".join(RANDOM[number] for number in drawn) for drawn in rng.integers(len(RANDOM), size=(500, 12))
    ]
    texts += ["", " ", "I cannot gimme the Häuser!", "123 ???", "The ship,\tthe\x1ccrew\u00a0\u3000der Sturm"]
    for all_words in (False, True):
        cleaner = Cleaner(language, all_words=all_words)
        assert cleaner.cleaned(texts) == [*map(cleaner, texts)]
    assert Cleaner(language).cleaned([]) == []


def is_plain(text):
    """Return whether a text is of ASCII, without control characters, which the papers leave in words."""
    return text.isascii() and all(character.isprintable() or character in "\t\n\r\f\v" for character in text)


def test_ascii_texts_are_cleaned_as_the_papers_do():
    rng = np.random.default_rng(0)
    pieces = [
        "cannot",
        "gonna",
        "WANNA",
        "gimme",
        "lemme",
        "gotta",
        "can",
        "3rd",
        "h2o",
        "don't",
        "ships",
        "_x_",
    ]
    glue = [" ", "", "\n", "-", "'", "9", "!?", "\t"]
    for _ in range(2000):
        text = "".join(rng.choice(pieces) + rng.choice(glue) for _ in range(8))
        assert Cleaner()(text) == clean(text) == Cleaner(as_papers=True)(text), repr(text)
        assert Cleaner().spans(text) == Cleaner(as_papers=True).spans(text), repr(text)


@pytest.mark.parametrize("name", ["20news", "agnews", "reuters"])
def test_ascii_documents_of_the_corpora_are_cleaned_as_the_papers_do(name, data_dir, monkeypatch):
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
    train, test = registry.dataset(name).read()
    plain = [text for text in (*train.texts, *test.texts) if is_plain(text)]
    assert len(plain) >= 0.9 * len([*train.texts, *test.texts])
    assert Cleaner().transform(plain) == Cleaner(as_papers=True).transform(plain) == list(map(clean, plain))


def test_the_papers_cleaning_knows_no_symbols_and_belongs_to_english():
    text = "Wait\u2022office \u00b7\u00b7\u00b7 it\u2011now"
    assert Cleaner(as_papers=True)(text) == clean(text) != Cleaner()(text)
    assert Cleaner("de", as_papers=True)(text) == Cleaner("de")(text)
    assert Cleaner(None, as_papers=True)(text) == text


@pytest.mark.parametrize("language", ["en", "de", "quy"])
@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("Really\u2026 great\u2026", "really great"),
        ("wait\u2022office", "wait office"),
        ("office\u2122", "office"),
        ("bio\u2011office", "bio office"),
        ("\u00bfquechua?", "quechua"),
        ("\ufefffinancial", "financial"),
        ("fin\u200bancial\u200b", "financial"),
        ("sig\u00adni\u2060ficant", "significant"),
        ("of\ufb01ce", "office"),
        ("\uff26\uff35\uff2c\uff2c", "full"),
        ("cafe\u0301", "caf\u00e9"),
        # siblings
        ("\U0001d405\U0001d42b\U0001d41e\U0001d41e", "free"),  # mathematical letters
        ("l\u00b4amour", "amour" ),  # a spacing accent, whose compatible form begins with a space
        ("\u202eabc\u202c left\u200eright", "abc leftright"),  # directions
        ("price\u20acnet\u00d7gross", "price net gross"),
        ("lap\u200d\u200ctop", "laptop"),  # joiners, which Latin does not need
        ("pq\u0308\u0301per", "pq\u0308\u0301per"),  # marks without a composed letter
        ("tom\u034fato", "tomato"),  # a grapheme joiner
        ("two\ue000words\x00tomato", "two words tomato"),  # private use, control
    ],
)  # fmt: skip
def test_characters_of_pdf_and_web(raw, cleaned, language):
    found = Cleaner(language)(raw).split()
    assert [word for word in found if word != "l"] == cleaned.split()


@pytest.mark.parametrize("language", ["en", "de", "ja"])
@pytest.mark.parametrize(
    "text",
    [
        "\U0001f600\U0001f600\U0001f600",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        "\u00b7\u00b7\u00b7",
        "\u2192\u2192\u2192",
        "\u20ac\u20ac\u20ac",
        "\u2026",
        "!!!",
        # siblings
        "1\ufe0f\u20e32\ufe0f\u20e33\ufe0f\u20e3",  # keycaps
        "\u2764\ufe0f\u2764\ufe0f\u2764\ufe0f",  # hearts with variation selectors
        "\U0001f44d\U0001f3fd \U0001f1f9\U0001f1f7 \U0001f3f4\U000e0067\U000e0062\U000e007f",  # skin, flags
        "\u3164\u3164\u3164",  # fillers of Hangul, which nobody sees
        "\ufe0f\u0301\u0301\u0301",  # marks of no letter
        "\u00a8\u00a8\u00a8 \u00b4\u00b4\u00b4",
        "\u2800\u2800\u2800",  # blanks of Braille
        "\ud83d\ud83d\ud83d",  # halves of emoji
    ],
)
def test_symbols_alone_are_no_words(text, language):
    assert (Cleaner(language)(text), Cleaner(language).spans(text)) == ("", [])


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "text",
    [
        "\x1b[32mINFO\x1b[0m tomato",
        "INFO tomato",
        # siblings
        "\x1b[1;38;5;208mINFO\x1b[m \x1b[4mtom\x1b[24mato\x1b[0m",
        "\x1b]8;;https://example.org/path\x1b\\INFO\x1b]8;;\x1b\\ tomato",  # a link
        "\x1b]0;title of the window\x07INFO tomato",
        "\x1b[2K\x1b[1GINFO\x1b(B tomato\x1b[",  # erase, move, character set; the last one is cut off
        "\x07INFO\x00tomato",  # other control characters separate
    ],
)
def test_colours_of_a_terminal_are_no_words(text, language):
    assert Cleaner(language)(text) == "info tomato"
    (info, tomato) = Cleaner(language).spans(text)
    assert text[info.original_start : info.original_end] == "INFO"
    assert text[tomato.original_start] + text[tomato.original_end - 1] == "to"


@pytest.mark.parametrize(
    ("language", "raw", "cleaned"),
    [
        ("tr", "ISITMA SARI YIKAMA IRMAK", "\u0131s\u0131tma sar\u0131 y\u0131kama \u0131rmak"),
        ("tr", "\u0130NEK I\u0307zmir", "inek izmir"),
        ("az", "QIZIL", "q\u0131z\u0131l"),
        ("de", "ISAR", "isar"),
        # siblings
        ("az", "\u0411\u0410\u0492\u042b\u0420\u0422\u042b", "ba\u011f\u0131rt\u0131"),  # in Cyrillic
        # a cedilla for a comma
        ("ro", "\u015eCOAL\u0102 S\u0327coala\u0306", "\u0219coal\u0103 \u0219coal\u0103"),
        ("ar", "\u0643\u064e\u0644\u0650\u0645\u064e\u0629", "\u0643\u0644\u0645\u0647"),  # vowel marks
        ("he", "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("el", "\u039b\u039f\u0393\u039f\u03a3", "\u03bb\u03bf\u03b3\u03bf\u03c3"),  # no final sigma
        ("de", "GRUNDSTRASSE Grundstra\u00dfe", "grundstrasse grundstrasse"),
        ("sr", "\u041a\u0423\u040b\u0410", "ku\u0107a"),
        # joiners: in a script that has them, and in Persian
        ("ckb", "\u0645\u06cc\u200c\u0631\u0648\u0645.", "\u0645\u06cc\u200c\u0631\u0648\u0645"),
        ("fa", "\u06af\u0644\u200c\u062e\u0627\u0646\u0647.", "\u06af\u0644 \u062e\u0627\u0646\u0647"),
        ("km", "\u1797\u17b6\u200b\u1781\u17d2\u1798", "\u1797\u17b6 \u1781\u17d2\u1798"),
    ],
)  # fmt: skip
def test_words_are_spelled_as_in_lists_of_their_language(language, raw, cleaned):
    assert Cleaner(language)(raw) == cleaned


def test_a_reader_sees_words_in_lower_case_and_not_case_folded():
    assert in_lower_case("ISITMA", "tr") == "\u0131s\u0131tma"
    assert in_lower_case("Stra\u00dfe", "de") == "stra\u00dfe"
    assert in_lower_case("sig\u00adni\ufb01cant", "en") == "significant"


def test_other_languages_lose_their_own_frequent_words():
    assert Cleaner("de")("Der Kessel ist nicht mehr 20 Jahre alt.") == "kessel alt"
    assert Cleaner("quy")("Der Kessel ist alt.") == "der kessel ist alt"


def test_words_of_other_scripts_stay_complete():
    assert Cleaner("hi")("जहाज 12 बंदरगाह") == "जहाज बंदरगाह"
    assert Cleaner("quy")("e\u0301le\u0300ve") == "\u00e9l\u00e8ve"  # the form that lists of words have
    assert Cleaner("quy")("東京 123 タワー") == "東 京 タワー"
