"""SOL-ExecBench and flashinfer-bench traces: one evaluation of one solution on one workload a line.

A line counts only where its evaluation has passed; one without an evaluation is a workload, not a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from klaudit.leaderboard import Leaderboard
from klaudit.readers.json_text import Item
from klaudit.readers.options import ReadOptions
from klaudit.readers.records import (
    Record,
    as_object,
    as_text,
    first_of,
    known_counts,
    no_object,
    read_json,
    refused,
)
from klaudit.readers.source import Source

HEADERS: Final = ("solution", "hardware", "latency (ms)", "status", "timestamp")


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The traces of an open file, a batch at a time."""
    yield from read_json(source, options, HEADERS, records)


def recognises(value: Mapping[str, object]) -> bool:
    """Whether a record is a trace."""
    return {"definition", "workload"} <= value.keys() and bool({"evaluation", "solution"} & value.keys())


def records(values: Iterator[Item], options: ReadOptions) -> Iterator[Record]:
    """A record for each trace."""
    for item in values:
        yield _record(item, item.value, options) if isinstance(item.value, dict) else no_object(item)


def _record(item: Item, trace: Mapping[str, object], options: ReadOptions) -> Record:
    evaluation, workload = as_object(trace.get("evaluation")), as_object(trace.get("workload"))
    performance = as_object(evaluation.get("performance"))
    status = as_text(evaluation.get("status"))
    cells = {
        "solution": first_of(trace, "solution", "definition"),
        "hardware": as_text(as_object(evaluation.get("environment")).get("hardware")),
        "latency (ms)": as_text(performance.get("latency_ms")),
        "timestamp": as_text(evaluation.get("timestamp")),
        **known_counts(as_object(workload.get("axes")), options),
    }
    problems = []
    if not evaluation:
        problems.append(refused("has no evaluation: it is a workload, not a result"))
    elif status.strip().upper() != "PASSED":
        problems.append(refused(f"has the status {status!r}; only PASSED counts"))
    return Record(cells, item.path, problems, item.line)
