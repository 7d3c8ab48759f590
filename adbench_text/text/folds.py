"""Fold letters that a language spells in two ways into one spelling, so that words can be compared.

A language has a row if its search engines or readers take two spellings for one word. A comment on the row
names the source: an analyzer of Lucene (Elasticsearch has the same), a stemmer of Snowball, or the rules of
an academy. If an analyzer merges words that readers distinguish, the row has only a part of its rules.

- A letter may become more letters, never fewer (``ä`` becomes ``ae``), so ASCII words do not change.
- English has no row, and neither have languages whose analyzers keep all marks (Czech, Polish, Turkish, ...).
- wordfreq itself folds case, cedillas, vowel marks of Arabic and Hebrew, and scripts; see
  `adbench_text.text.languages.prepared`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

_GRAVE, _ACUTE, _CIRCUMFLEX, _TILDE = "\u0300\u0301\u0302\u0303"
_MACRON, _BREVE, _DIAERESIS, _CEDILLA = "\u0304\u0306\u0308\u0327"
_ROMANCE = _GRAVE + _ACUTE + _CIRCUMFLEX + _DIAERESIS
_GREEK = _GRAVE + _ACUTE + _MACRON + _BREVE + _DIAERESIS + "\u0313\u0314\u0342"  # breathings, perispomeni
# Marks of tone and length, which dictionaries write.
_SERBO_CROATIAN = _GRAVE + _ACUTE + _CIRCUMFLEX + _MACRON + "\u030f\u0311"
_COMPOSED = (range(0xC0, 0x250), range(0x370, 0x500), range(0x1E00, 0x2000))  # Latin, Greek, Cyrillic
_JOINERS = "\u200c\u200d"
#: The apostrophe that counts as a letter.
APOSTROPHE = "\u02bc"

Replacement = str | Callable[[re.Match[str]], str]
Contexts = tuple[tuple[re.Pattern[str], Replacement], ...]


class Folds(NamedTuple):
    """The one spelling for words of a language, after they are in lower case and composed (NFC)."""

    letters: Mapping[int, str] = {}  # for `str.translate`; includes `apart`
    apart: Mapping[str, str] = {}  # joiners and apostrophes become nothing, or a space that separates words
    contexts: Contexts = ()  # more replacements within a word, in this order

    def __bool__(self) -> bool:
        return bool(self.letters or self.contexts)

    @property
    def changes_ascii(self) -> bool:
        """Whether ASCII words change, too."""
        return any(each.isascii() for each in self.apart)

    @property
    def apostrophes(self) -> dict[int, str]:
        """A table for `str.translate` that turns apostrophes within words into a letter."""
        return {ord(each): APOSTROPHE for each in self.apart if each not in _JOINERS}

    def fold(self, text: str) -> str:
        """Return a text in lower case with one spelling for each word."""
        text = text.translate(self.letters) if self.letters else text
        if self.contexts and not text.isascii():
            text = unicodedata.normalize("NFC", text)
            for pattern, by in self.contexts:
                text = pattern.sub(by, text)
        return text


def _row(
    pairs: str = "",
    *,
    drop: str = "",
    of: str = "",
    joiners: str | None = None,
    apostrophes: str = "",
    contexts: Contexts = (),
) -> Folds:
    """Return a row from pairs of letters and their replacements, and the marks that some letters drop."""
    becomes = {pair[0]: pair[1:] for pair in pairs.split()}
    letters = becomes | dict.fromkeys(drop, "")
    for letter, marks in _decomposed() if drop else ():
        if letter[0] in of and not marks.isdisjoint(drop):
            kept = "".join(mark for mark in letter if mark not in drop)
            plain = unicodedata.normalize("NFC", kept)
            letters[unicodedata.normalize("NFC", letter)] = becomes.get(plain, plain)
    apart = dict.fromkeys(apostrophes, "") | ({} if joiners is None else dict.fromkeys(_JOINERS, joiners))
    return Folds({ord(letter): by for letter, by in (letters | apart).items()}, apart, contexts)


def _decomposed() -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the letters with marks in `_COMPOSED`: each decomposed, with the set of its marks.

    Letters that NFC replaces by another one are left out, such as Greek letters with an oxia.
    """
    for codes in _COMPOSED:
        for letter in map(chr, codes):
            parts = unicodedata.normalize("NFD", letter)
            if len(parts) > 1 and unicodedata.normalize("NFC", parts) == letter:
                yield parts, frozenset(parts[1:])


def _each(becomes: Mapping[str, str], pattern: str = "{}") -> tuple[re.Pattern[str], Replacement]:
    """Return a pattern for some sequences of letters, and the function that replaces them."""
    longest_first = sorted(becomes, key=len, reverse=True)
    return re.compile(pattern.format("|".join(longest_first))), lambda found: becomes[found.group()]


def _with_tones(letter: str) -> list[str]:
    """Return a Vietnamese vowel with every tone mark."""
    return [unicodedata.normalize("NFC", letter + tone) for tone in "\u0300\u0301\u0303\u0309\u0323"]


# Open syllables of Vietnamese that may have the tone mark in two places: oà becomes òa.
_TONES = _each(
    {
        first + toned: before + second
        for first, second in ("oa", "oe", "uy")
        for before, toned in zip(_with_tones(first), _with_tones(second), strict=True)
    },
    "(?:o[{a}{e}]|u[{y}])(?<!q..)(?![\\w\u0300-\u036f])".format(
        **{letter: "".join(_with_tones(letter)) for letter in "aey"}
    ),
)
_VOWEL, _SCANDINAVIAN = "aeiouy", "åaa æae äae øoe öoe"
_DEVANAGARI, _BENGALI, _KATAKANA = "\u0900-\u097f", "\u0980-\u09ff", "\u30a1-\u30fa\u30fc\u31f0-\u31ff"
# Sequences that look like one letter, see Lucene's IndicNormalizer.
_HINDI_SEQUENCES = {
    "\u0905\u093e\u0947": "\u0913", "\u0905\u093e\u0948": "\u0914", "\u0905\u093e\u0945": "\u0911",
    "\u0905\u093e": "\u0906", "\u0905\u0949": "\u0911", "\u0905\u094b": "\u0913", "\u0905\u094c": "\u0914",
    "\u0906\u0945": "\u0911", "\u0906\u0947": "\u0913", "\u0906\u0948": "\u0914", "\u0909\u0941": "\u090a",
    "\u090f\u0945": "\u090d", "\u090f\u0947": "\u0910", "\u093e\u0945": "\u0949", "\u093e\u0947": "\u094b",
    "\u093e\u0948": "\u094c",
}  # fmt: skip
_HINDI: Contexts = (
    # Central Hindi Directorate: a vowel after a vowel has no glide: गयी becomes गई, चाहिये becomes चाहिए.
    _each({"यी": "ई", "ये": "ए"}, "(?:{})(?<=[\u0915-\u0939\u093e-\u094c]..)"),
    _each(_HINDI_SEQUENCES),
    # A nasal before a stop of its place is a dot, by the same: हिन्दी is हिंदी.
    (
        re.compile(rf"(?:ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ]))(?<=[{_DEVANAGARI}]..)"),
        "\u0902",
    ),
    # A virama at the end of a word is not written, by the same: अर्थात् is अर्थात.
    (re.compile(rf"\u094d(?<=[{_DEVANAGARI}]\u094d)(?<!\u094d\u094d)\u094d*+(?![{_DEVANAGARI}])"), ""),
)
_BENGALI_CONTEXTS: Contexts = (
    (re.compile("\u0985\u09be"), "\u0986"),  # IndicNormalizer
    # BengaliNormalizer, where no vowel follows: রঙ is রং, and অহঙ্কার is অহংকার.
    (re.compile(rf"(?<=[{_BENGALI}])\u0999(?:\u09cd(?=[ক-ঘ])|(?![\u09be-\u09cd\u09d7]))"), "\u0982"),
    # BengaliNormalizer: প্রধানতঃ is প্রধানত.
    (re.compile(rf"(?<=[{_BENGALI}]{{3}})(?<!\u0983)\u0983++(?![{_BENGALI}])"), ""),
)
_JAPANESE: Contexts = (
    # KatakanaStemFilter: the mark of a long vowel at the end goes, if three characters are left.
    (
        re.compile(
            rf"ー(?<=[{_KATAKANA}]{{3}}ー)(?:(?<!ーー)|(?<![{_KATAKANA}]{{4}}ー))ー*+"
            rf"(?![{_KATAKANA}\u3099\u309a])"
        ),
        "",
    ),
)

_ROWS: dict[str, Callable[[], Folds]] = {
    # -- in Latin letters
    # FrenchLightStemmer; it keeps the marks of words of four letters and fewer
    "fr": lambda: _row("œoe æae", drop=_ROMANCE + _CEDILLA, of=f"{_VOWEL}c"),
    "it": lambda: _row(drop=_ROMANCE, of=_VOWEL),  # ItalianLightStemmer
    "es": lambda: _row(drop=_ROMANCE, of=_VOWEL),  # SpanishLightStemmer and Snowball; ñ is another letter
    "pt": lambda: _row(drop=_ROMANCE + _TILDE + _CEDILLA, of=f"{_VOWEL}c"),  # PortugueseLightStemmer
    "ca": lambda: _row(drop=_ROMANCE, of=_VOWEL),  # Snowball
    "ro": lambda: _row("âî"),  # the Romanian Academy, 1993: pîine is pâine
    "de": lambda: _row("äae öoe üue"),  # GermanNormalizationFilter
    "nl": lambda: _row(drop=_ROMANCE + _CEDILLA, of=f"{_VOWEL}c"),  # Snowball (acute and diaeresis)
    # ScandinavianNormalizationFilter; Dansk Sprognævn leaves the acute to the writer
    "da": lambda: _row(_SCANDINAVIAN, drop=_ACUTE, of=f"{_VOWEL}æøå"),
    "nb": lambda: _row(_SCANDINAVIAN),
    "sv": lambda: _row(_SCANDINAVIAN),
    "fi": lambda: _row("šsh žzh"),  # Kotus
    "hu": lambda: _row("õő ûű"),  # Latin-1 letters that stand for Latin-2 letters
    "lt": lambda: _row(drop=_GRAVE + _ACUTE + _TILDE, of=f"{_VOWEL}lmnr"),  # the stress of dictionaries
    "sl": lambda: _row(drop=_GRAVE + _ACUTE + _CIRCUMFLEX, of=f"{_VOWEL}r"),  # the same
    # SerbianNormalizationFilter: đ; the rest is stress
    "sh": lambda: _row("đdj", drop=_SERBO_CROATIAN, of=f"{_VOWEL}r"),
    "id": lambda: _row(drop=_GRAVE + _ACUTE + _CIRCUMFLEX, of="e"),  # EYD: its sound may be marked
    "ms": lambda: _row(drop=_GRAVE + _ACUTE + _CIRCUMFLEX, of="e"),
    "fil": lambda: _row(drop=_GRAVE + _ACUTE + _CIRCUMFLEX, of=_VOWEL),  # KWF: stress may be marked
    # Both places of the tone are taught: hòa, hoà. ð is a look-alike of old fonts.
    "vi": lambda: _row("ðđ", contexts=(_TONES,)),
    # -- in Greek and Cyrillic letters
    "el": lambda: _row(drop=_GREEK, of="αεηιορυω"),  # GreekLowerCaseFilter, also for polytonic letters
    "ru": lambda: _row(drop=_GRAVE + _ACUTE + _DIAERESIS, of="аеиоуыэюя"),  # Snowball: ё; the rest is stress
    # UkrainianMorfologikAnalyzer: apostrophes, ґ and stress
    "uk": lambda: _row("ґг", drop=_ACUTE, apostrophes="'`\u00b4\u2018\u2019\u02bc"),
    "bg": lambda: _row(drop=_GRAVE + _ACUTE, of="еи"),  # ѝ is also typed as и
    "mk": lambda: _row("ѐе ѝи", drop=_GRAVE + _ACUTE),
    # -- in the scripts of Arabic and Hebrew
    # ArabicNormalizer, and letters of Persian keyboards; joiners change the shapes of letters alone
    "ar": lambda: _row("آا أا إا ٱا ىي یي ةه کك", joiners=""),
    # PersianNormalizer and ArabicNormalizer, into Persian letters; PersianCharFilter: می‌روم is می روم
    "fa": lambda: _row("آا أا إا ٱا يی ىی ےی كک ةه ۀه ہه ەه", joiners=" "),
    # Letters of Arabic keyboards, as urduhack reads them; hamza on alef and heh may be left out
    "ur": lambda: _row("أا يی ىی كک هہ ەہ ۀہ ۂہ ةۃ", joiners=" "),
    "he": lambda: _row("װוו ױוי ײיי"),  # CLDR: digraphs of Yiddish keyboards
    # -- in the scripts of India; joiners change the shapes of letters alone
    # HindiNormalizer: nukta and candrabindu
    "hi": lambda: _row("\u0901\u0902 ऩन ऱर ऴळ", drop="\u093c", joiners="", contexts=_HINDI),
    # BengaliNormalizer (both lengths of a vowel are in use, by the Bangla Academy), and IndicNormalizer: ৎ
    "bn": lambda: _row(
        "\u09c0\u09bf \u09c2\u09c1 ঈই ঊউ ৎত্", drop="\u0981", joiners="", contexts=_BENGALI_CONTEXTS
    ),
    # IndicNormalizer, and look-alikes: ஔ ஒள, ௌ ெள, ஶ்ரீ ஸ்ரீ
    "ta": lambda: _row(
        "ஔஒள \u0bcc\u0bc6ள ஶஸ", joiners="", contexts=((re.compile("\u0b89\u0bd7"), "\u0b8a"),)
    ),
    # -- in Katakana: JapaneseAnalyzer, サーバー is サーバ
    "ja": lambda: _row(contexts=_JAPANESE),
}  # fmt: skip
_NONE = Folds()


@cache
def folds_of(language: str) -> Folds:
    """Return the folds of a language, given its name as `languages.standard` returns it.

    >>> folds_of("de").fold("häuser"), folds_of("el").fold("κήπος"), folds_of("vi").fold("hoà")
    ('haeuser', 'κηπος', 'hòa')
    """
    return _ROWS[language]() if language in _ROWS else _NONE
