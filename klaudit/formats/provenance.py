"""What makes a report reproducible, as every format says it: versions, board, conditions; and the fixed sentences."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from klaudit.formats.lines import Line, paragraph
from klaudit.formats.text import clean
from klaudit.report import Audit

NO_CLEARANCE: Final = "`within` is no clearance: a forged time that stays under the roof is invisible to physics."
HARNESS: Final = (
    "A verdict says what a score is inconsistent with, not that anyone cheated: a harness fault is as likely a cause as"
    " an exploit. Check what was timed, on which stream, and whether the outputs were written."
)


class Stamp(NamedTuple):
    """What has to be known to repeat a report."""

    version: str
    specs_date: str
    specs_sha256: str
    board: str = ""
    ruled_out: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()

    @classmethod
    def of(cls, audit: Audit) -> Stamp:
        """The stamp of an audit."""
        return cls(audit.version, audit.specs_date, audit.specs_sha256, audit.board, audit.ruled_out, audit.allowed)

    @property
    def specs(self) -> str:
        """Date and the first digits of the hash of the specs."""
        return f"{self.specs_date} {self.specs_sha256[:12]}"

    def lines(self, width: int) -> list[Line]:
        """Versions, board and conditions, for people."""
        first = f"klaudit {self.version}, specs of {self.specs_date} (sha256 {self.specs_sha256[:12]})"
        first += f", board {clean(self.board)}." if self.board else ", no board."
        return [
            *paragraph(first, width),
            *paragraph(f"Conditions allowed: {', '.join(self.allowed) or 'none'}.", width),
            *paragraph(f"Conditions ruled out: {', '.join(self.ruled_out) or 'none'}.", width),
        ]

    def json(self) -> dict[str, Any]:
        """The version and the specs as the JSON report names them."""
        return {"version": self.version, "specs": {"date": self.specs_date, "sha256": self.specs_sha256}}
