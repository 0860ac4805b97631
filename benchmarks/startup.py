"""How long klaudit takes to start, against importing what it stands on, in one run.

    python benchmarks/startup.py

Measures the `klaudit` that is installed beside this Python, away from the checkout. Prints medians and ratios; asserts
nothing but that every command did what it was asked for.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

EXAMPLE = str(Path(__file__).resolve().parent.parent / "examples" / "kl-h200.csv")
SUBMISSION = "user,gpu,gflops,runtime_ms\nada,H100,1187.3,0.1977\n"
REFERENCE = "import numpy, click, rich, yaml"
ROUNDS = 25


def commands(folder: Path) -> dict[str, tuple[tuple[str, ...], int]]:
    """Each command by what the table calls it, with the exit code that it ends with."""
    submission = folder / "submission.csv"
    submission.write_text(SUBMISSION)
    klaudit = (sys.executable, str(Path(sysconfig.get_path("scripts")) / "klaudit"))
    board = ("--board", "tensara-kl-2025")
    return {
        REFERENCE: ((sys.executable, "-c", REFERENCE), 0),
        "klaudit --help": ((*klaudit, "--help"), 0),
        "klaudit --version": ((*klaudit, "--version"), 0),
        "klaudit audit (101 rows)": ((*klaudit, "audit", EXAMPLE, *board), 1),
        "klaudit check (one submission)": ((*klaudit, "check", str(submission), *board), 0),
    }


def seconds(arguments: tuple[str, ...], code: int, folder: Path) -> float:
    """Wall time of one process."""
    # An installed package has its bytecode; so has this one.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, check=False)
    taken = time.perf_counter() - start
    if done.returncode != code:
        raise SystemExit(f"{' '.join(arguments)}: exit {done.returncode}, not {code}\n{done.stderr.decode()}")
    return taken


def main() -> None:
    """Alternate the commands with the reference, so that both see the same machine."""
    with tempfile.TemporaryDirectory() as place:
        known = commands(Path(place))
        taken: dict[str, list[float]] = {name: [] for name in known}
        for _ in range(ROUNDS + 1):
            for name, (arguments, code) in known.items():
                taken[name].append(seconds(arguments, code, Path(place)))
    # The first round writes bytecode.
    medians = {name: statistics.median(times[1:]) for name, times in taken.items()}
    for name, median in medians.items():
        print(f"{name:32} {median * 1e3:7.1f} ms  {median / medians[REFERENCE]:.2f}")


if __name__ == "__main__":
    main()
