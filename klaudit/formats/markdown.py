"""A summary to paste under an issue or into a step summary: counts, the worst findings, and how to repeat it.

It stays below what an issue takes. Text of the files is plain words or code, never markup, a link or a mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from klaudit.formats import View, accused, headers, numbers
from klaudit.formats.findings import counted, counts, worst
from klaudit.formats.provenance import HARNESS, NO_CLEARANCE, Stamp
from klaudit.formats.standing import podium_lines, sentence
from klaudit.formats.text import clean, plural
from klaudit.report import Audit, RowReport
from klaudit.verdict import Verdict

# An issue takes 65 536 characters; a step summary 1 MiB.
MOST_BYTES: Final = 60_000
_MOST_ROWS: Final = 500
# Words without any character that means something in Markdown, and without what GitHub makes links of.
_TAME: Final = re.compile(r"[A-Za-z0-9 .,;:/()%+'\"=-]*")
_LINKS: Final = re.compile(r"://|www\.|:[a-z0-9+-]+:|\bGH-\d", re.IGNORECASE)
_AWKWARD: Final = re.compile(r"[`|\\]")
_NAME_CELLS: Final = 60


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the summary."""
    room = MOST_BYTES
    for part in _parts(audit, view):
        size = len(part.encode("utf-8", "surrogatepass"))
        if size > room:
            out.write("\nMore does not fit here.\n")
            return
        room -= size
        out.write(part)


def _parts(audit: Audit, view: View) -> Iterator[str]:
    names = ", ".join(code(clean(source, _NAME_CELLS)) for source in audit.sources[:3]) or "the input"
    if len(audit.sources) > 3:
        names += f" and {len(audit.sources) - 3} more"
    found = counts(audit)
    yield f"### klaudit: {counted(found.items())}\n\n"
    yield f"{plural(audit.summary.rows, 'row')} in {names}, {audit.summary.judged} judged"
    suppressed = audit.suppressed.summary.rows
    yield f", {suppressed} findings suppressed.\n" if suppressed else ".\n"
    yield _table(("verdict", "rows"), [(str(v), str(audit.summary.counts[v])) for v in sorted(Verdict, reverse=True)])
    yield from _findings(audit)
    if view.suppressed and audit.suppressed.rows:
        yield "\nAccepted beforehand:\n"
        rows = worst(audit.suppressed.rows, _MOST_ROWS)
        yield _table(
            ("line", "submission", "by"), [(_where(r, audit), _who(r), inline(r.suppressed, 200)) for r in rows]
        )
    said = [*map(sentence, audit.standings), *audit.remarks, *audit.suppressed.messages]
    if said:
        yield "\n" + "".join(f"- {inline(words, 1000)}\n" for words in said)
    for podium in audit.podiums:
        title, *places = podium_lines(podium)
        yield f"\n{inline(title, 1000)}\n\n" + "".join(f"- {inline(words, 1000)}\n" for words in places)
    yield f"\n{NO_CLEARANCE} {HARNESS} What would lift a verdict: {'; '.join(accused.EVIDENCE)}.\n"
    stamp = Stamp.of(audit)
    yield (
        f"\nklaudit {stamp.version}, specs {stamp.specs}, board {code(clean(stamp.board)) if stamp.board else 'none'},"
        f" conditions allowed: {' '.join(stamp.allowed) or 'none'}; ruled out: {' '.join(stamp.ruled_out) or 'none'}.\n"
    )
    yield "".join(f"\n{inline(words, 2000)}\n" for words in headers.sentences(audit))


def _findings(audit: Audit) -> Iterator[str]:
    """The worst findings as a table, as far as they fit, and how many do not."""
    if not audit.findings and not audit.findings_left_out:
        return
    header = ("verdict", "line", "submission", "x roof", "why")
    room = MOST_BYTES * 3 // 4
    rows: list[tuple[str, ...]] = []
    for row in worst(audit.findings, _MOST_ROWS):
        cells = (_verdict(row), _where(row, audit), _who(row), _ratio(row), inline(row.message, 1000))
        room -= sum(len(cell.encode("utf-8", "surrogatepass")) + 3 for cell in cells)
        if room < 0:
            break
        rows.append(cells)
    yield _table(header, rows)
    more = len(audit.findings) + audit.findings_left_out - len(rows)
    if more:
        yield f"\n+{more} more, none worse than those above.\n"


def _verdict(row: RowReport) -> str:
    return f"**{row.verdict}**" if row.verdict.level == "error" else str(row.verdict)


def _where(row: RowReport, audit: Audit) -> str:
    return f"{code(clean(row.source, _NAME_CELLS))}:{row.line}" if len(audit.sources) > 1 else str(row.line)


def _who(row: RowReport) -> str:
    entry = code(clean(row.entry, _NAME_CELLS)) if row.entry.strip() else "(no name)"
    return f"{entry} on {code(clean(row.gpu, _NAME_CELLS))}" if row.gpu.strip() else entry


def _ratio(row: RowReport) -> str:
    ratio = row.severity[2]
    return numbers.ratio(ratio) if ratio else ""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def inline(text: str, limit: int) -> str:
    """A sentence that may hold words of the file: as it is where it is tame, else as code."""
    text = clean(text, limit)
    return text if _TAME.fullmatch(text) and not _LINKS.search(text) else code(text)


def code(text: str) -> str:
    r"""A cleaned text as code, also within a table.

    Examples
    --------
    >>> code("x_zero/*"), code("a|b")
    ('`x_zero/*`', '<code>a&#124;b</code>')
    """
    if text.strip() and text == text.strip() and not _AWKWARD.search(text):
        return f"`{text}`"
    # Fences and tables read backticks, bars and backslashes each in their own way; a reference is a letter to all.
    return f"<code>{''.join(c if c.isalnum() or c == ' ' else f'&#{ord(c)};' for c in text)}</code>"
