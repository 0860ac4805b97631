"""Annotations on GitHub Actions: workflow commands, ten of a kind and the worst first, then a line for the others.

The runner shows no more than ten of a kind in a step; it would drop the others without a word.
"""

from __future__ import annotations

from typing import Final, TextIO

from klaudit.formats import View
from klaudit.formats.concise import summary_line
from klaudit.formats.findings import counts, level, line, title, who, why, worst
from klaudit.formats.standing import sentence
from klaudit.formats.text import clean
from klaudit.report import Audit, RowReport

MOST: Final = 10
# What the runner calls each level.
_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the annotations, what they leave out, and the summary."""
    ranked = worst(audit.findings, len(audit.findings))
    for kind, command in _COMMANDS.items():
        shown = [row for row in ranked if level(row) == kind][:MOST]
        for row in shown:
            out.write(_annotation(command, row, title(row), ""))
    listed = sum(min(sum(level(row) == kind for row in ranked), MOST) for kind in _COMMANDS)
    more = sum(counts(audit).values()) - listed
    if more:
        out.write(f"+{more} more, none worse than those above of their kind\n")
    if view.suppressed:
        for row in worst(audit.suppressed.rows, MOST):
            out.write(_annotation("notice", row, f"suppressed: {title(row)}", f" ({clean(row.suppressed, 200)})"))
    for standing in audit.standings:
        out.write(f"{sentence(standing)}\n")
    out.write(f"{summary_line(audit)}\n")


def _annotation(command: str, row: RowReport, heading: str, more: str) -> str:
    record = f" (record {row.line})" if line(row) != row.line else ""
    properties = {
        # A name that stays the file's own as far as a log can show it: the runner looks it up in the checkout.
        "file": "".join(c if c.isprintable() else clean(c) for c in row.source),
        "line": str(line(row)),
        "title": f"{heading} [{row.rule}]",
    }
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{command} {written}::{_data(f'{who(row)}{record}: {why(row)}{more}')}\n"


def _data(text: str) -> str:
    """A message as the runner reads it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A property's value as the runner reads it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
