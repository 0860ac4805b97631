"""How far a calibration is from the card's spec, and from another calibration. No printing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from klaudit.calibrate.record import KERNELS, METHODS, Calibration, Point
from klaudit.gpu import Gpu

Kind = Literal["bandwidth", "time", "rate", "results", "frequency", "bytes", "count"]

# Bandwidths at this size and above repeat within `AGREEMENT` [B].
STEADY_BYTES: Final = 64 << 20
AGREEMENT: Final = 0.03


class Line(NamedTuple):
    """One figure here and there, in SI."""

    name: str
    kind: Kind
    here: float
    there: float

    @property
    def ratio(self) -> float:
        """Here over there."""
        return self.here / self.there


def with_spec(found: Calibration, gpu: Gpu) -> Iterator[Line]:
    """The card against its spec: what the driver says, and what was measured against the best possible."""
    device = found.device
    yield from _said(
        ("pin rate by the driver", "bandwidth", device.pin_rate, gpu.bandwidth),
        ("highest clock", "frequency", device.clock, gpu.clock),
        ("processors", "count", device.processors, gpu.processors),
        ("cache", "bytes", device.cache, gpu.cache),
    )
    for kernel in KERNELS:
        best = best_cold(found, kernel)
        if best is not None:
            yield Line(f"{kernel}, cold, of bus and clock", "bandwidth", best.bandwidth, gpu.bandwidth)
    if found.cache and gpu.port_bandwidth is not None:
        fastest = max(p.bandwidth for p in found.cache)
        yield Line("cache, of the port", "bandwidth", fastest, gpu.port_bandwidth)
    if found.cache_end is not None:
        yield Line("cache ends at", "bytes", found.cache_end, gpu.cache)
    peak = gpu.peak("float32")
    roofs = {"float32": None if peak is None else peak.rate, "lg2": gpu.special_rate}
    for rate in found.rates:
        roof = roofs.get(rate.name)
        if roof:
            yield Line(f"{rate.name}, of its peak", _rate_kind(rate.name), rate.rate, roof)


def _rate_kind(name: str) -> Kind:
    return "rate" if name == "float32" else "results"


def _said(*figures: tuple[str, Kind, float, float]) -> Iterator[Line]:
    for name, kind, here, there in figures:
        if here and there:
            yield Line(name, kind, here, there)


def best_cold(found: Calibration, kernel: str) -> Point | None:
    """The fastest cold point of a kernel that the cache owes little to."""
    points = [
        p
        for p in found.points
        if p.kernel == kernel and p.method == "cold" and not p.memory and p.traffic >= STEADY_BYTES * 8
    ]
    return max(points, key=lambda p: p.bandwidth, default=None)


def with_other(found: Calibration, other: Calibration) -> Iterator[Line]:
    """Two calibrations: launch, rates, cache, and for each kernel and method the bandwidth that differs most."""
    launches = {x.method: x.time.median for x in other.launches}
    for launch in found.launches:
        if launch.method in launches:
            yield Line(launch.method, "time", launch.time.median, launches[launch.method])
    rates = {r.name: r.rate for r in other.rates}
    for rate in found.rates:
        if rate.name in rates:
            yield Line(rate.name, _rate_kind(rate.name), rate.rate, rates[rate.name])
    sizes = {(p.size, p.shared): p.bandwidth for p in other.cache}
    cached = [
        Line(f"cache, {p.size >> 20} MiB", "bandwidth", p.bandwidth, sizes[p.size, p.shared])
        for p in found.cache
        if (p.size, p.shared) in sizes
    ]
    yield from _farthest(cached)
    for kernel in KERNELS:
        for method in METHODS:
            yield from _farthest([x for x in steady(found, other) if x.name.startswith(f"{kernel}, {method},")])


def steady(found: Calibration, other: Calibration) -> Iterator[Line]:
    """Every bandwidth of ordinary memory that both have, from 64 MiB of traffic on."""
    theirs = {(p.kernel, p.method, p.elements): p.bandwidth for p in other.points if not p.memory}
    for p in found.points:
        key = (p.kernel, p.method, p.elements)
        if not p.memory and p.traffic >= STEADY_BYTES and key in theirs:
            yield Line(f"{p.kernel}, {p.method}, {p.traffic / 2**20:g} MiB", "bandwidth", p.bandwidth, theirs[key])


def _farthest(lines: list[Line]) -> Iterator[Line]:
    if lines:
        yield max(lines, key=lambda line: abs(line.ratio - 1))


def disagreements(found: Calibration, other: Calibration) -> tuple[Line, ...]:
    """The bandwidths of 64 MiB and more that differ by more than 3 %."""
    return tuple(line for line in steady(found, other) if abs(line.ratio - 1) > AGREEMENT)
