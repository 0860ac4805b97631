"""Large CSV files without quotes: pyarrow reads the columns that decide, block by block, and texts only where needed.

A block of lines is taken where it is so plain that the csv module reads it to the same cells; from the first one on
that is not, the plain reader reads the file.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from klaudit.bounds import Figures, Settled
from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import Leaderboard
from klaudit.readers.cells import Assembler
from klaudit.readers.columns import LONGEST, MISSING, Expect, read_numbers
from klaudit.readers.csv_ import Records, comma_of
from klaudit.readers.fields import Layout, plan_columns
from klaudit.readers.letters import Letters
from klaudit.readers.options import ReadOptions
from klaudit.readers.parquet import floats
from klaudit.readers.settle import NotBulk, Sifting, is_simple, word_columns, words_of
from klaudit.readers.source import Source
from klaudit.readers.words import read_days

if TYPE_CHECKING:
    import pyarrow as pa

    from klaudit.readers.settle import Column, Flags, Index, Words

_BLOCK: Final = 2**23
_MOST_THREADS: Final = 8
# Above this share of the rows, counting saves nothing.
_MOST_TOLD: Final = 0.5
# Rows that are handed on at once: few, for they are judged while others are read.
_ENOUGH: Final = 2**15
_LINE_END: Final = ord("\n")
# Cells that say nothing, as they are mostly written; others are told of row by row.
_NOTHING: Final = sorted({form for word in MISSING for form in (word, word.upper(), word.capitalize())})
# A number as the plain reader takes it, for cells that are not all numbers.
_NUMBER: Final = r"^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,6})?$"


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard | Settled]:
    """The rows of a large file that need a judge, then the counts of the others.

    Raises
    ------
    NotBulk
        Where the plain reader must read the file, or what is left of it.
    """
    try:
        table = _find_table(source, options)
        sifting = Sifting(source.name, table.layout, options)
    except (InputError, UsageError, OSError):
        # Whatever is wrong with the file, the plain reader says it better.
        raise NotBulk from None
    yield from _Scan(table, source, options, sifting).rows()


class _Table(NamedTuple):
    """What is known of a file before its rows are read.

    Attributes
    ----------
    start : int
        Where the first row begins [B].
    first_line : int
        Its line.
    """

    layout: Layout
    delimiter: str
    start: int
    first_line: int


def _find_table(source: Source, options: ReadOptions) -> _Table:
    if source.encoding != "utf-8-sig" or options.decimal == ",":
        raise NotBulk
    records = Records(source)
    if not 1 < len(records.header) <= source.limits.columns:
        raise NotBulk
    layout = plan_columns(records.header, options)
    with open(source.name, "rb", buffering=0) as file:
        head = b"".join(file.readline() for _ in range(records.lines_read))
    if b"\r" in head.replace(b"\r\n", b"") or not is_simple(layout):
        raise NotBulk
    return _Table(layout, records.delimiter, len(head), records.lines_read + 1)


class _Block(NamedTuple):
    """Some whole lines that are plain.

    Attributes
    ----------
    ends : ndarray of int, shape (lines,)
        Where each line ends in the bytes.
    filled : ndarray of int, shape (rows,)
        The lines that are not blank.
    told : ndarray of bool, shape (rows,), or None
        Rows that need a closer look, whatever their figures are.
    """

    data: memoryview
    ends: Index
    filled: Index
    values: list[Column]
    words: dict[int, Words]
    told: Flags | None

    def cells(self, rows: Index, delimiter: str) -> list[str]:
        """The cells of some rows, one row after the other."""
        ends = self.ends[self.filled[rows]]
        starts = np.concatenate([[-1], self.ends])[self.filled[rows]] + 1
        lines = [self.data[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        return str(delimiter.encode().join(lines), "utf-8").split(delimiter)


class _Scan:
    """Reads one file."""

    def __init__(self, table: _Table, source: Source, options: ReadOptions, sifting: Sifting) -> None:
        self._table = table
        self._source = source
        self._options = options
        self._sifting = sifting
        self._assembler = Assembler(source.name, table.layout, options, comma_of(options, table.delimiter))
        self._lines: list[int] = []
        self._columns: dict[int, list[str]] = {index: [] for index in sorted(table.layout.used)}

    def rows(self) -> Iterator[Leaderboard | Settled]:
        """What `read` gives."""
        done, told, line, whole = 0, 0, self._table.first_line, True
        with open(self._source.name, "rb", buffering=0) as file:
            try:
                decoder = _Decoder(self._table, file.fileno(), self._source)
            except ImportError:
                raise NotBulk from None
            places = range(self._table.start, self._source.size, _BLOCK)
            for place, block in zip(places, _in_turn(decoder.block, places), strict=False):
                if block is None or told > max(_MOST_TOLD * done, self._options.batch_rows):
                    whole = False
                    break
                told += self._add(block, line)
                done += len(block.filled)
                line += len(block.ends)
                yield from self._boards(min(self._options.batch_rows, _ENOUGH))
                if self._options.progress is not None:
                    self._options.progress(done, min(place + _BLOCK, self._source.size))
        if done:
            yield from self._boards(1)
            yield self._sifting.settled()
        if not whole or not done:
            raise NotBulk(done)

    def _add(self, block: _Block, first_line: int) -> int:
        """Take the rows of a block; returns how many of them are not counted."""
        rest = self._sifting.rest(block.values, block.words, block.told)
        if not len(rest.rows):
            return 0
        cells = block.cells(rest.rows, self._table.delimiter)
        columns = {index: cells[index :: len(self._table.layout.headers)] for index in self._columns}
        figures = [
            read_numbers(columns[f.column], Expect(f.kinds[0], f.kinds, f.unit, comma=self._assembler.comma))
            for f in self._table.layout.figures
        ]
        left = np.flatnonzero(~self._sifting.note([Figures(*numbers[:3]) for numbers in figures], rest))
        self._lines += (block.filled[rest.rows[left]] + first_line).tolist()
        for index, column in self._columns.items():
            column += map(columns[index].__getitem__, left.tolist())
        return len(left)

    def _boards(self, enough: int) -> Iterator[Leaderboard]:
        """The rows that are not counted, as soon as there are enough, in batches as the plain reader makes them."""
        most = self._options.batch_rows
        while len(self._lines) >= enough:
            columns: list[Sequence[str]] = [()] * len(self._table.layout.headers)
            for index, column in self._columns.items():
                columns[index] = column[:most]
                del column[:most]
            lines, self._lines = self._lines[:most], self._lines[most:]
            yield self._assembler.assemble(lines, columns)


def _in_turn(decode: Callable[[int], _Block | None], places: Sequence[int]) -> Iterator[_Block | None]:
    """The blocks at some places, decoded beside each other, and handed out in order."""
    threads = min(os.cpu_count() or 1, _MOST_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        coming: deque[Future[_Block | None]] = deque()
        try:
            for place in places:
                coming.append(pool.submit(decode, place))
                if len(coming) > 3 * threads:
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


class _Decoder:
    """Makes blocks of a file's bytes."""

    def __init__(self, table: _Table, file: int, source: Source) -> None:
        import pyarrow as pa
        from pyarrow import csv

        layout = table.layout
        self._file = file
        self._start = table.start
        self._size = source.size
        # A line longer than a cell may be is an error, which the plain reader explains.
        self._longest = source.limits.cell
        self._figures = [figure.column for figure in layout.figures]
        self._words = word_columns(layout)
        self._date = layout.texts.get("date")
        self._csv = csv
        names = [f"c{i}" for i in range(len(layout.headers))]
        types = {f"c{i}": pa.string() for i in (*self._figures, *([] if self._date is None else [self._date]))}
        types |= {f"c{i}": pa.dictionary(pa.int32(), pa.string()) for i in self._words}
        self._read = csv.ReadOptions(column_names=names, use_threads=False, block_size=2**31 - 1)
        self._parse = csv.ParseOptions(delimiter=table.delimiter, quote_char=False, double_quote=False)
        self._convert = csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=_NOTHING, strings_can_be_null=True
        )

    def block(self, place: int) -> _Block | None:
        """The lines that start in the block at a place; None where they are not plain."""
        lines = self._lines(place)
        if lines is not None and b"\r" in lines:
            lines = lines.replace(b"\r\n", b"\n")
        if lines is None or any(letter in lines for letter in (b"\r", b'"', b"\0")) or not _is_utf8(lines):
            return None
        ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == _LINE_END)
        lengths = np.diff(ends, prepend=-1)
        if lengths.max(initial=0) > self._longest:
            return None
        return self._decoded(lines, ends, np.flatnonzero(lengths > 1))

    def _lines(self, place: int) -> bytes | None:
        """The bytes of the lines that start in the block at a place; None where one is too long."""
        before = int(place > self._start)
        # A line starts in the block if the one before it ends there, or right before.
        length = min(_BLOCK + self._longest + 1, self._size - place) + before
        found = os.pread(self._file, length, place - before)
        if len(found) < length:
            return None
        start = found.find(b"\n") + 1 if before else 0
        stop = found.find(b"\n", _BLOCK + before - 1) + 1
        if place + _BLOCK >= self._size:
            lines = found[start:] if start or not before else b""
            return lines if lines.endswith(b"\n") or not lines else lines + b"\n"
        if not stop or (before and not start):
            return None
        return found[start:stop]

    def _decoded(self, lines: bytes, ends: Index, filled: Index) -> _Block | None:
        import pyarrow as pa

        try:
            table = self._csv.read_csv(pa.BufferReader(lines), self._read, self._parse, self._convert)
        except pa.ArrowInvalid:
            return None
        if table.num_rows != len(filled):
            return None
        columns = {i: table.column(f"c{i}").combine_chunks() for i in (*self._figures, *self._words)}
        words = {i: words_of(columns[i]) for i in self._words}
        told = None if self._date is None else _is_no_day(table.column(f"c{self._date}").combine_chunks())
        values = [_numbers(columns[i]) for i in self._figures]
        return _Block(memoryview(lines), ends, filled, values, words, told)


def _is_utf8(data: bytes) -> bool:
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    return True


def _numbers(column: pa.Array) -> Column:
    """Cells as numbers, NaN where they are none that the plain reader is sure to read so."""
    import pyarrow as pa
    from pyarrow import compute

    lengths, letters = _letters_of(column)
    if lengths.max(initial=0) <= LONGEST and b"e" not in letters and b"E" not in letters:
        try:
            return floats(compute.cast(column, pa.float64()))
        except pa.ArrowInvalid:
            pass
    plain = compute.match_substring_regex(column, _NUMBER)
    numbers = floats(compute.cast(compute.if_else(plain, column, pa.scalar(None, pa.string())), pa.float64()))
    return np.where(lengths <= LONGEST, numbers, np.nan)


def _letters_of(column: pa.Array) -> tuple[Index, bytes]:
    """The lengths of a column's cells, and all of their bytes."""
    ends = np.frombuffer(column.buffers()[1], np.int32, len(column) + 1, column.offset * 4)
    return np.diff(ends), column.buffers()[2].to_pybytes()


def _is_no_day(column: pa.Array) -> Flags:
    """Rows whose cell is no day or time that the plain reader takes: there is something to say of them."""
    from pyarrow import compute

    column = column.fill_null("")
    lines = compute.binary_join_element_wise(column, "", "\n")
    lengths, letters = _letters_of(lines)
    days, _ = read_days(_Cells(column), Letters(np.frombuffer(letters, np.uint8), np.cumsum(lengths) - 1))
    return np.isnat(days)


class _Cells(Sequence[str]):
    """A column of texts, of which few are looked at."""

    def __init__(self, column: pa.Array) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, place: Any) -> Any:
        return self._column[place].as_py()
