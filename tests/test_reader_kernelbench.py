"""KernelBench: three significant digits, whatever zeros Python writes or leaves out, and -1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from klaudit.leaderboard import Leaderboard
from klaudit.readers import read


def one(folder: Path, sample: dict[str, object]) -> Leaderboard:
    file = folder / "eval_results.json"
    file.write_text(json.dumps({"7": [{"compiled": True, "correctness": True, **sample}]}))
    (board,) = read(file)
    return board


@pytest.mark.parametrize(
    ("written", "low", "high"),
    [
        (0.012, 0.01195, 0.01205),
        (1230.0, 1225, 1235),
        (0.0123, 0.01225, 0.01235),
        (5, 4.995, 5.005),
        (0.012345, 0.0123445, 0.0123455),
    ],
)
def test_three_digits(tmp_path: Path, written: float, low: float, high: float) -> None:
    """A number of up to three digits was rounded to three; one of more was not."""
    board = one(tmp_path, {"sample_id": 3, "runtime": written, "runtime_stats": {"num_trials": 100}})
    time = next(f for f in board.figures if not f.fastest)
    assert (time.low[0], time.high[0]) == (pytest.approx(low * 1e-3), pytest.approx(high * 1e-3))
    assert board.entries == ["7/3"]
    assert board.runs is not None
    assert board.runs[0] == 100


def test_not_timed(tmp_path: Path) -> None:
    """-1 is no time: the row is not accepted, and says so."""
    board = one(tmp_path, {"runtime": -1.0})
    assert [(t.rule, t.fatal, t.message) for t in board.troubles] == [
        ("not-accepted", True, "record 1: has the runtime -1: it was not timed")
    ]
