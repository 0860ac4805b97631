"""Bandwidth against size: five kernels, four methods, every output verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from klaudit.calibrate.device import Buffer, Card
from klaudit.calibrate.kernels import FACTOR, PARTIALS, SOURCE, VECTOR, Geometry, geometries, grid
from klaudit.calibrate.record import ELEMENT, KERNELS, METHODS, READS, WRITES, Check, Point, Sample
from klaudit.calibrate.timing import Stopwatch, probe

LEAST_ELEMENTS: Final = 1 << 14
_THREADS: Final = 256
_CHECK_BLOCKS: Final = 4096
# Outputs of KL checked in float64, which some cards do slowly.
_CHECKED_KL: Final = 1 << 22
_POISON: Final = 0xFF
_SEED: Final = 20250107
_ALIGNMENT: Final = 2 << 20
# Sizes above which the geometry of the last size is kept: trying them all would take longer than the measurement.
_TRIED_BYTES: Final = 1 << 31
_CANDIDATE_RUNS: Final = 5
_FINALISTS: Final = 3
# Launches between two events, and about how long they may take together.
_BATCH: Final = 20
_BATCH_SECONDS: Final = 2e-3


class Plan(NamedTuple):
    """How thorough a calibration is.

    Attributes
    ----------
    factor : int
        From one size to the next.
    most : int
        Bytes of all arrays together at most.
    places : int
        Places in memory that each size is tried at: what lies where decides some per cent.
    least_runs, most_runs : int
        Runs at each place.
    budget : float
        Seconds at each place after which no further runs are begun.
    """

    factor: int
    most: int
    places: int
    least_runs: int
    most_runs: int
    budget: float

    @classmethod
    def of(cls, memory: int, quick: bool) -> Plan:
        """The plan for a card with so much memory."""
        quarter = memory // 4
        if quick:
            return cls(4, min(quarter, 3 << 30), 2, 7, 14, 0.02)
        return cls(2, quarter, 6, 9, 36, 0.1)

    def elements(self, kernel: str) -> Iterator[int]:
        """The sizes of a kernel's arrays, in elements of float32."""
        arrays = READS[kernel] + WRITES[kernel]
        most = self.most // (ELEMENT * arrays) // LEAST_ELEMENTS * LEAST_ELEMENTS
        count = LEAST_ELEMENTS
        while count <= most:
            yield count
            count *= self.factor
        if most > 1.25 * count / self.factor:
            yield most

    @property
    def points(self) -> int:
        """How many points there are."""
        return len(METHODS) * sum(1 for kernel in KERNELS for _ in self.elements(kernel))


class Work(NamedTuple):
    """One kernel over arrays of so many elements, one after another from an address on."""

    kernel: str
    elements: int
    address: int

    @property
    def arrays(self) -> list[Any]:
        """The addresses of the arrays, the output last."""
        count = READS[self.kernel] + WRITES[self.kernel]
        return [_word(self.address + i * self.elements * ELEMENT) for i in range(count)]

    @property
    def traffic(self) -> int:
        """Bytes read and written."""
        return self.elements * ELEMENT * (READS[self.kernel] + WRITES[self.kernel])


class Bench:
    """A card with the kernels compiled, memory for the arrays, and a stopwatch.

    Parameters
    ----------
    card : Card
    size : int
        Bytes for the arrays together.
    """

    def __init__(self, card: Card, size: int) -> None:
        self.card = card
        self.kernel = card.compile(SOURCE)
        self.pool = card.allocate(size)
        self.flushing = card.allocate(max(4 * card.describes.cache, 1 << 26))
        self.partials = card.allocate(PARTIALS * 4)
        self.wrong = card.allocate(256)
        self.watch = Stopwatch(card, self.spin)
        self._spin: Any = self.kernel("spin")
        for buffer in (self.pool, self.flushing):
            self._scatter(buffer.address, buffer.size // ELEMENT)
        card.synchronise()

    def _scatter(self, address: int, count: int) -> None:
        """Fill with numbers; which number stands where depends on the place alone."""
        seed = np.uint64(_SEED + address // ELEMENT)
        self.kernel("scatter_numbers")(
            grid(count, _THREADS, 1 << 16), (_THREADS,), (_word(address), np.uint64(count), seed)
        )

    def spin(self, seconds: float) -> None:
        """Put a delay on the stream."""
        self._spin((1,), (1,), (np.uint64(int(seconds * 1e9)),))

    def warm_up(self, seconds: float) -> None:
        """Work until the clocks are up."""
        elements = self.pool.size // (2 * ELEMENT) // LEAST_ELEMENTS * LEAST_ELEMENTS
        work = Work("copy", elements, self.pool.address)
        launch = self.launcher(work, next(geometries(elements, self.card.describes.processors)))
        done = 0.0
        while done < seconds:
            done += sum(self.watch.series(launch, 5))
        self.restore(work)

    def flush(self) -> None:
        """Read other data through the cache, so that neither inputs nor unwritten outputs are left in it."""
        vectors = np.uint64(self.flushing.size // VECTOR)
        blocks = self.card.describes.processors * 8
        self.kernel("read_4")((blocks,), (_THREADS,), (_address(self.flushing), vectors, _address(self.partials)))

    def places(self, kernel: str, elements: int, most: int) -> list[Work]:
        """The same work at up to `most` places of the memory, far from each other."""
        step = self.pool.size // most // _ALIGNMENT * _ALIGNMENT
        works = [Work(kernel, elements, self.pool.address + i * step) for i in range(most)]
        return [w for w in works if w.address + w.traffic <= self.pool.address + self.pool.size]

    def launcher(self, work: Work, geometry: Geometry) -> Callable[[], None]:
        """A function that launches a streaming kernel."""
        function = self.kernel(f"{work.kernel}_{geometry.width}")
        blocks, threads = (geometry.blocks,), (geometry.threads,)
        vectors = np.uint64(work.elements * ELEMENT // VECTOR)
        rest: dict[str, tuple[Any, ...]] = {
            "read": (_address(self.partials),), "write": (np.uint32(_SEED),), "triad": (np.float32(FACTOR),),
        }  # fmt: skip
        arguments = (*work.arrays, vectors, *rest.get(work.kernel, ()))
        return lambda: function(blocks, threads, arguments)

    def poison(self, work: Work) -> None:
        """Overwrite what the kernel writes, so that only a kernel that ran leaves the right output."""
        if work.kernel == "read":
            self.card.fill_bytes(self.partials.address, _POISON, self.partials.size)
        else:
            self.card.fill_bytes(int(work.arrays[-1]), _POISON, work.elements * ELEMENT)

    def restore(self, work: Work) -> None:
        """Fill with numbers again what the kernel wrote."""
        if work.kernel != "read":
            self._scatter(int(work.arrays[-1]), work.elements)

    def wrong_outputs(self, work: Work, blocks: int) -> int:
        """How many elements of the last run's output are wrong; for a read, whether its sum is."""
        self.card.fill_bytes(self.wrong.address, 0, 4)
        count, wrong = np.uint64(work.elements), _address(self.wrong)
        stride = np.uint64(max(work.elements // _CHECKED_KL, 1))
        arguments: dict[str, tuple[str, tuple[Any, ...]]] = {
            "read": ("sum_words", (count,)),
            "write": ("wrong_writes", (count, np.uint32(_SEED))),
            "copy": ("wrong_copies", (count,)),
            "triad": ("wrong_triads", (count, np.float32(FACTOR))),
            "kl": ("wrong_kls", (count, stride)),
        }
        name, rest = arguments[work.kernel]
        size = grid(work.elements, _THREADS, _CHECK_BLOCKS)
        self.kernel(name)(size, (_THREADS,), (*work.arrays, *rest, wrong))
        word = np.empty(1, dtype=np.uint32)
        self.card.fetch(self.wrong.address, word)
        if work.kernel != "read":
            return int(word[0])
        partial = np.empty(blocks, dtype=np.uint32)
        self.card.fetch(self.partials.address, partial)
        return int(int(partial.sum(dtype=np.uint64)) % 2**32 != int(word[0]))


def _word(value: int) -> Any:
    """A 64-bit argument of a kernel."""
    return np.uint64(value)


def _address(buffer: Buffer) -> Any:
    return _word(buffer.address)


def method_probes(bench: Bench) -> Iterator[Check]:
    """Proof for each timing method that its events see what runs, and that the events' clock is right."""
    watch = bench.watch

    def delay(seconds: float) -> Callable[[], None]:
        return lambda: bench.spin(seconds)

    yield probe("event pair", lambda s: min(watch.series(delay(s), 3, bench.flush)))
    yield probe("batched", lambda s: min(watch.series(delay(s), 2, launches=5)))

    def graph(seconds: float) -> float:
        def nodes() -> None:
            for _ in range(5):
                bench.spin(seconds)

        return min(watch.series(bench.card.capture(nodes), 2)) / 5

    yield probe("graph", graph)
    host = min(watch.host(delay(0.02), 3))
    event = min(watch.series(delay(0.02), 3))
    yield Check(
        "event clock",
        abs(event - 0.02) < 2e-4 and -1e-4 < host - event < 1e-3,
        f"a delay of 20 ms is {event * 1e3:.3f} ms by events and {host * 1e3:.3f} ms by the host's clock",
    )
    with bench.card.other_stream():
        start, stop = bench.card.event(), bench.card.event()
        bench.card.record(start)
        bench.spin(1e-3)
        bench.card.record(stop)
    bench.card.wait_for_all()
    blind = bench.card.elapsed(start, stop)
    yield Check(
        "probe sees a wrong stream",
        blind < 0.5e-3,
        f"a delay of 1 ms on another stream is timed as {blind * 1e6:.1f} us: such a harness would be found out",
    )


def sweep(bench: Bench, plan: Plan, say: Callable[[str], None]) -> tuple[list[Point], list[Check]]:
    """Every kernel at every size by every method.

    Parameters
    ----------
    bench : Bench
    plan : Plan
    say : callable
        Told the name of each point once it is done.

    Returns
    -------
    points : list of Point
    checks : list of Check
        One for each kernel, over all of its sizes, methods and places.
    """
    points: list[Point] = []
    checks: list[Check] = []
    for kernel in KERNELS:
        wrong: list[str] = []
        series = 0
        geometry: Geometry | None = None
        for elements in plan.elements(kernel):
            places = bench.places(kernel, elements, plan.places)
            if geometry is None or places[0].traffic <= _TRIED_BYTES:
                geometry = _fastest(bench, places)
            for method in METHODS:
                point, bad = _point(bench, plan, places, geometry, method)
                points.append(point)
                wrong += bad
                series += len(places)
                say(point.label)
        said = "; ".join(wrong[:3]) if wrong else f"right after each of {series} series, poisoned before"
        checks.append(Check(f"outputs of {kernel}", not wrong, said))
    return points, checks


def _fastest(bench: Bench, places: list[Work]) -> Geometry:
    """The launch that is fastest with a cold cache: the best three of a short heat run again, at every place."""

    def heat(geometry: Geometry, works: list[Work], runs: int) -> float:
        times = [t for work in works for t in bench.watch.series(bench.launcher(work, geometry), runs, bench.flush)]
        return Sample.of(times).median

    every = geometries(places[0].elements, bench.card.describes.processors)
    first = {geometry: heat(geometry, places[:1], _CANDIDATE_RUNS) for geometry in every}
    finalists = sorted(first, key=lambda g: first[g])[:_FINALISTS]
    return min(finalists, key=lambda g: heat(g, places, _CANDIDATE_RUNS))


def _point(bench: Bench, plan: Plan, places: list[Work], geometry: Geometry, method: str) -> tuple[Point, list[str]]:
    """One kernel at one size by one method over all places, and what was wrong with its outputs."""
    launches = 1
    if method in ("batched", "graph"):
        once = min(bench.watch.series(bench.launcher(places[0], geometry), 3))
        launches = int(min(max(_BATCH_SECONDS / once, 3), _BATCH))
    times: list[float] = []
    bad: list[int] = []
    for work in places:
        bench.poison(work)
        times += _times(bench, plan, bench.launcher(work, geometry), method, launches)
        bad.append(bench.wrong_outputs(work, geometry.blocks))
        # The next place may read where this one wrote.
        bench.restore(work)
    point = Point(
        places[0].kernel, method, places[0].elements, Sample.of(times), launches, f"{geometry}, {len(places)} places"
    )
    return point, [f"{point.label}: {count} wrong" for count in bad if count]


def _times(bench: Bench, plan: Plan, launch: Callable[[], None], method: str, launches: int) -> list[float]:
    """Times of one launch by a method, at one place."""
    watch = bench.watch

    def batch() -> None:
        for _ in range(launches):
            launch()

    replay = bench.card.capture(batch) if method == "graph" else launch

    def take(runs: int) -> list[float]:
        if method == "graph":
            return [t / launches for t in watch.series(replay, runs)]
        if method == "batched":
            return watch.series(launch, runs, launches=launches)
        return watch.series(launch, runs, bench.flush if method == "cold" else None)

    take(2)
    return watch.steady(take, plan.least_runs, plan.most_runs, plan.budget / launches)
