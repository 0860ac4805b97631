"""One line per finding, for CI logs and editors: `file:line: level rule: message`, then one line of summary."""

from __future__ import annotations

from typing import Final, TextIO

from klaudit.formats import View
from klaudit.formats.findings import level, who, why
from klaudit.formats.lines import Line, write_lines
from klaudit.formats.provenance import Stamp
from klaudit.formats.standing import podium_lines, sentence
from klaudit.formats.text import clean, plural
from klaudit.report import Audit, RowReport
from klaudit.verdict import Verdict

_REMARK_CELLS: Final = 400
_STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write a line for every flagged row and the summary."""
    write_lines(map(_line, audit.findings), out, view.color)
    if audit.findings_left_out:
        write_lines([(f"+{audit.findings_left_out} more",)], out, view.color)
    if view.suppressed:
        write_lines(map(suppressed_line, audit.suppressed.rows), out, view.color)
    write_lines([(sentence(standing),) for standing in audit.standings], out, view.color)
    write_lines([(words,) for podium in audit.podiums for words in podium_lines(podium)], out, view.color)
    write_lines([(f"note: {clean(remark, _REMARK_CELLS)}",) for remark in audit.remarks], out, view.color)
    write_lines([(summary_line(audit),)], out, view.color)


def _line(row: RowReport) -> Line:
    loud = level(row)
    return (f"{clean(row.source)}:{row.line}: ", (loud, _STYLES[loud]), f" {row.rule}: {who(row)}: {why(row)}")


def suppressed_line(row: RowReport) -> Line:
    """A finding that was accepted beforehand, and by what."""
    return (f"{clean(row.source)}:{row.line}: suppressed {row.rule}: {who(row)} ({clean(row.suppressed, 500)})",)


def summary_line(audit: Audit) -> str:
    """All counts, and what has to be known to repeat them."""
    counts, stamp = audit.summary, Stamp.of(audit)
    parts = [f"{counts.counts[verdict]} {verdict}" for verdict in sorted(Verdict, reverse=True)]
    if audit.suppressed.summary.rows:
        parts.append(f"{audit.suppressed.summary.rows} of them suppressed")
    return (
        f"klaudit {stamp.version}: {plural(counts.rows, 'row')}, {', '.join(parts)}"
        f" (board {clean(stamp.board) or 'none'}, specs {stamp.specs}, conditions allowed:"
        f" {' '.join(stamp.allowed) or 'none'}; ruled out: {' '.join(stamp.ruled_out) or 'none'})"
    )
