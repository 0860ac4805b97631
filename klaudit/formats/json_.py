"""The machine's report, version 1: written by hand, key by key, never a dump of the house's own types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from klaudit.formats import View
from klaudit.formats.numbers import KEYS, rounded, whole
from klaudit.formats.provenance import Stamp
from klaudit.leaderboard import ColumnsRead
from klaudit.report import Audit, CaseReport, Podium, Reported, RowReport, Standing, Summary
from klaudit.verdict import Verdict

SCHEMA: Final = "klaudit/1"
_COUNTED: Final = (
    Verdict.WITHIN, Verdict.CONDITIONAL, Verdict.IMPOSSIBLE, Verdict.INCONSISTENT, Verdict.UNJUDGED,
)  # fmt: skip


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the report of every row, one row a line, as they come."""
    head = dumps(head_object(audit))
    out.write(f'{head[:-1]},\n "rows": [')
    joint = "\n  "
    for row in audit.rows():
        out.write(joint + dumps(row_object(row, with_source=len(audit.sources) > 1)))
        joint = ",\n  "
    out.write("\n ]}\n" if joint.startswith(",") else "]}\n")


def dumps(value: Any) -> str:
    """`value` as JSON in ASCII, so that no terminal obeys it; NaN would be a bug and is refused."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def head_object(audit: Audit) -> dict[str, Any]:
    """Everything of the report but its rows."""
    several = len(audit.sources) > 1
    return {
        "schema": SCHEMA,
        **Stamp.of(audit).json(),
        "source": None if several or not audit.sources else text(audit.sources[0]),
        **({"sources": [text(source) for source in audit.sources]} if several else {}),
        "board": text(audit.board) or None,
        "ruled_out": list(audit.ruled_out),
        "allowed": list(audit.allowed),
        "remarks": [text(remark) for remark in (*audit.remarks, *audit.suppressed.messages)],
        "summary": {**_summary(audit.summary), "suppressed": audit.suppressed.summary.rows},
        **({"standings": [_standing(s) for s in audit.standings]} if audit.standings else {}),
        **({"podiums": [_podium(p) for p in audit.podiums]} if audit.podiums else {}),
        **({"columns": [_columns(c) for c in audit.columns]} if audit.columns else {}),
    }


def _summary(summary: Summary) -> dict[str, int]:
    return {
        "rows": summary.rows,
        "judged": summary.judged,
        **{str(verdict): summary.counts[verdict] for verdict in _COUNTED},
        "above_measured": summary.above_measured,
    }


def row_object(row: RowReport, with_source: bool = False) -> dict[str, Any]:
    """One row as the contract has it."""
    judged = bool(row.roof_name) or bool(row.reported)
    worst, worst_of_limit = row.furthest
    return {
        **({"source": text(row.source)} if with_source else {}),
        "line": int(row.line),
        **({"path": text(row.path)} if row.path else {}),
        "entry": text(row.entry),
        "gpu": text(row.gpu),
        "variants": list(row.variants),
        "workload": text(row.workload) or None,
        "reported": {key: rounded(f.value / scale) for key, scale, f in figures(row.reported)},
        "roof": {"name": row.roof_name or None, **_ceiling(row.reported, "roof")} if judged else None,
        "ratio": rounded(row.ratio),
        "limit": _ceiling(row.reported, "limit") if judged else None,
        "limit_ratio": rounded(row.limit_ratio),
        "verdict": str(row.verdict),
        "conditions": list(row.conditions),
        "alternatives": [list(conditions) for conditions in row.alternatives],
        "cached_share": rounded(row.cached_share),
        "rules": list(row.rules),
        "worst_case": text(row.worst_case) or None,
        "message": text(row.message),
        **({"fingerprint": row.fingerprint} if row.fingerprint else {}),
        **({"suppressed": text(row.suppressed)} if row.suppressed else {}),
        **({"notes": [text(note) for note in row.notes]} if row.notes else {}),
        **({"cases": [_case(case) for case in row.cases]} if row.cases else {}),
        "worst_ratio": rounded(worst),
        "worst_limit_ratio": rounded(worst_of_limit),
    }


def _columns(told: ColumnsRead) -> dict[str, Any]:
    """What a file's columns were taken for."""
    return {
        "source": text(told.source),
        "read": [{"column": text(header), "as": text(meaning)} for header, meaning in told.read],
        "unused": [text(header) for header in told.unused],
    }


def _standing(standing: Standing) -> dict[str, Any]:
    """Where a row would stand on another board."""
    known = bool(standing.kind)
    key, scale = KEYS[standing.kind] if standing.kind else ("", 1.0)
    best = standing.best_value
    return {
        "source": text(standing.row.source),
        "line": int(standing.row.line),
        "board": text(standing.board),
        "by": key or None,
        "rank": standing.rank if known else None,
        "of": standing.of,
        "rank_within": standing.rank_within if known else None,
        "of_within": standing.of_within,
        "best_within": None
        if best is None
        else {"entry": text(standing.best_entry), "line": standing.best_line, key: rounded(best / scale)},
        "lead": rounded(standing.lead),
    }


def _podium(podium: Podium) -> dict[str, Any]:
    """The three best of a card, with and without the rows that fail."""
    key, scale = KEYS[podium.kind]
    places = {"before": podium.before, "after": podium.after}
    return {"gpu": text(podium.gpu), "by": key} | {
        when: [
            {"entry": text(p.entry), "line": int(p.line), key: rounded(p.value / scale), "verdict": str(p.verdict)}
            for p in which
        ]
        for when, which in places.items()
    }


def figures(reported: Sequence[Reported]) -> Iterator[tuple[str, float, Reported]]:
    """Each figure with its key and the size of the key's unit; a second figure of a kind has its rule in the key."""
    taken: set[str] = set()
    for figure in reported:
        key, scale = KEYS[figure.kind]
        if figure.fastest:
            key = f"fastest_{key}"
        elif key in taken:
            key = f"{figure.rule or 'other'}_{key}"
        if key not in taken:
            taken.add(key)
            yield key, scale, figure


def _ceiling(reported: Sequence[Reported], which: str) -> dict[str, float | None]:
    """Roof or limit of each reported figure; rate and time are always there."""
    values: dict[str, float | None] = {"gflops": None, "time_us": None}
    values.update({key: rounded(getattr(figure, which) / scale) for key, scale, figure in figures(reported)})
    return values


def _case(case: CaseReport) -> dict[str, Any]:
    return {
        "name": text(case.name),
        **_sizes(case.sizes),
        "time_us": rounded(case.time / 1e-6),
        "floor_us": rounded(case.floor / 1e-6),
        "ratio": rounded(case.ratio),
        "verdict": str(case.verdict),
        "conditions": list(case.conditions),
        **({"run": "fastest"} if case.fastest else {}),
    }


def _sizes(sizes: Mapping[str, float]) -> dict[str, float | int | None]:
    return {name: whole(value) for name, value in sizes.items()}


def text(value: str) -> str:
    """A text for JSON: half a surrogate pair is no text, and strict readers stop at it."""
    if value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
