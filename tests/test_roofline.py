"""The physics, equation by equation, with numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from klaudit import roofline

# Bus x data rate: 5120 bit / 8 x 5.238 Gbit/s is 3352.32 GB/s (H100 SXM5), 256 / 8 x 10.002 is 320.064 GB/s (T4).
H100_SXM5 = 3352.32e9
T4 = 320.064e9


@pytest.mark.parametrize(
    ("traffic", "bandwidth", "microseconds"),
    [
        (805_306_368, H100_SXM5, 240.224),  # 3 x 4 B x 2^26 = 805 306 368 B
        (805_306_368 - 52_428_800, H100_SXM5, 224.584),  # 50 MiB written back late: 752 877 568 B
        (805_306_368 - 2 * 52_428_800, H100_SXM5, 208.944),  # and 50 MiB read early: 700 448 768 B
        (0, H100_SXM5, 0.0),
    ],
)
def test_dram_floor(traffic: float, bandwidth: float, microseconds: float) -> None:
    """Bytes over bandwidth; the three floors of KL divergence at 2^26 on an H100."""
    assert float(roofline.dram_floor(traffic, bandwidth)) * 1e6 == pytest.approx(microseconds, abs=5e-4)


@pytest.mark.parametrize(
    ("floor", "per_second"),
    [
        (roofline.dram_floor, 4.0),
        (roofline.compute_floor, 4.0),
        (roofline.port_floor, 4.0),
        (roofline.special_floor, 4.0),
    ],
)
def test_each_floor_is_an_amount_over_a_rate(floor: roofline.Column, per_second: float) -> None:
    """12 of anything at 4 a second take 3 seconds; a column keeps its shape; twice the rate halves the time."""
    assert float(floor(12.0, per_second)) == 3.0  # type: ignore[operator]
    column = floor(np.array([[12.0], [2.0]]), per_second)  # type: ignore[operator]
    assert column.shape == (2, 1)
    assert column.tolist() == [[3.0], [0.5]]
    assert floor([12, 2], 2 * per_second).tolist() == [1.5, 0.25]  # type: ignore[operator]


def test_port_floor_of_a_whole_card() -> None:
    """132 SMs x 64 B x 1.98 GHz = 16 727 040 000 000 B/s: 2^26 floats one way take 16.05 us."""
    assert float(roofline.port_floor(4 * 2**26, 16_727_040_000_000.0)) * 1e6 == pytest.approx(16.048, abs=5e-4)


@pytest.mark.parametrize(
    ("write_back", "inputs_resident", "expected"),
    [
        # A cache of 50: of 30 written and 100 read, 30 and 50 may stay.
        (False, False, 0.0),
        (True, False, 30.0),
        (False, True, 50.0),
        (True, True, 80.0),
    ],
)
def test_cached_bytes(write_back: bool, inputs_resident: bool, expected: float) -> None:
    """Up to one cache of writes and one cache of reads, those that are granted."""
    kept = roofline.cached_bytes(100, 30, 50.0, write_back=write_back, inputs_resident=inputs_resident)
    assert float(kept) == expected


def test_cached_bytes_are_continuous_and_columnar() -> None:
    """There is no line between fits and does not fit: one byte more is at most one byte more."""
    sizes = np.arange(40.0, 61.0)
    kept = roofline.cached_bytes(sizes, sizes, 50.0, write_back=True, inputs_resident=True)
    assert kept.shape == (21,)
    assert np.diff(kept).max() <= 2.0
    assert kept[-1] == 100.0
    unbounded = roofline.cached_bytes(sizes, sizes, math.inf, write_back=True, inputs_resident=False)
    assert unbounded.tolist() == sizes.tolist()


@pytest.mark.parametrize(
    ("bandwidth", "gflops"),
    # B / 12 x 7: 320.064 / 12 x 7 = 186.704 and so on.
    [(T4, 186.704), (2039.0e9, 1189.417), (H100_SXM5, 1955.52), (3938.4e9, 2297.4), (4916.736e9, 2868.096)],
)
def test_attainable_rate_of_the_divergence(bandwidth: float, gflops: float) -> None:
    """Seven operations for three floats, on five cards."""
    rate = float(roofline.attainable_rate(7 / 12, bandwidth, 60e12))
    assert rate / 1e9 == pytest.approx(gflops, abs=5e-4)


def test_the_roofline_bends_at_the_ridge() -> None:
    """67 TFLOP/s over 3.35 TB/s is 20 FLOP/B: below it memory rules, above it arithmetic."""
    assert roofline.ridge_point(67e12, 3.35e12) == pytest.approx(20.0)
    rates = roofline.attainable_rate(np.array([10.0, 20.0, 40.0]), 3.35e12, 67e12)
    assert rates.tolist() == pytest.approx([33.5e12, 67e12, 67e12])


def test_arithmetic_intensity() -> None:
    """A product of 1024 a side: 2 x 1024^3 operations on 3 x 4 x 1024^2 bytes is 1024 / 6."""
    assert float(roofline.arithmetic_intensity(2 * 1024**3, 3 * 4 * 1024**2)) == pytest.approx(170.6667, abs=5e-5)
    assert roofline.arithmetic_intensity([7.0, 1.0], [12.0, 8.0]).tolist() == [7 / 12, 0.125]
