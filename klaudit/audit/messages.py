"""The one line of arithmetic that a report gives for a row. Sentences only: every number is worked out elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from klaudit import averages
from klaudit.audit.contradictions import contradictions
from klaudit.units import show, show_cache, show_together
from klaudit.verdict import CONDITION_BITS, CONDITIONS, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from klaudit.audit.claims import Claims, Figure
    from klaudit.audit.detail import Detail
    from klaudit.audit.reported import CaseColumns, FigureColumns
    from klaudit.floors import Floors

_FASTEST = "fastest run"
RULE_WORDS = {"mean": "mean", "geomean": "geometric mean", "total": "total"}


class Said(NamedTuple):
    """What a sentence is made of besides figures, as in a `RowReport`."""

    gpu: str
    variants: tuple[str, ...]
    variant: str
    verdict: Verdict
    roof_name: str
    conditions: tuple[str, ...]
    cached_share: float | None
    rules: tuple[str, ...]


class Sentences:
    """The arithmetic behind the verdicts of one group's rows; what is the same for all of them is worded once."""

    def __init__(self, detail: Detail, whole: Sequence[FigureColumns], cases: Sequence[CaseColumns]) -> None:
        self._detail = detail
        self._claims = detail.claims
        self._roofs = {name: _roof(name, detail.claims) for name in ("dram", "compute")}
        names = [c.id for c in CONDITIONS if detail.judged.considered & CONDITION_BITS[c.id]]
        self._under = f"even with {_list(names)}" if names else "no condition applies and"
        self._whole, self._cases = whole, cases
        # For each row the figure that comes closest to what decided: its limit where it is impossible, else its roof.
        hopeless = detail.judged.verdict[detail.places] == Verdict.IMPOSSIBLE
        figures: list[CaseColumns | FigureColumns] = [*cases, *whole]
        excess = np.where(hopeless, [f.limit_ratios for f in figures], [f.ratios for f in figures])
        self._closest = excess.argmax(axis=0).tolist()
        self._excess = excess.max(axis=0).tolist()

    def of(self, said: Said, i: int) -> str:
        """The arithmetic of one row, in one line."""
        if said.verdict is Verdict.INCONSISTENT:
            return _disagreement(self._claims.take(np.array([i])), self._detail, i)
        parts = [self._together(said, i) or self._comparison(said, i)]
        if said.verdict is Verdict.IMPOSSIBLE:
            parts.append(self._limit(i))
        elif said.verdict is Verdict.CONDITIONAL:
            parts.append(_needs(said, self._claims))
        if "ambiguous-gpu" in said.rules:
            parts.append(f"the verdict depends on which card {said.gpu} means here: {', '.join(said.variants)}")
        return "; ".join([part for part in parts if part])

    def _together(self, said: Said, i: int) -> str:
        """Figures that are possible one by one but not of one run at the roof; "" where one of them is above it."""
        if self._excess[i] > 1 or said.verdict is Verdict.WITHIN:
            return ""
        hopeless = said.verdict is Verdict.IMPOSSIBLE
        claims = self._claims.take(np.array([i]))
        pair = _first_pair(claims)
        if pair is None:
            return ""
        low, high = reachable_rates(claims, *pair, self._detail.best if hopeless else (self._detail.base,))
        rate, time = _name(claims, pair[0], beside=(low, high)), _name(claims, pair[1])
        bound = "limit" if hopeless else "roof"
        return f"{rate} and {time} together: at the {bound} that time allows {_span(low, high, pair[0])}"

    def _comparison(self, said: Said, i: int) -> str:
        """The figure that comes closest to the roof, against it."""
        place = self._closest[i] - len(self._cases)
        return (
            self._of_case(said, self._cases[place], i) if place < 0 else self._of_average(said, self._whole[place], i)
        )

    def _of_case(self, said: Said, case: CaseColumns, i: int) -> str:
        label = f"{_FASTEST * case.fastest[i]}{' of ' * (case.fastest[i] and bool(case.name))}{case.name}"
        label = f"{label}: " if label else ""
        return f"{label}{self._one(said, case.times[i], case.floors[i], i, case.index)}"

    def _of_average(self, said: Said, figure: FigureColumns, i: int) -> str:
        """A figure over all cases; of a single case it is said by bytes and operations."""
        count = len(self._claims.case_names)
        value, roof, ratio = figure.values[i], figure.roofs[i], figure.ratios[i]
        if count == 1 and figure.kind == "time":
            return f"{_FASTEST}: " * figure.fastest + self._one(said, value, roof, i, 0)
        bound = "floor" if figure.kind == "time" else "roof"
        some = "some of " if "missing-case" in said.rules else ""
        rule = f"{RULE_WORDS[figure.rule]} of {some}{count} cases, " if count > 1 else ""
        reported, ceiling = show_together((value, roof), figure.kind, beside=figure.limits[i])
        against = f"{bound} {ceiling} ({self._roofs[said.roof_name]})"
        return f"{rule}{reported} reported, {against}: {_times(ratio)} the roof"

    def _one(self, said: Said, time: float, floor: float, i: int, case: int) -> str:
        """One case's time against its floor, by what it moves or computes."""
        work, roof = self._claims.work, self._roofs[said.roof_name]
        amounts, kind, unit = (
            (work.traffic, "bandwidth", "bytes") if said.roof_name == "dram" else (work.flops, "rate", "work")
        )
        amount = float(amounts[case, 0 if work.flops.shape[1] == 1 else i])
        if time <= 0:
            return f"{show(amount, unit, 4)} in no time at all, {roof} takes {show(floor, 'time')}"
        need = f"{show(amount, unit, 4)} in {show(time, 'time')} is {show(amount / time, kind)}"
        return f"{need}, {_times(floor / time)} the roof ({roof}, {show(floor, 'time')})"

    def _limit(self, i: int) -> str:
        """What even all conditions together do not reach."""
        place = self._closest[i] - len(self._cases)
        if place < 0:
            return f"{self._under} it takes {show(self._cases[place].limit_floors[i], 'time')}"
        figure = self._whole[place]
        if figure.limit_ratios[i] <= 1:
            return f"{self._under} its figures are not possible together"
        if figure.kind == "time":
            return f"{self._under} it takes {show(figure.limits[i], 'time')}"
        # In the unit of the comparison.
        limit, *_ = show_together((figure.limits[i], figure.values[i], figure.roofs[i]), figure.kind)
        return f"{self._under} the limit is {limit}"


def _roof(name: str, claims: Claims) -> str:
    """A roof by name and figure; of the slowest card where a label means several."""
    if name == "dram":
        return f"dram {show(min(card.bandwidth for card in claims.cards), 'bandwidth')}"
    peaks = [p for p in (card.pipe(claims.work.dtype) for card in claims.cards) if p is not None]
    if not peaks:
        return "compute, no peak known"
    peak = min(peaks, key=lambda p: p.rate)
    return f"compute {peak.label} {show(peak.rate, 'rate')}"


def _times(ratio: float) -> str:
    return f"{ratio:.3g} x" if abs(ratio - 1) >= 0.005 else f"{ratio:.5g} x"


def _needs(said: Said, claims: Claims) -> str:
    """What must be true of a conditional row."""
    text = "possible only with " + _list(said.conditions)
    if said.cached_share is not None:
        card = next(c for c in claims.cards if c.id == said.variant)
        text += f" ({said.cached_share:.2g} of the {show_cache(card.cache)} cache)"
    if "faster-variant" in said.conditions:
        text += f", on {said.variant}"
    if claims.work.least_flops is None and "fewer-operations" in said.conditions:
        text += "; no least count of operations is known"
    return text


def _list(names: Sequence[str]) -> str:
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
    least, most = show_together((low, high), rate.kind, beside=float(rate.value[0]))
    return f"{least} to {most}"


def _name(claims: Claims, figure: Figure, beside: tuple[float, ...] = ()) -> str:
    case = f" at {claims.case_names[figure.case]}" if figure.case is not None else ""
    rule = f"{RULE_WORDS[figure.rule]} " if figure.case is None and len(claims.case_names) > 1 else ""
    rule = "fastest run's " if figure.fastest else rule
    value, *_ = show_together((float(figure.value[0]), *beside), figure.kind)
    return f"{rule}{figure.kind} {value}{case}"


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
