"""Values of options: NAME=VALUE pairs, sizes, printed figures. Each says what it expected."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

import click

from klaudit.leaderboard import FigureKind
from klaudit.units import Printed, find_unit, read_printed
from klaudit.workload import DTYPE_BYTES, find_dtype

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    # Generic for type checkers only: older releases cannot be subscripted.
    _ParamType = click.ParamType

_POWER: Final = re.compile(r"\s*(\d+)\s*(?:\^|\*\*)\s*(\d{1,3})\s*")
_FIGURE: Final = re.compile(r"\s*([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*(\S.*?)\s*")
_EXAMPLES: Final = {"rate": "1.28 TFLOPS", "time": "12.3 us", "bandwidth": "900 GB/s"}


class Pair(_ParamType):
    """A text `LEFT=RIGHT`; in a variable several are separated by semicolons."""

    envvar_list_splitter = ";"

    def __init__(self, name: str, last: bool = False) -> None:
        self.name = name
        self._last = last

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Both sides, without blanks around them."""
        if isinstance(value, tuple):
            return value[0], value[1]
        left, found, right = value.rpartition("=") if self._last else value.partition("=")
        if not (found and left.strip() and right.strip()):
            self.fail(f"{value!r} is not of the form {self.name}.", param, ctx)
        return left.strip(), right.strip()


class Size(_ParamType):
    """A positive number, also written 2^26."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        try:
            power = _POWER.fullmatch(str(value))
            number = float(int(power[1]) ** int(power[2])) if power else float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if not (math.isfinite(number) and number > 0):
            self.fail(f"{value!r} is no size; write a positive number, such as 67108864 or 2^26.", param, ctx)
        return number


class Tolerance(_ParamType):
    """A finite number that is not negative."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number >= 0):
            self.fail(f"{value!r} is no tolerance; write a number of 0 or more, such as 1e-5.", param, ctx)
        return number


class SizePair(Pair):
    """A size by its name, such as n=2^26."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Name and number."""
        name, number = super().convert(value, param, ctx)
        return name, Size().convert(number, param, ctx)


class Dtype(_ParamType):
    """A dtype by any of its names."""

    name = "dtype"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name that klaudit uses."""
        found = find_dtype(str(value))
        if found is None:
            self.fail(f"{value!r} is no dtype known; there are {', '.join(DTYPE_BYTES)}.", param, ctx)
        return found


class PrintedFigure(_ParamType):
    """A figure as somebody printed it: its digits say how far it is rounded."""

    def __init__(self, kind: FigureKind, unit: str = "") -> None:
        self.name = "number" if unit else kind
        self._kind = kind
        self._unit = unit

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The figure in SI with the edges of its rounding."""
        if isinstance(value, Printed):
            return value
        match = _FIGURE.fullmatch(str(value))
        number, written = (str(value), self._unit) if self._unit else (match[1], match[2]) if match else ("", "")
        unit = find_unit(written)
        printed = read_printed(number, unit) if unit is not None and unit.kind == self._kind else None
        if printed is None or not (printed.high > 0 and math.isfinite(printed.high)):
            example = "1500" if self._unit else repr(_EXAMPLES[self._kind])
            self.fail(f"{value!r} is no {self._kind}; write such as {example}.", param, ctx)
        return printed
