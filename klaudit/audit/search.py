"""The judge of one group: contradiction, roof, limit, and the smallest set of conditions. Columns in, columns out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from klaudit import averages
from klaudit.audit.claims import Claims, Figure
from klaudit.audit.contradictions import contradictory
from klaudit.averages import EDGE
from klaudit.floors import FASTER_VARIANT, Floors, floors, relevant, slowest
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]

# What people get wrong in one number: a decimal point, or a prefix.
SLIPS = (0.1, 10.0, 0.001, 1000.0)


class Judged(NamedTuple):
    """The verdicts of one group.

    Attributes
    ----------
    verdict : ndarray of uint8, shape (rows,)
    conditions : ndarray of uint16, shape (rows,)
        The smallest sufficient set as bits; 0 unless conditional.
    sufficient : tuple of (bits, ndarray of int)
        Every set that was found sufficient for some rows at their smallest size, and those rows.
    slips : ndarray of int, shape (rows,)
        The figure of an inconsistent row that one slip would bring under the roof; -1 where none does.
    slip_factors : ndarray, shape (rows,)
        What to multiply it by.
    considered : int
        The conditions that can matter to the group, all together the limit.
    """

    claims: Claims
    verdict: NDArray[np.uint8]
    conditions: NDArray[np.uint16]
    sufficient: tuple[tuple[int, Index], ...]
    slips: NDArray[np.int64]
    slip_factors: Column
    considered: int


def ceiling(claims: Claims, figure: Figure, whole: Column) -> Column:
    """What a figure can be at best when each case takes `whole` [s]: a rate's ceiling, a time's floor.

    Parameters
    ----------
    claims : Claims
    figure : Figure
        One of theirs.
    whole : ndarray, shape (cases, 1) or (cases, rows)
        Time of each case [s].

    Returns
    -------
    ndarray, shape (1,) or (rows,)
    """
    times = whole if figure.case is None else whole[figure.case : figure.case + 1]
    if figure.partial:
        # An average over some of the cases is no better than the best of them all.
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = claims.counted(figure) / times
        return np.asarray(times.min(axis=0) if figure.kind == "time" else rates.max(axis=0))
    if figure.kind == "time":
        return averages.average_time(times, figure.rule)
    return averages.average_rate(claims.counted(figure), times, figure.rule)


def possible_on(claims: Claims, whole: Column, average: Column | None = None) -> Flags:
    """Rows all of whose figures are possible at once when no case is faster than `whole` [s], shape (rows,).

    `average` are the least times that averages over many runs can show, where they differ from those of one run.
    """
    passed = np.ones(len(claims.rows), dtype=np.bool_)
    average = whole if average is None else average
    for figure in claims.figures:
        best = ceiling(claims, figure, whole if figure.fastest else average)
        if figure.kind == "time":
            passed &= ~(figure.high < best * (1 - EDGE))
        else:
            passed &= ~(figure.low > best * (1 + EDGE))
    for rate, time in _mean_pairs(claims):
        both = passed & np.isfinite(rate.low) & np.isfinite(time.high)
        if both.any():
            passed[both] = _pair_possible(
                claims.take(both), rate.take(both), time.take(both), average[:, _pick(average, both)]
            )
    return passed


def _pick(whole: Column, rows: Flags) -> Flags | slice:
    return slice(None) if whole.shape[1] == 1 else rows


def _mean_pairs(claims: Claims) -> Iterator[tuple[Figure, Figure]]:
    """Pairs of a mean rate and a mean time over several cases: more than each alone must hold."""
    if len(claims.case_names) == 1:
        return
    mean = [f for f in claims.figures if f.case is None and f.rule != "geomean" and not (f.fastest or f.partial)]
    for rate, time in itertools.product(mean, mean):
        if rate.kind != "time" and rate.rule == "mean" and time.kind == "time":
            yield rate, time


def _pair_possible(claims: Claims, rate: Figure, time: Figure, whole: Column) -> Flags:
    scale = len(claims.case_names) if time.rule == "total" else 1.0
    low, high = time.low / scale, time.high / scale
    work = claims.counted(rate)
    floor = whole.mean(axis=0)
    # Most rows are settled by the plainest run: every case slower than its floor by one factor.
    best = averages.average_rate(work, whole, "mean") * floor
    with np.errstate(divide="ignore", invalid="ignore"):
        settled = (best / high <= rate.high) & (best / np.maximum(low, floor) >= rate.low) & (high >= floor)
    open_ = ~settled
    if open_.any():
        rows = slice(None) if whole.shape[1] == 1 else open_
        work = work if work.shape[1] == 1 else work[:, open_]
        settled[open_] = averages.mean_pair_possible(
            work, whole[:, rows], (rate.low[open_], rate.high[open_]), (low[open_], high[open_]), claims.runs
        )
    return np.asarray(settled)


def worlds(claims: Claims, conditions: int, cache_share: Column | None = None) -> list[Floors]:
    """The floors under a set of conditions: one for each card that may be meant, or of the slowest of them all."""
    each = [floors(card, claims.work, conditions, claims.launch, cache_share) for card in claims.cards]
    return each if conditions & FASTER_VARIANT else [slowest(each)]


def possible(claims: Claims, conditions: int, cache_share: Column | None = None) -> Flags:
    """Rows that are possible under a set of conditions, on one card that the label can mean, shape (rows,)."""
    each = [
        possible_on(claims, world.whole, world.untimed if claims.steady and world.tick else None)
        for world in worlds(claims, conditions, cache_share)
    ]
    return np.asarray(np.logical_or.reduce(each))


def judge_claims(claims: Claims) -> Judged:
    """Judge one group.

    Contradictions first, then the roof, then the limit under all conditions together; what lies between is searched
    for its smallest sets, by size and then by the order of the table.
    """
    count = len(claims.rows)
    verdict = np.full(count, Verdict.WITHIN, dtype=np.uint8)
    conditions = np.zeros(count, dtype=np.uint16)
    slips, factors = np.full(count, -1, dtype=np.int64), np.ones(count)
    contradiction = contradictory(claims)
    verdict[contradiction] = Verdict.INCONSISTENT
    if contradiction.any():
        slips[contradiction], factors[contradiction] = find_slips(claims.take(contradiction))
    considered = relevant(claims.cards, claims.work, claims.conditions, claims.launch)
    above = np.flatnonzero(~possible(claims, 0) & ~contradiction)
    sufficient: list[tuple[int, Index]] = []
    if len(above):
        rest = claims.take(above)
        bearable = possible(rest, considered)
        hopeless = above[~bearable]
        verdict[hopeless] = Verdict.IMPOSSIBLE
        if len(hopeless):
            slips[hopeless], factors[hopeless] = find_slips(claims.take(hopeless))
            verdict[hopeless[slips[hopeless] >= 0]] = Verdict.INCONSISTENT
        open_ = above[bearable]
        verdict[open_] = Verdict.CONDITIONAL
        sufficient = _smallest_sets(claims, open_, considered, conditions)
    return Judged(claims, verdict, conditions, tuple(sufficient), slips, factors, considered)


def sets_by_size(considered: int) -> Iterator[list[int]]:
    """All sets of the considered conditions, smallest first; within a size in the order of the table."""
    bits = [1 << i for i in range(considered.bit_length()) if considered >> i & 1]
    for size in range(1, len(bits) + 1):
        yield [sum(chosen) for chosen in itertools.combinations(bits, size)]


def _smallest_sets(
    claims: Claims, rows: Index, considered: int, conditions: NDArray[np.uint16]
) -> list[tuple[int, Index]]:
    """Fill in the first smallest set of each row, and return all sufficient sets of that size."""
    sufficient: list[tuple[int, Index]] = []
    for sets in sets_by_size(considered):
        if not len(rows):
            break
        open_ = claims.take(rows)
        for chosen in sets:
            enough = rows[possible(open_, chosen)]
            if len(enough):
                sufficient.append((chosen, enough))
                conditions[enough[conditions[enough] == 0]] = chosen
        rows = rows[conditions[rows] == 0]
    return sufficient


def find_slips(claims: Claims, *, under_roof: bool = True) -> tuple[NDArray[np.int64], Column]:
    """For each row the figure and the factor that would bring it under the roof, without conditions.

    Only rows with two figures over all cases: one figure alone does not say which is wrong. Without `under_roof` it is
    enough that the figures agree then.

    Returns
    -------
    index : ndarray of int, shape (rows,)
        The place of the figure among the claims' figures; -1 where no slip helps.
    factor : ndarray, shape (rows,)
        What to multiply it by.
    """
    count = len(claims.rows)
    index, factors = np.full(count, -1, dtype=np.int64), np.ones(count)
    whole = [(j, f) for j, f in enumerate(claims.figures) if f.case is None and not (f.fastest or f.partial)]
    if len(whole) < 2:
        return index, factors
    enough = np.sum([np.isfinite(f.value) for _, f in whole], axis=0) >= 2
    for (j, figure), factor in itertools.product(whole, SLIPS):
        slid = figure._replace(value=figure.value * factor, low=figure.low * factor, high=figure.high * factor)
        trial = claims._replace(figures=(*claims.figures[:j], slid, *claims.figures[j + 1 :]))
        mended = enough & np.isfinite(figure.value) & (index < 0) & ~contradictory(trial)
        if under_roof:
            mended &= possible(trial, 0)
        index[mended], factors[mended] = j, factor
    return index, factors


def by_card(claims: Claims, considered: int) -> Sequence[tuple[Flags, Flags]]:
    """For each card alone: rows at or below its roof, and rows possible on it at all."""
    alone = considered & ~FASTER_VARIANT
    return [
        (possible(claims._replace(cards=(card,)), 0), possible(claims._replace(cards=(card,)), alone))
        for card in claims.cards
    ]
