"""Texts in one array of bytes, which processes can share."""

from collections.abc import Iterator, Sequence
from typing import Self, overload

import numpy as np
from numpy.typing import NDArray

from adbench_text.escaping import from_utf8

_LINE_END = ord("\n")


class PackedTexts(Sequence[str]):
    """Texts in UTF-8, one after the other in an array; a text becomes a string each time it is read."""

    def __init__(self, data: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        self._data, self._begins, self._ends = data, begins, ends
        self._view = data.data  # reads a text faster than the array does

    @classmethod
    def of_lines(cls, data: NDArray[np.uint8]) -> Self:
        """Return the texts of lines in UTF-8; the last one has no line end. Without bytes there are none."""
        if not len(data):
            return cls(data, np.zeros(0, np.int64), np.zeros(0, np.int64))
        line_ends = np.flatnonzero(data == _LINE_END)
        return cls(data, np.append(0, line_ends + 1), np.append(line_ends, len(data)))

    def take(self, rows: NDArray[np.int64]) -> "PackedTexts":
        """Return the texts at these places, in this order; they share the array."""
        return PackedTexts(self._data, self._begins[rows], self._ends[rows])

    def __len__(self) -> int:
        return len(self._begins)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self._text(i, j) for i, j in zip(self._begins[place], self._ends[place], strict=True)]
        return self._text(self._begins[place], self._ends[place])

    def __iter__(self) -> Iterator[str]:
        for begin, end in zip(self._begins.tolist(), self._ends.tolist(), strict=True):
            yield self._text(begin, end)

    def _text(self, begin: int, end: int) -> str:
        return from_utf8(self._view[begin:end])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedTexts | list | tuple):
            return list(self) == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __reduce__(self) -> tuple[object, ...]:
        return PackedTexts, (self._data, self._begins, self._ends)  # a memoryview cannot be pickled
