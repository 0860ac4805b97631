"""Cells that hold words: days, dtypes, labels, whether a row counts. No numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from klaudit.readers.numbers import MISSING

Key = TypeVar("Key", bound=Hashable)

_TRUE: Final = frozenset(("true", "yes", "y", "t", "1", "1.0"))
_FALSE: Final = frozenset(("false", "no", "n", "f", "0", "0.0", "x", "✗", "❌"))
# One such word anywhere in a status says that the row does not count: "COMPILE_ERROR", "timed out".
_FAILED: Final = re.compile(
    r"(?<![a-z])(?:not?|fail(?:ed|ure|s)?|incorrect|inaccurate|wrong|(?:\w*_)?err(?:or|ored)?|time[ _-]?(?:d[ _-]?)?out"
    r"|reject(?:ed)?|invalid|unsound|crash(?:ed)?|oom|abort(?:ed)?|cancel(?:l?ed)?|pending|queued|running|skipped"
    r"|disqualified|banned|filtered|removed|deleted|unaccepted|unverified|mismatch)(?![a-z])"
)
_DAY: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(Z|UTC|[+-]\d\d:?(?:\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_EPOCH: Final = re.compile(r"[0-9]{10}(?:[0-9]{3})?")
_UNIX: Final = date(1970, 1, 1)


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
    days: dict[str, int | None] = {text: read_day(text) for text in dict.fromkeys(cells)}
    missing = np.iinfo(np.int64).min  # numpy's NaT
    numbers: Iterable[int] = (missing if (day := days[c]) is None else day for c in cells)
    bad = {text for text, day in days.items() if day is None and not is_missing(text)}
    column = np.fromiter(numbers, np.int64, len(cells)).view("datetime64[D]")
    return column, [row for row, c in enumerate(cells) if c in bad] if bad else []


def read_day(text: str) -> int | None:
    """The day in UTC since 1970, from an ISO 8601 date or time, or from seconds or milliseconds since then.

    Examples
    --------
    >>> read_day("1970-01-03"), read_day("1970-01-02T23:30:00-01:00"), read_day("3 March")
    (2, 2, None)
    """
    text = text.strip()
    if _EPOCH.fullmatch(text):
        return int(text[:10]) // 86_400
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), min(int(second or 0), 59))
        return (moment - _offset(zone)).toordinal() - _UNIX.toordinal()
    except (ValueError, OverflowError):
        return None


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


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone[0] not in "+-":
        return timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -ahead if zone[0] == "-" else ahead
