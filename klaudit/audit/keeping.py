"""Which findings an audit keeps as sentences: the first ones or, where all must be seen, the worst. No judging."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol

from klaudit.audit.judgement import Judgement
from klaudit.audit.reports import report_rows
from klaudit.report import RowReport, Summary, Suppressed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]

# Rows reported at once where all are asked for.
STEP: Final = 1024


class Accepting(Protocol):
    """What marks findings that were accepted beforehand, one by one in the order of the input."""

    every: bool

    def mark(self, row: RowReport) -> RowReport:
        """The finding with its fingerprint and, where it was accepted, by what."""

    def again(self) -> Accepting:
        """The same, to go through the same findings once more."""


class Keeping:
    """Findings up to a maximum; the rest is counted.

    Attributes
    ----------
    left_out : int
        Findings beyond the maximum.
    """

    def __init__(self, maximum: int, accept: Accepting | None) -> None:
        self.left_out = 0
        self._maximum = maximum
        self._accept = accept
        self._count = 0
        self._suppressed = Summary()
        self._suppressed_rows: list[RowReport] = []
        # The mildest first, of equals the last: that one goes when a worse one comes.
        self._heap: list[tuple[tuple[int, float, float], int, RowReport]] = []
        self._first: list[RowReport] = []

    @property
    def room(self) -> int | None:
        """How many of the next findings are looked at; None where it is all of them."""
        if self._accept is not None and self._accept.every:
            return None
        return max(self._maximum - len(self._first), 0)

    def add(self, judgement: Judgement, flagged: Index, marks: Mapping[str, Flags]) -> None:
        """Take in the flagged rows of one batch."""
        room, accept = self.room, self._accept
        if room is None and accept is not None:
            for start in range(0, len(flagged), STEP):
                for row in report_rows(judgement, flagged[start : start + STEP], marks):
                    self._take(accept.mark(row))
            return
        rows = report_rows(judgement, flagged[:room], marks)
        self._first += rows if accept is None else [accept.mark(row) for row in rows]
        self.left_out += len(flagged) - len(rows)

    def _take(self, row: RowReport) -> None:
        if row.suppressed:
            self._suppressed.counts[row.verdict] += 1
            if len(self._suppressed_rows) < self._maximum:
                self._suppressed_rows.append(row)
            return
        self._count += 1
        item = (row.severity, -self._count, row)
        if len(self._heap) < self._maximum:
            heapq.heappush(self._heap, item)
            return
        self.left_out += 1
        if self._maximum:
            heapq.heappushpop(self._heap, item)

    @property
    def findings(self) -> tuple[RowReport, ...]:
        """The findings kept, in the order of the input."""
        return (*self._first, *(row for _, _, row in sorted(self._heap, key=lambda item: -item[1])))

    @property
    def suppressed(self) -> Suppressed:
        """The findings accepted beforehand."""
        return Suppressed(self._suppressed, tuple(self._suppressed_rows))
