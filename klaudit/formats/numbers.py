"""Numbers for people and for JSON: those that stand together share one unit. No prefix is defined here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

from klaudit.units import DECIMAL_EXPONENTS
from klaudit.units import plain as plain

Kind = Literal["rate", "time", "bandwidth"]

BASES: Final = {"rate": "FLOP/s", "time": "s", "bandwidth": "B/s"}
# JSON and CSV: the key of a kind and what one of it is in SI.
KEYS: Final = {"rate": ("gflops", 1e9), "time": ("time_us", 1e-6), "bandwidth": ("gb_per_s", 1e9)}
_PREFIXES: Final = {"rate": ("P", "T", "G", "M", "k"), "time": ("", "m", "u", "n"), "bandwidth": ("T", "G", "M", "k")}
# The least that the smallest of several numbers may be in their unit: boards write 3757 GFLOP/s, not 3.757 TFLOP/s.
_LEAST: Final = {"rate": 10.0, "time": 1.0, "bandwidth": 10.0}


def unit_of(values: Sequence[float], kind: Kind) -> tuple[str, float]:
    """One unit for all of `values`, and its size in SI."""
    sizes = [abs(v) for v in values if v and math.isfinite(v)]
    least = min(sizes, default=1.0)
    for prefix in _PREFIXES[kind]:
        scale = 10.0 ** DECIMAL_EXPONENTS[prefix]
        if least >= _LEAST[kind] * scale or (prefix == "u" and least >= 0.01 * scale):
            break
    return prefix + BASES[kind], scale


def together(values: Sequence[float], kind: Kind) -> list[str]:
    """`values` in one unit, with as many digits as it takes to tell them apart (four to eight).

    Examples
    --------
    >>> together([3.757e12, 2.8681e12, 8.0727e12], "rate")
    ['3757 GFLOP/s', '2868 GFLOP/s', '8073 GFLOP/s']
    >>> together([5.72e-5, 4.402e-5], "time")
    ['57.2 us', '44.02 us']
    """
    unit, scale = unit_of(values, kind)
    scaled = [v / scale for v in values]
    for digits in range(4, 9):
        shown = [plain(v, digits) for v in scaled]
        if len(set(shown)) == len(set(scaled)):
            break
    return [f"{text} {unit}" for text in shown]


def ratio(value: float) -> str:
    """A ratio in three digits, or more where it takes more to see that it is not one.

    Examples
    --------
    >>> ratio(1.3098), ratio(1.00004), ratio(22.87)
    ('1.31', '1.00004', '22.9')
    """
    for digits in range(3, 9):
        text = plain(value, digits)
        if text != "1" or value == 1:
            break
    return text


def rounded(value: float | None, digits: int = 7) -> float | None:
    """A JSON number: `value` in `digits` significant digits, or None where it is none."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def whole(value: float) -> float | int | None:
    """A size for JSON: an integer where it is one."""
    return int(value) if math.isfinite(value) and value == int(value) else rounded(value)
