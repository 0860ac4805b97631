"""Large Parquet files: numbers stay arrays, rows that are within are counted, and names are read when asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

import numpy as np

from klaudit.bounds import Bounds, Figures, Settled, Sieve
from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import FigureColumn, Leaderboard
from klaudit.readers.cells import Assembler
from klaudit.readers.fields import FigurePlan, Layout, plan_columns
from klaudit.readers.floats import read_floats
from klaudit.readers.meanings import columns_read
from klaudit.readers.options import ReadOptions
from klaudit.readers.parquet import headers_of, texts, values_of
from klaudit.readers.settle import MOST_LABELS, NotBulk, find_bounds, is_simple
from klaudit.readers.source import Source
from klaudit.readers.words import read_label, says_no
from klaudit.units import Unit

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]

_BATCH: Final = 2**18
# Rows whose columns stay in the cache while they are held against the bounds.
_BLOCK: Final = 2**15
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
        yield from _Sifting(table, source, options).rows(pq)
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
    words = [i for i in (layout.texts.get("gpu"), *(index for index, _ in layout.accepted)) if i is not None]
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


class _Rest(NamedTuple):
    """Rows that are not settled: their places in the file, their labels' places (-1 for none), and their figures."""

    rows: Index
    labels: Index
    figures: list[Figures]


class _Sifting:
    """Holds one file against the bounds of its labels."""

    def __init__(self, table: _Table, source: Source, options: ReadOptions) -> None:
        self._table = table
        self._layout = table.layout
        self._source = source
        self._options = options
        self._columns = columns_read(source.name, table.layout)
        self._assembler = Assembler(source.name, table.layout, options, "unclear", "record")
        # Places of labels as they are met; those beyond the most have no bounds, and the last are rows without a label.
        self._places: dict[str, int] = {}
        self._bounds: list[Bounds | None] = [None] * (MOST_LABELS + 2)
        self._bounds[-1] = find_bounds([""], self._layout, options)[""]
        self._sieve = self._new_sieve()
        self._quiet, self._noted = np.zeros((2, len(self._bounds)), dtype=np.int64)
        self._held: list[_Rest] = []

    def rows(self, pq: Any) -> Iterator[Leaderboard | Settled]:
        """What `read` gives."""
        names, words = self._table.names, self._table.words
        wanted = [*(f.column for f in self._layout.figures), *words]
        file = pq.ParquetFile(
            self._source.name, metadata=self._table.metadata, read_dictionary=[names[i] for i in words]
        )
        done = 0
        for batch in _ahead(file.iter_batches(batch_size=_BATCH, columns=[names[i] for i in wanted])):
            yield from self._sift({index: batch.column(names[index]) for index in wanted}, batch.num_rows, done)
            done += batch.num_rows
            if self._options.progress is not None:
                self._options.progress(done, done * self._source.size // self._table.metadata.num_rows)
        yield from self._boards(1)
        labels = [*self._places][:MOST_LABELS]
        labels += [""] * (len(self._bounds) - len(labels))
        settled = self._sieve.settled(labels, self._quiet.tolist(), self._noted.tolist())
        yield settled._replace(columns=self._columns)

    def _sift(self, cells: dict[int, pa.Array], count: int, done: int) -> Iterator[Leaderboard]:
        """Count the settled rows of a batch behind so many others, and keep the rest."""
        labels, codes = self._labels(cells, count)
        bounds = np.minimum(labels, MOST_LABELS)
        places = bounds[codes]
        raw = [_floats(cells[figure.column]) for figure in self._layout.figures]
        refused = self._refused(cells, count)
        quiet = self._is_quiet(raw, places) & ~refused
        rows = np.flatnonzero(~quiet)
        np.add.at(self._quiet, bounds, np.bincount(codes, minlength=len(bounds)))
        np.subtract.at(self._quiet, places[rows], 1)
        odd = refused[rows]
        for column in raw:
            odd |= ~((column[rows] >= _ORDINARY[0]) & (column[rows] < _ORDINARY[1]))
        if odd.any():
            # What is wrong with a cell is said of its text.
            yield from self._boards(1)
            yield self._from_texts(cells, rows, done)
            return
        figures = [
            read_floats(column[rows], _unit(f), int(f.column not in self._table.integers))
            for column, f in zip(raw, self._layout.figures, strict=True)
        ]
        noted = self._sieve.noted(figures, places[rows])
        np.add.at(self._noted, places[rows[noted]], 1)
        left = ~noted
        self._held.append(
            _Rest(
                done + rows[left],
                labels[codes[rows[left]]],
                [Figures(*(c[left] for c in figure)) for figure in figures],
            )
        )
        yield from self._boards(_ENOUGH)

    @np.errstate(over="ignore")
    def _is_quiet(self, raw: list[Column], places: Index) -> Flags:
        """Rows of which there is nothing to say."""
        quiet = np.empty(len(places), dtype=np.bool_)
        for start in range(0, len(places), _BLOCK):
            block = slice(start, start + _BLOCK)
            values = [column[block] * _unit(f).scale for column, f in zip(raw, self._layout.figures, strict=True)]
            quiet[block] = self._sieve.quiet(values, places[block])
        return quiet

    def _new_sieve(self) -> Sieve:
        return Sieve(self._bounds, [figure.kinds[0] for figure in self._layout.figures])

    def _labels(self, cells: dict[int, pa.Array], count: int) -> tuple[Index, Index]:
        """The places of a batch's labels among all that were met, the last -1 for none, and each row's one of them."""
        index = self._layout.texts.get("gpu")
        if index is None:
            return np.array([-1]), np.zeros(count, dtype=np.intp)
        codes, words = _codes(cells[index])
        known = len(self._places)
        labels = map(read_label, words)
        places = [-1 if x is None else self._places.setdefault(x, len(self._places)) for x in labels]
        new = list(self._places)[known:MOST_LABELS]
        if new:
            found = find_bounds(new, self._layout, self._options)
            self._bounds[known : known + len(new)] = found.values()
            self._sieve = self._new_sieve()
        return np.array([*places, -1]), codes

    def _refused(self, cells: dict[int, pa.Array], count: int) -> Flags:
        """Rows that say that they do not count."""
        refused = np.zeros(count, dtype=np.bool_)
        for index, good in self._layout.accepted:
            codes, words = _codes(cells[index])
            refused |= np.array([*(says_no(text, good) for text in words), False])[codes]
        return refused

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
        names = list(self._places)
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
                FigureColumn(f.kinds[0], *numbers, f.rule, header=f.header, unit=_unit(f).text)
                for f, numbers in zip(self._layout.figures, figures, strict=True)
            ),
            columns=self._columns,
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


def _unit(figure: FigurePlan) -> Unit:
    assert figure.unit is not None
    return figure.unit


def _floats(column: pa.Array) -> Column:
    """A column of numbers, NaN where there is none."""
    values = values_of(column).astype(np.float64, copy=False)
    if column.null_count:
        values = np.where(np.array(column.is_valid().to_pylist()), values, np.nan)
    return values


def _codes(column: pa.Array) -> tuple[Index, list[str]]:
    """A column of words as places in a list of texts, behind them all where there is none."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = values_of(column.indices).astype(np.intp)
    words = texts(column.dictionary)
    if column.null_count:
        codes[np.array(column.is_null().to_pylist())] = len(words)
    return codes, words
