"""Where things go in a picture: axes, ticks, points side by side, labels apart. Pure geometry, for every drawer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from klaudit.formats.picture import Lane, Panel, Roof
from klaudit.units import show

# Room beside the entries for their labels, and beyond the outermost figures, as factors on a logarithmic axis.
_LABEL_ROOM: Final = 16.0
_SMALL_LABEL_ROOM: Final = 40.0
_ROOM: Final = 4.0
_SMALL_ROOM: Final = 14.0
_STEPS: Final = (1, 2, 5)
# How far from the entries to the end of a roof its name is centred.
_NAME_PLACE: Final = 0.45
# Sloped roofs whose names stand above their lines.
_UPPER_KINDS: Final = ("dram", "port", "variant")


class Span(NamedTuple):
    """A logarithmic axis from `low` to `high`."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Where a value stands: 0 at the low end, 1 at the high one."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    def value(self, place: float) -> float:
        """The value at a place."""
        return self.low * float((self.high / self.low) ** place)

    def holds(self, value: float) -> bool:
        """Whether a value is on the axis."""
        return self.low <= value <= self.high

    def decades(self) -> list[float]:
        """The powers of ten on the axis."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]

    def ticks(self, most: int = 9) -> list[float]:
        """Round values on the axis: powers of ten, with 2 and 5 between them where there is room."""
        fine = [d * s for d in [self.low_decade, *self.decades()] for s in _STEPS if self.holds(d * s * 1.0000001)]
        fine = sorted({float(f"{value:.3g}") for value in fine})
        return fine if len(fine) <= most else self.decades()

    @property
    def low_decade(self) -> float:
        """The power of ten at or below the low end."""
        return float(10.0 ** math.floor(math.log10(self.low)))


def panel_spans(panels: Sequence[Panel]) -> tuple[Span, Span]:
    """Axes of intensity and rate that all panels share, so that they compare."""
    ridges = [p.ceiling / r.slope for p in panels if p.ceiling for r in p.roofs[:1] if r.slope]
    own = [i for p in panels for i in p.intensities]
    named = any(p.labelled for p in panels)
    room = (_SMALL_LABEL_ROOM if len(panels) > 1 else _LABEL_ROOM) if named else 2 * _ROOM
    low = min(own) / room if own else min(ridges, default=1.0) / 100
    right = _SMALL_ROOM if len(panels) > 1 else _ROOM
    x = Span(low, max([*own, *ridges, low * 10]) * right)
    rates = [m.rate for p in panels for m in p.marks if m.rate]
    floors = [p.roof_at(i) / 3 for p in panels for i in p.intensities] or [p.roof_at(x.low) for p in panels]
    tops = [r.level for p in panels for r in p.roofs if r.level] or [p.roof_at(x.high) for p in panels]
    return x, Span(min([*rates, *floors]) / 2.5, max([*rates, *tops]) * 2.5)


def lane_span(lanes: Sequence[Lane]) -> Span:
    """The axis of ratios: all entries, and the roof at 1 with room on both sides."""
    ratios = [m.ratio for lane in lanes for m in lane.marks]
    limits = [lane.limit for lane in lanes if lane.limit]
    return Span(min([*ratios, 0.2]) / 1.25, max([*ratios, *limits, 2.0]) * 1.4)


def stacked(positions: Sequence[float], size: float, most: int) -> list[int]:
    """Levels beside the axis for points of `size` at ascending positions, so that none hides another: 0, 1, -1, 2 ...

    Beyond `most` levels points lie upon each other again.

    Examples
    --------
    >>> stacked([0.0, 0.1, 0.2, 5.0], 1.0, 9)
    [0, 1, -1, 0]
    """
    last: dict[int, float] = {}
    order = [0, *(sign * n for n in range(1, most // 2 + 1) for sign in (1, -1))]
    levels = []
    for position in positions:
        free = (n for n in order if position - last.get(n, -math.inf) >= size)
        level = next(free, min(order, key=lambda n: (last.get(n, -math.inf), abs(n))))
        last[level] = position
        levels.append(level)
    return levels


def spread(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Ascending positions moved as little as it takes to stand `gap` apart between `low` and `high`.

    Examples
    --------
    >>> spread([4.0, 4.0, 9.0], 2.0, 0.0, 10.0)
    [3.0, 5.0, 9.0]
    """
    # Clusters that touch become one, centred on what its members want: first place and members of each.
    clusters: list[tuple[float, list[float]]] = []
    for position in positions:
        clusters.append((position, [position]))
        while len(clusters) > 1 and clusters[-1][0] < clusters[-2][0] + gap * len(clusters[-2][1]):
            wants = clusters[-2][1] + clusters.pop()[1]
            clusters[-1] = (sum(w - gap * i for i, w in enumerate(wants)) / len(wants), wants)
    placed = [first + gap * i for first, wants in clusters for i in range(len(wants))]
    ceiling = high
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - gap
    floor = low
    for i in range(len(placed)):
        placed[i] = max(placed[i], floor)
        floor = placed[i] + gap
    return placed


def line_of(panel: Panel, roof: Roof, x: Span, y: Span) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Both ends of a roof as intensity and rate, inside the axes; a sloped one ends at the compute roof."""
    if roof.slope is None:
        level = roof.level or 0.0
        if not y.holds(level):
            return None
        ridge = level / (panel.roofs[0].slope or math.inf)
        # A flat roof begins where DRAM reaches it: before that it bounds nothing.
        return ((max(ridge, x.low), level), (x.high, level)) if ridge < x.high else None
    top = min(panel.ceiling or y.high, y.high)
    left, right = max(x.low, y.low / roof.slope), min(x.high, top / roof.slope)
    return ((left, left * roof.slope), (right, right * roof.slope)) if left < right else None


def name_place(panel: Panel, roof: Roof, line: tuple[tuple[float, float], tuple[float, float]]) -> float:
    """The intensity at which the name of a sloped roof is centred: right of the entries where there is room.

    The fastest card's DRAM is named left of them, or its name would lie on that of the slowest card's.
    """
    left, right = line[0][0], line[1][0]
    own = [i for i in panel.intensities if left < i < right]
    if roof.kind == "variant":
        return math.sqrt(left * min([*own, right]))
    if own and right / max(own) > 4:
        left = max(own)
        return float(left * (right / left) ** _NAME_PLACE)
    return math.sqrt(left * right)


def named_above(panel: Panel, roof: Roof) -> bool:
    """Whether a roof's name stands above its line: of two flat ones the higher, of the sloped ones all but measured."""
    if roof.slope is not None:
        return roof.kind in _UPPER_KINDS
    higher = max((r.level or 0.0 for r in panel.roofs if r.level), default=0.0)
    return roof.level == higher


def ratio_ticks(panel: Panel, y: Span) -> list[tuple[float, float]]:
    """Ticks of the axis on the right: ratios to the roof at the entries' intensity, and their rates."""
    if panel.reference is None:
        return []
    roof = panel.reference[1]
    return [(ratio, ratio * roof) for ratio in Span(y.low / roof, y.high / roof).ticks()]


def rate_label(rate: float) -> str:
    """A rate on an axis, such as "10 TFLOP/s"."""
    return show(rate, "rate")


def plain_label(value: float) -> str:
    """A number on an axis, without powers of ten where it is short."""
    return f"{value:g}" if 1e-4 < value < 1e6 else f"{value:.0e}"
