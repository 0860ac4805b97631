"""Boards measured on an H200 with entries of known truth: no honest row is ever flagged, and what of the rest is seen.

Every number below is a fact about the recorded boards: it changes when the physics does, and then the change is to be
looked at.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from klaudit.audit import audit
from klaudit.board import Board
from klaudit.calibrate.entries import entries
from klaudit.leaderboard import FigureColumn, Leaderboard
from klaudit.readers import ReadOptions, read
from klaudit.readers.specs import load_catalog
from klaudit.report import RowReport
from klaudit.verdict import Verdict

DATA = Path(__file__).resolve().parent / "data"
CATALOG = load_catalog()
BOARDS = {year: CATALOG.board(f"tensara-kl-{year}") for year in ("2025", "2026")}
FILES = {year: DATA / "h200-2026-11-30" / f"board-{year}.csv" for year in BOARDS}
VIEWS: Mapping[str, Callable[[FigureColumn], bool]] = {
    "everything": lambda f: True,
    "cases": lambda f: f.case is not None,
    "mean time": lambda f: f.case is None and (f.kind, f.rule) == ("time", "mean"),
    "mean rate": lambda f: f.case is None and (f.kind, f.rule) == ("rate", "mean"),
    "geomean time": lambda f: f.case is None and (f.kind, f.rule) == ("time", "geomean"),
    "geomean rate": lambda f: f.case is None and (f.kind, f.rule) == ("rate", "geomean"),
}
# Of the 39 exploit rows (13 exploits, three repeats): impossible, conditional, within.
DETECTED = {
    ("2025", "everything"): (36, 3, 0),
    ("2025", "cases"): (36, 3, 0),
    ("2025", "mean time"): (33, 6, 0),
    ("2025", "mean rate"): (15, 18, 6),
    ("2025", "geomean time"): (12, 6, 21),
    ("2025", "geomean rate"): (12, 6, 21),
    ("2026", "everything"): (38, 1, 0),
    ("2026", "cases"): (38, 1, 0),
    ("2026", "mean time"): (33, 6, 0),
    ("2026", "mean rate"): (14, 16, 9),
    ("2026", "geomean time"): (12, 3, 24),
    ("2026", "geomean rate"): (12, 3, 24),
}


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def judged(board: Board, file: Path, view: str) -> list[tuple[dict[str, str], RowReport]]:
    """Each record of a board file with its report, by the figures of one view alone."""
    batch: Leaderboard = next(iter(read(file, ReadOptions(board=board))))
    seen = replace(batch, figures=tuple(f for f in batch.figures if VIEWS[view](f)))
    found = audit([seen], CATALOG, board, keep_rows=True)
    return list(zip(rows_of(file), found.rows(), strict=True))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("year", BOARDS)
def test_no_honest_row_is_flagged(year: str, view: str) -> None:
    """270 rows of 90 honest kernels are within, and under the best measured figure, whatever the board prints."""
    honest = [report for row, report in judged(BOARDS[year], FILES[year], view) if row["truth"] == "honest"]
    assert len(honest) == 270
    assert Counter(str(report.verdict) for report in honest) == {"within": 270}
    assert not any("above-measured" in report.rules for report in honest)


@pytest.mark.parametrize(("year", "view"), DETECTED)
def test_what_is_seen_of_the_exploits(year: str, view: str) -> None:
    """Per-case times show all of them; averages hide some, a geometric mean most."""
    found = Counter(
        report.verdict for row, report in judged(BOARDS[year], FILES[year], view) if row["truth"] == "exploit"
    )
    seen = tuple(found[verdict] for verdict in (Verdict.IMPOSSIBLE, Verdict.CONDITIONAL, Verdict.WITHIN))
    assert seen == DETECTED[year, view]
    assert sum(seen) == 39


@pytest.mark.parametrize("year", BOARDS)
def test_cases_alone_convict_every_exploit_in_some_repeat(year: str) -> None:
    """But x_scale/b1024 on the board of 2025, which stays just inside what a full cache would explain."""
    convicted = {
        row["entry"]
        for row, report in judged(BOARDS[year], FILES[year], "cases")
        if report.verdict is Verdict.IMPOSSIBLE
    }
    exploits = {entry.name for entry in entries() if entry.truth == "exploit"}
    assert exploits - convicted == ({"x_scale/b1024"} if year == "2025" else set())


@pytest.mark.parametrize("year", BOARDS)
def test_a_kernel_that_reads_one_of_two_inputs_beats_every_measured_mean_time(year: str) -> None:
    """By its mean time alone x_scale is even above the roof, in every repeat: possible only with a full cache."""
    scaled = [r for row, r in judged(BOARDS[year], FILES[year], "mean time") if row["entry"].startswith("x_scale")]
    assert [str(report.verdict) for report in scaled] == ["conditional"] * 6


def test_above_measured_marks_what_stays_under_the_roof() -> None:
    """On an earlier board x_scale/b1024 stays under the roof by its mean time, and beats every time measured."""
    batch = next(iter(read(DATA / "h200" / "board_2025.csv", ReadOptions(board=BOARDS["2025"]))))
    seen = replace(
        batch,
        figures=tuple(f for f in batch.figures if VIEWS["mean time"](f)),
        gpu_labels=("H200",),
        gpu_codes=batch.gpu_codes * 0,
    )
    found = audit([seen], CATALOG, BOARDS["2025"], keep_rows=True)
    marked = {r.entry: str(r.verdict) for r in found.rows() if "above-measured" in r.rules}
    assert marked == {"x_scale/b1024": "within"}


@pytest.mark.parametrize("year", BOARDS)
def test_the_boards_say_how_they_came_about(year: str) -> None:
    """Date, driver and command beside every run's time; the CSV is made of these runs."""
    told = json.loads(FILES[year].with_suffix(".json").read_text())
    assert (told["date"], told["device"]["name"], told["device"]["driver"]) == (
        "2026-11-30", "NVIDIA H200", "580.159.04",
    )  # fmt: skip
    assert told["command"].startswith(f"klaudit calibrate --board tensara-kl-{year} --repeats 3 ")
    rows = rows_of(FILES[year])
    assert [(r["entry"], str(r["repeat"])) for r in told["rows"]] == [(r["entry"], r["repeat"]) for r in rows]
    for run, row in zip(told["rows"], rows, strict=True):
        for case in run["cases"]:
            mean = sum(case["times_us"]) / len(case["times_us"])
            assert 5 <= len(case["times_us"]) <= 20
            assert float(row[f"{case['name'].replace(' ', '_')}_ms"]) == pytest.approx(mean / 1e3, abs=2e-6)


@pytest.mark.parametrize("year", BOARDS)
def test_the_truth_of_the_boards_was_checked(year: str) -> None:
    """Honest outputs are right to 2e-6 in float64; of the exploits, x_scale passes the board's check all the same."""
    told = json.loads(FILES[year].with_suffix(".json").read_text())
    for run in told["rows"]:
        errors = [case["relative_error"] for case in run["cases"]]
        if run["truth"] == "honest":
            assert max(errors) <= 2e-6
            assert all(all(case["passes"].values()) for case in run["cases"])
        elif "+" not in run["entry"]:
            assert all(error is None or error > 0.1 for error in errors)
    passing = {r["entry"] for r in rows_of(FILES[year]) if r["truth"] == "exploit" and r["passes_while_timed"] == "1"}
    checked_late = {"once+v4f", "skip-dense+v4f", "skip-dense+x_scale", "skip-dense+x_thresh", "x_thresh/b256",
                    "x_thresh/b1024"}  # fmt: skip
    always = {"x_scale/b256", "x_scale/b1024", "other-stream+v4f"}
    assert passing == (always | checked_late if year == "2025" else always)
