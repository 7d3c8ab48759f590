"""Names of months and days in many languages, from the data of CLDR that Babel brings."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache

from adbench_text.text.cleaning import all_words_of
from adbench_text.text.languages import standard

_IN_BABEL = {"sh": ("hr", "bs", "sr_Latn")}  # the languages of wordfreq that Babel divides


@cache
def calendar_names(language: str) -> frozenset[str]:
    """Return the words in names of months and days, spelled as the cleaning spells words; empty if unknown.

    >>> {"october", "oct", "monday"} <= calendar_names("en"), "oktober" in calendar_names("de")
    (True, True)
    """
    return frozenset(
        word
        for name in _IN_BABEL.get(language, (language,))
        for each in _names(name)
        for word in all_words_of(each, standard(language))
    )


def _names(language: str) -> Iterator[str]:
    """Yield the names of months and days in a language of Babel."""
    from babel import Locale, UnknownLocaleError, localedata

    try:
        locale = Locale.parse(language.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return
    loaded = localedata.load(str(locale))
    # a copy, because Babel writes the names of one language into data that others share
    data = localedata.LocaleDataDict(deepcopy({kind: loaded[kind] for kind in ("months", "days")}))
    for names in data.values():
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                yield from names[context][width].values()
