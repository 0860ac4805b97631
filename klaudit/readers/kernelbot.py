"""GPU MODE's kernelbot: rows with a score in seconds, and run results with each benchmark's statistics in nanoseconds.

A score is what the board ranks by, whatever average that is; the board's rule says.
"""

from __future__ import annotations

import re
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
    case_header,
    first_of,
    known_counts,
    name_of,
    no_case,
    no_object,
    read_json,
    with_unit,
)
from klaudit.readers.source import Source

HEADERS: Final = (
    "entry", "gpu_type", "time", f"{FASTEST} (ns)", "submission_time", "status", "passed", "runs", "leaderboard",
)  # fmt: skip
# What the columns of a table of submissions are called, and what each of them means here.
COLUMNS: Final[Mapping[str, str]] = {"score": "time (s)", "runner": "gpu_type"}
_BOARDS: Final = ("leaderboard_name", "leaderboard", "problem_name")
_NAMES: Final = ("user_name", "submission_name", "file_name", "submission_id")
_PAIR: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*([^;]*?)\s*(?:;|$)")


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The submissions of an open file, a batch at a time."""
    yield from read_json(source, options, HEADERS, records)


def recognises(value: Mapping[str, object]) -> bool:
    """Whether a record is a row or a run result of kernelbot."""
    keys = value.keys()
    row = "submission_score" in keys or {"submission_id", "score"} <= keys
    return row or next(_results(value, ""), None) is not None


def records(values: Iterator[Item], options: ReadOptions) -> Iterator[Record]:
    """A record for each submission, or for each benchmark of a run result where the board has no such cases."""
    for item in values:
        if isinstance(item.value, dict):
            yield from _submission(item, item.value, options)
        else:
            yield no_object(item)


def _submission(item: Item, value: Mapping[str, object], options: ReadOptions) -> Iterator[Record]:
    common = {
        "entry": first_of(value, *_NAMES),
        "gpu_type": first_of(value, "gpu_type", "runner", "gpu"),
        "submission_time": as_text(value.get("submission_time")),
        "status": first_of(value, "status"),
        "passed": as_text(value.get("passed")),
        "leaderboard": name_of(value, *_BOARDS),
    }
    score = first_of(value, "submission_score", "score")
    whole = {**common, "time": with_unit(score, "s")}
    results = list(_results(value, item.path))
    if not results:
        yield Record(whole, item.path, (), item.line)
    for index, (path, runner, result) in enumerate(results):
        own = {**(common if index else whole), "gpu_type": runner or common["gpu_type"]}
        yield from _benchmarks(own, result, path, item.line, options)


def _results(value: Mapping[str, object], path: str) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """The run results of a submission, with the runner that made each."""
    if "benchmark-count" in value:
        yield path, "", value
    for name in ("result", "run_result"):
        if "benchmark-count" in as_object(value.get(name)):
            yield f"{path}{name}", first_of(value, "runner"), as_object(value.get(name))
    for index, run in enumerate(as_list(value.get("runs"))):
        inner = as_object(run)
        result = as_object(inner.get("result")) or inner
        if "benchmark-count" in result:
            yield f"{path}runs[{index}]", first_of(inner, "runner", "gpu_type"), result


def _benchmarks(
    common: Mapping[str, str], result: Mapping[str, object], path: str, line: int, options: ReadOptions
) -> Iterator[Record]:
    text = as_text(result.get("benchmark-count"))
    count = int(text) if text.isdecimal() and len(text) < 9 else -1
    # Each benchmark has a key of its own, so that a count beyond the keys is none.
    if not 0 < count <= len(result):
        problem = ("not-a-number", f"has the benchmark-count {text[:40]!r} and {len(result) - 1} other keys", True)
        yield Record(common, path, [problem], line)
        return
    of_board: dict[str, str] = {}
    for index in range(count):
        part = {n: as_text(result.get(f"benchmark.{index}.{n}")) for n in ("spec", "mean", "best", "runs", "status")}
        header = case_header(part["spec"], options)
        if header is not None:
            of_board[f"{header} (ns)"] = part["mean"]
            of_board[f"{header} {FASTEST} (ns)"] = part["best"]
            of_board["runs"] = min(of_board.get("runs") or part["runs"], part["runs"], key=_count)
            # The worst status stands for all.
            of_board["status"] = max(of_board.get("status", ""), part["status"], key=lambda s: s not in ("", "pass"))
            continue
        cells = {
            **common,
            "entry": " ".join(filter(None, (common["entry"], part["spec"]))),
            "status": part["status"] or common["status"],
            "time": with_unit(part["mean"], "ns"),
            f"{FASTEST} (ns)": part["best"],
            "runs": part["runs"],
            **known_counts(dict(_PAIR.findall(part["spec"])), options),
        }
        yield Record(cells, f"{path}benchmark.{index}", no_case(part["spec"], options), line)
    if of_board:
        yield Record({**common, **of_board}, path, (), line)


def _count(text: str) -> float:
    return float(text) if text.isdecimal() else float("inf")
