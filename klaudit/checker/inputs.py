"""The inputs of a case, chunk by chunk: any chunk can be drawn alone and is always the same."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from klaudit.board import Case, Checker, Draw
from klaudit.checker.precision import ROUNDINGS
from klaudit.checker.references import Reference
from klaudit.errors import SpecError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

# Elements of an input at a time: a few dozen such arrays are the whole memory of a run.
CHUNK: Final = 1 << 18
# Elements of an input looked at, at most: whole cases up to 2**26, and samples.
EXAMINED: Final = 1 << 26
EXAMINED_QUICKLY: Final = 1 << 17
# A product is sampled by rows and columns, so that its multiplications stay below this.
_PRODUCTS: Final = 1 << 32
_PRODUCTS_QUICKLY: Final = 1 << 26
_COLUMNS: Final = 1024
_COLUMNS_QUICKLY: Final = 128
_FACTOR_QUICKLY: Final = 1 << 20
_ROWS_AT_ONCE: Final = 256
# Far from the seeds that people choose.
_OTHER_SEED: Final = 1_000_003


class Chunk(NamedTuple):
    """Some outputs in a row, and what a submission may look at to make them.

    Attributes
    ----------
    start : int
        The place of the first output.
    inputs : tuple of ndarray of float32
        As the formula takes them.
    reference : ndarray of float64, shape (outputs,)
        What the board expects; of a total the terms.
    initial : float
        What the output buffer holds before; NaN where nobody knows.
    """

    data: CaseData
    start: int
    inputs: tuple[Array, ...]
    reference: NDArray[np.float64]
    initial: float

    @property
    def stop(self) -> int:
        """The place after the last output."""
        return self.start + len(self.reference)


class CaseData:
    """One case of a board, drawn on demand.

    Parameters
    ----------
    checker : Checker
    case : Case
    index : int
        Its place among the board's cases, which is part of the seed.
    reference : Reference
    dtype : str
        Inputs and outputs are rounded to it where it is narrower than float32.
    seed : int
    quick : bool
        Whether a sample will do.
    """

    def __init__(
        self, checker: Checker, case: Case, index: int, reference: Reference, dtype: str, seed: int, quick: bool
    ) -> None:
        self.case = case
        self.reference = reference
        self._made_of = (checker, case, index, reference, dtype, seed, quick)
        self.dtype = dtype
        self.draws, self.parameters = _draws(checker, case, reference)
        self._seed = (seed, index)
        sizes = {name: int(value) for name, value in case.sizes.items()}
        self.columns = 1
        if reference.layout == "product":
            self.length, units = sizes["k"], sizes["m"]
            all_columns = sizes.get("n", 1)
            self.columns = min(all_columns, _COLUMNS_QUICKLY if quick else _COLUMNS)
            most = (_PRODUCTS_QUICKLY if quick else _PRODUCTS) // (self.length * self.columns)
            most = min(most, (_FACTOR_QUICKLY if quick else EXAMINED) // self.length)
            self.outputs = units * all_columns
        else:
            by_row = reference.layout in ("rows", "slices")
            self.length = sizes["n"] if by_row else 1
            units = next(sizes[name] for name in ("rows", "slices", "n") if name in sizes)
            most = (EXAMINED_QUICKLY if quick else EXAMINED) // self.length
            outputs = {"rows": units * self.length, "total": 1}
            self.outputs = outputs.get(reference.layout, units)
        self._units = units
        self._examined = min(units, max(most, 1))
        # The right factor is rounded anew for every chunk: fewer, larger ones.
        self._step = max(CHUNK // self.length, _ROWS_AT_ONCE if reference.layout == "product" else 1)
        self.chunks = -(-self._examined // self._step)
        self._per_unit = self.length if reference.layout == "rows" else self.columns
        self._scales = functools.lru_cache(maxsize=None)(self._scale)
        self._second = functools.lru_cache(maxsize=1)(self._draw_second)

    def with_fresh_inputs(self) -> CaseData:
        """The same case on other inputs."""
        checker, case, index, reference, dtype, seed, quick = self._made_of
        return CaseData(checker, case, index, reference, dtype, seed + _OTHER_SEED, quick)

    @property
    def examined(self) -> int:
        """How many outputs are looked at."""
        return 1 if self.reference.layout == "total" else self._examined * self._per_unit

    @property
    def terms(self) -> tuple[int, int]:
        """How many elements of each input there are, and how many are looked at."""
        return self._units * self.length, self._examined * self.length

    def formula(self, *inputs: Array) -> Any:
        """The reference's formula with the case's parameters."""
        return self.reference.formula(*inputs, **self.parameters)

    def cast(self, outputs: Array) -> Array:
        """Outputs as the board's dtype holds them."""
        rounding = ROUNDINGS.get(self.dtype)
        return outputs if rounding is None else rounding(np.asarray(outputs, dtype=np.float32))

    def inputs(self, index: int) -> tuple[Array, ...]:
        """The inputs of one chunk, float32."""
        units = min(self._step, self._examined - index * self._step)
        shape = (units,) if self.length == 1 else (units, self.length)
        drawn = []
        for place, draw in enumerate(self.draws):
            if place == 1 and self.reference.layout == "product":
                drawn.append(self._second())
                continue
            values = self._draw(draw, place, index, shape)
            if draw.transform == "softmax":
                values = np.exp(values) * np.float32(1 / self._scales(place))
            drawn.append(self.cast(values))
        return tuple(drawn)

    def chunk(self, index: int, initial: float) -> Chunk:
        """One chunk with its reference, which is computed in float64."""
        inputs = self.inputs(index)
        with np.errstate(all="ignore"):
            expected = self.formula(*(values.astype(np.float64) for values in inputs))
        expected = np.asarray(self.cast(expected), dtype=np.float64).ravel()
        return Chunk(self, index * self._step * self._per_unit, inputs, expected, initial)

    def outputs_between(self, start: int, stop: int) -> NDArray[np.float64]:
        """The references from one place to another; shorter where fewer are examined."""
        step = self._step * self._per_unit
        found = [self.chunk(i, 0.0).reference for i in range(start // step, min(-(-stop // step), self.chunks))]
        if not found:
            return np.zeros(0)
        first = start - start // step * step
        return np.concatenate(found)[first : first + stop - start]

    def _draw(self, draw: Draw, place: int, index: int, shape: tuple[int, ...]) -> Array:
        return _values(draw, np.random.default_rng((*self._seed, place, index)), shape)

    def _draw_second(self) -> Array:
        """The right factor of a product: the columns that are looked at."""
        shape = (self.length,) if "n" not in self.case.sizes else (self.length, self.columns)
        return self.cast(self._draw(self.draws[1], 1, 0, shape))

    def _scale(self, place: int) -> float:
        """What a softmax over the whole input divides by; from a sample, as large as the whole would make it."""
        total = 0.0
        for index in range(self.chunks):
            units = min(self._step, self._examined - index * self._step)
            total += float(np.exp(self._draw(self.draws[place], place, index, (units,))).sum(dtype=np.float64))
        return total * self._units / self._examined


def _draws(checker: Checker, case: Case, reference: Reference) -> tuple[tuple[Draw, ...], Mapping[str, float]]:
    """A case's draws in the order of the formula's arguments, and its parameters."""
    named = {draw.name: draw for draw in checker.inputs}
    parameters: Mapping[str, float] = {}
    for departure in checker.cases:
        if departure.case == case.name:
            named.update({draw.name: draw for draw in departure.inputs})
            parameters = departure.parameters
    missing = [name for name in reference.inputs if name not in named]
    if missing or len(named) > len(reference.inputs):
        raise SpecError(
            f"checker.inputs: {checker.reference} takes {', '.join(reference.inputs)},"
            f" and the spec draws {', '.join(named) or 'nothing'}. Draw each by its name"
        )
    wanted = tuple(inspect.signature(reference.formula).parameters)[len(reference.inputs) :]
    if set(wanted) != set(parameters):
        missing = [name for name in wanted if name not in parameters]
        what = f"no number for {', '.join(missing)}" if missing else f"a number for {', '.join(parameters)}"
        raise SpecError(
            f"checker.cases: case {case.name!r} has {what}; {checker.reference} takes {', '.join(wanted) or 'none'}."
            " Give each case its parameters"
        )
    return tuple(named[name] for name in reference.inputs), parameters


def _values(draw: Draw, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    low, high = np.float32(draw.low), np.float32(draw.high)
    if draw.draw == "normal":
        return np.asarray(generator.standard_normal(shape, dtype=np.float32) * high + low)
    if draw.draw == "signs":
        return np.asarray(generator.integers(0, 2, shape, dtype=np.int8) * np.float32(2) - np.float32(1))
    uniform = generator.random(shape, dtype=np.float32)
    if draw.draw == "scattered":
        # Of n places, share * n draws with repeats leave a place untouched with probability exp(-share).
        return np.asarray(np.where(uniform < -np.expm1(-draw.share), high, low))
    return np.asarray(uniform * (high - low) + low)
