"""A formula in a spec, such as "2*m*n*k", as a function of whole columns. Nothing is ever executed but arithmetic."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from klaudit.errors import FormulaError

# Values are floats or numpy columns; both answer the same operators.
_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_FUNCTION_NAMES: Final = ("min", "max", "ceil", "floor", "log2", "sqrt")
_MAX_LENGTH: Final = 500


class Formula:
    """Plain arithmetic over named sizes.

    Parameters
    ----------
    text : str
        The formula as the spec writes it.
    names : collection of str
        The size names it may use.

    Raises
    ------
    FormulaError
        When it is anything but arithmetic over those names.

    Examples
    --------
    >>> Formula("2*m*n*k", ("m", "n", "k"))({"m": 2.0, "n": 3.0, "k": 5.0})
    60.0
    """

    __slots__ = ("_tree", "names", "text")

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self.text = text
        try:
            if len(text) > _MAX_LENGTH:
                raise FormulaError(f"formula is longer than {_MAX_LENGTH} characters")
            self._tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise FormulaError(f"formula {text!r} is not arithmetic") from None
        self.names = frozenset(_check(self._tree, text, names))

    def __call__(self, sizes: Mapping[str, Any]) -> Any:
        """The value at `sizes`: a float where all sizes are floats, else a column."""
        try:
            return _evaluate(self._tree, sizes)
        except (ArithmeticError, ValueError) as error:
            raise FormulaError(f"formula {self.text!r} has no value at {dict(sizes)}: {error}") from None

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def _check(node: ast.expr, text: str, allowed: tuple[str, ...]) -> set[str]:
    """The size names below `node`, or an error for the first thing that is not arithmetic."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return set()
        case ast.Name(id=name) if name in allowed:
            return {name}
        case ast.Name(id=name):
            raise FormulaError(f"formula {text!r} uses {name!r}; it may use {', '.join(allowed)}")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _check(left, text, allowed) | _check(right, text, allowed)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _check(operand, text, allowed)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTION_NAMES and args:
            return set().union(*(_check(arg, text, allowed) for arg in args))
        case _:
            raise FormulaError(
                f"formula {text!r} holds {ast.unparse(node)!r}; allowed are + - * / // **, numbers,"
                f" {', '.join(allowed)} and {', '.join(_FUNCTION_NAMES)}"
            )


def _evaluate(node: ast.expr, sizes: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=number):
            # Floats throughout: sizes of 2**40 squared leave the range of int64 columns.
            return float(number)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return sizes[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_evaluate(left, sizes), _evaluate(right, sizes))
        case ast.UnaryOp(operand=operand):
            return -_evaluate(operand, sizes)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, [_evaluate(arg, sizes) for arg in args])
        case _:  # pragma: no cover - _check lets nothing else through
            raise FormulaError(f"unexpected {ast.dump(node)}")


_SCALARS: Final[dict[str, Callable[..., float]]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "sqrt": math.sqrt,
}


def _call(name: str, values: list[Any]) -> Any:
    if all(isinstance(value, float) for value in values):
        return float(_SCALARS[name](*values))
    import numpy as np

    if name in ("min", "max"):
        return functools.reduce(np.minimum if name == "min" else np.maximum, values)
    columns: dict[str, Callable[[Any], Any]] = {
        "ceil": np.ceil, "floor": np.floor, "log2": np.log2, "sqrt": np.sqrt,
    }  # fmt: skip
    return columns[name](*values)
