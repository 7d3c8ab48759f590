"""Cleaning of texts: of the papers' corpora in one way, and of a user's own documents in many languages.

English corpora are cleaned as by CVDD (Ruff et al., ACL 2019, released code) and DATE (Manolache et al.,
NAACL 2021, section 4): `clean`, which knows ASCII and some characters more. Own documents, and corpora in
other languages, are cleaned by Unicode: `words_of`, see `adbench_text.text.letters`. English words lose their
digits, and stop words and short ones go; in other languages, the most frequent words of the language go. An
English text of ASCII characters has the same words either way. Both ways keep the way back to the text as it
was written.
"""

import re
import string
from collections.abc import Iterator

from adbench_text.text.languages import frequent_words
from adbench_text.text.letters import letters_of

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


_ENGLISH = "en"
_LEAST_LETTERS = 3  # of an English word
# What `_CONTRACTIONS` leaves of a word: the other part is short or a stop word.
_CONTRACTED = {
    "cannot": "", "gimme": "gim", "gonna": "gon", "gotta": "got", "lemme": "lem", "wanna": "wan"
}  # fmt: skip


def all_words_of(text: str, language: str) -> list[str]:
    """Return all words of a document by Unicode, frequent and short ones too.

    >>> all_words_of("Who hit the ball?", "en")
    ['who', 'hit', 'the', 'ball']
    """
    return letters_of(language).spell(text).split()


def words_of(text: str, language: str) -> list[str]:
    """Return the words that are left of a document by Unicode; the language has its standard name.

    >>> words_of("Really\u2026 a \ufb01ne\u2122 caf\u0065\u0301!", "en")
    ['really', 'fine', 'café']
    """
    found = all_words_of(text, language)
    if language != _ENGLISH:
        frequent = frequent_words(language)
        return [word for word in found if word not in frequent]
    if not _CONTRACTED.keys().isdisjoint(found):
        found = [_CONTRACTED.get(word, word) for word in found]
    return [word for word in found if len(word) >= _LEAST_LETTERS and word not in STOP_WORDS]


def all_word_spans(text: str, language: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of `all_words_of`, with their start and end in the document."""
    for word, starts, ends in letters_of(language).words(text):
        yield word, starts[0], ends[-1]


def word_spans(text: str, language: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of `words_of`, with their start and end in the document."""
    is_english = language == _ENGLISH
    least, left_out = (_LEAST_LETTERS, STOP_WORDS) if is_english else (1, frequent_words(language))
    for word, starts, ends in letters_of(language).words(text):
        left = _CONTRACTED.get(word, word) if is_english else word
        if len(left) >= least and left not in left_out:
            yield left, starts[0], ends[len(left) - 1]
