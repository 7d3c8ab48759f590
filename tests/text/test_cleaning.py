from pathlib import Path

import numpy as np
import pytest
from nltk.tokenize import NLTKWordTokenizer

from adbench_text.text.cleaning import STOP_WORDS, clean


def clean_by_the_papers_code(text: str) -> str:
    """CVDD's clean_text, step by step, with NLTK's own tokenizer (no sentence ends are left to find)."""
    import string

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
    pieces = [
        "can",
        "not",
        "gon",
        "na",
        "wan",
        "gim",
        "me",
        "cannot",
        "gonna",
        "wanna",
        "the",
        "car",
        "x",
        "9",
    ]
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
