"""Which rows are within for sure, by their label and figures alone: the roof test as a few comparisons.

Readers of large files apply it while they read, and hand on only the rows that need their digits and the full judge;
an audit that keeps no rows applies it to what other readers hand it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from klaudit import averages
from klaudit.audit.claims import ANY_ERA, Claims, Figure
from klaudit.audit.detail import best_measured
from klaudit.audit.grouping import Grouping, usable
from klaudit.audit.search import ceiling, worlds
from klaudit.board import Board
from klaudit.catalog import Catalog
from klaudit.leaderboard import Bounds, FigureColumn, Leaderboard, Settled, Together
from klaudit.roofline import dram_floor
from klaudit.verdict import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Spans = tuple[tuple[float, float], ...]

# Chords of the least rate between the floor and where it is free of it.
_CHORDS: Final = 4
# Sums of floats in another order differ by less.
_MARGIN: Final = 1e-12
# Rows that are judged sooner than their labels' bounds are found.
FEW: Final = 2_000
_TINY: Final = float(np.finfo(np.float64).tiny)


def settler(
    catalog: Catalog, board: Board | None = None, policy: Policy | None = None
) -> Callable[[str, Sequence[FigureColumn]], Bounds | None]:
    """What finds the bounds of a label, "" for rows that name none, and of the figures that a file has.

    No row inside them has another verdict, nor a note unless the bounds tell which. None where nothing so simple can
    be said.
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
        # Code -1 is the last label.
        bounds = [self._bounds(label, batch.figures) for label in labels]
        inside = _inside_bounds(batch, bounds)
        inside[[trouble.row for trouble in batch.troubles]] = False
        if not inside.any():
            return None, batch
        codes = np.where(batch.gpu_codes < 0, len(labels) - 1, batch.gpu_codes)
        counts = np.bincount(codes[inside], minlength=len(labels)).tolist()
        above = np.bincount(codes[inside & _above_measured(batch, bounds)], minlength=len(labels)).tolist()
        present = [i for i, count in enumerate(counts) if count]
        settled = Settled(
            {labels[i]: counts[i] for i in present},
            {labels[i]: above[i] for i in present},
            {labels[i]: known.example for i in present if (known := bounds[i]) is not None},
        )
        return settled, batch.take(np.flatnonzero(~inside))

    def _bounds(self, label: str, figures: Sequence[FigureColumn]) -> Bounds | None:
        key = (label, *((f.kind, f.rule, f.case) for f in figures))
        if key not in self._known:
            self._known[key] = self._find(label, figures)
        return self._known[key]


def _inside_bounds(batch: Leaderboard, bounds: Sequence[Bounds | None]) -> NDArray[np.bool_]:
    """Rows inside the bounds of their label; no comparison with the NaN of a label without any is true."""
    codes, figures = batch.gpu_codes, batch.figures
    none = [(np.nan, np.nan)] * len(figures)
    spans = np.array([none if b is None else b.spans for b in bounds])
    inside = np.ones(len(batch), dtype=np.bool_)
    for place, figure in enumerate(figures):
        low, high = spans[:, place, 0], spans[:, place, 1]
        # A bare zero is no figure. NaN low ends are the labels without bounds.
        inside &= figure.value > 0 if np.all(low == 0) else figure.value >= np.maximum(low, _TINY)[codes]
        if not np.isinf(high[~np.isnan(high)]).all():
            inside &= figure.value <= high[codes]
    pairs = [None if b is None else b.together for b in bounds]
    if any(pairs):
        time, rate = sorted(figures, key=lambda f: f.kind != "time")
        product = np.array([np.nan if p is None else p.product for p in pairs])
        inside &= rate.value * time.value >= product[codes]
        for index in range(max(len(p.lines) for p in pairs if p is not None)):
            lines = [p.lines[index] if p is not None and index < len(p.lines) else (0.0, 0.0) for p in pairs]
            intercept, slope = np.array(lines).T
            inside &= rate.value >= intercept[codes] + slope[codes] * time.value
    return inside


def _above_measured(batch: Leaderboard, bounds: Sequence[Bounds | None]) -> NDArray[np.bool_]:
    """Rows whose one figure beats the best measured one, rounding forgiven."""
    if len(batch.figures) != 1:
        return np.zeros(len(batch), dtype=np.bool_)
    (figure,) = batch.figures
    measured = [np.nan if b is None or b.measured is None else b.measured for b in bounds]
    best = np.array(measured)[batch.gpu_codes]
    if figure.kind == "time":
        return np.asarray(figure.high < best * (1 - averages.EDGE))
    return np.asarray(figure.low > best * (1 + averages.EDGE))


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
    parts = _of_claims(claims)
    if parts is None:
        return None
    spans, together, measured = parts
    return Bounds(spans, together, _one_row(label, figures, _inside(spans, together, figures)), measured)


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


def _of_claims(claims: Claims) -> tuple[Spans, Together | None, float | None] | None:
    """Spans of one group of like rows, what holds of two figures together, and the one figure as best measured."""
    (world,) = worlds(claims, 0)
    whole = world.whole
    bandwidth = best_measured(claims)
    measured = None if bandwidth is None else dram_floor(claims.work.traffic, bandwidth)
    if len(claims.figures) == 1:
        figure = claims.figures[0]
        best = None if measured is None else float(ceiling(claims, figure, measured)[0])
        return (_span(claims, figure, whole),), None, best
    if measured is not None:
        whole = np.maximum(whole, measured)
    cases = {figure.case for figure in claims.figures if figure.kind == "time" and not figure.fastest}
    if len(cases) == len(claims.figures) and None not in cases:
        # A time for each case: nothing that they could contradict.
        return tuple(_span(claims, figure, whole) for figure in claims.figures), None, None
    pair = _mean_pair(claims)
    if pair is None:
        return None
    rate, _ = pair
    work = claims.counted(rate)
    # The highest rate falls with the time, but never below this: every run at its floor and one that takes for ever.
    at_floor = (work / whole)[:, 0]
    lost = 0.0 if claims.runs is None else float(at_floor.min()) / (len(at_floor) * claims.runs)
    highest = (float(at_floor.mean()) - lost) * (1 - _MARGIN)
    spans = tuple(_span(claims, f, whole) if f.kind == "time" else (0.0, highest) for f in claims.figures)
    return spans, _together(work, whole), None


def _span(claims: Claims, figure: Figure, whole: Column) -> tuple[float, float]:
    best = float(ceiling(claims, figure, whole)[0])
    return (best, np.inf) if figure.kind == "time" else (0.0, best)


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


def _inside(spans: Spans, together: Together | None, figures: Sequence[FigureColumn]) -> list[float]:
    """Values well inside: far below the roof, and both of one run."""
    if together is None:
        return [2 * low if high == np.inf else high / 2 for low, high in spans]
    ((lowest, _),) = (span for span, figure in zip(spans, figures, strict=True) if figure.kind == "time")
    time = 10 * lowest
    return [time if figure.kind == "time" else 1.5 * together.product / time for figure in figures]


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
            replace(
                figure,
                value=np.concatenate([part.figures[place].value for part in parts]),
                low=np.concatenate([part.figures[place].low for part in parts]),
                high=np.concatenate([part.figures[place].high for part in parts]),
            )
            for place, figure in enumerate(first.figures)
        ),
        days=None if first.days is None else together(lambda part: part.days),
        runs=None if first.runs is None else together(lambda part: part.runs),
        troubles=tuple(
            replace(trouble, row=trouble.row + start)
            for part, start in zip(parts, starts, strict=False)
            for trouble in part.troubles
        ),
        paths=None if first.paths is None else tuple(path for part in parts for path in part.paths or ()),
    )
