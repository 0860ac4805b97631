"""A column of cells to numbers in SI with the edges of their rounding, and what is wrong with the others.

Plain decimals are read a column at a time, everything else cell by cell; both give the same floats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from klaudit.readers.headers import as_count
from klaudit.readers.letters import Letters
from klaudit.units import Printed, Unit, find_unit, read_printed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Index = NDArray[np.int64]
    Edges = tuple[Column, Column, Column]  # value, low, high: filled in place

# Characters of a cell that may be a number.
LONGEST: Final = 64
MISSING: Final = frozenset(("", "-", "--", "\u2013", "\u2014", "n/a", "#n/a", "na", "none", "null", "nil"))

_NOT_FINITE: Final = frozenset(("inf", "infinity", "nan", "∞"))
# No `\d` here: it takes full-width digits, and so does float().
_CELL: Final = re.compile(r"([+-]?(?:[0-9][0-9.,]*|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,6})?)\s*(.*)", re.DOTALL)
_WITH_UNIT: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([^\W\d_][^\d_,']*)")
_POWER: Final = re.compile(r"2(?:\^|\*\*)([0-9]{1,2})")
_COMMA_GROUPS: Final = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+")
_POINT_GROUPS: Final = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+")

# Where both a number's digits and the power of ten are exact floats, one division or product rounds correctly.
_EXACT_DIGITS: Final = 12
_MOST_DIGITS: Final = 18
_LARGEST_POWER: Final = 22

Comma = Literal["decimal", "decimal-only", "thousands", "unclear"]


class Expect(NamedTuple):
    """What the cells of a column may be.

    Attributes
    ----------
    what : str
        For messages: "time", "size" ...
    kinds : tuple of str
        The kinds of unit that a cell may have; empty for a bare number.
    unit : Unit or None
        The header's unit, for cells without one.
    bare : bool
        Whether a number without any unit is fine.
    zero : {"printed", "allowed", "refused"}
        "printed" takes 0.000, which is a rounded number, and refuses 0, which is none.
    comma : {"decimal", "decimal-only", "thousands", "unclear"}
        What a comma is. "decimal-only" takes no decimal point beside it.
    suffix : str
        Characters that may follow the number, such as the x of a speedup.
    """

    what: str
    kinds: tuple[str, ...] = ()
    unit: Unit | None = None
    bare: bool = False
    zero: Literal["printed", "allowed", "refused"] = "printed"
    comma: Comma = "unclear"
    suffix: str = ""


class Bad(NamedTuple):
    """A cell that is no number: its row, the rule's slug, why, and what to do."""

    row: int
    rule: str
    reason: str


class Numbers(NamedTuple):
    """A column read: NaN where a cell is missing or bad.

    `unitless` are rows with a good number and no unit anywhere: the column's fault, not theirs.
    """

    value: Column
    low: Column
    high: Column
    bad: list[Bad]
    unitless: list[int]
    unit_text: str


class CellProblem(Exception):
    """Why one cell is no number."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule
        self.reason = reason


def read_numbers(cells: Sequence[str], expect: Expect) -> Numbers:
    """Read a column.

    Parameters
    ----------
    cells : sequence of str
        The cells, one a row.
    expect : Expect
        What they may be.
    """
    value, low, high = (np.full(len(cells), np.nan) for _ in range(3))
    rest: Sequence[int] = range(len(cells))
    if expect.comma != "decimal-only":
        if expect.unit is not None or expect.bare:
            rest = _read_plain(cells, rest, expect.unit, (value, low, high))
        if expect.kinds:
            rest = _read_with_units(cells, rest, expect, (value, low, high))
    bad: list[Bad] = []
    unitless: list[int] = []
    for row in rest:
        text = cells[row].strip()
        if text.lower() in MISSING:
            continue
        try:
            printed, unit = read_cell(text, expect)
        except CellProblem as problem:
            bad.append(Bad(row, problem.rule, problem.reason))
            continue
        if unit is None and not expect.bare:
            unitless.append(row)
        else:
            value[row], low[row], high[row] = printed
    read = np.flatnonzero(~np.isnan(value))
    written = _unit_text(cells[read[0]]) if expect.unit is None and len(read) else ""
    return Numbers(value, low, high, bad, unitless, expect.unit.text if expect.unit else written)


def read_cell(text: str, expect: Expect) -> tuple[Printed, Unit | None]:
    """One cell as a number, with the unit that rules it.

    Raises
    ------
    CellProblem
        When it is no number, or one of another kind of unit.
    """
    match = _CELL.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        raise CellProblem("not-a-number", _why_no_number(text))
    number, rest = match[1], match[2]
    if not expect.kinds and expect.bare and (power := _POWER.fullmatch(text)):
        number, rest = str(2 ** int(power[1])), ""
    if rest and rest in expect.suffix:
        rest = ""
    if any(c.isnumeric() or c in "_,'" for c in rest):
        raise CellProblem("not-a-number", "is not one number: write thousands without separators, as in 1234.5")
    plain = _without_separators(number, expect.comma)
    unit = _rule_unit(rest, expect)
    printed = read_printed(plain, unit)
    if printed is None:
        raise CellProblem("not-a-number", "is not a number")
    _check_range(plain, printed, expect)
    return printed, unit


def unit_kind(text: str) -> str | None:
    """The kind of the unit that a cell carries, or None."""
    unit = find_unit(_unit_text(text))
    return unit.kind if unit else None


def _unit_text(text: str) -> str:
    """What follows the number in a cell."""
    match = _CELL.fullmatch(text.strip()) if len(text) <= LONGEST else None
    return match[2] if match else ""


def _why_no_number(text: str) -> str:
    if len(text) > LONGEST:
        return f"has {len(text)} characters, too many for a number"
    if text.lower().lstrip("+-") in _NOT_FINITE:
        return "is not a finite number"
    if any(c.isnumeric() and not c.isascii() for c in text):
        return "has digits other than 0 to 9: write them in ASCII"
    if text[0] in "\u2212\u2013" and text[1:2].isdigit():
        return "is negative"
    return "is not a number"


def _without_separators(number: str, comma: Comma) -> str:
    """The number with a decimal point and nothing else in it."""
    if comma == "decimal-only" and "." in number:
        whole, mark, fraction = number.partition(",")
        if not _POINT_GROUPS.fullmatch(whole):
            raise CellProblem("not-a-number", "has a point where the decimal mark is a comma")
        return whole.replace(".", "") + ("." if mark else "") + fraction
    if "," not in number:
        return number
    mantissa, e, exponent = number.lower().partition("e")
    whole, point, fraction = mantissa.partition(".")
    if comma.startswith("decimal"):
        left, _, right = mantissa.partition(",")
        if "," not in right and "." not in right and ("." not in left or _POINT_GROUPS.fullmatch(left)):
            return f"{left.replace('.', '')}.{right}{e}{exponent}"
        raise CellProblem("not-a-number", "is not a number with a decimal comma, as in 1234,5")
    grouped = _COMMA_GROUPS.fullmatch(whole) is not None and "," not in fraction
    clear = comma == "thousands" or bool(point) or whole.count(",") > 1
    if grouped and clear:
        return f"{whole.replace(',', '')}{point}{fraction}{e}{exponent}"
    if grouped or (mantissa.count(",") == 1 and not point):
        raise CellProblem(
            "not-a-number",
            "may have a decimal comma or a comma between thousands: say which with --decimal ',' or --decimal .",
        )
    raise CellProblem("not-a-number", "is not a number: its commas stand neither for thousands nor for decimals")


def _rule_unit(rest: str, expect: Expect) -> Unit | None:
    """The cell's own unit if it has one, else the header's."""
    if not rest:
        return expect.unit
    unit = find_unit(rest)
    if unit is None:
        raise CellProblem("unknown-unit", f"has no unit that is known: {_shorten(rest)}")
    if "work" in expect.kinds:
        unit = as_count(unit)
    if unit.kind not in expect.kinds:
        raise CellProblem("unknown-unit", f"is in {unit.text}, which is no unit of {expect.what}")
    if expect.unit is not None and unit.kind != expect.unit.kind:
        raise CellProblem("unknown-unit", f"is in {unit.text} where the header says {expect.unit.text}")
    return unit


def _check_range(plain: str, printed: Printed, expect: Expect) -> None:
    if plain.startswith("-"):
        raise CellProblem("not-a-number", f"is negative, which no {expect.what} is")
    if not math.isfinite(printed.high):
        raise CellProblem("not-a-number", "is too large for a number")
    if printed.value > 0:
        return
    mantissa = plain.lower().partition("e")[0]
    if mantissa.strip("+0."):
        raise CellProblem("not-a-number", "is too small for a number")
    rounded = bool(mantissa.partition(".")[2])
    if expect.zero == "refused" or (expect.zero == "printed" and not rounded):
        raise CellProblem("not-a-number", f"is zero, which no {expect.what} is")
    if printed.high <= 0:
        raise CellProblem("not-a-number", "is too small for a number")


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 20 else text[:20] + "…")


def _read_with_units(cells: Sequence[str], rows: Sequence[int], expect: Expect, edges: Edges) -> Sequence[int]:
    """Fill in the cells that are a plain decimal and a unit, and return the rows of the others."""
    groups: dict[str, tuple[list[int], list[str]]] = {}
    rest: list[int] = []
    for row in rows:
        match = _WITH_UNIT.fullmatch(cells[row])
        if match is None:
            rest.append(row)
            continue
        found = groups.setdefault(match[2], ([], []))
        found[0].append(row)
        found[1].append(match[1])
    for text, (members, numbers) in groups.items():
        try:
            rest += _read_plain(numbers, members, _rule_unit(text, expect), edges)
        except CellProblem:  # noqa: PERF203 (one a unit, not one a cell)
            rest += members
    return sorted(rest)


def _read_plain(texts: Sequence[str], rows: Sequence[int], unit: Unit | None, edges: Edges) -> Sequence[int]:
    """Fill in the cells that are digits with at most one point, and return the rows of the others.

    The digits make one exact integer, the unit and the point one exact power of ten, so that a single division or
    product rounds as `read_printed` does, which reads "<digits>e<exponent>".
    """
    if not texts:
        return ()
    value, low, high = edges
    digits, decimals, plain, blank = _scan(texts)
    power = (unit.exponent if unit else 0) - decimals
    factor = float(unit.factor if unit else 1)
    exact = plain & (digits >= 10 ** (_EXACT_DIGITS - 1))
    fast = plain & ~exact & (power - 1 >= -_LARGEST_POWER) & (power <= _LARGEST_POWER) & (digits > 0)
    places: Index = np.arange(rows.start, rows.stop) if isinstance(rows, range) else np.asarray(rows)
    chosen: Index | slice = slice(None)
    if not fast.all():
        chosen, digits, power = places[fast], digits[fast], power[fast]
    elif len(value) != len(rows):
        chosen = places
    value[chosen] = _scaled(digits, power) * factor
    low[chosen] = _scaled(digits * 10 - 5, power - 1) * factor
    high[chosen] = _scaled(digits * 10 + 5, power - 1) * factor
    if exact.any():
        suffix = f"e{unit.exponent}" if unit else ""
        long = np.array([float(texts[i] + suffix) for i in np.flatnonzero(exact).tolist()]) * factor
        value[places[exact]] = low[places[exact]] = high[places[exact]] = long
    rest: list[int] = places[~(fast | exact | blank)].tolist()
    return rest


def _scan(texts: Sequence[str]) -> tuple[Column, NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Per text: the digits as a whole number, how many are decimals, whether it is plain, and whether it is empty.

    A plain text is digits with at most one point.
    """
    letters = Letters.of(texts)
    bare, points, decimals = letters.without(".")
    digits, whole = bare.whole_numbers(_MOST_DIGITS)
    return digits.astype(np.float64), decimals, whole & (points <= 1), letters.lengths == 0


_POWERS: Final = np.array([10.0**p for p in range(_LARGEST_POWER + 1)])


def _scaled(digits: Column, power: NDArray[np.int64]) -> Column:
    """digits · 10^power, rounded once."""
    if not len(power) or power.max() < 0:
        return np.asarray(digits / _POWERS[-power])
    if power.min() >= 0:
        return np.asarray(digits * _POWERS[power])
    sizes = _POWERS[np.abs(power)]
    return np.asarray(np.where(power < 0, digits / sizes, digits * sizes))
