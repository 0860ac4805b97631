"""A calibration as claims that the judge can judge, and the checks of what it does not judge. No verdicts here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from klaudit.board import Board, Era, Harness, RuledOut, Scoring
from klaudit.calibrate.record import METHODS, Calibration, Check, Point
from klaudit.catalog import Catalog, Index
from klaudit.gpu import Gpu
from klaudit.leaderboard import Leaderboard
from klaudit.verdict import Policy

_FLUSHED: Final = RuledOut("inputs-resident", "four caches of other data are read before every run")
# How each method takes its times. A launch among others between two events has no floor of its own.
_HARNESSES: Final = {
    "cold": Harness("event-pair", "four caches of other data read", "after each series", (_FLUSHED,)),
    "warm": Harness("event-pair", "none", "after each series"),
    "batched": Harness("unknown", "none", "after each series"),
    "graph": Harness("graph-node", "none", "after each series"),
}
# Compiled arithmetic may beat the nominal rate by what the driver's clock is off, and by no more.
_TOLERANCE: Final = 1.005


class Claims(NamedTuple):
    """Points timed in one way, ready to judge; `points` are in the order of the rows."""

    points: tuple[Point, ...]
    rows: Leaderboard
    board: Board
    policy: Policy


def claims(found: Calibration, gpu: Gpu) -> Iterator[Claims]:
    """The points of a calibration, one set of claims for each method, compressible memory apart."""
    for method in METHODS:
        for compressible in (False, True):
            points = tuple(p for p in found.points if p.method == method and bool(p.memory) == compressible)
            if points:
                allowed = frozenset({"compressed-data"}) if compressible else frozenset()
                policy = Policy(allowed=allowed, trust_columns=True)
                yield Claims(points, _rows(points, gpu), _board(method), policy)


def _rows(points: Sequence[Point], gpu: Gpu) -> Leaderboard:
    return Leaderboard.from_arrays(
        gpu=gpu.id,
        time=[p.time.median for p in points],
        work={
            "flops": [p.flops for p in points],
            "reads": [p.read_bytes for p in points],
            "writes": [p.written_bytes for p in points],
        },
        entries=[p.label for p in points],
        dtype="float32",
        runs=[p.time.runs * p.launches for p in points],
    )


def _board(method: str) -> Board:
    era = Era(f"calibration-{method}", Scoring(), _HARNESSES[method])
    return Board(f"calibration-{method}", f"Calibration, {method}", None, (era,))


def catalog_of(gpu: Gpu) -> Catalog:
    """A catalogue of one card: the one that was measured, whatever else is called so."""
    index: Index = {
        "date": "", "sha256": "", "workloads": {}, "boards": {},
        "gpus": {gpu.id: {"file": "", "name": gpu.id, "aliases": [], "labels": []}},
    }  # fmt: skip

    def nothing(name: str) -> None:
        raise KeyError(name)

    return Catalog(index, lambda _: gpu, nothing, nothing)  # type: ignore[arg-type]


def roof_checks(found: Calibration, gpu: Gpu) -> Iterator[Check]:
    """Whether cache and arithmetic stay under what the card can do at all: these are no rows of a leaderboard."""
    if gpu.port_bandwidth is not None and found.cache:
        best = max(p.best_bandwidth for p in found.cache)
        yield _under("cache reads under the cache port", best, gpu.port_bandwidth, "TB/s")
    rates = {r.name: r for r in found.rates}
    peak = gpu.peak("float32")
    if peak is not None and "float32" in rates:
        yield _under("float32 under its peak", rates["float32"].best_rate, peak.rate, "TFLOP/s")
    if gpu.special_rate is not None and "lg2" in rates:
        yield _under("lg2 under its peak", rates["lg2"].best_rate, gpu.special_rate, "T results/s")
    for rate in found.rates:
        yield Check(
            f"clock during {rate.name}",
            rate.clock <= gpu.clock * _TOLERANCE,
            f"{rate.clock / 1e6:.0f} MHz, highest {gpu.clock / 1e6:.0f} MHz",
        )


def _under(name: str, value: float, roof: float, unit: str) -> Check:
    return Check(name, value <= roof * _TOLERANCE, f"{value / 1e12:.3f} of {roof / 1e12:.3f} {unit}")


class Standing(NamedTuple):
    """What the judge said of a point: a verdict's word, its conditions, and the sentence."""

    verdict: str
    conditions: tuple[str, ...] = ()
    message: str = ""

    @property
    def refused(self) -> bool:
        """Whether a calibration with such a point is not written."""
        return self.verdict not in ("within", "conditional")
