"""The report as one page that needs nothing else: counts, picture, rows to sort and unfold, and what they rest on.

A page is opened by people who did not make its file: every text of the file is escaped or travels as data, and the
page's own policy lets no other script, style or address in.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from itertools import islice
from typing import Any, Final, TextIO

from klaudit.formats import View, headers, numbers
from klaudit.formats import table as plain_table
from klaudit.formats.drawing import draw, shape
from klaudit.formats.html_ground import ground, reading
from klaudit.formats.json_ import dumps, text
from klaudit.formats.lines import write_lines
from klaudit.formats.markup import element, escaped, listed_items
from klaudit.formats.picture import ORDER, Picture, of_audit, standing
from klaudit.formats.provenance import Stamp
from klaudit.formats.rows import block, details
from klaudit.formats.standing import podium_lines, sentence
from klaudit.formats.text import clean, plural
from klaudit.report import Audit, CaseReport, RowReport
from klaudit.verdict import Verdict

# Rows that one page holds: beyond it, the worst and then the first of the others.
MOST_ROWS: Final = 20_000
_MOST_PLAIN: Final = 200
_MOST_RANKS: Final = 50
_ENTRY_CELLS: Final = 300
_TEXT_CELLS: Final = 1000
_ENDLESS: Final = 1e300
_PART: Final = re.compile(r"\{\{(\w+)\}\}")
_ICON: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 14L8 5h7' "
    "fill='none' stroke='%23888' stroke-width='2'/%3E%3Cpath d='M8 1l3 4H5z' fill='%23d55e00'/%3E%3C/svg%3E"
)
_KEY: Final = "Dashed: the best bandwidth measured. Entries of one intensity stand side by side."
CASE_HEAD: Final = ("case", "time", "floor", "limit", "x roof", "x limit", "verdict")


def write(audit: Audit, out: TextIO, view: View) -> None:
    """Write the page."""
    rows, order = _chosen(audit)
    picture = of_audit(audit, rows)
    style, script = _file("report.css"), _file("report.js")
    unit = _score_unit(rows)
    parts = {
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "icon": _ICON,
        "version": escaped(audit.version),
        "title": escaped(picture.title),
        "stamp": escaped(f"{audit.version}, specs of {audit.specs_date}"),
        "sources": escaped(_sources(audit)),
        "headline": escaped(headline(audit)),
        "tiles": "\n".join(_tile(verdict, audit.summary.counts[verdict]) for verdict in ORDER),
        "remarks": "".join(_remarks(audit)),
        "figure": _figure(picture),
        "left_out": _left_out(audit, len(rows)),
        "plain_rows": escaped(_plain(rows, audit), keep_lines=True),
        "score_head": escaped(f"score {unit[0]}" if unit else "score"),
        "reading": reading(audit),
        "ground": ground(audit),
        "footer": _footer(audit),
        "data": _data(rows, order, unit, len(audit.sources) > 1),
    }
    # In one pass, so that nothing that was put in is taken for a part.
    out.write(_PART.sub(lambda match: parts[match[1]], _file("report.html")))


def _file(name: str) -> str:
    return resources.files("klaudit.formats").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """No foreign script, style, address or frame; and no text can become markup from script."""

    def digest(content: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; img-src data:; base-uri 'none';"
        " form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _chosen(audit: Audit) -> tuple[list[RowReport], list[int]]:
    """The rows of the page, worst first, and each one's place in the input."""
    flagged: list[tuple[int, RowReport]] = []
    within: list[tuple[int, RowReport]] = []
    for place, row in enumerate(audit.rows()):
        some = within if row.verdict is Verdict.WITHIN else flagged
        if len(some) < MOST_ROWS:
            some.append((place, row))
    kept = [*flagged, *within[: MOST_ROWS - len(flagged)]]
    kept.sort(key=lambda pair: (ORDER.index(pair[1].verdict), -_ratio(pair[1]), pair[0]))
    return [row for _, row in kept], [place for place, _ in kept]


def _ratio(row: RowReport) -> float:
    found = standing(row)
    return found[0] if found else 0.0


def headline(audit: Audit) -> str:
    """The board in a sentence or two."""
    counts, judged = audit.summary.counts, audit.summary.judged
    if not judged:
        return "No row could be judged." if audit.summary.rows else "The input has no rows."
    said = []
    impossible, inconsistent = counts[Verdict.IMPOSSIBLE], counts[Verdict.INCONSISTENT]
    if impossible:
        be = "is" if impossible == 1 else "are"
        said.append(f"{impossible} of {plural(judged, 'judged row')} {be} above what physics allows.")
    if inconsistent:
        said.append("1 row contradicts itself." if inconsistent == 1 else f"{inconsistent} rows contradict themselves.")
    if counts[Verdict.CONDITIONAL]:
        be = "is" if counts[Verdict.CONDITIONAL] == 1 else "are"
        said.append(f"{counts[Verdict.CONDITIONAL]} {be} possible only under named conditions.")
    return " ".join(said) or f"None of {plural(judged, 'judged row')} is above its roof."


def _sources(audit: Audit) -> str:
    named = ", ".join(clean(source, 80) for source in audit.sources[:5]) or "input"
    more = len(audit.sources) - 5
    rows = f"{plural(audit.summary.rows, 'row')}, {audit.summary.judged} judged"
    return f"{named}{f' and {more} more' if more > 0 else ''}: {rows}"


def _tile(verdict: Verdict, count: int) -> str:
    disabled = "" if count else " disabled"
    mark = f'<path class="{verdict}" d="{shape(verdict)}"/>'
    return (
        f'<button type="button" class="tile" data-verdict="{verdict}" aria-pressed="false"{disabled}>'
        f'<svg class="shape" viewBox="-6 -6 12 12" aria-hidden="true">{mark}</svg>'
        f"<b>{count}</b><span>{verdict}</span></button>"
    )


def _remarks(audit: Audit) -> Iterator[str]:
    """What there is to say of the whole: remarks, ranks on another board, podiums, findings accepted beforehand."""
    for remark in (*audit.remarks, *audit.suppressed.messages):
        yield element("p", remark)
    accepted = audit.suppressed.summary.rows
    if accepted:
        yield element("p", f"Accepted beforehand: {plural(accepted, 'finding')}, counted above. Their rows say why.")
    ranks = [f"{sentence(rank)}." for rank in audit.standings[:_MOST_RANKS]]
    if len(audit.standings) > _MOST_RANKS:
        ranks.append(f"+{len(audit.standings) - _MOST_RANKS} more; --format json has them all.")
    yield listed_items(ranks)
    for podium in audit.podiums:
        title, *places = podium_lines(podium)
        yield element("p", title) + listed_items(places)


def _figure(picture: Picture) -> str:
    drawn = draw(picture)
    caption = " ".join(escaped(sentence) for sentence in picture.caption)
    if not drawn:
        return f"<p>No picture: no row has a place in it. {caption}</p>"
    hint = '<span class="screen">Press a mark to open its row.</span>' if picture.lanes else ""
    return f'<figure><div class="scroll">{drawn}</div><figcaption>{caption} {_KEY} {hint}</figcaption></figure>'


def _left_out(audit: Audit, kept: int) -> str:
    missing = audit.summary.rows - kept
    if not missing:
        return ""
    said = f"{plural(missing, 'row')} of {audit.summary.rows} left out of this page, counted above:"
    return element("p", f"{said} it holds the {MOST_ROWS} worst. --format json has them all.")


def _plain(rows: Sequence[RowReport], audit: Audit) -> str:
    """The first flagged rows and the summary, for viewers that run no script."""
    out = io.StringIO()
    flagged = [row for row in rows if row.verdict is not Verdict.WITHIN]
    for row in flagged[:_MOST_PLAIN]:
        write_lines([*block(row, 100, len(audit.sources) > 1), ()], out, color=False)
    if len(flagged) > _MOST_PLAIN:
        out.write(f"+{len(flagged) - _MOST_PLAIN} more flagged.\n\n")
    write_lines(plain_table.summary(audit, 100), out, color=False)
    return out.getvalue()


def _score_unit(rows: Iterable[RowReport]) -> tuple[str, float, int] | None:
    """One unit for the column of scores, its size and its decimals, where all scores are of one kind."""
    first = [row.reported[0] for row in rows if row.reported]
    values = [abs(f.value) for f in first if f.value and math.isfinite(f.value)]
    if not values or len({f.kind for f in first}) > 1:
        return None
    # The middle score has four digits: one slip of a unit must not stretch the whole column.
    middle = sorted(values)[len(values) // 2]
    unit, scale = numbers.unit_of([middle], first[0].kind)
    return unit, scale, max(0, 3 - math.floor(math.log10(middle / scale)))


def _data(rows: Sequence[RowReport], order: list[int], unit: tuple[str, float, int] | None, several: bool) -> str:
    """The rows as JSON inside a script element: no `<` can end it."""
    ranks = {place: rank for rank, place in enumerate(sorted(order))}
    value: dict[str, Any] = {
        "verdicts": [str(verdict) for verdict in ORDER],
        "case_head": list(CASE_HEAD),
        "order": [ranks[place] for place in order],
    }
    head = dumps(value)[:-1]
    body = ",\n".join(dumps(_row(row, unit, several)) for row in rows)
    return f'{head}, "rows": [\n{body}\n]}}'.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _row(row: RowReport, unit: tuple[str, float, int] | None, several: bool) -> list[Any]:
    ratio, limit = row.furthest
    score = row.reported[0] if row.reported else None
    shown = ""
    if score is not None:
        shown = f"{score.value / unit[1]:.{unit[2]}f}" if unit else numbers.together([score.value], score.kind)[0]
    said = list(details(row))
    if row.message and not any(label == "why" for label, _ in said):
        said.append(("why", row.message))
    if row.suppressed:
        said.append(("accepted", row.suppressed))
    return [
        int(row.line), _name(row.path), _name(row.source) if several else "", _name(row.entry), _name(row.gpu),
        ORDER.index(row.verdict), None if score is None else _finite(score.value), shown, _finite(ratio),
        _finite(limit), [[label, text(clean(what, _TEXT_CELLS))] for label, what in said],
        [_case(case) for case in islice(row.cases, 100)],
    ]  # fmt: skip


def _case(case: CaseReport) -> list[str]:
    ratios = [numbers.ratio(case.ratio), numbers.ratio(case.limit_ratio)]
    return [
        _name(case.name),
        *numbers.together([case.time, case.floor, case.limit_floor], "time"),
        *ratios,
        str(case.verdict),
    ]


def _name(name: str) -> str:
    return text(clean(name, _ENTRY_CELLS))


def _finite(value: float | None) -> float | None:
    return _ENDLESS if value == math.inf else numbers.rounded(value)


def _footer(audit: Audit) -> str:
    stamp = Stamp.of(audit)
    said: Mapping[str, str] = {
        "klaudit": stamp.version,
        "Specs": f"of {stamp.specs_date}, sha256 {stamp.specs_sha256}",
        "Board": stamp.board or "none",
        "Conditions allowed": ", ".join(stamp.allowed) or "none",
        "Conditions ruled out": ", ".join(stamp.ruled_out) or "none",
    }
    parts = [f"{name}: {what}." for name, what in said.items()]
    return "".join(element("p", words) for words in (*parts, *headers.sentences(audit)))
