"""One claim step by step, ready to paste under a bug report: each step with its arithmetic and its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TextIO

from klaudit.formats import View
from klaudit.formats.json_ import dumps, row_object, text
from klaudit.formats.lines import LEAST_WIDTH, Line, paragraph, write_lines
from klaudit.formats.provenance import HARNESS, NO_CLEARANCE, Stamp
from klaudit.formats.rows import STYLES, condition_lines, how_far
from klaudit.formats.text import cells, clean, clean_lines
from klaudit.report import Explanation, RowReport
from klaudit.verdict import Verdict


def write_table(explanation: Explanation, out: TextIO, view: View, stamp: Stamp) -> None:
    """Write the steps as numbered text, the verdict last."""
    write_lines(_page(explanation, max(view.width, LEAST_WIDTH), stamp), out, view.color)


def _page(explanation: Explanation, width: int, stamp: Stamp) -> Iterator[Line]:
    yield from paragraph(f"Claim: {clean(explanation.claim, 500)}", width, "  ")
    yield ()
    for number, step in enumerate(explanation.steps, start=1):
        title, arithmetic = clean(step.title), clean_lines(step.arithmetic).strip()
        short = f"{title}: {arithmetic}"
        if "\n" not in short and cells(short) + 4 <= width:
            yield (f"{number:2}. {short}",)
        else:
            yield from paragraph(title, width, "    ", f"{number:2}. ")
            for line in arithmetic.split("\n"):
                yield from paragraph(line, width, "      ", "    ")
        if step.source:
            yield from paragraph(f"source: {clean(step.source)}", width, "      ", "    ")
    yield ()
    row = explanation.report
    yield ("Verdict: ", (str(row.verdict).upper(), STYLES[row.verdict]), _how_far(row))
    yield from condition_lines(row, width)
    if row.message:
        yield from paragraph(clean(row.message), width)
    for note in row.notes:
        yield from paragraph(f"Note: {clean(note)}", width)
    yield ()
    if row.verdict is Verdict.WITHIN:
        yield from paragraph(NO_CLEARANCE, width)
    elif row.verdict is not Verdict.UNJUDGED:
        yield from paragraph(HARNESS, width)
    yield ()
    yield from stamp.lines(width)


def _how_far(row: RowReport) -> str:
    if row.ratio is None:
        return f" ({', '.join(row.rules)})" if row.rules else ""
    return f", {how_far(row.ratio, row.limit_ratio)}"


def write_json(explanation: Explanation, out: TextIO, view: View, stamp: Stamp) -> None:
    """Write the row's object with the steps and the versions behind its own keys."""
    steps = [
        {"title": text(step.title), "arithmetic": text(step.arithmetic), "source": text(step.source) or None}
        for step in explanation.steps
    ]
    value = {
        **row_object(explanation.report),
        "claim": text(explanation.claim),
        "steps": steps,
        **stamp.json(),
        "board": text(stamp.board) or None,
        "ruled_out": list(stamp.ruled_out),
        "allowed": list(stamp.allowed),
    }
    out.write(dumps(value) + "\n")


FORMATS: Final[Mapping[str, Callable[[Explanation, TextIO, View, Stamp], None]]] = {
    "table": write_table,
    "json": write_json,
}
