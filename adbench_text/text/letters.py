"""Find the words of a document by Unicode, and spell them as their language does.

Letters, marks and digits belong to words. Every other character separates words: punctuation, symbols such as
emoji, and control characters. Invisible characters, such as soft hyphens, are removed, and also the escape
sequences that colour a terminal. Letters are spelled as in wordfreq's word lists, whatever their width, case
or composition: a ligature becomes its letters (NFKC), and a capital I in Turkish becomes an i without a dot.
If a language spells letters in two ways, one spelling is used, see `adbench_text.text.folds`. So Greek words
have no accents, because capitals have none.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Self

from adbench_text.text.folds import Replacement, folds_of
from adbench_text.text.languages import prepared, standard
from adbench_text.text.words import IDEOGRAPHS, marks

_ESCAPE = "\x1b"
# ECMA-48: control sequences (colours), strings such as links, and other sequences of several characters.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|\Z)|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")

_WITH_DIGITS, _WITHOUT_DIGITS = re.compile("[A-Za-z0-9]+"), re.compile("[A-Za-z]+")  # of ASCII
_SPACE, _ZERO_WIDTH_SPACE, _NON_JOINER, _JOINER = " ", "\u200b", "\u200c", "\u200d"
# Fillers and variation selectors: they are invisible, but Unicode calls them letters or marks.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
_VARIATIONS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_DOTTED_I = "\u0130"
_DOT_OF_I = re.compile("(?<=i)\u0307")  # `str.lower` turns İ into i and this dot
_ZERO = "\u3007"  # its category is Nl, but Chinese uses it like any other character

# Scripts without spaces, where a zero-width space may separate words: Thai to Lao, Burmese, Khmer, ...
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9ff\uaa60-\uaadf"
)
_BETWEEN_WORDS = re.compile(
    rf"(?<=[{_SPACELESS}]){_ZERO_WIDTH_SPACE}+"
    rf"|(?<!{_ZERO_WIDTH_SPACE}){_ZERO_WIDTH_SPACE}++(?=[{_SPACELESS}])"  # reads a run once, from its start
)
# Scripts that spell words with joiners: Arabic to Burmese, Khmer to Balinese, and others of India.
_JOINED = (
    "\u0600-\u109f\u1780-\u1c7f\ua800-\uaaff\uabc0-\uabff\U00010a00-\U00010fff\U00011000-\U00011fff"
    "\U0001e900-\U0001e95f"
)
_NO_PART = re.compile(
    rf"{_ZERO_WIDTH_SPACE}|(?<![{_JOINED}])[{_NON_JOINER}{_JOINER}]+|[{_NON_JOINER}{_JOINER}]+(?![{_JOINED}])"
)
_FORMATS = (_ZERO_WIDTH_SPACE, _NON_JOINER, _JOINER)  # format characters that may belong to a word
_NO_SPACE = re.compile(r"\S+")
_VOWELS_AND_FINALS = "\u1161-\u1175\u11a8-\u11c2"  # of Hangul; they compose with the character before


@cache
def _marks() -> frozenset[str]:
    return frozenset(marks())


@cache
def _strays() -> str:
    return f"{marks()}{_NON_JOINER}{_JOINER}"


@cache
def _stray() -> re.Pattern[str]:
    """Return the pattern of marks without a letter."""
    return re.compile(rf"(?<!\S)[{_strays()}]+")


@cache
def _cluster() -> re.Pattern[str]:
    """Return the pattern of a character with all characters that compose with it."""
    return re.compile(rf".[{marks()}{_VOWELS_AND_FINALS}]*", re.DOTALL)


def without_escapes(text: str) -> str:
    r"""Return a text without the escape sequences of a terminal.

    >>> without_escapes("\x1b[32mINFO\x1b[0m tomato")
    'INFO tomato'
    """
    return _ESCAPES.sub("", text) if _ESCAPE in text else text


def blank_escapes(text: str) -> str:
    """Return a text with spaces for escape sequences, so that other characters keep their places."""
    return _ESCAPES.sub(lambda found: _SPACE * len(found.group()), text) if _ESCAPE in text else text


def is_unseen(character: str) -> bool:
    """Return whether a character is invisible, such as a soft hyphen, a joiner or a variation selector."""
    is_variation = any(ord(character) in variations for variations in _VARIATIONS)
    return is_variation or character in _UNSEEN or unicodedata.category(character) in ("Cf", "Me")


class Letters(dict[int, str | None]):
    """The spelling of each character in words of a language, for `str.translate`; filled when needed.

    English words lose their digits. In other languages, a digit separates words, and a Chinese character or
    Hiragana is a word.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        self._digit = "" if language == "en" else _SPACE
        self._folds = folds_of(language)
        for code in range(128):  # a missing character takes ten times as long
            self[code] = self._spelled(chr(code))

    def __missing__(self, code: int) -> str | None:
        spelled = self[code] = self._spelled(chr(code))
        return spelled

    def _spelled(self, character: str) -> str | None:
        """Return letters and marks, a space, or None to remove the character, as `str.translate` does."""
        if character in self._folds.apart:
            return self._folds.apart[character] or None
        if character in _FORMATS:
            return character
        if is_unseen(character):
            return None
        if unicodedata.category(character)[0] not in "LMN":
            return _SPACE
        if character == _DOTTED_I:  # case folding would keep a combining dot
            return "i"
        known = prepared(unicodedata.normalize("NFKC", character), self._language)
        return "".join(map(self._part, known)) or None

    def _part(self, letter: str) -> str:
        category = unicodedata.category(letter)
        if category[0] == "N" and letter != _ZERO:
            return self._digit
        if is_unseen(letter):
            return ""
        if category[0] not in "LM" and letter != _ZERO:
            return _SPACE
        is_word = self._language != "en" and IDEOGRAPHS.match(letter)
        return f"{_SPACE}{letter}{_SPACE}" if is_word else letter

    def spell(self, text: str) -> str:
        """Return the words of a document, separated by spaces."""
        text = without_escapes(text)
        if text.isascii():
            return text.translate(self)
        text = _composed(text).translate(self)
        if text.isascii():
            return text
        if any(each in text for each in _FORMATS):
            text = _NO_PART.sub("", _BETWEEN_WORDS.sub(_SPACE, text))
        text = self._with_contexts(self._recomposed(_DOT_OF_I.sub("", text)))
        if _marks().isdisjoint(text):  # a pattern with all marks takes ten times as long
            return text
        return _SPACE.join([word.lstrip(_strays()) for word in text.split()])

    def _recomposed(self, text: str) -> str:
        """Compose letters with their marks, after the characters between them were removed.

        A composed letter is new, so it is folded. The letter that it becomes may compose with the next mark.
        """
        composed = _composed(text)
        if composed == text or not self._folds.letters:
            return composed
        while (folded := _composed(composed.translate(self._folds.letters))) != composed:
            composed = folded
        return composed

    def _with_contexts(self, text: str) -> str:
        for pattern, by in self._folds.contexts:
            text = pattern.sub(by, text)
        return _composed(text)

    def words(self, text: str) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
        """Yield the words of `spell`, with the start and the end of each character in the document."""
        if text.isascii() and _ESCAPE not in text and not self._folds.changes_ascii:  # ten times as fast
            yield from self._words_of_ascii(text)
            return
        placed = _Placed.of(text).replaced(_ESCAPES, "").composed().translated(self)
        placed = placed.replaced(_BETWEEN_WORDS, _SPACE).replaced(_NO_PART, "")
        uncomposed = placed.replaced(_DOT_OF_I, "")
        placed = uncomposed.composed()
        if self._folds.letters and placed.text != uncomposed.text:  # as `_recomposed`
            while (again := placed.translated(self._folds.letters).composed()).text != placed.text:
                placed = again
        for pattern, by in self._folds.contexts:
            placed = placed.replaced(pattern, by, joins=True)
        placed = (placed.composed() if self._folds.contexts else placed).replaced(_stray(), "")
        for found in _NO_SPACE.finditer(placed.text):
            start, end = found.span()
            yield found.group(), placed.starts[start:end], placed.ends[start:end]

    def _words_of_ascii(self, text: str) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
        for found in (_WITH_DIGITS if self._digit == "" else _WITHOUT_DIGITS).finditer(text):
            word, (start, end) = found.group().translate(self), found.span()
            if len(word) == end - start:
                yield word, range(start, end), range(start + 1, end + 1)
            elif word:
                starts = [place for place in range(start, end) if not text[place].isdecimal()]
                yield word, starts, [place + 1 for place in starts]


@cache
def letters_of(language: str) -> Letters:
    """Return the letters of a language, given its name as `languages.standard` returns it."""
    return Letters(language)


def _composed(text: str) -> str:
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


class _Placed:
    """A text made from a document; each character knows its start and end in the document."""

    def __init__(self) -> None:
        self.text, self.starts, self.ends = "", list[int](), list[int]()

    @classmethod
    def of(cls, text: str) -> Self:
        """Return an unchanged document."""
        self = cls()
        self.text, self.starts, self.ends = text, [*range(len(text))], [*range(1, len(text) + 1)]
        return self

    def _made_of(self, parts: Iterator[tuple[str, int, int]]) -> "_Placed":
        """Join new texts; each replaces the characters from a start to an end."""
        made, texts = _Placed(), list[str]()
        for text, start, end in parts:
            texts.append(text)
            if text == self.text[start:end]:
                made.starts += self.starts[start:end]
                made.ends += self.ends[start:end]
            else:
                made.starts += [self.starts[start]] * len(text)
                made.ends += [self.ends[end - 1]] * len(text)
        made.text = "".join(texts)
        return made

    def replaced(self, pattern: re.Pattern[str], by: Replacement, *, joins: bool = False) -> "_Placed":
        """Replace the matches of a pattern.

        With `joins`, removed characters belong to the character before them. Two matches must then not follow
        each other directly.
        """
        if not pattern.search(self.text):
            return self

        def parts() -> Iterator[tuple[str, int, int]]:
            done = 0
            for found in pattern.finditer(self.text):
                (begin, end), new = found.span(), by if isinstance(by, str) else by(found)
                if joins and not new and begin > done:  # the character before grows
                    begin -= 1
                    new = self.text[begin]
                yield self.text[done:begin], done, begin
                yield new, begin, end
                done = end
            yield self.text[done:], done, len(self.text)

        return self._made_of(parts())

    def composed(self) -> "_Placed":
        """Return the text with letters and their marks composed (NFC)."""
        if unicodedata.is_normalized("NFC", self.text):
            return self
        clusters = _cluster().finditer(self.text)
        return self._made_of(
            (unicodedata.normalize("NFC", found.group()), *found.span()) for found in clusters
        )

    def translated(self, letters: Mapping[int, str | None]) -> "_Placed":
        """Translate each character, like `str.translate`."""
        return self._made_of(
            (letter.translate(letters), place, place + 1) for place, letter in enumerate(self.text)
        )


def in_lower_case(text: str, language: str) -> str:
    """Return a word in lower case by the rules of its language.

    Escapes and invisible characters are removed, except joiners, which belong to the spelling in some
    languages. Letters of a special form, such as ligatures, get their usual form (NFKC).

    >>> in_lower_case("ISITMA", "tr"), in_lower_case("Stra\u00dfe", "de")
    ('ısıtma', 'straße')
    """
    if text.isascii() and text.isalnum() and "I" not in text:
        return text.lower()  # the same, many times as fast
    text = unicodedata.normalize("NFKC", without_escapes(text))
    text = "".join([letter for letter in text if letter in (_NON_JOINER, _JOINER) or not is_unseen(letter)])
    small = prepared("I", standard(language))  # without a dot in Turkish
    return text.replace(_DOTTED_I, "i").replace("I", small).lower()
