r"""Values of cells: words for missing values, and different spellings of a class or group."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence

from adbench_text.errors import listing
from adbench_text.escaping import count

#: Words for a missing value: all of `pandas.read_csv`, and ``\N`` of databases.
MISSING = frozenset(
    (
        *("NULL", "null", "None", "NaN", "nan", "-NaN", "-nan", "NA", "N/A", "n/a", "<NA>"),
        *("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", r"\N"),
    )
)
_MOST_NAMED = 5
# it does not match "1,000" and "1.000", which may be a thousand, and "007", an identifier
_NUMBER = re.compile(r"(-?(?:0|[1-9]\d*))[.,](\d{1,2}|\d{4,})")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]00:?00)?")


def of_categories(values: Sequence[str | None], column: str) -> tuple[list[str | None], list[str]]:
    """Return the classes or groups of a column, and notes on them. A missing value is None.

    Spellings are merged if they differ only in white space around them, in composed accents, or in how a
    number, a date without a time, or true and false are written.
    """
    numbers = Counter(value for value in values if value and not value.isspace())
    missing = {value: n for value, n in numbers.items() if value.strip() in MISSING}
    notes = []
    if missing:
        notes.append(
            f"{count(sum(missing.values()), 'value')} of {column!r} count as missing: "
            f"{listing(missing, _MOST_NAMED)}. If one is a class or a group, rename it."
        )
    alike: dict[str, list[str]] = defaultdict(list)
    for value in numbers.keys() - missing.keys():
        alike[_meaning(value)].append(value)
    spelled: dict[str | None, str | None] = {}
    same = []
    for meaning, group in alike.items():
        group.sort(key=lambda value: (value != meaning, len(value), -numbers[value], value))
        spelled |= dict.fromkeys(group, group[0])
        same += [" and ".join(map(repr, group))] if len(group) > 1 else []
    if same:
        notes.append(f"Values of {column!r} that mean the same count as one: {listing(same, _MOST_NAMED)}.")
    folded: dict[str, list[str]] = defaultdict(list)
    for spelling in {*spelled.values()}:
        folded[str(spelling).casefold()].append(str(spelling))
    near = [" and ".join(map(repr, sorted(group))) for group in folded.values() if len(group) > 1]
    if near:
        notes.append(
            f"Values of {column!r} that differ only in case stay separate: {listing(near, _MOST_NAMED)}. "
            "Rename one if they mean the same."
        )
    return [spelled.get(value) for value in values], notes


def _meaning(value: str) -> str:
    """Return one spelling for values that mean the same.

    >>> [_meaning(value) for value in ("1.0", "1,00", "1,5", "-0.0", "1.000", "007", " a  b", "TRUE")]
    ['1', '1', '1.5', '0', '1.000', '007', 'a b', 'true']
    >>> _meaning("2024-03-01 00:00:00"), _meaning("2024-03-01T09:00")
    ('2024-03-01', '2024-03-01T09:00')
    """
    text = " ".join(unicodedata.normalize("NFC", value).split())
    if number := _NUMBER.fullmatch(text):
        whole, decimals = number.groups()
        if decimals.strip("0"):
            return f"{whole}.{decimals}"
        return "0" if whole == "-0" else whole
    if midnight := _MIDNIGHT.fullmatch(text):
        return midnight[1]
    return text.casefold() if text.casefold() in ("true", "false") else text
