"""The least time of a case on a card under a set of conditions, and which conditions can matter at all.

Joins the pure equations of `roofline` with what a `Gpu` can do. No rows, no verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from klaudit import roofline
from klaudit.gpu import Gpu
from klaudit.verdict import CONDITION_BITS
from klaudit.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Column = NDArray[np.float64]

OVERCLOCKED_BANDWIDTH: Final = 1.25
OVERCLOCKED_CLOCK: Final = 1.3
COMPRESSED_TRAFFIC: Final = 0.25
# Where a spec does not know its event clock's step: the resolution that the CUDA runtime documents for events.
DEFAULT_TICK: Final = 0.5e-6

FASTER_VARIANT: Final = CONDITION_BITS["faster-variant"]
WRITE_BACK: Final = CONDITION_BITS["write-back"]
INPUTS_RESIDENT: Final = CONDITION_BITS["inputs-resident"]
TIMER_TICK: Final = CONDITION_BITS["timer-tick"]
OVERCLOCK: Final = CONDITION_BITS["overclock"]
NARROWER_DTYPE: Final = CONDITION_BITS["narrower-dtype"]
LOWER_PRECISION: Final = CONDITION_BITS["lower-precision"]
FEWER_OPERATIONS: Final = CONDITION_BITS["fewer-operations"]
COMPRESSED_DATA: Final = CONDITION_BITS["compressed-data"]


class Work(NamedTuple):
    """What cases must at least do, as columns.

    Attributes
    ----------
    flops : ndarray, shape (cases, 1) or (cases, rows)
        Operations as the board counts them [FLOP].
    traffic : ndarray, same shape
        Compulsory bytes, read and written [B].
    reads, writes : ndarray, same shape
        The most of them that may be reads, and writes [B]; where the split is unknown each is all of the traffic.
    one_way : ndarray, same shape
        The least that passes the cache port one way [B].
    least_flops : ndarray or None, same shape
        The fewest operations of any known algorithm [FLOP].
    dtype : str
        "" where nobody says and nothing is known.
    narrow : Work or None
        The same work in the narrowest dtype, where nobody states the dtype.
    boundless_cache : bool
        Whether the size is unknown, so that all of it may have been in the cache.
    """

    flops: Column
    traffic: Column
    reads: Column
    writes: Column
    one_way: Column
    least_flops: Column | None = None
    dtype: str = ""
    narrow: Work | None = None
    boundless_cache: bool = False

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Work:
        """The work of some rows; work that all rows share stays as it is."""
        if self.flops.shape[1] == 1:
            return self
        picked = {name: getattr(self, name)[:, rows] for name in ("flops", "traffic", "reads", "writes", "one_way")}
        least = None if self.least_flops is None else self.least_flops[:, rows]
        return self._replace(**picked, least_flops=least, narrow=self.narrow and self.narrow.take(rows))

    def case(self, index: int) -> Work:
        """The work of one case."""
        one = slice(index, index + 1)
        picked = {name: getattr(self, name)[one] for name in ("flops", "traffic", "reads", "writes", "one_way")}
        least = None if self.least_flops is None else self.least_flops[one]
        return self._replace(**picked, least_flops=least, narrow=self.narrow and self.narrow.case(index))


def work_of(workload: Workload, sizes: Mapping[str, Column], dtype: str) -> Work:
    """What a workload must do at given sizes.

    Parameters
    ----------
    workload : Workload
    sizes : mapping of str to ndarray, shape (cases, 1) or (cases, rows)
        A column for each of the workload's sizes.
    dtype : str
        The dtype; "" takes the workload's first, and the narrowest as the condition `narrower-dtype`.
    """
    stated = bool(dtype)
    dtype = dtype or workload.default_dtype
    values = workload.with_bytes(sizes, dtype)
    shape = np.broadcast_shapes(*(np.shape(c) for c in sizes.values()))

    def column(value: object) -> Column:
        return np.broadcast_to(np.asarray(value, dtype=np.float64), shape)

    reads, writes = column(workload.reads.formula(values)), column(workload.writes.formula(values))
    least = None if workload.min_flops is None else column(workload.min_flops.formula(values))
    narrow = None
    if not stated and workload.narrowest_dtype != dtype:
        narrow = work_of(workload, sizes, workload.narrowest_dtype)
    return Work(
        flops=column(workload.flops.formula(values)),
        traffic=reads + writes,
        reads=reads,
        writes=writes,
        one_way=np.maximum(reads, writes),
        least_flops=least,
        dtype=dtype,
        narrow=narrow,
    )


class Floors(NamedTuple):
    """The parts of the floor of each case [s], shape (cases, 1) or (cases, rows); `launch` and `tick` for all."""

    dram: Column
    compute: Column
    port: Column
    least: Column
    launch: float = 0.0
    tick: float = 0.0

    @property
    def roof(self) -> Column:
        """The larger of dram and counted compute: the roof seen as a time."""
        return np.maximum(self.dram, self.compute)

    @property
    def whole(self) -> Column:
        """The least time the clock can show: no part undercut, one step of the clock forgiven where granted."""
        return np.maximum(self.untimed - self.tick, 0.0) if self.tick else self.untimed

    @property
    def untimed(self) -> Column:
        """The same without the clock's step, which an average over many runs does not feel."""
        return np.maximum(np.maximum(self.roof, self.port), np.maximum(self.least, self.launch))


def floors(gpu: Gpu, work: Work, conditions: int = 0, launch: float = 0.0, cache_share: Column | None = None) -> Floors:
    """The floors of cases on one card under a set of conditions.

    Parameters
    ----------
    gpu : Gpu
    work : Work
        What the cases must do.
    conditions : int
        A set of conditions as bits of `CONDITION_BITS`; `faster-variant` is about the choice of card, not of floors.
    launch : float
        The least time a launch can appear to take [s].
    cache_share : ndarray or None, shape (rows,)
        At most so many bytes stay out of DRAM, as a share of the cache; None is no further bound.

    Returns
    -------
    Floors
    """
    # Narrow data may still be worked on by the declared dtype's pipe: a condition never makes a card slower.
    dtypes = [work.dtype]
    if conditions & NARROWER_DTYPE and work.narrow is not None:
        work = work.narrow
        dtypes.append(work.dtype)
    over = bool(conditions & OVERCLOCK) and gpu.overclockable
    bandwidth = gpu.bandwidth * (OVERCLOCKED_BANDWIDTH if over else 1.0)
    clock = OVERCLOCKED_CLOCK if over else 1.0
    peak = _peak(gpu, dtypes, conditions) * clock
    zero = np.zeros_like(work.flops)
    port = zero if gpu.port_bandwidth is None else roofline.port_floor(work.one_way, gpu.port_bandwidth * clock)
    return Floors(
        dram=roofline.dram_floor(_dram_traffic(gpu, work, conditions, cache_share), bandwidth),
        compute=_compute(work, conditions, peak),
        port=port,
        least=zero if work.least_flops is None else roofline.compute_floor(work.least_flops, peak),
        launch=launch,
        # Without a size there is no time to add a step to: a rate's limit is the cache port's.
        tick=(gpu.tick or DEFAULT_TICK) if conditions & TIMER_TICK and not work.boundless_cache else 0.0,
    )


def _dram_traffic(gpu: Gpu, work: Work, conditions: int, cache_share: Column | None) -> Column:
    """Bytes that must reach DRAM."""
    kept = roofline.cached_bytes(
        work.reads,
        work.writes,
        np.inf if work.boundless_cache else gpu.cache,
        write_back=bool(conditions & WRITE_BACK),
        inputs_resident=bool(conditions & INPUTS_RESIDENT),
    )
    if cache_share is not None:
        kept = np.minimum(kept, cache_share * gpu.cache)
    traffic = np.maximum(work.traffic - kept, 0.0)
    compresses = conditions & COMPRESSED_DATA and gpu.memory_compression != "none"
    return traffic * (COMPRESSED_TRAFFIC if compresses else 1.0)


def _peak(gpu: Gpu, dtypes: Sequence[str], conditions: int) -> float:
    """The dense peak that the conditions allow [FLOP/s]; infinite where none is known."""
    choose = gpu.fastest_pipe if conditions & LOWER_PRECISION else gpu.pipe
    return max(np.inf if peak is None else peak.rate for peak in map(choose, dtypes))


def _compute(work: Work, conditions: int, peak: float) -> Column:
    """Time of the counted operations, or of the fewest where `fewer-operations` is granted."""
    flops = work.flops
    if conditions & FEWER_OPERATIONS:
        flops = np.zeros_like(flops) if work.least_flops is None else np.minimum(work.least_flops, flops)
    return roofline.compute_floor(flops, peak)


def relevant(cards: Sequence[Gpu], work: Work, allowed: int, launch: float) -> int:
    """Those of the allowed conditions that can lower a floor: the others need not be searched.

    Parameters
    ----------
    cards : sequence of Gpu
        The cards a label can mean.
    work : Work
    allowed : int
        Conditions as bits.
    launch : float
        The least time a launch can appear to take [s].

    Returns
    -------
    int
        Conditions as bits.
    """
    wanted = 0 if work.boundless_cache else TIMER_TICK
    if len(cards) > 1:
        wanted |= FASTER_VARIANT
    if work.traffic.any():
        wanted |= WRITE_BACK * bool(work.writes.any()) | INPUTS_RESIDENT * bool(work.reads.any())
    if any(card.overclockable for card in cards):
        wanted |= OVERCLOCK
    if work.narrow is not None:
        wanted |= NARROWER_DTYPE
    if any(card.memory_compression != "none" for card in cards):
        wanted |= COMPRESSED_DATA
    wanted &= allowed
    # Arithmetic matters only where it can rise above everything else that the other conditions leave.
    for card in cards:
        left = floors(card, work, wanted, launch)
        if bool((floors(card, work).compute > np.maximum(np.maximum(left.dram, left.port), launch) - left.tick).any()):
            wanted |= (LOWER_PRECISION | FEWER_OPERATIONS) & allowed
    return wanted


def slowest(parts: Sequence[Floors]) -> Floors:
    """For each case the largest floor over the cards that a label can mean, part by part."""
    if len(parts) == 1:
        return parts[0]

    def largest(name: str) -> Column:
        return np.asarray(np.maximum.reduce([getattr(p, name) for p in parts]))

    return Floors(
        dram=largest("dram"),
        compute=largest("compute"),
        port=largest("port"),
        least=largest("least"),
        launch=max(p.launch for p in parts),
        tick=min(p.tick for p in parts),
    )
