"""Names of months and days in many languages, from the data of CLDR that Babel brings."""

from functools import cache

from adbench_text.text.cleaning import all_words_of
from adbench_text.text.languages import standard


@cache
def calendar_names(language: str) -> frozenset[str]:
    """Return the words in names of months and days, spelled as the cleaning spells words; empty if unknown.

    >>> {"october", "oct", "monday"} <= calendar_names("en"), "oktober" in calendar_names("de")
    (True, True)
    """
    from babel import Locale, UnknownLocaleError

    try:
        locale = Locale.parse(language.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return frozenset()
    return frozenset(
        word
        for names in (locale.months, locale.days)
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for name in names[context][width].values()
        for word in all_words_of(name, standard(language))
    )
