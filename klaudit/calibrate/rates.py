"""Cache bandwidth and where it ends, arithmetic rates, and what a launch costs by timing method."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from klaudit.calibrate.kernels import THREADS_PER_PROCESSOR, VECTOR
from klaudit.calibrate.record import CachePoint, Check, Launch, Rate, Sample
from klaudit.calibrate.sweep import Bench, Plan

_MEBI: Final = 1 << 20
# Sizes in fifteenths of the cache: fine where it ends.
_FIFTEENTHS: Final = (1, 2, 4, 6, 8, 10, 12, 13, 14, 15, 16, 17, 18, 20, 24, 28, 32)
_QUICK_FIFTEENTHS: Final = (2, 6, 10, 13, 15, 18, 24, 32)
# About so much is loaded in one kernel, so that launch and first pass are 1 %.
_LOADED: Final = 6 << 30
_THREADS: Final = 1024
_STEPS: Final = 16
# Chains a thread of each kernel, operations a step, and what is left in each output where all steps ran.
_CHAINS: Final = {"float32": ("fma_chains", 8, 2, -1.0, 3.0), "lg2": ("lg2_chains", 4, 1, 1.0, 1.0)}
_RATE_SECONDS: Final = 4e-3
_NODES: Final = 100


def cache_sizes(cache: int, quick: bool) -> list[int]:
    """Sizes of buffers around a cache's own, in whole MiB."""
    parts = _QUICK_FIFTEENTHS if quick else _FIFTEENTHS
    return sorted({max(round(cache * part / 15 / _MEBI), 1) * _MEBI for part in parts})


def cache_curve(bench: Bench, plan: Plan, quick: bool, say: Callable[[str], None]) -> tuple[list[CachePoint], Check]:
    """The bandwidth of buffers that are read again and again within one kernel, by size and by who reads what."""
    blocks = bench.card.describes.processors * (THREADS_PER_PROCESSOR // _THREADS)
    points: list[CachePoint] = []
    wrong: list[str] = []
    for size in cache_sizes(bench.card.describes.cache, quick):
        vectors = size // VECTOR
        # Round and round, so many rounds end where the buffer does only after a multiple of the processors' number.
        passes = -(-_LOADED // size // bench.card.describes.processors) * bench.card.describes.processors
        own = _common_rounds(vectors, blocks * _THREADS)
        rounds = {
            "read_round": passes * vectors // (blocks * _THREADS),
            "read_own": -(-_LOADED // (own * blocks * _THREADS * VECTOR)) * own,
        }
        for name, count in rounds.items():
            times = _read_again(bench, plan, name, vectors, count, blocks)
            loaded = count * min(blocks * _THREADS, vectors if name == "read_own" else blocks * _THREADS) * VECTOR
            points.append(CachePoint(size, loaded, Sample.of(times), name == "read_round"))
            if not _sum_is_right(bench, name, size, count, blocks):
                wrong.append(f"{name} at {size}")
        say(f"cache {size // _MEBI} MiB")
    said = f"wrong sums: {', '.join(wrong)}" if wrong else f"the sum of all loads is right in {len(points)} series"
    return points, Check("outputs of cache reads", not wrong, said)


def _common_rounds(vectors: int, threads: int) -> int:
    """Rounds after which every thread has read each vector of its share equally often, in fours."""
    fewest = max(vectors // threads, 1)
    return math.lcm(4, fewest, fewest + (vectors % threads > 0 and vectors > threads))


def _read_again(bench: Bench, plan: Plan, name: str, vectors: int, rounds: int, blocks: int) -> list[float]:
    kernel = bench.kernel(name)
    arguments = (
        np.uint64(bench.pool.address), np.uint32(vectors), np.uint32(rounds), np.uint64(bench.partials.address),
    )  # fmt: skip

    def launch() -> None:
        kernel((blocks,), (_THREADS,), arguments)

    bench.watch.series(launch, 2)
    return bench.watch.steady(
        lambda runs: bench.watch.series(launch, runs), plan.least_runs, plan.most_runs, plan.budget
    )


def _sum_is_right(bench: Bench, name: str, size: int, rounds: int, blocks: int) -> bool:
    partial = np.empty(blocks, dtype=np.uint32)
    bench.card.fetch(bench.partials.address, partial)
    words = np.empty((size // VECTOR, VECTOR // 4), dtype=np.uint32)
    bench.card.fetch(bench.pool.address, words)
    sums = words.sum(axis=1, dtype=np.uint64)
    threads = blocks * _THREADS
    if name == "read_round":
        often = np.uint64(rounds * threads // len(sums))
    else:
        first = np.arange(len(sums), dtype=np.uint64) % np.uint64(threads)
        share = (np.uint64(len(sums)) - first + np.uint64(threads - 1)) // np.uint64(threads)
        often = np.uint64(rounds) // share
    return int(partial.sum(dtype=np.uint64)) % 2**32 == int((sums * often).sum(dtype=np.uint64)) % 2**32


def arithmetic(bench: Bench, plan: Plan, say: Callable[[str], None]) -> Iterator[tuple[Rate, Check]]:
    """Rates of chains of one operation, with the clock that the card ran at meanwhile."""
    processors = bench.card.describes.processors
    blocks, threads = processors * 8, 256
    clocks = bench.wrong.address
    for name, (function, chains, operations, x, y) in _CHAINS.items():
        kernel = bench.kernel(function)

        def run(loops: int, kernel: Any = kernel, x: float = x, y: float = y) -> Callable[[], None]:
            arguments = (
                np.uint64(bench.partials.address), np.int32(loops), np.float32(x), np.float32(y), np.uint64(clocks),
            )  # fmt: skip
            return lambda: kernel((blocks,), (threads,), arguments)

        bench.watch.series(run(64), 2)
        loops = max(int(1024 * _RATE_SECONDS / min(bench.watch.series(run(1024), 3))), 64)
        launch = run(loops)
        bench.card.fill_bytes(bench.partials.address, 0xFF, blocks * threads * 4)
        bench.watch.series(launch, 3)
        times = bench.watch.steady(
            lambda runs, launch=launch: bench.watch.series(launch, runs),  # type: ignore[misc]
            plan.least_runs, plan.most_runs, 10 * plan.budget,
        )  # fmt: skip
        ticks = np.empty(2, dtype=np.uint64)
        bench.card.fetch(clocks, ticks)
        left = np.empty(blocks * threads, dtype=np.float32)
        bench.card.fetch(bench.partials.address, left)
        most = float(np.abs(left).max())
        rate = Rate(
            name,
            float(blocks * threads) * loops * _STEPS * chains * operations,
            Sample.of(times),
            float(ticks[0]) / float(ticks[1]) * 1e9,
        )
        say(name)
        yield rate, Check(f"outputs of {name}", most <= 1e-3, f"off by at most {most:.2g} in {left.size} threads")


def launch_floors(bench: Bench, runs: int) -> list[Launch]:
    """The time of an empty kernel by every timing method."""
    watch = bench.watch
    empty = bench.kernel("empty")

    def launch() -> None:
        empty((1,), (32,), ())

    def nodes() -> None:
        for _ in range(_NODES):
            launch()

    replay = bench.card.capture(nodes)
    watch.series(replay, 3)
    watch.host(launch, 3)
    return [
        Launch("event pair, queued behind work", Sample.of(watch.series(launch, runs, bench.flush))),
        Launch("event pair, idle stream", Sample.of(watch.idle_pair(launch, runs))),
        Launch(f"one of {_NODES} launches between two events", Sample.of(watch.series(launch, 9, launches=_NODES))),
        Launch(f"a node of a graph of {_NODES}", Sample.of([t / _NODES for t in watch.series(replay, runs)])),
        Launch("two events with nothing between", Sample.of(watch.series(lambda: None, runs, bench.flush))),
        Launch("host clock around launch and wait", Sample.of(watch.host(launch, runs))),
    ]
