"""Text to SI and back: the prefix table entry by entry, and what a printed number can mean."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from klaudit.errors import UnitError
from klaudit.units import BINARY_FACTORS, DECIMAL_EXPONENTS, find_unit, parse_quantity, read_printed, show, show_cache

# Written out by hand, with no power operator: a wrong exponent in the table cannot hide behind the same formula.
DECIMAL = {
    "": 1.0,
    "k": 1_000.0,
    "K": 1_000.0,
    "M": 1_000_000.0,
    "G": 1_000_000_000.0,
    "T": 1_000_000_000_000.0,
    "P": 1_000_000_000_000_000.0,
    "E": 1_000_000_000_000_000_000.0,
    "m": 0.001,
    "u": 0.000_001,
    "\u00b5": 0.000_001,  # micro sign
    "\u03bc": 0.000_001,  # greek mu
    "n": 0.000_000_001,
    "p": 0.000_000_000_001,
}
BINARY = {
    "Ki": 1_024,
    "Mi": 1_048_576,
    "Gi": 1_073_741_824,
    "Ti": 1_099_511_627_776,
    "Pi": 1_125_899_906_842_624,
}
PREFIXES = {  # kind: base unit, and the prefixes that people put before it
    "time": ("s", ("", "m", "u", "\u00b5", "\u03bc", "n", "p")),
    "rate": ("FLOP/s", ("", "k", "K", "M", "G", "T", "P", "E")),
    "bandwidth": ("B/s", ("", "k", "K", "M", "G", "T", "P")),
    "bytes": ("B", ("", "k", "K", "M", "G", "T", "P")),
    "work": ("FLOP", ("", "k", "K", "M", "G", "T", "P")),
    "frequency": ("Hz", ("", "k", "M", "G")),
    "bits": ("bit", ("",)),
    "pin-rate": ("bit/s", ("", "M", "G")),
    "bytes-per-clock": ("B/clk", ("", "k")),
    "operations-per-clock": ("FLOP/clk", ("", "k")),
}
ENTRIES = [(kind, prefix, prefix + base) for kind, (base, prefixes) in PREFIXES.items() for prefix in prefixes]


def test_the_table_holds_the_prefixes_written_here_and_no_other() -> None:
    """A prefix that is added must be added to this test too."""
    assert set(DECIMAL_EXPONENTS) == set(DECIMAL)
    assert set(BINARY_FACTORS) == set(BINARY)


@pytest.mark.parametrize(("kind", "prefix", "text"), ENTRIES, ids=[f"{k}-{t}" for k, _, t in ENTRIES])
def test_every_decimal_prefix_is_its_power_of_ten(kind: str, prefix: str, text: str) -> None:
    """One of each prefixed unit is the number written out by hand."""
    unit = find_unit(text)
    assert unit is not None
    assert unit.kind == kind
    assert unit.scale == pytest.approx(DECIMAL[prefix], rel=1e-15)
    assert parse_quantity(f"1 {text}", kind) == DECIMAL[prefix]


@pytest.mark.parametrize("prefix", BINARY)
@pytest.mark.parametrize(("kind", "base"), [("bytes", "B"), ("bandwidth", "B/s")])
def test_every_binary_prefix_is_its_power_of_two(prefix: str, kind: str, base: str) -> None:
    """Binary prefixes exist on bytes and bandwidths, and are exact."""
    assert parse_quantity(f"3 {prefix}{base}", kind) == 3 * BINARY[prefix]


@pytest.mark.parametrize("text", ["GiFLOP/s", "Mis", "KiHz", "Gibit/s"])
def test_binary_prefixes_exist_on_bytes_alone(text: str) -> None:
    """Nobody counts operations or seconds in binary."""
    assert find_unit(text) is None


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3.35 TB/s", "bandwidth", 3_350_000_000_000.0),
        ("50 MiB", "bytes", 52_428_800.0),  # 50 x 1 048 576
        ("0.5 us", "time", 5e-7),
        ("2048 FLOP/clk", "operations-per-clock", 2048.0),
        ("10.002 Gbit/s", "pin-rate", 10_002_000_000.0),
        ("256 bit", "bits", 256.0),
        ("1980 MHz", "frequency", 1_980_000_000.0),
        ("1978.9 TOP/s", "rate", 1_978_900_000_000_000.0),
        ("7GFLOPS", "rate", 7e9),
        ("12 milliseconds", "time", 0.012),
        ("1.5 gigaflops", "rate", 1.5e9),
        ("819 gb/s", "bandwidth", 819e9),
        ("3 MS", "time", 0.003),
    ],
)
def test_datasheet_texts(text: str, kind: str, value: float) -> None:
    """Datasheet text is read as its makers mean it."""
    assert parse_quantity(text, kind) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [("3.35", "bandwidth"), ("3.35 TB", "bandwidth"), ("TB/s", "bandwidth"), ("", "time"), ("5 parsec", "time")],
)
def test_a_quantity_without_its_unit_is_refused(text: str, kind: str) -> None:
    """A bare number, another kind of unit and no number at all are errors that quote the text."""
    with pytest.raises(UnitError, match="write a number and a unit") as caught:
        parse_quantity(text, kind)
    assert repr(text) in str(caught.value)


@given(
    digits=st.integers(1, 9_999),
    exponent=st.integers(-9, 14),
    kind=st.sampled_from(["rate", "bandwidth", "bytes", "time", "work"]),
)
@settings(deadline=None, max_examples=300, derandomize=True)
def test_what_is_shown_is_read_back(digits: int, exponent: int, kind: str) -> None:
    """Four significant digits survive show and parse, whatever the size of the number."""
    value = digits * 10.0 ** (exponent - (12 if kind == "time" else 0))
    assert parse_quantity(show(value, kind), kind) == pytest.approx(value, rel=1e-12)


def test_shown_examples() -> None:
    """The prefix leaves one to three digits before the point."""
    assert show(3.3523e12, "bandwidth") == "3.352 TB/s"
    assert show(999e9, "rate") == "999 GFLOP/s"
    assert show(1e12, "rate") == "1 TFLOP/s"
    assert show(2.56e-6, "time") == "2.56 us"
    assert show(0.0, "time") == "0 s"
    assert show(12.0, "time") == "12 s"
    assert show_cache(50 * 1_048_576) == "50 MiB"


@pytest.mark.parametrize(
    ("text", "unit", "value", "low", "high"),
    [
        # Half a unit of the last digit: 1.4 T is [1.35, 1.45] T.
        ("1.4", "TFLOPS", 1.4e12, 1.35e12, 1.45e12),
        ("0.37", "ms", 0.37e-3, 0.365e-3, 0.375e-3),
        ("1400", "GFLOPS", 1400e9, 1399.5e9, 1400.5e9),
        ("1400.", "GFLOPS", 1400e9, 1399.5e9, 1400.5e9),
        ("1400.0", "GFLOPS", 1400e9, 1399.95e9, 1400.05e9),
        # The exponent belongs to the unit of the last digit: 1.4e3 is 1400 +- 50, 5e-1 is 0.5 +- 0.05.
        ("1.4e3", None, 1400.0, 1350.0, 1450.0),
        ("14E2", None, 1400.0, 1350.0, 1450.0),
        ("5e-1", None, 0.5, 0.45, 0.55),
        ("1e0", None, 1.0, 0.5, 1.5),
        (".5", None, 0.5, 0.45, 0.55),
        ("+2", None, 2.0, 1.5, 2.5),
        # Nothing is below zero seconds: 0.000 us is [0, 0.0005] us.
        ("0.000", "us", 0.0, 0.0, 5e-10),
        ("0.00", "ms", 0.0, 0.0, 5e-6),
        # A negative number is the mirror of its amount.
        ("-1.4", "TFLOPS", -1.4e12, -1.45e12, -1.35e12),
        ("-0.0", None, 0.0, -0.05, 0.0),
        # Binary: half a unit of 1.5 GiB/s is 0.05 x 2**30.
        ("1.5", "GiB/s", 1.5 * 1_073_741_824, 1.45 * 1_073_741_824, 1.55 * 1_073_741_824),
        # Eleven digits still round, twelve are exact; zeros before the first digit do not count.
        ("0.12345678901", None, 0.12345678901, 0.123456789005, 0.123456789015),
        ("0.123456789012", None, 0.123456789012, 0.123456789012, 0.123456789012),
        ("123456789012", "us", 123456.789012, 123456.789012, 123456.789012),
        ("000000001.4", None, 1.4, 1.35, 1.45),
    ],
)
def test_a_printed_number_is_an_interval(text: str, unit: str | None, value: float, low: float, high: float) -> None:
    """Half a unit of the last printed digit either way."""
    printed = read_printed(text, find_unit(unit) if unit else None)
    assert printed is not None
    assert printed.value == pytest.approx(value, rel=1e-15, abs=0)
    assert printed.low == pytest.approx(low, rel=1e-15, abs=0)
    assert printed.high == pytest.approx(high, rel=1e-15, abs=0)


@pytest.mark.parametrize("text", ["", " ", ".", "e3", "1,5", "1 2", "nan", "inf", "0x10", "1e", "--1", "1e9999999"])
def test_what_is_no_number_is_none(text: str) -> None:
    """Whatever is not a plain decimal is left to the caller."""
    assert read_printed(text) is None


@given(
    digits=st.integers(0, 10**14),
    decimals=st.integers(0, 9),
    units=st.sampled_from(
        [("s", "ms", 3), ("ms", "us", 3), ("s", "ns", 9), ("TFLOPS", "GFLOPS", 3), ("GB/s", "B/s", 9)]
    ),
)
@settings(deadline=None, max_examples=400, derandomize=True)
def test_the_same_digits_in_another_unit_are_the_same_floats(
    digits: int, decimals: int, units: tuple[str, str, int]
) -> None:
    """Moving the point and changing the decimal unit changes no bit of value or edges."""
    coarse, fine, places = units
    last = -decimals  # the last digit's place in the coarse unit
    in_coarse, in_fine = f"{digits}e{last}", f"{digits}e{last + places}"
    first, second = read_printed(in_coarse, find_unit(coarse)), read_printed(in_fine, find_unit(fine))
    assert first == second
    assert first is not None
    assert first.low <= first.value <= first.high
    # Written with a point instead of an exponent it is the same again.
    text = str(digits).rjust(decimals + 1, "0")
    plain = f"{text[: len(text) - decimals]}.{text[len(text) - decimals :]}" if decimals else text
    assert read_printed(plain, find_unit(coarse)) == first


@given(value=st.floats(1e-12, 1e12), digits=st.integers(1, 10), style=st.sampled_from("eg"))
@settings(deadline=None, max_examples=300, derandomize=True)
def test_the_interval_holds_what_was_rounded(value: float, digits: int, style: str) -> None:
    """Printing with fewer than twelve digits and reading back always brackets the true value."""
    printed = read_printed(f"{value:.{digits}{style}}")
    assert printed is not None
    slack = 4 * math.ulp(value)
    assert printed.low - slack <= value <= printed.high + slack
