"""A file of specs/gpus as a Gpu: which of several figures rules, and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, cast

from klaudit.gpu import BOOST_ALLOWANCE, Compression, Deviation, Gpu, Measured, Peak
from klaudit.provenance import Figure
from klaudit.readers.strict_yaml import Section, open_spec

_VENDORS: Final = ("nvidia", "amd", "intel")
_COMPRESSION: Final = ("none", "opt-in", "always")
_PEAK_DTYPES: Final = (
    "float64", "float32", "tfloat32", "float16", "bfloat16", "float8", "float4", "int8", "int4",
)  # fmt: skip
_PIPES: Final = ("vector", "tensor")
_MEASURED: Final = {
    "bandwidth": "bandwidth", "cache-bandwidth": "bandwidth", "launch": "time", "float32": "rate",
    "special-functions": "rate",
}  # fmt: skip
_CAPABILITY: Final = re.compile(r"\d{1,2}\.\d")


def read_gpu(text: str, file: str) -> Gpu:
    """The card that the spec `text` describes.

    Raises
    ------
    SpecError
        When it breaks the format: names the file, the line, the key and what is allowed.
    """
    root = open_spec(text, file)
    with root as spec:
        memory = _read_memory(spec)
        cache = _read_cache(spec)
        processors = _read_processors(spec)
        clocks = _read_clocks(spec)
        clock, clock_from = _highest_clock(clocks)
        count = int(_largest(processors, "processors.count") or 0)
        tick = _read_tick(spec)
        peaks, peak_figures = _read_peaks(spec, count, clock, _largest(clocks, "clock.boost"))
        figures = (*memory, *cache, *processors, *clocks, *tick, *peak_figures)
        bandwidth, bandwidth_from = _bandwidth(memory)
        l2, infinity = _largest(cache, "cache.l2"), _largest(cache, "cache.infinity")
        gpu = Gpu(
            id=spec.identity(),
            name=spec.text("name"),
            vendor=spec.word("vendor", _VENDORS),
            architecture=spec.text("architecture"),
            bandwidth=bandwidth,
            bandwidth_from=bandwidth_from,
            cache=(l2 or 0.0) + (infinity or 0.0),
            processors=count,
            clock=clock,
            clock_from=clock_from,
            lanes=_largest(processors, "processors.fp32_lanes"),
            port=_largest(cache, "cache.port"),
            special_per_clock=_largest(processors, "processors.special_functions"),
            peaks=peaks,
            overclockable=spec.section("clock").flag("overclockable"),
            memory_compression=_compression(spec.section("memory")),
            tick=_largest(tick, "timer.tick"),
            aliases=spec.texts("aliases"),
            labels=spec.texts("labels"),
            figures=figures,
            measured=_read_measured(spec),
            deviations=_read_deviations(spec, figures),
            sources=tuple(spec.document.sources.values()),
            notes=spec.texts("notes"),
            memory_type=spec.section("memory").text("type"),
            compute_capability=_capability(spec),
        )
    root.check_sources_used()
    return gpu


def _largest(figures: Iterable[Figure], name: str) -> float | None:
    return max((f.value for f in figures if f.name == name), default=None)


def _compression(memory: Section) -> Compression:
    return cast(Compression, memory.word("compression", _COMPRESSION))


def _read_memory(spec: Section) -> tuple[Figure, ...]:
    with spec.section("memory") as memory:
        memory.text("type")
        _compression(memory)
        return (
            *memory.figures("bus_width", "bits", required=True),
            *memory.figures("data_rate", "pin-rate", required=True),
            *memory.figures("published_bandwidth", "bandwidth", required=True),
        )


def _bandwidth(memory: tuple[Figure, ...]) -> tuple[float, str]:
    """The largest credible bandwidth [B/s] and which figure it is.

    A published figure is often rounded down, and the pins carry what they carry: the larger one rules.
    """
    bus, rate = _largest(memory, "memory.bus_width") or 0.0, _largest(memory, "memory.data_rate") or 0.0
    published = _largest(memory, "memory.published_bandwidth") or 0.0
    return (bus * rate / 8, "pin rate") if bus * rate / 8 > published else (published, "published")


def _read_cache(spec: Section) -> tuple[Figure, ...]:
    with spec.section("cache") as cache:
        return (
            *cache.figures("l2", "bytes", required=True),
            *cache.figures("infinity", "bytes"),
            *cache.figures("port", "bytes-per-clock"),
        )


def _read_processors(spec: Section) -> tuple[Figure, ...]:
    with spec.section("processors") as processors:
        return (
            *processors.figures("count", "count", required=True),
            *processors.figures("fp32_lanes", "count"),
            *processors.figures("special_functions", "operations-per-clock"),
        )


def _read_clocks(spec: Section) -> tuple[Figure, ...]:
    with spec.section("clock") as clock:
        boost, maximum = clock.figures("boost", "frequency"), clock.figures("maximum", "frequency")
        clock.flag("overclockable")
        if not boost and not maximum:
            raise clock.error("'clock' has neither boost nor maximum; one of them is needed")
        return (*boost, *maximum)


def _highest_clock(clocks: tuple[Figure, ...]) -> tuple[float, str]:
    """The highest clock [Hz] an honest card may run at, and which figure it is."""
    maximum, boost = _largest(clocks, "clock.maximum"), _largest(clocks, "clock.boost")
    if maximum is not None:
        return max(maximum, boost or 0.0), "maximum"
    return (boost or 0.0) * BOOST_ALLOWANCE, f"boost x {BOOST_ALLOWANCE}, as no maximum is sourced"


def _read_tick(spec: Section) -> tuple[Figure, ...]:
    if "timer" not in spec:
        return ()
    with spec.section("timer") as timer:
        return timer.figures("tick", "time", required=True)


def _read_peaks(
    spec: Section, processors: int, clock: float, boost: float | None
) -> tuple[tuple[Peak, ...], tuple[Figure, ...]]:
    peaks: list[Peak] = []
    for section in spec.sections("peaks"):
        with section as peak:
            dtype, pipe = peak.word("dtype", _PEAK_DTYPES), peak.word("pipe", _PIPES)
            accumulate = peak.word("accumulate", ("float16", "float32")) if "accumulate" in peak else None
            per_clock = peak.quantity("per_clock", "operations-per-clock")[0] if "per_clock" in peak else None
            value, text = peak.quantity("value", "rate")
            figure = Figure(f"peaks.{dtype}.{pipe}", value, text, peak.source(), peak.text("note", ""))
            rate = value * max(1.0, clock / boost if boost else 1.0)
            if per_clock is not None:
                rate = max(value, per_clock * processors * clock)
            if any((p.dtype, p.pipe, p.accumulate) == (dtype, pipe, accumulate) for p in peaks):
                raise peak.error(f"{peak.path}: {dtype} {pipe} is listed twice")
            peaks.append(Peak(dtype, pipe, rate, figure, per_clock, accumulate))
    return tuple(peaks), tuple(p.published for p in peaks)


def _read_measured(spec: Section) -> tuple[Measured, ...]:
    measured = []
    for section in spec.sections("measured"):
        with section as entry:
            quantity = entry.word("quantity", _MEASURED)
            value, text = entry.quantity("value", _MEASURED[quantity])
            measured.append(Measured(quantity, value, text, entry.text("conditions"), entry.source()))
    return tuple(measured)


def _read_deviations(spec: Section, figures: tuple[Figure, ...]) -> tuple[Deviation, ...]:
    names = tuple(dict.fromkeys(f.name for f in figures))
    deviations = []
    for section in spec.sections("deviations"):
        with section as entry:
            figure = entry.word("figure", names)
            deviations.append(Deviation(figure, entry.number("percent"), entry.text("reason")))
    return tuple(deviations)


def _capability(spec: Section) -> str:
    if "compute_capability" not in spec:
        return ""
    text = spec.text("compute_capability")
    if not _CAPABILITY.fullmatch(text):
        raise spec.error(f'compute_capability: {text!r} is none; write it as "9.0"', "compute_capability")
    return text
