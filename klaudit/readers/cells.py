"""Columns of cells to a Leaderboard: every row is carried, and what could not be read becomes a Trouble."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from klaudit.leaderboard import ColumnsRead, FigureColumn, FigureKind, Leaderboard, Trouble
from klaudit.readers.columns import Comma, Expect, Numbers, read_numbers, unit_kind
from klaudit.readers.fields import FigurePlan, Layout, NumberPlan
from klaudit.readers.meanings import columns_read
from klaudit.readers.options import ReadOptions
from klaudit.readers.words import REREADS, encode, is_missing, of_another_board, read_days, read_label, says_no
from klaudit.workload import find_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

Cells = Sequence[Sequence[str]]

_SHOWN = 40
_COUNT_ZEROS = ("flops", "reads", "writes", "flops_per_element")
_COUNTS = {
    "runs": "count of runs",
    "flops": "count of operations",
    "flops_per_element": "count of operations",
    "reads": "count of bytes",
    "writes": "count of bytes",
    "bytes_per_element": "count of bytes",
    "speedup": "speedup",
}
_EXAMPLE_UNITS: dict[FigureKind, str] = {"time": "ms", "rate": "GFLOPS", "bandwidth": "GB/s"}


def show_cell(text: str) -> str:
    """A cell for a message: quoted, control characters escaped, not too long.

    Examples
    --------
    >>> print(show_cell("a\\x1b[31m"))
    'a\\x1b[31m'
    """
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


class Assembler:
    """Makes Leaderboards of one file's batches; remembers what it has already said of a whole column.

    `own_headers` tells that the headers are the file's, and not its format's.
    """

    def __init__(
        self,
        source: str,
        layout: Layout,
        options: ReadOptions,
        comma: Comma,
        unit_of_lines: str = "line",
        own_headers: bool = True,
    ) -> None:
        self.source = source
        self.layout = layout
        self.options = options
        self.comma = comma
        self.unit_of_lines = unit_of_lines
        self.own_headers = own_headers
        self.columns: ColumnsRead | None = None
        self.settled = False
        self.noted: set[int] = set()

    def assemble(
        self,
        lines: Sequence[int],
        columns: Cells,
        troubles: Sequence[Trouble] = (),
        paths: Sequence[str] | None = None,
    ) -> Leaderboard:
        """One batch.

        Parameters
        ----------
        lines : sequence of int
            The line on which each record starts.
        columns : sequence of sequence of str
            The cells, column by column, all as long as `lines`.
        troubles : sequence of Trouble
            What is already known of these rows.
        paths : sequence of str, optional
            Where each record stands in a document.
        """
        if not self.settled:
            self.layout = self.layout.settle(_kinds_by_cells(self.layout.figures, columns))
            self.columns = columns_read(self.source, self.layout) if self.own_headers else None
            self.settled = True
        board = _Batch(self, lines, columns, troubles).build()
        return board if paths is None else replace(board, paths=tuple(paths))


class _Batch:
    """One batch while it is being read."""

    def __init__(self, house: Assembler, lines: Sequence[int], columns: Cells, troubles: Sequence[Trouble]) -> None:
        self.house = house
        self.layout = house.layout
        self.lines = lines
        self.columns = columns
        self.troubles = list(troubles)
        self.unitless: list[tuple[int, int, FigureKind]] = []

    def build(self) -> Leaderboard:
        layout, texts = self.layout, self.layout.texts
        labels, codes = self._words("gpu", read_label)
        dtypes, dtype_codes = self._words("dtype", find_dtype)
        figures = tuple(self._figure(plan) for plan in layout.figures) + self._speedup()
        sizes = {p.field: self._numbers(p).value for p in layout.sizes}
        work = {p.field: self._numbers(p).value for p in layout.work}
        runs = self._numbers(layout.runs).value if layout.runs else None
        days = self._days(texts["date"]) if "date" in texts else None
        if "dtype" in texts:
            self._note_dtypes(texts["dtype"], dtype_codes)
        self._note_refused()
        self._note_other_boards()
        self._note_rereads()
        self._note_unitless(figures)
        return Leaderboard(
            source=self.house.source,
            lines=_integers(self.lines),
            entries=list(map(str.strip, self.columns[texts["entry"]])) if "entry" in texts else [""] * len(self.lines),
            gpu_labels=labels,
            gpu_codes=codes,
            figures=figures,
            days=days,
            sizes=sizes,
            work=work,
            dtypes=dtypes,
            dtype_codes=dtype_codes if "dtype" in texts else None,
            runs=runs,
            troubles=tuple(sorted(self.troubles, key=lambda t: t.row)),
            columns=self.house.columns,
        )

    def _words(self, field: str, read: Callable[[str], str | None]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        index = self.layout.texts.get(field)
        if index is None:
            return (), np.full(len(self.lines), -1, dtype=np.int64)
        return encode(self.columns[index], read)

    def _figure(self, plan: FigurePlan) -> FigureColumn:
        kind = plan.kinds[0]
        what = kind if len(plan.kinds) == 1 else "figure"
        numbers = self._read(plan.column, Expect(what, plan.kinds, plan.unit, comma=self.house.comma))
        self.unitless += [(row, plan.column, kind) for row in numbers.unitless]
        return FigureColumn(
            kind=kind,
            value=numbers.value,
            low=numbers.low,
            high=numbers.high,
            rule=plan.rule,
            case=plan.case,
            header=plan.header,
            unit=numbers.unit_text,
            fastest=plan.fastest,
        )

    def _speedup(self) -> tuple[FigureColumn, ...]:
        """The time that a baseline and a speedup over it give."""
        baseline, speedup = self.layout.baseline, self.layout.speedup
        if baseline is None or speedup is None:
            return ()
        slow = self._read(baseline.column, Expect("time", ("time",), baseline.unit, comma=self.house.comma))
        self.unitless += [(row, baseline.column, "time") for row in slow.unitless]
        times = self._numbers(speedup)
        return (
            FigureColumn(
                kind="time",
                value=slow.value / times.value,
                low=slow.low / times.high,
                high=slow.high / times.low,
                header=f"{baseline.header} / {speedup.header}",
                unit=slow.unit_text,
            ),
        )

    def _numbers(self, plan: NumberPlan) -> Numbers:
        zero: Literal["allowed", "refused"] = "allowed" if plan.field in _COUNT_ZEROS else "refused"
        what = "size" if plan in self.layout.sizes else _COUNTS[plan.field]
        suffix = "xX\u00d7" if plan.field == "speedup" else ""
        expect = Expect(what, plan.unit_kinds, plan.unit, True, zero, self.house.comma, suffix)
        return self._read(plan.column, expect)

    def _read(self, index: int, expect: Expect) -> Numbers:
        numbers = read_numbers(self.columns[index], expect)
        for row, rule, reason in numbers.bad:
            self._note(row, index, rule, reason)
        return numbers

    def _days(self, index: int) -> NDArray[np.datetime64]:
        days, bad = read_days(self.columns[index])
        for row in bad:
            self._note(row, index, "unknown-date", "is no date: write 2026-03-01 or 2026-03-01T12:00:00Z")
        return days

    def _note(self, row: int, index: int, rule: str, reason: str, fatal: bool = False) -> None:
        place = f"{self.house.unit_of_lines} {self.lines[row]}, column {self.layout.headers[index]!r}"
        self.troubles.append(Trouble(row, rule, f"{place}: {show_cell(self.columns[index][row])} {reason}", fatal))

    def _note_dtypes(self, index: int, codes: NDArray[np.int64]) -> None:
        """An unknown dtype is no excuse where the board states one; elsewhere the row's bytes are then unknown."""
        board = self.house.options.board
        stated = board is not None and board.dtype is not None
        for row in np.flatnonzero(codes < 0).tolist():
            if not is_missing(self.columns[index][row]):
                reason = "is no dtype that is known: write float32, bfloat16, fp8 ..."
                self._note(row, index, "unknown-dtype", reason, fatal=not stated)

    def _note_refused(self) -> None:
        for index, good in self.layout.accepted:
            column = self.columns[index]
            refused = {text for text in dict.fromkeys(column) if says_no(text, good)}
            for row in [r for r, text in enumerate(column) if text in refused] if refused else ():
                self._note(row, index, "not-accepted", "says that the row does not count", fatal=True)

    def _note_other_boards(self) -> None:
        """A row of another leaderboard, of other sizes perhaps, is none for this board's rules."""
        index, board = self.layout.texts.get("leaderboard"), self.house.options.board
        if index is None or board is None:
            return
        column = self.columns[index]
        others = {text for text in dict.fromkeys(column) if of_another_board(text, board)}
        known = ", ".join(leaderboard.name for leaderboard in board.leaderboards)
        for row in [r for r, text in enumerate(column) if text in others] if others else ():
            self._note(row, index, "other-board", f"is none of the leaderboards of {board.id}: {known}", fatal=True)

    def _note_rereads(self) -> None:
        """Bytes that were read again bound no time: the first cache may have served them."""
        index = self.layout.texts.get("traffic")
        if index is None:
            return
        for row, text in enumerate(self.columns[index]):
            if text.strip().casefold() in REREADS:
                self._note(row, index, "not-compulsory", "counts bytes that were read again", fatal=True)

    def _note_unitless(self, figures: Sequence[FigureColumn]) -> None:
        """A column without a unit is said once, and in each row that has nothing else to judge."""
        if not self.unitless:
            return
        judged = np.zeros(len(self.lines), dtype=np.bool_)
        for figure in figures:
            judged |= ~np.isnan(figure.value)
        for row, index, kind in self.unitless:
            if not judged[row] or index not in self.house.noted:
                self.house.noted.add(index)
                example = f"{self.layout.headers[index]} ({_EXAMPLE_UNITS[kind]})"
                reason = f"has no unit: write it in the header, as in {example!r}, or in the cell"
                self._note(row, index, "unknown-unit", reason)


def _integers(numbers: Sequence[int]) -> NDArray[np.int64]:
    if isinstance(numbers, range):
        return np.arange(numbers.start, numbers.stop, dtype=np.int64)
    return np.asarray(numbers, dtype=np.int64)


def _kinds_by_cells(figures: Sequence[FigurePlan], columns: Cells) -> dict[int, FigureKind]:
    """The kind that most cells of a column show by their units, where its header shows none."""
    kinds: dict[int, FigureKind] = {}
    for plan in figures:
        if len(plan.kinds) > 1:
            seen: Counter[str | None] = Counter(map(unit_kind, columns[plan.column]))
            kind = max(plan.kinds, key=lambda k: seen[k])
            if seen[kind]:
                kinds[plan.column] = kind
    return kinds
