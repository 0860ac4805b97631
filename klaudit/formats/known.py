"""A baseline as a file: one finding a line, sorted, so that a change of it reads well in a review."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TextIO

from klaudit._version import __version__
from klaudit.accepted import Known
from klaudit.formats.json_ import dumps, text

SCHEMA: Final = "klaudit-baseline/1"


def write_baseline(findings: Iterable[Known], out: TextIO) -> None:
    """Write the findings that a baseline shall accept."""
    ordered = sorted(findings, key=lambda known: (known.source, known.entry, known.gpu, known.fingerprint))
    lines = ",\n".join(
        "  "
        + dumps(
            {
                "fingerprint": known.fingerprint,
                "rule": known.rule,
                "source": text(known.source),
                "entry": text(known.entry),
                "gpu": text(known.gpu),
            }
        )
        for known in ordered
    )
    body = f"\n{lines}\n " if lines else ""
    out.write(f'{{"schema": "{SCHEMA}", "version": "{__version__}",\n "findings": [{body}]}}\n')
