"""One claim, step by step: the arithmetic that a person can paste under a bug report and check with a calculator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from klaudit.audit.detail import Detail
from klaudit.audit.messages import RULE_WORDS
from klaudit.audit.reports import above_measured, report_rows
from klaudit.audit.run import judge
from klaudit.audit.search import ceiling, worlds
from klaudit.floors import floors
from klaudit.report import Explanation, RowReport, Step
from klaudit.units import show
from klaudit.verdict import CONDITION_BITS, CONDITION_IDS, Policy, condition_ids

if TYPE_CHECKING:
    from klaudit.audit.claims import Claims
    from klaudit.board import Board
    from klaudit.catalog import Catalog
    from klaudit.gpu import Gpu
    from klaudit.leaderboard import Leaderboard
    from klaudit.provenance import Figure


def explain(
    claim: Leaderboard, catalog: Catalog, board: Board | None = None, policy: Policy | None = None
) -> Explanation:
    """One claim's arithmetic, step by step.

    Parameters
    ----------
    claim : Leaderboard
        One row.
    catalog : Catalog
    board : Board, optional
    policy : Policy, optional

    Returns
    -------
    Explanation
        The steps and the report of the row; a claim that cannot be judged has the report alone.
    """
    judgement = judge(claim, catalog, board, policy)
    first = np.array([0])
    report = report_rows(judgement, first, {"above-measured": above_measured(judgement)})[0]
    steps: list[Step] = []
    if judgement.group[0] >= 0:
        detail = Detail.of(judgement.groups[judgement.group[0]], judgement.place[:1].astype(np.intp))
        steps = [*_claim(report), *_cards(detail.claims), *_work(detail.claims), *_floors(detail), *_sets(detail)]
    return Explanation(_title(claim, report), tuple(steps), report)


def _title(claim: Leaderboard, report: RowReport) -> str:
    figures = ", ".join(show(float(c.value[0]), c.kind) for c in claim.figures if np.isfinite(c.value[0]))
    what = " ".join(part for part in (report.workload, report.dtype) if part)
    return " ".join(part for part in (figures or "no figure", f"on {report.gpu}" if report.gpu else "", what) if part)


def _claim(report: RowReport) -> Iterator[Step]:
    """The figures as printed, and what they can stand for."""
    figures = [(r.kind, r.low, r.value, r.high) for r in report.reported]
    figures += [("time", c.time, c.time, c.time) for c in report.cases]
    for kind, low, value, high in figures:
        span = f", printed so it lies between {show(low, kind, 6)} and {show(high, kind, 6)}" if low < high else ""
        yield Step("Reported", f"{show(value, kind)}{span}")


def _cards(claims: Claims) -> Iterator[Step]:
    """Each card the label can mean, with the bandwidth that rules and where it comes from."""
    for card in claims.cards:
        figures = {name: [f for f in card.figures if f.name == name] for name in (f.name for f in card.figures)}
        where = {s.key: s.where for s in card.sources}
        bus, pins = (_largest(figures.get(f"memory.{name}", [])) for name in ("bus_width", "data_rate"))
        published = _largest(figures.get("memory.published_bandwidth", []))
        count = f"{card.cards} x " if card.cards > 1 else ""
        if card.bandwidth_from == "pin rate" and bus and pins:
            text = f"{count}{bus.text} x {pins.text} / 8 = {show(card.bandwidth, 'bandwidth', 5)}"
            also = f" (published {published.text})" if published else ""
            yield Step(f"DRAM bandwidth of {card.name}", text + also, where.get(pins.source, pins.source))
        elif published:
            text = f"{count}{published.text}, published: {show(card.bandwidth, 'bandwidth', 5)}"
            yield Step(f"DRAM bandwidth of {card.name}", text, where.get(published.source, published.source))
        yield from _peak(card, claims.work.dtype, where)


def _largest(figures: list[Figure]) -> Figure | None:
    return max(figures, key=lambda f: f.value, default=None)


def _peak(card: Gpu, dtype: str, where: dict[str, str]) -> Iterator[Step]:
    peak = card.pipe(dtype)
    if peak is None:
        return
    text = f"{show(peak.rate, 'rate')} dense, {peak.label}"
    if peak.per_clock:
        text = (
            f"{card.processors} x {peak.per_clock:g} FLOP/clk x {show(card.clock, 'frequency')}"
            f" (published {peak.published.text}): {text}"
        )
    yield Step(f"Peak of {card.name}", text, where.get(peak.published.source, peak.published.source))


def _work(claims: Claims) -> Iterator[Step]:
    """What must be moved and computed, by formula and in numbers."""
    workload = claims.workload
    if workload is None:
        return
    where = {s.key: s.where for s in workload.sources}
    yield Step(
        f"Operations as the {'board' if claims.board and claims.board.workload else 'workload'} counts them",
        f"{workload.flops.formula.text} FLOP",
        where.get(workload.flops.source, workload.flops.why),
    )
    reads, writes = workload.reads, workload.writes
    yield Step(
        "Bytes that must move",
        f"read {reads.formula.text}, write {writes.formula.text}, b bytes an element of {claims.work.dtype}",
        "; ".join(w for w in (reads.why, writes.why) if w),
    )
    if claims.work.traffic[0, 0] > 0:
        intensity = claims.work.flops[0, 0] / claims.work.traffic[0, 0]
        yield Step("Arithmetic intensity", f"operations / bytes = {intensity:.4g} FLOP/B")


def _floors(detail: Detail) -> Iterator[Step]:
    """The floors of each case on each card, then the roof of what is reported."""
    claims = detail.claims
    if not claims.work.boundless_cache:
        for card in claims.cards:
            parts = floors(card, claims.work, 0, claims.launch)
            for index, name in enumerate(claims.case_names):
                traffic, flops = float(claims.work.traffic[index, 0]), float(claims.work.flops[index, 0])
                took = float(parts.dram[index, 0])
                text = f"{show(traffic, 'bytes')} / {show(card.bandwidth, 'bandwidth')} = {show(took, 'time')}"
                if parts.compute[index, 0] > parts.dram[index, 0]:
                    took = float(parts.compute[index, 0])
                    text = f"{show(flops, 'work')} / {show(flops / took, 'rate')} = {show(took, 'time')}"
                yield Step(f"Floor of {name or 'the case'} on {card.id}", text)
    for j, figure in enumerate(claims.figures):
        if not np.isfinite(figure.value[0]):
            continue
        bound = float(detail.roofs[j][0])
        name = claims.case_names[figure.case] if figure.case is not None else ""
        over = (
            f"{RULE_WORDS[figure.rule]} over {len(claims.case_names)} cases"
            if len(claims.case_names) > 1
            else "the case"
        )
        word = "floor" if figure.kind == "time" else "roof"
        yield Step(
            f"The {word} of {name or over}",
            f"{show(bound, figure.kind)}; reported {show(float(figure.value[0]), figure.kind)},"
            f" {detail.ratios[j, 0]:.3g} x the roof",
        )


def _sets(detail: Detail) -> Iterator[Step]:
    """The ceiling under each condition that matters, and under all together."""
    claims, considered = detail.claims, detail.judged.considered
    singles = [CONDITION_BITS[c] for c in CONDITION_IDS if considered & CONDITION_BITS[c]]
    chosen = int(detail.judged.conditions[detail.places[0]])
    sets = dict.fromkeys([*singles, chosen, considered])
    for figure in claims.figures:
        if figure.case is not None or not np.isfinite(figure.value[0]):
            continue
        for bits in (b for b in sets if b):
            each = [ceiling(claims, figure, claims.least(figure, w)) for w in worlds(claims, bits)]
            best = min(float(c[0]) for c in each) if figure.kind == "time" else max(float(c[0]) for c in each)
            names = condition_ids(bits)
            label = (
                "With all of them together" if bits == considered and len(names) > 1 else f"With {' and '.join(names)}"
            )
            word = "at least" if figure.kind == "time" else "at most"
            yield Step(label, f"{word} {show(best, figure.kind)}")
