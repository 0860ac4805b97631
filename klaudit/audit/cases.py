"""Which of a board's cases a row speaks of: all of them, one that it names by its size, or only some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from klaudit.board import Board
from klaudit.leaderboard import Leaderboard
from klaudit.workload import Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Index = NDArray[np.intp]

WHOLE_BOARD = -1
NO_CASE = -2


def own_cases(leaderboard: Leaderboard, board: Board, workload: Workload, rows: Index) -> Index:
    """The case that each row names by its own size, shape (rows,).

    `WHOLE_BOARD` where it names none, `NO_CASE` where no case has that size. Cases of one size are one here.
    """
    places = np.full(len(rows), WHOLE_BOARD, dtype=np.intp)
    own = {name: leaderboard.sizes[name][rows] for name in workload.sizes if name in leaderboard.sizes}
    if not own:
        return places
    named = np.logical_or.reduce([np.isfinite(size) for size in own.values()])
    places[named] = NO_CASE
    for place, case in enumerate(board.cases):
        alike = [~np.isfinite(size) | (size == case.sizes[name]) for name, size in own.items()]
        places[(places == NO_CASE) & np.logical_and.reduce(alike)] = place
    return places


def incomplete(leaderboard: Leaderboard, board: Board | None, rows: Index) -> NDArray[np.bool_]:
    """Rows with figures for some of the board's cases but not for all, shape (rows,)."""
    if board is None or not board.cases:
        return np.zeros(len(rows), dtype=np.bool_)
    present = {case.name: np.zeros(len(rows), dtype=np.bool_) for case in board.cases}
    for column in leaderboard.figures:
        if column.case in present:
            present[column.case] |= np.isfinite(column.value[rows])
    some, every = np.logical_or.reduce(list(present.values())), np.logical_and.reduce(list(present.values()))
    return np.asarray(some & ~every)
