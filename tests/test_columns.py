"""Columns of cells: numbers in SI with their edges, and days."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klaudit.readers.columns import Expect, read_numbers
from klaudit.readers.words import read_day, read_days
from klaudit.units import find_unit, read_printed


@pytest.mark.parametrize(
    ("text", "comma", "value"),
    [
        ("1,518", "decimal", 1.518),
        ("1.518", "decimal", 1.518),
        ("1.234,5", "decimal", 1234.5),
        ("1,234.5", "decimal", None),
        ("1.518", "decimal-only", 1518),
        ("1.5", "decimal-only", None),
        ("1.234.567,25", "decimal-only", 1234567.25),
        ("0,5", "decimal-only", 0.5),
        ("1,518", "thousands", 1518),
        ("1,5", "thousands", None),
        ("1,518", "unclear", None),
        ("1,5", "unclear", None),
        ("1,234.5", "unclear", 1234.5),
        ("1,234,567", "unclear", 1234567),
        ("1,23,4.5", "unclear", None),
        (",5", "unclear", None),
        (",5", "decimal", 0.5),
        ("1,5e3", "decimal", 1500),
    ],
)
def test_commas(text: str, comma: str, value: float | None) -> None:
    """A comma is read only where the delimiter, the user or the number's form says what it is."""
    numbers = read_numbers([text], Expect("size", bare=True, comma=comma))  # type: ignore[arg-type]
    assert (len(numbers.bad) == 0) == (value is not None)
    assert value is None or numbers.value[0] == value


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1970-01-02", 1),
        ("1970-01-02 12:00:00.123456", 1),
        ("1970-01-02T12:00Z", 1),
        ("1970-01-02T00:30:00+01:00", 0),
        ("1970-01-01T23:30:00-0100", 1),
        ("0000086400", 1),
        ("0000086400000", 1),
        ("86400", None),
        ("02/01/1970", None),
        ("1970-02-30", None),
        ("1970-01-02T25:00:00Z", None),
        ("1970-01-02T12:00:00+14:00", 0),
        ("1970-01-02T13:59:00+14", 0),
        ("1970-01-02T12:00:00-1200", 2),
        ("1970-01-02T12:00:00-00:00", 1),
        ("1970-01-02T12:00:00+05:45", 1),
        ("1970-01-02T12:00:00+99:00", None),
        ("1970-01-02T12:00:00-99", None),
        ("1970-01-02T12:00:00+14:01", None),
        ("1970-01-02T12:00:00-12:01", None),
        ("1970-01-02T12:00:00+15:00", None),
        ("1970-01-02T12:00:00+05:60", None),
        ("1970-01-02T12:00:00+0599", None),
        ("", None),
    ],
)
def test_days(text: str, day: int | None) -> None:
    """ISO dates and times of zones that exist, and seconds or milliseconds of 10 or 13 digits; nothing else."""
    assert read_day(text) == day
    (column,), bad = read_days([text])
    assert bad == ([0] if text and day is None else [])
    assert np.isnat(column) == (day is None)
    assert day is None or column == np.datetime64(day, "D")


def test_a_cells_own_unit_rules_alone() -> None:
    """5 us below `time_ms` are 5e-6 s with the rounding of 5 us, in plain and in other forms; never both units."""
    expect = Expect("time", ("time",), find_unit("ms"))
    cells = ["5 us", "5us", " 5 us ", "+5 us", "5e0 us", "5,000.0 ns", "5", "0.000005 s", "5 MS"]
    numbers = read_numbers(cells, expect)
    assert numbers.bad == []
    assert numbers.value.tolist() == [5e-6, 5e-6, 5e-6, 5e-6, 5e-6, 5e-6, 5e-3, 5e-6, 5e-3]
    assert (numbers.low[0], numbers.high[0]) == (4.5e-6, 5.5e-6)


@pytest.mark.parametrize("cell", ["5 GB/s", "5 GFLOPS", "5 GB", "5 parsec"])
def test_a_cells_unit_of_another_kind_is_no_figure(cell: str) -> None:
    """Below `time_ms` a bandwidth is a reason, neither a time nor a figure of its own."""
    numbers = read_numbers([cell], Expect("time", ("time",), find_unit("ms")))
    assert [b.rule for b in numbers.bad] == ["unknown-unit"]
    assert np.isnan(numbers.value[0])


plain = st.one_of(
    st.from_regex(r"[0-9]{1,14}(\.[0-9]{0,10})?", fullmatch=True),
    st.from_regex(r"0?\.0{0,8}[0-9]{1,13}", fullmatch=True),
    st.floats(min_value=1e-30, max_value=1e30).map(repr),
    st.decimals(min_value=0, max_value=10**9, places=3).map(str),
)
units = st.sampled_from(["ns", "us", "ms", "s", "ps", "GFLOPS", "TFLOPS", "EFLOPS", "GB/s", "GiB/s", "B/s"])


@given(st.lists(plain, min_size=1, max_size=20), units, st.booleans())
def test_columns_read_as_single_cells_do(texts: list[str], unit_text: str, in_cell: bool) -> None:
    """The fast path gives the very floats of `read_printed`, with the unit in the header or in the cell."""
    unit = find_unit(unit_text)
    kinds = ("time", "rate", "bandwidth")
    cells = [f"{t} {unit_text}" for t in texts] if in_cell else texts
    numbers = read_numbers(cells, Expect("figure", kinds, None if in_cell else unit, zero="allowed"))
    for row, text in enumerate(texts):
        expected = read_printed(text, unit)
        if not any(b.row == row for b in numbers.bad):
            assert (numbers.value[row], numbers.low[row], numbers.high[row]) == expected


@given(st.lists(st.text(max_size=12), min_size=1, max_size=8))
def test_any_text_is_missing_bad_or_a_number(cells: list[str]) -> None:
    """No cell escapes: it is a finite number, missing, without unit, or bad; and cells do not touch each other."""
    expect = Expect("time", ("time",), find_unit("ms"))
    numbers = read_numbers(cells, expect)
    for row, cell in enumerate(cells):
        alone = read_numbers([cell], expect)
        assert [b.reason for b in numbers.bad if b.row == row] == [b.reason for b in alone.bad]
        assert np.array_equal(numbers.value[row : row + 1], alone.value, equal_nan=True)
        assert not (alone.bad and np.isfinite(alone.value[0]))
        assert np.isnan(alone.value[0]) or 0 <= alone.low[0] <= alone.value[0] <= alone.high[0] < np.inf
