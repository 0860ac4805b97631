"""Rows worth a sentence: from a judgement's columns to `RowReport`s."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit.audit import messages
from klaudit.audit.claims import Claims, Figure
from klaudit.audit.detail import Detail, best_measured
from klaudit.audit.judgement import Judgement
from klaudit.audit.loopholes import consistent_with
from klaudit.audit.search import judge_claims, possible, possible_on
from klaudit.leaderboard import Trouble
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
            made = _Group(judgement, Detail.of(judged, judgement.place[wanted])).reports(wanted, marks)
            reports.update(zip(wanted.tolist(), made, strict=True))
    return [reports.get(row) or _unjudged(judgement, row) for row in rows.tolist()]


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


class _Group:
    """Makes the reports of one group's rows: its columns as lists, for an element of an array costs ten of a list's."""

    def __init__(self, judgement: Judgement, detail: Detail) -> None:
        claims, judged, places = detail.claims, detail.judged, detail.places
        self.judgement = judgement
        self.detail = detail
        self.sentences = messages.Sentences(detail)
        self.variants = tuple(card.id for card in claims.cards)
        self.verdicts = [Verdict(v) for v in judged.verdict[places].tolist()]
        self.conditions = judged.conditions[places].tolist()
        self.names = {
            bits: condition_ids(bits) for bits in {*self.conditions, *(bits for bits, _ in judged.sufficient)}
        }
        self.sufficient = [(bits, _among(places, rows).tolist()) for bits, rows in judged.sufficient]
        self.shares = detail.shares.tolist()
        self.compute_bound = detail.compute_bound.tolist()
        self.launch_bound = detail.launch_bound.tolist()
        self.ambiguous = detail.ambiguous.tolist()
        self.binary = _binary(detail).tolist()
        self.intensities = _intensities(claims)
        self.cards = _cards(detail)
        self.loopholes = _loopholes(detail)
        self.whole = [_Whole(detail, j) for j, figure in enumerate(claims.figures) if figure.case is None]
        self.has_cases = any(figure.case is not None for figure in claims.figures)

    def reports(self, rows: Index, marks: Mapping[str, Flags]) -> Iterator[RowReport]:
        """The reports, in the order of the group's rows, which stand at `rows` of the leaderboard."""
        marked = [(rule, flags[rows].tolist()) for rule, flags in marks.items()]
        lines = self.judgement.leaderboard.lines[rows].tolist()
        for i, (row, line) in enumerate(zip(rows.tolist(), lines, strict=True)):
            yield self._report(i, row, line, tuple([rule for rule, flags in marked if flags[i]]))

    def _report(self, i: int, row: int, line: int, marks: tuple[str, ...]) -> RowReport:
        board, claims = self.judgement.leaderboard, self.detail.claims
        chosen, share, troubles = self.conditions[i], self.shares[i], self.judgement.troubles_of(row)
        reported = tuple([found for whole in self.whole if (found := whole.reported(i)) is not None])
        cases = _cases(self.detail, i) if self.has_cases else ()
        worst = max(cases, key=lambda c: c.ratio, default=None)
        notes = tuple([trouble.message for trouble in troubles])
        said = messages.Said(
            gpu=claims.label,
            variants=self.variants,
            variant=self.variants[self.cards[i]],
            verdict=self.verdicts[i],
            reported=reported,
            cases=cases,
            roof_name="compute" if self.compute_bound[i] else "dram",
            conditions=self.names[chosen],
            cached_share=None if math.isnan(share) else share,
            rules=self._rules(i, row, troubles) + marks,
        )
        return RowReport(
            **said._asdict(),
            source=board.source,
            line=line,
            entry=board.entries[row],
            board=claims.era.id,
            workload=claims.workload.id if claims.workload else "",
            dtype=claims.work.dtype,
            ratio=max([r.ratio for r in reported], default=worst.ratio if worst else None),
            limit_ratio=max([r.limit_ratio for r in reported], default=worst.limit_ratio if worst else None),
            alternatives=tuple(
                [self.names[bits] for bits, holds in self.sufficient if chosen and bits != chosen and holds[i]]
            ),
            worst_case=worst.name if worst else "",
            message=self.sentences.of(said, i),
            notes=(*notes, self.loopholes[i]) if i in self.loopholes else notes,
            path=_path(self.judgement, row),
            intensity=self.intensities[i % len(self.intensities)],
        )

    def _rules(self, i: int, row: int, troubles: Sequence[Trouble]) -> tuple[str, ...]:
        """The slugs of a row, the verdict's own first."""
        rules: list[str] = []
        verdict = self.verdicts[i]
        if verdict is Verdict.INCONSISTENT:
            rules.append("figures-disagree")
        elif verdict is Verdict.IMPOSSIBLE:
            rules += ["below-launch-floor"] * self.launch_bound[i] + ["impossible"]
        elif verdict is Verdict.CONDITIONAL:
            rules.append("above-compute-roof" if self.compute_bound[i] else "above-dram-roof")
            if self.shares[i] > 1:
                rules.append("strained")
        if self.ambiguous[i]:
            rules.append("ambiguous-gpu")
        if self.binary[i]:
            rules.append("binary-reading")
        rules += [rule for rule, noted in self.judgement.noted.items() if row in noted]
        rules += [rule for rule in dict.fromkeys([t.rule for t in troubles]) if rule not in rules]
        rules += self.detail.claims.notes
        return tuple(rules)


def _among(places: Index, ascending: Index) -> Flags:
    """Which places are among others."""
    nearest = np.minimum(np.searchsorted(ascending, places), len(ascending) - 1)
    return np.asarray(ascending[nearest] == places) if len(ascending) else np.zeros(len(places), dtype=np.bool_)


class _Whole:
    """One figure over all cases, as the rows of a group report it."""

    def __init__(self, detail: Detail, j: int) -> None:
        figure = detail.claims.figures[j]
        self.kind, self.rule, self.header, self.fastest = figure.kind, figure.rule, figure.header, figure.fastest
        self.values, self.lows, self.highs = figure.value.tolist(), figure.low.tolist(), figure.high.tolist()
        self.roofs, self.limits = detail.roofs[j].tolist(), detail.limits[j].tolist()
        self.ratios, self.limit_ratios = detail.ratios[j].tolist(), detail.limit_ratios[j].tolist()
        measured = detail.measured[j]
        self.measured = None if measured is None else measured.tolist()

    def reported(self, i: int) -> Reported | None:
        """What row `i` reports; None where it reports nothing."""
        if not math.isfinite(self.values[i]):
            return None
        return Reported(
            kind=self.kind,
            rule=self.rule,
            value=self.values[i],
            low=self.lows[i],
            high=self.highs[i],
            roof=self.roofs[i],
            limit=self.limits[i],
            ratio=self.ratios[i],
            limit_ratio=self.limit_ratios[i],
            measured=None if self.measured is None else self.measured[i],
            header=self.header,
            fastest=self.fastest,
        )


def _intensities(claims: Claims) -> list[float | None]:
    """Counted operations per compulsory byte over all cases [FLOP/B], for each row, or once for all of them."""
    flops, traffic = np.broadcast_arrays(claims.work.flops.sum(axis=0), claims.work.traffic.sum(axis=0))
    return [f / t if f > 0 and t > 0 else None for f, t in zip(flops.tolist(), traffic.tolist(), strict=True)]


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
    figures = tuple(f._replace(case=None) for f in row.figures if f.case == index)
    return row._replace(
        case_names=(row.case_names[index],),
        case_sizes=(row.case_sizes[index],),
        work=row.work.case(index),
        figures=figures,
    )


def _cards(detail: Detail) -> list[int]:
    """Which card each verdict rests on: the first that bears a conditional row, else the fastest or slowest."""
    claims, judged = detail.claims, detail.judged
    verdict = judged.verdict[detail.places]
    speeds = [card.bandwidth for card in claims.cards]
    chosen = np.where(verdict == Verdict.WITHIN, int(np.argmin(speeds)), int(np.argmax(speeds)))
    conditional = np.flatnonzero(verdict == Verdict.CONDITIONAL) if len(speeds) > 1 else chosen[:0]
    bits = judged.conditions[detail.places]
    for index in reversed(range(len(speeds))):
        # Not by np.unique, whose first call imports masked arrays: a tenth of a short audit.
        for some in set(bits[conditional].tolist()):
            rows = conditional[bits[conditional] == some]
            alone = claims.take(rows)._replace(cards=(claims.cards[index],))
            chosen[rows[possible(alone, some)]] = index
    return list(chosen.tolist())


def _binary(detail: Detail) -> Flags:
    """Rows with a rate between the decimal roof and the one with binary gigabytes."""
    rates = [j for j, f in enumerate(detail.claims.figures) if f.case is None and f.kind != "time"]
    ratios = detail.ratios[rates]
    between = ((ratios > 1) & (ratios <= BINARY_GIGA)).any(axis=0)
    return np.asarray(between & ~detail.compute_bound)
