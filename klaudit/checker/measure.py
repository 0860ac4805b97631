"""One case in one pass: the largest error of every submission, and what the best fitted ones depend on.

Chunks are independent and their results are merged in order, so that threads change nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from klaudit.checker.envelope import Strip
from klaudit.checker.inputs import CaseData, Chunk
from klaudit.checker.submissions import Submission

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Column = NDArray[np.float64]

_THREADS: Final = min(4, os.cpu_count() or 1)


@dataclass(slots=True)
class Stairs:
    """Suffix maxima of the errors of an output left as it was: enough for any fraction and any tolerance, exactly.

    An element is a step where every later one has a smaller error; `places` grow and `heights` fall.
    """

    places: Column = field(default_factory=lambda: np.zeros(0))
    heights: Column = field(default_factory=lambda: np.zeros(0))

    def extend(self, errors: Column, start: int) -> None:
        """Take in the errors of the next elements, from place `start` on."""
        backwards = np.maximum.accumulate(errors[::-1])
        step = np.flatnonzero(backwards > np.append(0.0, backwards[:-1]))[::-1]
        if not len(step):
            return
        keep = self.heights > backwards[-1]
        self.places = np.append(self.places[keep], start + len(errors) - 1 - step)
        self.heights = np.append(self.heights[keep], backwards[step])

    def least_count(self, tolerance: float) -> int:
        """How many elements, from the first on, must be computed: the later ones all pass as they are."""
        # Heights fall, so bisection finds the last step that is too high.
        last = int(np.searchsorted(-self.heights, -tolerance, side="left"))
        return int(self.places[last - 1]) + 1 if last else 0

    def error_after(self, count: int) -> float:
        """The largest error where the first `count` elements are computed."""
        first = int(np.searchsorted(self.places, count, side="left"))
        return float(self.heights[first]) if first < len(self.heights) else 0.0


@dataclass(slots=True)
class Measured:
    """What one pass over a case found.

    Attributes
    ----------
    errors : dict of str to float
        For each submission the largest error beyond ``rtol * |reference|``, at least 0.
    failing : dict of str to int
        For each submission how many outputs fail.
    level : Strip
        What a constant must meet.
    strips : list of Strip
        What a function of each input must meet, where inputs have the output's shape.
    largest : float
        The largest |reference|.
    """

    errors: dict[str, float] = field(default_factory=dict)
    failing: dict[str, int] = field(default_factory=dict)
    level: Strip | None = None
    strips: list[Strip] = field(default_factory=list)
    stairs: Stairs = field(default_factory=Stairs)
    largest: float = 0.0

    def merge(self, other: Measured) -> None:
        """Take in the next part of the case."""
        for slug, error in other.errors.items():
            self.errors[slug] = max(self.errors.get(slug, 0.0), error)
            self.failing[slug] = self.failing.get(slug, 0) + other.failing[slug]
        self.largest = max(self.largest, other.largest)
        if other.level is not None:
            self.level = other.level if self.level is None else Strip.merge((self.level, other.level))
        if other.strips:
            joined = zip(self.strips, other.strips, strict=True)
            self.strips = [Strip.merge(pair) for pair in joined] if self.strips else other.strips


def in_order(count: int, work: Callable[[int], Any]) -> Iterator[Any]:
    """The results of `work` on 0, 1, ... in order, some of them made at the same time, few of them kept."""
    if _THREADS == 1 or count == 1:
        yield from map(work, range(count))
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        waiting = [pool.submit(work, i) for i in range(min(count, 2 * _THREADS))]
        for done in range(count):
            yield waiting.pop(0).result()
            following = done + 2 * _THREADS
            if following < count:
                waiting.append(pool.submit(work, following))


def measure(
    data: CaseData,
    submissions: Sequence[Submission],
    rtol: float,
    atol: float,
    initial: float,
    progress: Callable[[], None] = lambda: None,
) -> Measured:
    """Try submissions on a case.

    Parameters
    ----------
    data : CaseData
    submissions : sequence of Submission
    rtol, atol : float
        The comparison; `atol` only counts the outputs that fail.
    initial : float
        What the output buffer holds before; NaN where nobody knows.
    progress : callable
        Called after each chunk.

    Returns
    -------
    Measured
    """
    measure_chunk = _measure_terms if data.reference.layout == "total" else _measure_chunk
    whole = Measured()
    sums: dict[str, list[float]] = {}
    for part, errors, start in in_order(
        data.chunks, lambda i: measure_chunk(data.chunk(i, initial), submissions, rtol, atol)
    ):
        if isinstance(part, Measured):
            whole.merge(part)
            whole.stairs.extend(errors, start)
        else:
            for slug, value in part.items():
                sums.setdefault(slug, []).append(value)
        progress()
    return _of_sums(data, submissions, sums, rtol, atol, initial) if sums else whole


def _measure_chunk(
    chunk: Chunk, submissions: Sequence[Submission], rtol: float, atol: float
) -> tuple[Measured, Column, int]:
    found = Measured()
    expected = chunk.reference
    size = np.abs(expected)
    slack = rtol * size
    found.largest = float(size.max())
    for submission in submissions:
        with np.errstate(all="ignore"):
            outputs = submission.outputs(chunk)
        outputs = chunk.data.cast(outputs) if isinstance(outputs, np.ndarray) else outputs
        error = _beyond(outputs, expected, slack)
        largest = max(float(error.max()), 0.0)
        found.errors[submission.slug] = largest
        found.failing[submission.slug] = int(np.count_nonzero(error > atol)) if largest > atol else 0
    low, high = expected - slack, expected + slack
    found.level = Strip.around(np.zeros(2), np.full(2, low.max()), np.full(2, high.min()))
    if chunk.data.reference.layout in ("elements", "rows"):
        found.strips = [Strip.around(values.ravel().astype(np.float64), low, high) for values in chunk.inputs]
    untouched = _beyond(chunk.initial, expected, slack)
    return found, untouched, chunk.start


def _beyond(outputs: Array | float, expected: Column, slack: Column) -> Column:
    """The errors beyond rtol; a NaN is as far off as can be."""
    error = np.abs(np.ravel(outputs) - expected if isinstance(outputs, np.ndarray) else expected - outputs)
    error -= slack
    if np.isnan(error.max()):
        error[np.isnan(error)] = np.inf
    return np.asarray(error)


def _measure_terms(
    chunk: Chunk, submissions: Sequence[Submission], rtol: float, atol: float
) -> tuple[dict[str, float], Column, int]:
    """Of a total: the sums of the terms that each computing submission makes, in its own precision."""
    sums = {"": float(chunk.reference.sum())}
    for submission in submissions:
        if submission.computes:
            with np.errstate(all="ignore"):
                sums[submission.slug] = float(np.asarray(submission.outputs(chunk)).sum(dtype=np.float32))
    return sums, np.zeros(0), 0


def _of_sums(
    data: CaseData,
    submissions: Sequence[Submission],
    sums: dict[str, list[float]],
    rtol: float,
    atol: float,
    initial: float,
) -> Measured:
    """Of a total: the one output of each submission, and how many terms the estimate needs."""
    terms = data.terms[1]
    share = 1 / terms if data.reference.mean else 1.0
    expected = np.array([np.sum(sums[""]) * share])
    slack = rtol * np.abs(expected)
    found = Measured(largest=float(np.abs(expected)[0]))
    found.level = Strip.around(np.zeros(1), expected - slack, expected + slack)
    empty = Chunk(data, 0, (), expected, initial)
    for submission in submissions:
        if submission.computes:
            total = np.sum(np.array(sums[submission.slug], dtype=np.float32), dtype=np.float32)
            outputs: Array | float = data.cast(np.array([total * np.float32(share)]))
        else:
            outputs = submission.outputs(empty)
        error = float(_beyond(outputs, expected, slack)[0])
        found.errors[submission.slug] = max(error, 0.0)
        found.failing[submission.slug] = int(error > atol)
    # An estimate from the first terms, scaled up: one step a chunk.
    counts = np.minimum(np.arange(1, data.chunks + 1) * (terms / data.chunks), terms)
    estimates = np.cumsum(sums[""]) / counts * (1.0 if data.reference.mean else terms)
    found.stairs.extend(np.maximum(np.abs(estimates - expected[0]) - slack[0], 0.0), 0)
    return found
