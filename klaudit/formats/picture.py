"""What a picture of a board shows: its panels of roofs, its points, its strip of ratios. Numbers only, no drawing.

One reading of an audit for every drawer, so that a plot and a page never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from klaudit.formats import numbers
from klaudit.formats.provenance import Stamp
from klaudit.formats.text import clean, listed, plural
from klaudit.report import Audit, Background, Roofs, RowReport
from klaudit.units import show
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from klaudit.formats.roofline import Card

RoofKind = Literal["dram", "variant", "measured", "port", "compute", "special"]

MOST_PANELS: Final = 6
MOST_LANES: Final = 12
# How far from its roof an entry is drawn at most.
_FARTHEST: Final = 1e6
MOST_LABELS: Final = 12
# Points of a card drawn at most: more than this nobody can tell apart.
MOST_MARKS: Final = 1500
_MOST_PIPES: Final = 3
_NAME_CELLS: Final = 200
# Worst first, as people look for it.
ORDER: Final = (
    Verdict.INCONSISTENT, Verdict.IMPOSSIBLE, Verdict.CONDITIONAL, Verdict.UNJUDGED, Verdict.WITHIN,
)  # fmt: skip


class Roof(NamedTuple):
    """One roof: sloped, `slope` times the intensity [B/s], or flat at `level` [FLOP/s]."""

    kind: RoofKind
    name: str
    slope: float | None = None
    level: float | None = None

    def at(self, intensity: float) -> float:
        """The roof at an intensity [FLOP/s]."""
        return intensity * self.slope if self.slope is not None else (self.level or math.inf)


class Mark(NamedTuple):
    """One entry: where it stands against its roof, and its place in the order of the input.

    `rate` is its ratio times the roof at its intensity: the reported rate, wherever all cases have one intensity.
    """

    place: int
    name: str
    verdict: Verdict
    ratio: float
    limit_ratio: float | None
    intensity: float | None = None
    rate: float | None = None


class Panel(NamedTuple):
    """The roofs of one card, or of the cards that one label can mean, and the entries on it."""

    title: str
    roofs: tuple[Roof, ...]
    intensities: tuple[float, ...]
    marks: tuple[Mark, ...] = ()
    limit: float | None = None

    @property
    def reference(self) -> tuple[float, float] | None:
        """The one intensity of all entries and the roof there; None where they differ."""
        if len(self.intensities) != 1:
            return None
        return self.intensities[0], self.roof_at(self.intensities[0])

    @property
    def ceiling(self) -> float | None:
        """The highest compute roof."""
        return max((r.level for r in self.roofs if r.kind == "compute" and r.level), default=None)

    def roof_at(self, intensity: float) -> float:
        """The roof without conditions at an intensity [FLOP/s]."""
        return min(r.at(intensity) for r in self.roofs if r.kind in ("dram", "compute"))

    def levels(self, short: bool) -> list[tuple[Literal["one", "limit"], str, float]]:
        """Roof and limit at the one intensity: which, what a picture says of it, and its rate [FLOP/s]."""
        if self.reference is None or not self.marks:
            return []
        roof = self.reference[1]
        limit = self.limit * roof if self.limit else None
        shown = numbers.together([roof, *([limit] if limit else [])], "rate")
        found: list[tuple[Literal["one", "limit"], str, float]] = [("one", f"roof {shown[0]}", roof)]
        if limit:
            found.append(("limit", f"{'limit' if short else 'impossible above'} {shown[1]}", limit))
        return found

    @property
    def labelled(self) -> tuple[Mark, ...]:
        """The impossible entries that the picture names, the highest first."""
        worst = [m for m in self.marks if m.verdict is Verdict.IMPOSSIBLE]
        return tuple(sorted(worst, key=lambda m: (-m.ratio, m.place))[:MOST_LABELS])


class Lane(NamedTuple):
    """The ratios of one card's entries in the strip; `limit` is the ratio above which they are impossible."""

    title: str
    marks: tuple[Mark, ...]
    limit: float | None


class Picture(NamedTuple):
    """A whole picture: panels, lanes, how many of each verdict, and what is said below."""

    title: str
    panels: tuple[Panel, ...]
    lanes: tuple[Lane, ...] = ()
    counts: Mapping[Verdict, int] = MappingProxyType({})
    caption: tuple[str, ...] = ()


def standing(row: RowReport) -> tuple[float, float | None] | None:
    """A row's score over its roof and over its limit; None where it has none.

    The score is the first rate that it reports, as boards rank by it, else the figure or case that is furthest up.
    A single case can be further up than the score.
    """
    for figure in row.reported:
        if figure.kind == "rate" and not figure.fastest:
            return figure.ratio, figure.limit_ratio
    return None if row.ratio is None else (row.ratio, row.limit_ratio)


@dataclass(slots=True)
class _Group:
    """The entries of one card, or of the cards that one label can mean."""

    labels: dict[str, None] = field(default_factory=dict)
    roofs: tuple[Roofs, ...] = ()
    marks: list[Mark] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The labels as written, and the cards that they mean."""
        cards = [r.gpu.id for r in _cards(self.roofs)]
        label = ", ".join(clean(label, 24) for label in list(self.labels)[:3]) or "no GPU named"
        if not cards or cards == [label]:
            return label
        return f"{label} ({listed(cards, 'or') if len(cards) < 3 else f'one of {len(cards)} cards'})"

    @property
    def weight(self) -> tuple[int, int, int]:
        """Groups with most to say come first."""
        verdicts = [m.verdict for m in self.marks]
        worst = sum(v >= Verdict.IMPOSSIBLE for v in verdicts)
        return worst, len(verdicts) - verdicts.count(Verdict.WITHIN), len(verdicts)


def of_audit(audit: Audit, rows: Iterable[RowReport] | None = None) -> Picture:
    """The picture of an audit; `rows` are those to draw, all of them where nothing else is said."""
    background = audit.background()
    groups, drawn = _gathered(audit.rows() if rows is None else rows, background)
    panels = [g for g in groups if any(m.rate is not None for m in g.marks)]
    said = [*_counted(audit, drawn), *_below_limit(groups), *_left_out(len(panels), len(groups))]
    shown = sum(min(len(g.marks), MOST_MARKS) for g in groups[:MOST_LANES])
    if shown < drawn:
        said.append(f"{shown} of {plural(drawn, 'point')} drawn: the flagged ones first, evenly spaced.")
    for group in groups:
        group.marks = _thinned(group.marks)
    name = background.board.name if background.board else audit.board or audit.workload or "Leaderboard"
    return Picture(
        title=clean(name, 80),
        panels=tuple(_panel(g) for g in panels[:MOST_PANELS]),
        lanes=tuple(Lane(g.title, tuple(g.marks), _limit(g.marks)) for g in groups[:MOST_LANES]),
        counts={v: audit.summary.counts[v] for v in ORDER},
        caption=(*said, _source(Stamp.of(audit))),
    )


def of_cards(cards: Sequence[Card], stamp: Stamp, binary: bool = False) -> Picture:
    """The picture of cards' roofs alone; `binary` reads memory's GB/s as GiB/s."""
    from klaudit.formats.roofline import reading

    panels = []
    for card in cards[:MOST_PANELS]:
        served = f", can be served as {clean(card.served_as, 24)}" if card.served_as else ""
        intensity = (card.roofs.intensity,) if card.roofs.intensity else ()
        roofs = _roofs((card.roofs,), reading(card.roofs, binary))
        panels.append(Panel(f"{card.roofs.gpu.name}{served}", roofs, intensity))
    workload = cards[0].roofs.workload
    title = f"{workload.name}, {cards[0].roofs.dtype}" if workload else "Roofs"
    said = [f"{len(cards) - MOST_PANELS} more cards are not drawn: name some with --gpu."] * (len(cards) > MOST_PANELS)
    said += ["Binary reading: every GB/s of memory read as GiB/s."] * binary
    return Picture(clean(title, 80), tuple(panels), caption=(*said, _source(stamp)))


def _source(stamp: Stamp) -> str:
    board = f"Board {clean(stamp.board)}, specs" if stamp.board else "Specs"
    return f"{board} of {stamp.specs_date} (sha256 {stamp.specs_sha256[:12]}), klaudit {stamp.version}."


def _counted(audit: Audit, drawn: int) -> Iterator[str]:
    counts = audit.summary.counts
    each = ", ".join(f"{counts[v]} {v}" for v in ORDER if counts[v])
    yield f"{plural(audit.summary.rows, 'row')}: {each or 'nothing'}."
    missing = audit.summary.rows - drawn
    if missing:
        yield f"{plural(missing, 'row')} without a place in the picture."


def _below_limit(groups: Iterable[_Group]) -> Iterator[str]:
    worst = [m for g in groups for m in g.marks if m.verdict is Verdict.IMPOSSIBLE]
    below = sum(m.limit_ratio is not None and m.limit_ratio <= 1 for m in worst)
    if below:
        what = "lie below the limit line: a single case or a time gives them away."
        yield f"{below} of {len(worst)} impossible ones {what}"


def _left_out(panels: int, groups: int) -> Iterator[str]:
    if panels > MOST_PANELS:
        yield f"Roofs of {MOST_PANELS} of {panels} cards, those with most to say."
    if groups > MOST_LANES:
        yield f"Ratios of {MOST_LANES} of {groups} cards."


def _gathered(rows: Iterable[RowReport], background: Background) -> tuple[list[_Group], int]:
    """The entries by card, those with most to say first, and how many there are."""
    groups: dict[object, _Group] = {}
    count = 0
    for place, row in enumerate(rows):
        found = standing(row)
        if found is None or not found[0] > 0:
            continue
        # Beyond a factor of a million an entry stands at the edge: the axis must still show the others.
        ratio = min(max(found[0], 1 / _FARTHEST), _FARTHEST) if math.isfinite(found[0]) else found[0]
        count += 1
        roofs = background.labels.get(row.gpu, ())
        # One card under two labels is one card.
        key = tuple((r.gpu.id, r.gpu.cards) for r in _cards(roofs)) or row.gpu
        group = groups.setdefault(key, _Group(roofs=roofs))
        group.labels[row.gpu] = None
        group.marks.append(_mark(place, row, ratio, found[1], roofs))
    return sorted(groups.values(), key=lambda g: g.weight, reverse=True), count


def _mark(place: int, row: RowReport, ratio: float, limit_ratio: float | None, roofs: tuple[Roofs, ...]) -> Mark:
    name = clean(row.entry, _NAME_CELLS) or f"line {row.line}"
    intensity = row.intensity if row.intensity else None
    rate = None
    if intensity is not None and roofs:
        own = [r for r in roofs if r.workload is None or (r.workload.id == row.workload and r.dtype == row.dtype)]
        slowest = min(own or roofs, key=lambda r: r.gpu.bandwidth)
        peak = slowest.peak.rate if slowest.peak else math.inf
        rate = ratio * min(slowest.gpu.bandwidth * intensity, peak)
    return Mark(place, name, row.verdict, ratio, limit_ratio, intensity, rate)


def _thinned(marks: list[Mark]) -> list[Mark]:
    """At most MOST_MARKS of them: as many flagged ones as fit, then others, evenly spaced by ratio; finite ratios."""
    top = max((m.ratio for m in marks if math.isfinite(m.ratio)), default=1.0)
    marks = [m if math.isfinite(m.ratio) else m._replace(ratio=10 * top, rate=None) for m in marks]
    flagged = _evenly([m for m in marks if m.verdict is not Verdict.WITHIN], MOST_MARKS)
    within = [m for m in marks if m.verdict is Verdict.WITHIN]
    # The mildest first, so that what matters lies on top.
    kept = [*_evenly(within, MOST_MARKS - len(flagged)), *flagged]
    return sorted(kept, key=lambda m: (m.verdict, m.ratio, m.place))


def _evenly(marks: list[Mark], most: int) -> list[Mark]:
    if len(marks) <= most:
        return marks
    ranked = sorted(marks, key=lambda m: (m.ratio, m.place))
    if most < 2:
        return ranked[len(ranked) - most :]
    return [ranked[i * (len(ranked) - 1) // (most - 1)] for i in range(most)]


def _limit(marks: Iterable[Mark]) -> float | None:
    """The ratio of limit to roof, where it is one for all of them."""
    found = [m.ratio / m.limit_ratio for m in marks if m.limit_ratio and m.verdict is not Verdict.INCONSISTENT]
    if not found or max(found) > 1.01 * min(found):
        return None
    return found[0]


def _panel(group: _Group) -> Panel:
    intensities = sorted({float(f"{m.intensity:.6g}") for m in group.marks if m.intensity is not None})
    marks = tuple(m for m in group.marks if m.rate is not None)
    return Panel(group.title, _roofs(group.roofs), tuple(intensities), marks, _limit(marks))


def _cards(roofs: Sequence[Roofs]) -> list[Roofs]:
    """One of the roofs of each card, the slowest card first."""
    once = {(r.gpu.id, r.gpu.cards): r for r in reversed(roofs)}
    return sorted(once.values(), key=lambda r: (r.gpu.bandwidth, r.gpu.id))


def _roofs(roofs: Sequence[Roofs], reading: float = 1.0) -> tuple[Roof, ...]:
    """What is drawn: all roofs of the slowest card, and the DRAM roof of the fastest; `reading` scales DRAM's."""
    cards = _cards(roofs)
    slowest, fastest = cards[0], cards[-1]
    gpu = slowest.gpu
    bandwidth = gpu.bandwidth * reading
    found = [Roof("dram", f"DRAM {show(bandwidth, 'bandwidth')}", bandwidth)]
    if fastest.gpu.bandwidth > gpu.bandwidth * 1.001:
        named = f"fastest {show(fastest.gpu.bandwidth, 'bandwidth')}"
        found.append(Roof("variant", named, fastest.gpu.bandwidth))
    if gpu.measured_bandwidth is not None:
        named = f"measured {show(gpu.measured_bandwidth, 'bandwidth')}"
        found.append(Roof("measured", named, gpu.measured_bandwidth))
    if gpu.port_bandwidth is not None:
        # A port moves both ways at once: in bytes of DRAM traffic its slope depends on the workload.
        slope = slowest.port / slowest.intensity if slowest.port and slowest.intensity else gpu.port_bandwidth
        found.append(Roof("port", f"cache port {show(gpu.port_bandwidth, 'bandwidth')}", slope))
    pipes = {r.peak.label: r.peak.rate for r in roofs if r.peak and r.gpu.id == gpu.id}
    for label, rate in sorted(pipes.items(), key=lambda item: -item[1])[:_MOST_PIPES]:
        found.append(Roof("compute", f"{label} {show(rate, 'rate')}", level=rate))
    if slowest.special is not None:
        found.append(Roof("special", f"special {show(slowest.special, 'rate')}", level=slowest.special))
    return tuple(found)


def far(mark: Mark) -> str:
    """A mark's name and ratio, as labels and hints say it."""
    return f"{mark.name}  {numbers.ratio(mark.ratio)} x"
