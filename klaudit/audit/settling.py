"""Which rows are within for sure, by their label and figures alone: the roof test as a few comparisons.

Readers of large files apply it while they read, and hand on only the rows that need their digits and the full judge;
an audit that keeps no rows applies it to what other readers hand it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from klaudit import averages
from klaudit.audit.claims import ANY_ERA, Claims, Figure
from klaudit.audit.detail import best_measured
from klaudit.audit.grouping import Grouping, usable
from klaudit.audit.search import ceiling, worlds
from klaudit.board import Board
from klaudit.bounds import Bounds, Figures, Region, Settled, Sieve, Together
from klaudit.catalog import Catalog
from klaudit.leaderboard import FigureColumn, Leaderboard
from klaudit.roofline import dram_floor
from klaudit.verdict import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

# Chords of the least rate between the floor and where it is free of it.
_CHORDS: Final = 4
# Sums of floats in another order differ by less.
_MARGIN: Final = 1e-12
# Rows that are judged sooner than their labels' bounds are found.
FEW: Final = 2_000


def settler(
    catalog: Catalog, board: Board | None = None, policy: Policy | None = None
) -> Callable[[str, Sequence[FigureColumn]], Bounds | None]:
    """What finds the bounds of a label, "" for rows that name none, and of the figures that a file has.

    None where nothing so simple can be said.
    """
    chosen = policy or Policy()
    return lambda label, figures: _bounds(label, figures, catalog, board, chosen)


class Settling:
    """Takes the rows that are within for sure out of batches before they are judged."""

    def __init__(self, catalog: Catalog, board: Board | None, policy: Policy) -> None:
        self._find = settler(catalog, board, policy)
        self._known: dict[tuple[object, ...], Bounds | None] = {}

    def split(self, batch: Leaderboard) -> tuple[Settled | None, Leaderboard]:
        """The rows of a batch that are settled, as counts, and the others."""
        if len(batch) < FEW:
            return None, batch
        if batch.sizes or batch.work or batch.dtype_codes is not None or any(f.fastest for f in batch.figures):
            return None, batch
        labels = (*batch.gpu_labels, "")
        sieve = Sieve([self._bounds(label, batch.figures) for label in labels], [f.kind for f in batch.figures])
        codes = batch.gpu_codes
        told = np.zeros(len(batch), dtype=np.bool_)
        told[[trouble.row for trouble in batch.troubles]] = True
        quiet = sieve.quiet([figure.value for figure in batch.figures], codes) & ~told
        rest = np.flatnonzero(~quiet)
        figures = [Figures(f.value[rest], f.low[rest], f.high[rest]) for f in batch.figures]
        noted = sieve.noted(figures, codes[rest]) & ~told[rest]
        left = rest[~noted]
        if len(left) == len(batch):
            return None, batch
        # Code -1 is the last label.
        counts = [
            np.roll(np.bincount(some + 1, minlength=len(labels)), -1).tolist()
            for some in (codes[quiet], codes[rest[noted]])
        ]
        return sieve.settled(labels, *counts), batch.take(left)

    def _bounds(self, label: str, figures: Sequence[FigureColumn]) -> Bounds | None:
        key = (label, *((f.kind, f.rule, f.case) for f in figures))
        if key not in self._known:
            self._known[key] = self._find(label, figures)
        return self._known[key]


def _bounds(
    label: str, figures: Sequence[FigureColumn], catalog: Catalog, board: Board | None, policy: Policy
) -> Bounds | None:
    row = _one_row(label, figures, [1.0] * len(figures))
    era = board.eras[0] if board is not None else ANY_ERA
    grouping = Grouping(row, catalog, board, era, policy)
    groups = grouping.split(np.array([0]))
    # Under several eras the day decides, and a day takes longer to read than a figure.
    if (board is not None and len(board.eras) > 1) or len(groups) != 1 or any(grouping.noted.values()):
        return None
    (claims,) = groups
    if len(claims.figures) != len(figures) or not usable(claims).all():
        return None
    (world,) = worlds(claims, 0)
    roof = _region(claims, world.whole)
    bandwidth = best_measured(claims)
    if roof is None:
        return None
    if bandwidth is None:
        return Bounds(roof, None, (), _one_row(label, figures, _inside(roof, figures)))
    floor = dram_floor(claims.work.traffic, bandwidth)
    quiet = _region(claims, np.maximum(world.whole, floor))
    assert quiet is not None
    measured = tuple(float(ceiling(claims, figure, floor)[0]) for figure in claims.figures)
    return Bounds(quiet, roof, measured, _one_row(label, figures, _inside(quiet, figures)))


def _one_row(label: str, figures: Sequence[FigureColumn], values: Sequence[float]) -> Leaderboard:
    columns = [np.array([value]) for value in values]
    return Leaderboard(
        source="",
        lines=np.array([1]),
        entries=[""],
        gpu_labels=(label,) if label else (),
        gpu_codes=np.array([0 if label else -1]),
        figures=tuple(
            FigureColumn(f.kind, column, column, column, f.rule, f.case, f.header, f.unit)
            for f, column in zip(figures, columns, strict=True)
        ),
    )


def _region(claims: Claims, whole: Column) -> Region | None:
    """Where the figures of one group of like rows are possible when each case takes `whole`; None where nobody knows.

    `whole` may be longer than any run must be.
    """
    if len(claims.figures) == 1:
        return Region((float(ceiling(claims, claims.figures[0], whole)[0]),))
    cases = {figure.case for figure in claims.figures if figure.kind == "time" and not figure.fastest}
    if len(cases) == len(claims.figures) and None not in cases:
        # A time for each case: nothing that they could contradict.
        return Region(tuple(float(ceiling(claims, figure, whole)[0]) for figure in claims.figures))
    pair = _mean_pair(claims)
    if pair is None:
        return None
    rate, _ = pair
    work = claims.counted(rate)
    # The highest rate falls with the time, but never below this: every run at its floor and one that takes for ever.
    at_floor = (work / whole)[:, 0]
    lost = 0.0 if claims.runs is None else float(at_floor.min()) / (len(at_floor) * claims.runs)
    highest = (float(at_floor.mean()) - lost) * (1 - _MARGIN)
    best = tuple(float(ceiling(claims, f, whole)[0]) if f.kind == "time" else highest for f in claims.figures)
    return Region(best, _together(work, whole))


def _mean_pair(claims: Claims) -> tuple[Figure, Figure] | None:
    """A mean rate and a mean time over several cases: the one pair of which the bounds are known."""
    if len(claims.figures) != 2 or len(claims.case_names) == 1:
        return None
    time, rate = sorted(claims.figures, key=lambda f: f.kind != "time")
    alike = time.rule == rate.rule == "mean" and time.case is rate.case is None
    return (rate, time) if alike and time.kind == "time" and rate.kind != "time" else None


def _together(work: Column, whole: Column) -> Together:
    """The least rate that goes with a mean time, from above: it is convex, so its chords lie above it."""
    floor = float(whole.mean(axis=0)[0])
    root = np.sqrt(work)
    # From here on no case is at its floor when the mean rate is least, and rate times time is all.
    free = max(float((whole / root).max() * root.mean()), floor)
    lines = []
    if free > floor * (1 + _MARGIN):
        times = np.geomspace(floor, free, _CHORDS + 1)
        rates = averages.least_mean_rate(work, whole, times) * (1 + _MARGIN)
        slopes = np.diff(rates) / np.diff(times)
        lines = list(zip((rates[:-1] - slopes * times[:-1]).tolist(), slopes.tolist(), strict=True))
    return Together(float(root.mean() ** 2) * (1 + _MARGIN), tuple(lines))


def _inside(region: Region, figures: Sequence[FigureColumn]) -> list[float]:
    """Values well inside: far below the roof, and both of one run."""
    if region.together is None:
        return [2 * b if f.kind == "time" else b / 2 for b, f in zip(region.best, figures, strict=True)]
    (floor,) = (b for b, figure in zip(region.best, figures, strict=True) if figure.kind == "time")
    time = 10 * floor
    return [time if figure.kind == "time" else 1.5 * region.together.product / time for figure in figures]


class Gathered:
    """What is left of batches of which most rows were settled, until there is enough to judge at once."""

    def __init__(self, enough: int) -> None:
        self._enough = enough
        self._parts: list[Leaderboard] = []
        self._rows = 0

    def add(self, batch: Leaderboard) -> Iterator[Leaderboard]:
        """Take in a batch; gives what is to be judged now, in order."""
        if self._parts and not _alike(self._parts[0], batch):
            yield from self.finish()
        self._parts.append(batch)
        self._rows += len(batch)
        if self._rows >= self._enough:
            yield from self.finish()

    def finish(self) -> Iterator[Leaderboard]:
        """What is left."""
        parts, self._parts, self._rows = self._parts, [], 0
        if sum(map(len, parts)):
            yield parts[0] if len(parts) == 1 else _join(parts)


def _alike(first: Leaderboard, second: Leaderboard) -> bool:
    """Whether two batches have the same columns, none of which is particular to its batch."""

    def form(batch: Leaderboard) -> tuple[object, ...]:
        figures = tuple((f.kind, f.rule, f.case, f.header, f.unit, f.fastest) for f in batch.figures)
        return (batch.source, figures, batch.days is None, batch.runs is None, batch.paths is None)

    plain = not any((b.sizes or b.work or b.dtype_codes is not None) for b in (first, second))
    return plain and form(first) == form(second)


def _join(parts: Sequence[Leaderboard]) -> Leaderboard:
    """Batches of one form as one."""
    labels = tuple(dict.fromkeys(label for part in parts for label in part.gpu_labels))
    places = {label: place for place, label in enumerate(labels)}
    # The last entry serves rows without a label, whose code is -1.
    codes = [np.array([*(places[label] for label in part.gpu_labels), -1])[part.gpu_codes] for part in parts]
    starts = itertools.accumulate(map(len, parts), initial=0)
    first = parts[0]

    def together(read: Callable[[Leaderboard], NDArray[Any] | None]) -> NDArray[Any]:
        return np.concatenate([column for part in parts if (column := read(part)) is not None])

    return Leaderboard(
        source=first.source,
        lines=together(lambda part: part.lines),
        entries=[entry for part in parts for entry in part.entries],
        gpu_labels=labels,
        gpu_codes=np.concatenate(codes),
        figures=tuple(
            figure._replace(
                value=np.concatenate([part.figures[place].value for part in parts]),
                low=np.concatenate([part.figures[place].low for part in parts]),
                high=np.concatenate([part.figures[place].high for part in parts]),
            )
            for place, figure in enumerate(first.figures)
        ),
        days=None if first.days is None else together(lambda part: part.days),
        runs=None if first.runs is None else together(lambda part: part.runs),
        troubles=tuple(
            trouble._replace(row=trouble.row + start)
            for part, start in zip(parts, starts, strict=False)
            for trouble in part.troubles
        ),
        paths=None if first.paths is None else tuple(path for part in parts for path in part.paths or ()),
    )
