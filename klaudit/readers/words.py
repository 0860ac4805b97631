"""Cells that hold words: days, dtypes, labels, whether a row counts. No numbers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Sequence
from datetime import date
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from klaudit.readers.columns import MISSING

Key = TypeVar("Key", bound=Hashable)

_TRUE: Final = frozenset(("true", "yes", "y", "t", "1", "1.0"))
_FALSE: Final = frozenset(("false", "no", "n", "f", "0", "0.0", "x", "✗", "❌"))
# One such word anywhere in a status says that the row does not count: "COMPILE_ERROR", "timed out".
# What people write for bytes that are not compulsory ones.
REREADS: Final = frozenset(("reuse", "reread", "rereads", "re-read", "re-reads", "repeated"))
_FAILED: Final = re.compile(
    r"(?<![a-z])(?:not?|fail(?:ed|ure|s)?|incorrect|inaccurate|wrong|(?:\w*_)?err(?:or|ored)?|time[ _-]?(?:d[ _-]?)?out"
    r"|reject(?:ed)?|invalid|unsound|crash(?:ed)?|oom|abort(?:ed)?|cancel(?:l?ed)?|pending|queued|running|skipped"
    r"|disqualified|banned|filtered|removed|deleted|unaccepted|unverified|mismatch)(?![a-z])"
)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK: Final = re.compile(
    r"(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::(?:[0-5][0-9]|60)(?:[.,][0-9]+)?)?"
    r"\s*(?:Z|UTC|([+-])([0-9]{2}):?([0-9]{2})?)?)?",
    re.IGNORECASE,
)
_EPOCH: Final = re.compile(r"[0-9]{10}(?:[0-9]{3})?")
_UNIX: Final = date(1970, 1, 1).toordinal()


def is_missing(text: str) -> bool:
    """Whether a cell says nothing: empty, `-`, `N/A`, `none`, `null`."""
    return text.strip().lower() in MISSING


def encode(cells: Sequence[str], read: Callable[[str], Key | None]) -> tuple[tuple[Key, ...], NDArray[np.int64]]:
    """A column of words as its distinct values and each row's index, -1 where `read` finds none."""
    values: dict[Key, int] = {}
    codes: dict[str, int] = {}
    for text in dict.fromkeys(cells):
        value = read(text)
        codes[text] = -1 if value is None else values.setdefault(value, len(values))
    return tuple(values), np.fromiter(map(codes.__getitem__, cells), np.int64, len(cells))


def read_label(text: str) -> str | None:
    """A label as written, or None where the cell says nothing."""
    return None if is_missing(text) else text.strip()


def read_days(cells: Sequence[str]) -> tuple[NDArray[np.datetime64], list[int]]:
    """The days in UTC, NaT where there is none, and the rows whose text is no date."""
    # Days and times of day repeat far more often than their pairs.
    day, shift = functools.lru_cache(4096)(_read_day), functools.lru_cache(65_536)(_read_clock)
    days = [_join_day(text, day, shift) for text in cells]
    bad = [row for row, found in enumerate(days) if found is None and not is_missing(cells[row])]
    missing = np.iinfo(np.int64).min  # numpy's NaT
    column = np.array([missing if found is None else found for found in days], dtype=np.int64)
    return column.view("datetime64[D]"), bad


def read_day(text: str) -> int | None:
    """The day in UTC since 1970, from an ISO 8601 date or time, or from seconds or milliseconds since then.

    Examples
    --------
    >>> read_day("1970-01-03"), read_day("1970-01-02T23:30:00-01:00"), read_day("3 March")
    (2, 2, None)
    """
    return _join_day(text, _read_day, _read_clock)


def _join_day(text: str, day: Callable[[str], int | None], shift: Callable[[str], int | None]) -> int | None:
    text = text.strip()
    found, moved = day(text[:10]), shift(text[10:])
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
    ahead = int(zone_hours) * 60 + int(zone_minutes or 0)
    return (int(hour) * 60 + int(minute) - (ahead if sign == "+" else -ahead)) // 1440


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
