"""Documents with the same words: a document must not be judged by its own copies."""

from collections.abc import Sequence


def grouped(cleaned: Sequence[str]) -> tuple[dict[str, int], dict[int, int | None], list[int]]:
    """Return the first place of each text, of which document each is a copy, and the places without words.

    Examples
    --------
    >>> grouped(["ship sails", "", "tide", "ship sails"])
    ({'ship sails': 0, 'tide': 2}, {0: None, 2: None, 3: 0}, [1])
    """
    first_of: dict[str, int] = {}
    copy_of: dict[int, int | None] = {}
    empty = []
    for place, text in enumerate(cleaned):
        if not text or text.isspace():
            empty.append(place)
            continue
        first = first_of.setdefault(text, place)
        copy_of[place] = first if first != place else None
    return first_of, copy_of, empty
