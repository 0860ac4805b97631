"""From measured cases to trials: the best fitted submissions, alone and for several cases at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from klaudit.checker.envelope import Strip
from klaudit.checker.inputs import CaseData, Chunk
from klaudit.checker.measure import Measured, in_order
from klaudit.checker.submissions import Submission

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Fit(NamedTuple):
    """A constant, a multiple or an affine function of one input: `slope` times input `place` plus `offset`."""

    slug: str
    place: int | None
    slope: float
    offset: float
    inputs: tuple[str, ...]

    @property
    def plain(self) -> str:
        """What it writes, as a sentence continues "consistent with ..."."""
        if self.place is None:
            return f"writing the constant {self.offset:.4g} without reading the inputs"
        added = f" {'-' if self.offset < 0 else '+'} {abs(self.offset):.4g}" if self.offset else ""
        return f"writing {self.slope:.4g} x {self.inputs[self.place]}{added}{self._without}"

    @property
    def skipped(self) -> tuple[str, ...]:
        """The inputs that it never reads."""
        return tuple(name for i, name in enumerate(self.inputs) if i != self.place)

    @property
    def _without(self) -> str:
        return f" without reading {' and '.join(self.skipped)}" if self.skipped else ""

    def error(self, measured: Measured) -> float:
        """The least absolute tolerance that accepts it on a case."""
        strip = measured.level if self.place is None else measured.strips[self.place]
        if strip is None or not np.isfinite(self.offset + self.slope):
            return float("inf")
        return strip.needed(self.slope, self.offset)


def fits(cases: Sequence[Measured], inputs: tuple[str, ...]) -> list[Fit]:
    """The best constant, and the best multiple and affine function of each input, for some cases at once.

    Parameters
    ----------
    cases : sequence of Measured
    inputs : tuple of str
        The inputs' names.

    Returns
    -------
    list of Fit
        A fit of every kind that the cases' shapes allow, always in the same order.
    """
    level = Strip.merge(case.level for case in cases if case.level is not None)
    found = [Fit("constant", None, 0.0, level.best_constant(), inputs)]
    for place in range(min(len(case.strips) for case in cases)):
        strip = Strip.merge(case.strips[place] for case in cases)
        name = inputs[place]
        found.append(Fit(f"multiple-of-{name}", place, strip.best_multiple(), 0.0, inputs))
        found.append(Fit(f"affine-in-{name}", place, *strip.best_affine(), inputs))
    return found


def where_needed(fit: Fit, threshold: float) -> Submission:
    """A multiple that is written only where it differs from the initial output by more than `threshold`."""
    assert fit.place is not None
    place = fit.place

    def outputs(chunk: Chunk) -> NDArray[np.float64]:
        values = chunk.inputs[place].ravel() * np.float32(fit.slope)
        return np.where(np.abs(values - chunk.initial) > threshold, values, chunk.initial)

    what = f"{fit.slope:.4g} x {fit.inputs[place]}"
    return Submission(
        f"{fit.inputs[place]}-where-needed",
        f"writing {what} only where it exceeds the tolerance{fit._without}",
        outputs,
        reads=1.0,
    )


def written_share(data: CaseData, submission: Submission, initial: float) -> float:
    """The share of the outputs that a submission changes."""

    def changed(index: int) -> int:
        chunk = data.chunk(index, initial)
        return int(np.count_nonzero(np.asarray(submission.outputs(chunk)) != initial))

    return float(sum(in_order(data.chunks, changed)) / data.examined)
