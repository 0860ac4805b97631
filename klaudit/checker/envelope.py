"""The narrowest strip around a cloud of points: the best constant, multiple and affine function of an input, exactly.

A submission that writes ``m * x + c`` is accepted with an absolute tolerance ``a`` where every output lies in its
interval: ``low <= m * x + c + a`` and ``m * x + c - a <= high``, with ``low, high = reference -+ rtol * |reference|``.
The least such ``a`` depends on the points of two convex hulls alone, and hulls can be gathered chunk by chunk.
No files, no boards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Column = NDArray[np.float64]

_BINS: Final = 256
_CELLS: Final = 1024
_STRIDE: Final = 64
# Below this many points the plain algorithm is the quickest.
_FEW: Final = 512
_SAMPLE: Final = 1024
# Of the strip's own half height, which no constant, multiple or affine function can undercut.
_PRECISION: Final = 1e-4


def upper_hull(x: Column, y: Column, slack: float = 0.0) -> tuple[Column, Column]:
    """The points above which there is none: the upper convex hull, by growing x.

    Parameters
    ----------
    x, y : ndarray, shape (points,)
    slack : float
        Corners that stand out by no more than this may be left out: all points of a smooth curve are corners.

    Returns
    -------
    tuple of ndarray

    Examples
    --------
    >>> x, y = upper_hull(np.array([0.0, 1.0, 2.0, 1.0]), np.array([0.0, 3.0, 0.0, 1.0]))
    >>> x.tolist(), y.tolist()
    ([0.0, 1.0, 2.0], [0.0, 3.0, 0.0])
    """
    stride = _STRIDE if len(x) > _FEW * _STRIDE else 1
    while len(x) > _FEW:
        rough = _chain(*_highest_by_bin(x[::stride], y[::stride]))
        keep = _above(rough, x, y, slack)
        if stride == 1 and np.count_nonzero(keep) > len(x) // 2:
            break
        x, y, stride = np.append(rough[0], x[keep]), np.append(rough[1], y[keep]), 1
    return _chain(x, y)


def _highest_by_bin(x: Column, y: Column) -> tuple[Column, Column]:
    """The highest point of each of some bins along x, and of both ends."""
    order = np.lexsort((-y, x))
    starts = np.unique(np.linspace(0, len(x) - 1, _BINS).astype(np.int64))
    tops = np.maximum.reduceat(y[order], starts)
    bins = np.searchsorted(starts, np.arange(len(x)), side="right") - 1
    best = np.flatnonzero(y[order] == tops[bins])
    # One point of each bin is enough, and the two ends are on every hull.
    best = best[np.unique(bins[best], return_index=True)[1]]
    chosen = order[np.unique(np.concatenate([best, [0, len(x) - 1]]))]
    return x[chosen], y[chosen]


def _above(hull: tuple[Column, Column], x: Column, y: Column, slack: float) -> NDArray[np.bool_]:
    """Points above a hull by more than `slack`, and those beyond its ends.

    A table of chords stands for the hull: they are below it, so no point above it is missed.
    """
    left, right = hull[0][0], hull[0][-1]
    if not right > left:
        return np.ones(len(x), dtype=np.bool_)
    edges = np.interp(np.linspace(left, right, _CELLS + 1), *hull) + slack
    place = (x - left) * (_CELLS / (right - left))
    cell = np.clip(place, 0, _CELLS - 1).astype(np.intp)
    place -= cell
    place *= np.diff(edges)[cell]
    place += edges[cell]
    return np.asarray((y > place) | (x < left) | (x > right))


def _chain(x: Column, y: Column) -> tuple[Column, Column]:
    """Andrew's monotone chain."""
    order = np.lexsort((-y, x))
    xs: list[float] = []
    ys: list[float] = []
    for a, b in zip(x[order].tolist(), y[order].tolist(), strict=True):
        if xs and a == xs[-1]:
            continue
        while len(xs) > 1 and (xs[-1] - xs[-2]) * (b - ys[-2]) >= (ys[-1] - ys[-2]) * (a - xs[-2]):
            xs.pop()
            ys.pop()
        xs.append(a)
        ys.append(b)
    return np.array(xs), np.array(ys)


class Strip(NamedTuple):
    """What all outputs of a case ask of a function of one input.

    Attributes
    ----------
    floor_x, floor : ndarray
        The upper hull of (input, low): the function must not pass below these.
    ceiling_x, ceiling : ndarray
        The lower hull of (input, high): nor above these.
    """

    floor_x: Column
    floor: Column
    ceiling_x: Column
    ceiling: Column

    @classmethod
    def around(cls, x: Column, low: Column, high: Column) -> Strip:
        """The strip around a cloud of intervals, to within `_PRECISION` of its own width."""
        stride = max(len(x) // _SAMPLE, 1)
        slack = 0.0
        if stride > 1:
            slack = _PRECISION * cls._exactly(x[::stride], low[::stride], high[::stride], 0.0).width
        return cls._exactly(x, low, high, slack)

    @classmethod
    def _exactly(cls, x: Column, low: Column, high: Column, slack: float) -> Strip:
        ceiling_x, ceiling = upper_hull(x, -high, slack)
        return cls(*upper_hull(x, low, slack), ceiling_x, -ceiling)

    @classmethod
    def merge(cls, strips: Iterable[Strip]) -> Strip:
        """The strip of several clouds together."""
        each = list(strips)
        if len(each) == 1:
            return each[0]

        def joined(name: str) -> Column:
            return np.concatenate([getattr(strip, name) for strip in each])

        slack = _PRECISION * max(strip.width for strip in each)
        ceiling_x, ceiling = upper_hull(joined("ceiling_x"), -joined("ceiling"), slack)
        return cls(*upper_hull(joined("floor_x"), joined("floor"), slack), ceiling_x, -ceiling)

    @property
    def width(self) -> float:
        """Half the strip's height around the best affine function; of either sign."""
        short, past = self._sides(np.append(self._corners(), 0.0))
        return abs(float((short + past).min())) / 2

    def _sides(self, slopes: Column) -> tuple[Column, Column]:
        """How far ``slope * x`` falls short of the floor, and how far it passes the ceiling, for each slope."""
        short = (self.floor - np.multiply.outer(slopes, self.floor_x)).max(axis=-1)
        past = (np.multiply.outer(slopes, self.ceiling_x) - self.ceiling).max(axis=-1)
        return short, past

    def needed(self, slope: float, offset: float) -> float:
        """The least absolute tolerance with which ``slope * x + offset`` is accepted; at least 0."""
        short, past = self._sides(np.array([slope]))
        return max(float(short[0]) - offset, float(past[0]) + offset, 0.0)

    def best_constant(self) -> float:
        """The constant that needs the least tolerance."""
        return float(self.floor.max() + self.ceiling.min()) / 2

    def best_multiple(self) -> float:
        """The factor with which a multiple of the input needs the least tolerance.

        Both sides are convex and made of straight pieces, so the least of the larger one is at a corner of either, or
        where they cross: between two neighbouring corners, or beyond the outermost ones, where the hulls' ends rule.
        """
        corners = np.unique(np.append(self._corners(), 0.0))
        short, past = self._sides(corners)
        gap = short - past
        with np.errstate(divide="ignore", invalid="ignore"):
            between = corners[:-1] + np.diff(corners) * gap[:-1] / (gap[:-1] - gap[1:])
            beyond = np.add.outer(self.floor[[0, -1]], self.ceiling[[0, -1]]).ravel()
            beyond /= np.add.outer(self.floor_x[[0, -1]], self.ceiling_x[[0, -1]]).ravel()
        tried = np.concatenate([corners, between[gap[:-1] * gap[1:] < 0], beyond])
        tried = tried[np.isfinite(tried)]
        short, past = self._sides(tried)
        return float(tried[np.argmin(np.maximum(short, past))])

    def best_affine(self) -> tuple[float, float]:
        """Slope and offset with which an affine function of the input needs the least tolerance."""
        tried = np.append(self._corners(), 0.0)
        short, past = self._sides(tried)
        best = int(np.argmin(short + past))
        return float(tried[best]), float(short[best] - past[best]) / 2

    def _corners(self) -> Column:
        """The slopes of the hulls' edges."""
        return np.concatenate(
            [np.diff(self.floor) / np.diff(self.floor_x), np.diff(self.ceiling) / np.diff(self.ceiling_x)]
        )
