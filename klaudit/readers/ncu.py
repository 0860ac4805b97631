"""Nsight Compute's `--csv`: a row for each kernel and metric, after the program's own output and ncu's remarks.

The kernel's time is judged, that of one run. Counted bytes are no compulsory ones, so they are left alone.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Final

from klaudit.errors import InputError
from klaudit.leaderboard import Leaderboard
from klaudit.readers.options import ReadOptions
from klaudit.readers.records import Record, assemble
from klaudit.readers.source import Source

HEADERS: Final = ("entry", "gpu", "time", "runs")

_NEEDED: Final = ("Kernel Name", "Metric Name", "Metric Unit", "Metric Value")
# The first that a kernel has; the long names are those of `--metrics`, "Duration" that of the sections.
_TIMES: Final = ("gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max", "Duration")


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The kernels of an open file, a batch at a time.

    Raises
    ------
    InputError, UsageError
        As `klaudit.readers.read`.
    """
    csv.field_size_limit(source.limits.cell)
    yield from assemble(source, options, HEADERS, _records(source), "thousands")


def _records(source: Source) -> Iterator[Record]:
    """A record for each kernel launch: the rows of one launch follow each other."""
    launch: tuple[str, ...] | None = None
    metrics: dict[str, str] = {}
    start = 0
    for line, row in _rows(source):
        names, cells = row
        found = dict(zip(names, cells, strict=False))
        key = tuple(found.get(n, "") for n in ("ID", "Process ID", "Kernel Name", "Device"))
        if key != launch:
            if launch is not None:
                yield _record(launch, metrics, start)
            launch, metrics, start = key, {}, line
        value, unit = found.get("Metric Value", ""), found.get("Metric Unit", "")
        metrics.setdefault(found.get("Metric Name", ""), f"{value} {unit}".strip())
    if launch is not None:
        yield _record(launch, metrics, start)


def _record(launch: tuple[str, ...], metrics: dict[str, str], line: int) -> Record:
    _, _, kernel, device = launch
    time = next((metrics[name] for name in _TIMES if name in metrics), "")
    missing = time.lower().startswith("n/a") or not time
    cells = {
        "entry": kernel,
        # Older versions print the card's name here, newer ones its number.
        "gpu": "" if device.strip().isdecimal() else device,
        "time": "" if missing else time,
        "runs": "1",
    }
    problems = [("missing-score", f"has none of the metrics {', '.join(_TIMES)}", True)] if missing else []
    return Record(cells, "", problems, line)


def _rows(source: Source) -> Iterator[tuple[int, tuple[Sequence[str], Sequence[str]]]]:
    """The rows below the header, with their lines and the header's names; what stands before it is passed over."""
    lines = source.lines()
    before = 0
    header: Sequence[str] = ()
    for line in lines:
        before += 1
        if "Metric Name" in line:
            header = next(csv.reader([line]), [])
            if set(_NEEDED) <= set(header):
                break
    else:
        names = ", ".join(repr(n) for n in _NEEDED)
        raise InputError(f"{source.label} has no header with {names}: make it with ncu --csv --page details")
    reader = csv.reader(line for line in lines)
    start = 1
    try:
        for row in reader:
            at, start = before + start, reader.line_num + 1
            # What ncu and the program say at the end has no cells.
            if len(row) >= len(header) - 1 and row != header and not row[0].startswith("=="):
                yield at, (header, row)
    except csv.Error as error:
        raise InputError(f"{source.label}: the record of line {before + start} is no CSV: {error}") from None
