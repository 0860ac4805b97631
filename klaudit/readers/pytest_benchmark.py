"""pytest-benchmark's JSON: seconds; the mean is the time, the minimum the fastest round.

What a kernel works on stands in `params` or `extra_info`: sizes, `flops`, `read_bytes`, `dtype`, `gpu`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from klaudit.leaderboard import Leaderboard
from klaudit.readers.json_text import Item
from klaudit.readers.options import ReadOptions
from klaudit.readers.records import (
    FASTEST,
    Record,
    as_list,
    as_object,
    as_text,
    first_of,
    known_counts,
    no_object,
    read_json,
)
from klaudit.readers.source import Source

HEADERS: Final = ("entry", "gpu", "time (s)", f"{FASTEST} (s)", "runs", "dtype", "date")
_GPU: Final = ("gpu", "gpu_name", "gpu_type", "device", "device_name", "hardware")


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The benchmarks of an open file, a batch at a time."""
    yield from read_json(source, options, HEADERS, records)


def recognises(value: Mapping[str, object]) -> bool:
    """Whether a document is a run of pytest-benchmark."""
    return "machine_info" in value and isinstance(value.get("benchmarks"), list)


def records(values: Iterator[Item], options: ReadOptions) -> Iterator[Record]:
    """A record for each benchmark."""
    for item in values:
        if not isinstance(item.value, dict):
            yield no_object(item)
            continue
        machine = as_object(item.value.get("machine_info"))
        day = as_text(item.value.get("datetime"))
        for index, benchmark in enumerate(as_list(item.value.get("benchmarks"))):
            path = f"{item.path}benchmarks[{index}]"
            if isinstance(benchmark, dict):
                yield _record(benchmark, machine, day, options, path, item.line)
            else:
                yield no_object(Item(item.line, path, benchmark))


def _record(
    benchmark: Mapping[str, object],
    machine: Mapping[str, object],
    day: str,
    options: ReadOptions,
    path: str,
    line: int,
) -> Record:
    statistics = as_object(benchmark.get("stats"))
    own = {**as_object(benchmark.get("params")), **as_object(benchmark.get("extra_info"))}
    cells = {
        "entry": first_of(benchmark, "name", "fullname"),
        "gpu": first_of(own, *_GPU) or first_of(machine, *_GPU),
        "time (s)": as_text(statistics.get("mean")),
        f"{FASTEST} (s)": as_text(statistics.get("min")),
        "runs": as_text(statistics.get("rounds")),
        "dtype": first_of(own, "dtype", "precision"),
        "date": day,
        **known_counts(own, options),
    }
    return Record(cells, path, (), line)
