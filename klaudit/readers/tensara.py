"""Tensara's JSON: leaderboard rows, submissions with their cases and runs, and the events of one submission.

Milliseconds and GFLOPS. Its `avg_` figures are means or geometric means by date: the board's rule, not the name, says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
    fastest_of,
    first_of,
    name_of,
    no_case,
    no_object,
    read_json,
)
from klaudit.readers.source import Source

HEADERS: Final = (
    "entry", "gpuType", "gflops", "runtime (ms)", f"{FASTEST} (ms)", "createdAt", "status", "n", "runs", "leaderboard",
)  # fmt: skip

_CASES: Final = ("benchmarkResults", "benchmark_results", "test_results", "testResults")
_RATE: Final = ("gflops", "avg_gflops", "avgGflops")
_TIME: Final = ("runtime", "avg_runtime_ms", "avgRuntimeMs", "runtime_ms", "avgRuntime")
_BOARDS: Final = ("problemSlug", "problem_slug", "problem", "slug")
_SIZE: Final = re.compile(r"\s*[nN]\s*=\s*([0-9]+)\s*")


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The submissions of an open file, a batch at a time."""
    yield from read_json(source, options, HEADERS, records)


def recognises(value: Mapping[str, object]) -> bool:
    """Whether a record is a row, a submission, a case or an event of Tensara."""
    keys = value.keys()
    row = {"gflops", "runtime"} <= keys and bool({"gpuType", "createdAt", "language"} & keys)
    return row or _is_case(value) or bool(set(_CASES) & keys) or "avg_runtime_ms" in keys


def records(values: Iterator[Item], options: ReadOptions) -> Iterator[Record]:
    """A record for each submission; a file of bare cases is one submission."""
    bare: list[Item] = []
    for item in values:
        if not isinstance(item.value, dict):
            yield no_object(item)
        elif _is_case(item.value):
            bare.append(item)
        else:
            yield from _submission(item, item.value, options)
    if bare:
        yield from _cases_as_rows({}, [(c.path, as_object(c.value)) for c in bare], options, bare[0].line)


def _is_case(value: Mapping[str, object]) -> bool:
    return {"name", "runtime_ms"} <= value.keys() and bool({"test_id", "runs", "gflops"} & value.keys())


def _submission(item: Item, value: Mapping[str, object], options: ReadOptions) -> Iterator[Record]:
    name = next((n for n in _CASES if as_list(value.get(n))), "")
    cases = [(f"{item.path}{name}[{i}]", as_object(case)) for i, case in enumerate(as_list(value.get(name)))]
    common = {
        "entry": first_of(value, "username", "name") or _name_of(value.get("user")) or first_of(value, "id"),
        "gpuType": first_of(value, "gpuType", "gpu_type", "gpu"),
        "createdAt": first_of(value, "createdAt", "created_at"),
        "status": as_text(value.get("status")),
        "leaderboard": name_of(value, *_BOARDS),
    }
    whole = {"gflops": first_of(value, *_RATE), "runtime (ms)": first_of(value, *_TIME)}
    if any(whole.values()) or not cases:
        yield _row({**common, **whole}, cases, options, item)
    else:
        yield from _cases_as_rows(common, cases, options, item.line)


def _name_of(user: object) -> str:
    return first_of(as_object(user), "username", "name") or (user if isinstance(user, str) else "")


def _cases_as_rows(
    common: Mapping[str, str], cases: Sequence[tuple[str, Mapping[str, object]]], options: ReadOptions, line: int
) -> Iterator[Record]:
    """Cases without an average: one row where the board knows them, else a row each."""
    if any(case_header(as_text(case.get("name")), options) for _, case in cases):
        yield _row(common, cases, options, Item(line, cases[0][0].rpartition("[")[0], None))
        return
    for path, case in cases:
        name = as_text(case.get("name"))
        size = _SIZE.fullmatch(name)
        runs = _runs(case)
        cells = {
            **common,
            "entry": " ".join(part for part in (common.get("entry", ""), name) if part),
            "gflops": as_text(case.get("gflops")),
            "runtime (ms)": as_text(case.get("runtime_ms")),
            f"{FASTEST} (ms)": fastest_of(runs),
            "n": size[1] if size else "",
            "runs": str(len(runs)) if runs else "",
        }
        yield Record(cells, path, no_case(name, options), line)


def _row(
    common: Mapping[str, str], cases: Sequence[tuple[str, Mapping[str, object]]], options: ReadOptions, item: Item
) -> Record:
    """One submission with its figures over all cases and those of each case that the board knows."""
    cells = dict(common)
    problems = []
    counts = []
    for _, case in cases:
        name = as_text(case.get("name"))
        header = case_header(name, options)
        runs = _runs(case)
        if header is None:
            problems += [(rule, sentence, False) for rule, sentence, _ in no_case(name, options)]
            continue
        cells[f"{header} (ms)"] = as_text(case.get("runtime_ms"))
        cells[f"{header} (GFLOPS)"] = as_text(case.get("gflops"))
        if runs:
            cells[f"{header} {FASTEST} (ms)"] = fastest_of(runs)
            counts.append(len(runs))
    if counts:
        cells["runs"] = str(min(counts))
    return Record(cells, item.path, problems, item.line)


def _runs(case: Mapping[str, object]) -> list[str]:
    return [as_text(as_object(run).get("runtime_ms")) for run in as_list(case.get("runs"))]
