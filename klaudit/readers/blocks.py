"""CSV text without quotes to columns of cells, a block at a time. What is not so plain is left to the csv module."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

# Marks where a line began; a text that holds it is not plain.
_MARK: Final = "\x02"


class Columns:
    """The columns of the rows added so far; of those that nobody wants nothing is kept."""

    def __init__(self, delimiter: str, width: int, wanted: Collection[int]) -> None:
        self.rows = 0
        self.characters = 0
        self._delimiter = delimiter
        self._width = width
        self._columns: list[list[str]] = [[] for _ in range(width)]
        self._wanted = sorted(wanted)

    def add(self, block: str) -> bool:
        """Take whole lines; False, and nothing taken, where they are more than cells between delimiters.

        The csv module reads such a block to the same cells: it has no quotes, no spaces behind delimiters, no line
        ends but one kind, no blank lines, and as many cells on each line as the header.
        """
        if self._width == 1 or '"' in block or _MARK in block:
            return False
        if "\r" in block:
            block = block.replace("\r\n", "\n")
            if "\r" in block:
                return False
        if " " in block and (block[0] == " " or "\n " in block or f"{self._delimiter} " in block):
            return False
        block = block.removesuffix("\n")
        cells = block.replace("\n", self._delimiter + _MARK).split(self._delimiter)
        rows = block.count("\n") + 1
        if len(cells) != rows * self._width:
            return False
        # As many marks as line ends, all in the first column: then every line has its cells.
        first = cells[:: self._width]
        if "".join(first).count(_MARK) != rows - 1:
            return False
        for index in self._wanted:
            if index:
                self._columns[index] += cells[index :: self._width]
            else:
                self._columns[0].append(first[0])
                self._columns[0] += [cell[1:] for cell in first[1:]]
        self.rows += rows
        self.characters += len(block) + 1
        return True

    def take(self, count: int) -> Sequence[Sequence[str]]:
        """The first rows, which are let go."""
        taken, self._columns = self._columns, [column[count:] for column in self._columns]
        for column in taken:
            del column[count:]
        self.rows -= count
        return taken
