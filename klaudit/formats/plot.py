"""The picture as a file, with matplotlib: SVG, PNG or PDF, the same bytes every time. Only here is it imported."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from klaudit.errors import UsageError
from klaudit.formats import layout, numbers
from klaudit.formats.layout import Span
from klaudit.formats.picture import ORDER, Lane, Mark, Panel, Picture, Roof
from klaudit.formats.text import cut
from klaudit.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS: Final = ("svg", "png", "pdf")
# Nothing of the moment or of the machine.
_METADATA: Final = {
    "svg": {"Date": None, "Creator": "klaudit"},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": "klaudit", "Creator": "klaudit"},
}
_STYLE: Final = {
    "svg.hashsalt": "klaudit",
    # Text stays text: it can be read aloud, found and copied, and a file stays small.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.linewidth": 0.8,
    "axes.edgecolor": "#b9b9b3",
    "axes.axisbelow": True,
    "text.parse_math": False,
}
_INK, _SOFT, _FAINT = "#1c1e21", "#5b6168", "#e6e6e1"
# Okabe and Ito's colours, told apart by the colour-blind; shape and filling tell them apart in grey.
LOOKS: Final = {
    Verdict.WITHIN: ("o", "#0072b2", 4.2),
    Verdict.CONDITIONAL: ("D", "#e69f00", 5.0),
    Verdict.IMPOSSIBLE: ("^", "#d55e00", 6.4),
    Verdict.INCONSISTENT: ("s", "#cc79a7", 5.2),
    Verdict.UNJUDGED: ("+", "#6b7178", 5.0),
}
_LIMIT: Final = "#b54600"
_DPI: Final = 150
# Sizes in inches; a dot in points.
_WIDTH: Final = 10.0
_ONE_HEIGHT, _SEVERAL_HEIGHT = 4.9, 3.9
_LANE, _LANE_LEVEL = 0.34, 0.065
_SMALL: Final = 400.0
_DOT: Final = 4.9
_SMALL_LEVELS, _MOST_LEVELS, _ONE_LANE_LEVELS = 9, 15, 21
_LETTER: Final = 4.9
_LEAST_NAME: Final = 10


def kind_of(file: str) -> str:
    """What a file's name asks for, with matplotlib at hand: found out before anything is judged.

    Raises
    ------
    UsageError
        Where the name ends in nothing known, or matplotlib is not installed.
    """
    kind = file.rpartition(".")[2].lower()
    if kind not in KINDS or "." not in file:
        raise UsageError(f"--plot {file!r} ends in nothing known. Name a file that ends in .svg, .png or .pdf")
    if find_spec("matplotlib") is None:
        raise UsageError(
            "--plot needs matplotlib, which is not installed. Install it with: pip install 'klaudit[plot]'"
            " (--format html draws its picture without it)"
        )
    return kind


def render(picture: Picture, kind: str) -> bytes:
    """The picture as the bytes of a file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    out = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes: no reason to stop.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = _draw(picture, Figure)
        figure.savefig(out, format=kind, dpi=_DPI, metadata=_METADATA[kind], facecolor="white")
    return out.getvalue()


def _draw(picture: Picture, figure_type: type[Figure]) -> Figure:
    columns = 1 if len(picture.panels) == 1 else 2
    rows = math.ceil(len(picture.panels) / columns)
    tall = _ONE_HEIGHT if columns == 1 else _SEVERAL_HEIGHT
    caption = _wrapped(picture.caption)
    below = 0.3 + 0.16 * len(caption)
    lanes = _Lanes(picture.lanes)
    head = 0.75
    height = head + rows * tall + lanes.height + below
    figure = figure_type(figsize=(_WIDTH, height))
    page = _Page(figure, height)
    page.text(0.25, 0.36, picture.title, size=13, weight="bold")
    _legend(page, picture)
    if picture.panels:
        x, y = layout.panel_spans(picture.panels)
        wide = _WIDTH / columns
        for i, panel in enumerate(picture.panels):
            top, left = head + (i // columns) * tall, (i % columns) * wide
            axes = page.axes(left + 0.95, top + 0.35, wide - 1.6, tall - 0.95)
            _Drawn(axes, panel, x, y, ((wide - 1.6) * 72, (tall - 0.95) * 72)).all()
    if picture.lanes:
        lanes.draw(page, head + rows * tall)
    for i, line in enumerate(caption):
        page.text(0.25, height - below + 0.2 + 0.16 * i, line, size=8, color=_SOFT)
    return figure


def _wrapped(sentences: Sequence[str]) -> list[str]:
    """A caption in lines that fit."""
    from klaudit.formats.text import wrap

    return wrap(" ".join(sentences), 150)


class _Page:
    """A figure measured in inches from its upper left corner."""

    def __init__(self, figure: Figure, height: float) -> None:
        self.figure, self.height = figure, height

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes in a rectangle."""
        bottom = self.height - top - height
        box = (left / _WIDTH, bottom / self.height, width / _WIDTH, height / self.height)
        return self.figure.add_axes(box)

    def text(self, left: float, top: float, text: str, **look: Any) -> None:
        """A text by its baseline's start."""
        self.figure.text(left / _WIDTH, 1 - top / self.height, text, **{"color": _INK, **look})


def _legend(page: _Page, picture: Picture) -> None:
    counted = [(v, picture.counts[v]) for v in ORDER if picture.counts.get(v) and v is not Verdict.UNJUDGED]
    if not counted:
        return
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle="", label=f"{count} {v}", **_look(v)) for v, count in counted]
    page.figure.legend(
        handles=handles, loc="upper right", bbox_to_anchor=(1 - 0.2 / _WIDTH, 1 - 0.12 / page.height),
        ncols=len(handles), frameon=False, handletextpad=0.2, columnspacing=1.4,
    )  # fmt: skip


def _look(verdict: Verdict) -> dict[str, Any]:
    marker, color, size = LOOKS[verdict]
    look: dict[str, Any] = {"marker": marker, "markersize": size, "markeredgewidth": 0.7, "markerfacecolor": color}
    if verdict is Verdict.WITHIN:
        return {**look, "markerfacecolor": f"{color}55", "markeredgecolor": color}
    return {**look, "markeredgecolor": color if marker == "+" else _INK}


def _marks(axes: Axes, marks: Sequence[Mark], places: Sequence[tuple[float, float]]) -> None:
    """Each verdict's marks in one go, the worst on top."""
    for depth, verdict in enumerate(reversed(ORDER)):
        own = [place for mark, place in zip(marks, places, strict=True) if mark.verdict is verdict]
        if own:
            axes.plot(*zip(*own, strict=True), linestyle="", zorder=5 + depth, clip_on=False, **_look(verdict))


@contextmanager
def _plain_axes(axes: Axes, x: Span) -> Iterator[None]:
    """A logarithmic axis with ticks of our own below, and no frame but what is asked for."""
    axes.set_xscale("log")
    axes.set_xlim(x.low, x.high)
    yield
    axes.minorticks_off()
    axes.tick_params(length=0, labelcolor=_SOFT, labelsize=8)
    axes.grid(True, color=_FAINT, linewidth=0.7)


class _Drawn:
    """One panel being drawn; `size` is that of its axes in points."""

    def __init__(self, axes: Axes, panel: Panel, x: Span, y: Span, size: tuple[float, float]) -> None:
        self.axes, self.panel, self.x, self.y, self.size = axes, panel, x, y, size
        self.small = size[0] < _SMALL
        self.letters = 7.0 if self.small else 8.0

    def all(self) -> None:
        """Axes, roofs and entries."""
        axes = self.axes
        with _plain_axes(axes, self.x):
            axes.set_yscale("log")
            axes.set_ylim(self.y.low, self.y.high)
            axes.set_xticks(self.x.decades(), [layout.plain_label(v) for v in self.x.decades()])
            axes.set_yticks(self.y.decades(), [layout.rate_label(v) for v in self.y.decades()])
        axes.set_xlabel("FLOP per byte of DRAM traffic", color=_SOFT, fontsize=8)
        axes.set_title(self.panel.title, loc="left", fontsize=9.5, fontweight="bold", color=_INK, pad=14)
        self._ratios()
        for roof in self.panel.roofs:
            self._roof(roof)
        self._entries()

    def _ratios(self) -> None:
        """The axis on the right: the entries' ratio to their roof."""
        ticks = layout.ratio_ticks(self.panel, self.y)
        if self.panel.reference is None or not ticks:
            return
        intensity, roof = self.panel.reference
        right = self.axes.twinx()
        right.set_yscale("log")
        right.set_ylim(self.y.low / roof, self.y.high / roof)
        right.set_yticks([r for r, _ in ticks], [layout.plain_label(r) for r, _ in ticks])
        right.minorticks_off()
        right.tick_params(length=3, color=_SOFT, labelcolor=_SOFT, labelsize=8)
        right.set_title("x the roof", loc="right", fontsize=8, color=_SOFT, pad=4)
        for kind, said, rate in self.panel.levels(self.small):
            if self.y.holds(rate):
                self._level(kind == "limit", said, intensity, rate)

    def _level(self, limit: bool, said: str, intensity: float, rate: float) -> None:
        """Roof or limit at the entries' intensity; right of the entries and below the roofs there is room."""
        look: dict[str, Any] = {"color": _LIMIT, "linewidth": 1.2} if limit else {"color": _INK, "dashes": (4, 3)}
        start = self._moved(intensity, -25 if limit else 0)
        self.axes.plot([start, self.x.high], [rate, rate], **{"linewidth": 0.8, **look}, zorder=2)
        self.axes.annotate(
            said, (self.x.high, rate), xytext=(-4, 3 if limit else -3), textcoords="offset points", ha="right",
            va="bottom" if limit else "top", fontsize=self.letters, color=look["color"], zorder=4,
        )  # fmt: skip

    def _roof(self, roof: Roof) -> None:
        line = layout.line_of(self.panel, roof, self.x, self.y)
        if line is None:
            return
        (x1, y1), (x2, y2) = line
        soft = roof.kind in ("port", "special", "measured")
        style: dict[str, Any] = {
            "color": _SOFT if roof.kind in ("port", "special") else _INK,
            "linewidth": 1.0,
            "zorder": 3,
        }
        style |= {"measured": {"dashes": (6, 4)}, "special": {"dashes": (2, 3)}}.get(roof.kind, {})
        style |= {"linewidth": 1.7} if roof.kind in ("dram", "compute") else {}
        self.axes.plot([x1, x2], [y1, y2], **style)
        shift = 3 if layout.named_above(self.panel, roof) else -3
        look: dict[str, Any] = {"color": _SOFT if soft else _INK, "fontsize": self.letters, "zorder": 4}
        look |= {"va": "bottom" if shift > 0 else "top", "textcoords": "offset points"}
        if roof.slope is None:
            self.axes.annotate(roof.name, (self.x.high, y1), xytext=(-4, shift), ha="right", **look)
            return
        middle = layout.name_place(self.panel, roof, line)
        # Both axes are logarithmic, so every slope has one angle.
        rise = self.size[1] / math.log(self.y.high / self.y.low)
        angle = math.degrees(math.atan2(rise, self.size[0] / math.log(self.x.high / self.x.low)))
        self.axes.annotate(
            roof.name, (middle, roof.at(middle)), xytext=(-shift * math.sin(math.radians(angle)), shift), ha="center",
            rotation=angle, rotation_mode="anchor", **look,
        )  # fmt: skip

    def _entries(self) -> None:
        panel = self.panel
        if panel.reference is not None:
            intensity = panel.reference[0]
            self.axes.axvline(intensity, color=_SOFT, linewidth=0.8, dashes=(1, 3), zorder=1)
            said = f"{numbers.plain(intensity)} FLOP/B"
            self.axes.annotate(said, (intensity, self.y.high), xytext=(0, 4), textcoords="offset points", ha="center",
                               fontsize=8, color=_SOFT)  # fmt: skip
        places = self._places()
        self._labels(places)
        _marks(self.axes, panel.marks, [places[m.place] for m in panel.marks])

    def _moved(self, intensity: float, points: float) -> float:
        """An intensity some points to the right."""
        return self.x.value(self.x.at(intensity) + points / self.size[0])

    def _height(self, rate: float) -> float:
        return self.size[1] * self.y.at(rate)

    def _places(self) -> dict[int, tuple[float, float]]:
        """Where each mark goes: entries of one intensity side by side."""
        columns: dict[float, list[Mark]] = {}
        for mark in self.panel.marks:
            columns.setdefault(round(self.size[0] * self.x.at(mark.intensity or self.x.low)), []).append(mark)
        found = {}
        for column in columns.values():
            column.sort(key=lambda m: (m.rate or 0.0, m.place))
            levels = layout.stacked(
                [self._height(m.rate or self.y.low) for m in column],
                _DOT,
                _SMALL_LEVELS if self.small else _MOST_LEVELS,
            )
            for mark, level in zip(column, levels, strict=True):
                x = self._moved(mark.intensity or self.x.low, level * _DOT)
                found[mark.place] = x, mark.rate or self.y.low
        return found

    def _labels(self, places: dict[int, tuple[float, float]]) -> None:
        """Names of the impossible entries, left of them: the area above the roof is empty there."""
        named = sorted(self.panel.labelled, key=lambda m: places[m.place][1])
        if not named:
            return
        edge = self._moved(min(x for x, _ in places.values()), -16)
        heights = layout.spread([self._height(places[m.place][1]) for m in named], 10.0, 8.0, self.size[1] - 8)
        room = int((self.size[0] * self.x.at(edge) - 8) / _LETTER)
        bend = self._moved(edge, 7)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
        for mark, height in zip(named, heights, strict=True):
            x, y = places[mark.place]
            level = self.y.value(height / self.size[1])
            self.axes.plot(
                [self._moved(edge, 1.5), bend, x], [level, y, y], color=_LIMIT, linewidth=0.5, alpha=0.7, zorder=4
            )
            ratio = f"  {numbers.ratio(mark.ratio)} x"
            said = cut(mark.name, max(room - len(ratio), _LEAST_NAME)) + ratio
            self.axes.text(edge, level, said, ha="right", va="center", fontsize=7.5,
                           color=_INK, bbox=box, zorder=4)  # fmt: skip


class _Lanes:
    """The strip: every entry's ratio, a lane for each card. Sizes in inches."""

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self.lanes = lanes
        self.span = layout.lane_span(lanes) if lanes else Span(0.1, 10.0)
        self.width = _WIDTH - 0.6
        most = _MOST_LEVELS if len(lanes) > 1 else _ONE_LANE_LEVELS
        self.ordered = [sorted(lane.marks, key=lambda m: (m.ratio, m.place)) for lane in lanes]
        self.levels = [
            layout.stacked([self.span.at(m.ratio) * self.width * 72 for m in marks], _DOT, most)
            for marks in self.ordered
        ]
        self.reach = [max((abs(n) for n in levels), default=0) * _LANE_LEVEL for levels in self.levels]
        self.area = sum(2 * r + _LANE + (0.14 if len(lanes) > 1 else 0) for r in self.reach)
        self.height = self.area + 0.85 if lanes else 0.0

    def draw(self, page: _Page, top: float) -> None:
        """Draw the lanes from `top` down."""
        page.text(0.25, top + 0.2, "Score over roof, every entry", size=9.5, weight="bold")
        axes = page.axes(0.3, top + 0.32, self.width, self.area)
        ticks = self.span.ticks(12)
        with _plain_axes(axes, self.span):
            axes.set_ylim(self.area, 0)
            axes.set_xticks(ticks, [layout.plain_label(t) for t in ticks])
            axes.set_yticks([])
        axes.spines[:].set_visible(False)
        axes.axvspan(1, self.span.high, color="#d55e00", alpha=0.06, linewidth=0, zorder=0)
        axes.axvline(1, color=_INK, linewidth=0.9, dashes=(4, 3), zorder=2)
        axes.set_xlabel("x the roof", color=_SOFT, fontsize=8, loc="right")
        y = 0.0
        for lane, marks, levels, reach in zip(self.lanes, self.ordered, self.levels, self.reach, strict=True):
            if len(self.lanes) > 1:
                axes.text(self.span.value(0.003), y + 0.12, lane.title, fontsize=8, color=_SOFT, va="center")
                y += 0.14
            middle = y + reach + _LANE / 2
            if lane.limit is not None:
                ends = [middle - reach - 0.12, middle + reach + 0.12]
                axes.plot([lane.limit] * 2, ends, color=_LIMIT, linewidth=1.4, zorder=3)
            _marks(axes, marks, [(m.ratio, middle + n * _LANE_LEVEL) for m, n in zip(marks, levels, strict=True)])
            y += 2 * reach + _LANE
