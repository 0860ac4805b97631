"""Where rows stand: a submission's rank among the rows of its card, and the podiums with and without rows that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from klaudit.audit.judgement import Judgement
from klaudit.board import Board, Scoring
from klaudit.report import Place, Podium, Reported, RowReport, Standing
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

Kind = Literal["rate", "time", "bandwidth"]

_PODIUM: Final = 3


@dataclass(slots=True)
class _Rivals:
    """The rows of one card that report one figure: values, which are within, and the best of those."""

    values: list[Column] = field(default_factory=list)
    within: list[Column] = field(default_factory=list)
    best: tuple[float, str, int] | None = None


class Ranking:
    """The figures of a board by card, taken in batch by batch."""

    def __init__(self, name: str, board: Board | None, gpu: str = "") -> None:
        self._name = name
        self._gpu = gpu
        self._scoring = board.eras[-1].scoring if board else None
        self._eras = {era.id: era.scoring for era in board.eras} if board else {}
        self._rivals: dict[tuple[str, str, str], _Rivals] = {}

    def add(self, judgement: Judgement) -> None:
        """Take in one batch of the board."""
        rows = judgement.leaderboard
        own = np.ones(len(rows), dtype=np.bool_)
        own[[trouble.row for trouble in rows.troubles if trouble.rule == "other-board"]] = False
        for figure in rows.figures:
            if figure.case is not None or figure.fastest:
                continue
            rule = self._rule(figure.kind, figure.rule or "", self._scoring if len(self._eras) == 1 else None)
            for code in np.unique(rows.gpu_codes):
                label = rows.gpu_labels[code] if code >= 0 else self._gpu
                there = np.flatnonzero(own & (rows.gpu_codes == code) & np.isfinite(figure.value))
                if not len(there):
                    continue
                rivals = self._rivals.setdefault((label.casefold(), figure.kind, rule), _Rivals())
                within = there[judgement.verdict[there] == Verdict.WITHIN]
                rivals.values.append(figure.value[there])
                rivals.within.append(figure.value[within])
                if len(within):
                    values = figure.value[within]
                    first = within[int(values.argmin() if figure.kind == "time" else values.argmax())]
                    self._challenge(rivals, figure.kind, figure.value[first], rows.entries[first], rows.lines[first])

    def _rule(self, kind: str, rule: str, scoring: Scoring | None) -> str:
        """How cases were averaged: as the column says, "" where that is the board's own way, whatever its era."""
        own = None if scoring is None else scoring.time if kind == "time" else scoring.rate
        return "" if rule == own else rule

    def _challenge(self, rivals: _Rivals, kind: Kind, value: float, entry: str, line: int) -> None:
        if rivals.best is None or _better(value, rivals.best[0], kind):
            rivals.best = (float(value), entry, int(line))

    def of(self, rows: Iterable[RowReport]) -> tuple[Standing, ...]:
        """Where each row would stand."""
        return tuple(self._standing(row) for row in rows)

    def _standing(self, row: RowReport) -> Standing:
        scoring = self._eras.get(row.board, self._scoring)
        for figure in _ranked(row.reported, self._scoring):
            rivals = self._rivals.get((row.gpu.casefold(), figure.kind, self._rule(figure.kind, figure.rule, scoring)))
            if rivals is None:
                continue
            rank, of = _rank(figure, rivals.values)
            rank_within, of_within = _rank(figure, rivals.within)
            if rivals.best is None:
                return Standing(row, self._name, figure.kind, rank, of, rank_within, of_within)
            best, entry, line = rivals.best
            lead = best / figure.value if figure.kind == "time" else figure.value / best
            return Standing(
                row, self._name, figure.kind, rank, of, rank_within, of_within, entry, line, best, lead
            )  # fmt: skip
        return Standing(row, self._name)


def podiums(rows: Iterable[RowReport], board: Board | None, fails: Callable[[RowReport], bool]) -> tuple[Podium, ...]:
    """The podium of each card, where it changes without the rows that fail.

    Parameters
    ----------
    rows : iterable of RowReport
        The board, in its order.
    board : Board, optional
        Which figure it ranks by; without one it is the time.
    fails : callable
        Whether a row fails.
    """
    scoring = board.eras[-1].scoring if board else None
    best: dict[tuple[str, Kind], tuple[str, list[Place], list[Place]]] = {}
    for row in rows:
        figure = next(iter(_ranked(row.reported, scoring)), None)
        if figure is None:
            continue
        place = Place(row.entry, row.line, figure.value, row.verdict)
        _, before, after = best.setdefault((row.gpu.casefold(), figure.kind), (row.gpu, [], []))
        for podium in (before,) if fails(row) else (before, after):
            podium.append(place)
            # Equal ones stay in the order of the board.
            podium.sort(key=lambda p: p.value if figure.kind == "time" else -p.value)
            del podium[_PODIUM:]
    changed = (item for item in best.items() if item[1][1] != item[1][2])
    return tuple(Podium(gpu, kind, tuple(before), tuple(after)) for (_, kind), (gpu, before, after) in changed)


def _ranked(reported: Sequence[Reported], scoring: Scoring | None) -> list[Reported]:
    """The figures of a row that can be ranked, the one that the board ranks by first."""
    by = scoring.ranked_by if scoring else "time"
    return sorted((f for f in reported if not f.fastest), key=lambda figure: figure.kind != by)


def _rank(figure: Reported, columns: Sequence[Column]) -> tuple[int, int]:
    """A figure's rank among others and how many there are then; equal ones share the better rank."""
    ahead = sum(
        int(np.count_nonzero(column < figure.value if figure.kind == "time" else column > figure.value))
        for column in columns
    )
    return ahead + 1, sum(len(column) for column in columns) + 1


def _better(value: float, other: float, kind: Kind) -> bool:
    return value < other if kind == "time" else value > other
