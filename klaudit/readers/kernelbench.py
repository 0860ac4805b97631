"""KernelBench's eval_results: milliseconds in truth, rounded to three significant digits; -1 is "not timed".

Its own comment says microseconds; its timer hands out milliseconds.
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
    first_of,
    no_object,
    number,
    read_json,
    refused,
)
from klaudit.readers.source import Source

HEADERS: Final = ("entry", "hardware", "runtime (ms)", f"{FASTEST} (ms)", "compiled", "correct", "runs")

_DIGITS: Final = 3
_SIGNIFICANT: Final = re.compile(r"[1-9][0-9]*")


def read(source: Source, options: ReadOptions) -> Iterator[Leaderboard]:
    """The samples of an open file, a batch at a time."""
    yield from read_json(source, options, HEADERS, records)


def recognises(value: Mapping[str, object]) -> bool:
    """Whether a document maps problems to samples."""
    sample = next((s for found in value.values() for s in _samples(found)), None)
    return sample is not None and {"compiled", "correctness"} <= sample.keys()


def records(values: Iterator[Item], options: ReadOptions) -> Iterator[Record]:
    """A record for each sample."""
    for item in values:
        if not isinstance(item.value, dict):
            yield no_object(item)
            continue
        for problem, found in item.value.items():
            samples = as_list(found) if isinstance(found, list) else [found]
            for index, sample in enumerate(samples):
                path = f"{item.path}[{problem!r}]" + (f"[{index}]" if isinstance(found, list) else "")
                if isinstance(sample, dict):
                    yield _record(problem, sample, path, item.line)
                else:
                    yield no_object(Item(item.line, path, sample))


def _samples(found: object) -> list[Mapping[str, object]]:
    return [s for s in (as_list(found) if isinstance(found, list) else [found]) if isinstance(s, dict)]


def _record(problem: str, sample: Mapping[str, object], path: str, line: int) -> Record:
    statistics = as_object(sample.get("runtime_stats"))
    runtime = first_of(sample, "runtime") or first_of(statistics, "mean")
    hardware = first_of(statistics, "hardware") or first_of(as_object(sample.get("metadata")), "hardware")
    not_timed = number(runtime) == -1
    cells = {
        "entry": f"{problem}/{as_text(sample.get('sample_id')) or '0'}",
        "hardware": hardware,
        "runtime (ms)": "" if not_timed else rounded(runtime),
        f"{FASTEST} (ms)": "" if not_timed else rounded(as_text(statistics.get("min"))),
        "compiled": as_text(sample.get("compiled")),
        "correct": as_text(sample.get("correctness")),
        "runs": as_text(statistics.get("num_trials")),
    }
    return Record(cells, path, [refused("has the runtime -1: it was not timed")] if not_timed else (), line)


def rounded(text: str) -> str:
    """A number as KernelBench rounds it: three digits, whatever zeros it writes or leaves out.

    Examples
    --------
    Python writes 0.0120 as 0.012 and 1230 as 1230.0; four digits were not rounded so.

    >>> rounded("0.012"), rounded("1230.0"), rounded("0.01234")
    ('1.20e-02', '1.23e+03', '0.01234')
    """
    value = number(text)
    if not 0 < value < 1e300:
        return text
    digits = _SIGNIFICANT.search(text.lower().partition("e")[0].replace(".", ""))
    if digits is not None and len(digits[0].rstrip("0")) > _DIGITS:
        return text
    return f"{value:.{_DIGITS - 1}e}"
