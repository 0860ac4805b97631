"""Comma-, tab- and semicolon-separated files, read in batches. Which column is which is decided elsewhere."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import Leaderboard, Trouble
from klaudit.readers.blocks import Columns
from klaudit.readers.cells import Assembler
from klaudit.readers.columns import Comma
from klaudit.readers.fields import plan_columns
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source

_DELIMITERS: Final = (",", "\t", ";")
# A batch ends early when its cells or its bytes would take tens of megabytes.
_BATCH_CELLS: Final = 1_000_000
_BATCH_BYTES: Final = 32 * 2**20
_STRIDE: Final = 512
_BLOCK: Final = 2**16
# Follows the last line: where it does not come back as a record of its own, a quote was left open.
_END: Final = "\x02end\x03"


class _Batch(NamedTuple):
    """Some records as columns; columns that nobody wants may be empty."""

    lines: Sequence[int]
    columns: Sequence[Sequence[str]]
    troubles: Sequence[Trouble] = ()


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The submissions of an open file, a batch at a time.

    Raises
    ------
    InputError, UsageError
        As `klaudit.readers.read`.
    """
    # The module's own limit is one for all of the process.
    csv.field_size_limit(source.limits.cell)
    records = Records(source)
    headers = records.header
    if len(headers) > source.limits.columns:
        raise source.limits.exceeded("columns", f"{source.label} has {len(headers)} columns")
    try:
        layout = plan_columns(headers, options)
    except (InputError, UsageError) as error:
        raise type(error)(f"{source.label}: {error}") from None
    assembler = Assembler(source.name, layout, options, comma_of(options, records.delimiter))
    limit = max(1, min(options.batch_rows, _BATCH_CELLS // len(headers)))
    rows = 0
    for batch in records.batches(limit, layout.used):
        rows += len(batch.lines)
        try:
            board = assembler.assemble(batch.lines, batch.columns, batch.troubles)
        except InputError as error:
            raise InputError(f"{source.label}: {error}") from None
        # Nothing of a batch may live on while the caller works and the next is read.
        del batch
        yield board
        del board
        if options.progress is not None:
            options.progress(rows, source.bytes_done)
    if rows == 0:
        raise InputError(f"{source.label} has a header and no rows: nothing can be judged")


def comma_of(options: ReadOptions, delimiter: str) -> Comma:
    """What a comma in a number is."""
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


class Records:
    """The records of a file with the lines on which they start."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rest = source.lines()
        self.delimiter, start, skipped = _sniff(self._rest)
        self._done = False
        self._begin(chain(start, self._rest), skipped)
        first = next(self._quoted(1, 1), None)
        if first is None:
            raise InputError(f"{source.label} holds blank lines only: expected a header line and rows")
        self.header = tuple(column[0] for column in first.columns)

    @property
    def lines_read(self) -> int:
        """Lines that the header and what stands before it take."""
        return self._start - 1

    def batches(self, limit: int, wanted: Collection[int]) -> Iterator[_Batch]:
        """The records below the header, blank lines left out, `limit` at a time."""
        width = len(self.header)
        plain = Columns(self.delimiter, width, wanted)
        size = min(_BLOCK, self._source.limits.cell)
        while block := self._source.block(size):
            # Most files have no quotes, and then text falls into columns all at once.
            if self._has_a_long_cell(block) or not plain.add(block):
                if plain.rows:
                    yield self._plain_batch(plain, plain.rows)
                self._begin(chain(io.StringIO(block, newline=""), self._rest), self._start - 1)
                yield from self._quoted(limit, width)
                return
            while plain.rows >= limit:
                yield self._plain_batch(plain, limit)
        if plain.rows:
            yield self._plain_batch(plain, plain.rows)

    def _has_a_long_cell(self, block: str) -> bool:
        """Whether a cell may exceed its limit: the csv module says so better."""
        limit = self._source.limits.cell
        return len(block) > limit and max(map(len, block.split("\n"))) > limit

    def _plain_batch(self, plain: Columns, count: int) -> _Batch:
        lines = range(self._start, self._start + count)
        self._start += count
        return _Batch(lines, plain.take(count))

    def _begin(self, lines: Iterator[str], before: int) -> None:
        """Read records from these lines, with so many before them."""
        self._before = before
        self._reader = csv.reader(self._to_the_end(lines), delimiter=self.delimiter, skipinitialspace=True)
        self._start = before + 1

    def _quoted(self, limit: int, width: int) -> Iterator[_Batch]:
        """The records with everything that CSV can have, one by one."""
        while rows := self._some(limit):
            lines, cells = rows
            troubles = _square(lines, cells, width) if width > 1 or limit > 1 else []
            columns = tuple(zip(*cells, strict=True))
            cells.clear()
            yield _Batch(lines, columns, troubles)
            del columns

    def _some(self, limit: int) -> tuple[list[int], list[tuple[str, ...]]] | None:
        """The next records with their lines, blank ones left out; None at the end."""
        if self._done:
            return None
        reader, source, stop = self._reader, self._source, self._source.bytes_read + _BATCH_BYTES
        lines: list[int] = []
        rows: list[tuple[str, ...]] = []
        start, offset = self._start, self._before + 1
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
        return (lines, rows) if rows else None

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
            found = f"{place} has a cell of more than {self._source.limits.cell} characters"
            hint = ". A quote that is never closed is the usual cause"
            return f"{self._source.limits.exceeded('cell', found)}{hint}"
        return f"{place} is no CSV: {error}"


def _square(lines: Sequence[int], rows: list[tuple[str, ...]], width: int) -> list[Trouble]:
    """Give every row as many cells as the header; a row with too many cannot be judged, for its cells have slipped."""
    troubles: list[Trouble] = []
    if set(map(len, rows)) == {width}:
        return troubles
    for index, row in enumerate(rows):
        if len(row) > width:
            if any(cell.strip() for cell in row[width:]):
                message = f"line {lines[index]}: row has {len(row)} cells, the header {width}"
                troubles.append(Trouble(index, "not-a-number", message, fatal=True))
            rows[index] = row[:width]
        elif len(row) < width:
            rows[index] = row + ("",) * (width - len(row))
    return troubles
