"""Parquet, with the extra `bulk`: only the columns that say something, a batch at a time.

A table of kernelbot's submissions is recognised by its columns; its `code` alone is gigabytes and is never read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import Leaderboard
from klaudit.readers import kernelbot
from klaudit.readers.cells import Assembler
from klaudit.readers.columns import Comma
from klaudit.readers.fields import plan_columns
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_KINDS: Final = {"halffloat": "f2", "float": "f4", "double": "f8"}
_BATCH_CELLS: Final = 1_000_000


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The rows of an open file, a batch at a time.

    Raises
    ------
    InputError, UsageError
        As `klaudit.readers.read`.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UsageError(
            f"{source.label} is a Parquet file, which needs an extra: pip install 'klaudit[bulk]'"
        ) from None
    try:
        file = pq.ParquetFile(source.name if source.is_a_plain_file else io.BytesIO(source.whole()))
        yield from _batches(file, source, options)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source.label} is a damaged Parquet file: {str(error).splitlines()[0]}") from None


def _batches(file: Any, source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    names = [str(name) for name in file.schema_arrow.names]
    if len(names) > source.limits.columns:
        raise source.limits.exceeded("columns", f"{source.label} has {len(names)} columns")
    headers = headers_of(names)
    try:
        layout = plan_columns(headers, options)
    except (InputError, UsageError) as error:
        raise type(error)(f"{source.label}: {error}") from None
    wanted = sorted(layout.used)
    comma: Comma = "unclear" if options.decimal is None else ("decimal-only" if options.decimal == "," else "thousands")
    assembler = Assembler(source.name, layout, options, comma, "record")
    limit = max(1, min(options.batch_rows, _BATCH_CELLS // max(len(wanted), 1)))
    rows = 0
    for batch in file.iter_batches(batch_size=limit, columns=[names[i] for i in wanted]):
        # The columns that nobody reads stand as none at all: the layout counts them.
        columns: list[Sequence[str]] = [()] * len(headers)
        for place, index in enumerate(wanted):
            columns[index] = texts(batch.column(place))
        lines = range(rows + 1, rows + 1 + batch.num_rows)
        rows += batch.num_rows
        if batch.num_rows:
            yield assembler.assemble(lines, columns)
        if options.progress is not None:
            options.progress(rows, rows * source.size // max(file.metadata.num_rows, 1))
    if rows == 0:
        raise InputError(f"{source.label} has columns and no rows: nothing can be judged")


def headers_of(names: Sequence[str]) -> list[str]:
    """The columns' names; those of kernelbot's tables by what they mean."""
    if not {"submission_id", "score"} <= set(names):
        return list(names)
    return [kernelbot.COLUMNS.get(name, name) for name in names]


def texts(column: pa.Array) -> list[str]:
    """A column as cells: numbers in the fewest digits that give them back, times in ISO 8601, nothing for null."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type) and not pa.types.is_float64(column.type):
        # Of a narrow float the fewest digits are fewer than Python's own float would show.
        kept = is_there(column) if column.null_count else repeat(True)
        return [str(v) if is_kept else "" for v, is_kept in zip(values_of(column), kept, strict=False)]
    return ["" if v is None else _text(v) for v in column.to_pylist()]


def values_of(column: pa.Array) -> NDArray[np.generic]:
    """A column of numbers as it lies in memory; pyarrow's own way would import pandas, where that is installed."""
    kind = np.dtype(_KINDS.get(str(column.type), str(column.type)))
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)


def floats(column: pa.Array) -> NDArray[np.float64]:
    """A column of numbers, NaN where there is none."""
    values = values_of(column).astype(np.float64, copy=False)
    return np.where(is_there(column), values, np.nan) if column.null_count else values


def is_there(column: pa.Array) -> NDArray[np.bool_]:
    """Where a column with nulls has none."""
    bits = np.unpackbits(np.frombuffer(column.buffers()[0], np.uint8), bitorder="little")
    return bits[column.offset : column.offset + len(column)].astype(np.bool_)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()) if isoformat is not None else str(value)
