"""One row's report as a block of lines: what was reported, the roof, the verdict, and the arithmetic under it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from klaudit.formats import numbers
from klaudit.formats.lines import Line, Span, paragraph
from klaudit.formats.text import cells, clean, cut, listed, pad
from klaudit.report import CaseReport, Reported, RowReport
from klaudit.verdict import CONDITIONS, Verdict

STYLES: Final = {
    Verdict.WITHIN: "green",
    Verdict.UNJUDGED: "yellow",
    Verdict.CONDITIONAL: "yellow",
    Verdict.IMPOSSIBLE: "bold red",
    Verdict.INCONSISTENT: "bold red",
}
_VERDICT_CELLS: Final = 13
_LABEL_CELLS: Final = 9
_INDENT: Final = " " * (_LABEL_CELLS + 4)
# No message of the judge is near it; a name of a file can be of any length.
_TEXT_CELLS: Final = 1000
_LEAST_NAME: Final = 16
_GPU_CELLS: Final = 28
_PLAIN: Final = {condition.id: condition.plain for condition in CONDITIONS}


def block(row: RowReport, width: int, with_source: bool) -> Iterator[Line]:
    """All that a report for people says of `row`, as lines of at most `width` cells."""
    yield _headline(row, width, with_source)
    yield from _details(row, width)


def _headline(row: RowReport, width: int, with_source: bool) -> Line:
    where = f"{clean(row.source, 40)}:{row.line}" if with_source else f"line {row.line}"
    for gpu, outcome in _short(row):
        taken = _VERDICT_CELLS + sum(cells(part) + 2 for part in (where, gpu, outcome) if part)
        if width - taken >= min(cells(clean(row.entry)), _LEAST_NAME):
            break
    entry = clean(row.entry, max(width - taken, _LEAST_NAME)) or "(no name)"
    spans: list[Span] = [(pad(str(row.verdict).upper(), _VERDICT_CELLS), STYLES[row.verdict])]
    spans.append(f"{where}  ")
    spans.append((entry, "bold"))
    spans.append("".join(f"  {part}" for part in (gpu, outcome) if part))
    line = tuple(spans)
    over = sum(cells(s if isinstance(s, str) else s[0]) for s in line) - width
    if over <= 0:
        return line
    # Only on narrow terminals with long names: what is lost here is said again below.
    return (*line[:-1], cut(str(spans[-1]), max(cells(str(spans[-1])) - over, _LEAST_NAME)))


def _short(row: RowReport) -> Iterator[tuple[str, str]]:
    """Card and outcome as fully as a line may take them, then shorter: no number is ever cut where words can be."""
    gpu = clean(row.gpu, _GPU_CELLS) or "no GPU"
    named = f"{gpu} ({row.variants[0]})" if len(row.variants) == 1 and row.variants[0] != gpu else gpu
    outcome, case = _outcome(row)
    yield named, outcome + case
    yield named, outcome
    yield gpu, outcome
    if ", " in outcome:
        # What is above the limit is above the roof, and the verdict says so.
        yield gpu, outcome.rpartition(", ")[2]
        yield "", outcome.rpartition(", ")[2]


def _outcome(row: RowReport) -> tuple[str, str]:
    """The ratio in words, or the reason where there is none; and the case that is furthest up, if it is one."""
    case = max(row.cases, key=lambda c: c.ratio, default=None)
    if case is not None and case.verdict is row.verdict and case.ratio > (row.ratio or 0.0):
        return how_far(case.ratio, case.limit_ratio), f" at {clean(case.name, _LEAST_NAME)}"
    if row.verdict in (Verdict.UNJUDGED, Verdict.INCONSISTENT) or row.ratio is None:
        return row.rules[0] if row.rules else "", ""
    return how_far(row.ratio, row.limit_ratio), ""


def how_far(ratio: float, limit_ratio: float | None) -> str:
    """Where a figure stands: against the roof, and against the limit where it is above that too."""
    said = f"{numbers.ratio(ratio)} {'x' if ratio > 1 else 'of'} the roof"
    if limit_ratio is not None and limit_ratio > 1:
        said += f", {numbers.ratio(limit_ratio)} x the limit"
    return said


def _details(row: RowReport, width: int) -> Iterator[Line]:
    for label, text in details(row):
        yield from _labelled(label, text, width)


def details(row: RowReport) -> Iterator[tuple[str, str]]:
    """What is said under a row's headline: labels and texts, as they come from the file."""
    if len(row.variants) > 1:
        meant = f"{row.gpu} can mean {listed(row.variants, 'or')}"
        yield "card", meant + (f"; judged as {row.variant}" if row.variant else "")
    for figure in row.reported:
        yield figure.kind, reported(figure, row.roof_name)
    for case in row.cases:
        if case.name == row.worst_case:
            yield "case", _case(case)
            break
    else:
        if row.worst_case and row.verdict is not Verdict.WITHIN:
            yield "case", f"{row.worst_case} is the worst"
    yield from _conditions(row)
    if row.verdict is Verdict.WITHIN and not row.notes:
        return
    if row.message:
        yield "why", row.message
    for note in row.notes:
        yield "note", note
    if row.rules:
        yield "rules", ", ".join(row.rules)


def condition_lines(row: RowReport, width: int) -> Iterator[Line]:
    """What would have to be true, in plain words: the smallest set, then the others of its size."""
    for label, text in _conditions(row):
        yield from _labelled(label, text, width)


def _conditions(row: RowReport) -> Iterator[tuple[str, str]]:
    if row.conditions:
        yield "only if", plain_conditions(row.conditions)
        for other in row.alternatives:
            yield "or if", plain_conditions(other)
    if row.cached_share is not None:
        yield "needs", f"at least {numbers.plain(row.cached_share, 2)} of the cache so used"


def plain_conditions(conditions: tuple[str, ...]) -> str:
    """A set of conditions in plain words, with their ids."""
    return ", and ".join(f"{_PLAIN.get(c, c)} ({c})" for c in conditions)


def reported(figure: Reported, roof_name: str) -> str:
    """One reported figure beside its roof and its limit, all in one unit."""
    value, roof, limit = numbers.together([figure.value, figure.roof, figure.limit], figure.kind)
    whose = figure.header or figure.rule
    said = f"{value} reported" + (f" ({clean(whose, 30)})" if whose else "")
    return f"{said}, roof {roof}" + (f" ({roof_name})" if roof_name else "") + f", limit {limit}"


def _case(case: CaseReport) -> str:
    time, floor, limit = numbers.together([case.time, case.floor, case.limit_floor], "time")
    return f"{case.name}: {time} reported, roof {floor}, limit {limit}: {how_far(case.ratio, case.limit_ratio)}"


def _labelled(label: str, text: str, width: int) -> list[Line]:
    first = f"  {pad(label, _LABEL_CELLS)}  "
    return paragraph(clean(text, _TEXT_CELLS), width, _INDENT, first)
