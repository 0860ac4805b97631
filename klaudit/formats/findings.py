"""What the formats for CI say alike of a finding: its level, its name, its place, and the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final

from klaudit.formats.text import clean
from klaudit.report import Audit, RowReport
from klaudit.verdict import RULES, Level, Verdict

_NAME_CELLS: Final = 60
_MESSAGE_CELLS: Final = 1000
# So many unjudged rows of one reason are listed one by one.
_MOST_ALIKE: Final = 3
# Their records have no line of their own.
_WITHOUT_LINES: Final = (".json", ".parquet")
_PACKED: Final = (".gz", ".zst", ".bz2", ".xz")


def level(row: RowReport) -> Level:
    """How loudly a report says it: as the verdict does where that is an error, else as the rule does."""
    if row.verdict.level == "error":
        return "error"
    return RULES[row.rule].level if row.rule in RULES else row.verdict.level or "note"


def title(row: RowReport) -> str:
    """What a report says of it in a few words."""
    return RULES[row.rule].title if row.rule in RULES else str(row.verdict).capitalize()


def who(row: RowReport) -> str:
    """The submission and its card."""
    entry = clean(row.entry, _NAME_CELLS) or "(no name)"
    return f"{entry} on {clean(row.gpu, _NAME_CELLS)}" if row.gpu else entry


def why(row: RowReport) -> str:
    """The arithmetic."""
    return clean(row.message, _MESSAGE_CELLS)


def line(row: RowReport) -> int:
    """The line of the file, counted from 1; 1 where records have no lines."""
    path = PurePath(row.source)
    suffix = path.with_suffix("").suffix if path.suffix.lower() in _PACKED else path.suffix
    return 1 if row.path or suffix.lower() in _WITHOUT_LINES else max(row.line, 1)


def worst(rows: Sequence[RowReport], most: int) -> list[RowReport]:
    """At most so many rows, the worst first; equal ones in the order of the input."""
    return sorted(rows, key=lambda row: row.severity, reverse=True)[:most]


def gathered(rows: Sequence[RowReport]) -> Iterator[tuple[RowReport, int]]:
    """The rows, and how many more each of them stands for: unjudged ones of one reason, where there are many.

    A file that lacks something lacks it in every row, and a report for people need not say so a thousand times.
    """
    alike = Counter((row.rule, row.message) for row in rows if row.verdict is Verdict.UNJUDGED)
    many = {reason: count for reason, count in alike.items() if count > _MOST_ALIKE}
    said: set[tuple[str, str]] = set()
    for row in rows:
        reason = (row.rule, row.message)
        if row.verdict is not Verdict.UNJUDGED or reason not in many:
            yield row, 0
        elif reason not in said:
            said.add(reason)
            yield row, many[reason] - 1


def counts(audit: Audit) -> dict[Verdict, int]:
    """How many findings there are of each verdict, worst first, without those accepted beforehand."""
    accepted = audit.suppressed.summary.counts
    flagged = sorted((v for v in Verdict if v is not Verdict.WITHIN), reverse=True)
    return {verdict: audit.summary.counts[verdict] - accepted[verdict] for verdict in flagged}


def counted(verdicts: Iterable[tuple[Verdict, int]]) -> str:
    """Counts in words, such as "10 impossible, 1 conditional"."""
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts if count) or "no findings"
