"""The report for people: a block for each flagged row, then the board as a whole. Text to paste under a bug report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TextIO

from klaudit.formats import View, headers
from klaudit.formats import standing as place
from klaudit.formats.concise import suppressed_line
from klaudit.formats.findings import gathered
from klaudit.formats.lines import LEAST_WIDTH, Line, columns, paragraph, write_lines
from klaudit.formats.numbers import plain
from klaudit.formats.provenance import HARNESS, NO_CLEARANCE, Stamp
from klaudit.formats.rows import STYLES, block
from klaudit.formats.text import clean, plural
from klaudit.report import Audit, Summary
from klaudit.verdict import Verdict

_GPU_ROWS: Final = 20
_GPU_CELLS: Final = 15
# Worst first, as people look for it.
_ORDER: Final = (
    Verdict.INCONSISTENT, Verdict.IMPOSSIBLE, Verdict.CONDITIONAL, Verdict.UNJUDGED, Verdict.WITHIN,
)  # fmt: skip


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the whole report."""
    write_lines(_report(audit, max(view.width, LEAST_WIDTH), view), out, view.color)


def _report(audit: Audit, width: int, view: View) -> Iterator[Line]:
    with_source, every_row = len(audit.sources) > 1, view.rows == "all"
    for row, more in ((row, 0) for row in audit.rows()) if every_row else gathered(audit.findings):
        yield from block(row, width, with_source)
        if more:
            yield from paragraph(
                f"and {plural(more, 'more row')} with the same reason; --rows all lists them", width, "  "
            )
        yield ()
    if audit.findings_left_out and not every_row:
        yield from paragraph(f"+{audit.findings_left_out} more flagged, counted below and not listed.", width)
        yield ()
    if view.suppressed and audit.suppressed.rows:
        for row in audit.suppressed.rows:
            yield from paragraph("".join(map(str, suppressed_line(row))), width, "  ")
        yield ()
    for standing in audit.standings:
        yield from paragraph(f"{place.sentence(standing)}.", width)
    for podium in audit.podiums:
        for words in place.podium_lines(podium):
            yield from paragraph(words, width, "   ")
    if audit.standings or audit.podiums:
        yield ()
    yield from summary(audit, width)
    yield ()
    for sentence in (NO_CLEARANCE, HARNESS):
        yield from paragraph(sentence, width)
    yield ()
    yield from Stamp.of(audit).lines(width)
    for remark in audit.remarks:
        yield from paragraph(clean(remark), width)
    for words in headers.sentences(audit):
        yield from paragraph(words, width)


def summary(audit: Audit, width: int) -> Iterator[Line]:
    """Counts by verdict and GPU, and the share of the board above the roof."""
    counts = audit.summary
    what = ", ".join(clean(source, 60) for source in audit.sources[:3])
    if len(audit.sources) > 3:
        what += f" and {len(audit.sources) - 3} more"
    yield from paragraph(f"{what or 'input'}: {plural(counts.rows, 'row')}, {counts.judged} judged.", width)
    if audit.suppressed.summary.rows:
        yield from paragraph(f"Accepted beforehand: {plural(audit.suppressed.summary.rows, 'finding')}.", width)
    if counts.judged:
        share = plain(100 * counts.share_above_roof, 3)
        yield from paragraph(f"Above the roof: {counts.above_roof} of {counts.judged} judged, {share} %.", width)
    elif counts.rows:
        yield ("No row could be judged.",)
    if counts.above_measured:
        yield from paragraph(f"Above the best measured figure: {plural(counts.above_measured, 'row')}.", width)
    yield ()
    yield from _by_gpu(audit.by_gpu, counts, width)


def _by_gpu(by_gpu: Mapping[str, Summary], total: Summary, width: int) -> list[Line]:
    # The labels with most to say first; those beyond the maximum are in the total.
    ranked = sorted(by_gpu.items(), key=lambda item: (-item[1].above_roof, -item[1].rows, item[0]))
    rows = [(clean(label, _GPU_CELLS) or "(none)", s) for label, s in ranked[:_GPU_ROWS]]
    if len(ranked) > _GPU_ROWS:
        rest = Summary()
        for _, more in ranked[_GPU_ROWS:]:
            for verdict in Verdict:
                rest.counts[verdict] += more.counts[verdict]
        rows.append((f"+{len(ranked) - _GPU_ROWS} more", rest))
    rows.append(("all", total))
    header = ("GPU", "rows", *(str(v) for v in _ORDER))
    table = [(label, str(s.rows), *(str(s.counts[v]) for v in _ORDER)) for label, s in rows]
    return columns(header, table, width)


__all__ = ["STYLES", "summary", "write"]
