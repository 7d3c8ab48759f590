"""Cleaning of own documents, and the way back to the original."""

import pytest

from adbench_text.text.cleaning import clean
from adbench_text.text.own import Cleaner, likely_language, share_of_common_words

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
@pytest.mark.parametrize("language", ["en", "de", "xx"])
def test_places_are_those_of_the_words_of_the_cleaned_document(text, language):
    cleaner = Cleaner(language)
    cleaned = cleaner(text)
    places = cleaner.places(text)
    words = [cleaned[place.start : place.end] for place in places]
    assert words == cleaned.split()
    for word, place in zip(words, places, strict=True):
        original = text[place.original_start : place.original_end].lower().replace("\u0307", "")
        assert "".join(letter for letter in original if not letter.isdigit()) == word.replace("\u0307", "")


def test_english_is_cleaned_as_the_corpora_are():
    assert [Cleaner()(text) for text in TEXTS] == [clean(text) for text in TEXTS]


def test_other_languages_lose_their_own_frequent_words():
    assert Cleaner("de")("Der Kessel ist nicht mehr 20 Jahre alt.") == "kessel alt"
    assert Cleaner("xx")("Der Kessel ist alt.") == "der kessel ist alt"


def test_words_of_other_scripts_stay_complete():
    assert Cleaner("hi")("जहाज 12 बंदरगाह") == "जहाज बंदरगाह"
    assert Cleaner("xx")("e\u0301le\u0300ve") == "\u00e9l\u00e8ve"  # the form that lists of words have
    assert Cleaner("xx")("東京 123 タワー") == "東 京 タワー"


def test_chinese_is_recognised():
    assert likely_language(["我们今天在北京的公司开会", "他说这个问题很重要"]) == "zh"


def test_the_language_shows_in_the_words_that_are_common():
    german = [Cleaner("de")("Die Heizung im Keller verliert seit gestern Wasser")]
    assert share_of_common_words(german, "de") > 0.9
    assert share_of_common_words(german, "en") < 0.7
    assert share_of_common_words(["", ""], "en") == 1.0
