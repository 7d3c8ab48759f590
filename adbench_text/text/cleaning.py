"""Cleaning of texts: of every corpus in the same way, and of a user's own documents in many languages.

Corpora are cleaned as by CVDD (Ruff et al., ACL 2019, released code) and DATE (Manolache et al., NAACL 2021,
section 4), and so are own documents in English. In other languages a document becomes its words in lower
case, without digits, punctuation and the most frequent words of the language. A Chinese character or Hiragana
is a word. Own documents keep the way back to the text as it was written.
"""

import re
import string
import unicodedata
from collections.abc import Iterator

from adbench_text.text.languages import frequent_words, letters_of_list
from adbench_text.text.words import word_pattern

#: NLTK's English stop words in the 179-word edition of the papers' time.
STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself
    yourselves he him his himself she she's her hers herself it it's its itself they them their
    theirs themselves what which who whom this that that'll these those am is are was were be
    been being have has had having do does did doing a an the and but if or because as until
    while of at by for with about against between into through during before after above below
    to from up down in out on off over under again further then once here there when where why
    how all any both each few more most other some such no nor not only own same so than too
    very s t can will just don don't should should've now d ll m o re ve y ain aren aren't
    couldn couldn't didn didn't doesn doesn't hadn hadn't hasn hasn't haven haven't isn isn't ma
    mightn mightn't mustn mustn't needn needn't shan shan't shouldn shouldn't wasn wasn't weren
    weren't won won't wouldn wouldn't
    """.split()
)

# Punctuation becomes a space and digits go. NLTK's tokenizer sets these quotes and dashes apart:
# alone they are shorter than three characters, so they may as well be spaces at once.
_SET_APART = "«»“”‘’„" + "\u2012\u2013\u2014\u2015"
_DELETIONS = str.maketrans(dict.fromkeys(string.punctuation + _SET_APART, " ") | dict.fromkeys(string.digits))

# The contractions that NLTK's word_tokenize splits and that are left once punctuation is gone.
_CONTRACTIONS = re.compile(
    r"\b(can|gim|gon|got|lem|wan)"
    r"((?<=can)not|(?<=[gl][ie]m)me|(?<=gon)na|(?<=got)ta|(?<=wan)na(?=\s|$))\b"
)


def clean(text: str) -> str:
    """Clean a document as the papers do.

    Lower-case; every ASCII punctuation character becomes a space; digits are removed; split as
    by NLTK's ``word_tokenize``; stop words and words of fewer than three characters are removed.
    The words left are joined by single spaces.

    Examples
    --------
    >>> clean("The 2 ships can't leave: a storm is coming!")
    'ships leave storm coming'
    """
    text = _CONTRACTIONS.sub(r" \1 \2 ", text.lower().translate(_DELETIONS))
    return " ".join([word for word in text.split() if len(word) > 2 and word not in STOP_WORDS])


def foreign_words(text: str, language: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words that are left of a document, with their start and end in it."""
    stop_words, letters = frequent_words(language), letters_of_list(language)
    # Python's lower case of this letter is two, an i and a combining dot, which would move all places.
    for match in word_pattern(r"\d_").finditer(text.replace("\u0130", "i").lower()):
        word = unicodedata.normalize("NFC", match.group()).translate(letters)  # as in lists of words
        if word not in stop_words:
            yield word, match.start(), match.end()


def english_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of `clean`; digits within a word lie between its start and its end."""
    letters = text.lower().translate(_DELETIONS)
    # lower case may be longer
    places = [i for i, letter in enumerate(text) for each in letter.lower() if each not in string.digits]
    position = 0
    for word in _CONTRACTIONS.sub(r" \1 \2 ", letters).split():
        # the substitution adds spaces and nothing else: the next letters are those of the word
        while letters[position].isspace():
            position += 1
        start, position = position, position + len(word)
        if len(word) > 2 and word not in STOP_WORDS:
            yield word, places[start], places[position - 1] + 1
