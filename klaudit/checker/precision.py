"""Arithmetic as other hardware does it: float16 and bfloat16, and the fast special functions of a GPU.

A formula written for numpy is run on arrays that round, or perturb, the result of every operation. numpy only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

# What fast functions may be off by, in the CUDA C++ programming guide's words ("Intrinsic functions"; recalled): __logf
# by 2^-21.41 near 1 and by 3 units in the last place elsewhere, __expf by 2 + floor(|1.173 x|) units.
FAST_LOGARITHM: Final = 2.0**-21
_LOGARITHM_UNITS: Final = 3
_UNIT: Final = 2.0**-23
_LOGARITHMS: Final = (np.log, np.log2)
_EXPONENTIALS: Final = (np.exp, np.exp2)


def to_float16(values: Array) -> Array:
    """Values rounded to float16, to nearest and ties to even, as float32.

    The same as a conversion there and back, which takes a slow way for every number below 6.1e-5.

    Examples
    --------
    >>> to_float16(np.array([1.0, 1.0004, 1e-7, 7e4], dtype=np.float32)).tolist()
    [1.0, 1.0, 1.1920928955078125e-07, inf]
    """
    exact = np.ascontiguousarray(values, dtype=np.float32)
    size = np.abs(exact)
    # Below 2^-14 float16 counts in steps of 2^-24, and so does float32 between 1/2 and 1.
    low = (exact + np.float32(0.75)) - np.float32(0.75)
    rounded = np.where(size < np.float32(2.0**-14), low, _round_bits(exact, 13))
    rounded = np.where(size >= np.float32(65520), np.copysign(np.float32(np.inf), exact), rounded)
    return np.asarray(np.where(np.isnan(exact), exact, rounded))


def to_bfloat16(values: Array) -> Array:
    """Values rounded to bfloat16, to nearest and ties to even, as float32.

    Examples
    --------
    >>> to_bfloat16(np.array([1.0, 1.00390625, 1.01171875], dtype=np.float32)).tolist()
    [1.0, 1.0, 1.015625]
    """
    exact = np.ascontiguousarray(values, dtype=np.float32)
    return np.asarray(np.where(np.isnan(exact), exact, _round_bits(exact, 16)))


def _round_bits(exact: Array, dropped: int) -> Array:
    """float32 without its last bits, to nearest and ties to even: a carry into the exponent is the next power of 2."""
    bits = exact.view(np.uint32)
    odd = (bits >> np.uint32(dropped)) & np.uint32(1)
    half = np.uint32((1 << (dropped - 1)) - 1)
    kept = np.uint32(0xFFFFFFFF ^ ((1 << dropped) - 1))
    return np.asarray(((bits + (half + odd)) & kept).view(np.float32))


ROUNDINGS: Final[dict[str, Callable[[Array], Array]]] = {"float16": to_float16, "bfloat16": to_bfloat16}

_After = Callable[[np.ufunc, Any, Any], Any]


class _Emulated(np.ndarray):
    """A float32 array whose operations pass through a function of their own."""

    after: _After | None

    def __array_finalize__(self, obj: object) -> None:
        self.after = getattr(obj, "after", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [i.view(np.ndarray) if isinstance(i, _Emulated) else i for i in inputs]
        kwargs.pop("out", None)
        result = getattr(ufunc, method)(*plain, **kwargs)
        if self.after is None or getattr(result, "dtype", None) != np.float32:
            return result
        changed = np.asarray(self.after(ufunc, plain[0], result)).view(_Emulated)
        changed.after = self.after
        return changed


def _run(formula: Callable[..., Any], inputs: tuple[Array, ...], after: _After) -> Array:
    wrapped = []
    for values in inputs:
        emulated = values.view(_Emulated)
        emulated.after = after
        wrapped.append(emulated)
    with np.errstate(all="ignore"):
        return np.asarray(formula(*wrapped)).view(np.ndarray)


def narrow_arithmetic(formula: Callable[..., Any], inputs: tuple[Array, ...], dtype: str) -> Array:
    """A formula whose inputs and whose every result are rounded; sums are kept in float32 and rounded at the end.

    Parameters
    ----------
    formula : callable
        Of as many arrays as there are inputs.
    inputs : tuple of ndarray of float32
    dtype : str
        "float16" or "bfloat16".
    """
    rounding = ROUNDINGS[dtype]

    def after(ufunc: np.ufunc, argument: Any, result: Any) -> Any:
        return rounding(np.asarray(result))

    return _run(formula, tuple(rounding(values) for values in inputs), after)


def fast_functions(formula: Callable[..., Any], inputs: tuple[Array, ...], sign: int) -> Array:
    """A formula in float32 whose logarithms and exponentials are off by the most that fast ones may be.

    Parameters
    ----------
    formula : callable
    inputs : tuple of ndarray of float32
    sign : int
        The direction of the first such function's error; the next one's is the opposite, the worst for a difference.
    """
    turn = [sign]

    def after(ufunc: np.ufunc, argument: Any, result: Any) -> Any:
        if ufunc in _LOGARITHMS:
            error = np.maximum(np.float32(FAST_LOGARITHM), np.abs(np.spacing(result)) * np.float32(_LOGARITHM_UNITS))
        elif ufunc in _EXPONENTIALS:
            error = result * ((2 + np.float32(1.173) * np.abs(argument)) * np.float32(_UNIT))
        else:
            return result
        changed = result + np.float32(turn[0]) * error
        turn[0] = -turn[0]
        return changed

    return _run(formula, inputs, after)
