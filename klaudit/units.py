"""Text to SI and back: the only prefix table, and what a printed number can mean.

Inside the house everything is seconds, bytes, operations and their ratios. No numpy here:
the command line starts without it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from klaudit.errors import UnitError

DECIMAL_EXPONENTS: Final = {
    "": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
    "m": -3, "u": -6, "µ": -6, "μ": -6, "n": -9, "p": -12,
}  # fmt: skip
BINARY_FACTORS: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}

# Kind of quantity: the spellings of its base unit, the prefixes that make sense on it, and the spelling we print.
_BASES: Final = {
    "time": (("s", "sec", "secs", "second", "seconds"), ("", "m", "u", "µ", "μ", "n", "p"), "s"),
    "rate": (
        ("FLOP/s", "FLOPS", "FLOPs", "FLOPs/s", "FLOPS/s", "OP/s", "OPS", "OPs"),
        ("", "k", "K", "M", "G", "T", "P", "E"),
        "FLOP/s",
    ),
    "bandwidth": (("B/s", "Bps", "byte/s", "bytes/s", "bytes/sec"), ("", "k", "K", "M", "G", "T", "P"), "B/s"),
    "bytes": (("B", "byte", "bytes"), ("", "k", "K", "M", "G", "T", "P"), "B"),
    "work": (("FLOP", "OP"), ("", "k", "K", "M", "G", "T", "P"), "FLOP"),
    "frequency": (("Hz",), ("", "k", "M", "G"), "Hz"),
    "bits": (("bit", "bits"), ("",), "bit"),
    "pin-rate": (("bit/s", "bps"), ("", "M", "G"), "bit/s"),
    "bytes-per-clock": (("B/clk",), ("", "k"), "B/clk"),
    "operations-per-clock": (("FLOP/clk", "OP/clk", "op/clk"), ("", "k"), "FLOP/clk"),
}
# Whole words that the field writes for a prefixed unit.
_WORDS: Final = {
    "millisecond": "ms", "milliseconds": "ms", "msec": "ms", "msecs": "ms", "msecond": "ms",
    "microsecond": "us", "microseconds": "us", "usec": "us", "usecs": "us", "usecond": "us",
    "nanosecond": "ns", "nanoseconds": "ns", "nsec": "ns", "nsecond": "ns",
    "teraflops": "TFLOPS", "gigaflops": "GFLOPS", "megaflops": "MFLOPS", "petaflops": "PFLOPS",
    "teraflop/s": "TFLOPS", "gigaflop/s": "GFLOPS",
}  # fmt: skip

_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY: Final = re.compile(rf"\s*({_NUMBER})\s*([^\s\d].*?)\s*", re.DOTALL)
_DECIMAL: Final = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?")
_EXACT_DIGITS: Final = 12


class Unit(NamedTuple):
    """A unit as written: its kind, and its size as a power of ten times a binary factor."""

    kind: str
    exponent: int
    factor: int
    text: str

    @property
    def scale(self) -> float:
        """The unit in SI."""
        return self.factor * 10.0**self.exponent


class Printed(NamedTuple):
    """What a printed number can mean, in SI: the number itself and the edges of its rounding."""

    value: float
    low: float
    high: float


def _build_table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for kind, (spellings, prefixes, _) in _BASES.items():
        for base in spellings:
            for prefix in prefixes:
                table[prefix + base] = Unit(kind, DECIMAL_EXPONENTS[prefix], 1, prefix + base)
            if kind in ("bandwidth", "bytes"):
                for prefix, factor in BINARY_FACTORS.items():
                    table[prefix + base] = Unit(kind, 0, factor, prefix + base)
    for word, unit in _WORDS.items():
        table[word] = table[unit]
    return table


_UNITS: Final = _build_table()
# Case-insensitive reading, only where it is unambiguous ("GFLOPs", "gb/s", "MS" for time but never m/M of bytes).
_FOLDED: Final[dict[str, set[Unit]]] = {}
for _text, _unit in _UNITS.items():
    _FOLDED.setdefault(_text.lower(), set()).add(_unit._replace(text=""))


def find_unit(text: str) -> Unit | None:
    """The unit that `text` spells, or None.

    Examples
    --------
    >>> find_unit("GFLOPS").scale, find_unit("ms").kind, find_unit("GiB/s").factor
    (1000000000.0, 'time', 1073741824)
    """
    text = text.strip().strip("()[]").replace(" ", "")
    if text in _UNITS:
        return _UNITS[text]
    folded = _FOLDED.get(text.lower(), set())
    if len({(u.kind, u.exponent, u.factor) for u in folded}) == 1:
        return next(iter(folded))._replace(text=text)
    return None


def parse_quantity(text: str, kind: str) -> float:
    """A datasheet text as SI.

    Parameters
    ----------
    text : str
        Number and unit, such as "3.35 TB/s" or "50 MiB".
    kind : str
        The kind of quantity expected: a key of the unit table, such as "bandwidth".

    Raises
    ------
    UnitError
        When the text has no unit, or a unit of another kind.

    Examples
    --------
    >>> parse_quantity("3.35 TB/s", "bandwidth"), parse_quantity("50 MiB", "bytes")
    (3350000000000.0, 52428800.0)
    """
    match = _QUANTITY.fullmatch(text)
    unit = find_unit(match[2]) if match else None
    if match is None or unit is None or unit.kind != kind:
        example = {"time": "0.5 us", "bits": "256 bit", "bytes": "50 MiB"}.get(kind, f"1.5 G{_BASES[kind][2]}")
        raise UnitError(f"{text!r} is no {kind}: write a number and a unit, such as {example!r}")
    printed = read_printed(match[1], unit)
    if printed is None:  # pragma: no cover - both patterns read the same numbers
        raise UnitError(f"{text!r} is no {kind}")
    return printed.value


def read_printed(text: str, unit: Unit | None = None) -> Printed | None:
    """A printed number as the interval of what may have been rounded to it, in SI; None where it is no number.

    Half a unit of the last printed digit either way, exponent included; 12 or more digits are exact. The edges are
    taken from the decimal digits, so the same digits in another decimal unit give the same floats.

    Examples
    --------
    >>> read_printed("1.4", find_unit("TFLOPS"))
    Printed(value=1400000000000.0, low=1350000000000.0, high=1450000000000.0)
    >>> read_printed("0.000", find_unit("us"))
    Printed(value=0.0, low=0.0, high=5e-10)
    """
    match = _DECIMAL.fullmatch(text.strip())
    if match is None or not (match[2] or match[3]):
        return None
    sign, whole, fraction, exponent = match[1], match[2], match[3] or "", int(match[4] or 0)
    digits = (whole + fraction).lstrip("0")
    last = exponent - len(fraction) + (unit.exponent if unit else 0)
    factor = unit.factor if unit else 1
    value = float(f"{sign}{digits or '0'}e{last}") * factor
    if len(digits) >= _EXACT_DIGITS:
        return Printed(value, value, value)
    tenths = int(digits or "0") * 10
    low = float(f"{max(tenths - 5, 0)}e{last - 1}") * factor
    high = float(f"{tenths + 5}e{last - 1}") * factor
    return Printed(value, -high, -low) if sign == "-" else Printed(value, low, high)


def plain(value: float, digits: int = 4) -> str:
    """`value` with `digits` significant digits, never in powers of ten between 1e-4 and 1e15.

    Examples
    --------
    >>> plain(43641.2), plain(0.46512), plain(186.7)
    ('43641', '0.4651', '186.7')
    """
    size = abs(value)
    # Most numbers of a report: not so large that the format would turn to powers of ten.
    if 1e-4 <= size < 10**digits - 0.5:
        return f"{value:.{digits}g}"
    if not math.isfinite(value):
        return str(value)
    if size == 0:
        return "0"
    if not 1e-4 <= size < 1e15:
        return f"{value:.{digits}g}"
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# For people each kind has one spelling of a prefix.
_SHOWN: Final = {
    kind: tuple((p, 10.0 ** DECIMAL_EXPONENTS[p]) for p in prefixes if p not in ("µ", "μ", "K"))
    for kind, (_, prefixes, _) in _BASES.items()
}


def show(value: float, kind: str, digits: int = 4) -> str:
    """A value in SI for people, with a decimal prefix.

    Examples
    --------
    >>> show(3.3523e12, "bandwidth"), show(2.56e-6, "time"), show(805306368, "bytes")
    ('3.352 TB/s', '2.56 us', '805.3 MB')
    """
    return show_together((value,), kind, digits)[0]


def show_together(values: Sequence[float], kind: str, digits: int = 4, beside: float = math.nan) -> list[str]:
    """Values in SI for people that share one unit: the one that suits the smallest of them and what stands `beside`.

    Examples
    --------
    >>> show_together((1.5e12, 186.7e9), "rate"), show_together((1.5e12,), "rate", beside=186.7e9)
    (['1500 GFLOP/s', '186.7 GFLOP/s'], ['1500 GFLOP/s'])
    """
    base, smallest = _BASES[kind][2], math.inf
    for value in (*values, beside):
        if 0 < abs(value) < smallest:
            smallest = abs(value)
    prefix, scale = _prefix(kind, smallest if smallest < math.inf else 1.0)
    return [f"{plain(value / scale, digits)} {prefix}{base}" if value else f"0 {base}" for value in values]


def show_cache(size: float) -> str:
    """A cache's capacity for people, in MiB as its makers mean it.

    Examples
    --------
    >>> show_cache(52428800), show_cache(132644864)
    ('50 MiB', '126.5 MiB')
    """
    return f"{size / 2**20:g} MiB"


def _prefix(kind: str, value: float) -> tuple[str, float]:
    """The prefix that leaves one to three digits before the point, or comes closest to that."""
    for shown in _SHOWN[kind]:
        if 1 <= value / shown[1] < 1000:
            return shown
    return min(_SHOWN[kind], key=lambda shown: _distance(value / shown[1]))


def _distance(scaled: float) -> float:
    """How far a scaled value is from having one to three digits before the point, which it has not."""
    if scaled <= 0:  # underflown
        return math.inf
    return scaled / 1000 if scaled >= 1000 else 1 / scaled
