"""Large tables with the extra `bulk`: rows that are within for sure are only counted, and the others handed on.

CSV with one delimiter and no quotes is read by DuckDB, Parquet by pyarrow. Anything else, and whatever they would read
otherwise than the plain readers, goes to those, from that row on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit.bounds import Settled, Sieve
from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import Leaderboard
from klaudit.readers import bulk_csv
from klaudit.readers.cells import Assembler
from klaudit.readers.columns import Comma
from klaudit.readers.meanings import columns_read
from klaudit.readers.options import ReadOptions
from klaudit.readers.query import UNSETTLED, query
from klaudit.readers.settle import MOST_LABELS, NotBulk, find_bounds, is_simple
from klaudit.readers.source import Source
from klaudit.readers.words import read_label

if TYPE_CHECKING:
    import pyarrow as pa

# Above this share of the rows, settling saves nothing.
_MOST_UNSETTLED: Final = 0.5
_CHUNK: Final = 245_760  # two of DuckDB's row groups
# Rows that are not settled and handed on at once: few, for they are judged while DuckDB reads on.
_ENOUGH: Final = 2**15
_SETTINGS: Final = {"memory_limit": "400MB", "autoinstall_known_extensions": "false"}
# What DuckDB may find before somebody takes it: rows are judged while it reads on.
_AHEAD: Final = "SET streaming_buffer_size = '32MB'"


def read(source: Source, format_id: str, options: ReadOptions) -> Iterator[Leaderboard | Settled]:
    """The rows of a large file that need a judge, then the counts of the others.

    Raises
    ------
    NotBulk
        Where a plain reader must read the file, or what is left of it.
    """
    if options.settle is None or not source.is_a_plain_file or any(c in source.name for c in "*?["):
        raise NotBulk
    if format_id == "parquet":
        from klaudit.readers import bulk_parquet

        yield from bulk_parquet.read(source, options)
    elif format_id == "csv" and options.decimal != ",":
        yield from _Scan(source, options).rows()
    else:
        raise NotBulk


class _Scan:
    """One CSV file: DuckDB codes its rows, and those that no code settles become Leaderboards."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        try:
            table = bulk_csv.find_table(source, options)
            if table is None or not is_simple(table.layout):
                raise NotBulk
            self._labels, self._sieve = _find_bounds(table, options)
        except (InputError, UsageError):
            # Whatever is wrong with the file, the plain reader says it better.
            raise NotBulk from None
        comma: Comma = "unclear" if options.decimal is None else "thousands"
        self._source = source
        self._options = options
        self._table = table
        self._wanted = sorted(table.layout.used)
        self._assembler = Assembler(source.name, table.layout, options, comma)
        self._counts = np.zeros(UNSETTLED + 1, dtype=np.int64)
        self._lines: list[int] = []
        self._columns: list[list[str]] = [[] for _ in self._wanted]

    def rows(self) -> Iterator[Leaderboard | Settled]:
        """What `read` gives."""
        # The file is looked through beside the imports and the query: nothing is handed on before it is known to be
        # plain.
        look = bulk_csv.Look(self._source.name, self._table.start)
        try:
            yield from self._rows(look)
        finally:
            look.stop()

    def _rows(self, look: bulk_csv.Look) -> Iterator[Leaderboard | Settled]:
        try:
            import duckdb
            import pyarrow as pa
        except ImportError:
            raise NotBulk from None
        done, whole = 0, False
        try:
            with duckdb.connect(config=_SETTINGS) as connection:
                connection.execute(_AHEAD)
                relation = connection.sql(query(self._table, self._labels, self._sieve, self._wanted))
                # DuckDB before 1.5 has the same under an older name.
                stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
                for batch in stream(_CHUNK):
                    if not look.finds_it_plain():
                        break
                    done += self._add(batch, done)
                    yield from self._boards(min(self._options.batch_rows, _ENOUGH))
                    if self._counts[UNSETTLED] > max(_MOST_UNSETTLED * done, self._options.batch_rows):
                        break
                else:
                    whole = done > 0
        except (duckdb.Error, pa.ArrowException, OSError):
            # Whatever is wrong with the file, the plain reader says it better. Behind the first rows it comes through
            # pyarrow.
            pass
        if done:
            yield from self._boards(1)
            yield self._settled()
        if not whole:
            raise NotBulk(done)

    def _add(self, batch: pa.RecordBatch, done: int) -> int:
        """Take the rows of a batch behind so many others; returns how many there are."""
        codes = np.frombuffer(batch.column(0).buffers()[1], np.uint8, batch.num_rows, batch.column(0).offset)
        self._counts += np.bincount(codes, minlength=len(self._counts))
        places = np.flatnonzero(codes == UNSETTLED)
        self._lines += (places + (self._table.first_line + done)).tolist()
        cells = batch.column(1).values
        if len(cells) != len(places) * len(self._wanted):
            cells = batch.column(1).flatten()
        flat = cells.to_pylist()
        for place, column in enumerate(self._columns):
            column += flat[place :: len(self._wanted)]
        if self._options.progress is not None:
            size, rows = self._source.size, done + len(codes)
            self._options.progress(rows, min(size, size * rows // max(self._table.rows, 1)))
        return len(codes)

    def _boards(self, enough: int) -> Iterator[Leaderboard]:
        """The rows that are not settled, as soon as there are enough, in batches as the plain reader makes them."""
        most = self._options.batch_rows
        while len(self._lines) >= enough:
            columns: list[Sequence[str]] = [()] * len(self._table.layout.headers)
            for index, column in zip(self._wanted, self._columns, strict=True):
                columns[index] = column[:most]
                del column[:most]
            lines, self._lines = self._lines[:most], self._lines[most:]
            yield self._assembler.assemble(lines, columns)

    def _settled(self) -> Settled:
        """The rows that were counted."""
        labels = [read_label(text) or "" for text in self._labels]
        counts = self._counts[: 2 * len(labels)].tolist()
        settled = self._sieve.settled(labels, counts[::2], counts[1::2])
        return settled._replace(columns=columns_read(self._source.name, self._table.layout))


def _find_bounds(table: bulk_csv.Table, options: ReadOptions) -> tuple[list[str], Sieve]:
    """The labels that the sample has, as they are written, and their bounds; the most frequent where there are many."""
    index = table.layout.texts.get("gpu")
    common = [""] if index is None else [text for text, _ in Counter(table.sample[index]).most_common(MOST_LABELS)]
    found = find_bounds(common, table.layout, options)
    bounds = {text: known for text, known in found.items() if known is not None}
    if not bounds:
        raise NotBulk
    return list(bounds), Sieve(list(bounds.values()), [figure.kinds[0] for figure in table.layout.figures])
