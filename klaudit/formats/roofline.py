"""The roofs of cards, and of one workload on them: a table and a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TextIO

from klaudit.formats import View
from klaudit.formats.chart import CHARACTERS, Curve, chart
from klaudit.formats.json_ import SCHEMA, dumps, text
from klaudit.formats.lines import LEAST_WIDTH, Line, columns, paragraph, write_lines
from klaudit.formats.numbers import plain, rounded, unit_of, whole
from klaudit.formats.provenance import Stamp
from klaudit.formats.text import can_show, clean
from klaudit.report import Roofs
from klaudit.units import show

_LETTERS: Final = "abcdefghij"
_MOST_CURVES: Final = len(_LETTERS)
_ABSENT: Final = "-"


class Card(NamedTuple):
    """The roofs of a card; `served_as` is the label that it was found by, where that is another card's name."""

    roofs: Roofs
    served_as: str = ""


def write_table(cards: Sequence[Card], out: TextIO, view: View, stamp: Stamp) -> None:
    """Write the roofs as a table and a chart."""
    width = max(view.width, LEAST_WIDTH)
    fancy = can_show(getattr(out, "encoding", None), CHARACTERS)
    write_lines(_page(cards, width, view.units == "binary", fancy, stamp), out, view.color)


def _page(cards: Sequence[Card], width: int, binary: bool, fancy: bool, stamp: Stamp) -> Iterator[Line]:
    yield from _heading(cards, width)
    if binary:
        yield from paragraph(
            "Binary reading: every GB/s read as GiB/s, so memory counts 1.0737 times. It explains published figures;"
            " bus width times clock is decimal, and nothing is acquitted by it.",
            width,
        )
    yield ()
    yield from columns(*_table(cards, binary), width, left=2, squeeze=1)
    yield ()
    yield from _remarks(cards, width)
    if len(cards) > _MOST_CURVES:
        yield (f"The chart shows up to {_MOST_CURVES} cards: name some with --gpu.",)
    else:
        curves = [
            Curve(letter, _bandwidth(card.roofs, binary), card.roofs.peak.rate if card.roofs.peak else None)
            for letter, card in zip(_LETTERS, cards, strict=False)
        ]
        yield from ((line,) for line in chart(curves, _intensity(cards), width, fancy))
    yield ()
    yield from stamp.lines(width)[:1]


def _heading(cards: Sequence[Card], width: int) -> list[Line]:
    roofs = cards[0].roofs
    if roofs.workload is None:
        return paragraph("The roofs of the cards; name a --workload to see its own.", width)
    sizes = ", ".join(f"{name} = {whole(value)}" for name, value in roofs.sizes.items())
    said = f"{roofs.workload.name} ({roofs.workload.id}), {roofs.dtype}" + (f", {sizes}" if sizes else "")
    if roofs.intensity is not None:
        said += f": {plain(roofs.intensity, 4)} FLOP/B"
    if roofs.traffic is not None:
        said += f", {show(roofs.traffic, 'bytes')} of compulsory traffic"
    return paragraph(clean(said), width)


def _table(cards: Sequence[Card], binary: bool) -> tuple[list[str], list[list[str]]]:
    all_rates = [r for c in cards for r in (c.roofs.dram, c.roofs.port, c.roofs.compute, c.roofs.special) if r]
    peaks = [c.roofs.peak.rate for c in cards if c.roofs.peak]
    unit, scale = unit_of(all_rates, "rate") if all_rates else unit_of(peaks, "rate")
    with_workload = cards[0].roofs.workload is not None
    floors = [c.roofs.floor for c in cards if c.roofs.floor is not None]
    floor_unit, floor_scale = unit_of(floors, "time")
    decimals = max(0, 3 - math.floor(math.log10(min(floors) / floor_scale))) if floors else 0
    byte = "GiB/s" if binary else "GB/s"
    header = ["", "card", byte, *(("dram",) if with_workload else ()), f"port{'' if with_workload else ' ' + byte}"]
    header += [
        "compute",
        *(("special",) if with_workload else ()),
        "ridge",
        *((f"floor {floor_unit}",) if floors else ()),
    ]
    rows = []
    letters = _LETTERS if len(cards) <= _MOST_CURVES else [""] * len(cards)
    for letter, card in zip(letters, cards, strict=False):
        roofs = card.roofs
        gpu = roofs.gpu
        compute = roofs.compute if with_workload else (roofs.peak.rate if roofs.peak else None)
        row = [letter, gpu.id + ("*" if card.served_as else ""), _fixed(gpu.bandwidth, 1e9)]
        if with_workload:
            row += [_fixed(_dram(roofs, binary), scale), _fixed(roofs.port, scale)]
        else:
            row += [_fixed(gpu.port_bandwidth, 1e9)]
        row += [_fixed(compute, scale), *([_fixed(roofs.special, scale)] if with_workload else [])]
        ridge = _ridge(roofs, binary)
        row.append(_ABSENT if ridge is None else f"{ridge:.2f}")
        if floors:
            row.append(_ABSENT if roofs.floor is None else f"{roofs.floor / floor_scale:.{decimals}f}")
        rows.append(row)
    named = {"dram": f"dram {unit}"} if with_workload else {"compute": f"compute {unit}"}
    return [named.get(name, name) for name in header], rows


def _remarks(cards: Sequence[Card], width: int) -> Iterator[Line]:
    pipes: dict[str, list[str]] = {}
    for card in cards:
        if card.roofs.peak is not None:
            pipes.setdefault(card.roofs.peak.label, []).append(card.roofs.gpu.id)
    # The pipe of most cards goes without saying whose it is.
    usual = max(pipes, key=lambda label: len(pipes[label]), default="none known")
    others = [f"{label} on {', '.join(ids)}" for label, ids in pipes.items() if label != usual]
    which = "; ".join([usual, *others])
    if cards[0].roofs.workload is not None:
        yield from paragraph(
            "All rates in the unit of the dram column. dram: bandwidth times intensity. port: what the caches can hand"
            f" out. compute: the best dense pipe ({which}). special: logarithms and exponentials on"
            " their own units, shown and never judged. ridge: FLOP/B at which dram and compute meet.",
            width,
        )
    else:
        yield from paragraph(f"compute: the best dense pipe ({which}).", width)
    for label in dict.fromkeys(card.served_as for card in cards if card.served_as):
        yield from paragraph(f"* can be served under the name {clean(label)}.", width)
    yield ()


def _fixed(value: float | None, scale: float) -> str:
    return _ABSENT if value is None else f"{value / scale:.1f}"


def reading(roofs: Roofs, binary: bool) -> float:
    """What memory counts under a reading: the binary one takes the figure as it is printed, with GiB for GB."""
    bandwidth = roofs.gpu.bandwidth
    return round(bandwidth / 1e9, 1) * 2**30 / bandwidth if binary else 1.0


def _dram(roofs: Roofs, binary: bool) -> float | None:
    return None if roofs.dram is None else roofs.dram * reading(roofs, binary)


def _ridge(roofs: Roofs, binary: bool) -> float | None:
    return None if roofs.ridge_point is None else roofs.ridge_point / reading(roofs, binary)


def _bandwidth(roofs: Roofs, binary: bool) -> float:
    return roofs.gpu.bandwidth * reading(roofs, binary)


def _intensity(cards: Sequence[Card]) -> float | None:
    return next((c.roofs.intensity for c in cards if c.roofs.intensity), None)


def write_json(cards: Sequence[Card], out: TextIO, view: View, stamp: Stamp) -> None:
    """Write the roofs as one JSON object."""
    head = {"schema": SCHEMA, **stamp.json(), "units": view.units}
    roofs = [_object(card, view.units == "binary") for card in cards]
    out.write(dumps({**head, "roofs": roofs}) + "\n")


def _object(card: Card, binary: bool) -> dict[str, Any]:
    roofs = card.roofs
    port = roofs.gpu.port_bandwidth
    ridge = _ridge(roofs, binary)
    return {
        "gpu": roofs.gpu.id,
        "name": text(roofs.gpu.name),
        "served_as": text(card.served_as) or None,
        "workload": roofs.workload.id if roofs.workload else None,
        "dtype": roofs.dtype or None,
        "sizes": {name: whole(value) for name, value in roofs.sizes.items()},
        "intensity": rounded(roofs.intensity),
        "gb_per_s": rounded(_bandwidth(roofs, binary) / 1e9),
        "port_gb_per_s": None if port is None else rounded(port / 1e9),
        "pipe": roofs.peak.label if roofs.peak else None,
        "peak_gflops": rounded(roofs.peak.rate / 1e9) if roofs.peak else None,
        "ridge_point": rounded(ridge),
        "dram_gflops": _gflops(_dram(roofs, binary)),
        "port_gflops": _gflops(roofs.port),
        "compute_gflops": _gflops(roofs.compute),
        "special_gflops": _gflops(roofs.special),
        "traffic_bytes": rounded(roofs.traffic, 15),
        "floor_us": None if roofs.floor is None else rounded(roofs.floor / 1e-6),
    }


def _gflops(rate: float | None) -> float | None:
    return None if rate is None else rounded(rate / 1e9)


FORMATS: Final[Mapping[str, Callable[[Sequence[Card], TextIO, View, Stamp], None]]] = {
    "table": write_table,
    "json": write_json,
}
