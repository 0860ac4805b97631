"""How far a long run has come, on a terminal's stderr and nowhere else."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from klaudit.readers import input_bytes

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Runs shorter than this say nothing [s].
_PATIENCE: Final = 1.0


class ProgressLine:
    """A line with bytes, rows and the time left, once a run takes longer than a second."""

    def __init__(self, files: tuple[str, ...]) -> None:
        sizes = [input_bytes(file) for file in files]
        self._total = None if None in sizes else sum(size for size in sizes if size is not None)
        self._started = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._before = (0, 0)
        self._now = (0, 0)
        self._bar: tuple[Progress, TaskID] | None = None

    def next_file(self) -> None:
        """Count on from where the last file ended."""
        self._before = self._now

    def update(self, rows: int, bytes_done: int) -> None:
        """Take in the rows and bytes of the present file, as a reader counts them."""
        self._now = (self._before[0] + rows, self._before[1] + bytes_done)
        if not self._wanted or time.monotonic() - self._started < _PATIENCE:
            return
        if self._bar is None:
            self._bar = self._start()
        progress, task = self._bar
        progress.update(task, completed=self._now[1], rows=self._now[0])

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        progress = Progress(
            TextColumn("klaudit"),
            BarColumn(),
            DownloadColumn(),
            TextColumn("{task.fields[rows]} rows"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        progress.start()
        return progress, progress.add_task("", total=self._total, rows=0)

    def close(self) -> None:
        """Take the line away, and say what the run was."""
        if self._bar is None:
            return
        self._bar[0].stop()
        self._bar = None
        seconds = time.monotonic() - self._started
        sys.stderr.write(f"klaudit: read {self._now[0]} rows, {self._now[1] / 1e6:.1f} MB in {seconds:.1f} s\n")
