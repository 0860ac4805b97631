"""nvbench: its CSV reads as any other; its JSON holds a state for each point of the axes, with summaries by tag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from klaudit.leaderboard import Leaderboard
from klaudit.readers import csv_
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
    refused,
)
from klaudit.readers.source import Source

# The summaries that are judged, under the headers that say what they are.
_SUMMARIES: Final[Mapping[str, str]] = {
    "nv/cold/time/gpu/mean": "time (s)",
    "nv/cold/time/gpu/min": f"{FASTEST} (s)",
    "nv/cold/bw/global/bytes_per_second": "bandwidth (B/s)",
    "nv/cold/sample_size": "runs",
}
HEADERS: Final = ("entry", "gpu", *_SUMMARIES.values())


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The states of an open file, a batch at a time."""
    if source.looks_like()[0] in ("json", "jsonl"):
        yield from read_json(source, options, HEADERS, records)
    else:
        yield from csv_.read(source, options)


def recognises(value: Mapping[str, object]) -> bool:
    """Whether a document is a run of nvbench."""
    first = next((as_object(b) for b in as_list(value.get("benchmarks"))), {})
    return "devices" in value and "states" in first


def records(values: Iterator[Item], options: ReadOptions) -> Iterator[Record]:
    """A record for each state of each benchmark."""
    for item in values:
        if not isinstance(item.value, dict):
            yield no_object(item)
            continue
        devices = {
            first_of(as_object(d), "id"): first_of(as_object(d), "name") for d in as_list(item.value.get("devices"))
        }
        for index, benchmark in enumerate(as_list(item.value.get("benchmarks"))):
            path = f"{item.path}benchmarks[{index}]"
            name = first_of(as_object(benchmark), "name")
            states = as_object(benchmark).get("states")
            if not isinstance(states, list):
                yield Record({"entry": name}, path, [("missing-score", "has no states", True)], item.line)
            for place, state in enumerate(as_list(states)):
                there = f"{path}.states[{place}]"
                if isinstance(state, dict):
                    yield _record(name, devices, state, options, there, item.line)
                else:
                    yield no_object(Item(item.line, there, state))


def _record(
    benchmark: str,
    devices: Mapping[str, str],
    state: Mapping[str, object],
    options: ReadOptions,
    path: str,
    line: int,
) -> Record:
    axes = {first_of(as_object(a), "name"): first_of(as_object(a), "value") for a in as_list(state.get("axis_values"))}
    cells = {
        "entry": " ".join(filter(None, (benchmark, first_of(state, "name")))),
        "gpu": devices.get(as_text(state.get("device")), ""),
        **known_counts(axes, options),
    }
    for summary in as_list(state.get("summaries")):
        header = _SUMMARIES.get(first_of(as_object(summary), "tag"))
        if header is not None:
            cells[header] = _value(as_object(summary))
    skipped = as_text(state.get("is_skipped")) == "true"
    reason = f"was skipped: {as_text(state.get('skip_reason'))[:100] or 'no reason given'}"
    return Record(cells, path, [refused(reason)] if skipped else (), line)


def _value(summary: Mapping[str, object]) -> str:
    data = [as_object(part) for part in as_list(summary.get("data"))]
    return next((as_text(part.get("value")) for part in data if part.get("name") == "value"), "")
