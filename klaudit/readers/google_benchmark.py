"""Google Benchmark's JSON: `real_time` in `time_unit`, `bytes_per_second`, counters, and aggregates of repetitions.

Arguments count as sizes where they are named, as in `BM_kl/n:1048576`. Medians and spreads are no results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from klaudit.leaderboard import Leaderboard
from klaudit.readers.json_text import Item
from klaudit.readers.options import ReadOptions
from klaudit.readers.records import (
    Record,
    as_list,
    as_object,
    as_text,
    first_of,
    known_counts,
    no_object,
    read_json,
    refused,
    with_unit,
)
from klaudit.readers.source import Source

HEADERS: Final = ("entry", "gpu", "time", "bandwidth (B/s)", "runs", "dtype", "date")
_ARGUMENT: Final = re.compile(r"/([A-Za-z_]\w*):([^/]+)")
_GPU: Final = ("gpu", "gpu_name", "device", "device_name")
# Google Benchmark's own default.
_DEFAULT_UNIT: Final = "ns"


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The benchmarks of an open file, a batch at a time."""
    yield from read_json(source, options, HEADERS, records)


def recognises(value: Mapping[str, object]) -> bool:
    """Whether a document is a run of Google Benchmark."""
    first = next((as_object(b) for b in as_list(value.get("benchmarks"))), {})
    return "context" in value and bool({"real_time", "run_name", "run_type"} & first.keys())


def records(values: Iterator[Item], options: ReadOptions) -> Iterator[Record]:
    """A record for each run and aggregate."""
    for item in values:
        if not isinstance(item.value, dict):
            yield no_object(item)
            continue
        context = as_object(item.value.get("context"))
        for index, benchmark in enumerate(as_list(item.value.get("benchmarks"))):
            path = f"{item.path}benchmarks[{index}]"
            if isinstance(benchmark, dict):
                yield _record(benchmark, context, options, path, item.line)
            else:
                yield no_object(Item(item.line, path, benchmark))


def _record(
    benchmark: Mapping[str, object], context: Mapping[str, object], options: ReadOptions, path: str, line: int
) -> Record:
    name = first_of(benchmark, "name", "run_name")
    unit = as_text(benchmark.get("time_unit")) or _DEFAULT_UNIT
    cells = {
        "entry": name,
        "gpu": first_of(benchmark, *_GPU) or first_of(context, *_GPU),
        "time": with_unit(as_text(benchmark.get("real_time")), unit),
        "bandwidth (B/s)": as_text(benchmark.get("bytes_per_second")),
        "runs": as_text(benchmark.get("iterations")),
        "dtype": first_of(benchmark, "dtype"),
        "date": as_text(context.get("date")),
        **known_counts({**dict(_ARGUMENT.findall(name)), **benchmark}, options),
    }
    problems = []
    aggregate = as_text(benchmark.get("aggregate_name"))
    if aggregate and aggregate != "mean":
        problems.append(("missing-score", f"is a {aggregate} of runs, which is no result of its own", True))
    if as_text(benchmark.get("error_occurred")) == "true":
        problems.append(refused(f"failed: {as_text(benchmark.get('error_message'))[:100] or 'no message'}"))
    return Record(cells, path, problems, line)
