"""The one line of arithmetic that a report gives for a row. Sentences only: every number is worked out elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klaudit import averages
from klaudit.audit.contradictions import contradictions
from klaudit.floors import FEWER_OPERATIONS
from klaudit.report import CaseReport, Reported, RowReport
from klaudit.units import show, show_cache
from klaudit.verdict import CONDITION_BITS, CONDITIONS, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from klaudit.audit.claims import Claims, Figure
    from klaudit.audit.detail import Detail
    from klaudit.floors import Floors

_FASTEST = "fastest run"
RULE_WORDS = {"mean": "mean", "geomean": "geometric mean", "total": "total"}


def sentence(report: RowReport, detail: Detail, i: int) -> str:
    """The arithmetic behind a verdict, in one line."""
    if report.verdict is Verdict.INCONSISTENT:
        return _disagreement(detail.claims.take(np.array([i])), detail, i)
    parts = [_together(report, detail, i) or _comparison(report, detail, i)]
    if report.verdict is Verdict.IMPOSSIBLE:
        parts.append(_limit(report, detail))
    elif report.verdict is Verdict.CONDITIONAL:
        parts.append(_needs(report, detail.claims))
    if "ambiguous-gpu" in report.rules:
        parts.append(f"the verdict depends on which card {report.gpu} means here: {', '.join(report.variants)}")
    return "; ".join(part for part in parts if part)


def _together(report: RowReport, detail: Detail, i: int) -> str:
    """Figures that are possible one by one but not of one run at the roof; "" where one of them is above it."""
    if report.verdict is Verdict.WITHIN:
        return ""
    bound = "limit" if report.verdict is Verdict.IMPOSSIBLE else "roof"
    figures: list[Reported | CaseReport] = [*report.reported, *report.cases]
    ratios = [f.limit_ratio if bound == "limit" else f.ratio for f in figures]
    if max(ratios) > 1:
        return ""
    claims = detail.claims.take(np.array([i]))
    pair = _first_pair(claims)
    if pair is None:
        return ""
    low, high = reachable_rates(claims, *pair, detail.best if bound == "limit" else (detail.base,))
    rate, time = _name(claims, pair[0], beside=(low, high)), _name(claims, pair[1])
    return f"{rate} and {time} together: at the {bound} that time allows {_span(low, high, pair[0])}"


def _comparison(report: RowReport, detail: Detail, i: int) -> str:
    """The figure that comes closest to the roof, against it."""

    def excess(figure: Reported | CaseReport) -> float:
        return figure.limit_ratio if report.verdict is Verdict.IMPOSSIBLE else figure.ratio

    case: CaseReport | None = max(report.cases, key=excess, default=None)
    whole: Reported | None = max(report.reported, key=excess, default=None)
    if case is not None and (whole is None or excess(case) >= excess(whole)):
        return _of_case(report, case, detail, i)
    return _of_average(report, whole, detail, i) if whole is not None else ""


def _of_case(report: RowReport, case: CaseReport, detail: Detail, i: int) -> str:
    index = detail.claims.case_names.index(case.name)
    label = f"{_FASTEST * case.fastest}{' of ' * (case.fastest and bool(case.name))}{case.name}"
    label = f"{label}: " if label else ""
    return f"{label}{_one(report, case.time, case.floor, detail, i, index)}"


def _of_average(report: RowReport, figure: Reported, detail: Detail, i: int) -> str:
    """A figure over all cases; of a single case it is said by bytes and operations."""
    claims = detail.claims
    if len(claims.case_names) == 1 and figure.kind == "time":
        return f"{_FASTEST}: " * figure.fastest + _one(report, figure.value, figure.roof, detail, i, 0)
    bound = "floor" if figure.kind == "time" else "roof"
    some = "some of " if "missing-case" in report.rules else ""
    rule = f"{RULE_WORDS[figure.rule]} of {some}{len(claims.case_names)} cases, " if len(claims.case_names) > 1 else ""
    beside = (figure.value, figure.roof, figure.limit)
    value, roof = (show(v, figure.kind, beside=beside) for v in (figure.value, figure.roof))
    return f"{rule}{value} reported, {bound} {roof} ({_roof(report, detail)}): {_times(figure.ratio)} the roof"


def _one(report: RowReport, time: float, floor: float, detail: Detail, i: int, case: int) -> str:
    """One case's time against its floor, by what it moves or computes."""
    row = 0 if detail.claims.work.flops.shape[1] == 1 else i
    work, kind, unit = (
        (detail.claims.work.traffic, "bandwidth", "bytes")
        if report.roof_name == "dram"
        else (detail.claims.work.flops, "rate", "work")
    )
    amount = float(work[case, row])
    if time <= 0:
        return f"{show(amount, unit, 4)} in no time at all, {_roof(report, detail)} takes {show(floor, 'time')}"
    ratio = _times(floor / time)
    need = f"{show(amount, unit, 4)} in {show(time, 'time')} is {show(amount / time, kind)}"
    return f"{need}, {ratio} the roof ({_roof(report, detail)}, {show(floor, 'time')})"


def _roof(report: RowReport, detail: Detail) -> str:
    """The roof by name and figure; of the slowest card where a label means several."""
    cards = detail.claims.cards
    if report.roof_name == "dram":
        return f"dram {show(min(card.bandwidth for card in cards), 'bandwidth')}"
    dtype = detail.claims.work.dtype
    peaks = [p for p in (card.pipe(dtype) for card in cards) if p is not None]
    if not peaks:
        return "compute, no peak known"
    peak = min(peaks, key=lambda p: p.rate)
    return f"compute {peak.label} {show(peak.rate, 'rate')}"


def _times(ratio: float) -> str:
    return f"{ratio:.3g} x" if abs(ratio - 1) >= 0.005 else f"{ratio:.5g} x"


def _limit(report: RowReport, detail: Detail) -> str:
    """What even all conditions together do not reach."""
    names = [c for c in CONDITIONS if detail.judged.considered & CONDITION_BITS[c.id]]
    under = f"even with {_list([c.id for c in names])}" if names else "no condition applies and"
    worst = max(report.reported, key=lambda r: r.limit_ratio, default=None)
    case = max(report.cases, key=lambda c: c.limit_ratio, default=None)
    if case is not None and (worst is None or case.limit_ratio >= worst.limit_ratio):
        return f"{under} it takes {show(case.limit_floor, 'time')}"
    if worst is None:
        return ""
    if worst.limit_ratio <= 1:
        return f"{under} its figures are not possible together"
    if worst.kind == "time":
        return f"{under} it takes {show(worst.limit, 'time')}"
    beside = (worst.value, worst.roof)
    return f"{under} the limit is {show(worst.limit, worst.kind, beside=beside)}"


def _needs(report: RowReport, claims: Claims) -> str:
    """What must be true of a conditional row."""
    text = "possible only with " + _list(list(report.conditions))
    if report.cached_share is not None:
        card = next(c for c in claims.cards if c.id == report.variant)
        text += f" ({report.cached_share:.2g} of the {show_cache(card.cache)} cache)"
    if "faster-variant" in report.conditions:
        text += f", on {report.variant}"
    chosen = sum(CONDITION_BITS[c] for c in report.conditions)
    if chosen & FEWER_OPERATIONS and claims.work.least_flops is None:
        text += "; no least count of operations is known"
    return text


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _disagreement(claims: Claims, detail: Detail, i: int) -> str:
    """Which figures cannot be of one run, the interval that would be, and the slip that explains it."""
    pair = next(((a, b) for a, b, flags in contradictions(claims) if flags[0]), None) or _first_pair(claims)
    place = detail.places[i]
    slip = int(detail.judged.slips[place])
    parts = []
    if pair is not None:
        first, second = pair
        held = first.kind != "time" and second.kind == "time" and first.case is None
        reach = reachable_rates(claims, first, second, detail.best) if held else ()
        parts.append(f"{_name(claims, first, beside=reach)} and {_name(claims, second)} cannot be of one run")
        if reach:
            parts.append(f"that time allows {_span(*reach, first)}")
    if slip >= 0:
        parts.append(_slip(claims.figures[slip], float(detail.judged.slip_factors[place])))
    return "; ".join(parts) or "the figures over all cases and those of the cases cannot be of one run"


def _first_pair(claims: Claims) -> tuple[Figure, Figure] | None:
    whole = [f for f in claims.figures if f.case is None and not (f.fastest or f.partial) and np.isfinite(f.value[0])]
    rates, times = [f for f in whole if f.kind != "time"], [f for f in whole if f.kind == "time"]
    return (rates[0], times[0]) if rates and times else None


def _span(low: float, high: float, rate: Figure) -> str:
    """Two rates in the unit of the one that they are held against."""
    beside = (low, high, float(rate.value[0]))
    return f"{show(low, rate.kind, beside=beside)} to {show(high, rate.kind, beside=beside)}"


def _name(claims: Claims, figure: Figure, beside: tuple[float, ...] = ()) -> str:
    case = f" at {claims.case_names[figure.case]}" if figure.case is not None else ""
    rule = f"{RULE_WORDS[figure.rule]} " if figure.case is None and len(claims.case_names) > 1 else ""
    rule = "fastest run's " if figure.fastest else rule
    return f"{rule}{figure.kind} {show(float(figure.value[0]), figure.kind, beside=beside)}{case}"


def reachable_rates(claims: Claims, rate: Figure, time: Figure, worlds: Sequence[Floors]) -> tuple[float, float]:
    """The rates that a printed time allows, when no case is faster than the floors of the best world."""
    cases = len(claims.case_names)
    scale = cases if time.rule == "total" else 1
    work = claims.counted(rate)
    low, high = time.low / scale, time.high / scale
    if rate.rule == "mean" and time.rule != "geomean":
        whole = np.minimum.reduce([claims.least(time, w) for w in worlds])
        floor = whole.mean(axis=0)[:1]
        column = whole[:, :1]
        least = averages.least_mean_rate(work[:, :1], column, np.maximum(high, floor))
        most = averages.largest_mean_rate(work[:, :1], column, np.maximum(low, floor), claims.runs)
        return float(least[0]), float(most[0])
    average = averages.average_time(work[:, :1], "geomean" if rate.rule == "geomean" else "mean")[0]
    with np.errstate(divide="ignore"):
        return float(average / high[0]), float(np.divide(average, low[0]))


def _slip(figure: Figure, factor: float) -> str:
    """The slip in people's words."""
    name = "the time" if figure.kind == "time" else f"the {figure.kind}"
    amount = f"{1 / factor:.0f} times too large" if factor < 1 else f"{factor:.0f} times too small"
    if factor in (0.1, 10.0):
        cause = "a moved decimal point"
    elif figure.kind == "time":
        cause = "us read as ms" if factor < 1 else "ms read as us"
    else:
        cause = "GFLOPS read as TFLOPS" if factor < 1 else "TFLOPS read as GFLOPS"
    return f"with {name} {amount} ({cause}) they agree, below the roof"
