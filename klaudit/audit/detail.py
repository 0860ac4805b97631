"""Everything a report needs of some rows of one group, as columns worked out once for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from klaudit.audit.claims import Claims, Figure
from klaudit.audit.search import Judged, by_card, ceiling, possible, possible_on, worlds
from klaudit.floors import INPUTS_RESIDENT, WRITE_BACK, Floors, floors, slowest
from klaudit.roofline import dram_floor
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]

# How finely the cached share is searched: 2 / 2**24 is finer than any printed figure.
_SHARE_BITS = 24
# The cost of a few rows is that of the calls: they are tried at 15 shares at once, and many rows at one.
_FEW, _BITS_AT_ONCE = 100, 4


class Detail(NamedTuple):
    """Everything about some rows of one group, as columns: what their reports index into.

    Attributes
    ----------
    base, best : Floors, tuple of Floors
        Floors without conditions, and under all that matter on each card that may be meant.
    roofs, limits : tuple of ndarray, shape (rows,), one for each figure
        The ceiling of a rate, the floor of a time.
    ratios, limit_ratios : ndarray, shape (figures, rows)
        Rate over ceiling, or floor over time: above 1 is above. NaN where a row lacks the figure.
    compute_bound : ndarray of bool, shape (rows,)
        Rows whose roof is the counted operations' where they come closest to it.
    measured : tuple of (ndarray or None), one for each figure
        The figure at the best measured bandwidth.
    shares : ndarray, shape (rows,)
        The least cached bytes that would do, over the cache; NaN unless conditional on the cache.
    ambiguous, launch_bound : ndarray of bool, shape (rows,)
        Rows whose verdict depends on the card, and impossible rows that only the launch floor stops.
    """

    judged: Judged
    claims: Claims
    places: Index
    base: Floors
    best: tuple[Floors, ...]
    roofs: tuple[Column, ...]
    limits: tuple[Column, ...]
    ratios: Column
    limit_ratios: Column
    compute_bound: Flags
    measured: tuple[Column | None, ...]
    shares: Column
    ambiguous: Flags
    launch_bound: Flags

    @classmethod
    def of(cls, judged: Judged, places: Index) -> Detail:
        """The detail of the rows at `places` of a group."""
        claims = judged.claims.take(places)
        base = slowest([floors(card, claims.work, 0, claims.launch) for card in claims.cards])
        best = tuple(worlds(claims, judged.considered))
        count = len(places)
        ambiguous = np.zeros(count, dtype=np.bool_)
        if len(claims.cards) > 1:
            alone = by_card(claims, judged.considered)
            within = np.array([w for w, _ in alone])
            bearable = np.array([b for _, b in alone])
            # The cards differ where some but not all of them say yes.
            ambiguous = (within.any(axis=0) != within.all(axis=0)) | (bearable.any(axis=0) != bearable.all(axis=0))
        roofs = tuple(_spread(ceiling(claims, f, base.roof), count) for f in claims.figures)
        limits = tuple(
            _spread(_best(f, [ceiling(claims, f, claims.least(f, w)) for w in best]), count) for f in claims.figures
        )
        ratios = _ratios(claims, roofs)
        unlaunched = [np.maximum(np.maximum(w.roof, w.port), w.least) for w in best]
        free = np.logical_or.reduce([possible_on(claims, w) for w in unlaunched])
        return cls(
            judged=judged,
            claims=claims,
            places=places,
            base=base,
            best=best,
            roofs=roofs,
            limits=limits,
            ratios=ratios,
            limit_ratios=_ratios(claims, limits),
            compute_bound=_compute_bound(claims, base, ratios),
            measured=tuple(_measured(claims, f, count) for f in claims.figures),
            shares=_cached_shares(judged, claims, places),
            ambiguous=ambiguous & (judged.verdict[places] != Verdict.INCONSISTENT),
            launch_bound=free & (judged.verdict[places] == Verdict.IMPOSSIBLE),
        )

    def roof_name(self, row: int) -> str:
        """Which part is the roof where a row comes closest to it: "dram" or "compute"."""
        return "compute" if self.compute_bound[row] else "dram"


def _spread(column: Column, count: int) -> Column:
    return np.broadcast_to(column, (count,))


def _best(figure: Figure, each: list[Column]) -> Column:
    return np.asarray(np.minimum.reduce(each) if figure.kind == "time" else np.maximum.reduce(each))


def _ratios(claims: Claims, bounds: tuple[Column, ...]) -> Column:
    """Rate over bound or bound over time, shape (figures, rows); a bound of nothing is never exceeded."""
    ratios = np.full((len(claims.figures), len(claims.rows)), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        for ratio, figure, bound in zip(ratios, claims.figures, bounds, strict=True):
            ratio[:] = bound / figure.value if figure.kind == "time" else figure.value / bound
            ratio[np.isfinite(figure.value) & (np.isnan(ratio) | np.isinf(bound))] = 0.0
    return ratios


def _compute_bound(claims: Claims, base: Floors, ratios: Column) -> Flags:
    """Rows whose roof is the counted operations' where they come closest to it, shape (rows,)."""
    count = len(claims.rows)
    longest = np.broadcast_to(np.argmax(base.roof, axis=0), (count,))
    own = np.array([-1 if f.case is None else f.case for f in claims.figures])
    closest = own[np.argmax(np.nan_to_num(ratios, nan=-1.0), axis=0)]
    case = np.where(closest < 0, longest, closest)
    rows = np.arange(count) if base.dram.shape[1] > 1 else np.zeros(count, dtype=np.intp)
    return np.asarray(base.compute[case, rows] > base.dram[case, rows])


def best_measured(claims: Claims) -> float | None:
    """The best measured bandwidth of the cards that a label can mean [B/s]; None where one of them is unmeasured."""
    known = [card.measured_bandwidth for card in claims.cards]
    return None if None in known else max(b for b in known if b is not None)


def _measured(claims: Claims, figure: Figure, count: int) -> Column | None:
    """A figure at the best bandwidth measured on the card, from DRAM alone."""
    bandwidth = best_measured(claims)
    if bandwidth is None or not claims.work.traffic.any():
        return None
    return _spread(ceiling(claims, figure, dram_floor(claims.work.traffic, bandwidth)), count)


def _cached_shares(judged: Judged, claims: Claims, places: Index) -> Column:
    """The least cached bytes that would do, over the cache, for conditional rows; NaN elsewhere."""
    shares = np.full(len(places), np.nan)
    if claims.work.boundless_cache:
        return shares
    bits = judged.conditions[places]
    for chosen in dict.fromkeys(bits.tolist()):
        if not chosen & (WRITE_BACK | INPUTS_RESIDENT):
            continue
        rows = np.flatnonzero(bits == chosen)
        shares[rows] = _least_share(claims, rows, chosen)
    return shares


def _least_share(claims: Claims, rows: Index, chosen: int) -> Column:
    """The least share of the cache with which rows are possible under a set of conditions, by bisection."""
    at_once = _BITS_AT_ONCE if len(rows) < _FEW else 1
    tries = 2**at_once - 1
    some = claims.take(np.repeat(rows, tries))
    low, step = np.zeros(len(rows)), 2.0
    for _ in range(_SHARE_BITS // at_once):
        step /= tries + 1
        tried = low[:, np.newaxis] + step * np.arange(1, tries + 1)
        enough = possible(some, chosen, tried.ravel()).reshape(tried.shape)
        low += step * (~enough).sum(axis=1)
    return low + step
