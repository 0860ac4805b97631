"""The fastest run beside the average: judged by itself, excused by the clock's step, never faster than it can be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import klaudit
from klaudit.audit import judge
from klaudit.catalog import Catalog
from klaudit.errors import UsageError
from klaudit.leaderboard import FigureColumn, Leaderboard
from klaudit.readers import ReadOptions, read
from klaudit.verdict import Policy, Verdict, condition_ids

# One vector addition of float32 on a T4: 3 * 4 * 2**24 bytes at 320.064 GB/s.
N = 2.0**24
ROOF = 12 * N / 320.064e9
# With the inputs' caches full and the outputs' too, so that only the clock may excuse a time.
POLICY = Policy(
    workload="vector-add", dtype="float32", sizes={"n": N}, ruled_out=frozenset({"write-back", "inputs-resident"})
)


@pytest.fixture(scope="module")
def known() -> Catalog:
    return klaudit.load_catalog()


def row(mean: float, fastest: float, runs: float = 100) -> Leaderboard:
    board = Leaderboard.from_arrays(gpu="T4", time=[mean], runs=[runs])
    time = np.array([fastest])
    return replace(board, figures=(*board.figures, FigureColumn("time", time, time, time, fastest=True)))


@pytest.mark.parametrize(
    ("mean", "fastest", "verdict", "conditions"),
    [
        (1.02 * ROOF, 1.01 * ROOF, Verdict.WITHIN, ()),
        # 0.3 us below the roof: one run may have gained a step of the clock, an average of a hundred has not.
        (1.02 * ROOF, ROOF - 0.3e-6, Verdict.CONDITIONAL, ("timer-tick",)),
        (ROOF - 0.3e-6, ROOF - 0.3e-6, Verdict.IMPOSSIBLE, ()),
        # A fastest run far below the roof is no slip of the pen: it is another number.
        (1.02 * ROOF, 0.1 * ROOF, Verdict.IMPOSSIBLE, ()),
        (1.02 * ROOF, 1.03 * ROOF, Verdict.INCONSISTENT, ()),
    ],
)
def test_verdicts(known: Catalog, mean: float, fastest: float, verdict: Verdict, conditions: tuple[str, ...]) -> None:
    """The step of the clock excuses the fastest run and no steady average; an average is never below the fastest."""
    found = judge(row(mean, fastest), known, None, POLICY)
    assert (Verdict(int(found.verdict[0])), condition_ids(int(found.conditions[0]))) == (verdict, conditions)


def test_few_runs_are_excused_as_before(known: Catalog) -> None:
    """An average of two runs still owes something to the clock's steps, with a fastest run beside it or not."""
    found = judge(row(ROOF - 0.3e-6, ROOF - 0.3e-6, runs=2), known, None, POLICY)
    assert condition_ids(int(found.conditions[0])) == ("timer-tick",)


def test_a_rate_does_not_contradict_the_fastest_run(known: Catalog) -> None:
    """The rate is of all runs, so it may be far below what the fastest run would give."""
    board = row(2 * ROOF, 1.05 * ROOF)
    rate = np.array([N / (2 * ROOF)])
    board = replace(board, figures=(*board.figures, FigureColumn("rate", rate, rate * 0.99, rate * 1.01)))
    assert judge(board, known, None, POLICY).verdict[0] == Verdict.WITHIN


def test_reports_name_it(known: Catalog) -> None:
    """The message and the report say that it is the fastest run's time."""
    found = klaudit.audit.audit([row(1.02 * ROOF, 0.1 * ROOF)], known, None, POLICY, keep_rows=True)
    (report,) = found.rows()
    assert report.message.startswith("fastest run: 201.3 MB in 62.9 us")
    assert [r.fastest for r in report.reported] == [False, True]


def test_csv_columns(tmp_path: Path) -> None:
    """A column that says so is the fastest run; a minimum is one only where the user says so."""
    file = tmp_path / "rows.csv"
    file.write_text("entry,time_us,fastest_run_us,min_us\na,12,10,9\n")
    (board,) = read(file)
    assert [(f.header, f.fastest) for f in board.figures] == [("time_us", False), ("fastest_run_us", True)]
    (board,) = read(file, ReadOptions(columns={"fastest": "min_us"}))
    assert [(f.header, f.fastest) for f in board.figures] == [("time_us", False), ("min_us", True)]
    with pytest.raises(UsageError, match="is a unit of rate, not of fastest"):
        list(read(file, ReadOptions(columns={"fastest": "min_us (GFLOPS)"})))
