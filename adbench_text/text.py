"""Cleaning and counting words; the same cleaning for every corpus.

The cleaning is that of CVDD (Ruff et al., ACL 2019, released code), which DATE (Manolache et
al., NAACL 2021, section 4) uses too.
"""

import hashlib
import re
import string
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from adbench_text.shared import remember

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_array

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
    """
    text = _CONTRACTIONS.sub(r" \1 \2 ", text.lower().translate(_DELETIONS))
    return " ".join([word for word in text.split() if len(word) > 2 and word not in STOP_WORDS])


_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Split a text into lower-case words: runs of letters, digits and underscores."""
    text = text.lower()
    if text.replace(" ", "").isalnum():  # a cleaned text: nothing but words and spaces
        return text.split()
    return _WORD.findall(text)


class Word(NamedTuple):
    """A word of a text and where it stands: ``text[start:end]``."""

    word: str
    start: int
    end: int


def word_positions(text: str) -> Iterator[Word]:
    """Yield the words of a text as `words` splits it, with their places in the original."""
    for match in _WORD.finditer(text):
        yield Word(match.group().lower(), match.start(), match.end())


def digest(texts: Sequence[str]) -> str:
    """Digest texts, their order and their borders; 32 hexadecimal digits."""
    state = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()[:32]


class WordCounts(NamedTuple):
    """How often each word stands in each text: `counts` of shape (n_texts, n_words)."""

    counts: "csr_array[Any]"
    vocabulary: "np.ndarray[Any, Any]"


def count_words(texts: Sequence[str]) -> WordCounts:
    """Count the words of each text; the last results are kept, since splits share texts."""
    return _count_words(HashedTexts(texts))


class HashedTexts(tuple[str, ...]):
    """Texts that compare by content, through a digest taken once: keys of memories."""

    digest: str

    def __new__(cls, texts: Sequence[str]) -> "HashedTexts":
        """Take the digest of the texts."""
        self = super().__new__(cls, texts)
        self.digest = digest(texts)
        return self

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashedTexts) and self.digest == other.digest


@remember(4)
def _count_words(texts: HashedTexts) -> WordCounts:
    import numpy as np
    from scipy.sparse import csr_array

    # a third of the time of scikit-learn's CountVectorizer, and every cell counts its texts
    number_of: defaultdict[str, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    numbers = array("q")
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    for row, text in enumerate(texts):
        numbers.extend([number_of[word] for word in words(text)])
        ends[row + 1] = len(numbers)
    ones = np.ones(len(numbers), dtype=np.int64)
    counts = csr_array((ones, np.array(numbers), ends), shape=(len(texts), len(number_of)))
    counts.sum_duplicates()
    result = WordCounts(counts, np.array(list(number_of), dtype=object))
    for values in (counts.data, counts.indices, counts.indptr, result.vocabulary):
        values.flags.writeable = False  # shared between detectors
    return result
