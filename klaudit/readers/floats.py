"""A column of floats as their shortest decimals would be read: the number and the edges of its rounding, in SI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from klaudit.bounds import Figures
from klaudit.units import Unit, read_printed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

# Up to so many digits a product with a power of ten is nearest to the integer that it stands for.
_SURE: Final = 2.0**51
# Floats below and above are written with an exponent.
_PLAIN: Final = (1e-4, 1e15)
_MOST_DECIMALS: Final = 19
_EXACT: Final = 1e11  # twelve digits
# Powers of ten that are exact floats: one product or quotient of exact numbers rounds correctly.
_LARGEST_POWER: Final = 22


def read_floats(values: Column, unit: Unit, decimals: int = 1) -> Figures:
    """Floats as `klaudit.units.read_printed` reads them when Python prints them.

    Parameters
    ----------
    values : ndarray, shape (rows,)
        Finite and above zero.
    unit : Unit
        Theirs.
    decimals : int
        The fewest decimals that are printed: 1 of floats ("150.0"), 0 of integers.

    Examples
    --------
    >>> from klaudit.units import find_unit
    >>> figures = read_floats(np.array([150.0, 0.37]), find_unit("ms"))
    >>> figures.low.tolist(), figures.high.tolist()
    ([0.14995, 0.000365], [0.15005, 0.000375])
    """
    figures = Figures(*(np.empty(len(values)) for _ in range(3)))
    rest = np.flatnonzero((values >= _PLAIN[0]) & (values < _PLAIN[1]))
    others = [np.flatnonzero((values < _PLAIN[0]) | (values >= _PLAIN[1]))]
    for places in range(decimals, _MOST_DECIMALS + 1):
        if not len(rest):
            break
        digits = np.rint(values[rest] * 10.0**places)
        sure = digits < _SURE
        found = sure & (digits / 10.0**places == values[rest])
        _fill(figures, rest[found], digits[found], unit, places)
        others.append(rest[~sure])
        rest = rest[sure & ~found]
    for row in np.concatenate([*others, rest]).tolist():
        value = float(values[row])
        text = repr(value) if decimals else str(int(value))
        printed = read_printed(text, unit)
        assert printed is not None
        for column, number in zip(figures, printed, strict=True):
            column[row] = number
    return figures


def _fill(figures: Figures, rows: NDArray[np.intp], digits: Column, unit: Unit, places: int) -> None:
    """Put in rows that are so many units of their last place."""
    last = unit.exponent - places
    value = _scaled(digits, last) * unit.factor
    exact = digits >= _EXACT
    figures.value[rows] = value
    figures.low[rows] = np.where(exact, value, _scaled(digits * 10 - 5, last - 1) * unit.factor)
    figures.high[rows] = np.where(exact, value, _scaled(digits * 10 + 5, last - 1) * unit.factor)


def _scaled(digits: Column, exponent: int) -> Column:
    """Digits times a power of ten, rounded once."""
    if abs(exponent) > _LARGEST_POWER:
        return np.array([float(f"{int(d)}e{exponent}") for d in digits.tolist()])
    return digits * 10.0**exponent if exponent >= 0 else digits / 10.0**-exponent
