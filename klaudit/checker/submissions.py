"""The submissions that are tried: the trivial ones, and the honest ones that must pass. One function each.

A submission makes some outputs of a chunk. To add one, write the function and a line of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from klaudit.checker.inputs import CaseData, Chunk
from klaudit.checker.precision import ROUNDINGS, fast_functions, narrow_arithmetic
from klaudit.checker.references import Reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


class Submission(NamedTuple):
    """One way to fill the output.

    Attributes
    ----------
    plain : str
        What it does, as a sentence continues "consistent with ...".
    outputs : callable
        From a chunk to its outputs, or one number for all of them.
    reads, writes : float
        How many arrays of the output's size it reads and writes; None reads and writes what is compulsory.
    computes : bool
        Whether it computes from the inputs: of a total it then makes the terms.
    """

    slug: str
    plain: str
    outputs: Callable[[Chunk], Array | float]
    reads: float | None = 0.0
    writes: float = 1.0
    computes: bool = False
    honest: bool = False


def _rounded_inputs(dtype: str) -> Callable[[Chunk], Array]:
    def outputs(chunk: Chunk) -> Array:
        return np.asarray(chunk.data.formula(*(ROUNDINGS[dtype](values) for values in chunk.inputs)))

    return outputs


def _rounded_arithmetic(dtype: str) -> Callable[[Chunk], Array]:
    return lambda chunk: narrow_arithmetic(chunk.data.formula, chunk.inputs, dtype)


def _previous_output(previous: CaseData) -> Callable[[Chunk], Array]:
    """The previous case's outputs, as far as they go; the rest as initialised."""

    def outputs(chunk: Chunk) -> Array:
        stale = previous.outputs_between(chunk.start, chunk.stop)
        return np.append(stale, np.full(len(chunk.reference) - len(stale), chunk.initial))

    return outputs


def trivial(data: CaseData, previous: CaseData | None) -> list[Submission]:
    """The submissions whose outputs have no parameter to choose.

    Parameters
    ----------
    data : CaseData
        The case they are tried on.
    previous : CaseData or None
        The case before it.
    """
    found = [
        Submission("nothing-written", "writing nothing", lambda chunk: chunk.initial, writes=0.0),
        Submission("all-zeros", "writing all zeros", lambda chunk: 0.0),
    ]
    if previous is not None and data.reference.layout != "total":
        stale = "writing the previous case's output again"
        found.append(Submission("previous-output", stale, _previous_output(previous), reads=1.0))
    for dtype in ROUNDINGS:
        if dtype != data.dtype:
            for slug, plain, outputs in (
                (f"{dtype}-inputs", f"inputs rounded to {dtype}", _rounded_inputs(dtype)),
                (f"{dtype}-arithmetic", f"arithmetic in {dtype}", _rounded_arithmetic(dtype)),
            ):
                found.append(Submission(slug, plain, outputs, reads=None, computes=True))
    return found


def _fast(sign: int) -> Callable[[Chunk], Array]:
    return lambda chunk: fast_functions(chunk.data.formula, chunk.inputs, sign)


def _other_form(formula: Callable[..., Any]) -> Callable[[Chunk], Array]:
    return lambda chunk: np.asarray(formula(*chunk.inputs, **chunk.data.parameters))


def honest(reference: Reference) -> list[Submission]:
    """The float32 kernels that a check must accept: the formula, its other forms, and fast special functions."""
    ways = [("float32", "the formula in float32", _other_form(reference.formula))]
    ways += [(name.replace(" ", "-"), name, _other_form(formula)) for name, formula in reference.others.items()]
    if reference.special:
        for sign, word in ((1, "high"), (-1, "low")):
            ways.append((f"fast-functions-{word}", f"fast special functions, the first too {word}", _fast(sign)))
    return [Submission(slug, plain, way, reads=None, computes=True, honest=True) for slug, plain, way in ways]
