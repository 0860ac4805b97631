"""The floors of a case on a card under conditions, on a card of round numbers."""

from __future__ import annotations

import numpy as np
import pytest

from klaudit.floors import (
    COMPRESSED_DATA,
    FASTER_VARIANT,
    FEWER_OPERATIONS,
    INPUTS_RESIDENT,
    LOWER_PRECISION,
    NARROWER_DTYPE,
    OVERCLOCK,
    TIMER_TICK,
    WRITE_BACK,
    Floors,
    Work,
    floors,
    relevant,
    slowest,
    work_of,
)
from klaudit.formula import Formula
from klaudit.gpu import Gpu, Peak
from klaudit.provenance import Figure
from klaudit.workload import Count, Workload

PUBLISHED = Figure("peak", 0.0, "", "")


def card(**changes: object) -> Gpu:
    """100 B/s of DRAM, 300 B of cache, 2 processors x 16 B x 10 Hz = 320 B/s of port, 1000 FLOP/s, 4000 at best."""
    plain = Gpu(
        id="round",
        name="Round",
        vendor="nvidia",
        architecture="",
        bandwidth=100.0,
        bandwidth_from="",
        cache=300.0,
        processors=2,
        clock=10.0,
        clock_from="",
        port=16.0,
        peaks=(Peak("float32", "vector", 1000.0, PUBLISHED), Peak("float16", "tensor", 4000.0, PUBLISHED)),
        tick=0.25,
    )
    return plain._replace(**changes)  # type: ignore[arg-type]


def work(reads: float, writes: float, flops: float, least: float | None = None, dtype: str = "float32") -> Work:
    column = [np.array([[v]]) for v in (flops, reads + writes, reads, writes, max(reads, writes))]
    return Work(*column, least_flops=None if least is None else np.array([[least]]), dtype=dtype)


def whole(gpu: Gpu, case: Work, conditions: int = 0, launch: float = 0.0) -> float:
    return float(floors(gpu, case, conditions, launch).whole[0, 0])


def test_the_roof_is_the_larger_of_dram_and_compute() -> None:
    """1200 B at 100 B/s are 12 s; 15 000 FLOP at 1000 FLOP/s are 15 s; the port passes 800 B in 2.5 s."""
    parts = floors(card(), work(800, 400, 15_000))
    assert (parts.dram[0, 0], parts.compute[0, 0], parts.port[0, 0]) == (12.0, 15.0, 2.5)
    assert parts.roof[0, 0] == parts.whole[0, 0] == 15.0
    assert floors(card(), work(800, 400, 5_000)).roof[0, 0] == 12.0


@pytest.mark.parametrize(
    ("conditions", "seconds"),
    [
        (0, 12.0),
        (WRITE_BACK, 9.0),  # min(400, 300) stay: 900 B
        (INPUTS_RESIDENT, 9.0),  # min(800, 300) are there: 900 B
        (WRITE_BACK | INPUTS_RESIDENT, 6.0),
        (TIMER_TICK, 11.75),
        (TIMER_TICK | WRITE_BACK, 8.75),
        (OVERCLOCK, 12.0),  # not a card that can be overclocked
        (COMPRESSED_DATA, 12.0),  # not a card that compresses
        (FASTER_VARIANT | LOWER_PRECISION | FEWER_OPERATIONS | NARROWER_DTYPE, 12.0),
    ],
)
def test_memory_conditions(conditions: int, seconds: float) -> None:
    """What each condition leaves of 800 B read and 400 B written."""
    assert whole(card(), work(800, 400, 10), conditions) == pytest.approx(seconds)


def test_what_fits_is_bounded_by_the_port() -> None:
    """160 B in and 128 B out all stay in the cache; the port still takes 160 / 320 = 0.5 s, where it is known."""
    both = WRITE_BACK | INPUTS_RESIDENT
    assert whole(card(), work(160, 128, 0), both) == 0.5
    assert whole(card(port=None), work(160, 128, 0), both) == 0.0
    assert whole(card(), work(160, 128, 0), both, launch=0.7) == 0.7


def test_overclocking_lifts_bandwidth_and_clock() -> None:
    """x 1.25 on memory: 12 s become 9.6; x 1.3 on clocks: 26 s of arithmetic become 20, 2.5 s of port 1.923."""
    fast = card(overclockable=True)
    assert whole(fast, work(800, 400, 10), OVERCLOCK) == pytest.approx(9.6)
    assert whole(fast, work(800, 400, 26_000), OVERCLOCK) == pytest.approx(20.0)
    assert float(floors(fast, work(800, 400, 10), OVERCLOCK).port[0, 0]) == pytest.approx(2.5 / 1.3)


@pytest.mark.parametrize(("compression", "seconds"), [("none", 12.0), ("opt-in", 3.0), ("always", 3.0)])
def test_compression_quarters_the_traffic(compression: str, seconds: float) -> None:
    """1200 B become 300."""
    assert whole(card(memory_compression=compression), work(800, 400, 10), COMPRESSED_DATA) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("conditions", "seconds"),
    [
        (0, 20.0),  # 20 000 at 1000
        (LOWER_PRECISION, 5.0),  # at 4000
        (FEWER_OPERATIONS, 15.0),  # 15 000 at 1000
        (LOWER_PRECISION | FEWER_OPERATIONS, 3.75),
    ],
)
def test_arithmetic_conditions(conditions: int, seconds: float) -> None:
    """A faster pipe, fewer operations, both."""
    assert whole(card(), work(80, 40, 20_000, 15_000), conditions) == pytest.approx(seconds)


def test_without_a_least_count_fewer_operations_may_be_none() -> None:
    """Nobody knows a least count: only memory and port bound the case then."""
    assert whole(card(), work(80, 40, 20_000), FEWER_OPERATIONS) == pytest.approx(1.2)


def test_the_least_count_is_hard_whatever_is_counted() -> None:
    """A least count binds without any condition too: 15 000 at 1000 are 15 s."""
    assert whole(card(), work(80, 40, 15_000, 15_000)) == pytest.approx(15.0)


def test_an_unknown_peak_bounds_nothing() -> None:
    """A dtype without a rate of its own runs on the card's fastest pipe, as does an unknown one; no pipe, no floor."""
    assert whole(card(), work(80, 40, 40_000, dtype="float8")) == pytest.approx(10.0)
    assert whole(card(), work(80, 40, 40_000, dtype="")) == pytest.approx(10.0)
    assert whole(card(peaks=()), work(80, 40, 1e9, dtype="")) == pytest.approx(1.2)


def test_the_tick_never_makes_a_time_negative() -> None:
    """One step of the clock forgiven leaves no less than nothing; an unknown step is half a microsecond."""
    assert whole(card(), work(8, 4, 0), TIMER_TICK) == 0.0
    assert floors(card(tick=None), work(8, 4, 0), TIMER_TICK).tick == 5e-7
    assert floors(card(), work(8, 4, 0)).tick == 0.0


def test_the_cached_share_bounds_what_stays() -> None:
    """A quarter of a cache of 300 B is 75 B: 1125 B at 100 B/s are 11.25 s; shares are a column."""
    both = WRITE_BACK | INPUTS_RESIDENT
    parts = floors(card(), work(800, 400, 0), both, cache_share=np.array([0.0, 0.25, 2.0, 9.0]))
    assert parts.dram[0].tolist() == pytest.approx([12.0, 11.25, 6.0, 6.0])


def test_an_unknown_size_may_be_cached_whole() -> None:
    """Where the size is unknown nothing of DRAM is left under both cache conditions, but the port is."""
    both = WRITE_BACK | INPUTS_RESIDENT
    case = work(8_000, 4_000, 0)._replace(boundless_cache=True)
    assert whole(card(), case, both) == pytest.approx(8_000 / 320)
    assert whole(card(), case, WRITE_BACK) == pytest.approx(80.0)


def test_several_cards_as_one() -> None:
    """Two cards have twice the bandwidth, port, cache and peaks."""
    two = card().times(2)
    assert whole(two, work(800, 400, 10)) == 6.0
    assert whole(two, work(800, 400, 10), WRITE_BACK) == 4.0  # min(400, 600) stay: 800 B at 200 B/s
    assert whole(two, work(80, 40, 20_000)) == 10.0
    assert float(floors(two, work(800, 400, 10)).port[0, 0]) == 1.25


def workload(**changes: object) -> Workload:
    def count(text: str) -> Count:
        return Count(Formula(text, ("n", "b")), "")

    plain = Workload(
        id="pair",
        name="Pair",
        sizes=("n",),
        dtypes=("float32", "float64", "float16"),
        flops=count("7*n"),
        reads=count("2*n*b"),
        writes=count("n*b"),
        min_flops=count("3*n"),
    )
    return plain._replace(**changes)  # type: ignore[arg-type]


def test_work_of_a_workload() -> None:
    """Ten elements of 4 B: 70 operations, 80 B in, 40 B out; undeclared, half of the bytes in the narrowest dtype."""
    sizes = {"n": np.array([[10.0, 100.0]])}
    stated = work_of(workload(), sizes, "float32")
    for name, value in (("flops", 70), ("traffic", 120), ("reads", 80), ("writes", 40), ("one_way", 80)):
        assert getattr(stated, name).tolist() == [[value, 10 * value]], name
    assert stated.least_flops is not None
    assert stated.least_flops.tolist() == [[30, 300]]
    assert stated.narrow is None
    unstated = work_of(workload(), sizes, "")
    assert unstated.dtype == "float32"
    assert unstated.narrow is not None
    assert (unstated.narrow.dtype, unstated.narrow.traffic.tolist()) == ("float16", [[60, 600]])
    assert float(floors(card(), unstated, NARROWER_DTYPE).dram[0, 0]) == 0.6


def test_work_is_taken_by_row_and_by_case() -> None:
    """Rows and cases picked out carry all their columns; shared columns stay shared."""
    many = work_of(workload(), {"n": np.array([[10.0, 100.0], [20.0, 200.0]])}, "")
    picked = many.take(np.array([1]))
    assert picked.traffic.tolist() == [[1200], [2400]]
    assert picked.narrow is not None
    assert picked.narrow.reads.tolist() == [[400], [800]]
    second = many.case(1)
    assert second.flops.tolist() == [[140, 1400]]
    assert second.least_flops is not None
    assert second.least_flops.tolist() == [[60, 600]]
    shared = work_of(workload(), {"n": np.array([[10.0]])}, "float32")
    assert shared.take(np.array([0, 0, 0])) is shared


def test_the_slowest_of_several_cards_is_taken_part_by_part() -> None:
    """Each part is the largest, the step of the clock the smallest."""
    fast = card(bandwidth=400.0, peaks=(Peak("float32", "vector", 10.0, PUBLISHED),), tick=0.5)
    parts = [floors(gpu, work(800, 400, 100), TIMER_TICK) for gpu in (card(), fast)]
    joined = slowest(parts)
    assert (joined.dram[0, 0], joined.compute[0, 0], joined.tick) == (12.0, 10.0, 0.25)
    assert slowest(parts[:1]) is parts[0]
    assert isinstance(joined, Floors)


ALL = 511


@pytest.mark.parametrize(
    ("gpu", "case", "launch", "expected"),
    [
        (card(), work(800, 400, 10), 0.0, TIMER_TICK | WRITE_BACK | INPUTS_RESIDENT),
        (card(), work(800, 0, 10), 0.0, TIMER_TICK | INPUTS_RESIDENT),
        (card(), work(0, 400, 10), 0.0, TIMER_TICK | WRITE_BACK),
        (card(overclockable=True), work(800, 0, 10), 0.0, TIMER_TICK | INPUTS_RESIDENT | OVERCLOCK),
        (card(memory_compression="opt-in"), work(800, 0, 10), 0.0, TIMER_TICK | INPUTS_RESIDENT | COMPRESSED_DATA),
        # 20 s of arithmetic over 12 s of memory: a faster pipe and fewer operations matter.
        (
            card(),
            work(800, 400, 20_000),
            0.0,
            TIMER_TICK | WRITE_BACK | INPUTS_RESIDENT | LOWER_PRECISION | FEWER_OPERATIONS,
        ),
        # 7 s of arithmetic under 12 s of memory, but over the 6 s that the caches leave.
        (
            card(),
            work(800, 400, 7_000),
            0.0,
            TIMER_TICK | WRITE_BACK | INPUTS_RESIDENT | LOWER_PRECISION | FEWER_OPERATIONS,
        ),
        # ... and not over a launch of 8 s.
        (card(), work(800, 400, 7_000), 8.0, TIMER_TICK | WRITE_BACK | INPUTS_RESIDENT),
    ],
)
def test_only_conditions_that_can_lower_a_floor_are_searched(
    gpu: Gpu, case: Work, launch: float, expected: int
) -> None:
    """What cannot matter is left out, whatever is allowed."""
    assert relevant((gpu,), case, ALL, launch) == expected
    assert relevant((gpu,), case, 0, launch) == 0


def test_several_cards_raise_the_question_of_the_variant() -> None:
    """A label with two cards may mean the faster one."""
    assert relevant((card(), card(bandwidth=200.0)), work(8, 4, 0), FASTER_VARIANT, 0.0) == FASTER_VARIANT


SETS = [WRITE_BACK, INPUTS_RESIDENT, TIMER_TICK, OVERCLOCK, NARROWER_DTYPE, LOWER_PRECISION, FEWER_OPERATIONS]


@pytest.mark.parametrize("added", [*SETS, COMPRESSED_DATA])
@pytest.mark.parametrize("float16_rate", [4000.0, 20.0, None])
def test_a_condition_never_raises_a_floor(added: int, float16_rate: float | None) -> None:
    """Whatever else is granted, one condition more leaves each case's floor as it is or lower.

    Also on a card whose narrow dtype is slower than its wide one, or of unknown rate: there the wide one may be used.
    """
    peaks = [Peak("float32", "vector", 1000.0, PUBLISHED)]
    if float16_rate is not None:
        peaks.append(Peak("float16", "vector", float16_rate, PUBLISHED))
    gpu = card(overclockable=True, memory_compression="always", peaks=tuple(peaks))
    sizes = {"n": np.array([[1.0, 10.0, 25.0, 100.0, 1000.0]])}
    without = [bits for bits in range(ALL + 1) if not bits & added]
    for intensity in ("n", "90*n", "1000*n"):
        one = workload()._replace(flops=Count(Formula(intensity, ("n",)), ""), dtypes=("float32", "float16"))
        for dtype in ("", "float32", "float8"):
            case = work_of(one, sizes, dtype)
            for others in without:
                before, after = (floors(gpu, case, bits).whole for bits in (others, others | added))
                assert (after <= before).all(), (intensity, dtype, others)
