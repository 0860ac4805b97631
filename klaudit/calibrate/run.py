"""One calibration from beginning to end."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from typing import Final

from klaudit._version import __version__
from klaudit.calibrate import compressible
from klaudit.calibrate.device import open_card
from klaudit.calibrate.rates import arithmetic, cache_curve, cache_sizes, launch_floors
from klaudit.calibrate.record import Calibration, Check, Point
from klaudit.calibrate.sweep import Bench, Plan, method_probes, sweep

# Told what is done and how many of how many steps.
Progress = Callable[[str, int, int], None]

_WARM_UP: Final = 0.3
_QUICK_WARM_UP: Final = 0.1
_LAUNCH_RUNS: Final = 41


def calibrate(index: int = 0, quick: bool = False, command: str = "", progress: Progress | None = None) -> Calibration:
    """Measure the card of that number.

    Parameters
    ----------
    index : int
        The card's number among the machine's.
    quick : bool
        Fewer sizes, up to 1 GiB, and fewer runs.
    command : str
        How it was called, for the record.
    progress : callable, optional
        Told what is done and how far the whole is.

    Raises
    ------
    UsageError
        When there is no CuPy or no such card.
    """
    started = time.perf_counter()
    card = open_card(index)
    plan = Plan.of(card.describes.memory, quick)
    say = _Steps(progress, plan.points + len(cache_sizes(card.describes.cache, quick)) + 7)
    bench = Bench(card, plan.most)
    bench.warm_up(_QUICK_WARM_UP if quick else _WARM_UP)
    checks = list(method_probes(bench))
    launches = launch_floors(bench, _LAUNCH_RUNS)
    points, outputs = sweep(bench, plan, say)
    cache, summed = cache_curve(bench, plan, quick, say)
    checks += [*outputs, summed]
    rates = []
    for rate, check in arithmetic(bench, plan, say):
        rates.append(rate)
        checks.append(check)
    compressed, skipped = _compressed(bench, plan, say)
    points += [point for point, _ in compressed]
    checks += [check for _, check in compressed]
    checks.append(_unstarved(bench))
    return Calibration(
        version=__version__,
        date=datetime.date.today().isoformat(),
        command=command,
        seconds=time.perf_counter() - started,
        quick=quick,
        device=card.describes,
        points=tuple(points),
        cache=tuple(cache),
        rates=tuple(rates),
        launches=tuple(launches),
        checks=tuple(checks),
        step=bench.watch.step,
        skipped=skipped,
    )


def _compressed(
    bench: Bench, plan: Plan, say: Callable[[str], None]
) -> tuple[list[tuple[Point, Check]], tuple[str, ...]]:
    """What was measured in compressible memory, and why nothing was."""
    try:
        return list(compressible.compressible_points(bench, plan, say)), ()
    except compressible.Refused as error:
        return [], (f"compressible memory: {error}",)


def _unstarved(bench: Bench) -> Check:
    starved = bench.watch.starved
    said = f"{starved} series waited for the host" if starved else "the host was ahead of the card in every series"
    # A busy host makes times longer, never shorter: it is said, and spoils nothing that a ceiling is taken from.
    return Check("queue never empty", True, said)


class _Steps:
    """Counts steps done."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def __call__(self, name: str) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(name, min(self._done, self._total), self._total)
