"""How many rows a second the judge alone takes on one core, without reading and without a report.

    python benchmarks/judge.py [ROWS]

Prints medians; asserts nothing. The reference is the classic audit in numpy: a rate above one ceiling for each card.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from tables import BOARD, chunks

import klaudit
from klaudit.audit import audit
from klaudit.leaderboard import FigureColumn, Leaderboard

BATCH = 65_536
ROUNDS = 5


def boards(rows: int) -> dict[str, list[Leaderboard]]:
    """The same rows with one figure, with both averages, and with a time for each case."""
    board = klaudit.load_catalog().board(BOARD)
    kinds: dict[str, list[Leaderboard]] = {"one figure": [], "both averages": [], "five cases": []}
    for chunk in chunks(rows):
        for start in range(0, len(chunk["gpu"]), BATCH):
            part = {name: column[start : start + BATCH] for name, column in chunk.items()}
            labels, codes = np.unique(part["gpu"], return_inverse=True)
            rate = _column("rate", part["gflops"].astype(float) * 1e9, 0.005e9)
            runtime = part["runtime_ms"].astype(float) * 1e-3
            cases = []
            for case in board.cases:
                share = case.sizes["n"] / np.mean([c.sizes["n"] for c in board.cases])
                cases.append(_column("time", runtime * share, 5e-8, case.name))
            for name, figures in (
                ("one figure", (rate,)),
                ("both averages", (rate, _column("time", runtime, 5e-8))),
                ("five cases", tuple(cases)),
            ):
                kinds[name].append(
                    Leaderboard(
                        source="",
                        lines=np.arange(len(codes)),
                        entries=[""] * len(codes),
                        gpu_labels=tuple(labels.tolist()),
                        gpu_codes=codes.astype(np.int64),
                        figures=figures,
                    )
                )
    return kinds


def _column(kind: str, value: np.ndarray, half: float, case: str | None = None) -> FigureColumn:
    return FigureColumn(kind, value, value - half, value + half, None, case, kind)  # type: ignore[arg-type]


def _median(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main(rows: int = 1_000_000) -> None:
    """Judge in turn, so that all see the same machine."""
    catalog = klaudit.load_catalog()
    board = catalog.board(BOARD)
    made = boards(rows)
    ceilings = {label.label: 1e12 for label in board.gpu_labels}

    def classic() -> int:
        found = 0
        for batch in made["one figure"]:
            limit = np.array([ceilings[label] for label in batch.gpu_labels])
            found += int((batch.figures[0].value > limit[batch.gpu_codes]).sum())
        return found

    reference = _median(classic)
    print(f"{'judge alone':34} {'seconds':>9} {'rows/s':>11}")
    print(f"{'  numpy, rate > ceiling':34} {reference:9.3f} {rows / reference:11.3g}")
    for name, batches in made.items():
        taken = _median(lambda batches=batches: audit(batches, catalog, board, max_findings=0))  # type: ignore[misc]
        print(f"{f'  klaudit, {name}':34} {taken:9.3f} {rows / taken:11.3g}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
