"""A card as the text of a spec that the strict reader takes: every figure with its source. No YAML library needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from klaudit.gpu import Gpu, Peak
from klaudit.provenance import Figure

# What YAML reads as nothing but text, outside flow mappings and in them.
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9 /().+_-]*[A-Za-z0-9)]|[0-9]+(?:\.[0-9]+)? [A-Za-z]+(?:/[a-z]+)?")
_WORDS: Final = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})
_MEASURED_FIRST: Final = "# Measured figures are the best achieved: they never accuse, a score above them gets a note."
_COUNTS: Final = frozenset({"processors.count", "processors.fp32_lanes"})
_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "memory": ("bus_width", "data_rate", "published_bandwidth"),
    "cache": ("l2", "infinity", "port"),
    "processors": ("count", "fp32_lanes", "special_functions"),
    "clock": ("boost", "maximum"),
    "timer": ("tick",),
}


def spec_text(gpu: Gpu, remark: str = "") -> str:
    """The spec of a card.

    Parameters
    ----------
    gpu : Gpu
        Taken once, not several together.
    remark : str
        A comment for the first line.
    """
    return "\n".join((*([f"# {remark}"] if remark else []), *_lines(gpu))) + "\n"


def _lines(gpu: Gpu) -> Iterator[str]:
    yield f"id: {gpu.id}"
    yield f"name: {_text(gpu.name)}"
    yield f"vendor: {gpu.vendor}"
    yield f"architecture: {_text(gpu.architecture)}"
    if gpu.compute_capability:
        yield f'compute_capability: "{gpu.compute_capability}"'
    yield f"aliases: [{', '.join(map(_text, gpu.aliases))}]"
    yield f"labels: [{', '.join(map(_text, gpu.labels))}]"
    for section, names in _SECTIONS.items():
        figures = [(name, [f for f in gpu.figures if f.name == f"{section}.{name}"]) for name in names]
        if any(found for _, found in figures):
            yield f"{section}:"
            yield from _beside(gpu, section)
            for name, found in figures:
                yield from _figures(name, found)
    yield from _list("peaks", (_peak(peak) for peak in gpu.peaks))
    if gpu.measured:
        yield _MEASURED_FIRST
    yield from _list(
        "measured",
        (
            {"quantity": m.quantity, "value": _text(m.text), "conditions": _text(m.conditions), "source": m.source}
            for m in gpu.measured
        ),
    )
    yield from _list(
        "deviations",
        ({"figure": d.figure, "percent": f"{d.percent:g}", "reason": _text(d.reason)} for d in gpu.deviations),
    )
    if gpu.notes:
        yield "notes:"
        yield from (f"  - {json.dumps(note, ensure_ascii=False)}" for note in gpu.notes)
    yield "sources:"
    for source in gpu.sources:
        yield f"  {source.key}: {_flow({'where': _text(source.where), 'kind': source.kind, 'how': source.how})}"


def _beside(gpu: Gpu, section: str) -> Iterator[str]:
    """What a section says besides its figures."""
    if section == "memory":
        yield f"  type: {_text(gpu.memory_type or 'unknown')}"
        yield f"  compression: {gpu.memory_compression}"
    if section == "clock":
        yield f"  overclockable: {'true' if gpu.overclockable else 'false'}"


def _figures(name: str, figures: Sequence[Figure]) -> Iterator[str]:
    if len(figures) == 1:
        yield f"  {name}: {_flow(_figure(figures[0]))}"
    elif figures:
        yield f"  {name}:"
        yield from (f"    - {_flow(_figure(figure))}" for figure in figures)


def _figure(figure: Figure) -> dict[str, str]:
    value = figure.text if figure.name in _COUNTS else _text(figure.text)
    note = {"note": _text(figure.note)} if figure.note else {}
    return {"value": value, "source": figure.source, **note}


def _peak(peak: Peak) -> dict[str, str]:
    published = _figure(peak.published)
    return {
        "dtype": peak.dtype,
        "pipe": peak.pipe,
        **({"accumulate": peak.accumulate} if peak.accumulate else {}),
        "value": published.pop("value"),
        **({"per_clock": f"{peak.per_clock:g} FLOP/clk"} if peak.per_clock is not None else {}),
        **published,
    }


def _list(key: str, entries: Iterable[Mapping[str, str]]) -> Iterator[str]:
    lines = [f"  - {_flow(entry)}" for entry in entries]
    if lines:
        yield f"{key}:"
        yield from lines


def _flow(entry: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in entry.items()) + "}"


def _text(text: str) -> str:
    """A text that YAML reads as that text; JSON's strings are YAML's."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)
