"""What the rows of a group report, made from columns worked out once: figures over all cases, and each case."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from klaudit.audit.claims import Claims, Figure
from klaudit.audit.detail import Detail
from klaudit.audit.search import judge_claims
from klaudit.report import CaseReport, Reported
from klaudit.verdict import Verdict, condition_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Index = NDArray[np.intp]

T = TypeVar("T")

# A case so near its roof, or above it, has a judgement of its own; the others are within.
_NEAR = 1 - 1e-6


class FigureColumns:
    """One figure over all cases, as the rows of a group report it; ratios are below everything where one does not."""

    def __init__(self, detail: Detail, j: int) -> None:
        figure = detail.claims.figures[j]
        told = np.isfinite(figure.value)
        self.kind, self.rule, self.header, self.fastest = figure.kind, figure.rule, figure.header, figure.fastest
        self.values, self.lows, self.highs = figure.value.tolist(), figure.low.tolist(), figure.high.tolist()
        self.roofs, self.limits = detail.roofs[j].tolist(), detail.limits[j].tolist()
        self.ratios = np.where(told, detail.ratios[j], -np.inf).tolist()
        self.limit_ratios = np.where(told, detail.limit_ratios[j], -np.inf).tolist()
        self.told = told.tolist()
        self._measured = detail.measured[j]

    def reports(self) -> list[Reported | None]:
        """What each row reports; None where it reports nothing."""
        measured = repeat(None) if self._measured is None else self._measured.tolist()
        made = zip(
            repeat(self.kind), repeat(self.rule), self.values, self.lows, self.highs, self.roofs, self.limits,
            self.ratios, self.limit_ratios, measured, repeat(self.header), repeat(self.fastest),
        )  # fmt: skip
        return [one if told else None for one, told in zip(map(Reported._make, made), self.told, strict=True)]


class CaseColumns:
    """One case that figures speak of, as the rows of a group report it; rows near its roof with their own judgement."""

    def __init__(self, detail: Detail, index: int) -> None:
        claims = detail.claims
        self.index = index
        self.name, self.sizes = claims.case_names[index], claims.case_sizes[index]
        places = [j for j, figure in enumerate(claims.figures) if figure.case == index]
        own = [claims.figures[j] for j in places]
        values = np.array([figure.value for figure in own])
        told = np.isfinite(values)
        self.told = told.any(axis=0).tolist()
        of_figures = np.where(told, detail.ratios[places], -np.inf)
        ratios = of_figures.max(axis=0)
        limit_ratios = np.where(told, detail.limit_ratios[places], -np.inf).max(axis=0)
        self.ratios, self.limit_ratios = ratios.tolist(), limit_ratios.tolist()
        # The case's own time is shown, unless it is the fastest of its runs that comes closest to the roof.
        fastest = np.array([figure.fastest for figure in own])
        closest = of_figures.argmax(axis=0)
        shown = np.where(fastest[closest], closest, told.argmax(axis=0))
        self.fastest = fastest[shown].tolist()
        self.times = np.take_along_axis(_as_times(claims, own, [f.value for f in own]), shown[None], axis=0)[0].tolist()
        limits = _as_times(claims, own, [detail.limits[j] for j in places])
        self.limit_floors = np.where(told, limits, np.inf).min(axis=0).tolist()
        self.floors = np.broadcast_to(detail.base.roof[index], shown.shape).tolist()
        near = np.flatnonzero(np.maximum(ratios, limit_ratios) > _NEAR)
        self.judged: dict[int, tuple[Verdict, tuple[str, ...]]] = {}
        if len(near):
            found = judge_claims(_one_case(claims, index, near))
            said = zip(map(Verdict, found.verdict.tolist()), map(condition_ids, found.conditions.tolist()), strict=True)
            self.judged = dict(zip(near.tolist(), said, strict=True))

    def reports(self) -> list[CaseReport | None]:
        """What each row reports of the case; None where it reports nothing."""
        return [self._report(i) if told else None for i, told in enumerate(self.told)]

    def _report(self, i: int) -> CaseReport:
        verdict, conditions = self.judged.get(i, (Verdict.WITHIN, ()))
        return CaseReport(
            name=self.name,
            sizes=self.sizes,
            time=self.times[i],
            floor=self.floors[i],
            limit_floor=self.limit_floors[i],
            ratio=self.ratios[i],
            limit_ratio=self.limit_ratios[i],
            verdict=verdict,
            conditions=conditions,
            fastest=self.fastest[i],
        )


def row_by_row(columns: Sequence[Sequence[T | None]], count: int) -> list[tuple[T, ...]]:
    """What columns tell of each row, without what is None."""
    if not columns:
        return [()] * count
    if len(columns) == 1:
        return [() if one is None else (one,) for one in columns[0]]
    return [tuple([one for one in row if one is not None]) for row in zip(*columns, strict=True)]


def _one_case(claims: Claims, index: int, rows: Index) -> Claims:
    """One case of some rows, as claims of their own."""
    some = claims.take(rows)
    return some._replace(
        case_names=(some.case_names[index],),
        case_sizes=(some.case_sizes[index],),
        work=some.work.case(index),
        figures=tuple(f._replace(case=None) for f in some.figures if f.case == index),
    )


def _as_times(claims: Claims, figures: Sequence[Figure], values: Sequence[Column]) -> Column:
    """What values of one case's figures mean as its time [s], shape (figures, rows)."""
    times = np.empty((len(figures), len(claims.rows)))
    for time, figure, value in zip(times, figures, values, strict=True):
        time[:] = value if figure.kind == "time" else claims.counted(figure)[0] / value
    return times
