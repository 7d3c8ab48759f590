"""Find the language of a document by its letters, and the languages of a file.

py3langid knows 139 languages, and texts without a language. It mistakes letters that it has not learned for
Amharic, so a script that only one language has decides directly. A language needs a probability of at least
0.5: for texts of five words in 20 languages of SIB-200, 92 % get a language, and 98.8 % of these are right.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Self

from adbench_text.text.languages import standard

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

#: Number of documents in the sample that shows whether the user forgot a language.
N_LOOKED_AT = 200
#: Replaces a tag: the language of most documents is detected.
AUTO = "auto"

_N_CHARACTERS = 500  # of a document that are read, from its beginning
_LEAST_PROBABILITY = 0.5
_LEAST_SHARE, _LEAST_DOCUMENTS = 0.01, 2  # of a language that is named, so that single errors do not count
_MOST = 0.5  # share of documents above which a language is the language of the file
LARGE_SHARE, MANY_DOCUMENTS = 0.1, 20  # of a language that should be ranked by itself
_POSSIBLE_SHARE = 0.05  # of 200 documents: if 10 % of a file are in a language, 4 of 1,000 samples have fewer
_NO_LANGUAGE = "zxx"
_LEAST_KANA = 0.1  # of a Japanese text, relative to its Chinese characters
_LIKE_OTHERS = ("ary", "yue")  # py3langid mistakes them for Arabic and Chinese

# First words in Unicode's names of letters. py3langid distinguishes the languages of these shared scripts.
_SHARED_SCRIPTS = frozenset("LATIN CYRILLIC GREEK ARABIC HEBREW DEVANAGARI BENGALI ETHIOPIC CJK".split())
_LANGUAGE_OF_SCRIPT = {
    "ARMENIAN": "hy",
    "CHEROKEE": "chr",
    "GEORGIAN": "ka",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HIRAGANA": "ja",
    "KANNADA": "kn",
    "KATAKANA": "ja",
    "KHMER": "km",
    "LAO": "lo",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "NKO": "nqo",
    "OL": "sat",  # Ol Chiki
    "ORIYA": "or",
    "SINHALA": "si",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAANA": "dv",
    "THAI": "th",
    "TIBETAN": "bo",
    "TIFINAGH": "zgh",
    "YI": "ii",
}


def language_of(text: str) -> str | None:
    """Return the language of a text as `standard` names it; None if the text does not show it.

    >>> [language_of(text) for text in ("Die Heizung im Keller ist kalt", "ขอบคุณ", "0x7f3a 12:40", "")]
    ['de', 'th', None, None]
    """
    text = " ".join(text.lstrip()[:_N_CHARACTERS].split())  # spaces make py3langid less sure
    if text.isascii():
        return _by_letters(text)
    scripts = Counter(unicodedata.name(each, "").partition(" ")[0] for each in text if each.isalpha())
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana > _LEAST_KANA * scripts["CJK"]:
        scripts["HIRAGANA"] = kana + scripts.pop("CJK", 0)
    script = max(scripts, key=lambda name: scripts[name], default="")
    if script in _LANGUAGE_OF_SCRIPT:
        return standard(_LANGUAGE_OF_SCRIPT[script])
    return _by_letters(text) if script in _SHARED_SCRIPTS else None


def languages_of(texts: Iterable[str]) -> list[str | None]:
    """Return the language of each text; worker processes call this function."""
    return list(map(language_of, texts))


def _by_letters(text: str) -> str | None:
    found, probability = _identifier().classify(text)
    return None if probability < _LEAST_PROBABILITY or found == _NO_LANGUAGE else standard(found)


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _is_told_from_others(language: str) -> bool:
    """Return whether the finder distinguishes a language from other languages."""
    found = {*_LANGUAGE_OF_SCRIPT.values(), *_identifier().labels}.difference(_LIKE_OTHERS, [_NO_LANGUAGE])
    return language in map(standard, found)


@dataclass(frozen=True)
class LanguageCounts:
    """How many documents are in each language."""

    documents: Mapping[str, int]
    n_documents: int  # of all documents, also without a language

    @classmethod
    def of(cls, languages: Sequence[str | None]) -> Self:
        """Count the documents of each language."""
        return cls(Counter(filter(None, languages)), len(languages))

    @classmethod
    def of_some(cls, texts: Sequence[str]) -> Self:
        """Detect the languages of a random sample of documents, as written, and count them."""
        # in a file of translations, every second text has the same language
        places = Random(0).sample(range(len(texts)), min(N_LOOKED_AT, len(texts)))
        return cls.of(languages_of(texts[place] for place in places))

    @property
    def main(self) -> str | None:
        """The most frequent language; None if no document has a language."""
        return max(self.documents, key=lambda name: (self.documents[name], name), default=None)

    def named(self) -> dict[str, float]:
        """Return the shares of the languages with enough documents, the largest first.

        The most frequent language is always included. Documents without a language do not count.

        >>> LanguageCounts.of(["en"] * 190 + ["de"] * 9 + ["la", None]).named()
        {'en': 0.95, 'de': 0.045}
        """
        return {
            name: share
            for name, share in self._shares().items()
            if name == self.main or (self.documents[name] >= _LEAST_DOCUMENTS and share >= _LEAST_SHARE)
        }

    @property
    def apart(self) -> list[str]:
        """The languages with enough documents to be ranked by themselves, the largest first.

        >>> LanguageCounts.of(["en"] * 180 + ["de"] * 20 + ["fr"] * 2 + [None] * 9).apart
        ['en']
        """
        return [
            name
            for name, share in self._shares().items()
            if self.documents[name] >= MANY_DOCUMENTS and share >= LARGE_SHARE
        ]

    def _shares(self) -> dict[str, float]:
        """Return the shares of languages, the largest first; documents without a language do not count."""
        total = sum(self.documents.values())
        ordered = sorted(self.documents.items(), key=lambda item: (item[1], item[0]), reverse=True)
        return {name: n / total for name, n in ordered}

    def other_than(self, language: str) -> str | None:
        """Return the language of most documents if it is not `language`.

        Return None if the finder does not know `language`: its documents may look like any other language.
        """
        main, language = self.main, standard(language)
        if main in (None, language) or self.documents[main] <= _MOST * self.n_documents:
            return None
        return main if _is_told_from_others(language) else None

    def beside(self, language: str) -> tuple[str, float] | None:
        """Return the largest other language that can be ranked by itself, and its share.

        Return None if the finder does not know `language`, or if no other language is large enough.

        >>> LanguageCounts.of(["en"] * 70 + ["de"] * 24 + ["fr"] * 6).beside("en")
        ('de', 0.24)
        """
        others = [name for name in self.apart if name != standard(language)]
        if not others or not _is_told_from_others(standard(language)):
            return None
        return others[0], self._shares()[others[0]]

    def may_be_beside(self, language: str) -> bool:
        """Return whether the file may have a second large language, judged by this sample."""
        return any(
            share >= _POSSIBLE_SHARE for name, share in self._shares().items() if name != standard(language)
        )
