"""Rows to claims: which card, which cases, which work and which figures each group of like rows speaks of.

Rows of one group share label, era, dtype and where their sizes come from, so that the judge sees whole columns.
Rows about which too little is known come out as `Unjudged`, each with its reason. No verdicts here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from klaudit.averages import Rule
from klaudit.board import Board, Era, Harness, Scoring
from klaudit.floors import Floors, Work
from klaudit.gpu import Gpu
from klaudit.leaderboard import FigureKind
from klaudit.workload import Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Index = NDArray[np.intp]

# Below this many runs, an average still owes something to how one run fell on the clock's steps.
RUNS_THAT_AVERAGE_TICKS_OUT = 5
ANY_ERA = Era("", Scoring(), Harness())


class Figure(NamedTuple):
    """One figure of a group's rows: an average over all cases, or one case's own (`case` is its index).

    `partial` is an average over some of the cases, nobody says which. `fastest` is the time of the fastest run alone:
    the clock's step excuses it, whatever it excuses of averages.
    """

    kind: FigureKind
    rule: Rule
    case: int | None
    value: Column
    low: Column
    high: Column
    header: str
    fastest: bool = False
    partial: bool = False

    @property
    def edges(self) -> tuple[Column, Column]:
        """Lowest and highest value that the print can stand for."""
        return self.low, self.high

    @property
    def favourable(self) -> Column:
        """The edge that favours the submission: the longest time, the lowest rate."""
        return self.high if self.kind == "time" else self.low

    def take(self, rows: Index | NDArray[np.bool_]) -> Figure:
        """The figure of some rows."""
        return self._replace(value=self.value[rows], low=self.low[rows], high=self.high[rows])

    def without(self, rows: Index) -> Figure:
        """The figure with nothing in some rows."""
        value, low, high = self.value.copy(), self.low.copy(), self.high.copy()
        for column in (value, low, high):
            column[rows] = np.nan
        return self._replace(value=value, low=low, high=high)


class Claims(NamedTuple):
    """Like rows, ready to judge.

    Attributes
    ----------
    rows : ndarray of int, shape (rows,)
        Their places in the leaderboard.
    cards : tuple of Gpu
        What the label can mean.
    case_names : tuple of str, length cases
        Empty names where each row is one case.
    work : Work
        What each case must do.
    figures : tuple of Figure
        What the rows report.
    conditions : int
        The conditions that may be considered, as bits.
    steady : bool
        Whether averages are of so many runs that the clock's step does not excuse them.
    """

    rows: Index
    label: str
    cards: tuple[Gpu, ...]
    board: Board | None
    era: Era
    workload: Workload | None
    case_names: tuple[str, ...]
    case_sizes: tuple[dict[str, float], ...]
    work: Work
    figures: tuple[Figure, ...]
    conditions: int
    notes: tuple[str, ...] = ()
    steady: bool = False

    @property
    def launch(self) -> float:
        """The least time a launch can appear to take [s]."""
        return 0.0 if self.work.boundless_cache else self.era.harness.launch_floor

    @property
    def runs(self) -> float | None:
        """The most runs whose rates a case's rate averages; 1 where it divides work by mean time; None if unknown."""
        scoring = self.era.scoring
        if scoring.case_rate == "work-over-mean-time":
            return 1.0
        return None if scoring.runs is None else float(scoring.runs[1])

    @property
    def mean_of_runs(self) -> bool:
        """Whether a case's rate may exceed its work over its mean time."""
        return self.runs != 1.0

    def counted(self, figure: Figure) -> Column:
        """What a figure counts: bytes for a bandwidth, operations otherwise; shape (cases, ...)."""
        work = self.work.traffic if figure.kind == "bandwidth" else self.work.flops
        return work if figure.case is None else work[figure.case : figure.case + 1]

    def take(self, keep: Index | NDArray[np.bool_]) -> Claims:
        """Some of the rows."""
        return Claims(
            self.rows[keep], self.label, self.cards, self.board, self.era, self.workload, self.case_names,
            self.case_sizes, self.work.take(keep), tuple(f.take(keep) for f in self.figures), self.conditions,
            self.notes, self.steady,
        )  # fmt: skip

    def least(self, figure: Figure, world: Floors) -> Column:
        """The least times of the cases that a figure's clock can show in a world of floors [s]."""
        return world.untimed if self.steady and not figure.fastest else world.whole


class Unjudged:
    """Rows that no judge can take, with the rule and the reason."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, str, str]] = []

    def add(self, rows: Index, rule: str, message: str) -> None:
        """Note one reason for several rows."""
        self.rows.extend((int(row), rule, message) for row in rows)
