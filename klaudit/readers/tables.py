"""A file as DuckDB sees it, whatever its format. No DuckDB here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from klaudit.readers.fields import Layout


class Table(NamedTuple):
    """A table whose column `i` DuckDB knows as `c{i}`.

    Attributes
    ----------
    relation : str
        What stands behind FROM.
    layout : Layout
        What each column is.
    first_line : int
        The line of the first row.
    numeric : frozenset of int
        Columns that hold numbers and no text.
    unit_of_lines : str
        What a line is called in messages.
    sample : sequence of sequence of str
        Some rows from all over the file, column by column; empty where a column is of no use.
    rows : int
        About how many there are.
    underscores : bool
        Whether there may be any in the file: DuckDB takes 1_000 for a number.
    """

    relation: str
    layout: Layout
    first_line: int
    numeric: frozenset[int]
    unit_of_lines: str
    sample: Sequence[Sequence[str]]
    rows: int
    underscores: bool = True


def quoted(text: str) -> str:
    """A text as a constant of SQL."""
    return "'" + text.replace("'", "''") + "'"
