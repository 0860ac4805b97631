"""Cells that hold words: days, dtypes, labels, whether a row counts. No numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from klaudit.board import Board
from klaudit.readers.columns import MISSING
from klaudit.readers.headers import normalise
from klaudit.readers.letters import Letters

if TYPE_CHECKING:
    from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)

_TRUE: Final = frozenset(("true", "yes", "y", "t", "1", "1.0"))
_FALSE: Final = frozenset(("false", "no", "n", "f", "0", "0.0", "x", "✗", "❌"))
# What people write for bytes that are not compulsory ones.
REREADS: Final = frozenset(("reuse", "reread", "rereads", "re-read", "re-reads", "repeated"))
# One such word anywhere in a status says that the row does not count: "COMPILE_ERROR", "timed out".
_FAILED: Final = re.compile(
    r"(?<![a-z])(?:not?|fail(?:ed|ure|s)?|incorrect|inaccurate|wrong|(?:\w*_)?err(?:or|ored)?|time[ _-]?(?:d[ _-]?)?out"
    r"|reject(?:ed)?|invalid|unsound|crash(?:ed)?|oom|abort(?:ed)?|cancel(?:l?ed)?|pending|queued|running|skipped"
    r"|disqualified|banned|filtered|removed|deleted|unaccepted|unverified|mismatch)(?![a-z])"
)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK: Final = re.compile(
    r"(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::(?:[0-5][0-9]|60)(?:[.,][0-9]+)?)?"
    r"\s*(?:Z|UTC|([+-])([0-9]{2}):?([0-5][0-9])?)?)?",
    re.IGNORECASE,
)
_EPOCH: Final = re.compile(r"[0-9]{10}(?:[0-9]{3})?")
# How far a clock on Earth is ahead of UTC: from Baker Island to the Line Islands [min].
_WESTERNMOST, _EASTERNMOST = -12 * 60, 14 * 60
_UNIX: Final = date(1970, 1, 1).toordinal()
_MONTHS: Final = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_MARCH_OF_YEAR_0: Final = 719_468  # days before 1970


def is_missing(text: str) -> bool:
    """Whether a cell says nothing: empty, `-`, `N/A`, `none`, `null`."""
    return text.strip().lower() in MISSING


def encode(cells: Sequence[str], read: Callable[[str], Key | None]) -> tuple[tuple[Key, ...], NDArray[np.int64]]:
    """A column of words as its distinct values and each row's index, -1 where `read` finds none."""
    codes = _Codes(read)
    column = np.fromiter(map(codes.__getitem__, cells), np.int64, len(cells))
    return tuple(codes.values_read), column


class _Codes(dict[str, int]):
    """Texts to the indexes of their values, made as they are met."""

    def __init__(self, read: Callable[[str], Hashable | None]) -> None:
        self.values_read: dict[Any, int] = {}
        self._read = read

    def __missing__(self, text: str) -> int:
        value = self._read(text)
        code = -1 if value is None else self.values_read.setdefault(value, len(self.values_read))
        self[text] = code
        return code


def read_label(text: str) -> str | None:
    """A label as written, or None where the cell says nothing."""
    return None if is_missing(text) else text.strip()


def read_days(cells: Sequence[str], letters: Letters | None = None) -> tuple[NDArray[np.datetime64], list[int]]:
    """The days in UTC, NaT where there is none, and the rows whose text is no date; `letters` are the cells', too."""
    column, plain = _plain_days(letters or Letters.of(cells))
    bad = []
    for row in np.flatnonzero(~plain).tolist():
        found = read_day(cells[row])
        if found is not None:
            column[row] = found
        elif not is_missing(cells[row]):
            bad.append(row)
    return column.view("datetime64[D]"), bad


def _plain_days(letters: Letters) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Days since 1970 of the cells that are 2026-03-01 or 2026-03-01T12:00:00, with a Z or without, and which are."""
    year, good = letters.figures((0, 1, 2, 3))
    (month, good_month), (day, good_day) = letters.figures((5, 6)), letters.figures((8, 9))
    good &= good_month & good_day & (letters.at(4) == ord("-")) & (letters.at(7) == ord("-"))
    month_index = np.clip(month, 1, 12)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    longest = _MONTHS[month_index - 1] + (leap & (month == 2))
    good &= (year > 0) & (month == month_index) & (day > 0) & (day <= longest)
    good &= (letters.lengths == 10) | _plain_clocks(letters)
    # Years that begin in March end with the leap day, and their months' lengths follow one rule.
    shifted, march = year - (month < 3), (month_index + 9) % 12
    days = shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + (153 * march + 2) // 5 + day - 1
    missing = np.iinfo(np.int64).min  # numpy's NaT
    return np.where(good, days - _MARCH_OF_YEAR_0, missing), good


def _plain_clocks(letters: Letters) -> NDArray[np.bool_]:
    """Cells with a time of day in UTC or without a zone, in full seconds."""
    zoned = (letters.lengths == 20) & np.isin(letters.at(19), (ord("Z"), ord("z")))
    good = (letters.lengths == 19) | zoned
    if not good.any():
        return np.asarray(good)
    (hour, a), (minute, b), (second, c) = (letters.figures((p, p + 1)) for p in (11, 14, 17))
    good &= a & b & c & (hour < 24) & (minute < 60) & (second <= 60)
    good &= np.isin(letters.at(10), (ord("T"), ord("t"), ord(" "))) & (letters.at(13) == ord(":"))
    return np.asarray(good & (letters.at(16) == ord(":")))


def read_day(text: str) -> int | None:
    """The day in UTC since 1970, from an ISO 8601 date or time, or from seconds or milliseconds since then.

    Examples
    --------
    >>> read_day("1970-01-03"), read_day("1970-01-02T23:30:00-01:00"), read_day("3 March")
    (2, 2, None)
    """
    text = text.strip()
    found, moved = _read_day(text[:10]), _read_clock(text[10:])
    if found is not None and moved is not None:
        return found + moved
    return int(text[:10]) // 86_400 if _EPOCH.fullmatch(text) else None


def _read_day(text: str) -> int | None:
    try:
        return date.fromisoformat(text).toordinal() - _UNIX if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _read_clock(text: str) -> int | None:
    """How many days a time of day and its zone lie from the written day in UTC."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hour, minute, sign, zone_hours, zone_minutes = match.groups()
    if sign is None:
        return 0
    ahead = (int(zone_hours) * 60 + int(zone_minutes or 0)) * (1 if sign == "+" else -1)
    if not _WESTERNMOST <= ahead <= _EASTERNMOST:
        return None
    return (int(hour) * 60 + int(minute) - ahead) // 1440


def says_no(text: str, good: bool = True) -> bool:
    """Whether a cell says that its row does not count; words that are not known say nothing.

    Examples
    --------
    >>> [says_no(t) for t in ("COMPILE_ERROR", "0", "timed out", "PASSED", "N/A")]
    [True, True, True, False, False]
    """
    text = text.strip().casefold()
    if text in MISSING:
        return False
    if text in _TRUE or text in _FALSE:
        return (text in _TRUE) != good
    return good and _FAILED.search(text) is not None


def of_another_board(text: str, board: Board) -> bool:
    """Whether a cell names a leaderboard that the board does not stand for; where it names none, nothing is known.

    Examples
    --------
    >>> from klaudit.board import LeaderboardName
    >>> board = Board("my-board", "My board", None, (), leaderboards=(LeaderboardName("scale_v2"),))
    >>> [of_another_board(t, board) for t in ("Scale v2", "my-board", "", "scale")]
    [False, False, False, True]
    """
    own = (board.id, board.name, *(era.id for era in board.eras), *(known.name for known in board.leaderboards))
    return not is_missing(text) and normalise(text) not in map(normalise, own)
