"""All benchmarks, each against its reference in the same run: one command, medians, ratios and peak memory.

    python benchmarks/run.py [--rows 10000000] [--plain-rows 1000000] [--rounds 5] [--folder FOLDER]

Asserts nothing. What needs a package that is not there is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import judge
import startup
from tables import BOARD

ROOT = Path(__file__).resolve().parent.parent

ONE_LINER = """import duckdb
print(duckdb.sql(\"\"\"SELECT gpu, count(*) FILTER (gflops > ceiling) FROM {read}('{file}')
JOIN (VALUES ('T4', 186.7), ('H100', 1955.5), ('H200', 2868.1), ('B200', 4667), ('A100-80GB', 1128.8), ('A10G', 350.1),
('L40S', 504), ('L4', 175)) AS ceilings(gpu, ceiling) USING (gpu) GROUP BY gpu\"\"\").fetchall())"""
POLARS = """import polars as pl
scan = pl.{scan}('{file}')
print(scan.group_by('gpu').agg((pl.col('gflops') > 1000).sum()).collect(engine='streaming'))"""
PANDAS = """import pandas as pd
frame = pd.read_csv('{file}', usecols=['gpu', 'gflops'], dtype={{'gpu': 'category'}})
print((frame.gflops > 1000).groupby(frame.gpu, observed=True).sum())"""
CSV_LOOP = """import csv
found = 0
with open('{file}', newline='') as lines:
    rows = csv.reader(lines)
    next(rows)
    for row in rows:
        found += float(row[3]) > 1000 and float(row[4]) > 0
print(found)"""
PLAIN_READER = """import klaudit
from klaudit.readers import ReadOptions, read
board = klaudit.load_catalog().board('{board}')
print(sum(len(batch) for batch in read('{file}', ReadOptions(board=board))))"""


class Run(NamedTuple):
    """One process: its wall time [s] and the most memory that it held [B]."""

    seconds: float
    peak: int


def run(*arguments: str) -> Run:
    """Run one process to its end."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(ROOT)
    start = time.perf_counter()
    with subprocess.Popen(arguments, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"exit {process.returncode}: {' '.join(arguments)[:200]}")
    return Run(time.perf_counter() - start, usage.ru_maxrss * 1024)


def code(text: str, needs: str = "", **names: object) -> tuple[str, ...]:
    """The command of a piece of Python; none where it needs what is not installed."""
    if needs and importlib.util.find_spec(needs) is None:
        return ()
    return (sys.executable, "-c", text.format(**names))


def check(file: Path, *options: str) -> tuple[str, ...]:
    """The command of an audit."""
    return (sys.executable, "-m", "klaudit", "check", str(file), "--board", BOARD, *options)


def compare(title: str, rounds: int, commands: dict[str, tuple[str, ...]]) -> None:
    """Run the commands in turn, and print each against the first."""
    commands = {name: command for name, command in commands.items() if command}
    taken: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            taken[name].append(run(*command))
    print(f"\n{title:44} {'seconds':>8} {'ratio':>6} {'MiB':>6}")
    first: float | None = None
    for name, runs in taken.items():
        seconds = statistics.median(r.seconds for r in runs)
        first = first or seconds
        print(f"  {name:42} {seconds:8.2f} {seconds / first:6.2f} {max(r.peak for r in runs) / 2**20:6.0f}", flush=True)


def tables(folder: Path, rows: int) -> Path:
    """The files of so many rows, made once."""
    if not (folder / "done").exists():
        # Not in this process: what it holds counts as held by all that it starts.
        run(sys.executable, str(ROOT / "benchmarks" / "tables.py"), str(rows), str(folder))
        (folder / "done").touch()
    return folder


def main() -> None:
    """Everything, the short ones first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--plain-rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "klaudit-benchmarks")
    given = parser.parse_args()
    startup.main()
    small = tables(given.folder / str(given.plain_rows), given.plain_rows)
    large = tables(given.folder / str(given.rows), given.rows)
    for name in ("board", "quoted"):
        file = small / f"{name}.csv"
        compare(
            f"plain reader, {given.plain_rows} rows, {name}.csv",
            given.rounds,
            {
                "csv module, two columns to floats": code(CSV_LOOP, file=file),
                "klaudit.readers.read": code(PLAIN_READER, file=file, board=BOARD),
            },
        )
    one, both = large / "one.csv", large / "board.csv"
    compare(
        f"bulk, {given.rows} rows of CSV",
        given.rounds,
        {
            "duckdb one-liner": code(ONE_LINER, "duckdb", read="read_csv", file=one),
            "polars": code(POLARS, "polars", scan="scan_csv", file=one),
            "pandas": code(PANDAS, "pandas", file=one),
            "klaudit check, one figure": check(one),
            "klaudit check, one figure, no findings": check(one, "--max-findings", "0"),
            "klaudit check, both figures": check(both),
            "klaudit check, both figures, no findings": check(both, "--max-findings", "0"),
        },
    )
    one, both = large / "one.parquet", large / "board.parquet"
    compare(
        f"bulk, {given.rows} rows of Parquet",
        given.rounds,
        {
            "duckdb one-liner": code(ONE_LINER, "duckdb", read="read_parquet", file=one),
            "polars": code(POLARS, "polars", scan="scan_parquet", file=one),
            "klaudit check, one figure": check(one),
            "klaudit check, one figure, no findings": check(one, "--max-findings", "0"),
            "klaudit check, both figures": check(both),
            "klaudit check, both figures, no findings": check(both, "--max-findings", "0"),
        },
    )
    compare(
        "plain reader, memory by rows",
        1,
        {f"{n} rows": code(PLAIN_READER, file=f / "board.csv", board=BOARD)
         for n, f in ((given.plain_rows, small), (given.rows, large))},
    )  # fmt: skip
    print()
    judge.main(given.plain_rows)


if __name__ == "__main__":
    main()
