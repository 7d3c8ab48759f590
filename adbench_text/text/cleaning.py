"""Clean texts: the corpora of the papers in one way, the documents of a user in many languages.

`clean` treats English corpora like CVDD (Ruff et al., ACL 2019, released code) and DATE (Manolache et al.,
NAACL 2021, section 4). It knows ASCII and a few more characters. `words_of` cleans a user's documents, and
corpora in other languages, by Unicode; see `adbench_text.text.letters`. English words lose their digits, and
stop words and short words are removed. In other languages, the most frequent words are removed. An English
text of ASCII characters has the same words either way. Both ways can find each word in the text as written.
"""

import re
import string
from collections.abc import Iterable, Iterator

from adbench_text.text.languages import frequent_words
from adbench_text.text.letters import letters_of
from adbench_text.text.words import split_texts

#: NLTK's English stop words when the papers were written: 179 words.
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

# Punctuation becomes a space, and digits are removed. NLTK's tokenizer separates these quotes and dashes.
# Alone they are shorter than three characters and would be removed, so they become spaces here.
_SET_APART = "«»“”‘’„" + "\u2012\u2013\u2014\u2015"
_DELETIONS = str.maketrans(dict.fromkeys(string.punctuation + _SET_APART, " ") | dict.fromkeys(string.digits))

# The contractions without punctuation that NLTK's word_tokenize splits.
_CONTRACTIONS = re.compile(
    r"\b(can|gim|gon|got|lem|wan)"
    r"((?<=can)not|(?<=[gl][ie]m)me|(?<=gon)na|(?<=got)ta|(?<=wan)na(?=\s|$))\b"
)


def clean(text: str) -> str:
    """Clean a document as the papers do.

    Make the text lower-case, turn ASCII punctuation into spaces, remove digits, and split like NLTK's
    ``word_tokenize``. Then remove stop words and words with fewer than three characters, and join the others
    by single spaces.

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
    # lower case may be longer than the original
    places = [i for i, letter in enumerate(text) for each in letter.lower() if each not in string.digits]
    position = 0
    for word in _CONTRACTIONS.sub(r" \1 \2 ", letters).split():
        # the substitution adds only spaces, so the next letters belong to the word
        while letters[position].isspace():
            position += 1
        start, position = position, position + len(word)
        if len(word) > 2 and word not in STOP_WORDS:
            yield word, places[start], places[position - 1] + 1


_ENGLISH = "en"
_LEAST_LETTERS = 3  # of an English word that is kept
# The part of a contraction that is kept: the other part is short or a stop word.
_CONTRACTED = {
    "cannot": "", "gimme": "gim", "gonna": "gon", "gotta": "got", "lemme": "lem", "wanna": "wan"
}  # fmt: skip


def all_words_of(text: str, language: str) -> list[str]:
    """Return all words of a document by Unicode, also frequent and short ones.

    >>> all_words_of("Who hit the ball?", "en")
    ['who', 'hit', 'the', 'ball']
    """
    return letters_of(language).spell(text).split()


def words_of(text: str, language: str) -> list[str]:
    """Return the words of a document that cleaning by Unicode keeps.

    `language` is a name that `languages.standard` returns: "pt", not "pt-BR".

    >>> words_of("Really\u2026 a \ufb01ne\u2122 caf\u0065\u0301!", "en")
    ['really', 'fine', 'café']
    """
    return [*filter(None, _kept(all_words_of(text, language), language))]


def _kept(words: Iterable[str], language: str) -> list[str]:
    """Return the part of each word that cleaning keeps; an empty string if it removes the word."""
    if language != _ENGLISH:
        frequent = frequent_words(language)
        return ["" if word in frequent else word for word in words]
    parts = [_CONTRACTED.get(word, word) for word in words]
    return [part if len(part) >= _LEAST_LETTERS and part not in STOP_WORDS else "" for part in parts]


def cleaned(texts: Iterable[str], language: str, *, all_words: bool = False) -> list[str]:
    """Return the words of `words_of` or `all_words_of` of each document, separated by spaces.

    Each different word is looked up once, so this takes less than half of the time.

    >>> cleaned(["Who hit the ball?", "The ball!"], "en")
    ['hit ball', 'ball']
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers, ends, vocabulary = split_texts(map(letters_of(language).spell, texts))
    parts = vocabulary.tolist() if all_words else _kept(vocabulary, language)
    is_kept = np.array([*map(bool, parts)], dtype=np.bool_)[numbers]
    ends = np.append(0, np.cumsum(is_kept))[ends]
    kept = pa.array(parts, pa.large_string()).take(pa.array(numbers[is_kept]))
    words = pa.LargeListArray.from_arrays(pa.array(ends), kept)
    joined = pc.binary_join(words, pa.scalar(" ", pa.large_string()))
    of_texts: list[str] = joined.to_pylist()
    return of_texts


def all_word_spans(text: str, language: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of `all_words_of`, with their start and end in the document."""
    for word, starts, ends in letters_of(language).words(text):
        yield word, starts[0], ends[-1]


def word_spans(text: str, language: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of `words_of`, with their start and end in the document."""
    found = [*letters_of(language).words(text)]
    parts = _kept([word for word, *_ in found], language)
    for (_, starts, ends), part in zip(found, parts, strict=True):
        if part:  # it is the beginning of the word
            yield part, starts[0], ends[len(part) - 1]
