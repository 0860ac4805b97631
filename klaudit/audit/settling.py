"""Which rows are within for sure, by their label and figures alone: the roof test as a few comparisons.

Readers of large files apply it while they read, and hand on only the rows that need their digits and the full judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit import averages
from klaudit.audit.claims import ANY_ERA, Claims, Figure
from klaudit.audit.detail import best_measured
from klaudit.audit.grouping import Grouping, usable
from klaudit.audit.search import ceiling, worlds
from klaudit.board import Board
from klaudit.catalog import Catalog
from klaudit.leaderboard import Bounds, FigureColumn, Leaderboard, Segment
from klaudit.roofline import dram_floor
from klaudit.verdict import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Column = NDArray[np.float64]

# So finely the times near the floor are cut: within a segment the bounds are those of its worse end.
_STEPS: Final = 24
# Sums of floats in another order differ by less.
_MARGIN: Final = 1e-12


def settler(
    catalog: Catalog, board: Board | None = None, policy: Policy | None = None
) -> Callable[[str, Sequence[FigureColumn]], Bounds | None]:
    """What finds the bounds of a label, "" for rows that name none, and of the figures that a file has.

    The bounds hold below the best measured figure too, so that no row inside them has another verdict or a note.
    None where nothing so simple can be said.
    """
    chosen = policy or Policy()
    return lambda label, figures: _bounds(label, figures, catalog, board, chosen)


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
    spans, segments = parts
    return Bounds(spans, segments, _one_row(label, figures, _inside(spans, segments, figures)))


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


def _of_claims(claims: Claims) -> tuple[tuple[tuple[float, float], ...], tuple[Segment, ...]] | None:
    """Spans and segments of one group of like rows."""
    (world,) = worlds(claims, 0)
    whole = world.whole
    measured = best_measured(claims)
    if measured is not None and claims.work.traffic.any():
        whole = np.maximum(whole, dram_floor(claims.work.traffic, measured))
    if len(claims.figures) == 1:
        return (_span(claims, claims.figures[0], whole),), ()
    pair = _mean_pair(claims)
    if pair is None:
        return None
    rate, _ = pair
    spans = tuple(_span(claims, figure, whole) for figure in claims.figures)
    return spans, _segments(claims.counted(rate), whole, claims.runs)


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


def _segments(work: Column, whole: Column, runs: float | None) -> tuple[Segment, ...]:
    """The rates that are possible with each mean time; the farther from the floor, the simpler."""
    floor = float(whole.mean(axis=0)[0])
    root = np.sqrt(work)
    # From here on no case is at its floor when the mean rate is least.
    free = float((whole / root).max() * root.mean())
    times = np.geomspace(floor, max(free, floor), _STEPS + 1)
    least = averages.least_mean_rate(work, whole, times[:-1])
    most = averages.largest_mean_rate(work, whole, times[1:], runs)
    near = [
        Segment(float(t), float(low) * (1 + _MARGIN), float(high) * (1 - _MARGIN), 0.0)
        for t, low, high in zip(times[:-1], least, np.broadcast_to(most, least.shape), strict=True)
    ]
    at_floor = (work / whole)[:, 0]
    lost = 0.0 if runs is None else float(at_floor.min()) / (len(at_floor) * runs)
    product = float(root.mean() ** 2)
    return (
        *near,
        Segment(float(times[-1]), 0.0, (float(at_floor.mean()) - lost) * (1 - _MARGIN), product * (1 + _MARGIN)),
    )


def _inside(
    spans: Sequence[tuple[float, float]], segments: Sequence[Segment], figures: Sequence[FigureColumn]
) -> list[float]:
    """Values well inside: far below the roof, and both of one run."""
    if not segments:
        return [2 * low if high == np.inf else high / 2 for low, high in spans]
    time = 2 * segments[-1].time
    rate = min(segments[-1].high, 1.5 * segments[-1].product / time)
    return [time if figure.kind == "time" else rate for figure in figures]
