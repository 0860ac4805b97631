"""Large tables with the extra `bulk`: DuckDB reads the columns that count, and rows that are within are only counted.

CSV with one delimiter and no quotes, and Parquet. Anything else, and whatever DuckDB would read otherwise than the
plain readers, goes to them; so nothing is handed on before the file has been read to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from klaudit.errors import InputError, UsageError
from klaudit.leaderboard import Bounds, FigureColumn, Leaderboard, Settled
from klaudit.readers import bulk_csv, parquet
from klaudit.readers.cells import Assembler
from klaudit.readers.columns import Comma
from klaudit.readers.fields import Layout
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source
from klaudit.readers.tables import Table, quoted
from klaudit.readers.words import read_label, says_no

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

# Labels that are told apart; rows of others are judged one by one.
_MOST_LABELS: Final = 100
# So many rows that are not settled are held until the end of the file.
_MOST_HELD: Final = 1_000_000
# Above this share of a sample, settling saves nothing.
_MOST_UNSETTLED: Final = 0.5
_UNSETTLED: Final = 255
# The judge forgives half as much rounding of sums.
_MARGIN: Final = 2e-9
_CHUNK: Final = 983_040  # eight of DuckDB's row groups
_MEMORY: Final = "400MB"


class NotBulk(Exception):
    """The file is not for this reader."""


def read(source: Source, format_id: str, options: ReadOptions) -> Iterator[Leaderboard | Settled]:
    """The rows of a large file that need a judge, then the counts of the others.

    Raises
    ------
    NotBulk
        Before anything is handed on, where a plain reader must read the file.
    """
    if options.settle is None or not source.is_a_plain_file or any(c in source.name for c in "*?["):
        raise NotBulk
    try:
        import duckdb
        import pyarrow  # noqa: F401 (DuckDB hands its batches on through it)
    except ImportError:
        raise NotBulk from None
    try:
        table = _open(source, format_id, options)
        bounds = _find_bounds(table, options)
        connection = duckdb.connect(config={"memory_limit": _MEMORY, "autoinstall_known_extensions": "false"})
        with connection:
            boards, counts = _scan(connection, table, bounds, source, options)
    except (duckdb.Error, InputError, UsageError):
        # Whatever is wrong with the file, the plain reader says it better.
        raise NotBulk from None
    yield from boards
    settled = _settled(counts, bounds)
    if settled.counts:
        yield settled


def _settled(counts: Sequence[int], bounds: Mapping[str, Bounds]) -> Settled:
    """The counts by code as counts by label: of each two codes the second is above the best measured figure."""
    rows: Counter[str] = Counter()
    above: Counter[str] = Counter()
    for place, text in enumerate(bounds):
        label = read_label(text) or ""
        rows[label] += counts[2 * place] + counts[2 * place + 1]
        above[label] += counts[2 * place + 1]
    examples = {read_label(text) or "": known.example for text, known in bounds.items()}
    return Settled(+rows, +above, {label: examples[label] for label in +rows})


def _open(source: Source, format_id: str, options: ReadOptions) -> Table:
    table = None
    if format_id == "csv" and options.decimal != ",":
        table = bulk_csv.find_table(source, options)
    elif format_id == "parquet":
        table = parquet.find_table(source, options)
    if table is None or not _is_simple(table.layout):
        raise NotBulk
    return table


def _is_simple(layout: Layout) -> bool:
    """Whether figures over all cases are all that a verdict rests on."""
    plain = all(len(f.kinds) == 1 and f.unit is not None and f.case is None and not f.fastest for f in layout.figures)
    others = (*layout.sizes, *layout.work, layout.runs, layout.baseline, layout.speedup)
    return plain and not any(others) and not {"dtype", "traffic"} & layout.texts.keys()


def _find_bounds(table: Table, options: ReadOptions) -> dict[str, Bounds]:
    """The bounds of the labels that the sample has, as written; of the most frequent where there are too many."""
    assert options.settle is not None
    layout = table.layout
    empty = np.zeros(0)
    figures = [FigureColumn(f.kinds[0], empty, empty, empty, f.rule, header=f.header) for f in layout.figures]
    if "gpu" not in layout.texts:
        written = [""]
    else:
        written = [text for text, _ in Counter(table.sample[layout.texts["gpu"]]).most_common(_MOST_LABELS)]
    found = {text: options.settle(read_label(text) or "", figures) for text in written}
    bounds = {text: known for text, known in found.items() if known is not None}
    if not bounds:
        raise NotBulk
    return bounds


# -- the question to DuckDB -------------------------------------------------------------------------------------------


def _query(table: Table, bounds: Mapping[str, Bounds]) -> tuple[str, list[int]]:
    """The query whose first column is each row's label, or 255; the others are the cells of rows that have that."""
    layout = table.layout
    wanted = sorted(layout.used)
    numbers = [_number(table, f.index) for f in layout.figures]
    scales = [f.unit.scale for f in layout.figures if f.unit is not None]
    tests = [_test(b, [f.kinds[0] for f in layout.figures], scales) for b in bounds.values()]
    if "gpu" in layout.texts:
        arms = [
            f"WHEN {quoted(text)} THEN CASE WHEN {test} THEN {_code(table, bounds[text], 2 * i)} ELSE {_UNSETTLED} END"
            for i, (text, test) in enumerate(zip(bounds, tests, strict=True))
        ]
        code = f"CASE CAST(c{layout.texts['gpu']} AS VARCHAR) {' '.join(arms)} ELSE {_UNSETTLED} END"
    else:
        code = f"CASE WHEN {tests[0]} THEN {_code(table, next(iter(bounds.values())), 0)} ELSE {_UNSETTLED} END"
    for index, good in layout.accepted:
        fine = sorted({t for t in table.sample[index] if not says_no(t, good)})[:_MOST_LABELS]
        among = ", ".join(map(quoted, fine)) or "NULL"
        code = f"CASE WHEN CAST(c{index} AS VARCHAR) IN ({among}) THEN {code} ELSE {_UNSETTLED} END"
    if "date" in layout.texts:
        code = f"CASE WHEN {_is_day(layout.texts['date'])} THEN {code} ELSE {_UNSETTLED} END"
    values = ", ".join(f"{n} AS v{i}" for i, n in enumerate(numbers))
    inner = f"SELECT *, {values} FROM {table.relation}"
    middle = f"SELECT *, CAST(coalesce({code}, {_UNSETTLED}) AS UTINYINT) AS code FROM ({inner})"
    # One list for all cells of a row costs less than a column for each, most of them empty.
    parts = [f"c{i}" for i in wanted] if table.numeric else ["[" + ", ".join(f"c{i}" for i in wanted) + "]"]
    cells = ", ".join(f"CASE WHEN code = {_UNSETTLED} THEN {part} END" for part in parts)
    return f"SELECT code, {cells} FROM ({middle})", wanted


def _is_day(index: int) -> str:
    """Whether a cell is a day or a time that the plain reader takes; any other makes a note."""
    cell = f"CAST(c{index} AS VARCHAR)"
    pattern = "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z?)?"
    return f"regexp_full_match({cell}, '{pattern}') AND TRY_CAST(left({cell}, 10) AS DATE) >= DATE '0001-01-01'"


def _code(table: Table, bounds: Bounds, code: int) -> str:
    """The code of a row that is within: the next one where its figure beats the best measured one.

    Only so near the roof its digits count, which say how it was rounded; where they are not plain, the judge decides.
    """
    if bounds.measured is None:
        return str(code)
    (figure,) = table.layout.figures
    assert figure.unit is not None
    best = bounds.measured / figure.unit.scale
    cell, is_time = f"c{figure.index}", figure.kinds[0] == "time"
    far = f"v0 >= {best!r}" if is_time else f"v0 <= {best!r}"
    if figure.index in table.numeric:
        return f"CASE WHEN {far} THEN {code} ELSE {_UNSETTLED} END"
    decimals = f"CASE WHEN contains({cell}, '.') THEN strlen({cell}) - strpos({cell}, '.') ELSE 0 END"
    edge = f"v0 {'+' if is_time else '-'} 0.5 * pow(10, -({decimals}))"
    beaten = f"{edge} < {best * (1 - _MARGIN)!r}" if is_time else f"{edge} > {best * (1 + _MARGIN)!r}"
    equal = f"{edge} >= {best!r}" if is_time else f"{edge} <= {best!r}"
    plain = f"strlen({cell}) < 12 AND regexp_full_match({cell}, '[0-9]+([.][0-9]+)?')"
    by_digits = f"CASE WHEN {beaten} THEN {code + 1} WHEN {equal} THEN {code} ELSE {_UNSETTLED} END"
    return f"CASE WHEN {far} THEN {code} WHEN {plain} THEN {by_digits} ELSE {_UNSETTLED} END"


def _number(table: Table, index: int) -> str:
    """A cell as a number, where the plain reader would read the same one."""
    if index in table.numeric:
        return f"CAST(c{index} AS DOUBLE)"
    plain = f"strlen(c{index}) < 64" + f" AND NOT contains(c{index}, '_')" * table.underscores
    return f"CASE WHEN {plain} THEN TRY_CAST(c{index} AS DOUBLE) END"


def _test(bounds: Bounds, kinds: Sequence[str], scales: Sequence[float]) -> str:
    """Whether a row's numbers lie within the bounds, in the units of its columns."""
    tests = []
    for i, ((low, high), scale) in enumerate(zip(bounds.spans, scales, strict=True)):
        # DuckDB puts NaN above everything; a bare zero is no figure.
        least = f"v{i} >= {low / scale!r}" if low > 0 else f"v{i} > 0"
        tests.append(f"{least} AND v{i} <= {min(high / scale, 1e300)!r}")
    if bounds.together is not None:
        time = next(i for i, kind in enumerate(kinds) if kind == "time")
        rate = 1 - time
        tests.append(f"v{rate} * v{time} >= {bounds.together.product / scales[rate] / scales[time]!r}")
        for intercept, slope in bounds.together.lines:
            a, b = intercept / scales[rate], slope * scales[time] / scales[rate]
            tests.append(f"v{rate} >= {a!r} + {b!r} * v{time}")
    return " AND ".join(tests)


# -- its answer -------------------------------------------------------------------------------------------------------


def _scan(
    connection: Any, table: Table, bounds: Mapping[str, Bounds], source: Source, options: ReadOptions
) -> tuple[list[Leaderboard], list[int]]:
    """The rows that are not settled, as Leaderboards, and how many there are of each code."""
    query, wanted = _query(table, bounds)
    comma: Comma = "unclear" if options.decimal is None else "thousands"
    assembler = Assembler(source.name, table.layout, options, comma, table.unit_of_lines)
    rest = _Rest(assembler, wanted, options.batch_rows)
    counts = np.zeros(_UNSETTLED + 1, dtype=np.int64)
    rows = 0
    # In the order of the file, which is what makes a row's place its line.
    relation = connection.sql(query)
    # DuckDB before 1.5 has the same under an older name.
    stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    for batch in stream(_CHUNK):
        codes = parquet.values_of(batch.column(0)).astype(np.int64)
        counts += np.bincount(codes, minlength=len(counts))
        rest.add(batch, np.flatnonzero(codes == _UNSETTLED), rows + table.first_line)
        rows += len(codes)
        if rest.held > _MOST_HELD or rest.held > max(_MOST_UNSETTLED * rows, options.batch_rows):
            raise NotBulk
        if options.progress is not None:
            options.progress(rows, min(source.size, source.size * rows // max(table.rows, 1)))
    if not rows:
        raise NotBulk
    return rest.finish(), counts.tolist()


class _Rest:
    """The rows that are not settled, batch by batch as the plain reader makes them."""

    def __init__(self, assembler: Assembler, wanted: Sequence[int], most: int) -> None:
        self.held = 0
        self._assembler = assembler
        self._wanted = wanted
        self._most = most
        self._boards: list[Leaderboard] = []
        self._lines: list[int] = []
        self._columns: list[list[str]] = [[] for _ in wanted]

    def add(self, batch: pa.RecordBatch, places: NDArray[np.intp], first: int) -> None:
        """Take the rows at some places of a batch whose first row stands on a line."""
        if not len(places):
            return
        self.held += len(places)
        self._lines += (places + first).tolist()
        if batch.num_columns == 2:
            flat = batch.column(1).flatten().to_pylist()
            parts = [flat[i :: len(self._wanted)] for i in range(len(self._wanted))]
        else:
            parts = [parquet.texts(column.take(places)) for column in batch.columns[1:]]
        for column, part in zip(self._columns, parts, strict=True):
            column += part
        while len(self._lines) >= self._most:
            self._assemble(self._most)

    def finish(self) -> list[Leaderboard]:
        """All of them."""
        if self._lines:
            self._assemble(len(self._lines))
        return self._boards

    def _assemble(self, count: int) -> None:
        columns: list[Sequence[str]] = [()] * len(self._assembler.layout.headers)
        for index, column in zip(self._wanted, self._columns, strict=True):
            columns[index] = column[:count]
            del column[:count]
        lines, self._lines = self._lines[:count], self._lines[count:]
        self._boards.append(self._assembler.assemble(lines, columns))
