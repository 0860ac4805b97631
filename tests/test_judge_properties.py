"""What must hold of the judge whatever the rows: no honest one accused, none lost, none softened by a better score.

Numbers near every threshold are drawn at random; times are worked out here from cards and counts, run by run, with
this file's own arithmetic.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from klaudit.audit import Judgement, audit, judge
from klaudit.board import Board, Era
from klaudit.catalog import Catalog
from klaudit.gpu import Gpu
from klaudit.leaderboard import FigureColumn, Leaderboard, Trouble
from klaudit.readers import ReadOptions, read
from klaudit.readers.specs import load_catalog
from klaudit.report import RowReport
from klaudit.units import find_unit, read_printed
from klaudit.verdict import CONDITION_BITS, CONDITION_IDS, RULES, Policy, Verdict, condition_ids
from klaudit.workload import Workload

pytestmark = pytest.mark.filterwarnings("error")

Column = NDArray[np.float64]
Kind = Literal["rate", "time", "bandwidth"]
CATALOG = load_catalog()
HARDNESS = {Verdict.WITHIN: 0, Verdict.CONDITIONAL: 1, Verdict.IMPOSSIBLE: 2, Verdict.INCONSISTENT: 2}
LAUNCH = {"event-pair": 1.0e-6, "graph-node": 0.25e-6, "loop": 0.0, "unknown": 0.0}
# Data centre and desktop, one card or several under a label, a memory-side cache, memory that always compresses,
# a float16 pipe slower than float32 (Titan Xp), no known event clock.
LABELS = (
    "T4", "H100", "H200", "A100", "A100-80GB", "V100", "L40S", "L4", "B200", "A10", "GH200", "rtx-4090", "rtx-5090",
    "titan-xp", "mi300x", "arc-b580", "Intel XPU", "RTX PRO 6000", "2x H100", "core-i7-8700k",
)  # fmt: skip
SINGLE_CARDS = ("T4", "H200 SXM", "L40S", "L4", "rtx-4090", "titan-xp", "mi300x", "arc-b580")


def quick(examples: int) -> Any:
    """Settings of every property here: reproducible, and short enough for two slow cores."""
    return settings(
        deadline=None, max_examples=examples, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
    )


SEEDS = st.integers(0, 2**32 - 1)


# -- what is judged -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """Rows of one kind: on a board with its cases, or one case each with sizes of their own."""

    name: str
    board: Board | None = None
    workload: str = ""
    dtype: str = ""
    own_counts: bool = False

    @property
    def policy(self) -> Policy:
        return Policy(workload="" if self.own_counts else self.workload, dtype=self.dtype)

    @property
    def kind(self) -> Workload:
        return CATALOG.workload((self.board.workload if self.board else None) or self.workload)

    @property
    def stated(self) -> str:
        return (self.board.dtype if self.board else None) or self.dtype

    @property
    def eras(self) -> tuple[Era, ...]:
        return self.board.eras if self.board else ()

    def sizes(self, random: np.random.Generator) -> list[dict[str, float]]:
        """The sizes of each case: the board's, or one case at random."""
        if self.board is not None and self.board.cases:
            return [dict(case.sizes) for case in self.board.cases]
        if len(self.kind.sizes) == 1:
            return [{self.kind.sizes[0]: float(int(10 ** random.uniform(2, 9.3)))}]
        return [{name: float(int(2 ** random.uniform(3, 13))) for name in self.kind.sizes}]


def on_board(name: str) -> Setting:
    return Setting(name, CATALOG.board(name))


BOARDS = [
    on_board(name)
    for name in (
        "tensara-kl-2025", "tensara-kl-2026", "tensara-kl", "tensara-matmul", "tensara-softmax",
        "tensara-threshold-2025", "gpumode-vectoradd", "gpumode-matmul", "gpumode-sort", "gpumode-conv2d",
    )
]  # fmt: skip
STATED = [
    Setting(f"{workload}-{dtype}", CATALOG.board("single-case"), workload, dtype)
    for workload, dtype in (
        ("kl-divergence", "float32"), ("sum", "float16"), ("matmul", "bfloat16"), ("matmul", "tfloat32"),
        ("gelu", "float32"), ("matrix-vector", "float32"),
    )
]  # fmt: skip
UNSTATED = [Setting(f"{workload}-unstated", None, workload) for workload in ("kl-divergence", "matmul", "gelu")]
OWN = [Setting(f"{workload}-own-counts", None, workload, own_counts=True) for workload in ("kl-divergence", "matmul")]
ALL_SETTINGS = [*BOARDS, *STATED, *UNSTATED, *OWN]


@dataclass(frozen=True)
class Counts:
    """What the cases of one row must do, in the dtype that was really used; columns of shape (cases,)."""

    sizes: list[dict[str, float]]
    dtype: str
    flops: Column
    reads: Column
    writes: Column
    least: Column


def counts_of(setting: Setting, random: np.random.Generator) -> Counts:
    kind, sizes = setting.kind, setting.sizes(random)
    dtype = setting.stated or str(random.choice(kind.dtypes))
    values = [kind.with_bytes(case, dtype) for case in sizes]

    def column(count: Any) -> Column:
        return np.array([float(count.formula(v)) for v in values])

    flops = column(kind.flops)
    least = column(kind.min_flops) if kind.min_flops and not setting.own_counts else np.zeros_like(flops)
    return Counts(sizes, dtype, flops, column(kind.reads), column(kind.writes), least)


def peaks_for(card: Gpu, dtype: str) -> list[float]:
    """Dense rates that may do the work of a dtype: floating-point work stays in floating-point pipes."""
    return [p.rate for p in card.peaks if "float" in p.dtype or "float" not in dtype] or [math.inf]


def peak_of(card: Gpu, dtype: str) -> float:
    """The best dense rate of a dtype; that of the fastest pipe where the card has no rate of its own for it."""
    return max([p.rate for p in card.peaks if p.dtype == dtype] or peaks_for(card, dtype))


def least_times(
    card: Gpu, counts: Counts, launch: float, kept: Column, *, conditions: frozenset[str] = frozenset()
) -> Column:
    """The least honest time of each case [s] when `kept` bytes never reach DRAM, shape of `kept`."""
    over = "overclock" in conditions
    bandwidth, clock = card.bandwidth * (1.25 if over else 1.0), 1.3 if over else 1.0
    traffic = np.maximum((counts.reads + counts.writes).reshape(-1, *[1] * (kept.ndim - 1)) - kept, 0.0)
    dram = traffic / bandwidth * (0.25 if "compressed-data" in conditions else 1.0)
    port = (
        0.0
        if card.port is None
        else np.maximum(counts.reads, counts.writes) / (card.processors * card.port * card.clock * clock)
    )
    flops = counts.least if "fewer-operations" in conditions else counts.flops
    peak = peak_of(card, counts.dtype)
    if "lower-precision" in conditions:
        peak = max(peak, *peaks_for(card, counts.dtype))
    hard = np.maximum(np.maximum(port, flops / (peak * clock)), launch)
    return np.maximum(dram, hard.reshape(-1, *[1] * (kept.ndim - 1)))


def average(values: Column, rule: str) -> float:
    if rule == "geomean":
        return math.exp(sum(map(math.log, values.tolist())) / len(values))
    return math.fsum(values.tolist()) / (len(values) if rule == "mean" else 1)


# -- honest rows ----------------------------------------------------------------------------------------------------

HITS = ("none", "full", "mixed", "some")
SLOWNESS = ("floor", "near", "wide", "straggler")


def honest_runs(
    card: Gpu,
    counts: Counts,
    launch: float,
    runs: int,
    hits: str,
    slowness: str,
    random: np.random.Generator,
    conditions: frozenset[str] = frozenset(),
) -> Column:
    """Honest times [s], shape (cases, runs): any mix of cache hits, never under what is left of the traffic."""
    shape = (len(counts.flops), runs)
    share = {
        "none": np.zeros((2, *shape)), "full": np.ones((2, *shape)), "mixed": random.uniform(0, 1, (2, *shape)),
        "some": random.integers(0, 2, (2, *shape)).astype(float),
    }[hits]  # fmt: skip
    kept = share[0] * np.minimum(counts.writes, card.cache)[:, None]
    kept = kept + share[1] * np.minimum(counts.reads, card.cache)[:, None]
    # No kernel is done in a nanosecond, not even where nothing of it is known to take time.
    times = np.maximum(least_times(card, counts, launch, kept, conditions=conditions), 1e-9)
    if slowness == "near":
        times = times * random.uniform(1, 1.05, shape)
    elif slowness == "wide":
        times = times * 10 ** random.uniform(0, 2, shape)
    elif slowness == "straggler":
        times[random.integers(shape[0]), random.integers(runs)] *= 10 ** random.uniform(0, 4)
    if random.integers(2):
        times = times + random.uniform(0, 3e-6)  # the launch itself
    return times


def case_figures(runs: Column, amounts: Column, *, mean_of_runs: bool) -> tuple[Column, Column]:
    """Each case's time and rate as a board of that kind works them out."""
    times = runs.mean(axis=1)
    return times, (amounts[:, None] / runs).mean(axis=1) if mean_of_runs else amounts / times


def average_of(kind: str, rule: str, times: Column, rates: Column, amounts: Column) -> float:
    """A board's one figure; a total rate is all work over the times that the cases' rates stand for."""
    if kind == "time":
        return average(times, rule)
    return amounts.sum() / math.fsum((amounts / rates).tolist()) if rule == "total" else average(rates, rule)


UNITS = {
    "time": ("s", "ms", "us", "ns"),
    "rate": ("FLOPS", "MFLOPS", "GFLOPS", "TFLOPS"),
    "bandwidth": ("MB/s", "GB/s", "TB/s"),
}


def printed(value: float, kind: str, random: np.random.Generator) -> tuple[float, float, float]:
    """The number as a program prints it, with 2 to 6 significant digits in some unit, and what a reader makes of it."""
    unit = find_unit(str(random.choice(UNITS[kind])))
    assert unit is not None
    scaled, digits = value / unit.scale, int(random.integers(2, 7))
    text = f"{scaled:.{digits}g}" if random.integers(2) else f"{scaled:.{digits - 1}e}"
    places = digits - 1 - math.floor(math.log10(scaled))
    if places >= 0 and random.integers(2):
        text = f"{scaled:.{places}f}"
    read_back = read_printed(text, unit)
    assert read_back is not None
    return read_back


KINDS: tuple[Kind, ...] = ("rate", "time", "bandwidth")
AVERAGES: tuple[Literal["mean", "geomean", "total"], ...] = ("mean", "geomean", "total")


class Key(NamedTuple):
    """One column of figures; of the cases' fastest runs where it is no average."""

    kind: Kind
    rule: Literal["mean", "geomean", "total"] | None = None
    case: str | None = None
    fastest: bool = False


Cells = dict[Key, tuple[float, float, float]]


@dataclass
class Rows:
    """Rows under construction: a cell for each figure that a row reports."""

    labels: list[str]
    cells: list[Cells]
    sizes: list[list[dict[str, float]]]
    work: list[dict[str, float]]
    days: list[datetime.date | None]

    def leaderboard(self, setting: Setting) -> Leaderboard:
        keys = list(dict.fromkeys(key for row in self.cells for key in row))
        none = (math.nan,) * 3
        figures = []
        for key in keys:
            value, low, high = np.array([row.get(key, none) for row in self.cells]).T
            figures.append(FigureColumn(key.kind, value, low, high, key.rule, key.case, str(key), fastest=key.fastest))
        single = setting.board is None or not setting.board.cases
        names = setting.kind.sizes if single and not setting.own_counts else ()
        counted = self.work[0] if setting.own_counts else ()
        labels = tuple(dict.fromkeys(self.labels))
        dated = any(day is not None for day in self.days)
        return Leaderboard(
            source="rows",
            lines=np.arange(2, len(self.labels) + 2),
            entries=[f"entry {i}" for i in range(len(self.labels))],
            gpu_labels=labels,
            gpu_codes=np.array([labels.index(label) for label in self.labels], dtype=np.int64),
            figures=tuple(figures),
            days=np.array(self.days, dtype="datetime64[D]") if dated else None,
            sizes={name: np.array([cases[0][name] for cases in self.sizes]) for name in names},
            work={name: np.array([row[name] for row in self.work]) for name in counted},
        )


def day_in(era: Era) -> datetime.date:
    if era.until is not None:
        return era.until - datetime.timedelta(days=1)
    return era.since or datetime.date(2026, 6, 1)


def honest_rows(
    setting: Setting, count: int, hits: str, slowness: str, random: np.random.Generator, *, rules: str = "board",
    figures: str = "any", granted: bool = False,
) -> Rows:  # fmt: skip
    """Rows that some card really could have produced, printed as their board prints them.

    `rules` "any" averages by any rule that a column may name; `granted` also overclocks, compresses, uses a less
    precise pipe and fewer operations; `figures` "bandwidth" always reports a bandwidth beside another figure.
    """
    rows = Rows([], [], [], [], [])
    for _ in range(count):
        label = str(random.choice(LABELS))
        match = CATALOG.find_gpus(label, setting.board)
        card = CATALOG.gpu(str(random.choice(match.ids))).times(match.cards)
        era = setting.eras[random.integers(len(setting.eras))] if setting.eras else None
        counts = counts_of(setting, random)
        scoring = era.scoring if era else None
        bounds = (scoring.runs if scoring else None) or (1, 20)
        runs = int(random.integers(bounds[0], min(bounds[1], 20) + 1))
        launch = LAUNCH[era.harness.timing] if era else 0.0
        conditions = frozenset(
            c
            for c, possible in (
                ("overclock", card.overclockable), ("compressed-data", card.memory_compression == "always"),
                ("lower-precision", True), ("fewer-operations", True),
            )
            if granted and possible and random.integers(2)
        )  # fmt: skip
        times = honest_runs(card, counts, launch, runs, hits, slowness, random, conditions)
        rows.labels.append(label)
        rows.sizes.append(counts.sizes)
        rows.work.append(
            {"flops": float(counts.flops[0]), "reads": float(counts.reads[0]), "writes": float(counts.writes[0])}
        )
        rows.days.append(day_in(era) if era and len(setting.eras) > 1 and random.integers(2) else None)
        rows.cells.append(honest_cells(setting, era, counts, times, random, rules, figures))
    return rows


def honest_cells(
    setting: Setting, era: Era | None, counts: Counts, runs: Column, random: np.random.Generator, rules: str,
    figures: str,
) -> Cells:  # fmt: skip
    """One row's printed figures: averages, cases or both."""
    scoring = era.scoring if era else None
    mean_of_runs = scoring is not None and scoring.case_rate == "mean-of-runs"
    amounts: dict[Kind, Column] = {
        "rate": counts.flops, "time": counts.flops, "bandwidth": counts.reads + counts.writes
    }  # fmt: skip
    kinds: list[Kind] = []
    kinds += ["rate"] * bool(random.integers(4)) + ["time"] * bool(random.integers(4))
    # The bytes that a bandwidth counts are those of the dtype in use: known to the judge where it is stated.
    known = bool(setting.stated) or setting.own_counts
    if figures == "bandwidth" or (known and not random.integers(3)):
        kinds.append("bandwidth")
    cells: Cells = {}
    for kind in kinds or ["time"]:
        times, rates = case_figures(runs, amounts[kind], mean_of_runs=mean_of_runs)
        own = (scoring.time if kind == "time" else scoring.rate) if scoring else "mean"
        named = None if rules == "board" else AVERAGES[random.integers(3)]
        value = average_of(kind, named or own, times, rates, amounts[kind])
        cells[Key(kind, named)] = printed(value, kind, random)
    if not random.integers(4):
        best = average(runs.min(axis=1), scoring.time if scoring else "mean")
        cells[Key("time", fastest=True)] = printed(best, "time", random)
    if setting.board is not None and len(setting.board.cases) > 1 and random.integers(2):
        of_cases: Kind = "time" if random.integers(3) else "rate"
        times, rates = case_figures(runs, counts.flops, mean_of_runs=mean_of_runs)
        for i, case in enumerate(setting.board.cases):
            if random.integers(20):  # now and then a case is missing
                value = float((times if of_cases == "time" else rates)[i])
                cells[Key(of_cases, None, case.name)] = printed(value, of_cases, random)
    return cells


def accused(setting: Setting, rows: Rows, policy: Policy | None = None) -> list[str]:
    """What is said of rows that are called impossible or inconsistent."""
    board = rows.leaderboard(setting)
    found = judge(board, CATALOG, setting.board, policy or setting.policy)
    if not (found.verdict >= Verdict.IMPOSSIBLE).any():
        event("has a conditional row" if (found.verdict == Verdict.CONDITIONAL).any() else "all within")
        return []
    report = audit([board], CATALOG, setting.board, policy or setting.policy)
    return [
        f"{f.gpu}: {f.message} {rows.cells[f.line - 2]} {rows.sizes[f.line - 2]}"
        for f in report.findings
        if f.verdict >= Verdict.IMPOSSIBLE
    ]


def styles(drawn_from: Sequence[Setting], *, examples: int) -> Any:
    """Feeds a property with a setting, a number of rows, a way to hit the cache, a way to be slow, and a seed."""

    def decorate(test: Any) -> Any:
        drawn = given(
            setting=st.sampled_from(drawn_from), count=st.integers(1, 8), hits=st.sampled_from(HITS),
            slowness=st.sampled_from(SLOWNESS), seed=SEEDS,
        )  # fmt: skip
        return quick(examples)(drawn(test))

    return decorate


@styles(ALL_SETTINGS, examples=400)
def test_no_honest_row_is_accused(setting: Setting, count: int, hits: str, slowness: str, seed: int) -> None:
    """Traffic over bandwidth, launch, cache hits run by run, averaged by the board's rule, few digits: no error."""
    rows = honest_rows(setting, count, hits, slowness, np.random.default_rng(seed))
    assert accused(setting, rows) == []


@styles([*BOARDS[:5], *STATED[:3], *UNSTATED, *OWN], examples=200)
def test_no_row_that_a_condition_explains_is_accused(
    setting: Setting, count: int, hits: str, slowness: str, seed: int
) -> None:
    """Overclocked, compressed, less precise, with fewer operations, and all that with cache hits: never an error."""
    rows = honest_rows(setting, count, hits, slowness, np.random.default_rng(seed), granted=True)
    assert accused(setting, rows) == []


@styles([*BOARDS[:5], STATED[0], UNSTATED[0], OWN[0]], examples=200)
def test_no_honest_row_is_accused_by_its_columns_rules(
    setting: Setting, count: int, hits: str, slowness: str, seed: int
) -> None:
    """A column that names its own rule (mean, geomean, total) beside the board's is read by that rule."""
    rows = honest_rows(setting, count, hits, slowness, np.random.default_rng(seed), rules="any")
    assert accused(setting, rows) == []


@styles(UNSTATED, examples=100)
def test_a_bandwidth_in_a_dtype_that_nobody_stated_is_no_contradiction(
    setting: Setting, count: int, hits: str, slowness: str, seed: int
) -> None:
    """Where nobody states the dtype, a bandwidth may count the bytes of any dtype that the workload allows."""
    rows = honest_rows(setting, count, hits, slowness, np.random.default_rng(seed), figures="bandwidth")
    assert accused(setting, rows) == []


@styles([STATED[0], STATED[2], UNSTATED[0], OWN[0]], examples=150)
def test_one_run_may_fall_well_on_the_clock(setting: Setting, count: int, hits: str, slowness: str, seed: int) -> None:
    """A single run's time may be up to one step of the event clock short: conditional at worst."""
    random = np.random.default_rng(seed)
    rows = Rows([], [], [], [], [])
    for _ in range(count):
        label = str(random.choice(SINGLE_CARDS))
        card = CATALOG.gpu(CATALOG.find_gpus(label).ids[0])
        counts = counts_of(setting, random)
        time = honest_runs(card, counts, 0.0, 1, hits, slowness, random)[0, 0]
        time = max(time - random.uniform(0, 1) * (card.tick or 0.5e-6), 1e-12)
        rows.labels.append(label)
        rows.sizes.append(counts.sizes)
        rows.work.append({"flops": counts.flops[0], "reads": counts.reads[0], "writes": counts.writes[0]})
        rows.days.append(None)
        cells: Cells = {
            Key("time"): printed(time, "time", random),
            Key("rate"): printed(counts.flops[0] / time, "rate", random),
        }
        if random.integers(2):
            del cells[Key("time" if random.integers(2) else "rate")]
        rows.cells.append(cells)
    assert accused(setting, rows) == []


@quick(60)
@given(seed=SEEDS, given_counts=st.lists(st.sampled_from(["flops", "bytes", "both"]), min_size=1, max_size=6))
def test_rows_that_count_different_things_do_not_disturb_each_other(seed: int, given_counts: list[str]) -> None:
    """Without a workload each row brings its own counts; one that gives bytes alone is not judged by its operations."""
    setting, random = OWN[0], np.random.default_rng(seed)
    rows = honest_rows(setting, len(given_counts), "full", "near", random)
    for work, given_count in zip(rows.work, given_counts, strict=True):
        if given_count == "flops":
            work["reads"] = work["writes"] = math.nan
        elif given_count == "bytes":
            work["flops"] = math.nan
    assert accused(setting, rows) == []


# -- rows of every hardness -----------------------------------------------------------------------------------------


def any_rows(setting: Setting, count: int, random: np.random.Generator, labels: Sequence[str] = LABELS) -> Rows:
    """Rows around every threshold, exact figures: far below the roof, between roof and limit, beyond, contradictory."""
    rows = Rows([], [], [], [], [])
    for _ in range(count):
        label = str(random.choice(labels))
        match = CATALOG.find_gpus(label, setting.board)
        card = CATALOG.gpu(str(random.choice(match.ids))).times(match.cards)
        era = setting.eras[random.integers(len(setting.eras))] if setting.eras else None
        counts = counts_of(setting, random)
        floor = least_times(card, counts, 0.0, np.zeros(len(counts.flops)))
        spread = random.choice([0.0, 0.1, 1.0])
        times = floor * 10 ** (random.uniform(-1.3, 0.4) + spread * random.uniform(-1, 1, floor.shape))
        scoring = era.scoring if era else None
        cells: Cells = {}
        amounts: dict[Kind, Column] = {
            "rate": counts.flops, "time": counts.flops, "bandwidth": counts.reads + counts.writes
        }  # fmt: skip
        for kind in KINDS:
            if random.integers(2):
                rule = (scoring.time if kind == "time" else scoring.rate) if scoring else "mean"
                value = average_of(kind, rule, times, amounts[kind] / times, amounts[kind])
                cells[Key(kind)] = (value * float(random.choice([1, 1, 1, 1, 1.2, 10, 0.001])),) * 3
        if setting.board is not None and len(setting.board.cases) > 1 and (not cells or random.integers(2)):
            for case, time in zip(setting.board.cases, times, strict=True):
                cells[Key("time", None, case.name)] = (float(time),) * 3
        rows.cells.append(cells or {Key("time"): (average(times, scoring.time if scoring else "mean"),) * 3})
        rows.labels.append(label)
        rows.sizes.append(counts.sizes)
        rows.work.append({"flops": counts.flops[0], "reads": counts.reads[0], "writes": counts.writes[0]})
        rows.days.append(day_in(era) if era and len(setting.eras) > 1 and random.integers(2) else None)
    return rows


def verdicts(
    setting: Setting, board: Leaderboard, policy: Policy | None = None, catalog: Catalog = CATALOG
) -> list[Verdict]:
    found = judge(board, catalog, setting.board, policy or setting.policy)
    return [Verdict(int(v)) for v in found.verdict]


def assert_no_softer(before: list[Verdict], after: list[Verdict]) -> None:
    """No row is less hard than it was, and none drops out of judgement."""
    for row, (old, new) in enumerate(zip(before, after, strict=True)):
        if old is Verdict.UNJUDGED or new is Verdict.UNJUDGED:
            assert old is new, row
        else:
            assert HARDNESS[new] >= HARDNESS[old], (row, str(old), str(new))


def scaled(board: Leaderboard, factor: float) -> Leaderboard:
    """All rates and bandwidths times a factor, all times over it."""
    figures = []
    for figure in board.figures:
        by = 1 / factor if figure.kind == "time" else factor
        figures.append(figure._replace(value=figure.value * by, low=figure.low * by, high=figure.high * by))
    return replace(board, figures=tuple(figures))


@quick(150)
@given(
    setting=st.sampled_from(ALL_SETTINGS),
    count=st.integers(1, 12),
    factor=st.sampled_from([1.001, 1.1, 2.0, 10.0, 1000.0]),
    seed=SEEDS,
)
def test_a_better_score_is_never_judged_softer(setting: Setting, count: int, factor: float, seed: int) -> None:
    """A rate raised and its time lowered by one factor, or either alone where it is all there is, is no milder."""
    board = any_rows(setting, count, np.random.default_rng(seed)).leaderboard(setting)
    assert_no_softer(verdicts(setting, board), verdicts(setting, scaled(board, factor)))


def taken(board: Leaderboard, rows: Sequence[int]) -> Leaderboard:
    """Some rows of a leaderboard, in the order given."""
    pick = np.array(rows, dtype=np.intp)
    figures = [
        figure._replace(value=figure.value[pick], low=figure.low[pick], high=figure.high[pick])
        for figure in board.figures
    ]
    places = {row: place for place, row in enumerate(rows)}
    return replace(
        board,
        lines=board.lines[pick],
        entries=[board.entries[row] for row in rows],
        gpu_codes=board.gpu_codes[pick],
        figures=tuple(figures),
        days=None if board.days is None else board.days[pick],
        sizes={name: column[pick] for name, column in board.sizes.items()},
        work={name: column[pick] for name, column in board.work.items()},
        troubles=tuple(t._replace(row=places[t.row]) for t in board.troubles if t.row in places),
    )


def reports(setting: Setting, batches: Sequence[Leaderboard]) -> tuple[dict[int, RowReport], Any]:
    """Every row's report by its line, and the audit."""
    found = audit(batches, CATALOG, setting.board, setting.policy, keep_rows=True)
    rows = list(found.rows())
    by_line = {row.line: row for row in rows}
    assert len(by_line) == len(rows)
    return by_line, found


def same(first: RowReport, second: RowReport) -> bool:
    """Whether two reports say the same of a row, but for the note that depends on which row came first."""

    def said(report: RowReport) -> tuple[object, ...]:
        rules = set(report.rules) - {"duplicate-entry"}
        cases = tuple((c.verdict, c.conditions) for c in report.cases)
        named = (report.entry, report.gpu, report.variant, report.roof_name, report.worst_case)
        return (*named, report.verdict, report.conditions, report.alternatives, rules, cases)

    def numbers(report: RowReport) -> list[float]:
        found = [report.ratio, report.limit_ratio, report.cached_share]
        found += [n for r in report.reported for n in (r.value, r.roof, r.limit, r.ratio, r.limit_ratio)]
        return [math.nan if n is None else n for n in found]

    one, other = numbers(first), numbers(second)
    return said(first) == said(second) and one == pytest.approx(other, rel=1e-9, nan_ok=True)


@quick(50)
@given(setting=st.sampled_from(ALL_SETTINGS), count=st.integers(2, 16), parts=st.integers(1, 5), seed=SEEDS)
def test_neither_order_nor_batches_matter(setting: Setting, count: int, parts: int, seed: int) -> None:
    """Rows in another order and in several batches are reported as they were in one."""
    random = np.random.default_rng(seed)
    rows = any_rows(setting, count, random)
    for work in rows.work:  # rows that bring their own counts need not all bring the same ones
        work.update(random.choice([{}, {}, {"flops": math.nan}, {"reads": math.nan, "writes": math.nan}]))
    board = rows.leaderboard(setting)
    whole, before = reports(setting, [board])
    shuffled = np.array_split(random.permutation(count), parts)
    apart, after = reports(setting, [taken(board, part.tolist()) for part in shuffled if len(part)])
    assert whole.keys() == apart.keys()
    for line, report in whole.items():
        assert same(report, apart[line]), (report, apart[line])
    assert before.summary == after.summary
    assert dict(before.by_gpu) == dict(after.by_gpu)


# -- every record judged or explained -------------------------------------------------------------------------------

ODD_LABELS = (*LABELS, "no such card", "", "H100!", "x" * 200, "4x L4")
ODD_VALUES = (math.nan, math.inf, 0.0, 1e-300, 1e300, 1.0)


def odd_rows(setting: Setting, count: int, random: np.random.Generator) -> Leaderboard:
    """Rows as in `any_rows`, with unknown cards, missing, infinite and zero figures and sizes, and troubled cells."""
    board = any_rows(setting, count, random).leaderboard(setting)
    labels = tuple(dict.fromkeys(ODD_LABELS))
    codes = np.where(
        random.integers(0, 3, count) == 0,
        random.integers(-1, len(labels), count),
        [labels.index(board.gpu_labels[code]) for code in board.gpu_codes],
    )

    def spoil(column: Column) -> Column:
        odd = np.array([random.choice(ODD_VALUES) for _ in range(count)])
        return np.where(random.integers(0, 4, count) == 0, odd, column)

    figures = []
    for figure in board.figures:
        value = spoil(figure.value)
        figures.append(figure._replace(value=value, low=value * 0.99, high=value * 1.01))
    troubles = [
        Trouble(
            int(row), str(random.choice(["not-a-number", "unknown-unit", "not-accepted"])), "a cell is odd", bool(f)
        )
        for row, f in zip(random.integers(0, count, 3), random.integers(0, 2, 3), strict=True)
    ]
    return replace(
        board,
        gpu_labels=labels,
        gpu_codes=codes.astype(np.int64),
        figures=tuple(figures),
        sizes={name: spoil(column) for name, column in board.sizes.items()},
        work={name: spoil(column) for name, column in board.work.items()},
        troubles=tuple(troubles),
    )


@quick(100)
@given(
    setting=st.sampled_from(ALL_SETTINGS),
    counts=st.lists(st.integers(1, 8), min_size=1, max_size=3),
    kept=st.integers(0, 30),
    seed=SEEDS,
)
def test_every_record_is_judged_or_explained(setting: Setting, counts: list[int], kept: int, seed: int) -> None:
    """No row is lost, none counted twice, and each unjudged one has a rule and a sentence, over several batches."""
    random = np.random.default_rng(seed)
    batches, start = [], 2
    for count in counts:
        batches.append(replace(odd_rows(setting, count, random), lines=np.arange(start, start + count)))
        start += count
    found = audit(batches, CATALOG, setting.board, setting.policy, keep_rows=True, max_findings=kept)
    rows = list(found.rows())
    assert [row.line for row in rows] == list(range(2, start))
    assert found.summary.rows == sum(counts)
    assert found.summary.judged + found.summary.counts[Verdict.UNJUDGED] == sum(counts)
    for verdict in Verdict:
        assert found.summary.counts[verdict] == sum(row.verdict is verdict for row in rows)
        assert found.summary.counts[verdict] == sum(s.counts[verdict] for s in found.by_gpu.values())
    flagged = [row.line for row in rows if row.verdict is not Verdict.WITHIN]
    assert [row.line for row in found.findings] == flagged[:kept]
    assert found.findings_left_out == len(flagged) - len(found.findings)
    for row in rows:
        assert row.message
        assert set(row.rules) <= set(RULES)
        assert (row.verdict is Verdict.CONDITIONAL) == bool(row.conditions)
        if row.verdict is not Verdict.WITHIN:
            assert RULES[row.rules[0]].level in ("error", "warning"), row.rules
        if row.verdict is Verdict.UNJUDGED:
            assert row.rules[0] not in ("impossible", "figures-disagree")


# -- the same digits in another unit --------------------------------------------------------------------------------


def spelled(digits: int, last: int, exponent: int, *, scientific: bool) -> str:
    """`digits` x 10^`last` in a unit of 10^`exponent`, with the same last digit."""
    places = exponent - last
    if places < 0 or scientific:
        return f"{digits}e{-places}"
    text = str(digits).rjust(places + 1, "0")
    return f"{text[: len(text) - places]}.{text[len(text) - places :]}" if places else text


TIME_UNITS = (("s", 0), ("ms", -3), ("us", -6), ("ns", -9))
RATE_UNITS = (("FLOPS", 0), ("MFLOPS", 6), ("GFLOPS", 9), ("TFLOPS", 12))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("units")


def csv_text(
    rows: list[tuple[str, int, int, int, int]], time: tuple[str, int], rate: tuple[str, int], cells: str
) -> str:
    """A file with a mean rate and a mean time, their units in the header or in each cell."""
    in_cell = cells == "cells"
    suffixes = ("", "") if in_cell else (f" ({rate[0]})", f" ({time[0]})")
    lines = [f"gpu,n,mean rate{suffixes[0]},mean time{suffixes[1]}"]
    for label, rate_digits, rate_last, time_digits, time_last in rows:
        scientific = cells == "scientific"
        figures = (
            spelled(rate_digits, rate_last, rate[1], scientific=scientific),
            spelled(time_digits, time_last, time[1], scientific=scientific),
        )
        units = (f" {rate[0]}", f" {time[0]}") if in_cell else ("", "")
        lines.append(f"{label},1048576,{figures[0]}{units[0]},{figures[1]}{units[1]}")
    return "\n".join(lines) + "\n"


@quick(60)
@given(setting=st.sampled_from([BOARDS[0], BOARDS[1], STATED[0]]),
    digits=st.lists(
        st.tuples(
            st.sampled_from(["T4", "H100", "rtx-4090"]), st.integers(1, 99_999), st.integers(7, 10),
            st.integers(1, 9_999), st.integers(-9, -6),
        ),
        min_size=1, max_size=6,
    ),
    units=st.lists(
        st.tuples(
            st.sampled_from(TIME_UNITS), st.sampled_from(RATE_UNITS), st.sampled_from(["header", "cells", "scientific"])
        ),
        min_size=2, max_size=2,
    ),
)  # fmt: skip
def test_the_same_digits_in_another_unit_change_nothing(
    folder: Path,
    setting: Setting,
    digits: list[tuple[str, int, int, int, int]],
    units: list[tuple[tuple[str, int], tuple[str, int], str]],
) -> None:
    """Units in the header or in each cell, points or exponents: the same figures bit by bit, and the same verdicts."""
    found = []
    for time, rate, cells in units:
        path = folder / "board.csv"
        path.write_text(csv_text(digits, time, rate, cells))
        (board,) = read(path, ReadOptions(board=setting.board, size_names={"n": ("n",)}))
        figures = {(f.kind, f.rule): [*f.value.tolist(), *f.low.tolist(), *f.high.tolist()] for f in board.figures}
        judged = judge(board, CATALOG, setting.board, setting.policy)
        assert set(figures) == {("rate", "mean"), ("time", "mean")}
        assert (judged.verdict != Verdict.UNJUDGED).all()
        found.append((figures, judged.verdict.tolist(), judged.conditions.tolist()))
    assert found[0] == found[1]


# -- more of anything never hardens ---------------------------------------------------------------------------------


class Bigger:
    """The catalogue with every cache and every bandwidth times a factor."""

    def __init__(self, cache: float, bandwidth: float) -> None:
        self.cache = cache
        self.bandwidth = bandwidth

    def __getattr__(self, name: str) -> Any:
        return getattr(CATALOG, name)

    def gpu(self, name: str) -> Gpu:
        card = CATALOG.gpu(name)
        return card._replace(cache=card.cache * self.cache, bandwidth=card.bandwidth * self.bandwidth)


@quick(100)
@given(setting=st.sampled_from(ALL_SETTINGS),
    count=st.integers(1, 12), cache=st.sampled_from([1.0, 1.01, 2.0, 100.0]),
    bandwidth=st.sampled_from([1.0, 1.01, 2.0, 100.0]), seed=SEEDS,
)  # fmt: skip
def test_a_better_card_never_hardens_a_verdict(
    setting: Setting, count: int, cache: float, bandwidth: float, seed: int
) -> None:
    """A larger cache or more bandwidth makes every row as possible as it was, or more."""
    board = any_rows(setting, count, np.random.default_rng(seed)).leaderboard(setting)
    bigger: Any = Bigger(cache, bandwidth)
    assert_no_softer(verdicts(setting, board, catalog=bigger), verdicts(setting, board))


@quick(120)
@given(setting=st.sampled_from(ALL_SETTINGS),
    count=st.integers(1, 12), ruled_out=st.sets(st.sampled_from(CONDITION_IDS)), allowed=st.sampled_from(CONDITION_IDS),
    seed=SEEDS,
)  # fmt: skip
def test_one_more_condition_never_hardens_a_verdict(
    setting: Setting, count: int, ruled_out: set[str], allowed: str, seed: int
) -> None:
    """Whatever else is ruled out, allowing one more condition makes no row harder."""
    board = any_rows(setting, count, np.random.default_rng(seed)).leaderboard(setting)
    strict = setting.policy._replace(ruled_out=frozenset(ruled_out | {allowed}))
    lenient = setting.policy._replace(
        ruled_out=frozenset(ruled_out - {allowed}), allowed=frozenset({allowed} & {"compressed-data"})
    )
    assert_no_softer(verdicts(setting, board, lenient), verdicts(setting, board, strict))


# -- the smallest set -----------------------------------------------------------------------------------------------


def judged_under(setting: Setting, board: Leaderboard, conditions: Sequence[str]) -> Judgement:
    """The rows when these conditions and no others may be true."""
    ruled_out = frozenset(CONDITION_IDS) - set(conditions)
    policy = setting.policy._replace(ruled_out=ruled_out, allowed=frozenset({"compressed-data"}))
    return judge(board, CATALOG, setting.board, policy)


@quick(12)
@given(setting=st.sampled_from([BOARDS[0], BOARDS[1], BOARDS[3], BOARDS[7], STATED[0], *UNSTATED, OWN[1]]), seed=SEEDS)
def test_the_smallest_set_suffices_and_no_smaller_one_does(setting: Setting, seed: int) -> None:
    """A conditional row is possible under its set alone, and impossible under every set with one condition less."""
    random = np.random.default_rng(seed)
    # Few cards at once: all sets of a size are tried, and each card is judged by itself.
    labels = tuple(random.choice(LABELS, 3).tolist())
    board = any_rows(setting, 24, random, labels).leaderboard(setting)
    policy = setting.policy._replace(allowed=frozenset({"compressed-data"}))
    found = judge(board, CATALOG, setting.board, policy)
    conditional = found.verdict == Verdict.CONDITIONAL
    sizes = np.array([len(condition_ids(int(bits))) for bits in found.conditions])
    assert ((sizes > 0) == conditional).all()
    # On a board of several eras another era may be the milder one under other conditions.
    if len(setting.eras) > 1:
        conditional &= board.days is not None and ~np.isnat(board.days)
    for bits in np.unique(found.conditions[conditional]):
        rows = conditional & (found.conditions == bits)
        under = judged_under(setting, board, condition_ids(int(bits)))
        assert (under.verdict[rows] == Verdict.CONDITIONAL).all(), condition_ids(int(bits))
        assert (under.conditions[rows] == bits).all()
    for size in np.unique(sizes[conditional]):
        rows = taken(board, np.flatnonzero(conditional & (sizes == size)).tolist())
        for chosen in itertools.combinations(CONDITION_IDS, int(size) - 1):
            assert (judged_under(setting, rows, chosen).verdict >= Verdict.IMPOSSIBLE).all(), chosen


@quick(60)
@given(
    setting=st.sampled_from([BOARDS[0], BOARDS[1], BOARDS[5], STATED[0], STATED[5]]),
    seed=SEEDS,
    figure=st.sampled_from(["rate", "time"]),
)
def test_the_cached_share_suffices_and_one_percent_less_does_not(setting: Setting, seed: int, figure: Kind) -> None:
    """So many bytes kept out of DRAM give the row's figure; a hundredth of them fewer do not."""
    random = np.random.default_rng(seed)
    labels = ("T4", "H200 SXM", "L40S", "mi300x")
    rows = any_rows(setting, 12, random, labels)
    for i, label in enumerate(rows.labels):
        # One figure a row, at some place between roof and limit.
        card = CATALOG.gpu(CATALOG.find_gpus(label, setting.board).ids[0])
        counts = counts_at(setting, rows.sizes[i])
        times = shared_times(setting, card, counts, random.uniform(0, 2), ("write-back", "inputs-resident"))
        value = figure_of(setting, figure, times, counts.flops)
        rows.cells[i] = {Key(figure): (value,) * 3}
        rows.days[i] = None
    policy = setting.policy._replace(ruled_out=frozenset(CONDITION_IDS) - {"write-back", "inputs-resident"})
    found = audit([rows.leaderboard(setting)], CATALOG, setting.board, policy)
    for report in found.findings:
        assert report.verdict is Verdict.CONDITIONAL, report
        assert report.cached_share is not None
        row = report.line - 2
        card = CATALOG.gpu(report.variant)
        counts = counts_at(setting, rows.sizes[row])
        value = rows.cells[row][Key(figure)][0]
        for share, enough in ((report.cached_share * 1.000001, True), (report.cached_share * 0.99, False)):
            best = figure_of(
                setting, figure, shared_times(setting, card, counts, share, report.conditions), counts.flops
            )
            reached = best <= value * (1 + 1e-9) if figure == "time" else best >= value * (1 - 1e-9)
            if report.cached_share > 1e-4:  # below, the hundredth is finer than the figures' rounding
                assert reached == enough, (report, share)


def counts_at(setting: Setting, sizes: list[dict[str, float]]) -> Counts:
    values: list[Mapping[str, Any]] = [setting.kind.with_bytes(case, setting.stated) for case in sizes]
    flops, reads, writes = (
        np.array([float(count.formula(v)) for v in values])
        for count in (setting.kind.flops, setting.kind.reads, setting.kind.writes)
    )
    return Counts(sizes, setting.stated, flops, reads, writes, np.zeros_like(flops))


def shared_times(setting: Setting, card: Gpu, counts: Counts, share: float, conditions: Sequence[str]) -> Column:
    """The least times when at most so many caches of bytes stay out of DRAM."""
    kept = np.zeros_like(counts.flops)
    if "write-back" in conditions:
        kept = kept + np.minimum(counts.writes, card.cache)
    if "inputs-resident" in conditions:
        kept = kept + np.minimum(counts.reads, card.cache)
    launch = LAUNCH[setting.eras[0].harness.timing]
    return least_times(card, counts, launch, np.minimum(kept, share * card.cache))


def figure_of(setting: Setting, kind: str, times: Column, flops: Column) -> float:
    scoring = setting.eras[0].scoring
    return average_of(kind, scoring.time if kind == "time" else scoring.rate, times, flops / times, flops)


def test_the_conditions_are_the_nine_that_the_properties_range_over() -> None:
    """A condition that is added must be given its place in the honest model above."""
    assert set(CONDITION_BITS) == {
        "faster-variant", "write-back", "inputs-resident", "timer-tick", "overclock", "narrower-dtype",
        "lower-precision", "fewer-operations", "compressed-data",
    }  # fmt: skip
