"""Bounds: which rows of a label are within for sure, by their figures alone. No physics, no verdicts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from klaudit.leaderboard import ColumnsRead, FigureKind, Leaderboard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Codes = NDArray[np.signedinteger[Any]]

# A figure beats another for sure only beyond this: the judge forgives half as much rounding of sums.
BEYOND: Final = 2e-9


class Together(NamedTuple):
    """What makes a rate and a time fit together for sure, beside the span of each.

    Attributes
    ----------
    product : float
        Least rate times time [FLOP or B].
    lines : tuple of (float, float)
        Each an intercept and a slope: the rate is at least intercept + slope · time.
    """

    product: float
    lines: tuple[tuple[float, float], ...]


class Region(NamedTuple):
    """Where the figures of a row may lie.

    Attributes
    ----------
    best : tuple of float
        The most that each rate and the least that each time may be [SI].
    together : Together or None
        For a rate and a time; None where the figures do not bind each other.
    """

    best: tuple[float, ...]
    together: Together | None = None


class Bounds(NamedTuple):
    """What makes a row of one label within for sure, whatever else it says: most rows need no closer look.

    Attributes
    ----------
    quiet : Region
        Rows inside are within and have no note.
    roof : Region or None
        Rows inside are within; None where that is the quiet region, for nothing is measured.
    measured : tuple of float
        Each figure at the best measured bandwidth: a row inside the roof that beats one has the note above-measured.
    example : Leaderboard
        One quiet row, to be judged in the place of all.
    """

    quiet: Region
    roof: Region | None
    measured: tuple[float, ...]
    example: Leaderboard


class Settled(NamedTuple):
    """Rows within their label's bounds, counted and not carried.

    Attributes
    ----------
    counts : mapping of str to int
        Rows by label; "" for rows that name no GPU.
    above_measured : mapping of str to int
        Those of them that beat the best measured figure.
    examples : mapping of str to Leaderboard
        One row that stands for those of a label.
    columns : ColumnsRead or None
        As of a Leaderboard.
    """

    counts: Mapping[str, int]
    above_measured: Mapping[str, int]
    examples: Mapping[str, Leaderboard]
    columns: ColumnsRead | None = None


class Figures(NamedTuple):
    """One figure of some rows, shape (rows,): the number and the edges of its rounding [SI]."""

    value: Column
    low: Column
    high: Column


class Sieve:
    """The bounds of several labels, to hold whole columns against; the last of them is for rows without a label.

    Attributes
    ----------
    quiet_regions, roofs : Regions
        Of the labels in turn.
    measured : ndarray, shape (figures, labels)
        The best measured figures, NaN where nothing is measured.
    """

    def __init__(self, bounds: Sequence[Bounds | None], kinds: Sequence[FigureKind]) -> None:
        import numpy as np

        self.bounds = tuple(bounds)
        self.kinds = tuple(kinds)
        self.quiet_regions = Regions([None if b is None else b.quiet for b in bounds], kinds)
        self.roofs = Regions([None if b is None else b.roof for b in bounds], kinds)
        unknown = (np.nan,) * len(kinds)
        self.measured = np.array([b.measured if b is not None and b.roof is not None else unknown for b in bounds]).T

    def quiet(self, values: Sequence[Column], labels: Codes) -> Flags:
        """Rows of which there is nothing to say, shape (rows,); labels of -1 are the last."""
        return self.quiet_regions.inside(values, labels)

    def noted(self, figures: Sequence[Figures], labels: Codes) -> Flags:
        """Rows within that beat the best measured figure for sure, shape (rows,)."""
        import numpy as np

        beaten = np.zeros(len(labels), dtype=np.bool_)
        for kind, figure, measured in zip(self.kinds, figures, self.measured, strict=True):
            best = measured[labels]
            beaten |= figure.high < best * (1 - BEYOND) if kind == "time" else figure.low > best * (1 + BEYOND)
        return beaten & self.roofs.inside([figure.value for figure in figures], labels)

    def settled(self, labels: Sequence[str], quiet: Sequence[int], noted: Sequence[int]) -> Settled:
        """Counts by place in the bounds as counts by label."""
        counts: dict[str, int] = {}
        above: dict[str, int] = {}
        examples = {}
        for label, known, few, more in zip(labels, self.bounds, quiet, noted, strict=True):
            if known is not None and few + more:
                # Two spellings may be one label.
                counts[label] = counts.get(label, 0) + few + more
                above[label] = above.get(label, 0) + more
                examples[label] = known.example
        return Settled(counts, above, examples)


class Regions:
    """One region for each label, in units of its best figures; comparisons with NaN keep labels without one out.

    Attributes
    ----------
    per_best : ndarray, shape (figures, labels)
        What makes a figure a share of the best one.
    product : float or None
        The least share of the rate times share of the time; None where figures do not bind each other.
    lines : tuple of (float, float)
        The share of the rate is at least intercept + slope · share of the time.
    """

    def __init__(self, regions: Sequence[Region | None], kinds: Sequence[FigureKind]) -> None:
        import numpy as np

        self.kinds = tuple(kinds)
        self.anywhere = any(regions)
        nowhere = (np.nan,) * len(kinds)
        with np.errstate(divide="ignore"):
            self.per_best = 1 / np.array([nowhere if r is None else r.best for r in regions]).T
        self.product: float | None = None
        self.lines: tuple[tuple[float, float], ...] = ()
        bound = [r for r in regions if r is not None and r.together is not None]
        if bound:
            self.time = next(place for place, kind in enumerate(kinds) if kind == "time")
            own = [self._in_units_of_best(r) for r in bound]
            # Of cards that differ by a factor the lines are the same; of others those hold that keep more rows out.
            self.product = max(product for product, _ in own)
            each = itertools.zip_longest(*(lines for _, lines in own), fillvalue=(-np.inf, -np.inf))
            self.lines = tuple((max(a for a, _ in lines), max(b for _, b in lines)) for lines in each)

    def _in_units_of_best(self, region: Region) -> tuple[float, list[tuple[float, float]]]:
        """What its figures must meet together."""
        assert region.together is not None
        rate, time = region.best[1 - self.time], region.best[self.time]
        lines = [(intercept / rate, slope * time / rate) for intercept, slope in region.together.lines]
        return region.together.product / rate / time, lines

    def inside(self, values: Sequence[Column], labels: Codes) -> Flags:
        """Rows inside the region of their label, shape (rows,)."""
        import numpy as np

        inside = np.full(len(labels), self.anywhere, dtype=np.bool_)
        if not self.anywhere:
            return inside
        shares = [value * per_best[labels] for value, per_best in zip(values, self.per_best, strict=True)]
        for kind, share in zip(self.kinds, shares, strict=True):
            if kind == "time":
                inside &= share >= 1
                inside &= share < np.inf
            else:
                # A bare zero is no figure.
                inside &= share > 0
                inside &= share <= 1
        if self.product is not None:
            time, rate = shares[self.time], shares[1 - self.time]
            inside &= rate * time >= self.product
            for intercept, slope in self.lines:
                inside &= rate >= intercept + slope * time
        return inside
