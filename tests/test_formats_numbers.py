"""Numbers that stand together share one unit, and JSON never sees NaN."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klaudit.formats.numbers import Kind, plain, ratio, rounded, together, unit_of, whole


@pytest.mark.parametrize(
    ("values", "kind", "shown"),
    [
        ([3.757e12, 2.8681e12, 8.0727e12], "rate", ["3757 GFLOP/s", "2868 GFLOP/s", "8073 GFLOP/s"]),
        ([4.3641e13, 2.8681e12], "rate", ["43641 GFLOP/s", "2868 GFLOP/s"]),
        ([8.5e14, 9.89e14], "rate", ["850 TFLOP/s", "989 TFLOP/s"]),
        ([186.7e9, 345.6e9], "rate", ["186.7 GFLOP/s", "345.6 GFLOP/s"]),
        ([57.2e-6, 44.02e-6], "time", ["57.2 us", "44.02 us"]),
        ([0.37e-3, 44.02e-6], "time", ["370 us", "44.02 us"]),
        ([2.5e-3, 1.5e-3], "time", ["2.5 ms", "1.5 ms"]),
        ([5e-8, 1e-6], "time", ["0.05 us", "1 us"]),
        ([3e-9], "time", ["3 ns"]),
        ([0.0, 1e-6], "time", ["0 us", "1 us"]),
        ([4.9167e12, 6e12], "bandwidth", ["4917 GB/s", "6000 GB/s"]),
        ([2868.14e9, 2868.11e9], "rate", ["2868.14 GFLOP/s", "2868.11 GFLOP/s"]),
        ([math.inf, 2e12], "rate", ["inf GFLOP/s", "2000 GFLOP/s"]),
    ],
)
def test_one_unit_for_all(values: list[float], kind: Kind, shown: list[str]) -> None:
    """The smallest number decides the unit; digits are added until different numbers look different."""
    assert together(values, kind) == shown


@given(st.lists(st.floats(1e-9, 1e18), min_size=1, max_size=4))
def test_shown_numbers_keep_their_order(values: list[float]) -> None:
    """What is larger never looks smaller."""
    shown = [float(text.split()[0]) for text in together(values, "rate")]
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [shown[i] for i in order] == sorted(shown)


def test_a_ratio_shows_on_which_side_of_one_it_is() -> None:
    """1.00004 is above the roof and must not read as 1."""
    assert [ratio(v) for v in (1.3098, 1.00004, 0.99996, 22.87, 1.0, 43641.0)] == [
        "1.31", "1.00004", "0.99996", "22.9", "1", "43641",
    ]  # fmt: skip


def test_plain_numbers() -> None:
    """No powers of ten where people do not expect them."""
    assert [plain(v) for v in (0, 1234567.0, 0.00123456, 1e-9, math.nan)] == [
        "0",
        "1234567",
        "0.001235",
        "1e-09",
        "nan",
    ]


def test_json_numbers() -> None:
    """Seven digits, integers where they are, null for what is no number."""
    assert rounded(1518.2600000001) == 1518.26
    assert rounded(math.nan) is None
    assert rounded(math.inf) is None
    assert rounded(None) is None
    assert repr(whole(67108864.0)) == "67108864"
    assert whole(0.5) == 0.5
    assert whole(math.nan) is None


def test_the_unit_of_nothing() -> None:
    """Without a number there is still a unit."""
    assert unit_of([], "time")[0] == "s"
