"""The picture as SVG for a page: no library, colours from the page's own style sheet, so that it follows its theme."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from klaudit.formats import layout, numbers
from klaudit.formats.layout import Span
from klaudit.formats.picture import Lane, Mark, Panel, Picture, Roof, far
from klaudit.formats.text import cut
from klaudit.verdict import Verdict

WIDTH: Final = 1000
_GAP: Final = 12
_LEFT, _RIGHT, _TOP, _BOTTOM = 82, 46, 34, 44
_ONE_HEIGHT: Final = 480
_SEVERAL_HEIGHT: Final = 370
_DOT: Final = 7.0
_LINE: Final = 14.0
_LANE_GAP: Final = 26.0
# Dots beside each other in a panel, and in the strip: many where one card has it alone.
_MOST_LEVELS: Final = 15
_SMALL_LEVELS: Final = 9
_ONE_LANE_LEVELS: Final = 21
_LETTER: Final = 6.3
_LEAST_NAME: Final = 10
# Around the origin; told apart without colour.
_SHAPES: Final = {
    Verdict.WITHIN: "M3.2,0A3.2,3.2 0 1 1 -3.2,0A3.2,3.2 0 1 1 3.2,0Z",
    Verdict.CONDITIONAL: "M0,-4.6L4.6,0L0,4.6L-4.6,0Z",
    Verdict.IMPOSSIBLE: "M0,-4.8L4.6,3.4L-4.6,3.4Z",
    Verdict.INCONSISTENT: "M-3.6,-3.6H3.6V3.6H-3.6Z",
    Verdict.UNJUDGED: "M-3.4,0H3.4M0,-3.4V3.4",
}


def shape(verdict: Verdict) -> str:
    """The outline of a verdict's mark, for legends outside the picture."""
    return _SHAPES[verdict]


def draw(picture: Picture) -> str:
    """The whole picture, panels first, the strip below; "" where there is nothing to show."""
    parts: list[str] = []
    top = 0.0
    if picture.panels:
        parts.extend(_panels(picture.panels))
        top += _panels_height(picture.panels)
    if picture.lanes:
        lanes, height = _strip(picture.lanes, top)
        parts.extend(lanes)
        top += height
    if not parts:
        return ""
    said = " ".join(picture.caption)
    return (
        f'<svg class="picture" viewBox="0 0 {WIDTH} {top:.0f}" role="img" aria-label="{escape(picture.title)}: '
        f'{escape(said)}" xmlns="http://www.w3.org/2000/svg">\n' + "\n".join(parts) + "\n</svg>"
    )


def _panels_height(panels: Sequence[Panel]) -> float:
    rows = (len(panels) + 1) // 2
    return rows * (_ONE_HEIGHT if len(panels) == 1 else _SEVERAL_HEIGHT)


def _panels(panels: Sequence[Panel]) -> Iterator[str]:
    x, y = layout.panel_spans(panels)
    several = len(panels) > 1
    width = (WIDTH - _GAP) / 2 if several else WIDTH
    height = _SEVERAL_HEIGHT if several else _ONE_HEIGHT
    for i, panel in enumerate(panels):
        left, top = (i % 2) * (width + _GAP), (i // 2) * height
        box = _Box(left + _LEFT, top + _TOP, width - _LEFT - _RIGHT, height - _TOP - _BOTTOM, x, y, several)
        yield '<g class="small">' if several else "<g>"
        yield _text("title", left + 2, top + 16, panel.title)
        yield from box.panel(panel)
        yield "</g>"


class _Box:
    """The area of one panel and its axes."""

    def __init__(self, left: float, top: float, width: float, height: float, x: Span, y: Span, small: bool) -> None:
        self.left, self.top, self.width, self.height = left, top, width, height
        self.right, self.bottom = left + width, top + height
        self.x, self.y, self.small = x, y, small

    def at(self, intensity: float, rate: float) -> tuple[float, float]:
        """The point of an intensity and a rate."""
        return self.left + self.width * self.x.at(intensity), self.bottom - self.height * self.y.at(rate)

    def panel(self, panel: Panel) -> Iterator[str]:
        """Axes, roofs and entries."""
        yield from self._axes()
        yield from self._ratios(panel)
        for roof in panel.roofs:
            yield from self._roof(panel, roof)
        yield from self._entries(panel)

    def _axes(self) -> Iterator[str]:
        for rate in self.y.decades():
            place = self.at(self.x.low, rate)[1]
            yield _line("grid", self.left, place, self.right, place)
            yield _text("tick end", self.left - 8, place + 4, layout.rate_label(rate))
        for intensity in self.x.decades():
            place = self.at(intensity, self.y.low)[0]
            yield _line("grid", place, self.top, place, self.bottom)
            yield _text("tick mid", place, self.bottom + 16, layout.plain_label(intensity))
        yield _rectangle("frame", self.left, self.top, self.width, self.height)
        yield _text("axis mid", self.left + self.width / 2, self.bottom + 34, "FLOP per byte of DRAM traffic")

    def _ratios(self, panel: Panel) -> Iterator[str]:
        """The axis on the right: the entries' ratio to their roof."""
        ticks = layout.ratio_ticks(panel, self.y)
        if panel.reference is None or not ticks:
            return
        intensity = panel.reference[0]
        for kind, said, rate in panel.levels(self.small):
            if self.y.holds(rate):
                start, place = self.at(intensity, rate)
                yield _line(kind, start - (34 if kind == "limit" else 0), place, self.right, place)
                # Right of the entries and below the roofs there is room.
                yield _text(f"name end {kind}", self.right - 6, place + (14 if kind == "one" else -6), said)
        for ratio, rate in ticks:
            place = self.at(intensity, rate)[1]
            yield _line("axis-tick", self.right, place, self.right + 5, place)
            yield _text(f"tick{' strong' if ratio == 1 else ''}", self.right + 8, place + 4, layout.plain_label(ratio))
        yield _text("tick end", self.right + 44, self.top - 8, "x the roof")

    def _roof(self, panel: Panel, roof: Roof) -> Iterator[str]:
        line = layout.line_of(panel, roof, self.x, self.y)
        if line is None:
            return
        (x1, y1), (x2, y2) = self.at(*line[0]), self.at(*line[1])
        yield _line(f"roof {roof.kind}", x1, y1, x2, y2)
        above = layout.named_above(panel, roof)
        shift = -6 if above else 14
        if roof.slope is None:
            yield _text(f"name end {roof.kind}", self.right - 6, y1 + shift, roof.name)
            return
        middle = layout.name_place(panel, roof, line)
        x, y = self.at(middle, roof.at(middle))
        angle = math.degrees(math.atan2(y2 - y1, x2 - x1))
        yield (
            f'<text class="name mid {roof.kind}" transform="translate({x:.1f},{y:.1f}) rotate({angle:.1f})" '
            f'y="{shift}">{escape(roof.name)}</text>'
        )

    def _entries(self, panel: Panel) -> Iterator[str]:
        places = self._places(panel.marks)
        if panel.reference is not None:
            x = self.at(panel.reference[0], self.y.low)[0]
            yield _line("workload", x, self.top, x, self.bottom)
            yield _text("tick mid", x, self.top - 6, f"{numbers.plain(panel.reference[0])} FLOP/B")
        yield from self._labels(panel, places)
        for mark in panel.marks:
            yield _mark(mark, *places[mark.place])

    def _places(self, marks: Sequence[Mark]) -> dict[int, tuple[float, float]]:
        """Where each mark goes: entries of one intensity side by side."""
        columns: dict[float, list[tuple[float, Mark]]] = {}
        for mark in marks:
            x, y = self.at(mark.intensity or self.x.low, mark.rate or self.y.low)
            columns.setdefault(round(x), []).append((y, mark))
        found = {}
        for column in columns.values():
            column.sort(key=lambda pair: pair[0])
            levels = layout.stacked([y for y, _ in column], _DOT, _SMALL_LEVELS if self.small else _MOST_LEVELS)
            for (y, mark), level in zip(column, levels, strict=True):
                x = self.at(mark.intensity or self.x.low, self.y.low)[0]
                found[mark.place] = x + level * _DOT, y
        return found

    def _labels(self, panel: Panel, places: dict[int, tuple[float, float]]) -> Iterator[str]:
        """Names of the impossible entries, left of them: the area above the roof is empty there."""
        named = sorted(panel.labelled, key=lambda m: places[m.place][1])
        if not named:
            return
        edge = min(x for x, _ in places.values()) - 22
        heights = layout.spread([places[m.place][1] for m in named], _LINE, self.top + 10, self.bottom - 10)
        room = int((edge - self.left - 12) / _LETTER)
        for mark, height in zip(named, heights, strict=True):
            x, y = places[mark.place]
            yield f'<path class="lead" d="M{edge + 4:.1f},{height:.1f}L{edge + 14:.1f},{y:.1f}L{x - 5:.1f},{y:.1f}"/>'
            ratio = f"  {numbers.ratio(mark.ratio)} x"
            yield _text("label end", edge, height + 4, cut(mark.name, max(room - len(ratio), _LEAST_NAME)) + ratio)


def _strip(lanes: Sequence[Lane], top: float) -> tuple[list[str], float]:
    """The ratios of every entry, a lane for each card, and the height taken."""
    span = layout.lane_span(lanes)
    left, right = 14.0, WIDTH - 14.0
    parts = [_text("title", 2, top + 22, "Score over roof, every entry")]

    def at(ratio: float) -> float:
        return left + (right - left) * span.at(ratio)

    y = top + 40
    marks: list[str] = []
    for lane in lanes:
        ordered = sorted(lane.marks, key=lambda m: (m.ratio, m.place))
        levels = layout.stacked(
            [at(m.ratio) for m in ordered], _DOT, _MOST_LEVELS if len(lanes) > 1 else _ONE_LANE_LEVELS
        )
        reach = max((abs(level) for level in levels), default=0) * _DOT
        if len(lanes) > 1:
            marks.append(_text("lane", left, y + 10, lane.title))
            y += 12
        middle = y + reach + _LANE_GAP / 2
        if lane.limit is not None:
            marks.append(_line("limit", at(lane.limit), middle - reach - 9, at(lane.limit), middle + reach + 9))
        marks.extend(_mark(m, at(m.ratio), middle + n * _DOT) for m, n in zip(ordered, levels, strict=True))
        y += 2 * reach + _LANE_GAP
    parts.append(_rectangle("above", at(1), top + 34, right - at(1), y - top - 34))
    for ratio in span.ticks(12):
        parts.append(_line("one" if ratio == 1 else "grid", at(ratio), top + 34, at(ratio), y))
        parts.append(_text(f"tick mid{' strong' if ratio == 1 else ''}", at(ratio), y + 16, layout.plain_label(ratio)))
    parts.append(_text("axis end", right, y + 34, "x the roof"))
    return [*parts, *marks], y - top + 44


def _mark(mark: Mark, x: float, y: float) -> str:
    hint = escape(f"{far(mark)} the roof, {mark.verdict}")
    return (
        f'<path class="mark {mark.verdict}" data-place="{mark.place}" transform="translate({x:.1f},{y:.1f})" '
        f'd="{_SHAPES[mark.verdict]}"><title>{hint}</title></path>'
    )


def _rectangle(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path class="{kind}" d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}"/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
