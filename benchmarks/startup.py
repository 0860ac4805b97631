"""How long klaudit takes to start, against importing what it stands on, in one run.

    python benchmarks/startup.py

Prints medians and ratios; asserts nothing.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ("-c", "import numpy, click, rich, yaml")
COMMANDS = {
    "klaudit --help": ("-m", "klaudit", "--help"),
    "klaudit --version": ("-m", "klaudit", "--version"),
    "klaudit audit (101 rows)": ("-m", "klaudit", "audit", "examples/kl-h200.csv", "--board", "tensara-kl-2025"),
}
ROUNDS = 25


def seconds(arguments: tuple[str, ...]) -> float:
    """Wall time of one process."""
    # An installed package has its bytecode; so has this one.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main() -> None:
    """Alternate the commands with the reference, so that both see the same machine."""
    taken: dict[str, list[float]] = {name: [] for name in ("reference", *COMMANDS)}
    for _ in range(ROUNDS + 1):
        taken["reference"].append(seconds(REFERENCE))
        for name, arguments in COMMANDS.items():
            taken[name].append(seconds(arguments))
    reference = statistics.median(taken["reference"][1:])
    print(f"{'import numpy, click, rich, yaml':32} {reference * 1e3:7.1f} ms  1.00")
    for name in COMMANDS:
        median = statistics.median(taken[name][1:])
        print(f"{name:32} {median * 1e3:7.1f} ms  {median / reference:.2f}")


if __name__ == "__main__":
    main()
