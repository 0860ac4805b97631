"""Whether a large CSV file is so plain that DuckDB reads it just as the csv module does, decided by a scan."""

from __future__ import annotations

import codecs
import contextlib
import os
import threading
from collections.abc import Sequence
from io import FileIO
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

import numpy as np

from klaudit.readers.blocks import Columns
from klaudit.readers.csv_ import Records
from klaudit.readers.fields import Layout, plan_columns
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK: Final = 2**17
# Places of the file that are looked at for its labels, and bytes at each.
_PLACES: Final = 32
_LOOK: Final = 2**14
# The least character that a plain file has, the line's end.
_LEAST: Final = ord("\n")


class Table(NamedTuple):
    """A CSV file whose column `i` DuckDB knows as `c{i}`.

    Attributes
    ----------
    relation : str
        What stands behind FROM.
    layout : Layout
        What each column is.
    start : int
        Where the first row begins [B].
    first_line : int
        Its line.
    sample : sequence of sequence of str
        Some rows from all over the file, column by column; empty where a column is of no use.
    rows : int
        About how many there are.
    """

    relation: str
    layout: Layout
    start: int
    first_line: int
    sample: Sequence[Sequence[str]]
    rows: int


def quoted(text: str) -> str:
    """A text as a constant of SQL."""
    return "'" + text.replace("'", "''") + "'"


def find_table(source: Source, options: ReadOptions) -> Table | None:
    """The file for DuckDB, or None where its first rows show that it is not so plain; the rest is for `Look`."""
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
        try:
            sample = _sample(file, len(head), source.size, Columns(records.delimiter, width, layout.used))
        except UnicodeDecodeError:
            return None
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
    return Table(relation, layout, len(head), records.lines_read + 1, sample.take(sample.rows), rows)


class Look(threading.Thread):
    """Looks through a file, beside others' work, for anything that only the csv module reads right."""

    def __init__(self, name: str, start: int) -> None:
        super().__init__(daemon=True)
        self._name = name
        self._start = start
        self._plain = False
        self._stopped = False
        self.start()

    def finds_it_plain(self) -> bool:
        """Whether there is nothing of that kind; waits for the end of the file."""
        self.join()
        return self._plain

    def stop(self) -> None:
        """Look no further."""
        self._stopped = True
        self.join()

    def run(self) -> None:
        """Look at the file piece by piece."""
        with contextlib.suppress(OSError), open(self._name, "rb", buffering=0) as file:
            file.seek(self._start)
            self._plain = self._is_plain(file)

    def _is_plain(self, file: FileIO) -> bool:
        decoder = codecs.getincrementaldecoder("utf-8")()
        room = bytearray(_CHUNK)
        before = _LEAST
        while count := file.readinto(room):
            if self._stopped:
                return False
            piece = room if count == _CHUNK else room[:count]
            codes = np.frombuffer(piece, np.uint8)
            least = int(codes.view(np.int8).min())  # below zero where not all is ASCII
            if b'"' in piece or b"\r" in piece or (least < _LEAST and (b"\0" in piece or b"\2" in piece)):
                return False
            if least < 0 or decoder.getstate()[0]:
                try:
                    decoder.decode(piece)
                except UnicodeDecodeError:
                    return False
            if (codes[0] == before == _LEAST) or _has_blank_line(codes):
                return False
            before = int(codes[-1])
        return not decoder.getstate()[0]


def _has_blank_line(codes: NDArray[np.uint8]) -> bool:
    """Whether two ends of a line follow each other."""
    # Two passes and no third where no two neighbours are as small as that; tabs may be.
    if np.maximum(codes[1:], codes[:-1]).min(initial=255) > _LEAST:
        return False
    ends = codes == _LEAST
    return bool((ends[1:] & ends[:-1]).any())


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
