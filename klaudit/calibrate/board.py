"""A board's own cases by the board's own method, with entries whose truth is known."""

from __future__ import annotations

import datetime
import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from klaudit._version import __version__
from klaudit.board import Board, Era
from klaudit.calibrate.device import Card, open_card
from klaudit.calibrate.entries import SKIPPED_ABOVE, SOURCE, Entry, entries
from klaudit.calibrate.record import Device
from klaudit.errors import UsageError

WORKLOAD: Final = "kl-divergence"
_FLOPS: Final = 7
_ELEMENT: Final = 4
_THREADS: Final = 256
_BLOCKS: Final = 2048
# The method: runs go on until the rates' deviation is 1 % of their mean.
_STEADY: Final = 0.01
_RUNS: Final = (5, 20)
_FLUSH_BYTES: Final = 160 << 20
_FILLED_WITH: Final = -1.0
# Above this relative error against float64 an output is not what was asked for.
_TRUE_ERROR: Final = 1e-3
_WARM_UP: Final = 0.5


class CaseResult(NamedTuple):
    """One entry at one case.

    Attributes
    ----------
    times : tuple of float
        Each run's [s].
    passes : mapping of str to bool
        Whether the output is inside the board's tolerance, from an output filled with zeros, with ones, and in every
        timed run.
    error : float
        Relative error against float64, from an output of NaN.
    """

    name: str
    elements: int
    times: tuple[float, ...]
    passes: Mapping[str, bool]
    error: float

    @property
    def time(self) -> float:
        """The mean over the runs [s]."""
        return statistics.fmean(self.times)

    def rate(self, mean_of_runs: bool) -> float:
        """The case's rate by the board's rule [FLOP/s]."""
        work = _FLOPS * self.elements
        return statistics.fmean(work / t for t in self.times) if mean_of_runs else work / self.time


class Row(NamedTuple):
    """One entry in one repeat."""

    entry: str
    truth: str
    repeat: int
    cases: tuple[CaseResult, ...]

    def passes(self, how: str) -> bool:
        """Whether it passes every case."""
        return all(case.passes[how] for case in self.cases)


class BoardRun(NamedTuple):
    """A measured board."""

    version: str
    date: str
    command: str
    seconds: float
    board: str
    gpu: str
    device: Device
    mean_of_runs: bool
    rows: tuple[Row, ...]


def measure_board(
    board: Board,
    gpu: Callable[[Device], str],
    index: int = 0,
    repeats: int = 1,
    command: str = "",
    progress: Callable[[str, int, int], None] | None = None,
) -> BoardRun:
    """Measure a board's cases on the card of that number.

    Parameters
    ----------
    board : Board
        With one era, and KL divergence as its workload.
    gpu : callable
        The name to put on every row, from what the driver says.
    index : int
        The card's number among the machine's.
    repeats : int
        How often everything is measured, round after round.
    command : str
        How it was called, for the record.
    progress : callable, optional
        Told what is done and how far the whole is.

    Raises
    ------
    UsageError
        When the board is none that can be run here, or there is no CuPy or no such card.
    """  # fmt: skip
    era = runnable(board)
    started = time.perf_counter()
    card = open_card(index)
    name = gpu(card.describes)
    bench = _BoardBench(card, board, era)
    bench.warm_up()
    rows: list[Row] = []
    for repeat in range(1, repeats + 1):

        def say(case: str, done: int, repeat: int = repeat) -> None:
            if progress is not None:
                count = len(board.cases)
                progress(f"{case}, round {repeat}", (repeat - 1) * count + done, repeats * count)

        rows += bench.round(board, repeat, say)
    _check_truth(rows)
    return BoardRun(
        version=__version__,
        date=datetime.date.today().isoformat(),
        command=command,
        seconds=time.perf_counter() - started,
        board=board.id,
        gpu=name,
        device=card.describes,
        mean_of_runs=era.scoring.case_rate == "mean-of-runs",
        rows=tuple(rows),
    )


def runnable(board: Board) -> Era:
    """The one era of a board that can be run here.

    Raises
    ------
    UsageError
        When it has several, or another workload, or a method that is not known here.
    """
    if board.workload != WORKLOAD or not board.cases or board.dtype != "float32":
        raise UsageError(
            f"board {board.id!r} cannot be measured: expected one of {WORKLOAD} with cases in float32,"
            " such as tensara-kl-2025"
        )
    if len(board.eras) != 1:
        eras = ", ".join(era.id for era in board.eras)
        raise UsageError(f"board {board.id!r} changed its rules; name one era: {eras}")
    if board.eras[0].harness.timing != "event-pair":
        raise UsageError(f"board {board.id!r} is not timed by a pair of events, which is all that can be run here")
    return board.eras[0]


def _check_truth(rows: list[Row]) -> None:
    """Refuse a board whose truth is not what it says."""
    for row in rows:
        worst = max(case.error for case in row.cases)
        if row.truth == "honest" and not (worst <= _TRUE_ERROR and row.passes("timed")):
            raise RuntimeError(f"{row.entry} is called honest, but its outputs are off by {worst:.2g}")


class _BoardBench:
    """Inputs, output and flush of one board on one card."""

    def __init__(self, card: Card, board: Board, era: Era) -> None:
        self._card = card
        self._kernel = card.compile(SOURCE)
        self._flushes = "fill" in era.harness.flush
        self._checks_runs = "timing" in era.harness.output_check and "before" not in era.harness.output_check
        checker = board.checker
        self._rtol = 1e-5 if checker is None or checker.rtol is None else checker.rtol
        self._atol = 1e-5 if checker is None or checker.atol is None else checker.atol
        most = max(int(case.sizes["n"]) for case in board.cases)
        self._arrays = [card.allocate(most * _ELEMENT) for _ in range(3)]
        self._scratch = card.allocate(256)
        self._flush = card.allocate(_FLUSH_BYTES)
        self._n = most
        self._events = [card.event(), card.event()]

    def _run(self, name: str, *arguments: Any) -> None:
        self._kernel(name)((_BLOCKS,), (_THREADS,), arguments)

    def _at(self, index: int) -> Any:
        return np.uint64(self._arrays[index].address)

    def warm_up(self) -> None:
        """Work until the clocks are up."""
        self.load(self._n, 0, False)
        started = time.perf_counter()
        while time.perf_counter() - started < _WARM_UP:
            for _ in range(20):
                self._run("v4f", self._at(0), self._at(1), self._at(2), np.uint64(self._n))
            self._card.synchronise()

    def round(self, board: Board, repeat: int, say: Callable[[str, int], None]) -> list[Row]:
        """Every entry at every case once."""
        everything = list(entries())
        results: dict[str, list[CaseResult]] = {entry.name: [] for entry in everything}
        for number, case in enumerate(board.cases):
            self.load(int(case.sizes["n"]), number, "sparse" in case.name.lower())
            for entry in everything:
                results[entry.name].append(self.measure(entry, case.name))
            say(case.name, number + 1)
        return [Row(e.name, e.truth, repeat, tuple(results[e.name])) for e in everything]

    def load(self, elements: int, case: int, sparse: bool) -> None:
        """Draw a case's inputs."""
        self._n = elements
        for index in (0, 1):
            seed, thin = np.uint64(7919 * (2 * case + index) + 1), np.int32(sparse and index == 1)
            self._card.fill_bytes(self._scratch.address, 0, 8)
            sum_at = np.uint64(self._scratch.address)
            self._run("exponentials", np.uint64(elements), seed, thin, sum_at)
            self._run("softmax", self._at(index), np.uint64(elements), seed, thin, sum_at)
        self._card.synchronise()

    def measure(self, entry: Entry, name: str) -> CaseResult:
        """One entry at the loaded case: checked, timed by the board's method."""
        passes = {}
        for how, value in (("zeros", 0.0), ("ones", 1.0)):
            self._fill(value)
            self._solution(entry)()
            self._card.wait_for_all()
            passes[how] = self._compare()[0]
        self._fill(math.nan)
        self._solution(entry)()
        self._card.wait_for_all()
        error = self._compare()[1]
        self._fill(0.0)
        times, passes["timed"] = self._times(entry)
        return CaseResult(name, self._n, tuple(times), passes, error)

    def _times(self, entry: Entry) -> tuple[list[float], bool]:
        """The runs' times, and whether the output was right in each of them, or at the end where nobody looks."""
        solution = self._solution(entry)
        work = _FLOPS * self._n
        times: list[float] = []
        right = True
        start, stop = self._events
        while len(times) < _RUNS[1]:
            if self._flushes:
                self._run("fill", np.uint64(self._flush.address), np.uint64(_FLUSH_BYTES // _ELEMENT), np.float32(2.0))
                self._fill(_FILLED_WITH)
                self._run("total", self._at(2), np.uint64(self._n), np.uint64(self._scratch.address))
                self._card.synchronise()
            self._card.record(start)
            solution()
            self._card.record(stop)
            self._card.wait_for_all()
            times.append(self._card.elapsed(start, stop))
            if self._checks_runs:
                right = right and self._compare()[0]
            rates = [work / t for t in times]
            if len(times) >= _RUNS[0] and statistics.stdev(rates) < _STEADY * statistics.fmean(rates):
                break
        return times, right and self._compare()[0]

    def _solution(self, entry: Entry) -> Callable[[], None]:
        """What the board calls: the launch, in whatever the entry wraps it."""
        kernel = self._kernel(entry.kernel)
        blocks = (entry.blocks(self._n, self._card.describes.processors),)
        arguments = (self._at(0), self._at(1), self._at(2), np.uint64(self._n))
        elements, runs = self._n, [0]

        def launch() -> None:
            kernel(blocks, (entry.threads,), arguments)

        def once() -> None:
            runs[0] += 1
            if runs[0] == 1:
                launch()

        def skip() -> None:
            if elements <= SKIPPED_ABOVE:
                launch()

        def elsewhere() -> None:
            with self._card.other_stream():
                launch()

        return {"": launch, "once": once, "skip-dense": skip, "other-stream": elsewhere}[entry.trick]

    def _fill(self, value: float) -> None:
        self._run("fill", self._at(2), np.uint64(self._n), np.float32(value))
        # Another stream may write next.
        self._card.synchronise()

    def _compare(self) -> tuple[bool, float]:
        """Whether the output is inside the tolerance, and its relative error against float64."""
        self._card.fill_bytes(self._scratch.address, 0, 24)
        self._run(
            "compare", self._at(0), self._at(1), self._at(2), np.uint64(self._n), np.float32(self._rtol),
            np.float32(self._atol), np.uint64(self._scratch.address),
        )  # fmt: skip
        result = np.empty(3, dtype=np.float64)
        self._card.fetch(self._scratch.address, result)
        error = math.sqrt(result[1] / result[2])
        return bool(result[0] == 0), error if math.isfinite(error) else math.inf
