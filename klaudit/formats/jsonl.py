"""One JSON object a line: first the audit, then every row with its file, as the JSON report has them."""

from __future__ import annotations

from typing import TextIO

from klaudit.formats import View
from klaudit.formats.json_ import dumps, head_object, row_object
from klaudit.report import Audit


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the audit's own line and one for every row, as they come."""
    out.write(dumps({"kind": "audit", **head_object(audit)}) + "\n")
    for row in audit.rows():
        out.write(dumps({"kind": "row", **row_object(row, with_source=True)}) + "\n")
