"""Gpu: what one card can do at best, with the source of each figure. No files, no judgement."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from klaudit.provenance import Figure, Source

Compression = Literal["none", "opt-in", "always"]

# Where no maximum clock is sourced, an honest card may still boost this far above its published clock.
BOOST_ALLOWANCE: Final = 1.3


class Peak(NamedTuple):
    """A dense peak rate of one dtype on one pipe.

    `rate` [FLOP/s] is the largest credible one: the published figure, or operations per clock at the highest clock.
    """

    dtype: str
    pipe: str
    rate: float
    published: Figure
    per_clock: float | None = None
    accumulate: str | None = None

    @property
    def label(self) -> str:
        """How reports name it, such as "float16 tensor"."""
        return f"{self.dtype} {self.pipe}"


class Measured(NamedTuple):
    """A best achieved figure: never an error, only a note."""

    quantity: str
    value: float
    text: str
    conditions: str
    source: str


class Deviation(NamedTuple):
    """A known difference between a published figure and its derivation, with the reason."""

    figure: str
    percent: float
    reason: str


class Gpu(NamedTuple):
    """One card variant at its best.

    Attributes
    ----------
    bandwidth : float
        The largest credible DRAM bandwidth [B/s]: the larger of pin rate and published figures.
    bandwidth_from : str
        Which figure that is.
    cache : float
        What outlives a kernel [B]: L2, plus a memory-side cache where there is one.
    processors : int
        SMs, compute units or cores.
    clock : float
        The highest clock [Hz].
    port : float or None
        Cache port per processor and clock [B/clk], only where sourced.
    special_per_clock : float or None
        Special-function results per processor and clock.
    tick : float or None
        Step of the event clock [s], where known.
    cards : int
        Cards taken together.
    memory_type, compute_capability : str
        As the spec names them; "" where it does not.
    """

    id: str
    name: str
    vendor: str
    architecture: str
    bandwidth: float
    bandwidth_from: str
    cache: float
    processors: int
    clock: float
    clock_from: str
    lanes: float | None = None
    port: float | None = None
    special_per_clock: float | None = None
    peaks: tuple[Peak, ...] = ()
    overclockable: bool = False
    memory_compression: Compression = "none"
    tick: float | None = None
    aliases: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    measured: tuple[Measured, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    cards: int = 1
    memory_type: str = ""
    compute_capability: str = ""

    @property
    def port_bandwidth(self) -> float | None:
        """What all processors together can take from the cache [B/s], one way."""
        return None if self.port is None else self.processors * self.port * self.clock

    @property
    def special_rate(self) -> float | None:
        """Special-function results a second, if none runs on the FMA pipes."""
        return None if self.special_per_clock is None else self.processors * self.special_per_clock * self.clock

    @property
    def measured_bandwidth(self) -> float | None:
        """The best DRAM bandwidth anyone is known to have reached [B/s], or None."""
        values = [m.value for m in self.measured if m.quantity == "bandwidth"]
        return max(values) * self.cards if values else None

    def peak(self, dtype: str) -> Peak | None:
        """The best dense peak of `dtype` on any pipe, or None where no figure is known."""
        return max((p for p in self.peaks if p.dtype == dtype), key=lambda p: p.rate, default=None)

    def fastest_pipe(self, dtype: str) -> Peak | None:
        """The best dense peak that may do the work of `dtype` less precisely, or None where no figure is known.

        Floating-point work stays in floating-point formats; integers, and work of unknown dtype, may use any pipe. But
        of integers for which the card's spec has no rate nothing is known: its pipes may be faster than all listed.
        """
        if dtype and "float" not in dtype and self.peak(dtype) is None:
            return None
        usable = [p for p in self.peaks if "float" in p.dtype or "float" not in dtype]
        return max(usable, key=lambda p: p.rate, default=None)

    def pipe(self, dtype: str) -> Peak | None:
        """The peak that bounds work of `dtype`: its own, or the fastest pipe where the card has no rate for it.

        A card without a rate for a dtype does the work on another pipe: a row must not acquit itself by naming it.
        """
        return self.peak(dtype) or self.fastest_pipe(dtype)

    def times(self, count: int) -> Gpu:
        """`count` such cards taken as one: bandwidth, processors, cache and peaks add up."""
        if count == 1:
            return self
        return self._replace(
            cards=self.cards * count,
            bandwidth=self.bandwidth * count,
            processors=self.processors * count,
            cache=self.cache * count,
            peaks=tuple(p._replace(rate=p.rate * count) for p in self.peaks),
        )
