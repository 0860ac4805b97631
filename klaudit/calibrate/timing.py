"""The timing methods: events behind a queue that the host cannot starve, and the proofs that they time what ran."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from klaudit.calibrate.record import Check, Sample

Action = Callable[[], None]

# What it takes the host to put one command on the stream, at first guess [s].
_COMMAND: Final = 8e-6
# The stream holds about a thousand commands; the host must not have to wait for room.
_MOST_COMMANDS: Final = 600
_PROBE: Final = 100e-6
_ENOUGH: Final = 0.01


class EventCard(Protocol):
    """What timing needs of a card."""

    def event(self) -> Any:
        """A new event."""

    def record(self, event: Any) -> None:
        """Record an event on the stream."""

    def elapsed(self, start: Any, stop: Any) -> float:
        """Time between two events [s]."""

    def synchronise(self) -> None:
        """Wait for the stream."""


class Stopwatch:
    """Times launches on one card.

    Parameters
    ----------
    card : EventCard
    spin : callable
        Puts a delay of so many seconds on the card's stream.
    """

    def __init__(self, card: EventCard, spin: Callable[[float], None]) -> None:
        self._card = card
        self._spin = spin
        self._events: list[tuple[Any, Any]] = []
        self._command = _COMMAND
        self.starved = 0
        self.steps: set[int] = set()

    def series(self, launch: Action, runs: int, before: Action | None = None, launches: int = 1) -> list[float]:
        """Times of one launch [s], `runs` of them, all queued behind a delay.

        Parameters
        ----------
        launch : callable
            Puts the work on the stream.
        runs : int
            Pairs of events.
        before : callable, optional
            Put on the stream before each pair: what flushes the cache, say.
        launches : int
            Launches between the two events of a pair; the time of the pair is divided by it.
        """
        step = max(_MOST_COMMANDS // (launches + 3), 1)
        times: list[float] = []
        while len(times) < runs:
            times += self._queued(launch, min(step, runs - len(times)), before, launches)
        return times

    def _queued(self, launch: Action, runs: int, before: Action | None, launches: int) -> list[float]:
        for _ in range(4):
            delay = 50e-6 + runs * (launches + 3) * self._command * 1.5
            started = time.perf_counter()
            self._spin(delay)
            for start, stop in self._pairs(runs):
                if before is not None:
                    before()
                self._card.record(start)
                for _ in range(launches):
                    launch()
                self._card.record(stop)
            host = time.perf_counter() - started
            self._card.synchronise()
            self._command = max(self._command, host / (runs * (launches + 3)))
            if host < delay:
                break
        else:
            self.starved += 1
        found = [self._card.elapsed(start, stop) for start, stop in self._pairs(runs)]
        self.steps.update(round(t * 1e9) for t in found)
        return [t / launches for t in found]

    def _pairs(self, count: int) -> list[tuple[Any, Any]]:
        while len(self._events) < count:
            self._events.append((self._card.event(), self._card.event()))
        return self._events[:count]

    def idle_pair(self, launch: Action, runs: int) -> list[float]:
        """Times of one launch by a pair of events on an idle stream [s]: the host's launch is in them."""
        times = []
        for start, stop in self._pairs(1) * runs:
            self._card.synchronise()
            self._card.record(start)
            launch()
            self._card.record(stop)
            self._card.synchronise()
            times.append(self._card.elapsed(start, stop))
        return times

    def host(self, launch: Action, runs: int) -> list[float]:
        """Times of one launch by the host's clock, waiting for the stream before and after [s]."""
        times = []
        for _ in range(runs):
            self._card.synchronise()
            started = time.perf_counter()
            launch()
            self._card.synchronise()
            times.append(time.perf_counter() - started)
        return times

    def steady(self, take: Callable[[int], list[float]], least: int, most: int, budget: float) -> list[float]:
        """As many times as it takes to know their median to 1 %.

        Parameters
        ----------
        take : callable
            Takes so many more times.
        least, most : int
            Times taken at least and at most.
        budget : float
            No more are taken once the times themselves add up to this [s].
        """
        times = take(least)
        while Sample.of(times).uncertainty > _ENOUGH and len(times) < most and sum(times) < budget:
            times += take(min(least, most - len(times)))
        return times

    @property
    def step(self) -> float | None:
        """The smallest step seen between times of events [s]."""
        seen = sorted(self.steps)
        steps = [b - a for a, b in itertools.pairwise(seen)]
        return min(steps) * 1e-9 if steps else None


def probe(name: str, take: Callable[[float], float], expected: float = _PROBE) -> Check:
    """Whether a timing method sees a kernel of known length: it does not where its events are on another stream.

    Parameters
    ----------
    name : str
        The method.
    take : callable
        Times a delay of so many seconds by the method [s].
    """
    seen = take(expected)
    passed = 0.98 * expected <= seen <= 1.2 * expected + 20e-6
    return Check(
        f"timed stream, {name}",
        passed,
        f"a delay of {expected * 1e6:.0f} us is timed as {seen * 1e6:.1f} us",
    )
