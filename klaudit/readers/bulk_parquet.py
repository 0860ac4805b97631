"""Large Parquet files: numbers stay arrays, rows that are within are counted, and names are read when asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

import numpy as np

from klaudit.bounds import Figures, Settled
from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import FigureColumn, Leaderboard
from klaudit.readers.cells import Assembler
from klaudit.readers.fields import Layout, plan_columns
from klaudit.readers.floats import read_floats
from klaudit.readers.options import ReadOptions
from klaudit.readers.parquet import floats, headers_of, texts
from klaudit.readers.settle import NotBulk, Sifting, is_simple, unit_of, word_columns, words_of
from klaudit.readers.source import Source

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Index = NDArray[np.intp]

_BATCH: Final = 2**18
# Rows that are not settled and handed on at once: as many as are judged at once, for joining them reads their names.
_ENOUGH: Final = 2**15
_AHEAD: Final = 8
# Numbers of which there is nothing to say, and integers that are exact floats.
_ORDINARY: Final = (1e-9, 1e15)


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard | Settled]:
    """The rows of a large file that need a judge, then the counts of the others.

    Raises
    ------
    NotBulk
        Before anything is handed on, where the plain reader must read the file.
    InputError
        When the file turns out to be damaged.
    """
    if options.decimal == ",":
        raise NotBulk
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise NotBulk from None
    try:
        table = _open(pq.ParquetFile(source.name), source, options)
    except (pa.ArrowException, OSError, InputError, UsageError):
        # Whatever is wrong with the file, the plain reader says it better.
        raise NotBulk from None
    try:
        yield from _Scan(table, source, options).rows(pq)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source.label} is a damaged Parquet file: {str(error).splitlines()[0]}") from None


class _Table(NamedTuple):
    """A file whose figures are numbers.

    Attributes
    ----------
    names : list of str
        Its columns.
    integers : frozenset of int
        Figures that are no floats.
    words : list of int
        The columns that hold labels, and those that say which rows count.
    group_rows : list of int
        Rows of each row group.
    """

    layout: Layout
    names: list[str]
    integers: frozenset[int]
    words: list[int]
    group_rows: list[int]
    metadata: Any


def _open(file: Any, source: Source, options: ReadOptions) -> _Table:
    import pyarrow as pa

    schema, metadata = file.schema_arrow, file.metadata
    names = [str(name) for name in schema.names]
    if len(names) > source.limits.columns or len(set(names)) < len(names) or not metadata.num_rows:
        raise NotBulk
    layout = plan_columns(headers_of(names), options)
    types = [schema.field(i).type for i in range(len(names))]
    figures = [types[f.column] for f in layout.figures]
    words = word_columns(layout)
    numbers = all(pa.types.is_float64(t) or pa.types.is_integer(t) for t in figures)
    if not (is_simple(layout) and numbers and all(_is_text(types[i]) for i in words)) or "date" in layout.texts:
        raise NotBulk
    integers = frozenset(f.column for f, t in zip(layout.figures, figures, strict=True) if pa.types.is_integer(t))
    groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    return _Table(layout, names, integers, words, groups, metadata)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(inner) or pa.types.is_boolean(inner))


class _Held(NamedTuple):
    """Rows that are not counted: their places in the file, their labels' places (-1 for none), and their figures."""

    rows: Index
    labels: Index
    figures: list[Figures]


class _Scan:
    """Reads one file."""

    def __init__(self, table: _Table, source: Source, options: ReadOptions) -> None:
        self._table = table
        self._layout = table.layout
        self._source = source
        self._options = options
        self._sifting = Sifting(source.name, table.layout, options)
        self._assembler = Assembler(source.name, table.layout, options, "unclear", "record")
        self._held: list[_Held] = []

    def rows(self, pq: Any) -> Iterator[Leaderboard | Settled]:
        """What `read` gives."""
        names, words = self._table.names, self._table.words
        wanted = [*(f.column for f in self._layout.figures), *words]
        file = pq.ParquetFile(
            self._source.name, metadata=self._table.metadata, read_dictionary=[names[i] for i in words]
        )
        done = 0
        for batch in _ahead(file.iter_batches(batch_size=_BATCH, columns=[names[i] for i in wanted])):
            yield from self._sift({index: batch.column(names[index]) for index in wanted}, done)
            done += batch.num_rows
            if self._options.progress is not None:
                self._options.progress(done, done * self._source.size // self._table.metadata.num_rows)
        yield from self._boards(1)
        yield self._sifting.settled()

    def _sift(self, cells: dict[int, pa.Array], done: int) -> Iterator[Leaderboard]:
        """Count what can be counted of a batch behind so many rows, and keep the rest."""
        raw = [floats(cells[figure.column]) for figure in self._layout.figures]
        rest = self._sifting.rest(raw, {index: words_of(cells[index]) for index in self._table.words})
        columns = [column[rest.rows] for column in raw]
        odd = [rest.told, *((column < _ORDINARY[0]) | ~(column < _ORDINARY[1]) for column in columns)]
        if np.any(odd):
            # What is wrong with a cell is said of its text.
            yield from self._boards(1)
            yield self._from_texts(cells, rest.rows, done)
            return
        figures = [
            read_floats(column, unit_of(f), int(f.column not in self._table.integers))
            for column, f in zip(columns, self._layout.figures, strict=True)
        ]
        left = ~self._sifting.note(figures, rest)
        kept = [Figures(*(c[left] for c in figure)) for figure in figures]
        self._held.append(_Held(done + rest.rows[left], rest.labels[left], kept))
        yield from self._boards(_ENOUGH)

    def _boards(self, enough: int) -> Iterator[Leaderboard]:
        """The rows that are not settled, once there are so many."""
        if sum(len(part.rows) for part in self._held) < enough:
            return
        rows, labels = (np.concatenate([part[i] for part in self._held]) for i in range(2))
        figures = [
            Figures(*(np.concatenate([part.figures[i][j] for part in self._held]) for j in range(3)))
            for i in range(len(self._layout.figures))
        ]
        self._held = []
        known = np.flatnonzero(np.bincount(labels + 1, minlength=1)[1:])
        names = self._sifting.labels
        entry = self._layout.texts.get("entry")
        # The last code, -1, is for rows without a label.
        codes = np.full(len(names) + 1, -1, dtype=np.int64)
        codes[known] = np.arange(len(known))
        yield Leaderboard(
            source=self._source.name,
            lines=rows + 1,
            entries=[""] * len(rows) if entry is None else self._names(entry, rows),
            gpu_labels=tuple(names[place] for place in known.tolist()),
            gpu_codes=codes[labels],
            figures=tuple(
                FigureColumn(f.kinds[0], *numbers, f.rule, header=f.header, unit=unit_of(f).text)
                for f, numbers in zip(self._layout.figures, figures, strict=True)
            ),
            columns=self._sifting.columns,
        )

    def _from_texts(self, cells: dict[int, pa.Array], rows: Index, done: int) -> Leaderboard:
        """Some rows of a batch as the plain reader makes them."""
        columns: list[Sequence[str]] = [()] * len(self._table.names)
        for index, column in cells.items():
            columns[index] = _picked(column, rows)
        entry = self._layout.texts.get("entry")
        if entry is not None:
            columns[entry] = self._names(entry, done + rows)
        return self._assembler.assemble((done + rows + 1).tolist(), columns)

    def _names(self, column: int, rows: Index) -> _Names:
        return _Names(self._source.name, self._table, self._table.names[column], rows)


class _Names(Sequence[str]):
    """The cells of one column in some rows of a file, read group by group when one is asked for."""

    def __init__(self, path: str, table: _Table, column: str, rows: Index) -> None:
        self._path = path
        self._table = table
        self._column = column
        self._rows = rows
        self._ends = np.cumsum(table.group_rows)
        self._groups = np.searchsorted(self._ends, rows, side="right")
        self._read: dict[int, dict[int, str]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        group = int(self._groups[place])
        if group not in self._read:
            self._read[group] = self._group(group)
        return self._read[group][int(self._rows[place])]

    def _group(self, group: int) -> dict[int, str]:
        """The cells of one row group, by row of the file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = self._rows[self._groups == group]
        start = int(self._ends[group]) - self._table.group_rows[group]
        found: list[str] = []
        try:
            file = pq.ParquetFile(self._path, metadata=self._table.metadata)
            for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group], columns=[self._column]):
                inside = rows[(rows >= start) & (rows < start + batch.num_rows)] - start
                found += map(str.strip, _picked(batch.column(0), inside))
                start += batch.num_rows
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self._path} is a damaged Parquet file: {str(error).splitlines()[0]}") from None
        return dict(zip(rows.tolist(), found, strict=True))


def _ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches, of which the next ones are decoded while one is looked at."""
    with ThreadPoolExecutor(1) as thread:
        coming = deque(thread.submit(next, batches, None) for _ in range(_AHEAD))
        while (batch := coming.popleft().result()) is not None:
            coming.append(thread.submit(next, batches, None))
            yield batch


def _picked(column: pa.Array, rows: Index) -> list[str]:
    """Some cells of a column. Not by pyarrow's `take`: to make its argument, pyarrow would import pandas."""
    import pyarrow as pa

    if pa.types.is_string(column.type) and column.null_count:
        return [column[row].as_py() or "" for row in rows.tolist()]
    if pa.types.is_string(column.type):
        _, ends, data = column.buffers()
        places = np.frombuffer(ends, np.int32, len(column) + 1, column.offset * 4)
        letters = memoryview(data or b"")
        return [
            str(letters[a:b], "utf-8") for a, b in zip(places[rows].tolist(), places[rows + 1].tolist(), strict=True)
        ]
    cells = texts(column)
    return [cells[row] for row in rows.tolist()]
