"""What a calibration found, as nouns, and as the JSON object that keeps it. No card, no printing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median, quantiles
from typing import Any, Final, Literal, NamedTuple

from klaudit.errors import InputError

SCHEMA: Final = "klaudit-calibration/1"

Kernel = Literal["read", "write", "copy", "triad", "kl"]
Method = Literal["cold", "warm", "batched", "graph"]
KERNELS: Final[tuple[Kernel, ...]] = ("read", "write", "copy", "triad", "kl")
METHODS: Final[tuple[Method, ...]] = ("cold", "warm", "batched", "graph")
# Arrays of float32 that each kernel reads and writes, and what it counts per element [FLOP].
READS: Final[Mapping[str, int]] = {"read": 1, "write": 0, "copy": 1, "triad": 2, "kl": 2}
WRITES: Final[Mapping[str, int]] = {"read": 0, "write": 1, "copy": 1, "triad": 1, "kl": 1}
FLOPS: Final[Mapping[str, int]] = {"read": 0, "write": 0, "copy": 0, "triad": 2, "kl": 7}
ELEMENT: Final = 4
_MICRO: Final = 1e-6


class Device(NamedTuple):
    """A card as its driver describes it: clocks in Hz, sizes in bytes; 0 where the driver does not say."""

    name: str
    capability: str
    processors: int
    clock: float
    memory_clock: float
    bus_width: int
    cache: int
    memory: int
    driver: str
    cuda: str
    runtime: str
    library: str

    @property
    def pin_rate(self) -> float:
        """Bandwidth of the memory's pins [B/s]: the driver states half the transfers a second, for every memory."""
        return self.bus_width / 8 * 2 * self.memory_clock


class Sample(NamedTuple):
    """Repeated times of one thing [s]."""

    median: float
    least: float
    most: float
    quartile_range: float
    runs: int

    @classmethod
    def of(cls, times: Iterable[float]) -> Sample:
        """The statistics of at least two times.

        Examples
        --------
        >>> Sample.of([1.0, 2.0, 3.0, 4.0, 100.0]).median
        3.0
        """
        values = sorted(times)
        low, _, high = quantiles(values, n=4, method="inclusive")
        return cls(median(values), values[0], values[-1], high - low, len(values))

    @property
    def uncertainty(self) -> float:
        """Standard error of the median, relative to it, the spread taken from the quartiles."""
        deviation = self.quartile_range / 1.349
        return float(1.2533 * deviation / self.runs**0.5 / self.median) if self.median else 0.0

    @property
    def spread(self) -> float:
        """The range of the middle half, relative to the median."""
        return self.quartile_range / self.median if self.median else 0.0


class Point(NamedTuple):
    """One kernel at one size by one method.

    Attributes
    ----------
    elements : int
        Elements of each array.
    launches : int
        Launches between two events; `time` is of one of them.
    geometry : str
        The launch that was fastest, such as "528 x 1024, 4 at a time".
    memory : str
        "" for an ordinary allocation, else what was special about it and about the data.
    """

    kernel: str
    method: str
    elements: int
    time: Sample
    launches: int = 1
    geometry: str = ""
    memory: str = ""

    @property
    def read_bytes(self) -> int:
        """Bytes that must be read."""
        return self.elements * ELEMENT * READS[self.kernel]

    @property
    def written_bytes(self) -> int:
        """Bytes that must be written."""
        return self.elements * ELEMENT * WRITES[self.kernel]

    @property
    def traffic(self) -> int:
        """Both [B]."""
        return self.read_bytes + self.written_bytes

    @property
    def flops(self) -> int:
        """Operations as boards count them."""
        return self.elements * FLOPS[self.kernel]

    @property
    def bandwidth(self) -> float:
        """Traffic over the median time [B/s]."""
        return self.traffic / self.time.median

    @property
    def best_bandwidth(self) -> float:
        """Traffic over the least time [B/s]."""
        return self.traffic / self.time.least

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"{self.kernel} {self.elements} {self.method}" + (f" ({self.memory})" if self.memory else "")


class CachePoint(NamedTuple):
    """A buffer of `size` bytes that one kernel reads again and again, `loaded` bytes in all.

    `shared` says whether the processors take turns at every part of it; else each reads its own share again.
    """

    size: int
    loaded: int
    time: Sample
    shared: bool

    @property
    def bandwidth(self) -> float:
        """All bytes loaded over the median time [B/s]."""
        return self.loaded / self.time.median

    @property
    def best_bandwidth(self) -> float:
        """All bytes loaded over the least time [B/s]."""
        return self.loaded / self.time.least


class Rate(NamedTuple):
    """Operations a second of one kind (`float32` FMA, `lg2`, `ex2`) at the clock that the card ran at then [Hz]."""

    name: str
    operations: float
    time: Sample
    clock: float

    @property
    def rate(self) -> float:
        """Operations over the median time [1/s]."""
        return self.operations / self.time.median

    @property
    def best_rate(self) -> float:
        """Operations over the least time [1/s]."""
        return self.operations / self.time.least


class Launch(NamedTuple):
    """The time of a kernel that does nothing, by timing method."""

    method: str
    time: Sample


class Check(NamedTuple):
    """Something that had to be true for the figures to mean anything, and what was seen."""

    name: str
    passed: bool
    detail: str


class Calibration(NamedTuple):
    """All that was measured on one card.

    Attributes
    ----------
    date : str
        ISO date of the run.
    step : float or None
        Smallest step seen between two event times [s].
    skipped : tuple of str
        What was not measured, and why.
    """

    version: str
    date: str
    command: str
    seconds: float
    quick: bool
    device: Device
    points: tuple[Point, ...]
    cache: tuple[CachePoint, ...] = ()
    rates: tuple[Rate, ...] = ()
    launches: tuple[Launch, ...] = ()
    checks: tuple[Check, ...] = ()
    step: float | None = None
    skipped: tuple[str, ...] = ()

    @property
    def cache_end(self) -> int | None:
        """The largest buffer that is still read at 90 % of the best cache bandwidth [B]."""
        own = [p for p in self.cache if not p.shared]
        if not own:
            return None
        enough = 0.9 * max(p.bandwidth for p in own)
        return max(p.size for p in own if p.bandwidth >= enough)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that did not pass."""
        return tuple(c for c in self.checks if not c.passed)


def to_object(found: Calibration) -> dict[str, Any]:
    """A calibration as the JSON object that `from_object` reads."""
    device = found.device
    return {
        "schema": SCHEMA,
        "version": found.version,
        "date": found.date,
        "command": found.command,
        "seconds": round(found.seconds, 1),
        "quick": found.quick,
        "device": device_object(device),
        "event_step_us": None if found.step is None else _short(found.step / _MICRO),
        "points": [
            {
                "kernel": p.kernel, "method": p.method, "elements": p.elements, "bytes": p.traffic,
                "launches": p.launches, "geometry": p.geometry, "memory": p.memory, **_sample(p.time),
                "gb_per_s": _short(p.bandwidth / 1e9),
            }
            for p in found.points
        ],
        "cache": [
            {
                "bytes": p.size, "loaded_bytes": p.loaded, "shared": p.shared, **_sample(p.time),
                "gb_per_s": _short(p.bandwidth / 1e9),
            }
            for p in found.cache
        ],
        "cache_end_bytes": found.cache_end,
        "rates": [
            {
                "name": r.name, "operations": r.operations, **_sample(r.time), "gops": _short(r.rate / 1e9),
                "clock_mhz": _short(r.clock / 1e6),
            }
            for r in found.rates
        ],
        "launches": [{"method": x.method, **_sample(x.time)} for x in found.launches],
        "checks": [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in found.checks],
        "skipped": list(found.skipped),
    }  # fmt: skip


def device_object(device: Device) -> dict[str, Any]:
    """A card's own description for JSON."""
    return {
        "name": device.name,
        "compute_capability": device.capability,
        "processors": device.processors,
        "clock_mhz": _short(device.clock / 1e6),
        "memory_clock_mhz": _short(device.memory_clock / 1e6),
        "bus_width_bits": device.bus_width,
        "cache_bytes": device.cache,
        "memory_bytes": device.memory,
        "driver": device.driver,
        "cuda": device.cuda,
        "runtime": device.runtime,
        "library": device.library,
    }


def _short(value: float) -> float:
    return float(f"{value:.7g}")


def _sample(sample: Sample) -> dict[str, Any]:
    return {
        "median_us": _short(sample.median / _MICRO),
        "min_us": _short(sample.least / _MICRO),
        "max_us": _short(sample.most / _MICRO),
        "quartile_range_us": _short(sample.quartile_range / _MICRO),
        "runs": sample.runs,
    }


def from_object(data: Any, file: str) -> Calibration:
    """The calibration that a JSON object keeps.

    Raises
    ------
    InputError
        When it is none, or one of another version.
    """
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise InputError(
            f"{file}: no calibration of this version: schema is {schema!r}, expected {SCHEMA!r}."
            " Measure again with klaudit calibrate --report"
        )
    try:
        return _read(data)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: not a whole calibration: {type(error).__name__} at {error}. Measure again") from None


def _read(data: Mapping[str, Any]) -> Calibration:
    card = data["device"]
    step = data["event_step_us"]
    return Calibration(
        version=str(data["version"]),
        date=str(data["date"]),
        command=str(data["command"]),
        seconds=float(data["seconds"]),
        quick=bool(data["quick"]),
        device=Device(
            str(card["name"]), str(card["compute_capability"]), int(card["processors"]), card["clock_mhz"] * 1e6,
            card["memory_clock_mhz"] * 1e6, int(card["bus_width_bits"]), int(card["cache_bytes"]),
            int(card["memory_bytes"]), str(card["driver"]), str(card["cuda"]), str(card["runtime"]),
            str(card["library"]),
        ),
        points=tuple(
            Point(
                _known(p["kernel"], KERNELS), _known(p["method"], METHODS), int(p["elements"]), _read_sample(p),
                int(p["launches"]), str(p["geometry"]), str(p["memory"]),
            )
            for p in data["points"]
        ),
        cache=tuple(
            CachePoint(int(c["bytes"]), int(c["loaded_bytes"]), _read_sample(c), bool(c["shared"]))
            for c in data["cache"]
        ),
        rates=tuple(
            Rate(str(r["name"]), float(r["operations"]), _read_sample(r), r["clock_mhz"] * 1e6) for r in data["rates"]
        ),
        launches=tuple(Launch(str(x["method"]), _read_sample(x)) for x in data["launches"]),
        checks=tuple(Check(str(c["name"]), bool(c["passed"]), str(c["detail"])) for c in data["checks"]),
        step=None if step is None else step * _MICRO,
        skipped=tuple(str(s) for s in data["skipped"]),
    )  # fmt: skip


def _known(word: str, words: Iterable[str]) -> str:
    if word not in words:
        raise ValueError(f"{word!r}, which is none of {', '.join(words)}")
    return word


def _read_sample(entry: Mapping[str, Any]) -> Sample:
    return Sample(
        entry["median_us"] * _MICRO,
        entry["min_us"] * _MICRO,
        entry["max_us"] * _MICRO,
        entry["quartile_range_us"] * _MICRO,
        int(entry["runs"]),
    )
