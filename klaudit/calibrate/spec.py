"""A measured card as a Gpu: the published figures, if any are known, with the measured ones beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from klaudit.calibrate.record import Calibration, Device, Point
from klaudit.catalog import Catalog
from klaudit.errors import UsageError
from klaudit.gpu import Gpu, Measured, Peak
from klaudit.provenance import Figure, Source
from klaudit.units import show

_OWN: Final = "calibration"
_DRIVER: Final = "driver"
# FP32 lanes of one processor by compute capability, where a Gpu spec does not say (CUDA C++ Programming Guide).
_LANES: Final = {
    "7.0": 64, "7.2": 64, "7.5": 64, "8.0": 64, "8.6": 128, "8.7": 128, "8.9": 128, "9.0": 128, "10.0": 128,
    "10.3": 128, "11.0": 128, "12.0": 128, "12.1": 128,
}  # fmt: skip
_ARCHITECTURES: Final = {"7.0": "Volta", "7.5": "Turing", "8": "Ampere", "8.9": "Ada", "9": "Hopper"}
# A write or a copy this many times the cache owes it little: what is still in it when the clock stops is 6 %.
_CACHES: Final = 16
_NAMES: Final = {"read": "read", "write": "fill", "copy": "copy", "triad": "triad", "kl": "KL divergence"}


def find_card(device: Device, catalog: Catalog, name: str | None = None) -> Gpu | None:
    """The spec of the card that a driver describes, or None where none is known.

    Parameters
    ----------
    device : Device
    catalog : Catalog
    name : str, optional
        The card by the user's word; it decides.

    Raises
    ------
    UsageError
        When several specs fit and the user has not named one.
    """
    if name is not None:
        return catalog.gpu(name)
    candidates = [catalog.gpu(gpu_id) for gpu_id in catalog.find_gpus(device.name).ids]
    if len(candidates) > 1:
        fitting = [gpu for gpu in candidates if _fits(device, gpu)]
        candidates = fitting or candidates
    if len(candidates) > 1:
        ids = ", ".join(gpu.id for gpu in candidates)
        raise UsageError(f"{device.name!r} can mean {len(candidates)} cards; name one with --gpu: {ids}")
    return candidates[0] if candidates else None


def _fits(device: Device, gpu: Gpu) -> bool:
    same_clock = abs(device.clock - gpu.clock) <= 0.005 * gpu.clock
    memory = abs(device.pin_rate - gpu.bandwidth) <= 0.05 * gpu.bandwidth
    return device.processors == gpu.processors and same_clock and memory


def driver_card(device: Device, card_id: str) -> Gpu:
    """A card of which nothing is published here: what its driver says.

    Raises
    ------
    UsageError
        When the driver does not even say how wide and fast its memory is.
    """
    if not (device.pin_rate and device.clock and device.cache):
        raise UsageError(
            f"the driver of {device.name!r} does not say how wide and fast its memory is. Expected bus width, memory"
            " clock, clock and cache. Write a spec for it and give its folder with --specs"
        )
    rate = show(2 * device.memory_clock, "pin-rate", 6)
    figures = [
        Figure("memory.bus_width", device.bus_width, f"{device.bus_width} bit", _DRIVER),
        Figure("memory.data_rate", 2 * device.memory_clock, rate, _DRIVER, "two transfers a clock"),
        Figure(
            "memory.published_bandwidth", device.pin_rate, show(device.pin_rate, "bandwidth", 6), _DRIVER,
            "bus width times data rate; no published figure is known",
        ),
        Figure("cache.l2", device.cache, f"{device.cache // 1024} KiB", _DRIVER),
        Figure("processors.count", device.processors, str(device.processors), _DRIVER),
        Figure("clock.maximum", device.clock, show(device.clock, "frequency", 6), _DRIVER),
    ]  # fmt: skip
    peaks: tuple[Peak, ...] = ()
    lanes = _LANES.get(device.capability)
    if lanes is not None:
        flops = 2.0 * lanes * device.processors * device.clock
        figure = Figure("peaks.float32.vector", flops, show(flops, "rate", 5), _DRIVER)
        peaks = (Peak("float32", "vector", flops, figure, 2.0 * lanes),)
        figures.append(Figure("processors.fp32_lanes", lanes, str(lanes), _DRIVER))
    where = f"driver {device.driver or 'of unknown version'} of {device.name}; FP32 lanes by compute capability"
    return Gpu(
        id=card_id,
        name=device.name,
        vendor="nvidia",
        architecture=_architecture(device.capability),
        compute_capability=device.capability,
        memory_type="unknown",
        bandwidth=device.pin_rate,
        bandwidth_from="pin rate",
        cache=device.cache,
        processors=device.processors,
        clock=device.clock,
        clock_from="maximum",
        lanes=lanes,
        peaks=peaks,
        memory_compression="opt-in" if float(device.capability) >= 8 else "none",
        figures=(*figures, *(p.published for p in peaks)),
        sources=(Source(_DRIVER, where, "driver-dump", "retrieved"),),
    )


def _architecture(capability: str) -> str:
    named = _ARCHITECTURES.get(capability) or _ARCHITECTURES.get(capability.split(".")[0])
    return named or f"compute capability {capability}"


def measured_card(found: Calibration, published: Gpu | None, card_id: str) -> Gpu:
    """The card with what was measured beside what is published.

    Parameters
    ----------
    found : Calibration
    published : Gpu or None
        The card's known spec; None takes what its driver says.
    card_id : str
        The id of the new spec. Under another id than the published one's it bears none of its names, which would
        then mean two cards.
    """
    card = published or driver_card(found.device, card_id)
    device = found.device
    where = f"klaudit calibrate on {found.date}, driver {device.driver or 'unknown'}, CUDA {device.cuda}: {device.name}"
    named = card_id == card.id
    # The strict reader refuses a source that nothing refers to, and the figures replaced had some of their own.
    used = {f.source for f in card.figures}
    return card._replace(
        id=card_id,
        name=card.name if named else f"{card.name}, measured as {card_id}",
        aliases=card.aliases if named else (),
        labels=card.labels if named else (),
        measured=tuple(measured_figures(found)),
        sources=(*(s for s in card.sources if s.key in used), Source(_OWN, where, "measured", "retrieved")),
    )


def measured_figures(found: Calibration) -> Iterator[Measured]:
    """The best of each quantity, with the conditions under which it was reached."""
    enough = _CACHES * found.device.cache
    cold = [p for p in found.points if p.method == "cold" and not p.memory]
    for kernel, name in _NAMES.items():
        points = [p for p in cold if p.kernel == kernel and p.traffic >= enough]
        if points:
            best = max(points, key=lambda p: p.best_bandwidth)
            yield _measured("bandwidth", best.best_bandwidth, f"{name}, {_bytes(best)} in all, cache flushed, best")
    if found.cache:
        # What little of the cache is read may sit favourably.
        large = [p for p in found.cache if 4 * p.size >= found.device.cache] or list(found.cache)
        fastest = max(large, key=lambda p: p.best_bandwidth)
        size = f"{fastest.size >> 20} MiB read {fastest.loaded // fastest.size} times in one kernel"
        yield _measured("cache-bandwidth", fastest.best_bandwidth, f"{size}, best")
    for launch in found.launches[:1] + found.launches[3:4]:
        yield _measured("launch", launch.time.least, f"an empty kernel: {launch.method}, smallest")
    for rate in found.rates:
        quantity = "float32" if rate.name == "float32" else "special-functions"
        clock = f"{rate.clock / 1e6:.0f} MHz"
        yield _measured(quantity, rate.best_rate, f"chains of {_operation(rate.name)} at {clock}, best")


def _operation(name: str) -> str:
    return "FMA" if name == "float32" else f"{name}.approx"


def _bytes(point: Point) -> str:
    return show(point.traffic, "bytes", 3)


def _measured(quantity: str, value: float, conditions: str) -> Measured:
    kind = {"launch": "time", "float32": "rate", "special-functions": "rate"}.get(quantity, "bandwidth")
    text = show(value, kind, 3)
    if quantity == "special-functions":
        text = text.replace("FLOP", "OP")
    return Measured(quantity, value, text, conditions, _OWN)
