"""What a caller may say about reading a file. No reading here, and no numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from klaudit.board import Board
from klaudit.bounds import Bounds
from klaudit.leaderboard import FigureColumn
from klaudit.readers.limits import Limits

BATCH_ROWS = 65_536
Settler = Callable[[str, "Sequence[FigureColumn]"], "Bounds | None"]


class ReadOptions(NamedTuple):
    """How to read a file.

    Attributes
    ----------
    columns : mapping of str to str
        Field to header, where the reader shall not find the column by itself. `HEADER (UNIT)` also says its unit.
    board : Board or None
        Names the cases that per-case columns belong to, and the leaderboards whose rows are for it to judge.
    decimal : {".", ","} or None
        The decimal mark; None lets the delimiter and the form of each number decide.
    input_format : str or None
        A key of `READERS`; None recognises the format by content.
    batch_rows : int
        Most rows of one Leaderboard.
    progress : callable or None
        Called after each batch with the rows and the bytes read so far.
    settle : callable or None
        Gives the bounds of a label and of a file's figures, as `klaudit.audit.settling.settler` does. With it rows
        of a large file may come out counted; without it every row is carried.
    limits : Limits or None
        What a file may ask for; None takes what the environment says.
    size_names : mapping of str to tuple of str
        The workload's sizes and their other names, beside the board's and `n`, `m`, `k`.
    """

    columns: Mapping[str, str] = MappingProxyType({})
    board: Board | None = None
    decimal: Literal[".", ","] | None = None
    input_format: str | None = None
    batch_rows: int = BATCH_ROWS
    progress: Callable[[int, int], None] | None = None
    settle: Settler | None = None
    limits: Limits | None = None
    size_names: Mapping[str, tuple[str, ...]] = MappingProxyType({})
