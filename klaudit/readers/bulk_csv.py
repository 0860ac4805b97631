"""Whether a large CSV file is so plain that DuckDB reads it just as the csv module does, decided by a scan."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

import numpy as np

from klaudit.readers.blocks import Columns
from klaudit.readers.csv_ import Opening
from klaudit.readers.fields import Layout, plan_columns
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source

_CHUNK: Final = 2**18
# Places of the file that are looked at for its labels, and bytes at each.
_PLACES: Final = 64
_LOOK: Final = 2**15


class Found(NamedTuple):
    """A file that is plain enough, as `klaudit.readers.bulk.Table` has it."""

    relation: str
    layout: Layout
    first_line: int
    numeric: frozenset[int]
    unit_of_lines: str
    sample: list[list[str]]
    rows: int


def scan(source: Source, options: ReadOptions) -> Found | None:
    """The file for DuckDB, or None where it is not so plain."""
    if source.encoding != "utf-8-sig":
        return None
    opening = Opening(source)
    layout = plan_columns(opening.header, options)
    width = len(opening.header)
    with open(source.name, "rb", buffering=0) as file:
        for _ in range(opening.lines):
            start = _after_line(file, source.limits.line)
        if start is None or width == 1 or width > source.limits.columns or not _is_plain(file, start):
            return None
        sample = _sample(file, start, Columns(opening.delimiter, width, range(width)))
    if sample is None:
        return None
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
    # A cell that is longer than the limit is an error that the plain reader explains; so is any other surprise.
    relation = (
        f"read_csv({_quoted(os.path.abspath(source.name))}, auto_detect=false, header=false, skip={opening.lines},"
        f" delim={_quoted(opening.delimiter)}, quote='', escape='', comment='', nullstr='\x02', new_line='\\n',"
        f" max_line_size={source.limits.cell}, columns={{{columns}}})"
    )
    rows = len(sample[0]) * (source.size - start) // max(min(source.size - start, _PLACES * _LOOK), 1)
    return Found(relation, layout, opening.lines + 1, frozenset(), "line", sample, rows)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
