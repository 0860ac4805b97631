"""The real command in a subprocess, and a small board for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BOARD = ("--board", "tensara-kl-2025")

# Rows of the KL board: within, conditional by write-back, impossible, and one of an unknown card.
ROWS = """entry,gpu,mean_gflops
honest,T4,150.00
cached,T4,220.00
forged,T4,1500.00
typo,T40,150.00
"""


def environment(**variables: str) -> dict[str, str]:
    """The caller's variables without those that change what klaudit shows, and `variables`."""
    own = ("KLAUDIT", "COLUMNS", "NO_COLOR", "PYTHONIOENCODING", "GITHUB_")
    return {**{k: v for k, v in os.environ.items() if not k.startswith(own)}, **variables}


def klaudit(*arguments: object, stdin: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command from the checkout."""
    return subprocess.run(
        [sys.executable, "-m", "klaudit", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env=environment(**variables),
        check=False,
    )


def write_rows(folder: Path, *rows: str) -> Path:
    """A file of those rows under the board's header."""
    file = folder / "rows.csv"
    file.write_text("\n".join(["entry,gpu,mean_gflops", *rows, ""]), encoding="utf-8")
    return file


def write_board(folder: Path) -> Path:
    """A file of ROWS."""
    file = folder / "board.csv"
    file.write_text(ROWS, encoding="utf-8")
    return file
