"""Comma-, tab- and semicolon-separated files, read in batches. Which column is which is decided elsewhere."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import Leaderboard, Trouble
from klaudit.readers.cells import Assembler
from klaudit.readers.columns import Comma
from klaudit.readers.fields import plan_columns
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source

_DELIMITERS: Final = (",", "\t", ";")
_LONGEST_CELL: Final = 131_072
# A batch ends early when its cells or its bytes would take tens of megabytes.
_BATCH_CELLS: Final = 1_000_000
_BATCH_BYTES: Final = 32 * 2**20
_STRIDE: Final = 512
# Follows the last line: where it does not come back as a record of its own, a quote was left open.
_END: Final = "\x02end\x03"


class _Batch(NamedTuple):
    lines: list[int]
    rows: list[tuple[str, ...]]


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The submissions of an open file, a batch at a time.

    Raises
    ------
    InputError, UsageError
        As `klaudit.readers.read`.
    """
    lines = source.lines()
    delimiter, start, skipped = _sniff(lines)
    records = _Records(source, chain(start, lines), delimiter, skipped)
    headers = records.header()
    try:
        layout = plan_columns(headers, options)
    except (InputError, UsageError) as error:
        raise type(error)(f"{source.label}: {error}") from None
    assembler = Assembler(source.name, layout, options, _comma(options, delimiter))
    limit = max(1, min(options.batch_rows, _BATCH_CELLS // len(headers)))
    rows = 0
    while batch := records.batch(limit):
        troubles = _square(batch, len(headers))
        rows += len(batch.rows)
        columns = tuple(zip(*batch.rows, strict=True))
        batch.rows.clear()
        try:
            board = assembler.assemble(batch.lines, columns, troubles)
        except InputError as error:
            raise InputError(f"{source.label}: {error}") from None
        # Nothing of a batch may live on while the caller works and the next is read.
        del batch, columns, troubles
        yield board
        del board
        if options.progress is not None:
            options.progress(rows, source.bytes_read)
    if rows == 0:
        raise InputError(f"{source.label} has a header and no rows: nothing can be judged")


def _comma(options: ReadOptions, delimiter: str) -> Comma:
    if options.decimal is not None:
        return "decimal-only" if options.decimal == "," else "thousands"
    return "decimal" if delimiter == ";" else "unclear"


def _sniff(lines: Iterator[str]) -> tuple[str, list[str], int]:
    """The delimiter, the lines read to find it, and how many lines before them are no part of the table.

    The one that the header has most of outside quotes; `sep=;` in the first line says it outright.
    """
    skipped = 0
    first = next(lines, "")
    if first.lower().startswith("sep=") and re.fullmatch(r"[^\w\s\"]|\t", first[4:].rstrip("\r\n")):
        return first[4], [], 1
    while first and not first.strip("\r\n\t ,;"):
        skipped += 1
        first = next(lines, "")
    start = [first] if first else []
    # A quoted header may go on over several lines.
    while start and "".join(start).count('"') % 2 and len(start) < 20 and (more := next(lines, "")):
        start.append(more)
    outside = "".join("".join(start).split('"')[::2])
    return max(_DELIMITERS, key=outside.count), start, skipped


class _Records:
    """The records of a file with the lines on which they start."""

    def __init__(self, source: Source, lines: Iterator[str], delimiter: str, skipped: int) -> None:
        self._source = source
        self._skipped = skipped
        self._reader = csv.reader(self._to_the_end(lines), delimiter=delimiter, skipinitialspace=True)
        self._start = skipped + 1
        self._done = False

    def header(self) -> tuple[str, ...]:
        """The first record that is not blank."""
        batch = self.batch(1)
        if batch is None:
            raise InputError(f"{self._source.label} holds blank lines only: expected a header line and rows")
        return batch.rows[0]

    def batch(self, limit: int) -> _Batch | None:
        """The next records, blank lines left out; None at the end."""
        if self._done:
            return None
        reader, source, stop = self._reader, self._source, self._source.bytes_read + _BATCH_BYTES
        lines: list[int] = []
        rows: list[tuple[str, ...]] = []
        start, offset = self._start, self._skipped + 1
        try:
            while len(rows) < limit and source.bytes_read < stop and not self._done:
                for row in islice(reader, min(limit - len(rows), _STRIDE)):
                    if len(row) > 1 or (row and row[0].strip()):
                        # A tuple of texts: the garbage collector lets go of those, and walks through lists.
                        rows.append(tuple(row))
                        lines.append(start)
                    start = reader.line_num + offset
        except csv.Error as error:
            raise InputError(self._explain(error, start)) from None
        self._start = start
        if self._done:
            self._drop_end(lines, rows)
        return _Batch(lines, rows) if rows else None

    def _to_the_end(self, lines: Iterator[str]) -> Iterator[str]:
        yield from lines
        self._done = True
        yield _END

    def _drop_end(self, lines: list[int], rows: list[tuple[str, ...]]) -> None:
        if rows.pop() != (_END,):
            raise InputError(
                f"{self._source.label}: a quote opened in the record of line {lines[-1]} is never closed, "
                "so every row after it would be lost. Close it, or write it as two quotes"
            )
        lines.pop()

    def _explain(self, error: csv.Error, line: int) -> str:
        place = f"{self._source.label}: the record of line {line}"
        if "field larger" in str(error):
            return (
                f"{place} has a cell of more than {_LONGEST_CELL} characters. A quote that is never closed is the "
                "usual cause"
            )
        return f"{place} is no CSV: {error}"


def _square(batch: _Batch, width: int) -> list[Trouble]:
    """Give every row as many cells as the header; a row with too many cannot be judged, for its cells have slipped."""
    troubles: list[Trouble] = []
    if set(map(len, batch.rows)) == {width}:
        return troubles
    for index, row in enumerate(batch.rows):
        if len(row) > width:
            if any(cell.strip() for cell in row[width:]):
                message = f"line {batch.lines[index]}: row has {len(row)} cells, the header {width}"
                troubles.append(Trouble(index, "not-a-number", message, fatal=True))
            batch.rows[index] = row[:width]
        elif len(row) < width:
            batch.rows[index] = row + ("",) * (width - len(row))
    return troubles
