"""One line per row for spreadsheets and scripts. No cell is a formula and no record spans two lines.

A cell that a spreadsheet would take for a formula (it starts with =, +, -, @ or their wide forms) gets an apostrophe in
front; control characters are written as their escapes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from typing import Final, TextIO

from klaudit.formats import View
from klaudit.formats.json_ import figures
from klaudit.formats.numbers import KEYS, plain
from klaudit.formats.provenance import Stamp
from klaudit.formats.text import clean
from klaudit.report import Audit, RowReport

_FIGURES: Final = tuple(f"{prefix}{key}" for key, _ in KEYS.values() for prefix in ("", "roof_", "limit_"))
HEADER: Final = (
    "source", "line", "entry", "gpu", "variants", "workload", "verdict", "ratio", "limit_ratio", "conditions",
    "alternatives", "cached_share", "rules", "worst_case", "roof", *_FIGURES, "version", "specs", "ruled_out",
    "allowed", "message", "fingerprint", "suppressed", "worst_ratio", "worst_limit_ratio",
)  # fmt: skip
_FORMULA_STARTS: Final = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the header and a line for every row, as they come."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    stamp = Stamp.of(audit)
    common = {
        "version": stamp.version,
        "specs": stamp.specs,
        "ruled_out": joined(stamp.ruled_out),
        "allowed": joined(stamp.allowed),
    }
    for row in audit.rows():
        cells = {**_cells(row), **common}
        writer.writerow([cells.get(name, "") for name in HEADER])


def _cells(row: RowReport) -> dict[str, str]:
    worst, worst_of_limit = row.furthest
    return {
        "source": safe(row.source),
        "line": str(row.line),
        "entry": safe(row.entry),
        "gpu": safe(row.gpu),
        "variants": joined(row.variants),
        "workload": safe(row.workload),
        "verdict": str(row.verdict),
        "ratio": _number(row.ratio),
        "limit_ratio": _number(row.limit_ratio),
        "conditions": joined(row.conditions),
        "alternatives": "|".join(joined(conditions) for conditions in row.alternatives),
        "cached_share": _number(row.cached_share),
        "rules": joined(row.rules),
        "worst_case": safe(row.worst_case),
        "roof": row.roof_name,
        **_figures(row),
        "message": safe(row.message),
        "fingerprint": row.fingerprint,
        "suppressed": safe(row.suppressed),
        "worst_ratio": _number(worst),
        "worst_limit_ratio": _number(worst_of_limit),
    }


def _figures(row: RowReport) -> Mapping[str, str]:
    cells: dict[str, str] = {}
    for key, scale, figure in figures(row.reported):
        for prefix, value in (("", figure.value), ("roof_", figure.roof), ("limit_", figure.limit)):
            cells[prefix + key] = _number(value / scale)
    return cells


def joined(words: Iterable[str]) -> str:
    """Several words in one cell."""
    return ";".join(words)


def safe(text: str) -> str:
    """A text of the file as a cell that does nothing."""
    shown = clean(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA_STARTS) else shown


def _number(value: float | None) -> str:
    if value is None:
        return ""
    shown = plain(value, 7)
    return shown if shown not in ("nan", "inf", "-inf") else ""
