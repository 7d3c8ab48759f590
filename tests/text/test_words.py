import re

import pytest

from adbench_text.text.words import count_words, digest, word_positions, words


def test_words_are_where_word_positions_finds_them():
    text = "Don’t PANIC: it's 42, İx!"
    assert [text[w.start : w.end].lower() for w in word_positions(text)] == [
        w.word for w in word_positions(text)
    ]
    assert words("Don't PANIC") == ["don", "t", "panic"]


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "it's 3_4-5, No!",
        "  Two   spaces ",
        "",
        " ",
        "a_b c",
        "tab\there",
        "été ß ²",
        "x\u3000y",
    ],
)
def test_words_are_runs_of_word_characters(text):
    assert words(text) == re.findall(r"\w+", text.lower())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("जहाज बंदरगाह", ["जहाज", "बंदरगाह"]),  # Hindi: vowels are marks
        ("e\u0301le\u0300ve", ["e\u0301le\u0300ve"]),  # decomposed
        ("می\u200cخواهم", ["می\u200cخواهم"]),  # Persian: a joiner within a word
        ("我们在北京, 42 年", ["我", "们", "在", "北", "京", "42", "年"]),
        ("東京のタワー", ["東", "京", "の", "タワー"]),  # Katakana words stay together
        ("x\u0301 \u0301", ["x\u0301"]),  # a mark alone is no word
    ],
)
def test_letters_keep_their_marks_and_ideographs_are_words(text, expected):
    assert words(text) == expected
    assert [text[w.start : w.end] for w in word_positions(text)] == expected


def test_digest_knows_order_and_borders():
    digests = {digest(texts) for texts in (["ab", "c"], ["a", "bc"], ["c", "ab"], ["abc"], ["abc", ""])}
    assert len(digests) == 5
    assert digest(["ab", "c"]) == digest(("ab", "c"))


def test_count_words_counts():
    counts, vocabulary = count_words(["b a b", "", "c"])
    assert list(vocabulary) == ["b", "a", "c"]
    assert counts.toarray().tolist() == [[2, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_count_words_of_texts_without_words():
    assert count_words(["", "!"]).counts.shape == (2, 0)
