"""The door in: files become Leaderboards. No physics, no verdicts, no numpy before a file is read.

A format is one module with `read(source, options) -> Iterator[Leaderboard]` and one line in `READERS`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from klaudit.errors import InputError, UsageError
from klaudit.readers.limits import Limits
from klaudit.readers.options import ReadOptions
from klaudit.readers.source import Source, input_bytes

if TYPE_CHECKING:
    from klaudit.bounds import Settled
    from klaudit.leaderboard import Leaderboard

__all__ = ["READERS", "ReadOptions", "input_bytes", "read", "read_or_settle"]

READERS: Final[Mapping[str, str]] = {
    "csv": "klaudit.readers.csv_",
    "google-benchmark": "klaudit.readers.google_benchmark",
    "json": "klaudit.readers.json_",
    "kernelbench": "klaudit.readers.kernelbench",
    "kernelbot": "klaudit.readers.kernelbot",
    "ncu": "klaudit.readers.ncu",
    "nvbench": "klaudit.readers.nvbench",
    "parquet": "klaudit.readers.parquet",
    "pytest-benchmark": "klaudit.readers.pytest_benchmark",
    "tensara": "klaudit.readers.tensara",
    "traces": "klaudit.readers.traces",
}
# Forms that a reader of several formats tells apart by what they hold.
_BY_FORM: Final[Mapping[str, str]] = {"jsonl": "json"}


def read(path: str | Path, options: ReadOptions | None = None) -> Iterator[Leaderboard]:
    """The submissions of a file, a batch at a time; line numbers continue from batch to batch.

    Parameters
    ----------
    path : str or Path
        The file; "-" is standard input.
    options : ReadOptions, optional
        What the caller says about the file.

    Raises
    ------
    InputError
        When the file cannot be read as a leaderboard, at the first batch or later.
    UsageError
        When the options name a field, a column or a format that does not exist.
    """
    options = options or ReadOptions()
    with Source.open(path, options.limits) as source:
        module = importlib.import_module(READERS[_format_of(source, options)])
        yield from module.read(source, options)


def read_or_settle(path: str | Path, options: ReadOptions) -> Iterator[Leaderboard | Settled]:
    """As `read`, but rows of a large file that `options.settle` knows to be within come out counted.

    The verdicts are the same; the extra `bulk` makes them faster where the file allows it.
    """
    done = 0
    limits = options.limits or Limits.from_environment()
    # A pipe can be opened once: only a file's size can say that the other way is worth a look.
    if options.settle is not None and os.path.isfile(path) and os.path.getsize(path) > limits.plain:
        from klaudit.readers import bulk
        from klaudit.readers.settle import NotBulk

        with Source.open(path, limits) as source:
            try:
                yield from bulk.read(source, _format_of(source, options), options)
                return
            except NotBulk as rest:
                done = rest.rows
    yield from _behind(done, read(path, options))


def _behind(rows: int, batches: Iterator[Leaderboard]) -> Iterator[Leaderboard]:
    """What comes after so many rows."""
    import numpy as np

    for batch in batches:
        if rows < len(batch):
            yield batch.take(np.arange(rows, len(batch))) if rows else batch
        rows = max(rows - len(batch), 0)


def _format_of(source: Source, options: ReadOptions) -> str:
    """The key of the reader for this content: as the user says, or as the first bytes show."""
    known = ", ".join(sorted(READERS))
    if options.input_format is not None and options.input_format not in READERS:
        raise UsageError(f"no input format is called {options.input_format!r}; there are: {known}")
    format_id, plain = source.looks_like()
    format_id = _BY_FORM.get(format_id, format_id)
    if options.input_format is not None and (not source.is_binary or format_id in READERS):
        return options.input_format
    if format_id not in READERS:
        raise InputError(f"{source.label} looks like {plain}; this version reads {known}. Convert it first")
    return format_id
