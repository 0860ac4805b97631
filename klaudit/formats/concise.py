"""One line per finding, for CI logs and editors: `file:line: level rule: message`, then one line of summary."""

from __future__ import annotations

from typing import Final, TextIO

from klaudit.formats import View
from klaudit.formats.lines import Line, write_lines
from klaudit.formats.provenance import Stamp
from klaudit.formats.text import clean, plural
from klaudit.report import Audit, RowReport
from klaudit.verdict import RULES, Verdict

_STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_NAME_CELLS: Final = 60
_MESSAGE_CELLS: Final = 1000


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write a line for every flagged row and the summary."""
    write_lines(map(_line, audit.findings), out, view.color)
    write_lines(_summary(audit), out, view.color)


def _line(row: RowReport) -> Line:
    slug = row.rules[0] if row.rules else str(row.verdict)
    level = RULES[slug].level if slug in RULES else row.verdict.level or "note"
    if row.verdict.level == "error":
        level = "error"
    who = (clean(row.entry, _NAME_CELLS) or "(no name)") + (f" on {clean(row.gpu, _NAME_CELLS)}" if row.gpu else "")
    text = f"{who}: {clean(row.message, _MESSAGE_CELLS)}"
    return (f"{clean(row.source)}:{row.line}: ", (level, _STYLES[level]), f" {slug}: {text}")


def _summary(audit: Audit) -> list[Line]:
    counts = audit.summary
    lines: list[Line] = []
    if audit.findings_left_out:
        lines.append((f"+{audit.findings_left_out} more",))
    parts = [f"{counts.counts[verdict]} {verdict}" for verdict in sorted(Verdict, reverse=True)]
    stamp = Stamp.of(audit)
    lines.append(
        (
            f"klaudit {stamp.version}: {plural(counts.rows, 'row')}, {', '.join(parts)}"
            f" (board {clean(stamp.board) or 'none'}, specs {stamp.specs}, conditions allowed:"
            f" {' '.join(stamp.allowed) or 'none'}; ruled out: {' '.join(stamp.ruled_out) or 'none'})",
        )
    )
    return lines
