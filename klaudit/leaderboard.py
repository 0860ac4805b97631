"""Leaderboard: the submissions of one file (or one part of it) as columns. No physics, no verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

FigureKind = Literal["rate", "time", "bandwidth"]


@dataclass(frozen=True, slots=True, eq=False)
class FigureColumn:
    """One figure that rows report, in SI.

    Attributes
    ----------
    kind : {"rate", "time", "bandwidth"}
        In FLOP/s, s or B/s.
    rule : {"mean", "geomean", "total"} or None
        How cases were averaged, where the column says so; None is the board's own rule.
    case : str or None
        The case it belongs to, where it is a per-case figure.
    value, low, high : ndarray, shape (rows,)
        The number and the edges of its rounding; NaN where a row has none.
    header : str
        The column as the file names it.
    unit : str
        The unit as the file writes it, for reports.
    """

    kind: FigureKind
    value: Column
    low: Column
    high: Column
    rule: Literal["mean", "geomean", "total"] | None = None
    case: str | None = None
    header: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something about one row that its reader could not take: a rule's slug and a sentence.

    `fatal` rows are not judged at all (not accepted, say); others only where nothing else of them can be.
    """

    row: int
    rule: str
    message: str
    fatal: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Leaderboard:
    """Submissions as columns, all of one length.

    Attributes
    ----------
    source : str
        The file, as reports name it.
    lines : ndarray of int, shape (rows,)
        The line on which each record starts (the header is line 1).
    entries : list of str, length rows
        Who or what was submitted, as text of the file: never markup.
    gpu_labels : tuple of str
        The distinct GPU labels.
    gpu_codes : ndarray of int, shape (rows,)
        The index of each row's label, -1 where it has none.
    figures : tuple of FigureColumn
        What the rows report.
    days : ndarray of datetime64[D], shape (rows,), or None
        Submission dates, NaT where unknown.
    sizes : mapping of str to ndarray, shape (rows,)
        The rows' own sizes (`n`, `m` ...), NaN where a row has none.
    work : mapping of str to ndarray, shape (rows,)
        The rows' own counts: flops, reads, writes [B], or flops_per_element, bytes_per_element; NaN where absent.
    dtypes : tuple of str
        The distinct dtypes.
    dtype_codes : ndarray of int, shape (rows,), or None
        The index of each row's dtype, -1 where it has none.
    runs : ndarray, shape (rows,), or None
        How many runs each figure averages; NaN where unknown.
    troubles : tuple of Trouble
        What could not be read, row by row.
    """

    source: str
    lines: NDArray[np.int64]
    entries: list[str]
    gpu_labels: tuple[str, ...]
    gpu_codes: NDArray[np.int64]
    figures: tuple[FigureColumn, ...]
    days: NDArray[np.datetime64] | None = None
    sizes: Mapping[str, Column] = field(default_factory=dict)
    work: Mapping[str, Column] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ()
    dtype_codes: NDArray[np.int64] | None = None
    runs: Column | None = None
    troubles: tuple[Trouble, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)
