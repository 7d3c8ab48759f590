"""Cleaning of texts, the same for every corpus.

It is that of CVDD (Ruff et al., ACL 2019, released code), which DATE (Manolache et al.,
NAACL 2021, section 4) uses too.
"""

import re
import string
from collections.abc import Iterator

CLEANING_VERSION = 1  # goes into every digest: raise it when clean() changes what it returns


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

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The words left, joined by single spaces; may be empty.

    Examples
    --------
    >>> clean("The 2 ships can't leave: a storm is coming!")
    'ships leave storm coming'
    """
    text = _CONTRACTIONS.sub(r" \1 \2 ", text.lower().translate(_DELETIONS))
    return " ".join([word for word in text.split() if len(word) > 2 and word not in STOP_WORDS])


def kept(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words that `clean` keeps of a text in lower case, each with its start and end in it.

    Digits within a word lie between the two, but not in the word.
    """
    places = [place for place, letter in enumerate(text) if letter not in string.digits]
    letters = text.translate(_DELETIONS)
    position = 0
    for word in _CONTRACTIONS.sub(r" \1 \2 ", letters).split():
        # the substitution adds spaces and nothing else: the next letters are those of the word
        while letters[position].isspace():
            position += 1
        start, position = position, position + len(word)
        if len(word) > 2 and word not in STOP_WORDS:
            yield word, places[start], places[position - 1] + 1
