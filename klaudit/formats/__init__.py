"""The door out: one file per format, found by name and imported when used.

A format is a module with `write(audit, out, view)`. Results become text here and nowhere else; nothing is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TextIO

from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from klaudit.report import Audit


class View(NamedTuple):
    """How a report is shown: its width in cells, colour, which rows, and how the card's gigabytes are read.

    `fails` are the verdicts that make the exit code 1, `suppressed` asks for the findings accepted beforehand.
    """

    width: int = 100
    color: bool = False
    rows: Literal["flagged", "all"] = "flagged"
    units: Literal["decimal", "binary"] = "decimal"
    fails: tuple[Verdict, ...] = (Verdict.IMPOSSIBLE, Verdict.INCONSISTENT)
    suppressed: bool = False


class Format(NamedTuple):
    """Where a format's module is, and what it needs.

    Attributes
    ----------
    every_row : bool
        It always shows every row.
    worst_first : bool
        It shows a few findings only, so the worst must not be among those left out.
    found_is_1 : bool
        Findings make the exit code 1.
    """

    module: str
    every_row: bool = False
    worst_first: bool = False
    found_is_1: bool = True


FORMATS: Final[Mapping[str, Format]] = {
    "table": Format("klaudit.formats.table"),
    "json": Format("klaudit.formats.json_", every_row=True),
    "csv": Format("klaudit.formats.csv_", every_row=True),
    "html": Format("klaudit.formats.html", every_row=True),
    "concise": Format("klaudit.formats.concise"),
    "jsonl": Format("klaudit.formats.jsonl", every_row=True),
    "sarif": Format("klaudit.formats.sarif", worst_first=True),
    "junit": Format("klaudit.formats.junit", worst_first=True),
    "github": Format("klaudit.formats.github", worst_first=True),
    "markdown": Format("klaudit.formats.markdown", worst_first=True),
    "gate": Format("klaudit.formats.gate", worst_first=True, found_is_1=False),
}


def write(name: str, audit: Audit, out: TextIO, view: View) -> None:
    """Write `audit` to `out` in the format `name`, a key of FORMATS."""
    import_module(FORMATS[name].module).write(audit, out, view)


def needs_every_row(name: str, view: View) -> bool:
    """Whether the judge must keep the reports of rows that are within."""
    return FORMATS[name].every_row or view.rows == "all"
