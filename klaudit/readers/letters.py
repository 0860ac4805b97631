"""A column of cells as one run of bytes, so that the same place of every cell is looked at in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Letters:
    """The characters of a column of texts; those that are not ASCII are question marks.

    Attributes
    ----------
    lengths : ndarray of int, shape (rows,)
        Characters of each text.
    """

    def __init__(self, codes: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self._codes = codes
        self._ends = ends
        self._starts = np.concatenate([[0], ends[:-1] + 1])
        self.lengths: NDArray[np.int64] = ends - self._starts
        width = int(self.lengths[0]) + 1
        # Texts of one length are a table; then a column of it is a view.
        even = len(codes) == width * len(ends) and bool((self.lengths == width - 1).all())
        self._table = codes.reshape(-1, width) if even else None

    @classmethod
    def of(cls, texts: Sequence[str]) -> Letters:
        """The characters of some texts, at least one."""
        joined = "\n".join(texts)
        if joined.count("\n") != len(texts) - 1:
            joined = "\n".join(text.replace("\n", "?") for text in texts)
        codes = np.frombuffer((joined + "\n").encode("ascii", "replace"), np.uint8)
        return cls(codes, np.flatnonzero(codes == ord("\n")))

    def at(self, place: int) -> NDArray[np.uint8]:
        """The code of every text's character at a place; that of a line end where a text is shorter."""
        if self._table is not None:
            return np.asarray(self._table[:, min(place, self._table.shape[1] - 1)])
        return np.asarray(self._codes[np.minimum(self._starts + place, self._ends)])

    def figures(self, places: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The digits at some places as one number, and where they are digits."""
        number = np.zeros(len(self.lengths), np.int64)
        good = np.ones(len(self.lengths), np.bool_)
        for place in places:
            figure = self.at(place) - np.uint8(ord("0"))  # wraps around below "0"
            good &= figure < 10
            number = number * 10 + figure
        return number, good

    def without(self, character: str) -> tuple[Letters, NDArray[np.int64], NDArray[np.int64]]:
        """The texts without a character, how often each has it, and how many others follow its last one."""
        kept = self._codes != ord(character)
        places = np.flatnonzero(~kept)
        rows = len(self.lengths)
        if len(places) == rows and bool(((places >= self._starts) & (places < self._ends)).all()):
            counts, after = np.ones(rows, np.int64), self._ends - places - 1
        else:
            holders = np.searchsorted(self._ends, places)
            after = np.zeros(rows, np.int64)
            after[holders] = self._ends[holders] - places - 1
            counts = np.bincount(holders, minlength=rows)
        return Letters(self._codes[kept], self._ends - np.cumsum(counts)), counts, after

    def whole_numbers(self, most: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The texts as numbers of up to `most` digits, and which of them are such."""
        number = np.zeros(len(self.lengths), np.int64)
        good = (self.lengths > 0) & (self.lengths <= most)
        for place in range(min(int(self.lengths.max()), most)):
            inside = self.lengths > place
            figure = self._codes[np.maximum(self._ends - (place + 1), 0)] - np.uint8(ord("0"))
            good &= (figure < 10) | ~inside
            number += np.where(inside, figure, 0) * np.int64(10**place)
        return number, good
