"""How much of a file is too much: explicit limits, each with the variable that changes it. No reading here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from klaudit.errors import InputError, UnitError, UsageError
from klaudit.units import parse_quantity

_MIB: Final = 2**20
# Field: what it bounds, for people. The variable is KLAUDIT_MAX_ and the field's name.
_WHAT: Final[Mapping[str, str]] = {
    "line": "bytes of one line",
    "cell": "characters of one CSV cell",
    "columns": "columns of a table",
    "document": "bytes of one JSON value, or of a file that must be read whole",
    "depth": "levels of nested JSON",
    "expansion": "times that compressed data may grow",
    "wait": "seconds to wait for the first byte of a pipe",
    "plain": "bytes of a file that is read without the extra bulk although it is there",
}


class Limits(NamedTuple):
    """What a file may ask for; a file that asks for more is refused with the limit's name.

    Attributes
    ----------
    line, document : int
        [B]
    cell : int
        Characters.
    columns, depth : int
    expansion : int
        Expanded over compressed bytes, looked at once 16 MiB came out.
    wait : int
        [s]
    plain : int
        [B] No bound on a file: one that is larger is read by the extra `bulk`, where that is installed.
    """

    line: int = 16 * _MIB
    cell: int = 131_072
    columns: int = 10_000
    document: int = 64 * _MIB
    depth: int = 100
    expansion: int = 250
    wait: int = 10
    plain: int = 32 * _MIB

    @classmethod
    def from_environment(cls, variables: Mapping[str, str] | None = None) -> Limits:
        """The limits with what the user set, such as `KLAUDIT_MAX_LINE="64 MiB"`.

        Raises
        ------
        UsageError
            Where a variable holds no whole number and no size.

        Examples
        --------
        >>> Limits.from_environment({"KLAUDIT_MAX_LINE": "1 KiB"}).line
        1024
        """
        given = os.environ if variables is None else variables
        return cls(**{field: _read(name, given[name]) for field in cls._fields if (name := variable(field)) in given})

    def exceeded(self, field: str, found: str) -> InputError:
        """The error that names a limit: what was found, what is allowed, what to do."""
        return InputError(
            f"{found}, more than the limit {variable(field)} of {getattr(self, field)} {_WHAT[field]}. "
            f"If that is right, set {variable(field)} higher"
        )


def variable(field: str) -> str:
    """The environment variable of a limit."""
    return f"KLAUDIT_MAX_{field.upper()}"


def _read(name: str, text: str) -> int:
    try:
        value = int(text) if text.strip().isdecimal() else int(parse_quantity(text, "bytes"))
    except UnitError:
        value = 0
    if value <= 0:
        raise UsageError(f"{name}={text!r} is no limit: write a whole number above zero, or a size such as 64 MiB")
    return value
