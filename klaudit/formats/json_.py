"""The machine's report, version 1: written by hand, key by key, never a dump of the house's own types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from klaudit.formats import View
from klaudit.formats.numbers import KEYS, rounded, whole
from klaudit.formats.provenance import Stamp
from klaudit.report import Audit, CaseReport, Reported, RowReport, Summary
from klaudit.verdict import Verdict

SCHEMA: Final = "klaudit/1"
_COUNTED: Final = (
    Verdict.WITHIN, Verdict.CONDITIONAL, Verdict.IMPOSSIBLE, Verdict.INCONSISTENT, Verdict.UNJUDGED,
)  # fmt: skip


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the report of every row, one row a line, as they come."""
    head = dumps(_head(audit))
    out.write(f'{head[:-1]},\n "rows": [')
    joint = "\n  "
    for row in audit.rows():
        out.write(joint + dumps(row_object(row, with_source=len(audit.sources) > 1)))
        joint = ",\n  "
    out.write("\n ]}\n" if joint.startswith(",") else "]}\n")


def dumps(value: Any) -> str:
    """`value` as JSON in ASCII, so that no terminal obeys it; NaN would be a bug and is refused."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def _head(audit: Audit) -> dict[str, Any]:
    several = len(audit.sources) > 1
    return {
        "schema": SCHEMA,
        **Stamp.of(audit).json(),
        "source": None if several or not audit.sources else text(audit.sources[0]),
        **({"sources": [text(source) for source in audit.sources]} if several else {}),
        "board": text(audit.board) or None,
        "ruled_out": list(audit.ruled_out),
        "allowed": list(audit.allowed),
        "remarks": [text(remark) for remark in audit.remarks],
        "summary": _summary(audit.summary),
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
    return {
        **({"source": text(row.source)} if with_source else {}),
        "line": int(row.line),
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
        **({"cases": [_case(case) for case in row.cases]} if row.cases else {}),
    }


def figures(reported: Sequence[Reported]) -> Iterator[tuple[str, float, Reported]]:
    """Each figure with its key and the size of the key's unit; a second figure of a kind has its rule in the key."""
    taken: set[str] = set()
    for figure in reported:
        key, scale = KEYS[figure.kind]
        if key in taken:
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
    }


def _sizes(sizes: Mapping[str, float]) -> dict[str, float | int | None]:
    return {name: whole(value) for name, value in sizes.items()}


def text(value: str) -> str:
    """A text for JSON: half a surrogate pair is no text, and strict readers stop at it."""
    if value.isascii():
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
