"""The tags of languages, and the word lists of wordfreq.

A tag follows BCP 47, such as ``de``, ``pt-BR`` or ``zh-Hant``. A language without a word list uses the list
of its nearest relative, if readers of one understand the other (a distance of at most 10 in the data of CLDR)
and both have the same script. So Croatian uses Serbo-Croatian, but Occitan does not use French.
"""

import gzip
from collections import defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from heapq import nlargest
from typing import Any, Literal

from adbench_text.errors import InvalidValueError
from adbench_text.text.folds import folds_of

LANGUAGE_TAG = "a language tag such as 'en', 'de' or 'pt-BR'"
_FARTHEST = 10  # distance of langcodes up to which most readers understand the other language
_UNDETERMINED = "und"  # the tag of an unknown language
# the length of n-grams in a script, by what its characters stand for: letters, syllables, or parts of words
_LETTERS, _SYLLABLES, _PARTS_OF_WORDS = 5, 4, 2
_SCRIPTS = {  # all other scripts have letters
    "Ethi": _SYLLABLES,
    "Thai": _SYLLABLES,
    "Laoo": _SYLLABLES,
    "Khmr": _SYLLABLES,
    "Mymr": _SYLLABLES,
    "Tibt": _SYLLABLES,
    "Hang": _PARTS_OF_WORDS,
    "Kore": _PARTS_OF_WORDS,
    "Jpan": _PARTS_OF_WORDS,
    "Hani": _PARTS_OF_WORDS,
    "Hans": _PARTS_OF_WORDS,
    "Hant": _PARTS_OF_WORDS,
}
_N_STOP_WORDS = 150  # English has 179 in the papers' list, some of them parts of words


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a word list in wordfreq, in order."""
    from wordfreq import available_languages

    return tuple(sorted(available_languages()))


def standard(tag: Any) -> str:
    """Return the name that we use for a language: the name of its word list, or its standard tag.

    Raise InvalidValueError if the value, of any type, is not the tag of a language.

    >>> [standard(tag) for tag in ("pt-br", "pt_BR", "por", "no", "hr", "zh-hant", "oc", "quy")]
    ['pt', 'pt', 'pt', 'nb', 'sh', 'zh', 'oc', 'quy']
    """
    if not isinstance(tag, str):
        raise InvalidValueError(f"language must be {LANGUAGE_TAG}, got {tag!r}.")
    return _standard(tag)


@cache
def _standard(tag: str) -> str:
    from langcodes import Language, closest_match, standardize_tag

    if not is_language(tag):
        raise InvalidValueError(f"language must be {LANGUAGE_TAG}, got {tag!r}.{_hint(tag)}")
    code = str(standardize_tag(tag, macro=True))
    nearest, _ = closest_match(code, languages(), max_distance=_FARTHEST)
    if nearest != _UNDETERMINED:
        return str(nearest)
    without_script = Language.get(code).language  # ``zh`` for ``zh-Hant``
    if without_script in languages() and _reads_other_script(without_script):
        return without_script
    return code


def _reads_other_script(language: str) -> bool:
    """Return whether wordfreq also reads words in a script that its list does not use, as for Chinese."""
    from wordfreq.language_info import get_language_info

    return bool(get_language_info(language)["lookup_transliteration"])


@cache
def letters_of_list(language: str) -> Mapping[int, str]:
    """Return a table for `str.translate` that turns letters into the script of the language's word list.

    It replaces traditional Chinese characters, and Cyrillic letters in Serbian and Azerbaijani. For other
    languages it is empty.
    """
    from wordfreq.language_info import get_language_info
    from wordfreq.transliterate import AZ_LATN_TABLE, SR_LATN_TABLE

    tables = {"sr-Latn": SR_LATN_TABLE, "az-Latn": AZ_LATN_TABLE}
    if table := tables.get(get_language_info(standard(language))["transliteration"]):
        return table
    if standard(language) == "zh":  # wordfreq.chinese has the table, but imports a package for Chinese words
        from msgpack import load
        from wordfreq.util import data_path

        with gzip.open(data_path("_chinese_mapping.msgpack.gz")) as stream:
            return load(stream, raw=False, strict_map_key=False)  # type: ignore[no-any-return]
    return {}


def prepared(text: str, language: str) -> str:
    """Spell a text so that equal words of the language are equal texts.

    First, prepare the text as wordfreq does before it looks words up:

    - Fold case to lower case. In Turkish, Azerbaijani and Kazakh, lower-case I has no dot (wordfreq adds
      Kazakh, which CLDR does not list; we follow wordfreq).
    - Romanian cedillas become commas. Arabic and Hebrew lose vowel marks.
    - Replace letters that are not in the script of the word list, see `letters_of_list`.

    Then fold letters that the language spells in two ways, see `adbench_text.text.folds`.

    >>> prepared("ISITMA", "tr"), prepared("STRASSE", "de") == prepared("Stra\u00dfe", "de")
    ('ısıtma', True)
    >>> prepared("\u039a\u03ae\u03c0\u03bf\u03c2", "el") == prepared("\u039a\u0397\u03a0\u039f\u03a3", "el")
    True
    """
    name = standard(language)
    if text.isascii() and not _has_dotless_i(name):
        text = text.lower()
        return folds_of(name).fold(text) if folds_of(name).changes_ascii else text
    from wordfreq.preprocess import preprocess_text

    text = preprocess_text(text, _language(name)).translate(letters_of_list(name))
    return folds_of(name).fold(text)


def folded(words: Iterable[str], language: str) -> list[str]:
    """Return the words of wordfreq's list in the spelling of `prepared`: wordfreq has not folded them."""
    words = list(words)
    if not words or not folds_of(standard(language)):
        return words
    return prepared("\n".join(words), language).split("\n")  # all at once: ten times as fast


@cache
def word_shares(language: str, wordlist: Literal["best", "small"] = "best") -> Mapping[str, float]:
    """Return the share of each word in texts of a language, by a list of wordfreq.

    If a word has two spellings, their shares are added under the spelling of `folded`.
    """
    from wordfreq import get_frequency_dict

    name = standard(language)
    listed: dict[str, float] = get_frequency_dict(name, wordlist=wordlist)
    if not folds_of(name):
        return listed
    shares: defaultdict[str, float] = defaultdict(float)
    for words, share in zip(folded(listed, name), listed.values(), strict=True):
        for word in words.split():  # two words if a joiner separates them
            shares[word] += share
    return dict(shares)


@cache
def _language(language: str) -> Any:
    """Return the language of a tag as an object of langcodes."""
    from langcodes import Language

    return Language.get(language)


@cache
def _has_dotless_i(language: str) -> bool:
    from wordfreq.language_info import get_language_info

    return bool(get_language_info(language)["dotless_i"])


def _hint(tag: str) -> str:
    """Return a question that suggests a tag for a wrong one, or an empty text.

    For the code of a country, such as ``jp``, it suggests the language of most people there.
    """
    from langcodes import Language

    likely = get_close_matches(tag.lower(), languages(), n=1)
    if len(tag) == 2 and tag.isascii() and tag.isalpha():
        spoken = Language.get(f"{_UNDETERMINED}-{tag}").maximize().language
        likely = [spoken] if spoken and spoken != _UNDETERMINED else likely
    return f" Did you mean {likely[0]!r}?" if likely else ""


def is_language(tag: Any) -> bool:
    """Return whether a value of any type is the tag of a language."""
    from langcodes import tag_is_valid

    return isinstance(tag, str) and tag != _UNDETERMINED and bool(tag_is_valid(tag))


def check_language(tag: Any) -> None:
    """Raise InvalidValueError if a value, of any type, is not the tag of a language."""
    standard(tag)


def has_frequencies(language: str) -> bool:
    """Return whether wordfreq knows the words of a language."""
    return standard(language) in languages()


@cache
def frequent_words(language: str) -> frozenset[str]:
    """Return the most frequent words of a language; empty if wordfreq does not know it."""
    if not has_frequencies(language):
        return frozenset()
    from wordfreq.numbers import has_digit_sequence

    shares = word_shares(language)
    words = (word for word in shares if not has_digit_sequence(word))
    return frozenset(nlargest(_N_STOP_WORDS, words, key=shares.__getitem__))


def part_length(language: str) -> int:
    """Return the length of the character n-grams that distinguish documents of a language.

    It depends on the script. Its characters stand for letters, syllables, or large parts of words.

    >>> [part_length(language) for language in ("de", "am", "ko", "zh")]
    [5, 4, 2, 2]
    """
    return _SCRIPTS.get(_script(language), _LETTERS)


def has_known_words(language: str) -> bool:
    """Return whether wordfreq has a word list for a language, and splits words as we do."""
    return has_frequencies(language) and part_length(language) == _LETTERS


@cache
def _script(language: str) -> str:
    from langcodes import Language

    return str(Language.get(language).maximize().script)
