"""Figures of one row that cannot be of one run, by arithmetic alone: no floors, no cards."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit import averages
from klaudit.audit.claims import Claims, Figure
from klaudit.workload import DTYPE_BYTES

# What rounding to two digits changes: a slip is a factor of ten.
ROUNDED: Final = 0.03
# What a terabyte is larger by where it means 2**40 bytes.
BINARY_TERA: Final = 2**40 / 1e12

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]


def contradictory(claims: Claims) -> Flags:
    """Rows whose figures contradict each other, shape (rows,)."""
    found = np.zeros(len(claims.rows), dtype=np.bool_)
    for _, _, flags in contradictions(claims):
        found |= flags
    return found


def contradictions(claims: Claims) -> Iterator[tuple[Figure, Figure, Flags]]:
    """Each pair of figures with the rows in which it contradicts itself."""
    for first, second in itertools.combinations(claims.figures, 2):
        if first.case != second.case or first.partial or second.partial:
            continue
        if first.kind == "time" and second.kind != "time":
            first, second = second, first
        flags = _pair(claims, first, second)
        if flags.any():
            yield first, second, flags
    yield from _averages_against_cases(claims)


def _pair(claims: Claims, first: Figure, second: Figure) -> Flags:
    """Two figures over the same cases; a rate or bandwidth comes first where there is one."""
    if second.kind == "time" and first.kind != "time":
        if second.fastest:
            # A rate is of all runs: that it is lower than the fastest run's says nothing.
            return np.zeros(len(claims.rows), dtype=np.bool_)
        return averages.rate_and_time_contradict(
            claims.counted(first), _readings(claims, first), first.rule, second.edges, second.rule,
            mean_of_runs=claims.mean_of_runs,
        )  # fmt: skip
    if first.kind == second.kind:
        return _same_kind(claims, first, second)
    return _rate_and_bandwidth(claims, first, second)


def _readings(claims: Claims, figure: Figure) -> tuple[Column, Column]:
    """The edges of a figure, rounded by hand; a bandwidth also with binary prefixes and in any dtype nobody states.

    People round 1436 to 1440 or 1400, and a print does not tell. Honest programs print GiB/s under the name GB/s; that
    is a slip of the label, not two runs. And bytes that a row counted itself are those of its own dtype. It only widens
    what agrees: against the roof a figure is read as it stands.
    """
    low, high = figure.low * (1 - ROUNDED), figure.high * (1 + ROUNDED)
    if figure.kind != "bandwidth":
        return low, high
    high = high * BINARY_TERA
    if claims.work.narrow is not None and claims.workload is not None:
        own = DTYPE_BYTES[claims.work.dtype]
        others = [DTYPE_BYTES[dtype] for dtype in claims.workload.dtypes]
        low, high = low * (own / max(others)), high * (own / min(others))
    return low, high


def _same_kind(claims: Claims, first: Figure, second: Figure) -> Flags:
    """Two averages of one quantity: equal rules must agree, a geometric mean is at most the mean."""
    cases = 1 if first.case is not None else len(claims.case_names)
    if first.fastest != second.fastest:
        fastest, average = (first, second) if first.fastest else (second, first)
        if cases > 1 and fastest.rule != average.rule and (fastest.rule, average.rule) != ("geomean", "mean"):
            return np.zeros(len(claims.rows), dtype=np.bool_)
        return averages.averages_contradict(fastest.edges, average.edges)
    if first.rule == second.rule or cases == 1:
        return averages.intervals_contradict(first.edges, second.edges)
    by_rule = {first.rule: first.edges, second.rule: second.edges}
    if first.kind == "time" and "total" in by_rule:
        low, high = by_rule["total"]
        per_case = (low / cases, high / cases)
        if "mean" in by_rule:
            return averages.intervals_contradict(per_case, by_rule["mean"])
        return averages.averages_contradict(by_rule["geomean"], per_case)
    if "total" in by_rule:  # total over total bounds neither mean of rates
        return np.zeros(len(claims.rows), dtype=np.bool_)
    return averages.averages_contradict(by_rule["geomean"], by_rule["mean"])


def _rate_and_bandwidth(claims: Claims, first: Figure, second: Figure) -> Flags:
    """Operations and bytes of the same times: proportional where every case has the same intensity."""
    rate, bandwidth = (first, second) if first.kind == "rate" else (second, first)
    flops, traffic = claims.counted(rate), claims.counted(bandwidth)
    per_byte = flops / traffic
    if rate.rule != bandwidth.rule:
        return np.zeros(len(claims.rows), dtype=np.bool_)
    # Row by row: what another row counts does not matter.
    alike = np.isclose(per_byte, per_byte[:1], rtol=1e-12).all(axis=0)
    low, high = _readings(claims, bandwidth)
    scaled = (low * per_byte[0], high * per_byte[0])
    return np.asarray(alike & averages.intervals_contradict(rate.edges, scaled))


def _averages_against_cases(claims: Claims) -> Iterator[tuple[Figure, Figure, Flags]]:
    """Averages against the figures of all cases: what the cases allow must meet what the average prints."""
    cases = len(claims.case_names)
    for kind in ("time", "rate"):
        of_case = {f.case: f for f in claims.figures if f.case is not None and f.kind == kind and not f.fastest}
        if len(of_case) < cases or cases == 1:
            continue
        columns = [of_case[i] for i in range(cases)]
        low, high = np.array([f.low for f in columns]), np.array([f.high for f in columns])
        for figure in claims.figures:
            if figure.case is not None or figure.fastest or figure.partial:
                continue
            span = _span(claims, figure, kind, low, high)
            if span is not None:
                flags = averages.intervals_contradict(_readings(claims, figure), span)
                if flags.any():
                    yield figure, columns[0], flags


def _span(claims: Claims, figure: Figure, kind: str, low: Column, high: Column) -> tuple[Column, Column] | None:
    """Lowest and highest average that cases between `low` and `high` allow; None where they bound nothing."""
    if figure.kind == kind == "time":
        return averages.average_time(low, figure.rule), averages.average_time(high, figure.rule)
    work = claims.counted(figure)
    if kind == "time":
        least = averages.average_rate(work, high, figure.rule)
        # A mean of runs' rates may lie above the work over the mean time.
        most = np.full_like(least, np.inf) if claims.mean_of_runs else averages.average_rate(work, low, figure.rule)
        return least, most
    if figure.kind == "rate" and figure.rule != "total":
        # The rule over rates is the rule over times with unit work: a rate is its own inverse time's inverse.
        ones = np.ones_like(low)
        return averages.average_rate(ones, 1 / low, figure.rule), averages.average_rate(ones, 1 / high, figure.rule)
    return None
