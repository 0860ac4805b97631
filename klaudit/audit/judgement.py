"""Judgement: the verdicts of one leaderboard, as columns. No text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from klaudit.audit.search import Judged
from klaudit.leaderboard import Leaderboard, Trouble

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Judgement(NamedTuple):
    """The verdicts of one leaderboard, as columns.

    Attributes
    ----------
    verdict : ndarray of uint8, shape (rows,)
        `Verdict` of each row.
    conditions : ndarray of uint16, shape (rows,)
        The smallest sufficient set as bits; `klaudit.verdict.condition_ids` names them.
    group, place : ndarray of int, shape (rows,)
        Where a row was judged: the index into `groups`, and its place there; -1 where it was not.
    reasons : mapping of int to (rule, message)
        Why a row is unjudged.
    noted : mapping of str to frozenset of int
        Rows with a note that their columns earned: `missing-case`, `columns-ignored`.
    undated : int
        Rows without a date on a board of several eras: the most lenient one decided.
    """

    leaderboard: Leaderboard
    verdict: NDArray[np.uint8]
    conditions: NDArray[np.uint16]
    group: NDArray[np.int32]
    place: NDArray[np.int32]
    groups: tuple[Judged, ...]
    reasons: dict[int, tuple[str, str]]
    noted: Mapping[str, frozenset[int]] = MappingProxyType({})
    undated: int = 0

    def troubles_of(self, row: int) -> tuple[Trouble, ...]:
        """What the reader could not take of a row; troubles come in the order of rows."""
        troubles = self.leaderboard.troubles
        first = bisect_left(troubles, row, key=lambda t: t.row)
        return troubles[first : bisect_right(troubles, row, key=lambda t: t.row)]
