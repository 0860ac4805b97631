"""Rows worth a sentence: from a judgement's columns to `RowReport`s."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit.audit import messages
from klaudit.audit.claims import Claims
from klaudit.audit.detail import Detail, best_measured
from klaudit.audit.judgement import Judgement
from klaudit.audit.loopholes import consistent_with
from klaudit.audit.reported import CaseColumns, FigureColumns
from klaudit.audit.search import possible, possible_on
from klaudit.leaderboard import Trouble
from klaudit.report import RowReport
from klaudit.roofline import dram_floor
from klaudit.verdict import Verdict, condition_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]

_ratio = attrgetter("ratio")
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
        self.workload = claims.workload.id if claims.workload else ""
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
        self.whole = [FigureColumns(detail, j) for j, figure in enumerate(claims.figures) if figure.case is None]
        told = {figure.case for figure in claims.figures}
        self.cases = [CaseColumns(detail, index) for index in range(len(claims.case_names)) if index in told]

    def reports(self, rows: Index, marks: Mapping[str, Flags]) -> Iterator[RowReport]:
        """The reports, in the order of the group's rows, which stand at `rows` of the leaderboard."""
        marked = [(rule, flags[rows].tolist()) for rule, flags in marks.items()]
        lines = self.judgement.leaderboard.lines[rows].tolist()
        for i, (row, line) in enumerate(zip(rows.tolist(), lines, strict=True)):
            yield self._report(i, row, line, tuple([rule for rule, flags in marked if flags[i]]))

    def _report(self, i: int, row: int, line: int, marks: tuple[str, ...]) -> RowReport:
        board, claims = self.judgement.leaderboard, self.detail.claims
        chosen, share, troubles = self.conditions[i], self.shares[i], self.judgement.troubles_of(row)
        reported = tuple([told for whole in self.whole if (told := whole.reported(i)) is not None])
        cases = tuple([made for case in self.cases if (made := case.reported(i)) is not None])
        worst = max(cases, key=_ratio) if cases else None
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
            source=board.source,
            line=line,
            entry=board.entries[row],
            gpu=said.gpu,
            variants=said.variants,
            variant=said.variant,
            board=claims.era.id,
            workload=self.workload,
            dtype=claims.work.dtype,
            verdict=said.verdict,
            reported=reported,
            roof_name=said.roof_name,
            ratio=max([r.ratio for r in reported]) if reported else worst.ratio if worst else None,
            limit_ratio=max([r.limit_ratio for r in reported]) if reported else worst.limit_ratio if worst else None,
            conditions=said.conditions,
            alternatives=self._alternatives(i) if chosen else (),
            cached_share=said.cached_share,
            rules=said.rules,
            worst_case=worst.name if worst else "",
            message=self.sentences.of(said, i),
            cases=cases,
            notes=(*notes, self.loopholes[i]) if i in self.loopholes else notes,
            path=_path(self.judgement, row),
            intensity=self.intensities[i % len(self.intensities)],
        )

    def _alternatives(self, i: int) -> tuple[tuple[str, ...], ...]:
        """The other sufficient sets of a conditional row."""
        chosen = self.conditions[i]
        return tuple([self.names[bits] for bits, holds in self.sufficient if bits != chosen and holds[i]])

    def _rules(self, i: int, row: int, troubles: Sequence[Trouble]) -> tuple[str, ...]:
        """The slugs of a row, the verdict's own first."""
        rules = _own_rules(
            self.verdicts[i], self.compute_bound[i], self.launch_bound[i], self.shares[i] > 1, self.ambiguous[i],
            self.binary[i],
        )  # fmt: skip
        noted = self.judgement.noted
        if noted:
            rules += tuple([rule for rule, rows in noted.items() if row in rows])
        if troubles:
            rules += tuple([rule for rule in dict.fromkeys([t.rule for t in troubles]) if rule not in rules])
        return rules + self.detail.claims.notes


@lru_cache
def _own_rules(
    verdict: Verdict, compute_bound: bool, launch_bound: bool, strained: bool, ambiguous: bool, binary: bool
) -> tuple[str, ...]:
    """The slugs that a row earns by its figures."""
    rules: list[str] = []
    if verdict is Verdict.INCONSISTENT:
        rules.append("figures-disagree")
    elif verdict is Verdict.IMPOSSIBLE:
        rules += ["below-launch-floor"] * launch_bound + ["impossible"]
    elif verdict is Verdict.CONDITIONAL:
        rules.append("above-compute-roof" if compute_bound else "above-dram-roof")
        rules += ["strained"] * strained
    return (*rules, *["ambiguous-gpu"] * ambiguous, *["binary-reading"] * binary)


def _among(places: Index, ascending: Index) -> Flags:
    """Which places are among others."""
    nearest = np.minimum(np.searchsorted(ascending, places), len(ascending) - 1)
    return np.asarray(ascending[nearest] == places) if len(ascending) else np.zeros(len(places), dtype=np.bool_)


def _intensities(claims: Claims) -> list[float | None]:
    """Counted operations per compulsory byte over all cases [FLOP/B], for each row, or once for all of them."""
    flops, traffic = np.broadcast_arrays(claims.work.flops.sum(axis=0), claims.work.traffic.sum(axis=0))
    return [f / t if f > 0 and t > 0 else None for f, t in zip(flops.tolist(), traffic.tolist(), strict=True)]


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
