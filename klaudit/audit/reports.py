"""Rows worth a sentence: from a judgement's columns to `RowReport`s."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit.audit import messages
from klaudit.audit.claims import Claims
from klaudit.audit.detail import Detail, best_measured
from klaudit.audit.judgement import Judgement
from klaudit.audit.loopholes import consistent_with
from klaudit.audit.reported import CaseColumns, FigureColumns, row_by_row
from klaudit.audit.search import possible, possible_on
from klaudit.report import RowReport
from klaudit.roofline import dram_floor
from klaudit.verdict import Verdict, condition_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Index = NDArray[np.intp]

_VERDICTS = tuple(Verdict)
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
            made = _Group(judgement, Detail.of(judged, judgement.place[wanted]), wanted).reports(marks)
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
    path = "" if board.paths is None else board.paths[row]
    rule, message = judgement.reasons.get(row, ("missing-score", "the row reports no figure"))
    return RowReport(
        source=board.source, line=int(board.lines[row]), entry=board.entries[row],
        gpu=board.gpu_labels[code] if code >= 0 else "", variants=(), variant="", board="", workload="", dtype="",
        verdict=Verdict.UNJUDGED, reported=(), roof_name="", ratio=None, limit_ratio=None, conditions=(),
        alternatives=(), cached_share=None, rules=(rule,), worst_case="", message=message, path=path,
    )  # fmt: skip


class _Group:
    """Makes the reports of one group's rows, column by column: an element of an array costs ten of a list's."""

    def __init__(self, judgement: Judgement, detail: Detail, rows: Index) -> None:
        self.judgement = judgement
        self.detail = detail
        self.rows = rows.tolist()
        self.same = partial(repeat, times=len(rows))
        # Few rows have any.
        found = ((i, judgement.troubles_of(row)) for i, row in enumerate(self.rows))
        self.troubles = {i: troubles for i, troubles in found if troubles} if judgement.leaderboard.troubles else {}
        self.verdicts = [_VERDICTS[v] for v in detail.judged.verdict[detail.places].tolist()]
        self.conditions = detail.judged.conditions[detail.places].tolist()
        self.names = {
            bits: condition_ids(bits) for bits in {*self.conditions, *(b for b, _ in detail.judged.sufficient)}
        }

    def reports(self, marks: Mapping[str, Flags]) -> list[RowReport]:
        """The reports, in the order of the group's rows."""
        detail, claims, board = self.detail, self.detail.claims, self.judgement.leaderboard
        whole = [FigureColumns(detail, j) for j, figure in enumerate(claims.figures) if figure.case is None]
        spoken = {figure.case for figure in claims.figures}
        cases = [CaseColumns(detail, index) for index in range(len(claims.case_names)) if index in spoken]
        reported = row_by_row([figure.reports() for figure in whole], len(self.rows))
        by_case = row_by_row([case.reports() for case in cases], len(self.rows))
        worst = [max(some, key=_ratio, default=None) for some in by_case] if cases else [None] * len(self.rows)
        said = self._said(marks)
        sentences = messages.Sentences(detail, whole, cases)
        columns: dict[str, Iterable[object]] = {
            **dict(zip(messages.Said._fields, zip(*said, strict=True), strict=True)),
            "source": self.same(board.source),
            "line": board.lines[self.rows].tolist(),
            "entry": [board.entries[row] for row in self.rows],
            "board": self.same(claims.era.id),
            "workload": self.same(claims.workload.id if claims.workload else ""),
            "dtype": self.same(claims.work.dtype),
            "reported": reported,
            "ratio": _largest([figure.ratios for figure in whole], [case and case.ratio for case in worst]),
            "limit_ratio": _largest([f.limit_ratios for f in whole], [case and case.limit_ratio for case in worst]),
            "alternatives": self._alternatives(),
            "worst_case": [case.name if case else "" for case in worst],
            "message": [sentences.of(one, i) for i, one in enumerate(said)],
            "cases": by_case,
            "notes": self._notes(),
            "path": self.same("") if board.paths is None else [board.paths[row] for row in self.rows],
            "intensity": _intensities(claims, len(self.rows)),
            # These come later, where somebody asks for them.
            "fingerprint": self.same(""),
            "suppressed": self.same(""),
        }
        return list(map(RowReport._make, zip(*[columns[name] for name in RowReport._fields], strict=True)))

    def _said(self, marks: Mapping[str, Flags]) -> list[messages.Said]:
        detail, claims = self.detail, self.detail.claims
        variants = tuple(card.id for card in claims.cards)
        columns = zip(
            self.same(claims.label),
            self.same(variants),
            [variants[card] for card in _cards(detail)],
            self.verdicts,
            ["compute" if bound else "dram" for bound in detail.compute_bound.tolist()],
            [self.names[bits] for bits in self.conditions],
            [None if math.isnan(share) else share for share in detail.shares.tolist()],
            self._rules(marks),
            strict=True,
        )
        return list(map(messages.Said._make, columns))

    def _alternatives(self) -> list[tuple[tuple[str, ...], ...]]:
        """The other sufficient sets of conditional rows."""
        others: list[tuple[tuple[str, ...], ...]] = [()] * len(self.rows)
        for bits, holders in self.detail.judged.sufficient:
            for i in np.flatnonzero(_among(self.detail.places, holders)).tolist():
                if self.conditions[i] not in (0, bits):
                    others[i] += (self.names[bits],)
        return others

    def _notes(self) -> list[tuple[str, ...]]:
        """What the reader could not take, and which trivial submission would explain a score."""
        notes: list[tuple[str, ...]] = [()] * len(self.rows)
        for i, troubles in self.troubles.items():
            notes[i] = tuple([trouble.message for trouble in troubles])
        for i, loophole in _loopholes(self.detail).items():
            notes[i] += (loophole,)
        return notes

    def _rules(self, marks: Mapping[str, Flags]) -> list[tuple[str, ...]]:
        """The slugs of each row, the verdict's own first."""
        detail = self.detail
        earned = zip(
            self.verdicts, detail.compute_bound.tolist(), detail.launch_bound.tolist(), (detail.shares > 1).tolist(),
            detail.ambiguous.tolist(), _binary(detail).tolist(), strict=True,
        )  # fmt: skip
        rules = [_own_rules(*flags) for flags in earned]
        for rule, noted in self.judgement.noted.items():
            for i in [i for i, row in enumerate(self.rows) if row in noted]:
                rules[i] += (rule,)
        for i, troubles in self.troubles.items():
            rules[i] = tuple(dict.fromkeys([*rules[i], *(trouble.rule for trouble in troubles)]))
        rules = [own + detail.claims.notes for own in rules] if detail.claims.notes else rules
        for rule, flags in marks.items():
            for i in np.flatnonzero(flags[self.rows]).tolist():
                rules[i] += (rule,)
        return rules


def _largest(figures: Sequence[Sequence[float]], otherwise: Sequence[float | None]) -> list[float | None]:
    """Each row's largest ratio over its figures; without figures that of its cases."""
    if not figures:
        return list(otherwise)
    found = [max(ratios) for ratios in zip(*figures, strict=True)] if len(figures) > 1 else figures[0]
    return [ratio if ratio > -math.inf else other for ratio, other in zip(found, otherwise, strict=True)]


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


def _intensities(claims: Claims, count: int) -> list[float | None]:
    """Counted operations per compulsory byte over all cases [FLOP/B], for each row."""
    flops, traffic = np.broadcast_arrays(claims.work.flops.sum(axis=0), claims.work.traffic.sum(axis=0))
    each = [f / t if f > 0 and t > 0 else None for f, t in zip(flops.tolist(), traffic.tolist(), strict=True)]
    return each if len(each) == count else each * count


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
