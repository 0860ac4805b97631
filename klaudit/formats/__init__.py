"""The door out: one file per format, found by name and imported when used.

A format is a module with `write(audit, out, view)`. Results become text here and nowhere else; nothing is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, TextIO

if TYPE_CHECKING:
    from klaudit.report import Audit


@dataclass(frozen=True, slots=True)
class View:
    """How a report is shown: its width in cells, colour, which rows, and how the card's gigabytes are read."""

    width: int = 100
    color: bool = False
    rows: Literal["flagged", "all"] = "flagged"
    units: Literal["decimal", "binary"] = "decimal"


@dataclass(frozen=True, slots=True)
class Format:
    """Where a format's module is, and whether it always shows every row."""

    module: str
    every_row: bool = False


FORMATS: Final[Mapping[str, Format]] = {
    "table": Format("klaudit.formats.table"),
    "json": Format("klaudit.formats.json_", every_row=True),
    "csv": Format("klaudit.formats.csv_", every_row=True),
    "concise": Format("klaudit.formats.concise"),
}


def write(name: str, audit: Audit, out: TextIO, view: View) -> None:
    """Write `audit` to `out` in the format `name`, a key of FORMATS."""
    import_module(FORMATS[name].module).write(audit, out, view)


def needs_every_row(name: str, view: View) -> bool:
    """Whether the judge must keep the reports of rows that are within."""
    return FORMATS[name].every_row or view.rows == "all"
