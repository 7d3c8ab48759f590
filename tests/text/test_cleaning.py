import string
from pathlib import Path

import numpy as np
import pytest
from nltk.tokenize import NLTKWordTokenizer

from adbench_text.contract.cleaner import Cleaner
from adbench_text.text.cleaning import STOP_WORDS, clean


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
@pytest.mark.parametrize("language", ["en", "de", "quy"])
def test_spans_are_those_of_the_words_of_the_cleaned_document(text, language):
    cleaner = Cleaner(language)
    cleaned = cleaner(text)
    spans = cleaner.spans(text)
    words = [cleaned[span.start : span.end] for span in spans]
    assert words == cleaned.split()
    for word, span in zip(words, spans, strict=True):
        original = text[span.original_start : span.original_end].lower().replace("\u0307", "")
        assert "".join(letter for letter in original if not letter.isdigit()) == word.replace("\u0307", "")


def test_english_is_cleaned_as_the_corpora_are():
    assert [Cleaner()(text) for text in TEXTS] == [clean(text) for text in TEXTS]


def test_other_languages_lose_their_own_frequent_words():
    assert Cleaner("de")("Der Kessel ist nicht mehr 20 Jahre alt.") == "kessel alt"
    assert Cleaner("quy")("Der Kessel ist alt.") == "der kessel ist alt"


def test_words_of_other_scripts_stay_complete():
    assert Cleaner("hi")("जहाज 12 बंदरगाह") == "जहाज बंदरगाह"
    assert Cleaner("quy")("e\u0301le\u0300ve") == "\u00e9l\u00e8ve"  # the form that lists of words have
    assert Cleaner("quy")("東京 123 タワー") == "東 京 タワー"
