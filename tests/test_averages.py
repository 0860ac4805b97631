"""What an average can and cannot be, against optimisers and against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from klaudit import averages
from klaudit.averages import Rule

Column = NDArray[np.float64]
RULES: tuple[Rule, ...] = ("mean", "geomean", "total")


def one(value: float) -> tuple[Column, Column]:
    """An exact figure of one row."""
    return np.array([value]), np.array([value])


def column(*values: float) -> Column:
    return np.array([[v] for v in values])


def mean_by_rule(values: Column, rule: Rule) -> float:
    """An average in the test's own arithmetic."""
    if rule == "geomean":
        return float(np.prod([v ** (1 / len(values)) for v in values]))
    return float(sum(values)) / (len(values) if rule == "mean" else 1)


@pytest.mark.parametrize(
    ("rule", "time", "rate"),
    [
        # Times 1, 4, 16; work 2, 2, 32: rates 2, 1/2, 2.
        ("mean", 7.0, 1.5),  # 21 / 3; 4.5 / 3
        ("geomean", 4.0, 2 ** (1 / 3)),  # cube root of 64; cube root of 2
        ("total", 21.0, 36 / 21),
    ],
)
def test_averages_by_hand(rule: Rule, time: float, rate: float) -> None:
    """Each rule on three cases, for one row and for columns."""
    times, work = column(1, 4, 16), column(2, 2, 32)
    assert averages.average_time(times, rule).tolist() == pytest.approx([time])
    assert averages.average_rate(work, times, rule).tolist() == pytest.approx([rate])
    many = np.hstack([times, 2 * times])
    assert averages.average_time(many, rule).tolist() == pytest.approx([time, 2 * time])
    assert averages.average_rate(work, many, rule).tolist() == pytest.approx([rate, rate / 2])


def test_a_floor_of_zero_bounds_nothing() -> None:
    """Where a case may take no time, a geometric mean has no floor and no rate a ceiling; no warning is raised."""
    times = column(0, 4)
    assert averages.average_time(times, "geomean").tolist() == [0.0]
    assert averages.average_rate(column(1, 1), times, "mean").tolist() == [np.inf]
    assert averages.average_rate(column(1, 1), times, "geomean").tolist() == [np.inf]
    assert averages.average_rate(column(1, 1), 0 * times, "total").tolist() == [np.inf]


def test_reachable_rates_by_hand() -> None:
    """A mean rate of the KL board: 7 x 2^20, 2^22, 2^24, 2^26, 2^20 operations in a mean of 0.37 ms on an H100.

    The root of F is sqrt(7) x 2^10 x (1 + 2 + 4 + 8 + 1 = 16), so without floors the least rate is
    7 x 2^20 x 256 / 25 / 0.37 ms = 203.1 GFLOP/s.
    """
    work = 7.0 * column(2**20, 2**22, 2**24, 2**26, 2**20)
    least = averages.least_mean_rate(work, np.zeros((5, 1)), np.array([0.37e-3]))
    assert float(least[0]) / 1e9 == pytest.approx(203.15, abs=0.01)


def random_boards(count: int, seed: int) -> list[tuple[Column, Column, float, np.random.Generator]]:
    """Work and floors of 1 to 7 cases over five decades, and a mean time from the floors' own to a hundredfold."""
    random = np.random.default_rng(seed)
    boards = []
    for i in range(count):
        cases = int(random.integers(1, 8))
        work, floors = (10 ** random.uniform(-2, 3, cases) for _ in range(2))
        slack = [0.0, random.uniform(0, 0.1), 10 ** random.uniform(-1, 2)][i % 3]
        boards.append((work, floors, float(floors.mean() * (1 + slack)), random))
    return boards


@pytest.mark.parametrize("board", range(45))
def test_the_least_mean_rate_is_what_an_optimiser_finds(board: int) -> None:
    """Water-filling in closed form agrees with scipy's constrained minimum, which never goes below it."""
    work, floors, mean_time, random = random_boards(board + 1, 2)[board]
    closed = float(averages.least_mean_rate(work[:, None], floors[:, None], np.array([mean_time]))[0])
    total = mean_time * len(work)
    slack = max(total - float(floors.sum()), 0.0)
    start = floors + slack * random.dirichlet(np.ones(len(work)))
    # In units of the slack, so that the optimiser's tolerances mean something.
    scale = max(slack, 1e-12 * total)
    found = optimize.minimize(
        lambda x: float(np.mean(work / (floors + scale * x)) / closed),
        (start - floors) / scale,
        jac=lambda x: -work / (floors + scale * x) ** 2 * scale / len(work) / closed,
        bounds=[(0.0, None)] * len(work),
        constraints={"type": "eq", "fun": lambda x: x.sum() - slack / scale, "jac": lambda x: np.ones_like(x)},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    assert found.fun == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("runs", [1, 3, 20])
@pytest.mark.parametrize("board", range(15))
def test_the_largest_mean_rate_is_at_a_corner(board: int, runs: int) -> None:
    """A convex sum is largest at a corner: no random run-by-run times beat it, and one corner reaches it."""
    work, floors, mean_time, random = random_boards(board + 1, 3)[board]
    cases = len(work)
    closed = float(averages.largest_mean_rate(work[:, None], floors[:, None], np.array([mean_time]), runs)[0])
    slack = max(cases * runs * (mean_time - float(floors.mean())), 0.0)
    at_floor = np.repeat(floors, runs).reshape(cases, runs)
    corners = []
    for case in range(cases):
        times = at_floor.copy()
        times[case, 0] += slack
        assert times.mean() == pytest.approx(mean_time)
        corners.append(float(np.mean(work[:, None] / times)))
    assert closed == pytest.approx(max(corners), rel=1e-9)
    for spread in (0.05, 0.3, 1.0, 10.0):
        shares = random.dirichlet(np.full(cases * runs, spread), 50).reshape(50, cases, runs)
        rates = np.mean(work[:, None] / (at_floor + slack * shares), axis=(1, 2))
        assert rates.max() <= closed * (1 + 1e-9)


@pytest.mark.parametrize("board", range(10))
def test_the_largest_mean_rate_is_what_an_optimiser_finds(board: int) -> None:
    """A global optimiser over the simplex of slacks finds no higher mean rate, and comes near it."""
    work, floors, mean_time, _ = random_boards(3 * board + 3, 5)[3 * board + 2]
    cases = len(work)
    closed = float(averages.largest_mean_rate(work[:, None], floors[:, None], np.array([mean_time]), 1)[0])
    slack = cases * mean_time - float(floors.sum())

    def loss(x: Column) -> float:
        shares = x**8 / max(float(np.sum(x**8)), 1e-300)
        return -float(np.mean(work / (floors + slack * shares))) / closed

    found = optimize.differential_evolution(loss, [(0.0, 1.0)] * cases, seed=board, maxiter=60, popsize=12, tol=1e-10)
    assert -1.0 - 1e-9 <= found.fun <= -1.0 + 1e-3


def test_without_known_runs_the_ceiling_itself_is_reachable() -> None:
    """With ever more runs one slow run costs ever less: the limit is the rate at the floors."""
    work, floors, time = column(2, 8), column(1, 2), np.array([30.0])
    ceiling = 3.0  # (2 / 1 + 8 / 2) / 2
    assert averages.largest_mean_rate(work, floors, time, None).tolist() == [ceiling]
    steps = [float(averages.largest_mean_rate(work, floors, time, r)[0]) for r in (1, 2, 5, 20, 10_000)]
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(ceiling, rel=1e-3)
    assert max(steps) < ceiling


def random_times(random: np.random.Generator, cases: int, runs: int) -> tuple[Column, Column]:
    """Work and positive times over several decades, now and then all alike or with one slow run."""
    work, times = 10 ** random.uniform(0, 4, cases), 10 ** random.uniform(-3, 3, (cases, runs))
    style = random.integers(4)
    if style == 1:
        times = np.sqrt(work)[:, None] * np.ones(runs)  # the equality of Cauchy and Schwarz
    elif style == 2:
        times = np.ones((cases, runs))
        times[0, 0] = 10 ** random.uniform(0, 4)
    elif style == 3:
        times = work[:, None] * np.ones(runs)  # all rates alike
    return work, times


@pytest.mark.parametrize("mean_of_runs", [False, True])
@pytest.mark.parametrize(("rate_rule", "time_rule"), list(itertools.product(RULES, RULES)))
def test_a_true_pair_never_contradicts_itself(rate_rule: Rule, time_rule: Rule, mean_of_runs: bool) -> None:
    """Figures worked out from one set of times agree, whatever the times, also run by run and also rounded.

    With `mean_of_runs` a case's rate is the mean of its runs' rates and its time the mean of its runs' times.
    """
    random = np.random.default_rng(7)
    for trial in range(400):
        work, times = random_times(random, int(random.integers(1, 7)), int(random.integers(1, 21)))
        case_time = times.mean(axis=1)
        case_rate = (work[:, None] / times).mean(axis=1) if mean_of_runs else work / case_time
        time = mean_by_rule(case_time, time_rule)
        # Total work over total time, where the time of a case is what its rate stands for.
        rate = work.sum() / (work / case_rate).sum() if rate_rule == "total" else mean_by_rule(case_rate, rate_rule)
        share = random.uniform(0, 0.05) if trial % 2 else 0.0
        lean = random.uniform(0, 2, 2)  # where in its interval the true figure lies
        bounds = [(v * (1 - share * a), v * (1 + share * (2 - a))) for v, a in zip((rate, time), lean, strict=True)]
        edges = [(np.array([low]), np.array([high])) for low, high in bounds]
        contradicts = averages.rate_and_time_contradict(
            work[:, None], edges[0], rate_rule, edges[1], time_rule, mean_of_runs=mean_of_runs
        )
        assert not contradicts[0], (work, times)


# The least and the largest product G x T that positive times allow, over the work 1, 4, 16; None where none bounds it.
# Roots 1, 2, 4: (7/3)^2 = 49/9. Mean 7, geometric mean 4. A total time counts three cases.
KNOWN: tuple[tuple[Rule, Rule, float | None, float | None], ...] = (
    ("mean", "mean", 49 / 9, None),
    ("mean", "geomean", 4.0, None),
    ("mean", "total", 49 / 3, None),
    ("geomean", "mean", 4.0, None),
    ("geomean", "geomean", 4.0, 4.0),
    ("geomean", "total", 12.0, None),
    ("total", "mean", 7.0, 7.0),
    ("total", "geomean", None, 7.0),
    ("total", "total", 21.0, 21.0),
)


@pytest.mark.parametrize(("rate_rule", "time_rule", "least", "most"), KNOWN)
def test_a_known_contradiction_is_found(
    rate_rule: Rule, time_rule: Rule, least: float | None, most: float | None
) -> None:
    """A thousandth beyond what any times allow is called contradictory, a thousandth inside is not."""
    work = column(1, 4, 16)

    def contradicts(product: float) -> bool:
        time = 0.37
        flags = averages.rate_and_time_contradict(
            work, one(product / time), rate_rule, one(time), time_rule, mean_of_runs=False
        )
        return bool(flags[0])

    if least is not None:
        assert contradicts(least * 0.999)
        assert not contradicts(least * (1.001 if most != least else 1.0))
    else:
        assert not contradicts(1e-6)
    if most is not None:
        assert contradicts(most * 1.001)
        assert not contradicts(most * (0.999 if most != least else 1.0))
    else:
        assert not contradicts(1e6)


@pytest.mark.parametrize(("rate_rule", "time_rule", "least", "most"), KNOWN)
def test_the_known_bounds_are_what_an_optimiser_finds(
    rate_rule: Rule, time_rule: Rule, least: float | None, most: float | None
) -> None:
    """The table above is not taken from the code: scipy finds the same least and largest product."""
    work = np.array([1.0, 4.0, 16.0])

    def product(logs: Column) -> float:
        times = np.exp(logs)
        rate = work.sum() / times.sum() if rate_rule == "total" else mean_by_rule(work / times, rate_rule)
        return rate * mean_by_rule(times, time_rule)

    random = np.random.default_rng(1)
    for sign, bound in ((1, least), (-1, most)):
        if bound is None:
            far = [sign * product(random.uniform(-12, 12, 3)) for _ in range(400)]
            assert min(far) < (0.05 if sign == 1 else -1e3)
            continue

        def loss(logs: Column, sign: int = sign) -> float:
            return sign * float(np.log(product(logs)))

        found = min(optimize.minimize(loss, random.normal(size=3), tol=1e-12).fun for _ in range(4))
        assert np.exp(sign * found) == pytest.approx(bound, rel=1e-5)


@pytest.mark.parametrize("rules", list(itertools.product(RULES, RULES)))
def test_one_case_is_its_work(rules: tuple[Rule, Rule]) -> None:
    """With a single case every rule is the same: rate x time is the work, and anything else contradicts."""
    for product, wrong in ((7.0, False), (6.99, True), (7.01, True), (70.0, True), (0.7, True)):
        flags = averages.rate_and_time_contradict(
            np.array([[7.0]]), one(product / 2), rules[0], one(2.0), rules[1], mean_of_runs=False
        )
        assert flags.tolist() == [wrong], product


def test_a_slow_first_run_lifts_rate_times_time() -> None:
    """Runs of 1, 1 and 10 s: mean rate 0.7 F, mean time 4 s, product 2.8 F: no contradiction, but 0.9 F is one."""
    work = np.array([[5.0]])

    def contradicts(rate: float) -> bool:
        flags = averages.rate_and_time_contradict(work, one(rate), "mean", one(4.0), "mean", mean_of_runs=True)
        return bool(flags[0])

    assert not contradicts(0.7 * 5)
    assert contradicts(0.9 * 5 / 4)


@pytest.mark.parametrize("runs", [1, 5])
def test_a_pair_is_possible_just_where_times_exist(runs: int) -> None:
    """Brute force over two cases: a pair is possible if and only if some times above the floors give it.

    The grid of times gives the reachable rates at a mean time from below; the verdict must agree outside a margin.
    """
    work, floors = np.array([2.0, 30.0]), np.array([1.0, 3.0])
    random = np.random.default_rng(11)
    for mean_time in (2.0, 2.3, 4.0, 40.0):
        slack = 2 * runs * (mean_time - 2.0)
        shares = np.vstack([random.dirichlet(np.full(2 * runs, a), 4000) for a in (0.02, 0.3, 1, 30)])
        even = np.linspace(0, 1, 4001)[:, None]
        split = np.hstack([np.repeat(even / runs, runs, axis=1), np.repeat((1 - even) / runs, runs, axis=1)])
        shares = np.vstack([shares, split, np.eye(2 * runs)])
        times = np.repeat(floors, runs) + slack * shares
        rates = np.mean(np.repeat(work, runs) / times, axis=1)
        lowest, highest = rates.min(), rates.max()

        def possible(rate: float, time: float = mean_time) -> bool:
            flags = averages.mean_pair_possible(work[:, None], floors[:, None], one(rate), one(time), float(runs))
            return bool(flags[0])

        assert all(possible(r) for r in np.linspace(lowest, highest, 21))
        assert not possible(lowest * 0.999)
        assert not possible(highest * 1.001)
    assert not averages.mean_pair_possible(work[:, None], floors[:, None], one(6.0), one(1.99), float(runs))[0]


def test_rounded_pairs_use_their_outer_edges() -> None:
    """2390.3 GFLOP/s in 0.37 ms on matrix-scalar is out of reach by a factor of ten; 239.03 is in reach.

    Five times 2^26 and five times 9216^2 operations, floors 8 B x n / 3352.32 GB/s: 160.1 and 202.7 us.
    """
    work = np.array([[67_108_864.0]] * 5 + [[84_934_656.0]] * 5)
    floors = 8 * work / 3352.32e9
    time = (np.array([0.365e-3]), np.array([0.375e-3]))

    def possible(low: float, high: float) -> bool:
        return bool(averages.mean_pair_possible(work, floors, (np.array([low]), np.array([high])), time, 20.0)[0])

    assert not possible(2390.25e9, 2390.35e9)
    assert possible(239.025e9, 239.035e9)
    # Mean work 7.602e7 in at most 0.375 ms is no less than 201.6 GFLOP/s (by the roots), so 190 is out of reach.
    assert not possible(189.5e9, 190.5e9)


def test_orderings_and_intervals() -> None:
    """A geometric mean is at most the mean; two prints of one number overlap; touching edges agree."""
    assert averages.averages_contradict(one(3.0), one(2.0)).tolist() == [True]
    assert averages.averages_contradict(one(2.0), one(2.0)).tolist() == [False]
    low, high = (np.array([1.0, 1.0, 4.0]), np.array([2.0, 2.0, 5.0])), (np.array([2.0, 2.1, 1.0]), np.array([3.0] * 3))
    assert averages.intervals_contradict(low, high).tolist() == [False, True, True]
    missing = (np.array([np.nan]), np.array([np.nan]))
    assert averages.intervals_contradict(missing, one(1.0)).tolist() == [False]
