"""Rows worth a sentence: from a judgement's columns to `RowReport`s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit.audit import messages
from klaudit.audit.claims import Claims, Figure
from klaudit.audit.detail import Detail, best_measured
from klaudit.audit.judgement import Judgement
from klaudit.audit.loopholes import consistent_with
from klaudit.audit.search import judge_claims, possible, possible_on
from klaudit.gpu import Gpu
from klaudit.report import CaseReport, Reported, RowReport
from klaudit.roofline import dram_floor
from klaudit.verdict import Verdict, condition_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]

# What a gigabyte is larger by where it means 2**30 bytes.
BINARY_GIGA: Final = 2**30 / 1e9


@np.errstate(all="ignore")
def above_measured(judgement: Judgement) -> Flags:
    """Rows within their roof whose figures beat the best bandwidth measured on their card, shape (rows,)."""
    flags = np.zeros(len(judgement.leaderboard), dtype=np.bool_)
    for index, judged in enumerate(judgement.groups):
        claims = judged.claims
        fastest = best_measured(claims)
        if fastest is None:
            continue
        ours = (judgement.group[claims.rows] == index) & (judged.verdict == Verdict.WITHIN)
        beaten = ours & ~possible_on(claims, dram_floor(claims.work.traffic, fastest))
        flags[claims.rows[beaten]] = True
    return flags


@np.errstate(all="ignore")
def report_rows(judgement: Judgement, rows: Index, marks: Mapping[str, Flags]) -> list[RowReport]:
    """The reports of some rows of a leaderboard, in their order.

    Parameters
    ----------
    judgement : Judgement
    rows : ndarray of int
        Which rows.
    marks : mapping of str to ndarray of bool, shape (all rows,)
        Notes that others found: rule to flags.
    """
    reports: dict[int, RowReport] = {}
    for index, judged in enumerate(judgement.groups):
        wanted = rows[judgement.group[rows] == index]
        if len(wanted):
            detail = Detail.of(judged, judgement.place[wanted])
            loopholes = _loopholes(detail)
            for i, row in enumerate(wanted):
                extra = tuple(rule for rule, flags in marks.items() if flags[row])
                report = _report(judgement, detail, i, int(row), extra)
                reports[int(row)] = replace(report, notes=(*report.notes, loopholes[i])) if i in loopholes else report
    for row in rows:
        if int(row) not in reports:
            reports[int(row)] = _unjudged(judgement, int(row))
    return [reports[int(row)] for row in rows]


def _loopholes(detail: Detail) -> dict[int, str]:
    """For rows above the roof: what their board's check would accept and what would explain them."""
    verdict = detail.judged.verdict[detail.places]
    above = np.flatnonzero((verdict == Verdict.CONDITIONAL) | (verdict == Verdict.IMPOSSIBLE))
    if not len(above):
        return {}
    return {int(i): said for i, said in zip(above, consistent_with(detail.claims.take(above)), strict=True) if said}


def _unjudged(judgement: Judgement, row: int) -> RowReport:
    board = judgement.leaderboard
    code = board.gpu_codes[row]
    rule, message = judgement.reasons.get(row, ("missing-score", "the row reports no figure"))
    return RowReport(
        source=board.source, line=int(board.lines[row]), entry=board.entries[row],
        gpu=board.gpu_labels[code] if code >= 0 else "", variants=(), variant="", board="", workload="", dtype="",
        verdict=Verdict.UNJUDGED, reported=(), roof_name="", ratio=None, limit_ratio=None, conditions=(),
        alternatives=(), cached_share=None, rules=(rule,), worst_case="", message=message, path=_path(judgement, row),
    )  # fmt: skip


def _path(judgement: Judgement, row: int) -> str:
    """Where a row's record stands in its document."""
    paths = judgement.leaderboard.paths
    return "" if paths is None else paths[row]


def _report(judgement: Judgement, detail: Detail, i: int, row: int, marks: tuple[str, ...]) -> RowReport:
    board, claims, judged = judgement.leaderboard, detail.claims, detail.judged
    place = int(detail.places[i])
    verdict = Verdict(int(judged.verdict[place]))
    chosen = int(judged.conditions[place])
    reported, cases = _reported(detail, i), _cases(detail, i)
    worst = max(cases, key=lambda c: c.ratio, default=None)
    share = float(detail.shares[i])
    report = RowReport(
        source=board.source,
        line=int(board.lines[row]),
        entry=board.entries[row],
        gpu=claims.label,
        variants=tuple(card.id for card in claims.cards),
        variant=_variant(detail, i, verdict).id,
        board=claims.era.id,
        workload=claims.workload.id if claims.workload else "",
        dtype=claims.work.dtype,
        verdict=verdict,
        reported=reported,
        roof_name=detail.roof_name(i),
        ratio=max((r.ratio for r in reported), default=worst.ratio if worst else None),
        limit_ratio=max((r.limit_ratio for r in reported), default=worst.limit_ratio if worst else None),
        conditions=condition_ids(chosen),
        alternatives=tuple(
            condition_ids(bits) for bits, rows in judged.sufficient if chosen and bits != chosen and _holds(rows, place)
        ),
        cached_share=None if np.isnan(share) else share,
        rules=_rules(judgement, detail, i, row, verdict) + marks,
        worst_case=worst.name if worst else "",
        message="",
        cases=cases,
        notes=tuple(t.message for t in judgement.troubles_of(row)),
        path=_path(judgement, row),
        intensity=_intensity(claims, i),
    )
    return replace(report, message=messages.sentence(report, detail, i))


def _intensity(claims: Claims, i: int) -> float | None:
    """Counted operations per compulsory byte over all cases [FLOP/B]."""
    row = 0 if claims.work.flops.shape[1] == 1 else i
    flops, traffic = float(claims.work.flops[:, row].sum()), float(claims.work.traffic[:, row].sum())
    return flops / traffic if flops > 0 and traffic > 0 else None


def _holds(ascending: Index, value: int) -> bool:
    place = int(np.searchsorted(ascending, value))
    return place < len(ascending) and int(ascending[place]) == value


def _one_of(column: Column | None, row: int) -> float | None:
    return None if column is None else float(column[row])


def _reported(detail: Detail, i: int) -> tuple[Reported, ...]:
    """The figures over all cases that a row reports."""
    found = []
    for j, figure in enumerate(detail.claims.figures):
        if figure.case is None and np.isfinite(figure.value[i]):
            found.append(
                Reported(
                    kind=figure.kind,
                    rule=figure.rule,
                    value=float(figure.value[i]),
                    low=float(figure.low[i]),
                    high=float(figure.high[i]),
                    roof=float(detail.roofs[j][i]),
                    limit=float(detail.limits[j][i]),
                    ratio=float(detail.ratios[j, i]),
                    limit_ratio=float(detail.limit_ratios[j, i]),
                    measured=_one_of(detail.measured[j], i),
                    header=figure.header,
                    fastest=figure.fastest,
                )
            )
    return tuple(found)


def _cases(detail: Detail, i: int) -> tuple[CaseReport, ...]:
    """The cases of a row that its file gives figures for, each with its own smallest set."""
    claims = detail.claims
    found = []
    for index, name in enumerate(claims.case_names):
        figures = [(j, f) for j, f in enumerate(claims.figures) if f.case == index and np.isfinite(f.value[i])]
        if not figures:
            continue
        own = judge_claims(_one_case(claims, index, i)) if _flagged(detail, figures, i) else None
        limit = min((detail.limits[j][i] if f.kind == "time" else _time_at(detail, f, j, i)) for j, f in figures)
        # The case's own time is shown, unless it is the fastest of its runs that comes closest to the roof.
        closest = max(figures, key=lambda pair: detail.ratios[pair[0], i])[1]
        shown = closest if closest.fastest else figures[0][1]
        value = float(shown.value[i])
        work = float(_at(claims.counted(shown), i))
        found.append(
            CaseReport(
                name=name,
                sizes=claims.case_sizes[index],
                time=value if shown.kind == "time" else work / value if value else float("inf"),
                floor=float(_at(detail.base.roof[index : index + 1], i)),
                limit_floor=float(limit),
                ratio=max(float(detail.ratios[j, i]) for j, _ in figures),
                limit_ratio=max(float(detail.limit_ratios[j, i]) for j, _ in figures),
                verdict=Verdict(int(own.verdict[0])) if own else Verdict.WITHIN,
                conditions=condition_ids(int(own.conditions[0])) if own else (),
                fastest=shown.fastest,
            )
        )
    return tuple(found)


def _time_at(detail: Detail, figure: Figure, j: int, i: int) -> float:
    """The time that a rate's limit stands for [s]."""
    return float(_at(detail.claims.counted(figure), i) / detail.limits[j][i])


def _at(column: Column, row: int) -> float:
    """The first case of a column, for one row, where all rows may share it."""
    return float(column[0, 0 if column.shape[1] == 1 else row])


def _flagged(detail: Detail, figures: list[tuple[int, Figure]], i: int) -> bool:
    """Whether a case is near or above its roof or a hard floor: else it needs no judge of its own."""
    return any(max(float(detail.ratios[j, i]), float(detail.limit_ratios[j, i])) > 1 - 1e-6 for j, _ in figures)


def _one_case(claims: Claims, index: int, i: int) -> Claims:
    """One case of one row as a claim of its own."""
    row = claims.take(np.array([i]))
    figures = tuple(replace(f, case=None) for f in row.figures if f.case == index)
    return replace(
        row, case_names=(row.case_names[index],), case_sizes=(row.case_sizes[index],), work=row.work.case(index),
        figures=figures,
    )  # fmt: skip


def _variant(detail: Detail, i: int, verdict: Verdict) -> Gpu:
    """The card that the verdict rests on: the first that bears a conditional row, else the fastest or slowest."""
    claims = detail.claims
    if len(claims.cards) == 1:
        return claims.cards[0]
    if verdict is Verdict.CONDITIONAL:
        chosen = int(detail.judged.conditions[detail.places[i]])
        one = claims.take(np.array([i]))
        for card in claims.cards:
            if possible(replace(one, cards=(card,)), chosen)[0]:
                return card
    choose = min if verdict is Verdict.WITHIN else max
    return choose(claims.cards, key=lambda card: card.bandwidth)


def _rules(judgement: Judgement, detail: Detail, i: int, row: int, verdict: Verdict) -> tuple[str, ...]:
    """The slugs of a row, the verdict's own first."""
    rules: list[str] = []
    if verdict is Verdict.INCONSISTENT:
        rules.append("figures-disagree")
    elif verdict is Verdict.IMPOSSIBLE:
        rules += ["below-launch-floor"] * bool(detail.launch_bound[i]) + ["impossible"]
    elif verdict is Verdict.CONDITIONAL:
        rules.append("above-compute-roof" if detail.compute_bound[i] else "above-dram-roof")
        if detail.shares[i] > 1:
            rules.append("strained")
    if detail.ambiguous[i]:
        rules.append("ambiguous-gpu")
    if _binary(detail, i):
        rules.append("binary-reading")
    rules += [rule for rule, noted in judgement.noted.items() if row in noted]
    rules += [rule for rule in dict.fromkeys(t.rule for t in judgement.troubles_of(row)) if rule not in rules]
    rules += detail.claims.notes
    return tuple(rules)


def _binary(detail: Detail, i: int) -> bool:
    """Whether a rate lies between the decimal roof and the one with binary gigabytes."""
    figures = [(j, f) for j, f in enumerate(detail.claims.figures) if f.case is None and f.kind != "time"]
    return not detail.compute_bound[i] and any(1 < float(detail.ratios[j, i]) <= BINARY_GIGA for j, _ in figures)
