"""What an average can and cannot be: ceilings by scoring rule, and whether two figures can be of one run.

Axis 0 of every array is the cases. Floors are the least time of each case [s], work is what the figure counts:
operations for a rate, bytes for a bandwidth. No cards, no conditions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]

Rule = Literal["mean", "geomean", "total"]


def average_time(times: Column, rule: Rule) -> Column:
    """The board's one time of its cases' times.

    Parameters
    ----------
    times : ndarray, shape (cases, ...)
        Times, or their floors [s].
    rule : {"mean", "geomean", "total"}
        How the board averages.

    Returns
    -------
    ndarray, shape (...)
        [s]. It grows with each case's time, so floors give the floor of the average.

    Examples
    --------
    >>> times = np.array([1.0, 4.0])
    >>> [round(float(average_time(times, r)), 9) for r in ("mean", "geomean", "total")]
    [2.5, 2.0, 5.0]
    """
    if rule == "geomean":
        with np.errstate(divide="ignore"):  # a zero time is a floor of zero: its logarithm may be -inf
            return np.asarray(np.exp(np.mean(np.log(times), axis=0)))
    return np.asarray(times.mean(axis=0) if rule == "mean" else times.sum(axis=0))


def average_rate(work: Column, times: Column, rule: Rule) -> Column:
    """The board's one rate of its cases' work and times.

    Parameters
    ----------
    work : ndarray, shape (cases, ...)
        What the rate counts [FLOP or B].
    times : ndarray, shape (cases, ...)
        Times, or their floors [s].
    rule : {"mean", "geomean", "total"}
        Mean or geometric mean of the cases' rates, or total work over total time.

    Returns
    -------
    ndarray, shape (...)
        [FLOP/s or B/s]. It falls with each case's time, so floors give the ceiling of the average.

    Examples
    --------
    >>> work, times = np.array([2.0, 8.0]), np.array([1.0, 1.0])
    >>> [round(float(average_rate(work, times, r)), 9) for r in ("mean", "geomean", "total")]
    [5.0, 4.0, 5.0]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if rule == "total":
            return np.asarray(work.sum(axis=0) / times.sum(axis=0))
        rates = work / times
        return np.asarray(rates.mean(axis=0) if rule == "mean" else np.exp(np.mean(np.log(rates), axis=0)))


def least_mean_rate(work: Column, floors: Column, mean_time: Column) -> Column:
    """The lowest mean of rates that a mean time allows, when no case is faster than its floor.

    ``work / t`` is convex in ``t``, so the minimum is found by water-filling: ``t = max(floor, level * sqrt(work))``
    with the level at which the times add up.

    Parameters
    ----------
    work, floors : ndarray, shape (cases, 1) or (cases, rows)
        Work of each case [FLOP or B] and its floor [s].
    mean_time : ndarray, shape (rows,)
        Mean of the cases' times [s], at least the mean of the floors.

    Returns
    -------
    ndarray, shape (rows,)

    Examples
    --------
    Two equal cases without floors: the least mean rate of mean time 2 is one half.

    >>> float(least_mean_rate(np.ones((2, 1)), np.zeros((2, 1)), np.array([2.0]))[0])
    0.5
    """
    cases = len(work)
    root = np.sqrt(work)
    order = np.argsort(floors / root, axis=0)
    root = np.take_along_axis(root, order, axis=0)
    floor = np.take_along_axis(np.broadcast_to(floors, order.shape), order, axis=0)
    # With the first k cases free and the others at their floors, the level that makes the times add up:
    free = np.cumsum(root, axis=0)
    held = floor.sum(axis=0) - np.cumsum(floor, axis=0)
    levels = (cases * mean_time - held) / free
    # The right k is the one whose level lies above its own case's threshold and below the next one's. Levels above
    # the threshold come first, so it is the last of them.
    valid = levels >= floor / root
    level = np.take_along_axis(levels, np.maximum(valid.sum(axis=0) - 1, 0)[None], axis=0)
    times = np.maximum(floor, level * root)
    return np.asarray((root**2 / times).mean(axis=0))


def largest_mean_rate(work: Column, floors: Column, mean_time: Column, runs: float | None) -> Column:
    """The highest mean of rates that a mean time allows, when no case is faster than its floor.

    Every run at its floor except one, which takes all the slack: the largest over the choice of that one.

    Parameters
    ----------
    work, floors : ndarray, shape (cases, 1) or (cases, rows)
        Work of each case [FLOP or B] and its floor [s].
    mean_time : ndarray, shape (rows,)
        Mean of the cases' times [s], at least the mean of the floors.
    runs : float or None
        The most runs of a case whose rates the board averages; 1 where it divides the work by the mean time.
        None where nobody knows: then the ceiling itself.

    Returns
    -------
    ndarray, shape (rows,)

    Examples
    --------
    Two equal cases with floor 1 and mean time 2: one takes three, (1 + 1/3) / 2.

    >>> round(float(largest_mean_rate(np.ones((2, 1)), np.ones((2, 1)), np.array([2.0]), 1)[0]), 4)
    0.6667
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        at_floor = work / floors
        ceiling = at_floor.mean(axis=0)
        if runs is None:
            return np.asarray(np.broadcast_to(ceiling, np.broadcast_shapes(ceiling.shape, mean_time.shape)))
        parts = len(work) * runs
        slack = np.maximum(parts * (mean_time - floors.mean(axis=0)), 0.0)
        lost = (at_floor - work / (floors + slack)) / parts
        return np.asarray(np.where(slack > 0, ceiling - lost.min(axis=0), ceiling))


def mean_pair_possible(
    work: Column, floors: Column, rate: tuple[Column, Column], time: tuple[Column, Column], runs: float | None
) -> Flags:
    """Whether some times, none below its floor, give a mean of rates and a mean of times at once.

    The rates reachable with one mean time are an interval, the lowest falls and the highest falls with the time, and
    all times in between are reachable: so the reachable rates over an interval of times are an interval too.

    Parameters
    ----------
    work, floors : ndarray, shape (cases, 1) or (cases, rows)
        Work of each case [FLOP or B] and its floor [s].
    rate, time : pair of ndarray, shape (rows,)
        Lowest and highest value that each printed figure can stand for.
    runs : float or None
        As in `largest_mean_rate`.

    Returns
    -------
    ndarray of bool, shape (rows,)
    """
    mean_floor = floors.mean(axis=0)
    reachable = time[1] >= mean_floor
    lowest = least_mean_rate(work, floors, np.maximum(time[1], mean_floor))
    highest = largest_mean_rate(work, floors, np.maximum(time[0], mean_floor), runs)
    return np.asarray(reachable & (rate[1] >= lowest * (1 - EDGE)) & (rate[0] <= highest * (1 + EDGE)))


# Comparisons of sums forgive this much relative rounding, always in favour of the submission.
EDGE = 1e-9


def rate_and_time_contradict(
    work: Column,
    rate: tuple[Column, Column],
    rate_rule: Rule,
    time: tuple[Column, Column],
    time_rule: Rule,
    *,
    mean_of_runs: bool,
) -> Flags:
    """Whether no positive times at all give both figures: arithmetic alone, no floors.

    Parameters
    ----------
    work : ndarray, shape (cases, 1) or (cases, rows)
        What the rate counts [FLOP or B].
    rate, time : pair of ndarray, shape (rows,)
        Lowest and highest value that each printed figure can stand for.
    rate_rule, time_rule : {"mean", "geomean", "total"}
        How each was averaged.
    mean_of_runs : bool
        Whether a case's rate is the mean of its runs' rates: then it may exceed work over mean time.

    Returns
    -------
    ndarray of bool, shape (rows,)

    Notes
    -----
    For the means, Cauchy-Schwarz gives ``G * T >= (sum(sqrt(F)) / m)**2``; for two geometric means and for total
    over total, ``G * T = F``. A mean is never below the geometric mean of the same numbers.

    Examples
    --------
    7 operations in 2 s are 3.5 a second, not 35.

    >>> one = lambda x: (np.array([x]), np.array([x]))
    >>> bool(rate_and_time_contradict(np.array([[7.0]]), one(35.0), "mean", one(2.0), "mean", mean_of_runs=False)[0])
    True
    """
    cases = len(work)
    if time_rule == "total":
        time, time_rule = (time[0] / cases, time[1] / cases), "mean"
    low, high = rate[0] * time[0] * (1 - EDGE), rate[1] * time[1] * (1 + EDGE)
    geometric = np.exp(np.log(work).mean(axis=0))
    exact: Column | None = None
    match rate_rule, time_rule:
        case _ if cases == 1:
            least = exact = work[0]
        case "mean", "mean":
            least = np.sqrt(work).mean(axis=0) ** 2
        case "total", "mean":
            least = exact = work.mean(axis=0)
        case "geomean", "geomean":
            least = exact = geometric
        case "total", _:
            # The mean time is the total work over the rate; the geometric one cannot be longer.
            return np.asarray((low > work.mean(axis=0)) & (not mean_of_runs))
        case _:
            least = geometric
    if exact is None or mean_of_runs:
        return np.asarray(high < least)
    return np.asarray((high < least) | (low > exact))


def averages_contradict(smaller: tuple[Column, Column], larger: tuple[Column, Column]) -> Flags:
    """Whether a figure that can be no larger than another is larger all the same.

    A geometric mean is at most the mean of the same numbers.

    Examples
    --------
    >>> one = lambda x: (np.array([x]), np.array([x]))
    >>> bool(averages_contradict(one(3.0), one(2.0))[0])
    True
    """
    return np.asarray(smaller[0] * (1 - EDGE) > larger[1])


def intervals_contradict(first: tuple[Column, Column], second: tuple[Column, Column]) -> Flags:
    """Whether two figures of one quantity have no value in common.

    Examples
    --------
    >>> bool(intervals_contradict((np.array([1.0]), np.array([2.0])), (np.array([2.5]), np.array([3.0])))[0])
    True
    """
    return averages_contradict(first, second) | averages_contradict(second, first)
