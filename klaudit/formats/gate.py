"""One judgement for a leaderboard's bot, which reads the last line of stdout as JSON and takes a bad exit for a fault.

`classification` is "valid" or the worst verdict, never an accusation. A row is to be filtered where `--fail-on` says
that it fails.
"""

from __future__ import annotations

from typing import Any, Final, TextIO

from klaudit.formats import View
from klaudit.formats.findings import counted, counts, level, title, who, why, worst
from klaudit.formats.json_ import dumps
from klaudit.formats.provenance import Stamp
from klaudit.formats.standing import sentence
from klaudit.formats.text import clean
from klaudit.report import Audit, RowReport
from klaudit.verdict import Verdict

VALID: Final = "valid"
_MOST: Final = 50
_SEVERITIES: Final = {"error": "critical", "warning": "medium", "note": "low"}


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the one line."""
    found = counts(audit)
    failing = [(verdict, count) for verdict, count in found.items() if count and verdict in view.fails]
    patterns = worst(audit.findings, _MOST)
    reason = None
    if failing:
        reason = counted(failing)
        if patterns:
            reason += f": {who(patterns[0])}: {why(patterns[0])}"
    verdict = max((verdict for verdict, count in found.items() if count), default=None)
    judgement = {
        "classification": VALID if verdict is None else str(verdict),
        "should_filter": bool(failing),
        "filter_reason": reason,
        "matched_patterns": [_pattern(row) for row in patterns],
        **Stamp.of(audit).json(),
        "summary": {
            "rows": audit.summary.rows,
            "judged": audit.summary.judged,
            "suppressed": audit.suppressed.summary.rows,
            "findings": sum(found.values()),
        },
        **({"standings": [sentence(standing) for standing in audit.standings]} if audit.standings else {}),
    }
    out.write(dumps(judgement) + "\n")


def _pattern(row: RowReport) -> dict[str, Any]:
    severity = "low" if row.verdict is Verdict.UNJUDGED else _SEVERITIES[level(row)]
    evidence = f"{clean(row.source, 200)}:{row.line}: {who(row)}: {title(row)}. {why(row)}"
    return {"pattern": row.rule, "severity": severity, "evidence": evidence}
