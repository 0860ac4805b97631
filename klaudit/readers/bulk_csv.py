"""Whether a large CSV file is so plain that DuckDB reads it just as the csv module does, decided by a scan."""

from __future__ import annotations

import codecs
import os
from typing import BinaryIO, Final

import numpy as np

from klaudit.readers.blocks import Columns
from klaudit.readers.csv_ import Records
from klaudit.readers.fields import plan_columns
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source
from klaudit.readers.tables import Table, quoted

_CHUNK: Final = 2**18
# Places of the file that are looked at for its labels, and bytes at each.
_PLACES: Final = 32
_LOOK: Final = 2**14
# A quote, a carriage return, a zero byte, and the mark that stands for no value below.
_SPECIAL: Final = (b'"', b"\r", b"\0", b"\2")


def find_table(source: Source, options: ReadOptions) -> Table | None:
    """The file for DuckDB, or None where it is not so plain."""
    if source.encoding != "utf-8-sig":
        return None
    records = Records(source)
    width = len(records.header)
    if not 1 < width <= source.limits.columns:
        return None
    layout = plan_columns(records.header, options)
    with open(source.name, "rb", buffering=0) as file:
        head = b"".join(file.readline() for _ in range(records.lines_read))
        if b"\r" in head:
            return None
        underscores = _look_through(file)
        if underscores is None:
            return None
        sample = _sample(file, len(head), source.size, Columns(records.delimiter, width, layout.used))
    if sample is None or not sample.rows:
        return None
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
    # A line longer than a cell may be is an error, which the plain reader explains; so is any other surprise.
    relation = (
        f"read_csv({quoted(os.path.abspath(source.name))}, auto_detect=false, header=false, skip={records.lines_read},"
        f" delim={quoted(records.delimiter)}, quote='', escape='', nullstr='\x02', new_line='\\n',"
        f" max_line_size={source.limits.cell}, columns={{{columns}}})"
    )
    rows = sample.rows * (source.size - len(head)) // max(sample.characters, 1)
    first, texts = records.lines_read + 1, sample.take(sample.rows)
    return Table(relation, layout, first, frozenset(), "line", texts, rows, underscores)


def _look_through(file: BinaryIO) -> bool | None:
    """Whether the rest of a file has underscores; None where it has anything that only the csv module reads right."""
    underscores = False
    decoder = codecs.getincrementaldecoder("utf-8")()
    before = b"\n"
    while chunk := file.read(_CHUNK):
        if any(byte in chunk for byte in _SPECIAL):
            return None
        underscores = underscores or b"_" in chunk
        if not chunk.isascii() or decoder.getstate()[0]:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                return None
        ends = np.frombuffer(chunk, np.uint8) == ord("\n")
        if (ends[1:] & ends[:-1]).any() or (ends[0] and before == b"\n"):
            return None  # a blank line
        before = chunk[-1:]
    return None if decoder.getstate()[0] else underscores


def _sample(file: BinaryIO, start: int, size: int, columns: Columns) -> Columns | None:
    """Rows from all over the file; None where they do not fall into columns."""
    step = max((size - start) // _PLACES, _LOOK)
    for place in range(start, size, step):
        file.seek(place)
        text = file.read(_LOOK)
        # Away from the start and the end, a line that is cut is left out.
        first = 0 if place == start else text.find(b"\n") + 1
        last = len(text) if place + len(text) >= size else text.rfind(b"\n") + 1
        if first < last and not columns.add(text[first:last].decode("utf-8")):
            return None
    return columns
