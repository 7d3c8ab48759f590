"""Long names in several lines, in tables and in figures."""

import re
from textwrap import wrap

from adbench_text.escaping import one_line

_WORD = 12  # characters; a longer one may be broken
_NAME_PART = re.compile(r"(?<=\w[(:=/,])(?=\w)(?<!/(?=s\b))")  # documents/s stays whole


def wrapped(text: str, limit: int) -> list[str]:
    """Cut a text into lines, if possible between words or parts of a name.

    A line may be longer than `limit`: words and parts of up to 12 characters stay whole.

    >>> wrapped("ocsvm(encoder=svd, nu=0.2)", 20)
    ['ocsvm(encoder=svd,', 'nu=0.2)']
    """
    line = one_line(text)
    if len(line) <= limit:
        return [line]
    # wrap breaks only at white space, such as a vertical tab
    parts = _NAME_PART.sub("\v", line)
    longest = max(map(len, parts.split()), default=0)
    lines = wrap(parts, max(limit, min(longest, _WORD)), replace_whitespace=False)
    return [cut.replace("\v", "") for cut in lines]
