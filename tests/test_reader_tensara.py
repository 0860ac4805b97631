"""Tensara: submissions, their cases and their runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from format_samples import SAMPLES, catalog, reports_of

from klaudit.catalog import Catalog
from klaudit.leaderboard import Leaderboard
from klaudit.readers import ReadOptions, read

CASE = {"test_id": 1, "name": "N=1048576", "runtime_ms": 0.0712, "gflops": 103.1,
        "runs": [{"run_index": 0, "runtime_ms": 0.0708}, {"run_index": 1, "runtime_ms": 0.0716}]}  # fmt: skip


@pytest.fixture(scope="module")
def known() -> Catalog:
    return catalog()


def one(folder: Path, value: object, options: ReadOptions | None = None) -> Leaderboard:
    file = folder / "tensara.json"
    file.write_text(json.dumps(value))
    (board,) = read(file, options)
    return board


def test_the_fastest_run_alone_can_be_impossible(known: Catalog) -> None:
    """A mean of 270 us hides a run of 14 us, which is less than the memory needs: the run is judged too."""
    sample = next(s for s in SAMPLES if s.file == "tensara_submissions.json")
    report = reports_of(sample, sample.path, known)[1]
    assert (str(report.verdict), report.worst_case) == ("impossible", "N=67108864")
    worst = next(c for c in report.cases if c.name == report.worst_case)
    assert (worst.fastest, worst.time) == (True, 14e-6)
    assert report.message.startswith("fastest run of N=67108864: 805.3 MB in 14 us")


def test_the_final_event(tmp_path: Path, known: Catalog) -> None:
    """The averages of the final event are by the board's rule, not by the name that they have for ever."""
    event = {
        "status": "BENCHMARKED",
        "avg_runtime_ms": 0.412,
        "avg_gflops": 139.7,
        "total_tests": 5,
        "test_results": [CASE],
    }
    board = one(tmp_path, event, ReadOptions(board=known.board("tensara-kl")))
    whole = [(f.kind, f.rule, f.value[0]) for f in board.figures if f.case is None and not f.fastest]
    assert whole == [("rate", None, 139.7e9), ("time", None, 0.412e-3)]
    of_case = {(f.kind, f.fastest): f.value[0] for f in board.figures if f.case == "N=1048576"}
    assert of_case == {("time", False): 0.0712e-3, ("rate", False): 103.1e9, ("time", True): 0.0708e-3}
    assert board.runs is not None
    assert board.runs[0] == 2


def test_bare_cases(tmp_path: Path, known: Catalog) -> None:
    """A list of cases is one submission on its board, and a row for each case elsewhere."""
    assert (
        len(one(tmp_path, [CASE, {**CASE, "name": "Sparse targets"}], ReadOptions(board=known.board("tensara-kl"))))
        == 1
    )
    board = one(tmp_path, [CASE, {**CASE, "name": "Sparse targets"}])
    assert board.entries == ["N=1048576", "Sparse targets"]
    assert board.sizes["n"][0] == 2**20
    assert board.paths == ("[0]", "[1]")


def test_a_case_of_another_board_is_no_average(tmp_path: Path, known: Catalog) -> None:
    """One case's figures are never judged as the average over the cases of a board that lacks it."""
    board = one(tmp_path, [{**CASE, "name": "N=7"}], ReadOptions(board=known.board("tensara-kl")))
    assert [(t.rule, t.fatal) for t in board.troubles] == [("missing-case", True)]
